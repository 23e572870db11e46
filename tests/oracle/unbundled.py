#!/usr/bin/env python3
"""unbundled.py OLD NEW BUNDLER...: clang-offload-bundler (a command) takes the same objects out of the compressed
bundles of NEW as are in the bundles of OLD. It reads one bundle only, so each is given to it as a file."""
import pathlib
import struct
import subprocess
import sys
import tempfile

from device_code import bundles, device_sections, entries


def compressed(data):
    at = 0
    while (at := data.find(b"CCOB", at)) >= 0:
        version, = struct.unpack_from("<H", data, at + 4)
        total, = struct.unpack_from("<Q" if version == 3 else "<I", data, at + 8)
        yield data[at:at + total]
        at += total


def unbundle(bundler, bundle, names, folder):
    source = folder / "bundle"
    source.write_bytes(bundle)
    outputs = [folder / f"object{i}" for i in range(len(names))]
    subprocess.run([*bundler, "-unbundle", "-type=o", f"-input={source}", "-targets=" + ",".join(names),
        *(f"-output={o}" for o in outputs)], check=True)
    return [o.read_bytes() for o in outputs]


def main():
    old, new, bundler = sys.argv[1], sys.argv[2], sys.argv[3:]
    before = [raw for data in device_sections(old)[1] for _, raw in bundles(data)]
    after = [b for data in device_sections(new)[1] for b in compressed(data)]
    assert len(before) == len(after) > 0, (len(before), len(after))
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for raw, bundle in zip(before, after):
            want = {n: raw[o:o + s] for n, o, s in entries(raw, 0) if s}
            (decoded,) = [b for _, b in bundles(bundle)]
            names = [n for n, _, s in entries(decoded, 0) if s]
            got = unbundle(bundler, bundle, names, pathlib.Path(folder))
            assert names and got == [want[n] for n in names], names
            count += len(names)
    print(f"ok {new.rsplit('/', 1)[-1]}: clang-offload-bundler finds {count} objects in {len(after)} compressed bundles")


if __name__ == "__main__":
    main()
