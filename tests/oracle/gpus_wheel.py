#!/usr/bin/env python3
"""gpus_wheel.py DIR: makes DIR/kern-1.0+rocm7.2-py3-none-linux_x86_64.whl out of libraries that gcc links: bundles with
different GPUs each, libraries of one name in two folders, one bundle with several wrappers as -fgpu-rdc makes it,
side files of GPUs and families, a bare bundle (--bare); or (--small) one of each. Each library has look(), which prints what its own wrappers lead to."""
import base64
import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile

from device_code import pack

LOOK = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern struct { uint32_t magic, version; const unsigned char *p; void *none; } w[];
extern const int count;
int tail[5000] = {1, 2, 3};
int look(void)
{
	for (int s = 0; s < count; s++) {
		const unsigned char *p = w[s].p, *e = p + 32;
		uint64_t n, v[3];
		if (w[s].magic != 0x48495046 || w[s].none || memcmp(p, "__CLANG_OFFLOAD_BUNDLE__", 24))
			return 1;
		memcpy(&n, p + 24, 8);
		for (uint64_t i = 0; i < n; i++, e += 24 + v[2]) {
			unsigned sum = 0;
			memcpy(v, e, 24);
			for (uint64_t k = 0; k < v[1]; k++)
				sum = sum * 31 + p[v[0] + k];
			if (v[1])
				printf("%d %.*s %u\\n", s, (int)v[2], (const char *)e + 24, sum);
		}
	}
	return tail[2] != 3;
}
"""


def bundle(seed, gpus):
    parts = []
    for n, gpu in enumerate(gpus):
        noise = random.Random(f"{seed} {gpu}")
        parts.append((b"hipv4-amdgcn-amd-amdhsa--" + gpu.encode(),
            bytes(noise.randrange(16) for _ in range(20000 + 500 * seed + n))))
    return pack(parts)


def library(path, bundles, wrappers, *flags, kind="a", more=""):
    """wrappers: numbers of bundles; those with a name go by a symbol that others could replace. kind: of .hip_fatbin; more:
    other sections, which may have the bundles b0 ..."""
    work = path + ".d"
    os.makedirs(work)
    fat, segment = f'\t.section .hip_fatbin,"{kind}",@progbits\n', '\t.section .hipFatBinSegment,"aw",@progbits\n\t.p2align 3\n'
    for i, data in enumerate(bundles):
        open(f"{work}/b{i}", "wb").write(data)
        names = "".join(f"{n}:" for n in sorted({w for k, w in wrappers if k == i and w}))
        glob = "".join(f"\t.globl {n}\n" for n in {w for k, w in wrappers if k == i and w})
        fat += f'\t.p2align 12\n{glob}{names}f{i}:\t.incbin "b{i}"\n'
    segment += "\t.globl w\n\t.hidden w\nw:\n"
    for i, name in wrappers:
        segment += f"\t.long 0x48495046, 1\n\t.quad {name or f'f{i}'}, 0\n"
    open(f"{work}/fat.s", "w").write(fat + segment + more + '\t.section .note.GNU-stack,"",@progbits\n')
    open(f"{work}/look.c", "w").write(LOOK + f"const int count = {len(wrappers)};\n")
    for source in ("fat.s", "look.c"):
        subprocess.run(["gcc", "-O1", "-fPIC", *flags, "-c", source, "-o", f"{source[:-2]}.o"], check=True, cwd=work, stderr=subprocess.DEVNULL)
    subprocess.run(["gcc", "-shared", *flags, f"{work}/fat.o", f"{work}/look.o", "-o", path], check=True)
    for name in os.listdir(work):
        os.remove(f"{work}/{name}")
    os.rmdir(work)


def record_row(name, digest, size):
    return f"{name},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},{size}\n"


def wheel(folder, members, name="kern-1.0+rocm7.2-py3-none-linux_x86_64.whl", metadata=None):
    info = "-".join(name.split("-")[:2]) + ".dist-info"
    members = dict(members)
    members[f"{info}/METADATA"] = metadata or (
        b"Metadata-Version: 2.1\nName: kern\nVersion: 1.0+rocm7.2\nRequires-Python: >=3.8\n"
        b"Provides-Extra: test\nDescription-Content-Type: text/plain\n\nA text.\n")
    tag = "-".join(name[:-4].split("-")[2:])
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    rows = []
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in members.items():
            rows.append(record_row(path, hashlib.sha256(data).digest(), len(data)))
            z.writestr(path, data)
        z.writestr(f"{info}/RECORD", "".join(rows) + f"{info}/RECORD,,\n")
    return os.path.join(folder, name)


EXTRA = """
#include <stdlib.h>
#ifndef K
#define K 1
#endif
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static const char *const names[] = {"a", "b", "c", "d"};
static int (*volatile fn[])(const void *, const void *) = {cmp, cmp};
int extra(int n)
{
	int v[4] = {4, n, 2, K};
	qsort(v, 4, sizeof(int), fn[n & 1]);
	switch (n) {
	case 0: return *names[0] - 'a';
	case 1: return tail[9];
	case 2: return v[2] - 2;
	case 3: return abs(tail[8]);
	case 4: return *names[1] - 'b';
	}
	return v[0] - 1;
}
"""


def one_gpu(folder, gpu, seed, flags):
    """DIR/p-1-py3-none-linux_x86_64.whl: a build for one GPU only, of the same source as the others."""
    global LOOK
    LOOK += EXTRA
    os.chdir(folder)
    library("x.so", [bundle(seed, (gpu,)), bundle(3 * seed + 1, (gpu,))], [(0, ""), (1, "__hip_fatbin_x"), (1, "")], *flags)
    data = open("x.so", "rb").read()
    os.remove("x.so")
    bill = {"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {"component": {"type": "library", "name": "p", "version": "1"}},
        "components": [{"type": "file", "name": "p/x.so", "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(data).hexdigest()}]}]}
    bill = {"p-1.dist-info/sboms/rocsmith.cdx.json": json.dumps(bill).encode()}
    wheel(".", {"p/x.so": data} | bill, "p-1-py3-none-linux_x86_64.whl", b"Metadata-Version: 2.1\nName: p\nVersion: 1\n")


def places(folder, flags):
    """DIR/places-1-...whl: .hip_fatbin in each place where linkers put it, and a bundle in .rodata that nothing points at."""
    os.chdir(folder)
    gpus, members = ("gfx90a", "gfx1030", "gfx1100"), {"places/__init__.py": b""}
    rodata = '\t.section .rodata,"a",@progbits\n\t.p2align 4\n\t.incbin "b0"\n'
    for i, (name, link, more) in enumerate((("own", [], {}), ("first", ["-fuse-ld=lld"], {}), ("code", ["-Wl,-z,noseparate-code"], {}),
            ("writable", [], {"kind": "aw"}), ("rodata", [], {"more": rodata}))):
        try:
            library(f"{name}.so", [bundle(i, gpus), bundle(i + 9, gpus[i % 2:])], [(1, ""), (0, "")], *link, *flags, **more)
        except subprocess.CalledProcessError:
            continue  # no such linker
        members[f"places/{name}.so"] = open(f"{name}.so", "rb").read()
        os.remove(f"{name}.so")
    wheel(".", members, "places-1-py3-none-linux_x86_64.whl", b"Metadata-Version: 2.1\nName: places\nVersion: 1\n")


def main():
    folder = sys.argv[1]
    if sys.argv[2:3] == ["--places"]:
        return places(folder, sys.argv[3:])
    if sys.argv[2:3] == ["--one"]:
        return one_gpu(folder, sys.argv[3], int(sys.argv[4]), sys.argv[5:])
    mixed = [("gfx90a:xnack-", "gfx90a:xnack+", "gfx1100"), ("gfx1100", "gfx11-generic"),
        ("gfx1201", "gfx90a:xnack-"), ("gfx1100", "gfx1201", "gfx90a:xnack+")]
    path = os.path.join(folder, "x.so")
    made = {"kern/__init__.py": b"import os\n" * 2000}
    if sys.argv[2:] == ["--small"]:
        library(path, [bundle(0, mixed[1]), bundle(1, ("gfx90a:xnack-", "gfx1100"))], [(0, ""), (1, "__hip_fatbin_a"), (1, "")])
        made["kern/lib/liba.so"] = open(path, "rb").read()
        os.remove(path)
        made |= {n: n.encode() * 50 for n in ("kern/library/K_gfx1100.co", "kern/library/K.dat", "kern/images/amd-gfx110x/k.aks2")}
        return wheel(folder, made)
    for name, seed in (("kern/lib/liba.so", 0), ("kern/ops/liba.so", 10)):
        library(path, [bundle(seed + i, g) for i, g in enumerate(mixed)], [(i, "") for i in range(len(mixed))])
        made[name] = open(path, "rb").read()
    subprocess.run(["objcopy", "--only-keep-debug", path, path + ".debug"], check=True)  # sections without content
    made["kern/ops/liba.so.debug"] = open(path + ".debug", "rb").read()
    os.remove(path + ".debug")
    one = [bundle(20, ("gfx90a:xnack-", "gfx1100", "gfx1201"))]
    library(path, one, [(0, f"__hip_fatbin_{i:016x}") for i in range(5)] + [(0, "")])
    made["kern/lib/librdc.so"] = open(path, "rb").read()
    two = [bundle(30, ("gfx90a:xnack-", "gfx1100")), bundle(31, ("gfx1100", "gfx1201"))]
    library(path, two, [(1, "__hip_fatbin_b"), (0, "__hip_fatbin_a"), (1, "")], "-Wl,-z,noseparate-code")
    made["kern/lib/libtwo.so"] = open(path, "rb").read()
    os.remove(path)
    for side in ("library/K_gfx90a.dat", "library/K_gfx1100.co", "library/K_gfx803.dat", "library/K_fallback.dat",
            "aotriton.images/amd-gfx11xx/flash/k.aks2", "aotriton.images/amd-gfx120x/flash/k.aks2",
            "aotriton.images/amd-gfx110x/flash/k.aks2"):
        made[f"kern/lib/{side}"] = side.encode() * 50
    if sys.argv[2:] == ["--bare"]:
        made["kern/lib/any.hsaco"] = bundle(40, ("gfx90a:xnack-", "gfx1201"))
    wheel(folder, made)


if __name__ == "__main__":
    main()
