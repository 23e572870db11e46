#!/usr/bin/env python3
"""Compares our translation of CUDA sources with that of Debian's hipify-perl.

hipify_oracle.py ROCSMITH HIPIFY_PERL DIR...: each folder is translated by both; of each file the
identifiers outside comments, strings and #include lines are compared, in order. What may differ is
named below and nothing else: what we wrap, what we put in front, what hipify-perl does not know, what
we leave on purpose (cuDNN, cuTENSOR, guards that compare).
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ROCSMITH, PERL, DIRS = sys.argv[1], sys.argv[2], sys.argv[3:]
TABLES = pathlib.Path(__file__).resolve().parents[2] / "data" / "cuda_names"
ADDED = {"HIP_SYMBOL", "reinterpret_cast", "const", "void", "unsigned", "long",
         "hipMemcpyHostToDevice", "hipMemcpyDeviceToHost", "hipArrayDefault"}
SOURCES = {".cu", ".cuh", ".h", ".hpp", ".cc", ".cpp", ".c", ".inl"}
NOISE = re.compile(r'R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*'
                   r"|/\*.*?\*/|^[ \t]*#[ \t]*include[^\n]*", re.S | re.M)
failed = alike = 0


def table():
    pairs = {}
    for path in TABLES.glob("*.tsv"):
        for line in path.read_text().splitlines():
            cells = line.split("\t")
            if path.name != "args.tsv" and not line.startswith("#") and len(cells) == 6:
                pairs[cells[0]] = (cells[1], cells[2])
    return pairs


PAIRS = table()
PREFERRED = PAIRS["@vector"][0]  # in front of operators and atomics of the project's own


def words(text):
    # digit separators are no quotes
    text = re.sub(r"(?<=\d)'(?=\d)", "", text)
    return re.findall(r"[A-Za-z_]\w*", NOISE.sub(" ", text))


def explained(cuda, ours, perl):
    """Is it right that the CUDA word became one thing here and another there?"""
    kind = PAIRS.get(cuda, ("", ""))[1]
    if ours == cuda and kind in ("unsupported", "guard"):
        return True
    if perl == cuda and PAIRS.get(cuda, ("",))[0] == ours:
        return True
    return cuda in ("nv_bfloat16", "__nv_bfloat16", "nv_bfloat162", "cuda") and ours != cuda


def compare(name, source, ours, perl):
    global failed, alike
    wrong = collections.Counter()
    a, b, c = words(source), words(ours), words(perl)
    b = list(strip_added(a, b))
    c = list(strip_added(a, c))
    if not len(a) == len(b) == len(c):
        wrong["%d, %d and %d words" % (len(a), len(b), len(c))] += 1
    for cuda, mine, theirs in zip(a, b, c):
        if mine != theirs and not explained(cuda, mine, theirs):
            wrong["%s: %s here, %s there" % (cuda, mine, theirs)] += 1
    changed = sum(x != y for x, y in zip(a, b))
    failed += bool(wrong)
    alike += changed
    print("%s %s: %d names translated alike%s" % ("not ok" if wrong else "ok", name, changed,
          "; " + "; ".join(wrong) if wrong else ""))


def strip_added(source, result):
    """The words of the result without those that were put in, so that both lists run in step."""
    i = 0
    for word in result:
        want = source[i] if i < len(source) else None
        if word in ADDED and word != want and word != PAIRS.get(want, ("",))[0]:
            continue
        yield word
        i += 1


def one_folder(folder):
    root = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([ROCSMITH, "hipify", "-q", "--mode", "standalone", folder, "-o", out + "/o"],
                       check=False, capture_output=True)
        for path in sorted(p for p in root.rglob("*") if p.suffix in SOURCES and p.is_file()):
            rel = path.relative_to(root)
            mine = pathlib.Path(out) / "o" / rel
            mine = mine.with_suffix(".hip") if path.suffix == ".cu" else mine
            source = path.read_text(errors="replace")
            if not mine.exists() or not re.search(r"cu|CU|NV|nv", source):
                continue
            perl = subprocess.run(["perl", PERL, "-quiet-warnings", str(path)],
                                  capture_output=True, text=True, check=False).stdout
            ours = mine.read_text().replace("#define HIP_ENABLE_WARP_SYNC_BUILTINS 1\n", "")
            compare("%s/%s" % (root.name, rel), source, ours.replace(PREFERRED, ""), perl)


for directory in DIRS:
    one_folder(directory)
if alike < 20:
    print("not ok only %d names were compared" % alike)
sys.exit(1 if failed or alike < 20 else 0)
