#!/usr/bin/env python3
"""Disturbs a command at every point, and checks that it takes it well.

    faults.py count  [options] -- build/tests/rocsmith-fault ARGS...
    faults.py sweep  [options] -- build/tests/rocsmith-fault ARGS...
    faults.py kill   [options] -- build/rocsmith ARGS...

`count` prints how many I/O calls an undisturbed run makes (see tests/fault/fault.h). `sweep` runs the
command once for each of these calls, which then fails. `kill` kills it, with all that it started, at
random moments; every run goes on from what the one before left, and a run that ends is followed by a
new start from --setup. Shell commands:

    --setup CMD    makes a fresh start, before each run of sweep (and each start of kill)
    --check CMD    must succeed after each run; ROCSMITH_FAULT_N and STATUS tell which it was
    --tree DIR     (repeatable) what the command makes: after a last, undisturbed run it must be equal
                   to what a run makes that was never disturbed, and hold no "*.tmp-*"
    --keep DIR     (repeatable) the user's files: never changed by anything, byte for byte
    --ignore GLOB  (repeatable) names in a tree that may differ, such as logs
    --again N      sweep with KILL: the run after dies N calls later than that, before --check
    --jobs N       so many at once, each in a copy of the current folder with its share of the calls or kills; all
                   paths have to be relative (default: $ROCSMITH_FAULT_JOBS, or 1)
    --within SECONDS  of its start a run is killed; without it, of the time that an undisturbed run takes

A run must end with a documented exit status and, unless that is 0, print exactly one line that starts
with "error:"; it must not crash, hang (--timeout) or leave other processes behind. Then the same
command, undisturbed, must succeed. Exit status 0 when all is well; all findings are printed.
"""
import argparse
import fnmatch
import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

DOCUMENTED = {0, 1, 2, 3, 4, 5, 130}


def parse():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("mode", choices=["count", "sweep", "kill"])
    p.add_argument("--setup")
    p.add_argument("--check")
    p.add_argument("--tree", action="append", default=[])
    p.add_argument("--keep", action="append", default=[])
    p.add_argument("--ignore", action="append", default=[])
    p.add_argument("--errno", default="ENOSPC,EIO",
                   help="taken in turn by sweep; KILL: the process dies at that call")
    p.add_argument("--sample", type=int, help="sweep at most so many of the calls, evenly spread")
    p.add_argument("--again", type=int)
    p.add_argument("--times", type=int, default=200, help="of kill")
    p.add_argument("--within", type=float)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=int(os.environ.get("ROCSMITH_FAULT_JOBS", 1)))
    p.add_argument("--share", type=int, default=0, help="of all jobs, that of this one")
    p.add_argument("--timeout", type=float, default=300)
    p.add_argument("-v", "--verbose", action="store_true")
    p.add_argument("command", nargs="+")
    return p.parse_args()


class Findings:
    def __init__(self):
        self.n = 0

    def add(self, where, text):
        self.n += 1
        print(f"not ok - {where}: {text}", flush=True)


def shell(cmd, where, found, **env):
    r = subprocess.run(["sh", "-c", cmd], env={**os.environ, **env}, capture_output=True, text=True)
    if r.returncode:
        found.add(where, f"`{cmd}` ended with {r.returncode}: {(r.stdout + r.stderr).strip()[-2000:]}")


def entry(path):
    """What must not change about a file: type, mode, content; never times."""
    st = os.lstat(path)
    if stat.S_ISLNK(st.st_mode):
        return "link " + os.readlink(path)
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            digest = hashlib.file_digest(f, "sha256") if hasattr(hashlib, "file_digest") else None
            if digest is None:
                digest = hashlib.sha256(f.read())
        return f"file {st.st_mode & 0o7777:o} {digest.hexdigest()}"
    return f"other {st.st_mode:o}"


def snapshot(dirs, ignore):
    ignore = ["lock", "*.lock", *ignore]  # they name the process that took them last
    seen = {}
    for top in dirs:
        if not os.path.isdir(top) and os.path.lexists(top):
            seen[top] = entry(top)
        for folder, names, files in os.walk(top):
            names[:] = [n for n in names if not any(fnmatch.fnmatch(n, g) for g in ignore)]
            for n in names + files:
                if not any(fnmatch.fnmatch(n, g) for g in ignore):
                    seen[os.path.join(folder, n)] = entry(os.path.join(folder, n))
    return seen


def difference(a, b):
    lines = [f"{p}: {a.get(p, 'absent')} -> {b.get(p, 'absent')}"
             for p in sorted(a.keys() | b.keys()) if a.get(p) != b.get(p)]
    return "\n    ".join(lines[:10] + ([f"... {len(lines)} in all"] if len(lines) > 10 else []))


def session_members(sid):
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == sid and fields[0] != "Z":
            yield int(name)


def kill_session(sid):
    """All at once, until nobody is left: children may be starting others meanwhile."""
    killed = 0
    for _ in range(100):
        members = list(session_members(sid))
        if not members:
            break
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        time.sleep(0.005)
    return killed


class Run:
    """One run of the command, in a session of its own."""

    def __init__(self, args, kill_after=None, **env):
        self.killed, self.hung = False, False
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            p = subprocess.Popen(args.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env={**os.environ, **env}, start_new_session=True)
            try:
                p.wait(timeout=kill_after if kill_after is not None else args.timeout)
            except subprocess.TimeoutExpired:
                self.killed = kill_after is not None
                self.hung = not self.killed
                kill_session(p.pid)
                p.wait()
            self.seconds = time.monotonic() - start
            self.status = p.returncode
            self.untranslated = 0 if self.killed or self.hung else kill_session(p.pid)
            err.seek(0)
            self.err = err.read().decode(errors="replace")
            out.seek(0)
            self.out = out.read().decode(errors="replace")

    def judge(self, where, found):
        # a verdict (status 1) says on stdout what is wrong
        said = self.err + (self.out if self.status == 1 else "")
        errors = [line for line in said.splitlines() if line.startswith("error:")]
        tail = self.err.strip()[-1500:]
        if self.hung:
            found.add(where, f"hangs; {tail}")
        elif self.status < 0:
            found.add(where, f"died of {signal.Signals(-self.status).name}; {tail}")
        elif self.status not in DOCUMENTED:
            found.add(where, f"exit status {self.status} is not documented; {tail}")
        elif self.status and len(errors) != 1:
            found.add(where, f"exit status {self.status} with {len(errors)} error lines; {tail}")
        elif not self.status and errors:
            found.add(where, f"exit status 0 with an error: {tail}")
        if self.untranslated:
            found.add(where, f"{self.untranslated} processes were left behind")


class Bench:
    """The reference: what an undisturbed run makes, how long it takes, how many calls it has."""

    def __init__(self, args, found):
        self.args, self.found = args, found
        self.fresh("reference")
        self.kept = snapshot(args.keep, [])
        with tempfile.NamedTemporaryFile() as count:
            run = Run(args, ROCSMITH_FAULT_COUNT=count.name)
            text = count.read().decode()
        run.judge("reference", found)
        if run.status:
            sys.exit(f"the undisturbed command ends with {run.status}:\n{run.err}")
        self.calls = int(text.split()[0]) if text else None
        self.seconds = run.seconds
        self.tree = snapshot(args.tree, args.ignore)

    def fresh(self, where):
        if self.args.setup:
            shell(self.args.setup, where, self.found)

    def after(self, where, n, status):
        if self.args.check:
            shell(self.args.check, where, self.found, ROCSMITH_FAULT_N=str(n), STATUS=str(status))
        if self.args.keep:
            diff = difference(self.kept, snapshot(self.args.keep, []))
            if diff:
                self.found.add(where, f"the user's files changed:\n    {diff}")

    def finish(self, where):
        """Undisturbed, the command gets to the same end."""
        run = Run(self.args)
        if run.status:
            self.found.add(where, f"afterwards the command ends with {run.status}: {run.err[-1500:]}")
            return
        now = snapshot(self.args.tree, self.args.ignore)
        diff = difference(self.tree, now)
        if diff:
            self.found.add(where, f"afterwards the result differs:\n    {diff}")
        litter = [p for p in now if ".tmp-" in os.path.basename(p)]
        if litter:
            self.found.add(where, f"litter: {litter[:5]}")


def sweep(args, found):
    bench = Bench(args, found)
    if not bench.calls:
        sys.exit("no I/O call was counted: is this rocsmith-fault?")
    errnos = args.errno.split(",")
    points = range(1, bench.calls + 1)
    if args.sample and args.sample < bench.calls:
        points = sorted({1 + i * bench.calls // args.sample for i in range(args.sample)})
    points = list(enumerate(points))[args.share::args.jobs]
    failed = 0
    for i, n in points:
        no = errnos[i % len(errnos)]
        bench.fresh(f"call {n}")
        for at in [n] if args.again is None else [n, n + args.again]:
            with tempfile.NamedTemporaryFile() as count:
                run = Run(args, ROCSMITH_FAULT_AT=str(at), ROCSMITH_FAULT_ERRNO=no,
                          ROCSMITH_FAULT_COUNT=count.name)
                name = (count.read().decode().split() or ["", "?"])[-1]
        killed = no == "KILL" and run.status == -signal.SIGKILL
        where = f"call {n} ({name}) {no}"
        failed += run.status != 0
        if args.verbose:
            print(f"# {where}: {run.status} {run.err.strip().splitlines()[:1]}", flush=True)
        if not killed:
            run.judge(where, found)
        bench.after(where, n, run.status)
        bench.finish(where)
    print(f"# {len(points)} of {bench.calls} calls failed in turn: {failed} runs ended with an error")


def kill(args, found):
    bench = Bench(args, found)
    rng = random.Random(f"{args.seed} {args.share}")
    kills = ends = 0
    times = len(range(args.share, args.times, args.jobs))
    within = args.within or bench.seconds * 1.05
    bench.fresh("kill")
    while kills < times:
        moment = rng.uniform(0, within)
        run = Run(args, kill_after=moment)
        where = f"kill {kills + 1} after {moment:.3f} s"
        if run.killed:
            kills += 1
        else:
            ends += 1
            within *= 1 if args.within else 0.95  # the machine is less busy than when the time was taken
            run.judge(where, found)
        bench.after(where, kills, run.status)
        if not run.killed or kills % 10 == 0:
            bench.finish(where)
            bench.fresh(where)
        if ends > 20 * times:
            sys.exit("the command is over too fast to be killed")
    bench.finish("at the end")
    print(f"# {kills} kills within {within:.2f} s each, {ends} runs came to their end before")


def spread(args):
    memory = "/dev/shm"  # on a disk most of the time is fsync(): that is what kills should hit, and sweeps need not wait for
    fast = args.mode == "sweep" and os.access(memory, os.W_OK)
    here = os.getcwd()
    inside = os.path.relpath(os.environ.get("TMPDIR", "/"), here)  # a test's own folder is copied, too
    inside = "" if inside.startswith("..") else inside
    with tempfile.TemporaryDirectory(dir=memory if fast else os.path.dirname(here)) as top:
        runs = []
        for share in range(args.jobs):
            folder = os.path.join(top, str(share))
            shutil.copytree(".", folder, symlinks=True)
            words = [sys.executable, os.path.abspath(__file__), args.mode, "--jobs", str(args.jobs), "--share", str(share)]
            out = open(folder + ".out", "w+")
            runs.append((subprocess.Popen([*words, *sys.argv[2:]], cwd=folder, stdout=out, stderr=out,
                                          env={**os.environ, "TMPDIR": os.path.join(folder, inside) if inside else top}), out))  # what the killed leave goes with it
        status = 0
        for run, out in runs:
            status |= run.wait() != 0
            out.seek(0)
            print(out.read().removesuffix("ok\n"), end="", flush=True)
    return status


def main():
    args = parse()
    found = Findings()
    if args.jobs > 1 and "--share" not in sys.argv and args.mode != "count":
        return spread(args)
    if args.mode == "count":
        print(Bench(args, found).calls)
    elif args.mode == "sweep":
        sweep(args, found)
    else:
        kill(args, found)
    print("ok" if not found.n else f"{found.n} findings")
    return found.n != 0


if __name__ == "__main__":
    sys.exit(main())
