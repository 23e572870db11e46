#!/usr/bin/env python3
"""Whole folders: compared byte for byte, put back, summed up. Used by the hipify tests.

    tree.py same A B              1 and the differences when they differ; else "N files, M bytes"
    tree.py sum DIR               one hash over every path, type, mode, mtime, content and link
    tree.py reset PRISTINE COPY   makes COPY what `cp -a PRISTINE COPY` would have made
    tree.py changed PRISTINE COPY the paths that differ

What rocsmith keeps for itself (.rocsmith) and Python's caches do not count, but in `sum` and `reset`.
"""
import hashlib
import os
import pathlib
import shutil
import stat
import sys

OURS = {".rocsmith", "__pycache__"}


def walk(root, skip=OURS):
    """Relative path -> os.stat_result (of the link itself) of everything below root but folders;
    empty folders are a matter of their own: the original makes them for outputs that it then does
    not write."""
    found = {}

    def enter(folder, rel):
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in skip:
                    continue
                path = rel + entry.name
                if entry.is_dir(follow_symlinks=False):
                    enter(entry.path, path + "/")
                else:
                    found[path] = entry.stat(follow_symlinks=False)

    enter(str(root), "")
    return found


def content(path, info):
    if stat.S_ISLNK(info.st_mode):
        return b"link:" + os.readlink(os.fsencode(path))
    return pathlib.Path(path).read_bytes()


def differences(a, b, modes=False):
    """Lines "only in B: path" and the like, and the number of files and bytes compared."""
    left, right = walk(a), walk(b)
    lines = [f"missing: {path}" for path in sorted(left.keys() - right.keys())]
    lines += [f"extra: {path}" for path in sorted(right.keys() - left.keys())]
    total = 0
    for path in sorted(left.keys() & right.keys()):
        one, two = left[path], right[path]
        total += one.st_size
        if stat.S_IFMT(one.st_mode) != stat.S_IFMT(two.st_mode):
            lines.append(f"another type: {path}")
        elif (one.st_size != two.st_size or
                content(os.path.join(a, path), one) != content(os.path.join(b, path), two)):
            lines.append(f"differs: {path}")
        elif modes and one.st_mode != two.st_mode:
            lines.append(f"mode {one.st_mode & 0o7777:o}, {two.st_mode & 0o7777:o}: {path}")
    return lines, len(left), total


def changed(pristine, copy):
    return differences(pristine, copy)[0]


def digest(root):
    """Of everything, so also of what `walk` leaves out, and of folders but for their times."""
    total = hashlib.sha256()
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files) + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            data = hashlib.sha256(content(path, info)).hexdigest()
            total.update(f"{os.path.relpath(path, root)} {info.st_mode:o} {info.st_mtime_ns} {data}\n"
                .encode(errors="surrogateescape"))
        total.update(f"{os.path.relpath(folder, root)} {os.lstat(folder).st_mode:o}\n"
            .encode(errors="surrogateescape"))
    return total.hexdigest()


def reset(pristine, copy):
    """Files whose size and mtime are those of the pristine ones are taken to be untouched: all
    programs run here write in the ordinary way."""
    if not os.path.isdir(copy):
        shutil.copytree(pristine, copy, symlinks=True)
        return
    want = walk(pristine, set())
    have = walk(copy, set())
    for path in have.keys() - want.keys():
        os.unlink(os.path.join(copy, path))
    for path, info in want.items():
        old = have.get(path)
        if (old and old.st_size == info.st_size and old.st_mtime_ns == info.st_mtime_ns
                and old.st_mode == info.st_mode):
            continue
        target = os.path.join(copy, path)
        if old:
            os.unlink(target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(pristine, path), target, follow_symlinks=False)
    for folder, _, _ in os.walk(copy, topdown=False):
        if not os.path.isdir(os.path.join(pristine, os.path.relpath(folder, copy))):
            os.rmdir(folder)


def main():
    command, *paths = sys.argv[1:]
    if command == "same":
        lines, files, size = differences(*paths)
        print("\n".join(lines[:20]) if lines else f"{files} files, {size} bytes")
        return 1 if lines else 0
    if command == "sum":
        print(digest(*paths))
    elif command == "reset":
        reset(*paths)
    elif command == "changed":
        print("\n".join(changed(*paths)))
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main())
