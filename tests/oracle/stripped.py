#!/usr/bin/env python3
"""stripped.py OLD NEW [DIR/] TARGET...: every code object of NEW is what llvm-strip makes of that of OLD, and ROCr finds
its kernels still.

Both files are read by device_code.py, objects with struct: the sections that llvm-strip --strip-all leaves are those
of NEW, byte for byte at the same addresses, notes included; beside them there is a .symtab, by which ROCr looks for
kernels (GElfImage::getSymbolTable()), with each .kd symbol that OLD's has and its metadata name. The first object goes to DIR/old and DIR/new."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from device_code import bundles, device_sections, entries


def objects(path):
    for data in device_sections(path)[1]:
        for encoding, raw in bundles(data):
            for name, offset, size in entries(raw, 0):
                if size and not name.startswith("host"):
                    yield name.rsplit("--", 1)[1], raw[offset:offset + size]


def sections(code):
    """name: (type, flags, address, bytes, name of the linked one)"""
    (shoff,), (n, strings) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<HH", code, 60)
    rows = [struct.unpack_from("<IIQQQQIIQQ", code, shoff + i * 64) for i in range(n)]
    base = rows[strings][4]

    def name(row):
        return code[base + row[0]:code.index(b"\0", base + row[0])].decode()

    return {name(r): (r[1], r[2], r[3], b"" if r[1] == 8 else code[r[4]:r[4] + r[5]], name(rows[r[6]]))
        for r in rows[1:]}


def descriptors(found):
    """Kernel descriptors by the section .symtab, as ROCr does it: name -> (address, section)."""
    kind, _, _, table, link = found[".symtab"]
    assert kind == 2 and found[link][0] == 3, "no symbol table"
    names = found[link][3]
    kds = {}
    for at in range(0, len(table), 24):
        name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", table, at)
        text = names[name:names.index(b"\0", name)].decode()
        if info & 15 == 1 and text.endswith(".kd"):
            kds[text] = (value, section)
    return kds


def listed(code):
    """The kernel descriptors that the metadata name; a library of device functions has none."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        notes = subprocess.run(["llvm-readelf", "--notes", file.name], check=True, stdout=subprocess.PIPE).stdout.decode()
        assert "amdhsa.kernels:" in notes, "no metadata"
        return set(re.findall(r"^ +\.symbol: +'?([^'\n]*)", notes, re.M))


def stripped(code):
    with tempfile.NamedTemporaryFile() as file:
        file.write(code)
        file.flush()
        subprocess.run(["llvm-strip", "--strip-all", file.name], check=True)
        return open(file.name, "rb").read()


def compare(old, new):
    want, is_now, was = sections(stripped(old)), sections(new), sections(old)
    same = {k: v[:4] for k, v in want.items() if k != ".shstrtab"}
    have = {k: v[:4] for k, v in is_now.items() if k not in (".shstrtab", ".symtab")}
    assert have == same, sorted(set(have) ^ set(same))
    assert is_now[".symtab"][3] == is_now[".dynsym"][3]
    assert descriptors(is_now) == descriptors(was), "kernels"
    assert set(descriptors(was)) == listed(old), "kernels of the metadata"
    assert len(new) < len(old)
    heads = [c[:40] + c[48:60] for c in (old, new)]
    assert heads[0] == heads[1], "ELF header"


def main():
    old, new, targets = sys.argv[1], sys.argv[2], sys.argv[3:]
    folder = pathlib.Path(targets.pop(0)) if targets[0].endswith("/") else None
    before = [o for o in objects(old) if o[0] in targets]
    after = list(objects(new))
    assert [t for t, _ in before] == [t for t, _ in after] and before, "targets"
    for (_, x), (_, y) in zip(before, after):
        compare(x, y)
    if folder:
        (folder / "old").write_bytes(before[0][1])
        (folder / "new").write_bytes(after[0][1])
    sizes = [sum(len(c) for _, c in v) for v in (before, after)]
    print(f"ok {new.rsplit('/', 1)[-1]}: {len(after)} objects, {sizes[0]} bytes are {sizes[1]}, as llvm-strip makes them")


if __name__ == "__main__":
    main()
