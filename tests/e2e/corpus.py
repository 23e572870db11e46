#!/usr/bin/env python3
"""Programs of tests/corpus: translated, compiled, and held against what they and doc/cuda.md say.

Command: corpus.py WORK GPU... [--peer DIR] [--every N]

A program's first line says what it shows. A line that HIP has no counterpart for ends with
"// refused: NAME" (NAME: part of what is named); rocsmith has to find all of them, and no other, before
a compiler runs. Programs without such lines have to compile. With one GPU the compiler stops behind the
check of the syntax, on both sides; with more it makes the device code of each. --peer: hipify-perl and
hipcc of the SDK do the same with each program, for the first GPU. --every: only each Nth program is compiled, and what
doc/cuda.md says of the others is taken as it is. WORK/cuda.md is the table that came out.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
ROCSMITH = os.environ["ROCSMITH"]
failed = False


def report(ok, what):
    global failed
    failed |= not ok
    print("%s %s" % ("ok" if ok else "not ok", what), flush=True)


def expected(text):
    """[(line, NAME)] of the marks."""
    return [(n, m[1]) for n, line in enumerate(text.splitlines(), 1)
            if (m := re.search(r"// refused: (\S+)$", line))]


def differences(name, text, found):
    """What is marked and was not found, and the other way round."""
    left, wrong = list(found), []
    for line, part in expected(text):
        hit = [f for f in left if f["line"] == line]
        if not any(part in f["name"] for f in hit):
            wrong.append("%s:%d: no word of %s" % (name, line, part))
        left = [f for f in left if f["line"] != line]
    return wrong + ["%s:%d: %s is not marked" % (name, f["line"], f["name"]) for f in left]


def run(work, *argv):
    return subprocess.run([ROCSMITH, "sdk", "run", "--", *argv], cwd=work, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def compile_one(work, name, gpus):
    """The first error, or None."""
    base = ["clang++", "-x", "hip", "-std=c++17", "-DHIP_ENABLE_WARP_SYNC_BUILTINS=1", "-idirafterhip",
            "-w", "hip/%s.hip" % name]
    for gpu in gpus:
        how = ["-fsyntax-only"] if len(gpus) == 1 else ["--offload-device-only", "-O1", "-c", "-o", "/dev/null"]
        r = run(work, *base, "--offload-arch=" + gpu, *how)
        if r.returncode:
            return "%s: %s" % (gpu, next((x for x in r.stdout.splitlines() if "error:" in x), r.stdout[-200:]))
    return None


def peer_one(work, perl, name, gpu):
    text = subprocess.run(["perl", perl, "-quiet-warnings", str(TOP / "tests/corpus" / (name + ".cu"))],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    (work / "peer" / (name + ".hip")).write_text(text)
    return run(work, "hipcc", "-std=c++17", "-w", "-fsyntax-only", "--offload-arch=" + gpu,
               "peer/%s.hip" % name).returncode == 0


def documented():
    """{program: cells} of doc/cuda.md."""
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", (TOP / "doc/cuda.md").read_text(), re.M)
    return {name: [c.strip() for c in rest.split("|")] for name, rest in rows}


def main():
    args = sys.argv[1:]
    perl = args.pop(args.index("--peer") + 1) if "--peer" in args else None
    every = int(args.pop(args.index("--every") + 1)) if "--every" in args else 1
    args = [a for a in args if a not in ("--peer", "--every")]
    work, gpus = Path(args[0]), args[1:]
    programs = {p.stem: p.read_text() for p in sorted((TOP / "tests/corpus").glob("*.cu"))}
    r = subprocess.run([ROCSMITH, "hipify", "--json", str(TOP / "tests/corpus"), "-o", str(work / "hip")],
                       text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = {name: [] for name in programs}
    for u in json.loads(r.stdout)["untranslated"]:
        if u.get("certain"):
            found[Path(u["path"]).stem].append(u)
    wrong = [w for n, text in programs.items() for w in differences(n, text, found[n])]
    refused = {n for n, text in programs.items() if expected(text)}
    report(not wrong, "%d programs, %d of them refused by line %s" % (
        len(programs), len(refused), "; ".join(wrong)))
    builds = [n for n in programs if n not in refused][::every]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = dict(zip(builds, pool.map(lambda n: compile_one(work, n, gpus), builds)))
        bad = ["%s (%s)" % (n, e) for n, e in errors.items() if e]
        report(not bad, "%d of %d programs compile for %s %s" % (
            len(builds) - len(bad), len(builds), " ".join(gpus), "; ".join(bad)))
        peer = {}
        if perl:
            (work / "peer").mkdir(exist_ok=True)
            peer = dict(zip(programs, pool.map(lambda n: peer_one(work, perl, n, gpus[0]), programs)))
            print("with hipify-perl and hipcc %d compile" % sum(peer.values()))
    doc, lines = documented(), []
    for n, text in programs.items():
        why = "%d: %s" % (found[n][0]["line"], found[n][0]["name"].removesuffix(".h")) if found[n] else "?"
        if n in refused:
            mine = "refused, line " + why
        elif n in errors:
            mine = "fails" if errors[n] else "compiles"
        else:
            mine = doc.get(n, ["", ""])[1]
        other = ("compiles" if peer[n] else "fails") if perl else doc.get(n, ["", "", ""])[2]
        lines.append((n, [text.splitlines()[0][3:], mine, other]))
    (work / "cuda.md").write_text("".join("| `%s` | %s |\n" % (n, " | ".join(c)) for n, c in lines))
    stale = [n for n, cells in lines if doc.get(n) != cells] + [n for n in doc if n not in programs]
    report(not stale, "doc/cuda.md says so %s" % " ".join(stale))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
