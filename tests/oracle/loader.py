#!/usr/bin/env python3
"""loader.py ROCSMITH COUNT: libraries that need each other at random, by RPATH and RUNPATH, as wheels: `rocsmith verify` must
find one unreachable exactly where the real dynamic loader cannot load what nobody else needs."""
import base64
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

ROCSMITH, COUNT = sys.argv[1], int(sys.argv[2])
LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
PATHS = ["", "", "$ORIGIN", "$ORIGIN/../b", "$ORIGIN/../a:$ORIGIN/../b"]


def build(top, rng):
    """Folders a and b with libraries; their needs by name."""
    names = [f"librandom{c}.so" for c in "mnopq"[:rng.randint(2, 5)]]
    place = {n: rng.choice("ab") for n in names}
    needs = {n: rng.sample([m for m in names if m != n], rng.randint(0, len(names) - 1)) for n in names}
    needs = {n: [m for m in v if m > n or rng.random() < 0.1] for n, v in needs.items()}
    (top / "stubs").mkdir()
    for n in names:
        subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", f"-Wl,-soname,{n}", "-o",
            top / "stubs" / n], check=True)
    for n in names:
        path, kind = rng.choice(PATHS), rng.choice(["enable", "disable"])
        (top / "w" / place[n]).mkdir(parents=True, exist_ok=True)
        subprocess.run(["gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null", "-x", "none", f"-Wl,-soname,{n}",
            "-Wl,--no-as-needed", f"-L{top}/stubs", *(f"-l:{m}" for m in needs[n]),
            *([f"-Wl,-rpath,{path}", f"-Wl,--{kind}-new-dtags"] if path else []),
            "-o", top / "w" / place[n] / n], check=True)
    return place, needs


def roots_of(place, needs):
    """What nobody needs; then, in the wheel's order, the first of each circle that nothing of these leads to."""
    wanted = {m for v in needs.values() for m in v}
    roots, seen = [], set()
    for n in [n for n in place if n not in wanted] + sorted(place, key=lambda n: (place[n], n)):
        if n in seen:
            continue
        roots.append(n)
        rest = [n]
        while rest:
            m = rest.pop()
            if m not in seen:
                seen.add(m)
                rest += needs[m]
    return roots


def wheel(top):
    path, info = top / "x-1-py3-none-linux_x86_64.whl", "x-1.dist-info"
    files = {str(f.relative_to(top / "w")): f.read_bytes() for f in sorted((top / "w").rglob("*.so"))}
    files[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: x\nVersion: 1\n"
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"
    rows = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(d).digest()).decode().rstrip('=')},{len(d)}"
            for n, d in files.items()]
    files[f"{info}/RECORD"] = ("\n".join(rows) + f"\n{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for n, d in files.items():
            z.writestr(n, d)
    return path


def main():
    good = bad = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as tmp:
            top = pathlib.Path(tmp)
            place, needs = build(top, rng)
            roots = roots_of(place, needs)
            loads = all(subprocess.run([sys.executable, "-c", LOAD, top / "w" / place[n] / n],
                capture_output=True, check=False).returncode == 0 for n in roots)
            said = subprocess.run([ROCSMITH, "verify", "--json", wheel(top)], capture_output=True, check=False)
            ids = {f["id"] for f in json.loads(said.stdout)["wheels"][0]["findings"]}
            if ids - {"needed-unreachable"} or loads == ("needed-unreachable" in ids):
                print(f"not ok seed {seed}: loads {loads}, found {ids}; {place} {needs}")
                return 1
            good, bad = good + loads, bad + (not loads)
    print(f"ok {good} trees of libraries load and {bad} do not, as verify says")
    return 0 if good and bad else 1


sys.exit(main())
