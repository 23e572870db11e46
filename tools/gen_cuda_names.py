#!/usr/bin/env python3
"""Derives data/cuda_names/*.tsv, the CUDA -> HIP name pairs.

The pairs are facts, taken from the substitutions that hipify-perl states (one or more versions, given
oldest first) and from the hand-written rows of extra.tsv. Each pair is then checked against the HIP
headers of one or more SDKs (oldest first): clang says whether the HIP name exists there, and what it
is. A pair whose HIP name is in the first SDK gets an empty "since"; one that appears only in a later
SDK gets that SDK's version; one that no SDK has is not a translation and goes to unsupported.tsv as
a mere suggestion.

  tools/gen_cuda_names.py --perl 7.0.2=hipify-perl --perl 7.2.4=hipify-perl-7.2.4 \\
      --sdk '6.4.3=CLANG++ ARGS' --sdk '7.2.4=CLANG++ ARGS' -o data/cuda_names

CLANG++ ARGS is a command line that compiles HIP from stdin against that SDK's headers, for example
'rocsmith sdk run -- clang++ ' or a bwrap call; "-x hip - ..." is appended.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys

# (table, regular expression over the HIP name, header of the SDK that declares it); first match wins
GROUPS = [
    ("blaslt", r"^(hipblasLt|HIPBLASLT_|HIPBLAS_LT)", "hipblaslt/hipblaslt.h"),
    ("blas", r"^(hipblas|HIPBLAS_)", "hipblas/hipblas.h"),
    ("rand", r"^(hiprand|HIPRAND_|rocrand|ROCRAND_)", "hiprand/hiprand_kernel.h"),
    ("fft", r"^(hipfft|HIPFFT_)", "hipfft/hipfftXt.h"),
    ("sparse", r"^(hipsparse|HIPSPARSE_|csr[a-z]+[0-9]*Info|bsr[a-z]+[0-9]*Info|pruneInfo)",
     "hipsparse/hipsparse.h"),
    ("solver", r"^(hipsolver|HIPSOLVER_)", "hipsolver/hipsolver.h"),
    ("rtc", r"^(hiprtc|HIPRTC_)", "hip/hiprtc.h"),
    ("cub", r"(HIPCUB|^_*CUB_|hipcub|^_HipcubLog)", "hipcub/hipcub.hpp"),
    ("fp8", r"^(__hip_(fp8|fp4|fp6|cvt|saturation)|__HIP_(E\d|SATFINITE|NOSAT))", "hip/hip_fp8.h"),
    ("fp4", r"^__hip_(fp4|cvt\w*fp4)", "hip/hip_fp4.h"),
    ("bf16", r"^(__hip_bfloat16|hip_bfloat16|HIPRT_\w+_BF16)", "hip/hip_bf16.h"),
    ("fp16", r"^HIPRT_\w+_FP16", "hip/hip_fp16.h"),
    ("complex", r"^(hipC|hipDoubleComplex|hipFloatComplex|hipComplex|make_hip)", "hip/hip_complex.h"),
    ("math", r"^HIP_\w*(PI|INF|NAN|LOG|LN|SQRT|_F|MAX|MIN|CVT|EXP|ZERO|ONE|TWO|CUTOFF|LG|L2|HI|LO)\w*$",
     "hip/hip_math_constants.h"),
    ("runtime", r"", "hip/hip_runtime.h"),
]
# Further headers to look in when the first lacks the name.
ALSO = {
    "runtime": ["hip/hip_gl_interop.h", "hip/hip_ext.h", "hip/hip_cooperative_groups.h",
                "hip/hip_math_constants.h"],
    "math": ["hip/hip_runtime.h"],
    "complex": ["hip/hip_runtime.h"],
    "cub": ["hip/hip_runtime.h"],
    "fp8": ["hip/hip_fp4.h"],
    "blas": ["hip/library_types.h"],
}
# Substitutions of hipify-perl that are no statement about HIP: other projects' files, files of the
# CUDA samples, device functions with equal names, cuDNN and cuTENSOR (other interfaces).
SKIP = re.compile(r"caffe2/|^CUDAContext$|^REGISTER_CUDA_|^helper_|^cudnn|^CUDNN|^cutensor|^CUTENSOR|^libcudnn|^fftwf?_|^FFTWF?_")
# Names that are no CUDA names by themselves (C functions that other headers have as well).
SKIP_LACK = re.compile(r"^[a-z]{1,6}\d*$|^fftwf?_|^FFTWF?_")
KINDS = {
    "Function": "function", "FunctionTemplate": "template", "Typedef": "type", "TypeAlias": "type",
    "CXXRecord": "type", "Record": "type", "Enum": "type", "EnumConstant": "constant",
    "Var": "variable", "ClassTemplate": "template", "TypeAliasTemplate": "template",
}
HEAD = """# CUDA names and what they are called in HIP: {about}.
# Derived by tools/gen_cuda_names.py from {sources};
# every HIP name was found by clang in the headers of ROCm {sdks}.
# since: the first of those versions that has the name, empty for the first.
# cuda\thip\tkind\theader\tsince\tsource
"""


def substitutions(text, sub):
    body = re.search(r"^sub %s \{\n(.*?)^\}" % sub, text, re.S | re.M)
    rows = re.findall(r'subst\("([^"]*)", "([^"]*)", "([^"]*)"\)', body.group(1)) if body else []
    return [(a.replace("\\/", "/"), b.replace("\\/", "/"), t) for a, b, t in rows]


def names_of(text, array):
    body = re.search(r"^@%s = \(\n(.*?)^\);" % array, text, re.S | re.M)
    return re.findall(r'"([^"]+)"', body.group(1)) if body else []


class Sdk:
    def __init__(self, spec):
        self.version, command = spec.split("=", 1)
        self.command = shlex.split(command)
        self.found = {}

    def clang(self, source, *args):
        argv = self.command + ["-x", "hip", "--offload-arch=gfx1100", "-nogpulib", "-w",
                               "-ferror-limit=0", "-D__HIP_PLATFORM_AMD__",
                               "-DHIP_ENABLE_WARP_SYNC_BUILTINS", *args, "-"]
        return subprocess.run(argv, input=source, capture_output=True, text=True)

    def kinds(self, header, names):
        """{name: kind} of those names that the header declares or defines."""
        start = "#include <hip/hip_runtime.h>\n#include <%s>\n" % header
        macros = self.clang(start, "--cuda-host-only", "-dM", "-E")
        if macros.returncode:
            sys.stderr.write("%s: %s: %s\n" % (self.version, header, macros.stderr[:300]))
            return {}
        defined = set(re.findall(r"^#define (\w+)", macros.stdout, re.M))
        found = {n: "macro" for n in names if n in defined}
        for side in "--cuda-host-only", "--cuda-device-only":
            todo = [n for n in names if n not in found]
            lines = ["using ::%s;" % n for n in todo]
            dump = self.clang(start + "namespace probe {\n%s\n}\n" % "\n".join(lines), side,
                              "-fsyntax-only", "-fno-spell-checking", "-Xclang", "-ast-dump",
                              "-Xclang", "-ast-dump-filter=probe").stdout
            for kind, name in re.findall(r"UsingShadowDecl .* implicit (\w+) 0x\w+ '(\w+)'", dump):
                if kind in KINDS and found.get(name) != "template":
                    found[name] = KINDS[kind]
        return {n: k for n, k in found.items() if n in names}

    def missing_headers(self, headers):
        """Those of the headers that this SDK does not have."""
        text = "".join("#if !__has_include(<%s>)\n#error <%s>\n#endif\n" % (h, h) for h in headers)
        return set(re.findall(r"error: <(.*)>$", self.clang(text, "--cuda-host-only", "-E").stderr,
                              re.M))


def group_of(hip):
    for table, pattern, header in GROUPS:
        if re.search(pattern, hip):
            return table, header
    raise AssertionError(hip)


def collect(perls):
    """{cuda: (hip, tag, source)}; an older source wins when both state the same pair."""
    pairs = {}
    for version, text in perls:
        source = "hipify-perl " + version
        for sub in "simpleSubstitutions", "experimentalSubstitutions":
            for cuda, hip, tag in substitutions(text, sub):
                if SKIP.search(cuda) or cuda == hip:
                    continue
                if cuda not in pairs or pairs[cuda][0] != hip:
                    pairs[cuda] = (hip, tag, source)
    return pairs


def classify(pairs, sdks):
    """(rows by table, pairs that no SDK has)."""
    wanted = {}
    for cuda, (hip, tag, source) in pairs.items():
        if not tag.startswith("include"):
            table, header = group_of(hip)
            wanted.setdefault((table, header), set()).add(hip)
    known = {}  # hip -> (header, kind, since)
    everywhere = {h for _, _, h in GROUPS} | {h for hs in ALSO.values() for h in hs}
    absent = {sdk: sdk.missing_headers(sorted(everywhere)) for sdk in sdks}
    for (table, header), names in sorted(wanted.items()):
        for i, sdk in enumerate(sdks):
            for h in [header] + ALSO.get(table, []):
                todo = sorted(n for n in names if n not in known)
                if not todo or h in absent[sdk]:
                    continue
                for name, kind in sdk.kinds(h, todo).items():
                    known[name] = (h, kind, sdk.version if i else "")
    tables, left = {}, {}
    for cuda, (hip, tag, source) in pairs.items():
        if tag.startswith("include"):
            continue
        if hip in known:
            header, kind, since = known[hip]
            tables.setdefault(group_of(hip)[0], []).append((cuda, hip, kind, header, since, source))
        else:
            left[cuda] = (hip, source)
    return tables, left


def headers(pairs, sdks):
    rows, left = [], {}
    # hipify-perl names some headers by the file alone; Debian and ROCm install them in folders
    fix = {"hipblas.h": "hipblas/hipblas.h", "hipsparse.h": "hipsparse/hipsparse.h",
           "hipsolver.h": "hipsolver/hipsolver.h", "hipblaslt.h": "hipblaslt/hipblaslt.h"}
    wanted = [fix.get(h, h) or "hip/hip_runtime.h" for h, t, _ in pairs.values()
              if t.startswith("include")]
    absent = [sdk.missing_headers(wanted) for sdk in sdks]
    for cuda, (hip, tag, source) in pairs.items():
        if not tag.startswith("include"):
            continue
        hip = fix.get(hip, hip) or "hip/hip_runtime.h"
        since = next((("" if i == 0 else s.version) for i, s in enumerate(sdks)
                      if hip not in absent[i]), None)
        if since is None:
            left[cuda] = (hip, source)
        else:
            rows.append((cuda, hip, "header", "", since, source))
    return rows, left


def extra_rows(path, sdks):
    rows = []
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            rows.append(tuple(line.rstrip("\n").split("\t")))
    return rows


def unsupported(perls, sdks, have, left):
    """CUDA names that HIP lacks: {cuda: (suggestion, source)}."""
    out = {c: v for c, v in left.items()}
    for version, text in perls:
        source = "hipify-perl " + version
        for array in ("HipOnlyUnsupportedFunctions", "HipDNNOnlyUnsupportedFunctions",
                      "MIOpenOnlyUnsupportedFunctions", "UnsupportedDeviceFunctions",
                      "UnsupportedDeviceDataTypes"):
            for name in names_of(text, array):
                if re.fullmatch(r"\w+", name) and not SKIP_LACK.search(name):
                    out.setdefault(name, ("", source))
        for cuda, hip, tag in substitutions(text, "MIOpenSubstitutions"):
            if re.fullmatch(r"cudnn\w+|CUDNN\w+", cuda):
                out[cuda] = (hip, source)
        for cuda, hip, tag in substitutions(text, "simpleSubstitutions"):
            if re.match(r"cutensor|CUTENSOR", cuda) and re.fullmatch(r"\w+", cuda):
                out.setdefault(cuda, (hip, source))
    out = {c: v for c, v in out.items() if c not in have}
    # names that HIP has under the very same spelling are no problem
    same = sdks[0].kinds("hip/hip_fp16.h", sorted(c for c in out if re.fullmatch(r"\w+", c)))
    same.update(sdks[0].kinds("hip/hip_bf16.h", sorted(c for c in out if re.fullmatch(r"\w+", c))))
    return {c: v for c, v in out.items() if c not in same}


# HIP names follow CUDA's; what a tool's table calls unsupported may have come since.
RENAMED = [
    (r"^cuda([A-Z])", r"hip\1"), (r"^cublas", "hipblas"), (r"^CUBLASLT_", "HIPBLASLT_"),
    (r"^CUBLAS_", "HIPBLAS_"), (r"^curand", "hiprand"), (r"^CURAND_", "HIPRAND_"),
    (r"^cufft", "hipfft"), (r"^CUFFT_", "HIPFFT_"), (r"^cusparse", "hipsparse"),
    (r"^CUSPARSE_", "HIPSPARSE_"), (r"^cusolver", "hipsolver"), (r"^CUSOLVER_", "HIPSOLVER_"),
    (r"^nvrtc", "hiprtc"), (r"^NVRTC_", "HIPRTC_"),
]


def renamed(lacks, sdks):
    """Names called unsupported that the SDKs have under HIP's spelling, as pairs to check."""
    out = {}
    for cuda in lacks:
        for pattern, to in RENAMED:
            hip, n = re.subn(pattern, to, cuda)
            if n:
                out[cuda] = (hip, "type", "HIP headers, the same name")
                break
    return out


def write(path, head, rows):
    rows = sorted(set(rows))
    with open(path, "w", encoding="ascii") as f:
        f.write(head)
        for row in rows:
            f.write("\t".join(row) + "\n")
    print("%6d %s" % (len(rows), path))


ABOUT = {
    "blas": "cuBLAS", "blaslt": "cuBLASLt", "rand": "cuRAND, host and device", "fft": "cuFFT",
    "sparse": "cuSPARSE", "solver": "cuSOLVER", "rtc": "NVRTC", "cub": "macros of CUB",
    "fp8": "8-bit floating point", "fp4": "4-bit floating point", "bf16": "bfloat16",
    "fp16": "half precision", "complex": "complex numbers", "math": "constants of math_constants.h",
    "runtime": "runtime and driver API", "headers": "header files",
}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--perl", action="append", required=True, metavar="VERSION=FILE")
    p.add_argument("--sdk", action="append", required=True, metavar="VERSION=COMMAND")
    p.add_argument("-o", "--out", required=True)
    args = p.parse_args()
    perls = []
    for spec in args.perl:
        version, path = spec.split("=", 1)
        perls.append((version, open(path, encoding="utf-8").read()))
    sdks = [Sdk(s) for s in args.sdk]
    info = {"sources": ", ".join("hipify-perl " + v for v, _ in perls),
            "sdks": " and ".join(s.version for s in sdks)}
    extra = extra_rows(os.path.join(args.out, "extra.tsv"), sdks)
    by_hand = {row[0] for row in extra}
    with open(os.path.join(args.out, "compat.tsv"), encoding="ascii") as f:
        by_hand |= {line.split("\t")[0] for line in f if not line.startswith("#")}
    pairs = {c: v for c, v in collect(perls).items() if c not in by_hand}
    tables, left = classify(pairs, sdks)
    tables["headers"], left_headers = headers(pairs, sdks)
    left.update(left_headers)
    have = by_hand | {row[0] for rows in tables.values() for row in rows}
    lacks = unsupported(perls, sdks, have, left)
    more, _ = classify(renamed(lacks, sdks), sdks)
    for table, rows in more.items():
        tables.setdefault(table, []).extend(rows)
        for row in rows:
            print("renamed", *row)
            del lacks[row[0]]
    for table, rows in sorted(tables.items()):
        write(os.path.join(args.out, table + ".tsv"), HEAD.format(about=ABOUT[table], **info), rows)
    write(os.path.join(args.out, "unsupported.tsv"),
          "# CUDA names that HIP has no equal for; hip = what hipify-perl would write, or what comes\n"
          "# near it, as a suggestion only. Derived by tools/gen_cuda_names.py from %s.\n"
          "# cuda\thip\tkind\theader\tsince\tsource\n" % info["sources"],
          [(c, h, "unsupported", "", "", s) for c, (h, s) in lacks.items()])


if __name__ == "__main__":
    main()
