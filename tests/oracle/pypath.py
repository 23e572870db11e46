"""What Python itself says about random paths and patterns: lines for t_py_path.c.

python3 pypath.py SEED COUNT prints COUNT lines "op<TAB>argument<TAB>...<TAB>result", in the bytes
that file names have. The modules are the real ones; nothing is reimplemented here.
"""
import fnmatch
import os
import pathlib
import posixpath
import random
import sys

seed, count = map(int, sys.argv[1:])
rng = random.Random(seed)

PIECES = ["a", "b", "ab", ".", "..", "...", "/", "/", "//", "///", "x.cu", ".cu", "a.b.c", "é", "\udcff",
    "cuda", "..x", " "]
GLOBS = ["*", "*", "?", "[", "]", "!", "-", "^", "\\", "a", "b", "c", "z", ".", "/", "é", "\udcff", "[!", "[a-c]",
    "[]", "[b-a]", "[!b-a]", "[^", "&&", "||", "[a-", "-]", "[b-a!"]
NAMES = ["a", "b", "c", "z", ".", "/", "é", "\udcff", "!", "-", "^", "[", "]", "\\", "&", "|", "\n"]


def text(pieces, most):
    return "".join(rng.choice(pieces) for _ in range(rng.randint(0, most)))


def like(pattern):
    """A name that has a chance to match."""
    out = []
    for c in pattern:
        out.append(text(NAMES, 3) if c == "*" else rng.choice(NAMES) if c == "?" else c)
    return "".join(out)


def ext(path):
    return posixpath.splitext(posixpath.basename(path))[1]


def line():
    op = rng.choice(["glob"] * 6 + ["join", "abs", "rel", "dir", "base", "ext", "lib"])
    if op == "glob":
        pattern = text(GLOBS, 8)
        name = like(pattern) if rng.random() < 0.7 else text(NAMES, 6)
        return op, pattern, name, str(int(fnmatch.fnmatchcase(name, pattern)))
    a, b = text(PIECES, 6), text(PIECES, 6)
    cwd = posixpath.normpath("/" + text(PIECES, 3).lstrip("/"))
    os.getcwd = lambda: cwd  # what abspath() and relpath() start from
    if op == "join":
        return op, a, b, posixpath.join(a, b)
    if op == "abs":
        return op, a, cwd, posixpath.abspath(a)
    if op == "rel":
        return op, a or "a", b or ".", cwd, posixpath.relpath(a or "a", b or ".")
    if op == "dir":
        return op, a, posixpath.dirname(a)
    if op == "base":
        return op, a, posixpath.basename(a)
    if op == "ext":
        return op, a, ext(a)
    return op, a, str(pathlib.PurePosixPath(a))


made = 0
while made < count:
    fields = line()
    if any("\n" in f or "\t" in f for f in fields):
        continue
    sys.stdout.buffer.write(os.fsencode("\t".join(fields)) + b"\n")
    made += 1
