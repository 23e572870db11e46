#!/usr/bin/env python3
"""memory-schedule.py [--limit MIB] [--jobs N] ROCSMITH FOLDER: a build of sources that take much memory, in a control group (as root, with a
memory controller) in which the largest of them do not fit beside each other. It is built once to learn the costs, and once more, which is
measured: how often the kernel killed a compiler, and the time against the best schedule that a search finds for the same durations,
shares and limit. The search knows all durations beforehand, and moves single jobs of an order as long as that helps."""
import argparse
import heapq
import json
import os
import pathlib
import random
import shutil
import subprocess

TYPES = (10, 9, 8, 6, 5, 4, 3, 2, 1, 1, 1, 1)  # of tables for each source: how much its host side takes


def write_project(folder):
    folder.mkdir(parents=True)
    (folder / "rocsmith.yaml").write_text("name: heavy\nversion: 1.0\n")
    (folder / "table.h").write_text("#define TEN(x) x, x, x, x, x, x, x, x, x, x\n#define MANY(x) TEN(TEN(TEN(TEN(TEN(x)))))\n"
        "template <int T, int N> struct table { static constexpr long all[] = {MANY(T + N)}; };\n")
    for n, types in enumerate(TYPES):
        uses = " + ".join(f"table<{t}, {n}>::all[i]" for t in range(types))
        (folder / f"s{n}.cu").write_text(f'#ifndef __HIP_DEVICE_COMPILE__\n#include "table.h"\nlong get{n}(int i) {{ return {uses}; }}\n#endif\n'
            f"__global__ void k{n}(int *p) {{ *p = {n}; }}\n")


def make_group(limit):
    for top in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup" + next((l[3:].strip() for l in open("/proc/self/cgroup") if l.startswith("0::")), "")):
        group = pathlib.Path(top, f"rocsmith-bench-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        for name in ("memory.limit_in_bytes", "memory.max"):
            if (group / name).exists():
                (group / name).write_text(str(limit << 20))
                return group
        group.rmdir()
    raise SystemExit(77)


def makespan(order, jobs, limit):
    """The end of jobs of (seconds, MiB), when each that fits starts as soon as one of the runners is free."""
    left, now, running, used = list(order), 0, [], 0
    while left or running:
        i = 0
        while i < len(left) and len(running) < jobs:
            seconds, mib = left[i]
            if not running or used + mib <= limit:
                heapq.heappush(running, (now + seconds, mib))
                used += mib
                left.pop(i)
            else:
                i += 1
        now, mib = heapq.heappop(running)
        used -= mib
    return now


def best(costs, jobs, limit):
    rng, found = random.Random(1), None
    for begin in (sorted(costs, reverse=True), sorted(costs, key=lambda c: -c[1]), sorted(costs, key=lambda c: -c[0] * c[1]), costs):
        order, time = list(begin), makespan(begin, jobs, limit)
        for _ in range(3000):
            other = list(order)
            other.insert(rng.randrange(len(other)), other.pop(rng.randrange(len(other))))
            if (t := makespan(other, jobs, limit)) <= time:
                order, time = other, t
        found = time if found is None else min(found, time)
    return found


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--limit", type=int, default=900)
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("rocsmith")
    p.add_argument("folder", type=pathlib.Path)
    args = p.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    write_project(args.folder / "p")
    group = make_group(args.limit)
    try:
        for run in range(2):
            with open(args.folder / "p/table.h", "a") as f:
                f.write("\n")
            done = subprocess.run([args.rocsmith, "build", args.folder / "p", "--gpu", "gfx1100", "-j", str(args.jobs), "--json",
                "-o", args.folder / "out", "--build-dir", args.folder / "b"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
            if done.returncode:
                raise SystemExit(done.stderr)
    finally:
        group.rmdir()
    (args.folder / "steps.json").write_text(done.stdout)
    ran = [c for c in json.loads(done.stdout)["steps"] if not c["cached"] and c["kind"] != "link" and c["memory"]]
    costs = [(c["seconds"], c["memory"] / 2**20) for c in ran]
    # passes of a source wait for nothing but its bundle, which takes no time
    ours = max(c["start"] + c["seconds"] for c in ran) - min(c["start"] for c in ran)
    found = best(costs, args.jobs, args.limit)
    print(f"{len(ran)} compiles of {min(m for _, m in costs):.0f} to {max(m for _, m in costs):.0f} MiB in {args.limit} MiB, {args.jobs} at once: "
        f"{done.stderr.count('once more, alone')} killed; {ours:.1f} s, best schedule found {found:.1f} s, {ours / found:.3f} of it; "
        f"one by one {sum(s for s, _ in costs):.1f} s")


main()
