#!/usr/bin/env python3
"""policy.py PLATFORM_C: the table of src/wheel/platform.c against the policies that the installed
auditwheel ships. Run it with the Python that has auditwheel."""
import json
import pathlib
import re
import sys

import auditwheel.policy

text = pathlib.Path(sys.argv[1]).read_text()
table = text[text.index("policies[]"):text.index("namespaces[]")]
columns = ["glibcxx", "cxxabi", "gcc", "zlib", "libatomic"]
rows = {int(minor): {column: value.strip('"') for column, value in zip(columns, values.split(", ")) if value != "NULL"}
    for minor, values in re.findall(r"\{(\d+), ([^}]*)\}", table)}
assert len(rows) > 8
listed = text[text.index("allowed[]"):]
libraries = set(re.findall(r'"([^"]+)"', listed[:listed.index("};")]))
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
