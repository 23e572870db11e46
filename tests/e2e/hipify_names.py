#!/usr/bin/env python3
"""Compiles every HIP name of data/cuda_names against the SDK's headers, by what the row says it is.

One source per header: functions and variables through a using-declaration and decltype where they are
no overloads, types as types, constants in constant expressions, macros with #ifndef; once for the
host, once for the device. Rows with a "since" are compiled only when the SDK's HIP is at least that
version; if not, they must NOT compile, so that the column says the truth. Headers must exist.
Command: hipify_names.py CLANG++ ARGS... (the SDK's compiler, reading from stdin).
"""
import pathlib
import re
import subprocess
import sys

TABLES = pathlib.Path(__file__).resolve().parents[2] / "data" / "cuda_names"
CLANG = sys.argv[1:]
FLAGS = ["-x", "hip", "--offload-arch=gfx1100", "-nogpulib", "-w", "-ferror-limit=0", "-fno-spell-checking",
         "-D__HIP_PLATFORM_AMD__", "-fsyntax-only", "-"]
USE = {
    "type": "using {name} = ::{name};",
    "constant": "static_assert(sizeof({name}) > 0 && ({name} == {name}), \"\");",
    "function": "using ::{name};",
    "template": "using ::{name};",
    "ocp": "using {name} = ::{name};",
    "variable": "using ::{name};",
}
# The headers of components that cannot be installed from every suite: RCCL is in experimental alone.
ELSEWHERE = {"rccl/rccl.h"}
failed = 0


def report(ok, what):
    global failed
    failed += not ok
    print("%s %s" % ("ok" if ok else "not ok", what))


def clang(source, *args):
    return subprocess.run([*CLANG, *args, *FLAGS], input=source, capture_output=True, text=True)


def rows():
    for path in sorted(TABLES.glob("*.tsv")):
        if path.name == "args.tsv":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line and not line.startswith("#"):
                yield (path.name, number, *line.split("\t"))


def source(header, names):
    """A text that uses each name on a line of its own, and what is on which line."""
    lines = ["#include <hip/hip_runtime.h>", "#include <%s>" % header, "namespace probe {"]
    where = {}
    for name, kind in sorted(names):
        where[len(lines) + 1] = name
        if kind == "macro":
            lines.append("\n".join(["#ifndef " + name, "#error no macro " + name, "#endif"]))
            where[len(lines) + 1] = name
            lines[-1:] = lines[-1].split("\n")
            where[len(lines) - 1] = name
        else:
            lines.append(USE[kind].format(name=name))
    return "\n".join(lines + ["}", ""]), where


def missing(header, names):
    """Those names that neither the host nor the device pass accepts, and the first other error."""
    bad, other = [], ""
    for side in "--cuda-host-only", "--cuda-device-only":
        text, where = source(header, names)
        result = clang(text, side)
        wrong = set()
        for line, message in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", result.stderr, re.M):
            if int(line) in where:
                wrong.add(where[int(line)])
            else:
                other = other or message
        for message in re.findall(r"^/.*: (?:fatal )?error: (.*)$", result.stderr, re.M):
            other = other or message
        bad.append(wrong)
    return bad[0] & bad[1], other


def missing_headers(headers):
    text = "".join("#if !__has_include(<%s>)\n#error <%s>\n#endif\n" % (h, h) for h in headers)
    return set(re.findall(r"error: <(.*)>$", clang(text, "--cuda-host-only").stderr, re.M))


def hip_version():
    text = "#include <hip/hip_version.h>\nHIPV HIP_VERSION_MAJOR.HIP_VERSION_MINOR\n"
    argv = [*CLANG, "-x", "hip", "--cuda-host-only", "-nogpulib", "-E", "-P", "-"]
    out = subprocess.run(argv, input=text, capture_output=True, text=True).stdout
    return tuple(int(n) for n in re.search(r"HIPV (\d+) *\. *(\d+)", out).groups())


def main():
    version = hip_version()
    print("HIP %d.%d" % version)
    groups, later, headers = {}, {}, []
    for table, line, cuda, hip, kind, header, since, _ in rows():
        if header.startswith("rocsmith/") or not hip:
            continue  # a header of ours declares it, or nothing is left of it
        newer = since and tuple(int(n) for n in since.split(".")[:2]) > version
        if kind == "header":
            headers.append((hip, newer))
        elif kind in USE or kind == "macro":
            (later if newer else groups).setdefault(header or "hip/hip_runtime.h", set()).add(
                (hip, kind))
    absent = missing_headers(sorted({h for h, _ in headers} | set(later)))
    for header in sorted(ELSEWHERE & absent):
        print("skip %s: its component is not installed" % header)
    headers = [(h, newer) for h, newer in headers if h not in ELSEWHERE & absent]
    wrong = sorted(h for h, newer in set(headers) if (h in absent) != bool(newer))
    report(not wrong, "%d headers %s" % (len(set(headers)), " ".join(wrong)))
    for header, names in sorted(groups.items()):
        bad, other = missing(header, names)
        report(not bad and not other, "%s: %d names%s" % (header, len(names),
               "; missing: " + " ".join(sorted(bad)) if bad else "; " + other if other else ""))
    for header, names in sorted(later.items()):
        if header in absent:
            continue
        bad, other = missing(header, names)
        there = {n for n, _ in names} - bad
        report(not there and not other, "%s: %d names of a later version%s" % (header, len(names),
               "; " + other if other else
               "; there already: " + " ".join(sorted(there)) if there else ""))
    return 1 if failed else 0


sys.exit(main())
