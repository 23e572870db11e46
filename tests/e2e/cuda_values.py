"""Compares translated device functions and inline PTX with CUDA's by their results (tests/data/cuda_values.txt).

    cuda_values.py ROCSMITH FOLDER GFX     translates and compares
    cuda_values.py --record FOLDER         on a machine with a GPU of NVIDIA and nvcc: writes FOLDER/cuda_values.txt anew.
                                           For another function, add its line "out" without results first.

A source calls each function, or has the instruction ("ptx:add.s32"). rocsmith translates it, and HIP's clang compiles it for
an AMD GPU as far as LLVM's language. That text is then compiled for this processor: it holds no more of the GPU than a few
instructions, which a source here gives. So HIP's own functions run, and ours (data/rocsmith), without an AMD GPU.
"""
import ctypes
import json
import os
import re
import subprocess
import sys

SIZES = {"i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8,
         "f16x2": 4, "bf16x2": 4, "f32x2": 8, "char4": 4, "uchar4": 4, "short2": 4, "ushort2": 4}
NAMES = {"i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i32": "int", "u32": "unsigned",
         "i64": "long long", "u64": "unsigned long long", "f16": "__half", "bf16": "__nv_bfloat16", "f32": "float", "f64": "double",
         "f16x2": "__half2", "bf16x2": "__nv_bfloat162", "f32x2": "float2"}
PTX = {"i32": "int r", "u32": "unsigned r", "i64": "long_long l", "u64": "unsigned_long_long l", "f32": "float f", "f64": "double d",
       "f16": "unsigned_short h", "bf16": "unsigned_short h", "f16x2": "unsigned r", "bf16x2": "unsigned r"}
FRACTIONS = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
GPU = r"""
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
float gpu_rcp_f32(float x) { return 1 / x; }
double gpu_rcp_f64(double x) { return 1 / x; }
float gpu_rsq_f32(float x) { return 1 / sqrtf(x); }
double gpu_rsq_f64(double x) { return 1 / sqrt(x); }
float gpu_sqrt_f32(float x) { return sqrtf(x); }
float gpu_exp2_f32(float x) { return exp2f(x); }
float gpu_log_f32(float x) { return log2f(x); }
void gpu_s_setreg(int which, int mode)
{
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	fesetround(modes[mode & 3]); /* both fields of the register, of float and of double, alike */
}
/* A value of 16 bits is returned in the lower bits of the register of a float. */
static float low(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
float __truncsfbf2(float x) { return low(x != x ? 0x7fc0 : (bits_of(x) + 0x7fff + (bits_of(x) >> 16 & 1)) >> 16); }
float __truncdfbf2(double x)
{
	float y = (float)x;
	if (x != x || y == x)
		return __truncsfbf2(y);
	if (fabs(y) > fabs(x))
		y = nextafterf(y, 0);
	return __truncsfbf2(low(bits_of(y) | 1));
}
"""


def run(*command, **more):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if r.returncode:
        print(f"not ok {' '.join(command[:6])}: {r.stdout[-2000:]}")
        sys.exit(1)
    return r.stdout


def read(path):
    values, functions = {}, []
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "in":
                values[words[1], int(words[2])] = [int(w, 16) for w in words[3:]]
            elif words[0] == "out":
                functions.append((words[1], words[2], words[3].split(","), int(words[4]), [int(w, 16) for w in words[5:]]))
    return values, functions


def statement(to, name, types):
    if not name.startswith("ptx:"):
        return "r[i] = %s(%s);" % (name, ", ".join(f"a{j}[i]" for j in range(len(types))))
    inputs = ", ".join(f'"{PTX[t][-1]}"(a{j}[i])' for j, t in enumerate(types))
    operands = ", ".join(f"%{j}" for j in range(len(types) + 1))
    return f'asm("{name[4:]} {operands};" : "={PTX[to][-1]}"(r[i]) : {inputs});'


def c_type(kind, name):
    return PTX[kind][:-2].replace("_", " ") if name.startswith("ptx:") else NAMES.get(kind, kind)


def source(functions, n):
    text = "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <math.h>\n"
    for i, (to, name, types, _, _) in enumerate(functions):
        parameters = ", ".join(f"const {c_type(t, name)} *a{j}" for j, t in enumerate(types))
        text += f'extern "C" __global__ void k{i}({parameters}, {c_type(to, name)} *r) ' \
                f"{{ for (int i = 0; i < {n}; i++) {{ {statement(to, name, types)} }} }}\n"
    return text


def for_this_processor(text):
    """LLVM's text for an AMD GPU as one for x86-64."""
    text = re.sub(r"^target datalayout.*$", "", text, flags=re.M)
    text = re.sub(r"^target triple.*$", 'target triple = "x86_64-pc-linux-gnu"', text, flags=re.M)
    text = re.sub(r"^attributes (#\d+) = .*$", r"attributes \1 = { nounwind }", text, flags=re.M)
    text = re.sub(r",? ?addrspace\(\d+\)", "", text).replace("addrspacecast", "bitcast")
    text = text.replace("amdgpu_kernel ", "").replace("immarg ", "").replace("i32 immarg", "i32")
    text = re.sub(r"@llvm\.amdgcn\.([a-z0-9_.]+)", lambda m: "@gpu_" + m.group(1).replace(".", "_"), text)
    # The GPU's conversions to 32 bits stay within the range.
    kinds = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16"}
    used = {}

    def saturated(m):
        name = f"@llvm.fpto{m.group(1)}i.sat.i32.{kinds[m.group(2)]}"
        used[name] = m.group(2)
        return f"= call i32 {name}({m.group(2)} {m.group(3)})"
    text = re.sub(r"= fpto([su])i (float|double|half|bfloat) (\S+) to i32", saturated, text)
    return text + "".join(f"declare i32 {name}({kind})\n" for name, kind in used.items() if f"declare i32 {name}(" not in text)


def distance(kind, a, b, signs):
    if kind not in FRACTIONS:
        return a != b and sys.maxsize
    bits = 8 * SIZES[kind]
    magnitude = (1 << (bits - 1)) - 1
    infinity = magnitude >> FRACTIONS[kind] << FRACTIONS[kind]
    nan = [x & magnitude > infinity for x in (a, b)]
    if any(nan):
        return 0 if all(nan) else sys.maxsize
    if not (a | b) & magnitude:
        return 0 if a == b or not signs else 1
    a, b = (x & magnitude if x <= magnitude else -(x & magnitude) for x in (a, b))
    return abs(a - b)


def differ(kind, a, b, signs):
    if not kind.endswith("x2"):
        return distance(kind, a, b, signs)
    half = 4 * SIZES[kind]
    return max(distance(kind[:-2], a >> at & ((1 << half) - 1), b >> at & ((1 << half) - 1), signs) for at in (0, half))


def arguments_of(values, types):
    return [b"".join(x.to_bytes(SIZES[t], "little") for x in values[t, j]) for j, t in enumerate(types)]


def record(path, values, functions, n):
    """Runs each call on the GPU here and writes the file with its results."""
    text = source(functions, n)
    for i, (to, name, types, _, _) in enumerate(functions):
        copies = "".join(f"cudaMemcpy(d[{j}], a[{j}], {n * SIZES[t]}, cudaMemcpyHostToDevice); " for j, t in enumerate(types))
        call = ", ".join(f"({c_type(t, name)} *)d[{j}]" for j, t in enumerate(types))
        text += f'extern "C" int h{i}(const void *const *a, void *r) {{ static char *d[5]; ' \
                f"if (!d[0]) for (auto &x : d) cudaMalloc(&x, 4096); " \
                f"{copies}k{i}<<<1, 1>>>({call}, ({c_type(to, name)} *)d[4]); " \
                f"return cudaMemcpy(r, d[4], {n * SIZES[to]}, cudaMemcpyDeviceToHost); }}\n"
    with open("r.cu", "w", encoding="ascii") as f:
        f.write(text)
    run("nvcc", "-arch=native", "-w", "-shared", "-Xcompiler", "-fPIC", "r.cu", "-o", "r.so")
    library = ctypes.CDLL("./r.so")
    with open(path, encoding="ascii") as f, open("cuda_values.txt", "w", encoding="ascii") as new:
        new.writelines(line for line in f if not line.startswith("out "))
        for i, (to, name, types, ulp, _) in enumerate(functions):
            out = ctypes.create_string_buffer(n * SIZES[to])
            status = library[f"h{i}"]((ctypes.c_char_p * len(types))(*arguments_of(values, types)), out)
            results = [int.from_bytes(out.raw[at:at + SIZES[to]], "little") for at in range(0, n * SIZES[to], SIZES[to])]
            if status:
                sys.exit(f"not ok {name}: error {status} of CUDA")
            print("out", to, name, ",".join(types), ulp, *("%x" % x for x in results), file=new)


def main():
    rocsmith, folder, gpu = (*sys.argv[1:], None)[:3]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/cuda_values.txt")
    values, functions = read(path)
    n = len(next(iter(values.values())))
    os.chdir(folder)
    if rocsmith == "--record":
        record(path, values, functions, n)
        return
    with open("v.cu", "w", encoding="ascii") as f:
        f.write(source(functions, n))
    with open("gpu.c", "w", encoding="ascii") as f:
        f.write(GPU)
    told = json.loads(run(rocsmith, "hipify", "v.cu", "-o", "hip", "--json"))
    if told["untranslated"]:
        print("not ok names that stay:", told["untranslated"][:5])
        sys.exit(1)
    clang = (rocsmith, "sdk", "run", "--", "clang++")
    run(*clang, "-x", "hip", "-std=c++17", "-w", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", f"--offload-arch={gpu}",
        "--offload-device-only", "-S", "-emit-llvm", "-Ihip", "hip/v.hip", "-o", "v.ll")
    with open("v.ll", encoding="utf-8") as f:
        text = for_this_processor(f.read())
    with open("x86.ll", "w", encoding="utf-8") as f:
        f.write(text)
    run(*clang, "-O1", "-mfma", "-mf16c", "-fPIC", "-c", "-Wno-override-module", "-Xclang", "-disable-llvm-passes", "x86.ll", "-o", "v.o")
    run("gcc", "-O0", "-fPIC", "-shared", "v.o", "gpu.c", "-o", "v.so", "-lm")
    library, c = ctypes.CDLL("./v.so"), ctypes.CDLL(None)
    wrong = seen = 0
    for i, (to, name, types, allowed, want) in enumerate(functions):
        out = ctypes.create_string_buffer(n * SIZES[to])
        library[f"k{i}"](*arguments_of(values, types), out)
        c.fesetround(0)
        for at in range(n):
            got = int.from_bytes(out.raw[at * SIZES[to]:(at + 1) * SIZES[to]], "little")
            seen += 1
            # IEEE leaves open which zero is the larger one
            if differ(to, got, want[at], not re.search("max|min", name)) > allowed:
                wrong += 1
                if wrong <= 20:
                    print(f"{name}({', '.join('%x' % values[t, j][at] for j, t in enumerate(types))}): {got:x}, CUDA {want[at]:x} ({to})")
    if wrong or seen < 20000:
        print(f"not ok {wrong} of {seen} values are not CUDA's")
        sys.exit(1)
    print(f"ok {len(functions)} functions and instructions of PTX return what CUDA's return: {seen} values")


main()
