#!/usr/bin/env python3
"""budget.py ROCSMITH DIR [--every N | --deep] [WORD...]: makes files below 10 MB that are meant to cost much (bombs, tables that
share one endless string, lists that are compared pairwise) and gives them to whatever reads them. Each run
must end by itself, in 5 seconds of processor time, 256 MiB and 16 MiB of output. WORDs choose attacks,
and --every each Nth; --deep also lists, compares and takes out kernels, draws maps, and takes GPUs out."""
import base64
import hashlib
import lzma
import os
import pathlib
import resource
import shutil
import signal
import struct
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from code_object import code_object  # noqa: E402

ROCSMITH, DIR, WORDS = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
EVERY, DEEP = 1, WORDS[:1] == ["--deep"]
if DEEP:
    WORDS = WORDS[1:]
if WORDS[:1] == ["--every"]:
    EVERY, WORDS = int(WORDS[1]), WORDS[2:]
MB, MIB = 10 ** 6, 1 << 20
SECONDS, MEMORY, OUTPUT = 5.0, 256 * MIB, 16 * MIB
INFO = "demo-1.0.dist-info/"
METADATA = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"
PROJECT = {"yaml": "rocsmith.yaml", "toml": "pyproject.toml", "cmake": "CMakeLists.txt", "setup": "setup.py",
    "cu": "a.cu"}
WHEEL = b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-linux_x86_64\n"


# ---- wheels ----
def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def squeezed(data):
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return z.compress(data) + z.flush()


def archive(members):
    """members: (name, crc, deflated, size)."""
    out, central = [], []
    at = 0
    for name, crc, packed, size in members:
        name = name.encode()
        fields = struct.pack("<HHHLLLLHH", 20, 0, 8, 0x210000, crc, len(packed), size, len(name), 0)
        central.append(struct.pack("<LH", 0x02014B50, 0x314) + fields + struct.pack("<HHHLL", 0, 0, 0,
            0o100644 << 16, at) + name)
        out += [b"PK\3\4" + fields + name, packed]
        at += 30 + len(name) + len(packed)
    directory, n = b"".join(central), len(central)
    return b"".join(out) + directory + struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, n, n, len(directory), at, 0)


def wheel(files=(), metadata=METADATA, text=WHEEL, record=None):
    """files: (name, bytes); record: what its rows are, instead of the right ones."""
    files = list(files) + [(INFO + "METADATA", metadata), (INFO + "WHEEL", text)]
    known = {id(d): (zlib.crc32(d), squeezed(d), len(d), digest(d)) for d in {id(d): d for _, d in files}.values()}
    if record is None:
        rows = [f"{n},sha256={known[id(d)][3]},{len(d)}" for n, d in files]
        record = "\n".join(rows + [INFO + "RECORD,,", ""]).encode()
    members = [(n,) + known[id(d)][:3] for n, d in files]
    return archive(members + [(INFO + "RECORD", zlib.crc32(record), squeezed(record), len(record))])


def flat(entries, packed=b"", crc=0, size=0, method=0, local_name=b"0", extra=b""):
    """An archive of one local header that every entry of the directory (a name each) points at."""
    out = struct.pack("<LHHHLLLLHH", 0x04034B50, 20, 0, method, 0x210000, crc, len(packed), size,
        len(local_name), len(extra)) + local_name + extra + packed
    central, n = [], 0
    for name in entries:
        central.append(struct.pack("<LHHHHLLLLHHHHHLL", 0x02014B50, 0x314, 20, 0, method, 0x210000, crc,
            len(packed), size, len(name), 0, 0, 0, 0, 0o100644 << 16, 0) + name)
        n += 1
    central = b"".join(central)
    end = struct.pack("<LHHHHLLH", 0x06054B50, 0, 0, min(n, 65535), min(n, 65535), len(central), len(out), 0)
    if n > 65534:
        end64 = struct.pack("<LQHHLLQQQQ", 0x06064B50, 44, 45, 45, 0, 0, n, n, len(central), len(out))
        end = end64 + struct.pack("<LLQL", 0x07064B50, 0, len(out) + len(central), 1) + end
    return out + central + end


# ---- ELF ----
def elf(tags=(), strings=b"\0", symbols=b"", machine=62, hash_words=None, size=0, flags=0):
    """A library of one segment; tags: (tag, value)."""
    at = 64 + 2 * 56
    parts, where = [], {}
    nsym = len(symbols) // 24
    for name, data in (("strings", strings), ("symbols", symbols),
            ("hash", struct.pack("<LL", 1, nsym) if hash_words is None else hash_words)):
        where[name] = at
        data += bytes(-len(data) % 8)
        parts.append(data)
        at += len(data)
    dynamic = list(tags) + [(5, where["strings"]), (10, len(strings))]
    if symbols:
        dynamic += [(6, where["symbols"]), (4 if hash_words is None else 0x6FFFFEF5, where["hash"])]
    table = b"".join(struct.pack("<QQ", *t) for t in dynamic) + bytes(16)
    total = max(at + len(table), size)
    head = b"\177ELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHLQQQLHHHHHH", 3, machine, 1, 0, 64, 0, flags, 64, 56, 2, 64, 0, 0)
    head += struct.pack("<LLQQQQQQ", 1, 4, 0, 0, 0, total, total, 4096)
    head += struct.pack("<LLQQQQQQ", 2, 4, at, at, at, len(table), len(table), 8)
    return (head + b"".join(parts) + table).ljust(size, b"\0")


def symbol(name, section=1):
    return struct.pack("<LBBHQQ", name, 0x11, 0, section, 0, 64)


# ---- bundles ----
def bundle(entries, count=None):
    """entries: (offset, size, id)."""
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries) if count is None else count) + b"".join(
        struct.pack("<QQQ", o, s, len(i)) + i for o, s, i in entries)


def zstd_zeros(n, head=b"", window=None, block=4000):
    """A frame of RLE blocks, 4 bytes each; head: what the content begins with."""
    out = bytearray(struct.pack("<L", 0xFD2FB528))
    total = n + len(head)
    if window is None:
        out += bytes([0xE0]) + struct.pack("<Q", total)
    else:
        out += bytes([0xC0, window]) + struct.pack("<Q", total)
    if head:
        out += struct.pack("<L", len(head) << 3)[:3] + head
    while n > 0:
        step = min(n, block)
        n -= step
        out += struct.pack("<L", step << 3 | 2 | (n == 0))[:3] + b"\0"
    return bytes(out)


def deflated_zeros(n, head=b""):
    """A raw deflate stream: behind a full flush the same input gives the same bytes."""
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = z.compress(head) + z.flush(zlib.Z_FULL_FLUSH) if head else b""
    return head + (z.compress(bytes(1 << 24)) + z.flush(zlib.Z_FULL_FLUSH)) * (n >> 24) + b"\3\0"


def zlib_zeros(n, head=b""):
    return b"\x78\xda" + deflated_zeros(n, head) + bytes(4)


def ccob(payload, size, method=1, version=3, total=None):
    header = {1: 20, 2: 24, 3: 32}[version]
    total = header + len(payload) if total is None else total
    width = "Q" if version == 3 else "L"
    out = b"CCOB" + struct.pack("<HH", version, method)
    if version > 1:
        out += struct.pack("<" + width, total)
    return out + struct.pack("<" + width + "Q", size, 0) + payload


ID = b"hipv4-amdgcn-amd-amdhsa--gfx90a"


def zeros_bundle(size, method, window=None):
    if not method:
        size = (size >> 24 << 24) + 32 + 24 + len(ID)
    table = bundle([(4096, size - 4096, ID)])
    n = size - len(table)
    return ccob(zstd_zeros(n, table, window) if method else zlib_zeros(n, table), size, method)


# ---- attacks ----
ATTACKS = {}


def attack(name):
    def add(make):
        ATTACKS[name] = make
        return make
    return add


WHEEL_NAME = "demo-1.0-py3-none-linux_x86_64.whl"


@attack("tags-in-name")
def tags_in_name():
    dots = lambda c, n: ".".join(f"{c}{i}" for i in range(n))
    return wheel(text=WHEEL + f"Tag: {dots('a', 40)}-{dots('b', 40)}-{dots('c', 40)}\n".encode())


@attack("tags-400x400x400")
def tags_text():
    dots = lambda c, n: ".".join(f"{c}{i}" for i in range(n))
    return wheel(text=WHEEL + f"Tag: {dots('a', 400)}-{dots('b', 400)}-{dots('c', 400)}\n".encode())


@attack("tags-many-lines")
def tags_lines():
    return wheel(text=WHEEL + b"".join(b"Tag: py%d-none-any\n" % i for i in range(200000)))


@attack("folded-headers")
def folded():
    return wheel(metadata=METADATA + b"Description: x\n" + b" y\n" * 1200000 + b"\n")


@attack("many-headers")
def many_headers():
    return wheel(metadata=METADATA + b"A: b\n" * 800000 + b"\n")


@attack("same-headers")
def same_headers():
    return wheel(metadata=b"".join(b"X%d: b\n" % i for i in range(100000)) + b"Summary: x\n" * 100000 + METADATA)


@attack("requirements")
def requirements():
    return wheel(metadata=METADATA + b"Requires-Dist: !\n" * 9990 + b"\n")


@attack("requirement-chain")
def requirement_chain():
    return wheel(metadata=METADATA + b"Requires-Python: " + b">=1,!=2.*," * 400000 + b">=3\n")


@attack("record-rows")
def record_rows():
    return wheel(record=b"a,,\n" * 1000000)


@attack("record-distinct-rows")
def record_distinct():
    return wheel(record=b"".join(b"%d,,\n" % i for i in range(400000)))


@attack("record-long-paths")
def record_long():
    path = b"x" * 30000
    return wheel(record=b"".join(path + b"%d,,\n" % i for i in range(130)))


@attack("empty-lines")
def empty_lines():
    return wheel(record=b"\n" * 4 * MB)


@attack("info-folders")
def info_folders():
    return flat(b"%d.dist-info/" % i for i in range(100000))


@attack("one-header")
def one_header():
    return flat((b"%d" % i for i in range(138000)), local_name=b"n" * 65535, extra=bytes(65532))


@attack("deep-names")
def deep_names():
    return flat(b"a/" * 99 + b"%d" % i for i in range(28000))


@attack("long-names")
def long_names():
    return flat(b"a/" * 30000 + b"%d" % i for i in range(118))


@attack("many-names")
def many_names():
    return flat(b"%x" % i for i in range(140000))


@attack("zeros-in-wheel")
def zeros_in_wheel():
    n = 4000 << 20
    return archive([("a.bin", 0, deflated_zeros(n), n), ("b.so", 0, deflated_zeros(n, b"\177ELF\2\1\1"), n)])


@attack("zero-members")
def zero_members():
    zero = bytes(4 * MB)
    return wheel([(f"{i}.bin", zero) for i in range(1500)])


@attack("big-library")
def big_library():
    return wheel([("a.so", elf([(10, 500 * MB)], size=510 * MB))])


@attack("big-symbols")
def big_symbols():
    return wheel([("a.so", elf([(1, 1)], b"\0libx.so\0", symbol(1) * 20000000))])


@attack("big-archive")
def big_archive():
    """A library of zeros that is read again by whoever looks for bundles."""
    one = elf(size=300 * MB)
    return wheel([(f"{i}.so", one) for i in range(6)])


@attack("tiny-libraries")
def tiny_libraries():
    one = elf([(1, 1)], b"\0libx.so\0")
    return wheel([(f"d{i}/m.cpython-27-x.so", one) for i in range(24000)])


@attack("libraries-that-need-much")
def needing():
    strings, tags = b"\0", []
    for i in range(2000):
        tags.append((1, len(strings)))
        strings += b"lib%d.so\0" % i
    tags.append((29, len(strings)))
    strings += b":".join(b"$ORIGIN/%d" % i for i in range(2000)) + b"\0"
    one = elf(tags, strings)
    return wheel([(f"d{i}/lib{i % 2000}.so", one) for i in range(500)])


@attack("libraries-that-need-a-hub")
def needing_a_hub():
    names = b"".join(b"l%06d\0" % i for i in range(60000))
    hub = elf([(1, 1 + 8 * i) for i in range(60000)] + [(14, 1)], b"\0" + names)
    one = elf([(1, 1), (29, 10)], b"\0libx.so\0$ORIGIN\0")
    return wheel([("libx.so", hub)] + [(f"m{i}.so", one) for i in range(24000)])


@attack("extras")
def extras():
    return wheel(metadata=METADATA + b"".join(b"Provides-Extra: e%d\n" % i for i in range(9000)) +
        b"Requires-Dist: demo[" + b"f," * 500000 + b"f]\n" + b"Requires-Dist: x; extra=='y'" + b" or extra=='z'" * 150000 + b"\n")


@attack("bills-of-materials")
def bills():
    part = b'{"type":"file","name":"demo-1.0.dist-info/WHEEL","hashes":[{"alg":"SHA-256","content":"00"}]}'
    bill = b'{"bomFormat":"CycloneDX","components":[' + b",".join([part] * 40000) + b"]}"
    return wheel([(f"{INFO}sboms/{i}.json", bill) for i in range(300)])


@attack("code-files-for-gpus")
def code_files():
    return wheel([(f"{'gfx90a' * 3000}/{i}/{'gfx1100' * 3000}.co", b"x") for i in range(75)])


@attack("needed-endless")
def needed_endless():
    return elf([(1, 1)] * 250000, b"\0" + b"n" * 4 * MB + b"\0")


@attack("needed-endless-wheel")
def needed_endless_wheel():
    return wheel([("a.so", elf([(1, 1 + i) for i in range(250000)], b"\0" + b"n" * 4 * MB + b"\0"))])


@attack("needed-distinct-wheel")
def needed_distinct_wheel():
    names = [b"l%06d\0" % i for i in range(300000)]
    return wheel([("a.so", elf([(1, 1 + 8 * i) for i in range(len(names))], b"\0" + b"".join(names)))])


@attack("rpath-elements-wheel")
def rpath_elements():
    return wheel([("a.so", elf([(1, 1)] * 60000 + [(29, 9)], b"\0libx.so\0" + b"r:" * 2 * MB + b"\0")),
        ("libx.so", elf())])


@attack("symbols-endless-wheel")
def symbols_endless_wheel():
    return wheel([("a.so", elf([], b"\0" + b"s" * 4 * MB + b"\0", b"".join(symbol(1 + i) for i in range(200000))))])


@attack("symbols-endless")
def symbols_endless():
    return elf([], b"\0" + b"s" * 4 * MB + b".kd\0", b"".join(symbol(1 + i) for i in range(200000)),
        machine=224, flags=0x3F)


@attack("section-names")
def section_names():
    """A section table whose names are one endless string."""
    n, strings = 65000, b"s" * 5 * MB + b"\0"
    at = 64 + n * 64
    rows = [struct.pack("<LLQQQQLLQQ", i, 3, 0, 0, at, len(strings), 0, 0, 1, 0) for i in range(n)]
    head = b"\177ELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHLQQQLHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, n, 1)
    return head + b"".join(rows) + strings


@attack("many-sections")
def many_sections():
    """Read-only data in 8 bytes each, in many copies."""
    n = 65000
    at = 64 + n * 64
    rows = [struct.pack("<LLQQQQLLQQ", 0, 1, 2, 0, at + 8 * i, 8, 0, 0, 1, 0) for i in range(n)]
    one = b"\177ELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHLQQQLHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, n, 0) + b"".join(rows) + bytes(8 * n)
    return wheel([(f"{i}.so", one) for i in range(40)])


@attack("needed-versions")
def needed_versions():
    """Needed versions that lead to each other in steps of one byte."""
    chain = struct.pack("<HHLLL", 1, 65535, 1, 1, 1) + b"\1\0\0\0" * 20000
    strings = b"\0libx.so\0"
    one = elf([(0x6FFFFFFE, 64 + 112 + 16), (0x6FFFFFFF, 65535)], strings, chain[:-8] + bytes(-(len(chain) - 8) % 24))
    return wheel([(f"d{i}/x.so", one) for i in range(300)])


@attack("gnu-hash-chain")
def gnu_hash_chain():
    return elf([], b"\0s\0", symbol(1), machine=224, flags=0x3F,
        hash_words=struct.pack("<LLLLQL", 1, 1, 1, 0, 0, 1) + bytes(9 * MB))


@attack("nested-tables")
def nested_tables():
    """Tables inside of the ids of a table: the outer one is damaged, then each inner one is tried."""
    unit = bundle([(1, 1, b"x" * 256)], 4096)[:56].ljust(64, b"x")
    body = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 4096)
    row = struct.pack("<QQQ", 9, 9, 256)
    inner = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 4096) + row
    cell = row + (inner + inner + inner + inner).ljust(256, b"y")
    return (body + cell * 33000)[:9 * MB]


@attack("table-steps")
def table_steps():
    """Tables of the longest ids, one behind the other."""
    rows = [(0, 0, b"i%0255d" % i) for i in range(4096)]
    return bundle(rows) * 8


@attack("many-targets")
def many_targets():
    """Empty entries of ever new targets."""
    out, k = [], 0
    while len(out) < 65:
        rows = []
        for i in range(4096):
            rows.append((0, 0, b"h--gfx%x" % k))
            k += 1
        out.append(bundle(rows))
    return b"".join(out)[:9900000]


@attack("many-objects")
def many_objects():
    return bundle([(0, 0, b"--g")] * 4096) * 85


@attack("many-targets-wheel")
def many_targets_wheel():
    rows = lambda k: [(0, 0, b"h--gfx%x" % (k * 4096 + i)) for i in range(4096)]
    return wheel([(f"{k}.hipfb", bundle(rows(k))) for k in range(300)])


@attack("files-of-targets")
def files_of_targets():
    rows = [(0, 0, b"h--gfx%x" % i) for i in range(500)]
    return wheel([(f"{k}.hipfb", bundle(rows)) for k in range(4000)])


@attack("ccob-zeros")
def ccob_zeros():
    return zeros_bundle(8 << 30, 1)


@attack("ccob-small-window")
def ccob_small_window():
    return zeros_bundle(8 << 30, 1, window=10 << 3)


@attack("ccob-claims-less")
def ccob_claims_less():
    """The header claims little, the frame a lot."""
    return ccob(zstd_zeros(8 << 30, bundle([(4096, 4096, b"h--gfx90a")])), 100 * MIB)


@attack("ccob-75-mib")
def ccob_75():
    """As much memory as is allowed: a window of all and one object."""
    return zeros_bundle(75 * MIB, 1) * 40


@attack("ccob-200-mib")
def ccob_200():
    return zeros_bundle(200 * MIB, 1)


@attack("ccob-many-200-mib")
def ccob_many():
    return zeros_bundle(200 * MIB, 1) * 40


@attack("ccob-zlib")
def ccob_zlib():
    return zeros_bundle(9000 * MB // (1 << 24) * (1 << 24) + 4096, 0)


@attack("ccob-v1-zlib")
def ccob_v1():
    """The length stands nowhere: each is decoded to find where it ends."""
    size = 64 << 20
    table = bundle([(4096, 0, b"h--gfx90a")])
    one = ccob(zlib_zeros(size, table), size + len(table), 0, version=1)
    return one * (9 * MB // len(one))


@attack("ccob-tiny")
def ccob_tiny():
    one = ccob(zstd_zeros((1 << 17) - 60, bundle([(0, 0, b"h--gfx90a")]), block=1 << 17), (1 << 17) - 60 + 65, 1)
    return one * (9 * MB // len(one))


@attack("ccob-blocks")
def ccob_blocks():
    """Blocks of one byte each: where a v1 ends is found block by block."""
    n = 2200000
    table = bundle([(0, 0, b"h--gfx90a")])
    out = struct.pack("<L", 0xFD2FB528) + bytes([0xE0]) + struct.pack("<Q", n + len(table))
    out += struct.pack("<L", len(table) << 3)[:3] + table
    out += (struct.pack("<L", 1 << 3 | 2)[:3] + b"\0") * (n - 1) + struct.pack("<L", 1 << 3 | 3)[:3] + b"\0"
    return ccob(out, n + len(table), 1, version=1)


@attack("ccob-candidates")
def ccob_candidates():
    """The magic everywhere in read-only data."""
    one = ccob(b"", 4096, 1, 3, 40).ljust(40, b"\0")
    return elf(strings=one * 220000)


@attack("archive-members")
def archive_members():
    one = elf(machine=224, flags=0x3F)
    head = b"a/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + str(len(one)).encode().ljust(10) + b"`\n"
    return b"!<arch>\n" + (head + one) * (9 * MB // len(head + one))


@attack("archive-empty")
def archive_empty():
    head = b"a/".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8) + b"0".ljust(10) + b"`\n"
    return b"!<arch>\n" + head * 160000


# ---- documents: a name tells how they are read ----
# ---- beyond bundles ----
def dll(sections, data):
    """sections: (name, size, offset)."""
    head = b"MZ".ljust(60, b"\0") + struct.pack("<L", 64) + b"PE\0\0" + struct.pack(
        "<HHLLLHH", 0x8664, len(sections), 0, 0, 0, 0, 0x2022)
    return head + b"".join(struct.pack("<8sLLLLLLHHL", n, s, 0, s, o, 0, 0, 0, 0, 0x40000040)
        for n, s, o in sections) + data


@attack("pe-sections")
def pe_sections():
    n = 65000
    return dll([(b"/4", 6 * MB, 128 + 40 * n)] * n, bytes(6 * MB))


def tiny_object(mach):
    return b"\177ELF\2\1\1\x40\4".ljust(16, b"\0") + struct.pack(
        "<HHLQQQLHHHHHH", 3, 224, 1, 0, 0, 0, mach, 64, 56, 0, 64, 0, 0)


@attack("pe-objects")
def pe_objects():
    n = 2000  # each section is searched on its own
    data = b"".join(tiny_object(0x2C + i % 4) for i in range(130000))
    return dll([(b".rdata", 4096, 88 + 40 * n + 4096 * i) for i in range(n)], data)


@attack("array-objects")
def array_objects():
    data = tiny_object(0x41) * 120000
    return elf(size=4096 + len(data))[:4096] + data


@attack("array-tables")
def array_tables():
    """Each claims 60,000 section headers, all of them over each other."""
    n, each = 60000, 4096
    one = bytearray(tiny_object(0).ljust(each, b"\0"))
    struct.pack_into("<H", one, 60, n)
    data = bytes(one) * 500 + bytes(64 * n)
    out = bytearray(elf(size=4096 + len(data))[:4096] + data)
    for i in range(500):
        struct.pack_into("<Q", out, 4096 + i * each + 40, 64)
    return bytes(out)


def aks2(raw, kernels, directory, size=None):
    return b"AKS2" + struct.pack("<LLL", len(raw) if size is None else size, kernels, directory) + lzma.compress(raw)


@attack("aks2-zeros")
def aks2_zeros():
    return aks2(bytes(150 * MIB), 1, 0)


@attack("aks2-claims")
def aks2_claims():
    return aks2(bytes(MIB), 1, 0, (1 << 32) - 1)


@attack("aks2-kernels")
def aks2_kernels():
    """All kernels are the same one, which is large."""
    n = 65000
    blob = elf(symbols=bytes(24) + symbol(1) * 100000, strings=b"\0k.kd\0", machine=224, flags=0x41)
    return aks2(struct.pack("<LLLLL", 0, 0, 0, len(blob), 0) * n + blob, n, 20 * n)


@attack("kernels-share-code")
def kernels_share_code():
    """The symbols of 10,000 kernels name the same 4 MB of machine code."""
    count, size = 10000, 4 * MB
    data = bytearray(code_object("gfx1100", [dict(name=f"k{i}", size=size // count, wave=32) for i in range(count)]))
    first = data.index(struct.pack("<QQ", 0x100000, size // count))
    for i in range(count):  # each has two symbols of 24 bytes
        data[first + 48 * i:first + 48 * i + 16] = struct.pack("<QQ", 0x100000, size)
    return bytes(data)


@attack("kernels-empty-names")
def kernels_empty_names():
    """Packs of nothing but packs: each name takes as many steps as one may, and the same objects come again and again."""
    packs = "JE" + "".join(f"J{t}{t}E" for t in ["T_"] + [f"T{i}_" for i in range(11)])
    names = [f"_Z{len(str(i)) + 1}k{i}I{packs}Evv" for i in range(12000)]
    one = code_object("gfx1100", [dict(name=n, size=0, wave=32) for n in names])
    one += bytes(-len(one) % 4096)
    raw = bundle([(4096 + k * len(one), len(one), ID[:-6] + b"gfx%d" % (1100 + k)) for k in range(4)]).ljust(4096, b"\0") + one * 4
    packed = ccob(zlib.compress(raw, 9), len(raw), 0)
    return packed.ljust(len(packed) + 4095 & -4096, b"\0") * 9


@attack("report-values")
def report_values():
    return b'{"a": [' + b"1," * 4900000 + b"1]}"


@attack("report-lists")
def report_lists():
    return b"[" + b"[]," * 3200000 + b"[]]"


@attack("report-stages")
def report_stages():
    stages = b",".join(b'"s%d":1' % i for i in range(200000))
    return b'{"schema":"rocsmith.build/1","stages":{' + stages + b"}}"


@attack("plan-toml-package-data")
def plan_toml_data():
    data = b"".join(b"k%d='*.h'\n" % i for i in range(200000))
    return b"[build-system]\nrequires=[]\n[tool.setuptools.package-data]\n" + data


@attack("plan-yaml-values")
def plan_yaml():
    return b"sources: [" + b"a," * 4900000 + b"a]\n"


@attack("plan-yaml-nested")
def plan_yaml_nested():
    return b"[" * 9 * MB


@attack("plan-yaml-tags")
def plan_yaml_tags():
    return b"".join(b"%%TAG !a%d! x\n" % i for i in range(400000))


@attack("plan-toml-values")
def plan_toml():
    return b"[project]\nk = [" + b"1," * 4900000 + b"1]\n"


@attack("plan-toml-long-path")
def plan_toml_path():
    """Members of a table of a long name."""
    return b"[" + b"p" * MB + b"]\nk = [" + b"1," * 200000 + b"1]\n"


@attack("plan-toml-deep-keys")
def plan_toml_keys():
    return b"".join(b".".join([b"k" * 2000 + b"%d" % i] * 60) + b"=1\n" for i in range(80))


@attack("plan-toml-tables")
def plan_toml_tables():
    return b"[[a]]\n" * 1600000


@attack("plan-cmake-options")
def plan_cmake_options():
    return b"".join(b'option(A%d_CUDA "" OFF)\n' % i for i in range(150000))


@attack("plan-cmake-calls")
def plan_cmake_calls():
    return b"project(x)\n" + b"a()" * 1300000


@attack("plan-cmake-libraries")
def plan_cmake_libraries():
    return b"project(x)\nf(" + b"CUDA::x " * 500000 + b")\n"


@attack("plan-setup-variables")
def plan_setup_variables():
    """One statement that reads the same variables again and again, and has no end in sight."""
    return b"x = [" + b"environ['A_CUDA'],environ['B_BACKEND']," * 100000 + b"]\n"


@attack("plan-setup-quotes")
def plan_setup_quotes():
    return b"environ['B_BACKEND']\n" * 180000


@attack("plan-cu-assignments")
def plan_cu_assignments():
    return b"a=(" * 800000


@attack("plan-cu-splices")
def plan_cu_splices():
    """One directive of many lines, in each of which it seems to begin."""
    return b"#define A \\\n" * 300000


# ---- running them ----
def make(path, fn):
    pid = os.fork()  # its memory is not ours: what a child had before exec counts as the child's
    if not pid:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            data = fn()
            assert len(data) < 10 * MB, len(data)
            path.write_bytes(data)
            os._exit(0)
        except BaseException as e:
            print("not made:", e, flush=True)
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def run(args, limit=60.0):
    out = DIR / "out"
    start = time.monotonic()
    pid = os.fork()
    if not pid:
        fd = os.open(out, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o644)
        os.dup2(fd, 1)
        os.dup2(fd, 2)
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
        os.execv(ROCSMITH, [ROCSMITH] + args)
    _, status, used = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, out.stat().st_size


def is_at_work(pid):
    """Has it used 0.1 s of processor time, whatever else the machine does, or ended?"""
    words = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return words[0] == "Z" or int(words[11]) + int(words[12]) >= 0.1 * os.sysconf("SC_CLK_TCK")


def stops(args):
    """SIGTERM while it is at work: how long it goes on, and its status."""
    pid = os.posix_spawn(ROCSMITH, [ROCSMITH] + args, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    while not is_at_work(pid):
        time.sleep(0.01)
    os.kill(pid, signal.SIGTERM)
    start = time.monotonic()
    _, status = os.waitpid(pid, 0)
    return time.monotonic() - start, os.waitstatus_to_exitcode(status)


def check_stops():
    bad = 0
    for make_it, way in (zeros_in_wheel, ["verify"]), (zeros_in_wheel, ["inspect"]):
        path = DIR / "stop" / WHEEL_NAME
        make(path, make_it)
        seconds, status = stops(way + [str(path)])
        bad += status != 143 or seconds > 1
        print("not ok" if status != 143 or seconds > 1 else "ok", f"SIGTERM ends {way[0]} {make_it.__name__}:",
            f"status {status} after {seconds:.2f} s", flush=True)
    return bad


def main():
    bad = 0 if WORDS else check_stops()
    limit = float(os.environ.get("BUDGET_SECONDS", SECONDS))
    for name, fn in list(ATTACKS.items())[int(os.environ.get("FROM", 0))::EVERY]:
        if WORDS and not any(w in name for w in WORDS):
            continue
        path = DIR / name / "file"
        if not path.exists() and not make(path, fn):
            bad += 1
            print("not ok", name, "is not made")
            continue
        head = path.open("rb").read(2)
        ways = [["inspect", "--objects"], ["inspect", "--json", "--hash", "--kernels"]]
        deep = ["--resources"], ["--html", str(DIR / "map.html")], ["--extract", "all", "-o", str(DIR / "taken")], ["--compare"]
        if name.startswith("report"):
            ways = [["report"]]
        elif name.startswith("plan"):
            path = path.rename(path.with_name(PROJECT[name.split("-")[1]]))
            ways = [["plan", "--gpu", "gfx90a"]]
        if head == b"PK":
            path = path.rename(path.with_name(WHEEL_NAME))
            ways = [["inspect", "--kernels"], ["verify", "--json", "--require", "gfx90a"]]
        if DEEP and ways[0][0] == "inspect":
            ways += [["inspect", *way] for way in deep] + [["slim", "--gpu", "gfx90a", "-o", str(DIR / "taken")]]
        for way in ways:
            shutil.rmtree(DIR / "taken", ignore_errors=True)
            (DIR / "taken").unlink(missing_ok=True)
            paths = [str(path.parent if way[0] == "plan" else path)] * (1 + (way[-1] == "--compare"))
            status, seconds, memory, output = run(way + paths, 3 * limit)
            good = status in (0, 1, 2, 3) and seconds <= limit and memory <= MEMORY and output <= OUTPUT
            bad += not good
            print(f"{'ok' if good else 'not ok'} {name}: {' '.join(way)}: status {status}, {seconds:.1f} s, "
                f"{memory >> 20} MiB, {output >> 10} KiB out", flush=True)
        path.unlink()
    return bad > 0


sys.exit(main())
