#!/usr/bin/env python3
"""auditwheel_tags.py ROCSMITH WHEEL...: wheels that others made and use: `rocsmith verify` finds no error in them, and
computes the platform tag that auditwheel does. Ours may be lower, down to above the next tag that auditwheel has a policy
for. Run by the Python that has auditwheel."""
import json
import pathlib
import re
import subprocess
import sys

import auditwheel.policy


def minor(tag):
    return int(re.fullmatch(r"manylinux_2_(\d+)_x86_64", tag).group(1))


def tag_of(rocsmith, path):
    text = subprocess.run([rocsmith, "verify", "-v", path], capture_output=True, text=True, check=False).stdout
    return minor(re.search(r"the lowest platform tag that is true is (\S+)", text).group(1))


def main():
    rocsmith, wheels, wrong = sys.argv[1], sys.argv[2:], 0
    table = json.loads(pathlib.Path(auditwheel.policy.__file__).with_name("manylinux-policy.json").read_text())
    known = sorted({int(p["name"].split("_")[2]) for p in table if p["name"].startswith("manylinux_2_")})
    said = subprocess.run([rocsmith, "verify", "--json", *wheels], capture_output=True, check=False)
    for answer in json.loads(said.stdout)["wheels"]:
        name = pathlib.Path(answer["path"]).name
        errors = [f for f in answer["findings"] if f["severity"] == "error"]
        show = subprocess.run([pathlib.Path(sys.executable).with_name("auditwheel"), "show", "--json", answer["path"]],
            capture_output=True, check=True)
        theirs, ours = minor(json.loads(show.stdout)["overall_tag"]), tag_of(rocsmith, answer["path"])
        lower = [m for m in known if m < theirs]
        if errors or not (lower[-1] if lower else 0) < ours <= theirs:
            print(f"not ok {name}: errors {errors}, 2_{ours}, auditwheel says 2_{theirs}")
            wrong += 1
    print(f"ok {len(wheels)} wheels have no error, and the tags that auditwheel computes" if not wrong else "")
    return 1 if wrong else 0


sys.exit(main())
