#!/usr/bin/env python3
"""Asks `rocsmith doctor` and `env` about the machines of held-out/, and about a recording of each, and prints the table.

    tests/machines/held_out.py build/rocsmith [--show] [--round N] [NAME...]

The lines with "@" at the end of each file say what must be answered; README.md explains them. Exits 1 when a machine is
judged otherwise.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GIB = 1 << 30


def expected(path):
    want = {"name": os.path.basename(path)[:-len(".machine")], "path": path, "finds": [], "may": [], "next": {}, "says": [], "not": [],
            "fact": {}, "round": 0}
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        lines = [line[2:].rstrip("\n") for line in f if line.startswith("@ ")]
    for line in lines:
        key, rest = line.split(" ", 1)
        if key in ("finds", "may"):
            want[key] += rest.split()
        elif key in ("says", "not"):
            want[key].append(rest)
        elif key in ("next", "fact"):
            name, value = rest.split(" ", 1)
            want[key][name] = value if key == "next" else json.loads(value)
        elif key == "round":
            want[key] = int(rest)
        else:
            sys.exit(f"{path}: '@ {key}' is not known")
    return want


def fact(facts, path):
    for key in path.split("."):
        facts = facts[int(key)] if isinstance(facts, list) else facts[key]
    return facts


def version(text):
    return tuple(int(x) for x in text.split("."))


def how(gpu):
    if gpu["served_by"]:
        return "served", ""
    wheels = [r for r in gpu["routes"] if r["by"] != "build"]
    return (wheels[0]["how"], wheels[0]["rocm"]) if wheels else ("none", "")


def next_wrong(want, answer):
    got = {g["target"]: how(g) for g in answer}
    wrong = []
    for gpu, word in want.items():
        kind, *below = word.split(" < ")
        here = got.get(gpu, ("not there", ""))
        if here[0] != kind or (below and version(here[1]) >= version(below[0])):
            wrong.append(f"{gpu}: {' '.join(here).strip()}, not {word}")
    return wrong + [f"{gpu}: not expected" for gpu in got if gpu not in want]


def judge(want, answer, text):
    """Findings missed, findings that are wrong, wrong next steps, wrong facts and words."""
    ids = [f["id"] for f in answer["findings"]]
    missed = [i for i in want["finds"] if i not in ids]
    wrong = [i for i in ids if i not in want["finds"] and i not in want["may"]]
    other = [f"no /{p}/" for p in want["says"] if not re.search(p, text)]
    other += [f"has /{p}/" for p in want["not"] if re.search(p, text)]
    for path, value in want["fact"].items():
        try:
            got = fact(answer["facts"], path)
        except (KeyError, IndexError, TypeError):
            got = None
        if isinstance(got, int) and not isinstance(got, bool) and got > GIB // 2:
            got = round(got / GIB)
        if got != value:
            other.append(f"{path} is {got}, not {value}")
    return missed, wrong, next_wrong(want["next"], answer["next"]), other


def ask(rocsmith, root, *args):
    run = subprocess.run([rocsmith, *args, "--sysroot", root], capture_output=True, text=True, check=False,
                         env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
    if run.returncode not in (0, 1):
        sys.exit(f"{args} of {root}: {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def recorded(rocsmith, root, answer):
    """What a recording of the machine, as an archive that is unpacked elsewhere, answers differently."""
    with tempfile.TemporaryDirectory() as place:
        ask(rocsmith, root, "doctor", "--record", f"{place}/r.tar")
        subprocess.run(["tar", "-xf", "r.tar", "--strip-components=1"], cwd=place, check=True)
        again = json.loads(ask(rocsmith, place, "doctor", "--json"))
    return [f"recording: {k}" for k, v in answer["facts"].items() if again["facts"][k] != v] + [
        "recording: findings"] * (again["findings"] != answer["findings"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rocsmith")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--round", type=int)
    parser.add_argument("--show", action="store_true", help="the texts of doctor and env, too")
    o = parser.parse_intermixed_args()
    wanted = [expected(path) for path in sorted(glob.glob(f"{HERE}/held-out/*.machine"))]
    wanted = [w for w in wanted if (not o.names or w["name"] in o.names) and o.round in (None, w["round"])]
    count = dict.fromkeys(("right", "must", "found", "wrong", "gpus", "steps", "healthy", "silent", "other"), 0)
    for want in wanted:
        root = want["path"]
        answer, text = json.loads(ask(o.rocsmith, root, "doctor", "--json")), ask(o.rocsmith, root, "doctor")
        env = ask(o.rocsmith, root, "env")
        missed, wrong, step, other = judge(want, answer, text)
        other += recorded(o.rocsmith, root, answer)
        count["right"] += not (missed or wrong or step)
        count["must"] += len(want["finds"])
        count["found"] += len(want["finds"]) - len(missed)
        count["wrong"] += len(wrong)
        count["gpus"] += len(want["next"])
        count["steps"] += len(want["next"]) - min(len(step), len(want["next"]))
        count["healthy"] += not want["finds"]
        count["silent"] += not want["finds"] and not wrong
        count["other"] += len(other)
        lines = [f"missed {i}" for i in missed] + [f"WRONG {i}" for i in wrong] + [f"next {s}" for s in step] + other
        print(f"{want['name']:24} {'; '.join(lines) or 'right'}")
        if o.show:
            print(f"\n{text}\n{env}\n{'=' * 100}")
    print(f"{count['right']} of {len(wanted)} machines right (findings and next step); findings {count['found']} of {count['must']}, "
          f"{count['wrong']} wrong; next step {count['steps']} of {count['gpus']}; healthy ones silent {count['silent']} of "
          f"{count['healthy']}; {count['other']} other things")
    return count["right"] != len(wanted) or count["other"] > 0


if __name__ == "__main__":
    sys.exit(main())
