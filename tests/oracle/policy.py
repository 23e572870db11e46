#!/usr/bin/env python3
"""policy.py MANYLINUX_YAML: the table of data/manylinux.yaml against the policies that the installed
auditwheel ships. Run it with the Python that has auditwheel."""
import json
import pathlib
import re
import sys

import auditwheel.policy

text = pathlib.Path(sys.argv[1]).read_text()
rows = {}
for row in re.findall(r"^- \{minor: (.*)\}$", text, re.M):
    minor, *columns = row.split(", ")
    rows[int(minor)] = {name: value.strip("'") for name, value in (c.split(": ") for c in columns)}
assert len(rows) > 8
libraries = set(re.findall(r"'([^']+)'", text[text.index("allowed: ["):]))
key = lambda v: [int(p) for p in v.split(".")]
names = {"GLIBCXX": "glibcxx", "CXXABI": "cxxabi", "GCC": "gcc", "ZLIB": "zlib", "LIBATOMIC": "libatomic"}

policies = json.loads(
    pathlib.Path(auditwheel.policy.__file__).with_name("manylinux-policy.json").read_text())
compared = 0
for policy in policies:
    if not policy["name"].startswith("manylinux_2_"):
        continue
    minor = int(policy["name"].split("_")[2])
    ours = rows[max(m for m in rows if m <= minor)]
    for theirs, member in names.items():
        versions = [v for v in policy["symbol_versions"]["x86_64"].get(theirs, []) if v[0].isdigit()]
        newest = max(versions, key=key) if versions else None
        assert ours.get(member) == newest, (policy["name"], theirs, ours.get(member), newest)
        compared += 1
unknown = set().union(*(p["lib_whitelist"] for p in policies)) - libraries
assert not unknown, unknown
print(f"ok the manylinux table is auditwheel's ({compared} limits, {len(libraries)} libraries)")
