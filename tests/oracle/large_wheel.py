#!/usr/bin/env python3
"""large_wheel.py make: a small SDK, and a wheel like PyTorch's above 4 GiB: three libraries with code for three GPUs, most
of it noise; stored and deflated ones; a member above 4 GiB of its own. LARGE_MB is the size of a code object.
large_wheel.py check NEW.whl GPU...: what NEW took over from the wheel has its compressed bytes, and libraries have just
the objects of those GPUs, with their hashes. large_wheel.py run LABEL COMMAND...: with time and memory on stdout."""
import hashlib
import json
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import fat_wheel
from device_code import device_sections, entries
from gpus_wheel import record_row

WHEEL = "bigtorch-2.9.0+rocm7.2-py3-none-linux_x86_64.whl"
INFO = "bigtorch-2.9.0+rocm7.2.dist-info"
MB = int(os.environ.get("LARGE_MB", 160)) << 20
FLAGS = {"gfx90a": 0x3f, "gfx1030": 0x36, "gfx1100": 0x41}
LIBRARIES = ("one", "two", "three")
METADATA = "Metadata-Version: 2.1\nName: bigtorch\nVersion: 2.9.0+rocm7.2\n"


def big_bundle(path):
    """Real code objects with noise behind them. What is in it: {target: (size, hash)}."""
    data = next(d for n, d in fat_wheel.objects().items() if n.endswith(b"gfx1030"))
    head, table, at = b"__CLANG_OFFLOAD_BUNDLE__" + (len(FLAGS) + 1).to_bytes(8, "little"), {}, 4096
    rows = [(b"host-x86_64-unknown-linux-gnu-", 4096, 0)]
    with open(path, "wb") as out:
        for gpu, flags in FLAGS.items():
            code = bytearray(data)
            code[48] = flags
            out.seek(at)
            digest, left = hashlib.sha256(), MB
            while left:
                part = (bytes(code) + os.urandom(1 << 20))[:min(left, 1 << 20)]
                code = b""
                digest.update(part)
                out.write(part)
                left -= len(part)
            rows.append((b"hipv4-amdgcn-amd-amdhsa--" + gpu.encode(), at, MB))
            table[gpu] = (MB, digest.hexdigest())
            at = -(-(at + MB) // 4096) * 4096
        for name, offset, size in rows:
            head += b"".join(v.to_bytes(8, "little") for v in (offset, size, len(name))) + name
        out.seek(0)
        out.write(head)
    return table


def make():
    lib = Path("sdk/lib")
    fat_wheel.library(lib / "libamdhip64.so.7", "hip", 1, soname="libamdhip64.so.7", links=["libamdhip64.so"])
    fat_wheel.library(lib / "librocblas.so.5", "blas", 10, ["hip"], "librocblas.so.5", 1, ["librocblas.so"], first=[lib / "libamdhip64.so"])
    known, rows = {}, []
    with zipfile.ZipFile(WHEEL, "w", zipfile.ZIP_STORED) as z:
        def add(name, pieces, method=zipfile.ZIP_STORED):
            digest, n = hashlib.sha256(), 0
            item = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            item.compress_type, item.external_attr = method, 0o100644 << 16
            with z.open(item, "w", force_zip64=name.endswith(".bin")) as out:
                for piece in pieces:
                    out.write(piece)
                    digest.update(piece)
                    n += len(piece)
            rows.append(record_row(name, digest.digest(), n))

        add("bigtorch/__init__.py", [b"import os\n" * 5000], zipfile.ZIP_DEFLATED)
        for i, name in enumerate(LIBRARIES):
            known[f"bigtorch/lib/lib{name}.so"] = [big_bundle(f"f{k}") for k in range(2)]
            section = "".join(f'\t.p2align 12\nf{k}:\t.incbin "f{k}"\n' for k in range(2))
            wrappers = "".join(f"\t.long 0x48495046, 1\n\t.quad f{k}, 0\n" for k in range(2))
            Path("x.s").write_text(f'\t.section .hip_fatbin,"a",@progbits\n{section}\t.section .hipFatBinSegment,"aw",@progbits\n'
                f'\t.p2align 3\n{wrappers}\t.section .note.GNU-stack,"",@progbits\n')
            subprocess.run(["gcc", "-shared", "-fPIC", "x.s", "-Wl,--no-as-needed", lib / "librocblas.so", "-o", "x.so"], check=True)
            with open("x.so", "rb") as f:
                add(f"bigtorch/lib/lib{name}.so", iter(lambda: f.read(1 << 22), b""), zipfile.ZIP_DEFLATED if i == 1 else zipfile.ZIP_STORED)
        add("bigtorch/noise.bin", (os.urandom(1 << 20) for _ in range(MB * 16 >> 20)))
        add("bigtorch/zeros.bin", (bytes(1 << 20) for _ in range((MB * 27 >> 20) + 1)), zipfile.ZIP_DEFLATED)
        for name, text in (("METADATA", METADATA), ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n")):
            add(f"{INFO}/{name}", [text.encode()], zipfile.ZIP_DEFLATED)
        z.writestr(f"{INFO}/RECORD", "".join(rows) + f"{INFO}/RECORD,,\n")
    for name in ("f0", "f1", "x.so"):
        os.remove(name)
    Path("known.json").write_text(json.dumps(known))


def stored_bytes(path, item):
    """A member as it lies in the archive."""
    with open(path, "rb") as f:
        f.seek(item.header_offset)
        head = f.read(30)
        f.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
        digest, left = hashlib.sha256(), item.compress_size
        while left:
            piece = f.read(min(left, 1 << 22))
            digest.update(piece)
            left -= len(piece)
    return item.compress_type, digest.hexdigest()


def objects(z, name):
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = z.extract(name, folder)
        found = []
        for section in device_sections(path)[1]:
            view, at = memoryview(section), 0
            while at < len(view):
                if view[at:at + 24] != b"__CLANG_OFFLOAD_BUNDLE__":
                    at += 8
                    continue
                rows = list(entries(view[at:at + (1 << 16)].tobytes(), 0))
                found.append({n.partition("amdhsa--")[2]: [size, hashlib.sha256(view[at + offset:at + offset + size]).hexdigest()]
                    for n, offset, size in rows if size})
                at += max(offset + size for _, offset, size in rows)
                at += -at % 8
        return found


def check(path, gpus):
    old, new, known = zipfile.ZipFile(WHEEL), zipfile.ZipFile(path), json.loads(Path("known.json").read_text())
    files = {i.filename for i in new.infolist()}
    same = 0
    for item in old.infolist():
        name = item.filename
        if name in known or ".dist-info/" in name:
            continue
        assert stored_bytes(WHEEL, item) == stored_bytes(path, new.getinfo(name)), name
        same += 1
    for name, bundles in known.items():
        want = [{g: v for g, v in b.items() if g in gpus} for b in bundles]
        have = objects(new, name) if gpus else []
        assert have == (want if gpus else []), (name, have, want)
    assert same == 3 and files >= set(known)
    print(f"ok {path}: {same} members have their compressed bytes, {len(known)} libraries the code of {' '.join(gpus) or 'no GPU'}")


def main():
    if sys.argv[1] == "make":
        make()
    elif sys.argv[1] == "check":
        check(sys.argv[2], sys.argv[3:])
    else:
        begun = time.time()
        status = subprocess.run(sys.argv[3:], stdout=subprocess.DEVNULL).returncode
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        print(f"{sys.argv[2]}: {time.time() - begun:.1f} s, {most} MiB")
        sys.exit(status)


if __name__ == "__main__":
    main()
