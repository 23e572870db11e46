"""device_formats.py ROCSMITH TMP: inputs of every format that `inspect` reads, written here byte by byte from the
formats' documents, and what it must say about them."""
import io
import json
import lzma
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import zipfile

ROCSMITH, TMP = sys.argv[1], pathlib.Path(sys.argv[2])  # another module gives them, too
MACH = {"gfx803": 0x2A, "gfx900": 0x12C, "gfx906": 0x52F, "gfx90a": 0x53F, "gfx942": 0x54C, "gfx1030": 0x36,
        "gfx1100": 0x41, "gfx1201": 0x4E, "gfx11-generic": 0x1000054, "gfx90a:xnack-": 0x63F}


def pad(data, align):
    return data + bytes(-len(data) % align)


def code_object(target, kernels=1, abi=4, flags=None, note=b"", text=b""):
    """ELF64 for an AMD GPU: dynamic symbols NAME.kd (V3 and later) or of type 10 (V2)."""
    names, symbols = b"\0", bytes(24)
    for i in range(kernels):
        kind, size = (10, 256) if abi == 0 else (1, 64)
        symbols += struct.pack("<IBBHQQ", len(names), 0x10 | kind, 3, 6, 0x1000, size)
        names += (f"k{i}" if abi == 0 else f"k{i}.kd").encode() + b"\0"
    at = 64 + 3 * 56
    hashes = struct.pack("<II", 1, kernels + 1) + bytes(4 * (kernels + 2))
    dyn_at = at + len(symbols) + len(names) + len(hashes)
    dynamic = struct.pack("<10Q", 6, at, 5, at + len(symbols), 10, len(names), 4,
        at + len(symbols) + len(names), 0, 0)
    body = symbols + names + hashes + dynamic + note + text
    head = b"\x7fELF\2\1\1\x40" + bytes([abi]) + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, MACH.get(target, 0) if flags is None else flags, 64,
        56, 3, 64, 0, 0)
    end = at + len(body)

    def segment(kind, offset, size):
        return struct.pack("<IIQQQQQQ", kind, 4, offset, offset, offset, size, size, 8)
    head += segment(1, 0, end) + segment(2, dyn_at, len(dynamic)) + segment(4, dyn_at + len(dynamic), len(note))
    return head + body


def bundle(entries, prefix="hipv4-amdgcn-amd-amdhsa--"):
    ids = [b"host-x86_64-unknown-linux-gnu-"] + [(t if "spirv" in t else prefix + t).encode() for t, _ in entries]
    blobs, table, data = [b""] + [b for _, b in entries], b"", b""
    for name, blob in zip(ids, blobs):
        data = pad(data, 4096)
        table += struct.pack("<QQQ", 4096 + len(data), len(blob), len(name)) + name
        data += blob
    return pad(b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(ids)) + table, 4096) + data


def two(a="gfx1100", b="gfx90a"):
    return bundle([(a, code_object(a, 3)), (b, code_object(b, 2))])


def host(sections, machine=62, table=True, kind=3):
    """ELF64 of a host; sections: (name, flags, bytes)."""
    names, image, headers = b"\0", bytes(64 + 56), bytes(64)
    for name, flags, data in sections:
        image = pad(image, 4096)
        headers += struct.pack("<IIQQQQIIQQ", len(names), 1, flags, len(image), len(image), len(data), 0, 0, 4096, 0)
        names += name.encode() + b"\0"
        image += data
    end = len(image)
    headers += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, end, len(names), 0, 0, 1, 0)
    image = pad(image + names, 8)
    n = len(sections) + 2
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64,
        len(image) if table else 0, 0, 64, 56, 1, 64, n if table else 0, n - 1 if table else 0)
    head += struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, end, end, 4096)
    return head + image[len(head):] + (headers if table else b"")


def dll(sections):
    """A PE32+ image."""
    head = pad(b"MZ" + bytes(58) + struct.pack("<I", 128), 128)
    optional = struct.pack("<HBBIIIII", 0x20B, 14, 0, 0, 0, 0, 0, 0x1000)
    optional += struct.pack("<QIIHHHHHHIIIIHHQQQQII", 0x180000000, 0x1000, 512, 6, 0, 0, 0, 6, 0, 0, 0x100000, 1024,
        0, 3, 0x160, 1 << 20, 4096, 1 << 20, 4096, 0, 16) + bytes(128)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, len(optional), 0x2022) + optional
    data, table, address = b"", b"", 0x1000
    for name, flags, content in sections:
        table += struct.pack("<8sIIIIIIHHI", name, len(content), address, len(pad(content, 512)), 1024 + len(data),
            0, 0, 0, 0, flags)
        data += pad(content, 512)
        address += len(pad(content, 4096))
    return pad(head + table, 1024) + data


def coff(sections):
    table, data, strings, at = b"", b"", b"", 20 + 40 * len(sections)
    for name, content in sections:
        short = name.encode()
        if len(short) > 8:
            strings, short = strings + short + b"\0", b"/%d" % (4 + len(strings))
        table += struct.pack("<8sIIIIIIHHI", short, 0, 0, len(content), at + len(data), 0, 0, 0, 0, 0x40000040)
        data += content
    head = struct.pack("<HHIIIHH", 0x8664, len(sections), 0, at + len(data), 0, 0, 0)
    return head + table + data + struct.pack("<I", 4 + len(strings)) + strings


def archive(members):
    out = b"!<arch>\n"
    for name, data in members:
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644", len(data)) + data
        out += b"\n" * (len(data) % 2)
    return out


def aks2(kernels):
    """kernels: (name, object)"""
    table, blobs = b"", b""
    for name, blob in kernels:
        table += struct.pack("<5I", 1024, 256, len(blobs), len(blob), len(name) + 1) + name.encode() + b"\0"
        blobs += blob
    raw = table + blobs
    return b"AKS2" + struct.pack("<3I", len(raw), len(kernels), len(table)) + lzma.compress(raw)


def write(name, data):
    path = TMP / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def inspect(path, *options, status=0):
    done = subprocess.run([ROCSMITH, "inspect", "--json", *options, path], stdout=subprocess.PIPE, check=False)
    assert done.returncode == status, (path, done.returncode, done.stdout.decode())
    return json.loads(done.stdout)


def expect(name, data, fmt, objects, findings=(), served=None):
    """objects: "bundle:target/encoding/kernels" in file order."""
    d = inspect(write(name, data), status=int(any(f in ERRORS for f in findings)))
    got = [f"{o['bundle']}:{o['target']}/{o['encoding']}/{o['kernels']}" for f in d["files"] for o in f["objects"]]
    assert got == objects, (name, got)
    assert not d["files"] or d["files"][0]["format"] == fmt, (name, d["files"][0]["format"])
    assert [f["id"] for f in d["findings"]] == list(findings), (name, d["findings"])
    assert served is None or d["served"] == served, (name, d["served"])
    sizes = [o["stored"] for f in d["files"] for o in f["objects"]]
    assert sum(sizes) <= len(data), (name, sizes)
    return d


ERRORS = {"object-mislabelled", "object-unreadable", "bundle-damaged"}
ALLOC, WRITE = 2, 3
(TMP / "scratch").mkdir(exist_ok=True)
os.environ["TMPDIR"] = str(TMP / "scratch")
TWO = ["0:gfx1100/raw/3", "0:gfx90a/raw/2"]
BOTH = ["gfx90a", "gfx1100"]
ISA = struct.pack("<III", 4, 0x1A, 3) + b"AMD\0" + struct.pack("<HHIII", 4, 7, 8, 0, 3) + b"AMD\0AMDGPU\0\0"


def wrappers(n):
    return struct.pack("<IIQQ", 0x48495046, 1, 0, 0) * n


def hosts():
    fat = [(".rodata", ALLOC, b"x" * 100), (".hip_fatbin", ALLOC, two()), (".hipFatBinSegment", WRITE, wrappers(1))]
    for machine in (62, 183):
        expect(f"lib{machine}.so", host(fat, machine), "elf", TWO, served=BOTH)
        expect(f"bare{machine}.so", host(fat, machine, table=False), "elf", TWO, served=BOTH)
    expect("object.o", host(fat, kind=1), "elf", TWO, served=BOTH)
    print("ok x86-64 and aarch64 hosts, with and without section headers")
    image = [(b".text", 0x60000020, b"\xc3" * 64), (b".rdata", 0x40000040, b"r" * 600),
        (b".hip_fat", 0x40000040, pad(two(), 4096) + two("gfx1201", "gfx942")),
        (b".hipFatB", 0xC0000040, wrappers(2))]
    expect("lib.dll", dll(image), "pe", TWO + ["1:gfx1201/raw/3", "1:gfx942/raw/2"],
        ["bundle-without-target"] * 4, served=[])
    elsewhere = [(b".rdata", 0x40000040, bytes(16) + two()), (b".hipFatB", 0xC0000040, wrappers(1))]
    expect("rdata.dll", dll(elsewhere), "pe", TWO, served=BOTH)
    expect("none.dll", dll(image[:2]), "pe", [])
    expect("dos.exe", b"MZ" + bytes(200), "pe", [])
    print("ok Windows DLLs")


def archives():
    objects = [(b"a.o/", host([(".hip_fatbin", ALLOC, two())], kind=1)), (b"/14", b"odd"),
        (b"b.hsaco/", code_object("gfx1030"))]
    expect("lib.a", archive([(b"/", b"\0\0\0\0"), (b"//", b"a-long-name.o/\n")] + objects), "archive",
        TWO + ["1:gfx1030/object/1"], ["bundle-without-target"] * 3)
    name = b"a-name-of-some-length.o\0"
    expect("bsd.a", archive([(b"#1/24", name + host([(".hip_fatbin", ALLOC, two())], kind=1))]), "archive", TWO)
    expect("windows.lib", archive([(b"a.obj/", coff([(".hip_fatbin", two()), (".text", b"\xc3")]))]), "archive", TWO)
    thin = write("thin.a", b"!<thin>\n" + archive([(b"/", b"")])[8:])
    done = subprocess.run([ROCSMITH, "inspect", thin], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"thin archive" in done.stderr, done
    print("ok static archives, by GNU's, BSD's and Windows' conventions; thin ones are refused")


def objects():
    expect("v2.hsaco", code_object("", 2, abi=0, note=ISA), "object", ["0:gfx803/object/2"], served=["gfx803"])
    expect("v3.hsaco", code_object("gfx906", 1, abi=1, flags=0x2F), "object", ["0:gfx906:sramecc-:xnack-/object/1"])
    for abi in (2, 3, 4):
        expect(f"v{abi + 2}.hsaco", code_object("gfx90a:xnack-", 1, abi), "object", ["0:gfx90a:xnack-/object/1"])
    d = expect("generic.hipfb", bundle([("gfx11-generic", code_object("gfx11-generic"))]), "bundle",
        ["0:gfx11-generic/raw/1"])
    assert "gfx11-generic" in d["served"] and "gfx90a" not in d["served"]
    expect("spirv.hipfb", bundle([("hipv4-spirv64-amd-amdhsa--amdgcnspirv", b"\3\2\x23\7" + bytes(60))]), "bundle",
        ["0:amdgcnspirv/raw/0"])
    swapped = bundle([("gfx1100", code_object("gfx1030"))])
    expect("swapped.hipfb", swapped, "bundle", ["0:gfx1100/raw/1"], ["object-mislabelled"])
    print("ok code objects V2 to V6, generic targets, SPIR-V, mislabelled objects")
    inside = [(".data", WRITE, bytes(64) + pad(code_object("gfx942", 2), 16) + code_object("", 0, 0) + bytes(100))]
    expect("inside.so", host(inside), "elf", ["0:gfx942/object/2", "1:unknown/object/0"], served=["gfx942"])
    handlers = [(".rodata", ALLOC, bytes(32) + code_object("", 0, 0))]
    folder = TMP / "runtime"
    write("runtime/libhsa.so", host(handlers))
    write("runtime/lib.so", host([(".hip_fatbin", ALLOC, two())]))
    assert inspect(folder)["served"] == BOTH
    cut = code_object("gfx942", 2)[:-30]
    expect("cut.so", host([(".data", WRITE, cut)]), "elf", [])
    print("ok code objects in arrays of a program; handlers of the runtime lack nothing")


def offload_binary(images, version=1, triple=b"amdgcn-amd-amdhsa"):
    """The images of LLVM's new offload driver, as OffloadBinary::write() lays them out: version 1 has one in a binary."""
    if version == 1 and len(images) > 1:
        return b"".join(offload_binary([image]) for image in images)
    step, strings, table, texts, data = (16 if version == 1 else 24), b"", b"", b"", b""
    first = 32 + 40 * len(images)
    text = first + 2 * step * len(images)
    for arch, _ in images:
        for key, value in ((b"arch", arch.encode()), (b"triple", triple)):
            at = text + len(texts)
            strings += struct.pack("<QQ", at, at + len(key) + 1) + struct.pack("<Q", len(value))[:step - 16]
            texts += key + b"\0" + value + b"\0"
    start = len(pad(bytes(text) + texts, 8))
    for i, (_, image) in enumerate(images):
        kind = 2 if image[:2] == b"BC" else 1
        table += struct.pack("<HHIQQQQ", kind, 4, 0, first + 2 * step * i, 2, start + len(data), len(image))
        data = pad(data + image, 8)
    rest = pad(table + strings + texts, 8) + data
    head = struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", version, 32 + len(rest), 32, 40 if version == 1 else len(images))
    return head + rest


def offloads():
    bitcode = b"BC\xc0\xde" + bytes(40)
    images = [("gfx1100", bitcode), ("gfx90a:xnack-", bitcode)]
    linked = [("gfx1100", code_object("gfx1100", 3)), ("gfx90a:xnack-", code_object("gfx90a:xnack-", 2))]
    found = ["0:gfx1100/offload/0", "0:gfx90a:xnack-/offload/0"]
    for version in (1, 2):
        section = offload_binary(images, version)
        expect(f"offload{version}.o", host([(".llvm.offloading", 0, section)], kind=1), "elf", found)
        again = [f"1{line[1:]}" for line in found]
        expect(f"linked{version}.o", host([(".llvm.offloading", 0, offload_binary(linked, version))], kind=1), "elf",
            ["0:gfx1100/offload/3", "0:gfx90a:xnack-/offload/2"])
        expect(f"joined{version}.o", host([(".llvm.offloading", 0, section * 2)], kind=1), "elf", found + again)
        other = section + offload_binary([("sm_90", b"\x7fELF")], version, b"nvptx64-nvidia-cuda")
        expect(f"cuda{version}.o", host([(".llvm.offloading", 0, other)], kind=1), "elf", found)
        for n in (8, 40, len(section) - 1):
            part = host([(".llvm.offloading", 0, section[:n])], kind=1)
            d = inspect(write("cut.o", part), status=1)
            assert [f["id"] for f in d["findings"]] == ["bundle-damaged"], (version, n, d["findings"])
        for at, value in ((4, 3), (8, 1 << 40), (16, 1 << 40), (32 + 16, 1 << 30), (32 + 24, 1 << 40), (32 + 32, 1 << 40)):
            bad = bytearray(section)
            struct.pack_into("<I" if at == 4 else "<Q", bad, at, value)
            d = inspect(write("bad.o", host([(".llvm.offloading", 0, bytes(bad))], kind=1)), status=1)
            assert [f["id"] for f in d["findings"]] == ["bundle-damaged"], (version, at, d["findings"])
    plain = [(b"a.o/", host([(".hip_fatbin", ALLOC, two())], kind=1)),
        (b"b.o/", host([(".llvm.offloading", 0, offload_binary(images[:1]))], kind=1))]
    d = inspect(write("librdc.a", archive(plain)))
    assert [o["encoding"] for o in d["files"][0]["objects"]] == ["raw", "raw", "offload"], d
    print("ok offload binaries of versions 1 and 2: bitcode and objects, joined, cut off, damaged, in an archive")


def stores():
    kernels = [("a", code_object("gfx942", 1, text=os.urandom(5000))), ("b", b""), ("c", code_object("gfx942", 1))]
    d = expect("gfx942.aks2", aks2(kernels), "aks2", ["0:gfx942/aks2/1"] * 2, served=["gfx942"])
    assert [o["size"] for o in d["files"][0]["objects"]] == [len(kernels[0][1]), len(kernels[2][1])]
    good = aks2(kernels)
    for name, bad in {"cut": good[:-40], "size": good[:4] + struct.pack("<I", 99) + good[8:],
            "large": good[:4] + struct.pack("<I", 1 << 30) + good[8:],
            "many": good[:8] + struct.pack("<I", 9) + good[12:]}.items():
        done = subprocess.run([ROCSMITH, "inspect", write(f"{name}.aks2", bad)], stderr=subprocess.PIPE, check=False)
        assert done.returncode == 2 and done.stderr.startswith(b"error: "), (name, done)
    print("ok AOTriton stores, damaged ones too")


def side_files():
    root = "rocm/lib/rocblas/library"
    gfx = {t: code_object(t) for t in ("gfx1030", "gfx942", "gfx90a")}
    for t in ("gfx1030", "gfx942"):
        write(f"{root}/TensileLibrary_lazy_{t}.dat", b"\x82" + bytes(100))
    write(f"{root}/TensileLibrary_Type_SS_Contraction_fallback.dat", b"\x82" + bytes(10))
    write(f"{root}/TensileLibrary_Type_SS_Contraction_fallback_gfx1030.hsaco", gfx["gfx1030"])
    write(f"{root}/TensileLibrary_Type_SS_Contraction_gfx942.co", bundle([("gfx942", gfx["gfx942"])]))
    write(f"{root}/TensileLibrary_Type_SS_Contraction_gfx90a-xnack+.hsaco", code_object("gfx90a", 1, flags=0x73F))
    write("rocm/lib/librocblas.so", host([(".hip_fatbin", ALLOC,
        bundle([(t, o) for t, o in gfx.items()]))]))
    lazy = "rocm/lib/hipblaslt/library"  # newer trees: a folder for each
    write(f"{lazy}/gfx942/TensileLibrary_lazy_gfx942.dat", bytes(10))
    write(f"{lazy}/gfx942/TensileLibrary_x_gfx942.co", bundle([("gfx942", gfx["gfx942"])]))
    write(f"{lazy}/gfx942/TensileManifest.txt", b"x\n")
    write(f"{lazy}/hipblasltExtOpLibrary.dat", bytes(5))
    for name in ("gfx90a68.kdb", "gfx90878.db.txt", "gfx942130.HIP.fdb.txt", "gfx1030_36.db.txt", "readme.db"):
        write(f"rocm/share/miopen/db/{name}", bytes(20))
    write("rocm/lib/aotriton.images/amd-gfx11xx/flash/attn_fwd/a.aks2", aks2([("a", code_object("gfx1100"))]))
    write("rocm/lib/aotriton.images/amd-gfx942/flash/attn_fwd/a.aks2", aks2([("a", gfx["gfx942"])]))
    flat = io.BytesIO()  # newer ones: a zip of stores
    with zipfile.ZipFile(flat, "w") as z:
        z.writestr("attn_bwd/b.aks2", aks2([("b", gfx["gfx942"])]))
    write("rocm/lib/aotriton.images/amd-gfx942/flash.zip", flat.getvalue())
    write("rocm/lib/rocfft/rocfft_kernel_cache.db", bytes(30))
    d = inspect(TMP / "rocm")
    got = {(s["kind"], s["path"]): {t["target"]: t["files"] for t in s["targets"]} for s in d["sets"]}
    want = {("rocblas", "lib/rocblas/library"): {"": 1, "gfx1030": 2, "gfx942": 2, "gfx90a:xnack+": 1},
        ("hipblaslt", "lib/hipblaslt/library"): {"": 1, "gfx942": 3},
        ("miopen", "share/miopen/db"): {"gfx90a": 1, "gfx908": 1, "gfx942": 1, "gfx1030": 1},
        ("aotriton", "lib/aotriton.images"): {"gfx11xx": 1, "gfx942": 2},
        ("rocfft", "lib/rocfft"): {"": 1}}
    assert got == want, got
    assert d["served"] == ["gfx942"], d["served"]
    assert d["served_by_some"] == ["gfx90a", "gfx942", "gfx1030", "gfx1100"], d["served_by_some"]
    says = {f["id"]: f["message"] for f in d["findings"]}
    assert says["tensile-entry-missing"].endswith("for gfx90a"), says
    assert says["tensile-fallback-only"].endswith("for gfx1030"), says
    with zipfile.ZipFile(TMP / "aot-1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("torch/lib/aotriton.images/amd-gfx942/flash.zip", flat.getvalue())
    d = inspect(TMP / "aot-1-py3-none-any.whl")
    assert [f["path"] for f in d["files"]] == [
        "torch/lib/aotriton.images/amd-gfx942/flash.zip/attn_bwd/b.aks2"], d["files"]
    assert d["served"] == ["gfx942"] and d["sets"][0]["targets"][0]["files"] == 1, d
    print("ok side files of Tensile, AOTriton, MIOpen and rocFFT, by target")


def packages():
    lib, other = host([(".hip_fatbin", ALLOC, two())]), host([(".hip_fatbin", ALLOC, two("gfx1100", "gfx942"))])
    for suffix, mode in {"gz": "w:gz", "xz": "w:xz", "bz2": "w:bz2", "": "w"}.items():
        path = TMP / f"x-1.tar.{suffix}".rstrip(".")
        with tarfile.open(path, mode) as t:
            for name, data in (("x-1/PKG-INFO", b"Name: x\n"), ("x-1/x/lib.so", lib)):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                t.addfile(member, io.BytesIO(data))
        d = inspect(path)
        assert [f["path"] for f in d["files"]] == ["x-1/x/lib.so"] and d["served"] == BOTH, d
        assert not os.listdir(os.environ["TMPDIR"])
    cut = write("cut.tar.gz", (TMP / "x-1.tar.gz").read_bytes()[:300])
    done = subprocess.run([ROCSMITH, "inspect", cut], stderr=subprocess.PIPE, check=False)
    assert done.returncode != 0 and done.stderr.startswith(b"error: "), done
    print("ok source distributions")
    wheels = {"one": {"one/a.so": lib, "one/__init__.py": b""}, "two": {"two/b.so": other, "two/c.so": lib},
        "three": {"three.py": b"x = 1"}}
    for name, members in wheels.items():
        info = f"{name}-1.5.dist-info"
        members = {**members, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n"}
        with zipfile.ZipFile(TMP / f"{name}-1.5-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as z:
            for path, data in members.items():
                z.writestr(path, data)
            z.writestr(f"{info}/RECORD", "".join(f"{p},,\n" for p in [*members, f"{info}/RECORD"]))
    assert inspect(TMP / "two-1.5-py3-none-any.whl")["served"] == ["gfx1100"]
    env = TMP / "env"
    if subprocess.run([sys.executable, "-m", "venv", env], stdout=subprocess.DEVNULL, check=False).returncode:
        print("skip no virtual environment can be made here")
        return
    subprocess.run([env / "bin/pip", "-q", "install", "--no-index", *TMP.glob("*-1.5-py3-none-any.whl")], check=True)
    d = inspect(env, "--venv")
    got = {x["name"]: (x["version"], x["files"], x["served"]) for x in d["distributions"]}
    assert got == {"one": ("1.5", 1, BOTH), "two": ("1.5", 2, ["gfx1100"])}, got
    assert d["served"] == ["gfx1100"] and d["served_by_some"] == ["gfx90a", "gfx942", "gfx1100"], d["served_by_some"]
    done = subprocess.run([ROCSMITH, "inspect", "--venv", TMP / "rocm"], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"site-packages" in done.stderr, done
    print("ok what pip installed in a virtual environment, by distribution")


def answers():
    names = [("gfx90a", code_object("gfx90a", 3)), ("gfx942", code_object("gfx942", 2)),
        ("gfx1100", code_object("gfx1100", 1))]
    d = inspect(write("alone.hipfb", bundle(names)), "--kernels")
    alone = {o["target"]: o["alone"] for o in d["files"][0]["objects"]}
    assert alone == {"gfx90a": 1, "gfx942": 0, "gfx1100": 0}, alone
    assert [f["id"] for f in d["findings"]] == ["kernels-of-one-target"], d["findings"]
    assert "'k2'" in d["findings"][0]["message"] and d["findings"][0]["message"].startswith("gfx90a: 1 of 3 ")
    same = code_object("gfx11-generic")
    d = inspect(write("same.hipfb", pad(bundle([("gfx11-generic", same)]), 4096) + bundle([("gfx1100", same)])),
        "--hash", status=1)
    assert [f["message"] for f in d["findings"] if f["id"] == "objects-identical"] == [
        f"2 objects for gfx11-generic, gfx1100 are identical: {len(same)} bytes are there more than once"], d["findings"]
    assert {t["target"]: t["objects"] for t in d["targets"]} == {"gfx11-generic": 1, "gfx1100": 1}
    print("ok kernels of one GPU, and identical objects")


def sparse(path, bundles, targets, size):
    """A library of many large objects, of which only the first bytes are written; for bench/inspect-sparse."""
    objects = [(t, code_object(t, 4)) for t in targets]
    one = bundle([(t, b"") for t, _ in objects])[:4096]
    step = 4096 + len(objects) * size
    table = bytearray(one)
    for at in (i for i in range(32, 4096) if one[i:i + 6] == b"hipv4-"):
        i = one[:at].count(b"hipv4-")
        struct.pack_into("<QQ", table, at - 24, 4096 + i * size, size)
    head = host([(".hip_fatbin", ALLOC, b""), (".hipFatBinSegment", WRITE, wrappers(bundles))])
    section = len(head) - 4 * 64 + 64  # its header: where it is, and how large
    with open(path, "wb") as f:
        f.write(head)
        f.truncate(16384 + bundles * step)
        f.seek(section + 24)
        f.write(struct.pack("<QQ", 16384, bundles * step))
        for k in range(bundles):
            f.seek(16384 + k * step)
            f.write(table)
            for i, (_, o) in enumerate(objects):
                f.seek(16384 + k * step + 4096 + i * size)
                f.write(o)


def library():
    sparse(TMP / "sparse.so", 20, ["gfx90a", "gfx1100"], 1 << 20)
    d = inspect(TMP / "sparse.so")
    assert len(d["files"][0]["objects"]) == 40 and d["served"] == BOTH, d["served"]
    assert all(o["kernels"] == 4 and o["size"] == 1 << 20 for o in d["files"][0]["objects"])
    print("ok a sparse library")


if __name__ == "__main__":
    for part in (hosts, archives, objects, offloads, stores, side_files, packages, answers, library):
        part()
