"""Makes code objects (version 5) with any kernels: metadata by msgpack, dynamic symbols with sizes. Source: LLVM's AMDGPUUsage."""
import struct

MACH = {"gfx900": 0x2C, "gfx90a": 0x3F, "gfx1030": 0x36, "gfx1100": 0x41, "gfx1151": 0x4A, "gfx1201": 0x4E}


def pack(value):
    """msgpack"""
    if isinstance(value, int):
        return b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


def metadata(k):
    keys = {".name": "name", ".vgpr_count": "vgprs", ".agpr_count": "agprs", ".sgpr_count": "sgprs",
            ".group_segment_fixed_size": "lds", ".private_segment_fixed_size": "scratch", ".vgpr_spill_count": "vgpr_spills",
            ".sgpr_spill_count": "sgpr_spills", ".wavefront_size": "wave"}
    return {key: k.get(name, 0) for key, name in keys.items()}


def code_object(gpu, kernels):
    """kernels: dicts with name, size, vgprs, ...; their code is zero bytes."""
    note = pack({"amdhsa.version": [1, 2], "amdhsa.kernels": [metadata(k) for k in kernels]})
    note = struct.pack("<III", 7, len(note), 32) + b"AMDGPU\0\0" + note
    note += bytes(-len(note) % 8)
    base = 64 + 4 * 56
    names, symbols, code, at = b"\0", bytes(24), b"", 0
    text = 0x100000
    for k in kernels:
        for name, kind, size, value in ((k["name"], 2, k["size"], text + at), (k["name"] + ".kd", 1, 64, text)):
            symbols += struct.pack("<IBBHQQ", len(names), 0x10 | kind, 3, 1, value, size)
            names += name.encode() + b"\0"
        at += k["size"]
    code = bytes(at)
    names += bytes(-len(names) % 8)
    count = len(symbols) // 24
    # the note, symbols, their names and a hash table are one segment; the dynamic section follows
    place = {"note": base}
    place["symbols"] = base + len(note)
    place["names"] = place["symbols"] + len(symbols)
    place["hash"] = place["names"] + len(names)
    table = struct.pack("<III", 1, count, 0) + bytes(4 * count)
    table += bytes(-len(table) % 8)
    place["dynamic"] = place["hash"] + len(table)
    dynamic = b"".join(struct.pack("<QQ", tag, value) for tag, value in (
        (4, place["hash"]), (5, place["names"]), (6, place["symbols"]), (10, len(names)), (11, 24), (0, 0)))
    end = place["dynamic"] + len(dynamic)
    header = b"\x7fELF\x02\x01\x01\x40\x03" + bytes(7) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 0, MACH[gpu], 64, 56, 4, 64, 0, 0)
    segments = (struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, end, end, 4096),
                struct.pack("<IIQQQQQQ", 4, 4, base, base, base, len(note), len(note), 4),
                struct.pack("<IIQQQQQQ", 2, 6, place["dynamic"], place["dynamic"], place["dynamic"], len(dynamic), len(dynamic), 8),
                struct.pack("<IIQQQQQQ", 1, 5, end, text, text, len(code), len(code), 256))
    return header + b"".join(segments) + note + symbols + names + table + dynamic + code
