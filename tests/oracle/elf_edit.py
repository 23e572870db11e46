#!/usr/bin/env python3
"""elf_edit.py TOOL [--lenient | --system COUNT]: edits of dynamic sections judged by others. gcc, and each linker at hand, makes files
of many kinds; TOOL (tests/tools/elf_edit.c, or patchelf) changes them; then readelf and llvm-readelf have nothing to
complain about, the loader finds what it should, what was in memory is where it was, strip works afterwards, a
second time changes nothing, and back again gives what it was, without growing.
CASES names the reports about patchelf that each kind of file stands for. With --lenient failures are only counted. ELF_EDIT_EVERY=N:
each Nth kind."""
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

LIB = r"""
#include <math.h>
#include <stdio.h>
__thread int counter = 40;
int big[%(bss)d];
int table[3000] = {1, 2, 3};
static const char *const words[] = {"one", "two", "three"};
extern int helper(int);
%(more)s
int answer(double x)
{
	counter++;
	return helper((int)(sin(x) * 0)) + counter + table[2] + (words[1][0] == 't') - 3 - 1 + big[0];
}
"""
MAIN = "int answer(double); int main(void) { return answer(1.0) == 42 ? 0 : 1; }\n"
HELPER = "int helper(int x) { return x + 1; }\n"
RELRO = 0x6474E552
LONG = "$ORIGIN/" + "a" * 300 + ":$ORIGIN"
SYMBOLS = "".join(f"int a_rather_long_name_of_a_symbol_{i}(void) {{ return {i}; }}\n" for i in range(2000))

# name, kind, flags, why. kind: lib, pie, fixed; words behind it: see build()
CASES = [
    ("plain", "lib", "", "patchelf 10 145 371 507: strip; 217: notes; 84 170: versions"),
    ("program", "pie", "", "115: PIE; 446 568: crash at the start"),
    ("fixed", "fixed", "-no-pie", "146 152: dynamic section in memory that cannot be written"),
    ("noseparate", "lib", "-Wl,-z,noseparate-code", "403: strings over two segments"),
    ("noseparate-pie", "pie", "-Wl,-z,noseparate-code", "403"),
    ("page64k", "lib", "-Wl,-z,max-page-size=0x10000", "79 216 492 510: pages of 64 KiB"),
    ("page16k", "lib", "-Wl,-z,max-page-size=0x4000", "622: alignment made smaller"),
    ("page2m", "lib", "-Wl,-z,max-page-size=0x200000", "528 557: offset and address differ by no page"),
    ("base", "lib", "-Wl,-Ttext-segment=0x10000000", "164 239 128: addresses are not offsets"),
    ("sysv", "lib", "-Wl,--hash-style=sysv", "250 368: hash tables"),
    ("both", "lib", "-Wl,--hash-style=both", "250 368"),
    ("bare", "lib", "-Wl,--build-id=none,-z,noexecstack -Wl,-z,norelro", "217: no notes, tables behind the headers"),
    ("bss", "pie", "bss=9000000", "47 62: a hole as large as .bss"),
    ("many", "lib", "symbols", "239 403: large string tables"),
    ("relr", "lib", "-Wl,-z,pack-relative-relocs", "new relocations"),
    ("now", "pie", "-Wl,-z,now -Wl,-z,relro", "47: hardened programs"),
    ("soname", "lib", "-Wl,-soname,libold.so.1 script", "soname and the version that has its name"),
    ("suffix", "lib", "-Wl,-soname,per.so", "162 239: strings that share their ends"),
    ("debug", "lib", "-g", "145: strip -g"),
    ("compressed", "lib", "-g -gz", "244"),
    ("gold", "lib", "-fuse-ld=gold", "code behind the headers"),
    ("gold-pie", "pie", "-fuse-ld=gold", "code behind the headers"),
    ("lld", "lib", "-fuse-ld=lld", "no spare entries, segments that share pages of the file"),
    ("lld-pie", "pie", "-fuse-ld=lld", "no spare entries"),
    ("lld-rosegment", "lib", "-fuse-ld=lld -Wl,--no-rosegment", "headers and code in one segment"),
    ("lld-64k", "lib", "-fuse-ld=lld -Wl,-z,max-page-size=0x10000", "79 216"),
    ("mold", "lib", "-fuse-ld=mold", "another layout"),
    ("mold-pie", "pie", "-fuse-ld=mold", "another layout"),
    ("nosections", "lib", "nosections", "no section headers"),
    ("nosections-pie", "pie", "nosections", "no section headers"),
    ("payload", "lib", "payload", "appended data keeps its place and its bytes"),
    ("payload-pie", "pie", "payload", "appended data"),
    ("stripped", "lib", "-s", "10: strip before"),
    ("slimmed", "lib", "relocated", "program headers that lie elsewhere"),
]


class Bad(Exception):
    pass


def run(*words, ok=True, env=None):
    p = subprocess.run(words, capture_output=True, text=True, errors="replace", env=env)
    if ok and p.returncode:
        raise Bad(f"{' '.join(map(str, words))[:200]}: {p.returncode} {(p.stderr or p.stdout).strip()[-300:]}")
    return p


# ---- files ----

def build(name, kind, flags):
    """The file, or None where a linker is missing."""
    words = flags.split()
    own = [w for w in words if not w.startswith("-")]
    opts = [w for w in words if w.startswith("-")]
    bss = next((w[4:] for w in own if w.startswith("bss=")), "4")
    Path(f"{name}.c").write_text(LIB % {"bss": int(bss), "more": SYMBOLS if "symbols" in own else ""})
    if "script" in own:
        Path("v.map").write_text("V_1.0 { global: answer; local: *; };\n")
        opts.append("-Wl,--version-script=v.map")
    out = Path(f"{name}.so" if kind == "lib" else name)
    how = ["-shared", "-fPIC"] if kind == "lib" else ["-no-pie"] if kind == "fixed" else ["-pie", "-fPIE"]
    main = [] if kind == "lib" else ["main.c"]
    p = run("gcc", "-O1", *how, *opts, "-Wl,--enable-new-dtags,-rpath,$ORIGIN", f"{name}.c", *main, "-o", out,
            "-L.", "-lhelper", "-lm", ok=False)
    if p.returncode:
        return None
    data = bytearray(out.read_bytes())
    if "nosections" in own:
        data[40:48], data[58:64] = bytes(8), bytes(6)
    if "payload" in own:
        data += b"PAYLOAD" * 1001
    if "relocated" in own:
        data = relocated(data)
    out.write_bytes(data)
    return out


def relocated(data):
    """The program headers in a segment of their own, behind everything, as tools that make room there leave them."""
    n = struct.unpack_from("<H", data, 56)[0]
    at = -(-len(data) // 0x1000) * 0x1000
    addr = 0x400000 + at
    table = data[64:64 + 56 * n]
    last = max(i for i in range(n) if struct.unpack_from("<I", table, 56 * i)[0] == 1)
    new = struct.pack("<IIQQQQQQ", 1, 4, at, addr, addr, 56 * (n + 1), 56 * (n + 1), 0x1000)
    table = table[:56 * (last + 1)] + new + table[56 * (last + 1):]
    data += bytes(at - len(data)) + table
    struct.pack_into("<Q", data, 32, at)
    struct.pack_into("<H", data, 56, n + 1)
    return data


# ---- what is in a file, read here ----

class Elf:
    def __init__(self, path):
        d = self.data = Path(path).read_bytes()
        phoff, shoff = struct.unpack_from("<QQ", d, 32)
        phnum = struct.unpack_from("<H", d, 56)[0]
        shnum = struct.unpack_from("<H", d, 60)[0]
        self.phoff, self.phnum = phoff, phnum
        self.segments = [struct.unpack_from("<IIQQQQQQ", d, phoff + 56 * i) for i in range(phnum)]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", d, shoff + 64 * i) for i in range(shnum)]
        self.loads = [s for s in self.segments if s[0] == 1]
        dyn = next((s for s in self.segments if s[0] == 2), None)
        self.tags = []
        for at in range(dyn[2], dyn[2] + dyn[5], 16):
            tag, value = struct.unpack_from("<QQ", d, at)
            if not tag:
                break
            self.tags.append((tag, value))
        strings = self.offset(dict(self.tags)[5])
        self.names = {}
        for tag, value in self.tags:
            if tag in (1, 14, 15, 29):
                end = d.index(b"\0", strings + value)
                self.names.setdefault(tag, []).append(d[strings + value:end].decode())

    def offset(self, addr):
        for _, _, offset, vaddr, _, filesz, _, _ in self.loads:
            if vaddr <= addr < vaddr + filesz:
                return offset + addr - vaddr
        raise Bad(f"address {addr:#x} is in no segment")

    def memory(self):
        """(address, bytes) of what is read or run, but not of what edits may change: tables that tags name."""
        return [(v, self.data[o:o + f]) for t, fl, o, v, _, f, _, _ in self.loads if fl & 3 and not fl & 2]


def check_layout(path):
    e = Elf(path)
    end, page = 0, max([s[7] for s in e.loads] + [0x1000])
    for t, flags, offset, vaddr, paddr, filesz, memsz, align in e.loads:
        if offset % align != vaddr % align or offset + filesz > len(e.data) or filesz > memsz:
            raise Bad(f"segment at {vaddr:#x}: not aligned, or not in the file")
        if vaddr < end:
            raise Bad(f"segment at {vaddr:#x}: over another one, or not in order")
        end = vaddr + memsz
    last = e.loads[-1]
    if len(e.loads) > 1 and last[3] // page <= (e.loads[-2][3] + e.loads[-2][6] - 1) // page:
        if last[2] + last[5] == len(e.data):
            raise Bad("the new segment shares a page with another one")
    for t, flags, offset, vaddr, paddr, filesz, memsz, align in e.segments:
        if t in (1, 0x6474e551) or not filesz:
            continue
        size = filesz if t == RELRO else memsz  # lld up to 17 lets it reach to the end of the page
        if not any(s[3] <= vaddr and vaddr + size <= s[3] + s[6] and vaddr - offset == s[3] - s[2] for s in e.loads):
            raise Bad(f"what segment {t:#x} has is not loaded, or elsewhere")
        if t == 2 and not any(s[1] & 2 and s[3] <= vaddr < s[3] + s[6] for s in e.loads):
            raise Bad("the dynamic section cannot be written")
        if t == 6 and (offset != e.phoff or filesz != 56 * e.phnum):
            raise Bad("PT_PHDR is wrong")
    places = sorted((s[4], s[5], s[0]) for s in e.sections if s[1] not in (0, 8) and s[5])
    for (a, n, _), (b, _, _) in zip(places, places[1:]):
        if a + n > b:
            raise Bad(f"sections at {a:#x} and {b:#x} lie over each other")
    if places and any(a < e.phoff + 56 * e.phnum and a + n > e.phoff for a, n, _ in places):
        raise Bad("a section lies over the program headers")
    for s in e.sections:
        if s[2] & 2 and s[1] != 8 and s[5] and e.offset(s[3]) != s[4]:
            raise Bad(f"the section at {s[3]:#x} is loaded from elsewhere")
    return e


def complaints(path):
    out = []
    for tool in (["readelf", "-aW"], ["llvm-readelf", "-a"]):
        if shutil.which(tool[0]):
            p = run(*tool, path, ok=False)
            out += re.findall(r"(?:warning|error):.*", p.stderr + p.stdout, re.I)
    return [re.sub(r"'[^']*'|\b0x[0-9a-f]+|\d+", "", x) for x in out]


def works(path, kind):
    path = Path(path).resolve()
    if kind == "lib":
        code = ("import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).answer; f.argtypes = [ctypes.c_double]; "
                "sys.exit(0 if f(1.0) == 42 else 9)")
        p = run(sys.executable, "-c", code, path, ok=False)
    else:
        p = run(path, ok=False)
    if p.returncode:
        raise Bad(f"it does not work: {p.returncode} {p.stderr.strip()[-300:]}")


# ---- edits ----

FORTH = [
    ("a long path", ["--set-rpath", LONG], {29: [LONG]}),
    ("a shorter path", ["--set-rpath", "$ORIGIN"], {29: ["$ORIGIN"]}),
    ("libraries more", sum((["--add-needed", f"lib{n}.so"] for n in ("extra-one", "extra-two", "x3", "x4", "x5", "x6")), []),
     {1: ["+libextra-one.so", "+libextra-two.so", "+libx3.so", "+libx4.so", "+libx5.so", "+libx6.so"]}),
    ("another name", ["--replace-needed", "libhelper.so", "libhelper-with-a-longer-name-0123456789abcdef.so"],
     {1: ["-libhelper.so", "+libhelper-with-a-longer-name-0123456789abcdef.so"]}),
    ("versions follow", ["--replace-needed", "libm.so.6", "libm-renamed-0123456789abcdef0123456789.so.6"],
     {1: ["-libm.so.6", "+libm-renamed-0123456789abcdef0123456789.so.6"]}),
    ("none", ["--remove-needed", "libextra-one.so"], {1: ["-libextra-one.so"]}),
    ("its own name", ["--set-soname", "libits-own-name-is-quite-long.so.123"], {14: ["libits-own-name-is-quite-long.so.123"]}),
]
BACK = ["--set-rpath", "$ORIGIN", "--replace-needed", "libhelper-with-a-longer-name-0123456789abcdef.so", "libhelper.so",
        "--replace-needed", "libm-renamed-0123456789abcdef0123456789.so.6", "libm.so.6"] + sum(
    (["--remove-needed", f"lib{n}.so"] for n in ("extra-two", "x3", "x4", "x5", "x6")), [])


def edit(tool, path, words):
    if Path(tool).name != "patchelf":
        return run(tool, path, *words).stdout.strip()
    before = Path(path).read_bytes()
    i = 0
    while i < len(words):
        n = 3 if words[i] == "--replace-needed" else 2
        run(tool, *words[i:i + n], path)
        i += n
    return "same" if Path(path).read_bytes() == before else "changed"


def expect(names, changes):
    names = {t: list(v) for t, v in names.items()}
    for tag, values in changes.items():
        for v in values:
            have = names.setdefault(tag, [])
            if tag != 1:
                names[tag] = [v]
            elif v[0] == "+":
                have.append(v[1:])
            else:
                have.remove(v[1:])
    return {t: sorted(v) for t, v in names.items() if v}


def judge(path, kind, want, before):
    e = check_layout(path)
    have = {t: sorted(v) for t, v in e.names.items()}
    if have != want:
        raise Bad(f"it has {have}, not {want}")
    new = [c for c in complaints(path) if c not in before]
    if new:
        raise Bad(f"tools complain: {new[:3]}")
    works(path, kind)


def strip(path, kind, want, how):
    tool = how.split()
    if not shutil.which(tool[0]) or not Elf(path).sections:
        return
    copy = Path(f"{path}.stripped{kind if kind != 'lib' else '.so'}")
    shutil.copy(path, copy)
    before = complaints(path)
    p = run(*tool, copy)
    if p.stderr.strip():
        raise Bad(f"{how}: {p.stderr.strip()[:200]}")
    try:
        judge(copy, kind, want, before)
    except Bad as bad:
        raise Bad(f"after {how}: {bad}") from None
    return copy


def same_memory(old, new):
    """Code and constants of the old file that no tag names are where they were."""
    then, now = Elf(old), Elf(new)
    for s in then.sections:
        # PROGBITS that is not written to, but .interp
        if s[1] == 1 and s[2] & 2 and not s[2] & 1 and s[5] and s[4] > then.phoff + 56 * (then.phnum + 1) + 100:
            if then.data[s[4]:s[4] + s[5]] != now.data[now.offset(s[3]):][:s[5]]:
                raise Bad(f"the bytes at {s[3]:#x} are others")


def try_case(tool, name, kind, flags):
    path = build(name, kind, flags)
    if not path:
        return "skip"
    before = complaints(path)
    works(path, kind)
    shutil.copy(path, "original")
    original = Elf(path)
    want = {t: sorted(v) for t, v in original.names.items()}
    strippable = not {"nosections", "payload", "relocated"} & set(flags.split())
    for turn, (what, words, changes) in enumerate(FORTH):
        try:
            want = expect(want, changes)
            if edit(tool, path, words) != "changed" and what != "a path":
                raise Bad("nothing changed")
            judge(path, kind, want, before)
            same_memory("original", path)
            once = path.read_bytes()
            if edit(tool, path, words if what != "libraries more" else words[:0]) != "same" or path.read_bytes() != once:
                raise Bad("a second time is not the same")
            if strippable:
                copy = strip(path, kind, want, ("strip -g", "llvm-strip", "strip")[turn % 3])
                if copy and what == "libraries more":  # 244: edit, strip, edit
                    edit(tool, copy, ["--set-rpath", LONG + ":/again"])
                    judge(copy, kind, want | {29: [LONG + ":/again"]}, before)
        except Bad as bad:
            raise Bad(f"{what}: {bad}") from None
    size = path.stat().st_size
    forth = sum((w for n, w, c in FORTH if n not in ("a shorter path", "none", "its own name")), [])
    for turn in range(6):  # 370: every time larger
        edit(tool, path, BACK + (["--remove-needed", "libextra-one.so"] if turn else []))
        if turn == 2:
            size = path.stat().st_size
        edit(tool, path, forth)
    edit(tool, path, BACK + ["--remove-needed", "libextra-one.so"])
    back = {t: sorted(v) for t, v in original.names.items()}
    back[14] = want[14]
    judge(path, kind, back, before)
    if path.stat().st_size > size:
        raise Bad(f"it grows: {size} to {path.stat().st_size}")
    if "payload" in flags:
        at = original.data.index(b"PAYLOAD" * 1001)
        if path.read_bytes()[at:at + 7007] != original.data[at:]:
            raise Bad("what was appended is not where it was")
    return "ok"


# ---- single stories ----

def removed_versions(tool):
    """214 115 455: versions that are needed of a library that is not."""
    Path("w.c").write_text(LIB % {"bss": 1, "more": ""})
    run("gcc", "-O1", "-shared", "-fPIC", "w.c", "-o", "w.so", "-L.", "-lhelper", "-lm", "-Wl,-rpath,$ORIGIN")
    edit(tool, "w.so", ["--remove-needed", "libm.so.6"])
    e = check_layout("w.so")
    if "libm" in run("readelf", "-VdW", "w.so").stdout:
        raise Bad("libm is still named")
    code = ("import ctypes, sys; ctypes.CDLL('libm.so.6', ctypes.RTLD_GLOBAL); f = ctypes.CDLL('./w.so').answer; "
            "f.argtypes = [ctypes.c_double]; sys.exit(0 if f(1.0) == 42 else 9)")
    run(sys.executable, "-c", code)
    edit(tool, "w.so", ["--remove-needed", "libc.so.6"])
    if e.names[1].count("libc.so.6") and re.search(r"libc\.so", run("readelf", "-VdW", "w.so").stdout):
        raise Bad("libc is still named")
    run(sys.executable, "-c", code)
    if complaints("w.so"):
        raise Bad(f"tools complain: {complaints('w.so')}")


def own_version(tool):
    """The version that has the file's name follows it, and whoever is linked with it afterwards works."""
    build("soname", "lib", "-Wl,-soname,libold.so.1 script")
    edit(tool, "soname.so", ["--set-soname", "libnew-name-that-is-longer.so.2"])
    text = run("readelf", "-VW", "soname.so").stdout
    if "libold" in text or "libnew-name" not in text:
        raise Bad("the version has the old name")
    shutil.copy("soname.so", "libnew-name-that-is-longer.so.2")
    Path("user.c").write_text(MAIN)
    run("gcc", "user.c", "-o", "user", "./soname.so", "-Wl,-rpath,$ORIGIN", "-L.", "-lhelper")
    run("./user")


def static(tool):
    """78 509: linked statically."""
    Path("s.c").write_text("int main(void) { return 0; }\n")
    for flag in ("-static", "-static-pie"):
        run("gcc", flag, "s.c", "-o", "s")
        before = Path("s").read_bytes()
        p = run(tool, "s", "--add-needed", "liba.so", "--set-rpath", "/x" * 100, "--add-needed", "libb.so",
                "--add-needed", "libc1.so", "--add-needed", "libd.so", "--add-needed", "libe.so",
                "--add-needed", "libf.so", "--add-needed", "libg.so", ok=False)
        if p.returncode != 1 or Path("s").read_bytes() != before:
            raise Bad(f"{flag} is not refused")
        run("./s")


def damaged(tool):
    """505: headers that lie outside of the file are an error, and nothing is written."""
    build("plain", "lib", "")
    data = Path("plain.so").read_bytes()
    for cut in (len(data) - 300, 5000, 700, 100, 10):
        Path("cut.so").write_bytes(data[:cut])
        p = run(tool, "cut.so", "--set-rpath", LONG, ok=False)
        if p.returncode != 1 or not p.stderr.strip() or Path("cut.so").read_bytes() != data[:cut]:
            raise Bad(f"a file of {cut} bytes is not refused")


def go_program(tool):
    """38: section headers right behind the program headers."""
    if not shutil.which("go"):
        return "skip"
    Path("g.go").write_text('package main\nimport _ "runtime/cgo"\nfunc main() { println("fine") }\n')
    env = os.environ | {"CGO_ENABLED": "1", "GOFLAGS": "-ldflags=-linkmode=internal", "GOCACHE": os.path.abspath("go-cache"),
                        "GO111MODULE": "off", "HOME": os.getcwd()}
    if run("go", "build", "-o", "g", "g.go", ok=False, env=env).returncode:
        return "skip"
    before = complaints("g")
    edit(tool, "g", ["--set-rpath", LONG, "--add-needed", "libm.so.6"])
    check_layout("g")
    if [c for c in complaints("g") if c not in before]:
        raise Bad("tools complain")
    if "fine" not in run("./g").stderr:
        raise Bad("it does not run")


def other_machine(tool):
    """79 735: aarch64 has pages of up to 64 KiB, whatever the machine that edits."""
    if not shutil.which("clang") or not shutil.which("ld.lld"):
        return "skip"
    Path("arm.c").write_text("int answer(int x) { return x; }\n")
    p = run("clang", "--target=aarch64-linux-gnu", "-fuse-ld=lld", "-nostdlib", "-shared", "-Wl,-z,max-page-size=4096",
            "-Wl,-soname,a.so", "arm.c", "-o", "arm.so", ok=False)
    if p.returncode:
        return "skip"
    edit(tool, "arm.so", ["--set-rpath", LONG, "--add-needed", "libc.so.6"])
    e = check_layout("arm.so")
    last = e.loads[-1]
    if last[7] != 0x10000 or last[3] // 0x10000 <= (e.loads[-2][3] + e.loads[-2][6] - 1) // 0x10000:
        raise Bad("the new segment is for pages of 4 KiB")
    if complaints("arm.so"):
        raise Bad(f"tools complain: {complaints('arm.so')}")


def large_file(tool):
    """Huge libraries are changed in place: what is not touched is neither read nor written."""
    build("plain", "lib", "")
    with open("plain.so", "r+b") as f:
        f.seek(1600 << 20)
        f.write(b"end")
    before = os.stat("plain.so").st_blocks
    p = run("/usr/bin/env", "time", "-f", "%M %e", tool, "plain.so", "--set-rpath", LONG, ok=False)
    works("plain.so", "lib")
    if p.returncode == 0 and p.stderr.split():
        kib, seconds = p.stderr.split()[-2:]
        if int(kib) > 32 << 10 or float(seconds) > 2:
            raise Bad(f"{kib} KiB, {seconds} s")
    if os.stat("plain.so").st_blocks - before > 200:
        raise Bad("holes were filled")
    os.remove("plain.so")


def empty_strings(tool):
    """A library that names nothing, and so has no strings."""
    Path("e.c").write_text("static int x; int *get(void); int *get(void) { return &x; }\n")
    run("gcc", "-shared", "-fPIC", "-nostdlib", "-fvisibility=hidden", "-Wl,--build-id=none", "e.c", "-o", "e.so")
    for words, names in ((["--set-soname", "libe-with-a-name.so.1"], {14: ["libe-with-a-name.so.1"]}),
                         (["--add-needed", "libhelper.so", "--set-rpath", "$ORIGIN"],
                          {14: ["libe-with-a-name.so.1"], 1: ["libhelper.so"], 29: ["$ORIGIN"]}),
                         (["--set-soname", "", "--remove-needed", "libhelper.so", "--set-rpath", ""], {})):
        edit(tool, "e.so", words)
        if check_layout("e.so").names != names or complaints("e.so"):
            raise Bad(f"{words}: {complaints('e.so')}")
        run(sys.executable, "-c", "import ctypes; ctypes.CDLL('./e.so')")


def old_path(tool):
    """DT_RPATH, which the loader asks before LD_LIBRARY_PATH."""
    os.makedirs("deep/er", exist_ok=True)
    Path("deep/er/h.c").write_text("int helper(int x) { return x + 2; }\n")
    run("gcc", "-shared", "-fPIC", "deep/er/h.c", "-o", "deep/er/libhelper.so", "-Wl,-soname,libhelper.so")
    build("plain", "lib", "")
    edit(tool, "plain.so", ["--set-rpath", "", "--force-rpath", "/nowhere/" + "x" * 200 + ":$ORIGIN/deep/er"])
    code = "import ctypes; f = ctypes.CDLL('./plain.so').answer; f.argtypes = [ctypes.c_double]; print(f(1.0))"
    if run(sys.executable, "-c", code).stdout.strip() != "43" or check_layout("plain.so").names.get(29):
        raise Bad("it is not used")
    edit(tool, "plain.so", ["--force-rpath", "", "--set-rpath", "$ORIGIN/deep/er"])
    if run(sys.executable, "-c", code).stdout.strip() != "42" or check_layout("plain.so").names.get(15):
        raise Bad("it is still used")


# ---- what this machine has ----

def answers(path):
    """Does a library load; what does a program say of itself?"""
    if ".so" in path.name:
        return run(sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", path, ok=False).returncode
    p = subprocess.run([path, "--version"], capture_output=True, timeout=10, stdin=subprocess.DEVNULL)
    return p.returncode, sorted(p.stdout.replace(bytes(path), b"").splitlines())


def try_file(tool, file):
    """An edit, strip, an edit: the file does what it did. False: it is no such file."""
    copy = Path(file.name).resolve()
    shutil.copy(file, copy)
    try:
        old, before, was = Elf(copy), complaints(copy), answers(copy)
    except (Bad, KeyError, IndexError, TypeError, ValueError, struct.error, OSError, subprocess.TimeoutExpired):
        return False
    words = ["--set-rpath", ":".join([LONG, *old.names.get(29, [])])]
    for name in ("m.so.6", "dl.so.2", "rt.so.1", "util.so.1", "pthread.so.0", "anl.so.1"):
        words += ["--add-needed", f"lib{name}"]
    for how in (None, ["strip"], ["llvm-strip"]):
        if how and (not shutil.which(how[0]) or not old.sections):
            continue
        if how and (run(*how, copy).stderr or answers(copy) != was):
            raise Bad(f"not the same after {how[0]}")
        edit(tool, copy, words)
        e = check_layout(copy)
        if e.names[29] != [words[1]] or [c for c in complaints(copy) if c not in before]:
            raise Bad("tools complain")
        if not how:
            same_memory(file, copy)
        if answers(copy) != was or edit(tool, copy, words) != "same":
            raise Bad("it does not do what it did")
        words[1] += ":/again"
    copy.unlink()
    return True


def system(tool, count):
    """So many libraries and programs of this machine, the same ones each time."""
    folders = {Path(sys.executable).resolve().parent, Path("/usr/bin"), *Path("/usr/lib").glob("*-linux-gnu")}
    files = sorted({p.resolve() for d in folders for p in d.iterdir() if p.is_file() and os.access(p, os.R_OK)},
                   key=lambda p: hashlib.sha256(p.name.encode()).digest())
    done = 0
    for file in files:
        with open(file, "rb") as f:
            if f.read(5) != b"\x7fELF\2" or file.stat().st_size > 30 << 20:
                continue
        try:
            done += try_file(tool, file)
        except Bad as bad:
            print(f"not ok {file}: {bad}")
            return 1
        if done == count:
            break
    print(f"ok {done} libraries and programs of this machine do what they did, edited, stripped and edited again")
    return 0


STORIES = [empty_strings, old_path, removed_versions, own_version, static, damaged, go_program, other_machine, large_file]


def main():
    tool = str(Path(sys.argv[1]).resolve()) if "/" in sys.argv[1] else sys.argv[1]
    lenient = "--lenient" in sys.argv
    if "--system" in sys.argv:
        return system(tool, int(sys.argv[-1]))
    every = int(os.environ.get("ELF_EDIT_EVERY", 1))
    only = [w for w in sys.argv[2:] if not w.startswith("-")] or [c[0] for c in CASES[::every]] + [f.__name__ for f in STORIES]
    Path("main.c").write_text(MAIN)
    Path("helper.c").write_text(HELPER)
    run("gcc", "-shared", "-fPIC", "helper.c", "-o", "libhelper.so")
    shutil.copy("libhelper.so", "libhelper-with-a-longer-name-0123456789abcdef.so")
    Path("none.c").write_text("")
    for n in ("extra-one", "extra-two", "x3", "x4", "x5", "x6"):
        run("gcc", "-shared", "none.c", "-o", f"lib{n}.so")
    libm = re.search(r"libm\.so\.6 => (\S+)", run("ldd", sys.executable).stdout)
    libm = libm or re.search(r"=> (\S+/)libc\.so\.6()", run("ldd", sys.executable).stdout)
    shutil.copy(libm[1] if "libm" in libm[1] else libm[1] + "libm.so.6", "libm-renamed-0123456789abcdef0123456789.so.6")
    os.environ["LD_LIBRARY_PATH"] = os.getcwd()
    done, skipped, failed = 0, [], []
    for name, kind, flags, why in CASES:
        if name not in only:
            continue
        try:
            result = try_case(tool, name, kind, flags)
            done += result == "ok"
            skipped += [name] * (result == "skip")
        except (Bad, ValueError, KeyError, IndexError, struct.error) as bad:
            failed.append((name, f"({why}) {bad}"))
    for story in STORIES if not lenient else []:
        if story.__name__ not in only:
            continue
        try:
            result = story(tool)
            done += result != "skip"
            skipped += [story.__name__] * (result == "skip")
        except Bad as bad:
            failed.append((story.__name__, f"({story.__doc__.split(':')[0]}) {bad}"))
    for name, text in failed:
        print(f"{'    ' if lenient else 'not ok '}{name}: {text}")
    if skipped:
        print(f"skip elf-edit: {', '.join(skipped)}: no such linker or tool here")
    print(f"ok {Path(tool).name}: {done} kinds of files are right, {len(failed)} are not" if lenient or not failed else "")
    return 1 if failed and not lenient else 0


if __name__ == "__main__":
    sys.exit(main())
