"""What rocsmith test torch expects of PyTorch's run_test.py: options, a process for each module, the retries of a test that fails or
dies in a fresh process (--reruns of PyTorch are the same with -x and stepcurrent), its exit status. It needs no torch."""
import argparse
import os
import subprocess
import sys

TESTS = ["test_first", "test_second", "inductor/test_third"]
parser = argparse.ArgumentParser()
parser.add_argument("-v", "--verbose", action="count")
parser.add_argument("--keep-going", action="store_true")
for word in ("--exclude-jit-executor", "--exclude-distributed-tests", "--distributed-tests", "--inductor"):
    parser.add_argument(word, action="store_true")
parser.add_argument("--include", nargs="+", choices=TESTS, default=TESTS)
options = parser.parse_args()
assert options.keep_going and options.verbose
if os.environ.get("SUITE_RUNNER") == "fails":
    sys.exit("run_test.py: what it builds before the tests does not build")
if os.environ.get("SUITE_RUNNER") == "dies":
    os.kill(os.getpid(), 9)
failed = []
for module in options.include:
    code = subprocess.run([sys.executable, module + ".py", "-v"], check=False).returncode
    if code not in (0, 5):  # 5: none was selected
        failed.append(module)
print("failed:", failed)
sys.exit(bool(failed))
