#!/usr/bin/env python3
"""kernels.py ROCSMITH LIBRARY FOLDER: kernels of a real library as rocsmith lists and extracts them, against llvm-readelf (metadata and
symbols of each code object) and sha256; names of the C++ library's functions, as kernels, against c++filt."""
import collections
import csv
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from code_object import code_object  # noqa: E402

KEYS = dict(vgprs=".vgpr_count", agprs=".agpr_count", sgprs=".sgpr_count", vgpr_spills=".vgpr_spill_count",
            sgpr_spills=".sgpr_spill_count", lds=".group_segment_fixed_size", scratch=".private_segment_fixed_size",
            wave=".wavefront_size")


def run(*argv, text=None):
    return subprocess.run(argv, input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def by_llvm(path):
    """(name, figures) of each kernel of a code object."""
    notes = run("llvm-readelf", "--notes", path)
    kernels = yaml.safe_load(notes[notes.index("---\n"):notes.rindex("...")])["amdhsa.kernels"]
    sizes = {}
    for line in run("llvm-readelf", "--dyn-syms", "--wide", path).splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC":
            sizes[words[7]] = int(words[2], 0)
    return [(k[".name"], {"size": sizes[k[".name"]], **{ours: k.get(key, 0) for ours, key in KEYS.items()}}) for k in kernels]


def check_library(rocsmith, library, folder):
    doc = json.loads(run(rocsmith, "inspect", "--resources", "--hash", "--json", library))
    objects = doc["files"][0]["objects"]
    taken = json.loads(run(rocsmith, "inspect", "-q", "--extract", "all", "-o", folder / "taken", "--json", library))["objects"]
    assert len(taken) == len([o for o in objects if o["size"]]), len(taken)
    count = 0
    for ours, file in zip(objects, taken):
        data = (folder / "taken" / file["file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"] == ours["sha256"] and len(data) == ours["size"]
        want = by_llvm(folder / "taken" / file["file"])
        got = [(k["name"], {key: k[key] for key in ("size", *KEYS)}) for k in ours.get("resources", [])]
        assert got == want, (got[:1], want[:1])
        count += len(want)
    rows = list(csv.DictReader(io.StringIO(run(rocsmith, "inspect", "--resources", "--csv", library))))
    listed = collections.Counter((k["name"], o["target"], str(k["vgprs"])) for o in objects for k in o.get("resources", []))
    assert collections.Counter((r["kernel"], r["target"], r["vgprs"]) for r in rows) == listed
    print(f"ok {count} kernels of {len(taken)} code objects have the figures that llvm-readelf finds, and are extracted as hashed")


def check_names(rocsmith, folder):
    """c++filt spells std::string out in constructors, and sometimes forgets to keep two '>' apart."""
    found = run("sh", "-c", "ldconfig -p | sed -n 's/.*libstdc++.so.6 .*=> //p' | head -n 1").strip()
    names = sorted({n for n in re.findall(r"\b_Z[NZ1-9L]\w+", run("nm", "-D", found)) if not re.search("S[sdio]", n)})
    (folder / "names.hsaco").write_bytes(code_object("gfx1100", [dict(name=n, size=4, wave=32) for n in names]))
    doc = json.loads(run(rocsmith, "inspect", "--resources", "--json", folder / "names.hsaco"))
    kernels = doc["files"][0]["objects"][0]["resources"]
    assert [k["name"] for k in kernels] == names
    want = run("c++filt", text="\n".join(names) + "\n").splitlines()
    bad = [(n, k.get("demangled", n), w) for n, k, w in zip(names, kernels, want)
           if k.get("demangled", n).replace("> >", ">>") != w.replace("> >", ">>")]
    assert len(names) > 1000 and len(bad) * 1000 <= len(names), (len(bad), bad[:5])
    print(f"ok {len(names) - len(bad)} of {len(names)} names of the C++ library are demangled as by c++filt")


def main(rocsmith, library, folder):
    folder = pathlib.Path(folder)
    check_names(rocsmith, folder)
    check_library(rocsmith, library, folder)


main(*sys.argv[1:])
