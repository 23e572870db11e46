"""Tests that take their process with them, or never end."""
import ctypes
import os
import signal
import subprocess
import sys
import time


def again(name):
    """True when it is called for the second time, by whatever process."""
    path = os.path.join(os.environ["SUITE_STATE"], name)
    if os.path.exists(path):
        return True
    open(path, "w").close()
    return False


def test_before():
    pass


def test_segv():
    ctypes.string_at(0)


def test_hangs():
    """Its child is ended, too."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    with open(os.path.join(os.environ["SUITE_STATE"], "child"), "w") as file:
        file.write(str(child.pid))
    time.sleep(1000)


def test_leaves_quietly():
    os._exit(0)


def test_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def test_flaky():
    assert again("flaky"), "the first time"


def test_flaky_abort():
    if not again("abort"):
        os.abort()


def test_last():
    pass
