#!/usr/bin/env python3
"""slimmed.py OLD NEW [ENCODING] TARGET...: NEW has every code object of OLD for these targets, with the same hash, in
the same bundles (of that encoding, ccob2 say), and no other. Both are read by device_code.py, which shares nothing
with rocsmith."""
import sys

from device_code import expected


def main():
    old, new, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
    encoding = targets.pop(0) if targets[0].startswith("ccob") else None
    keys = ("target", "bundle", "encoding", "size", "kernels", "sha256")
    rows = [[tuple(o[k] for k in keys) for o in expected(path)[1]] for path in (old, new)]
    if encoding:
        rows[0] = [(*row[:2], encoding, *row[3:]) for row in rows[0]]
    want = [row for row in rows[0] if row[0] in targets]
    name = new.rsplit("/", 1)[-1]
    if not want or rows[1] != want:
        print(f"not ok {name}: {len(rows[1])} objects, and {len(want)} were to stay")
        return 1
    print(f"ok {name}: {len(want)} of {len(rows[0])} objects are left, each with its hash")
    return 0


if __name__ == "__main__":
    sys.exit(main())
