#!/usr/bin/env python3
"""torch_text.py DRIVER TORCH CASES [SEED [launches]]: our passes and the original's, byte for byte.

TORCH is a folder that has torch/utils/hipify of some release. Its own preprocessor() runs here on
generated texts, with files kept in memory; DRIVER (tools/torch_text.c) answers the same texts. Texts are
mixes of everything that some pass looks at: keys and parts of keys, neighbours of all kinds, line
ends, includes, path mappings, launches, ends of files. CASES is their number, or a folder: then its sources are the texts. Differences are
shown as Python literals.
"""
import importlib
import io
import os
import random
import signal
import subprocess
import sys
import warnings

# Folders decide on the map and on the name of the output: files in torch/ stay in place.
MAPS = {"torch/x": 0, "torch/sparse": 1, "c10/cuda/x": 2, "aten/src/x": 0}
NAMES = ["a.cu", "a.cuh", "a.cpp", "a.h", "PowKernel.cu", "CMakeLists.txt", "a.py"]
WIDE = ["\u00e9", "\u03b1", "\u00b2", "\u0301", "\u4e2d", "\U0001d400", "\u20ac", "\ufeff", "\u200b", "\u0660",
    "\U0001f600", "\u2028", "\x85"]
ENDS = ["\n", "\n", "\n", "\r\n", "\r", ""]
FIXED = [" ", " ", "\n", ";", "(", ")", "_", ":", "::", "<", ">", '"', "'", "/", ".", ",", "x", "9", "\t", "#", "\\",
    "#include ", '#include "', "#include <", "#define THC_GENERIC_FILE ", '#define THC_GENERIC_FILE "', "# include ",
    "#include  ", "ATen/cuda/", "ATen/cuda", "ATen/native/cuda/", "ATen/native/sparse/cuda/x.cuh", "THC/", "THC",
    "THCP", "THC/THC.h", "THCUNN/x.cu", "caffe2/core/", ".cu", ".cuh", ".cu ", ".h", ".h\"", ".h>", ".hpp", "a/b.cu",
    "std::", "std::std::", "stdstd::max(", "(std::max)(", "max(", "mystd::min(", "std::max(", "std::log(", "std::exp(",
    "std::frexp(", "std::fmod (", "CUDA", "Cuda", "THCTHC", "CUDACUDA", "__syncthreads", "__syncthreads(",
    " __syncthreads();", "::__syncthreads(", "__syncthreads_and(", "__global__", "__shared__", "__shared",
    "hipLaunchKernelGGL", '#include "hip/hip_runtime.h"', "#include <hip/hip_runtime.h>",
    "#include <hip/hip_runtime_api.h>", '#include "hip/hip_runtime_h"', "#include <hip/hip_runtime\u00e9h>",
    '#include "hip/hip_runtime.h>', "#include <hip/hip_runtime\nh>", "hip/", "hip/hip/", "/hip/", "hip/hip/hip/hip/",
    "math/reduce.cuh", "/hip/math/reduce.cuh", "operators/gather_op.cuh", "caffe2/core/common_gpu.h",
    "caffe2/core/hip/common_gpu.h", "caffe2/core/context_gpu.h", "/hip/caffe2/core/context_gpu.h"]
LAUNCH = ["<<<", ">>>", "kernel<<<1, 2>>>(", "k<T, 3><<<grid, block, 0, s>>>(a);", "ns::k<a<b>><<<g,\n  b>>>(x)",
    "at::detail::  \\\n  k", "/*", "*/", "//", '"', "'\"'", "(", ")", ",", "dim3(1)"]


def load(folder):
    # Not as torch.utils.hipify: importing torch itself needs all of it.
    sys.path.insert(0, os.path.join(folder, "torch", "utils"))
    warnings.simplefilter("ignore")
    return importlib.import_module("hipify.hipify_python")


class Original:
    """preprocessor() of one module, its files in memory."""

    def __init__(self, module):
        self.h, self.bytes, self.out = module, b"", None
        module.open = self.open

    def open(self, path, mode="r", **_):
        if mode == "r":
            return io.TextIOWrapper(io.BytesIO(self.bytes), encoding="utf-8")
        self.out = io.StringIO()
        self.out.close = lambda: None
        return self.out

    def makedirs(self, *_, **__):
        pass

    def run(self, path, data, launches):
        self.bytes, self.out = data, None
        self.h.HIPIFY_FINAL_RESULT.clear()
        self.h.HIPIFY_FINAL_RESULT[path] = self.h.HipifyResult(self.h.CurrentState.INITIALIZED, None)
        stats = {"unsupported_calls": [], "kernel_launches": []}
        self.h.preprocessor("/nowhere", path, [path], [], stats, not launches, False, self, False)
        if self.out is None:  # nothing to write: the text is what was read
            return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()
        text = self.out.getvalue()
        crumb = self.h.HIPIFY_C_BREADCRUMB
        moved = not self.h.get_hip_file_path(os.path.relpath(path, "/nowhere")) == os.path.relpath(path, "/nowhere")
        if moved and path.endswith((".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp")):
            assert text.startswith(crumb)
            text = text[len(crumb):]
        return text


class Texts:
    def __init__(self, rng, keys, launches):
        self.rng, self.keys, self.fixed = rng, keys, FIXED + (LAUNCH * 3 if launches else [])

    def key(self):
        key = self.rng.choice(self.keys)
        how = self.rng.random()
        if how < 0.12:
            return key[:self.rng.randrange(len(key) + 1)]
        if how < 0.2:
            return key + self.rng.choice("aZ_0 :\n(")
        if how < 0.25:
            return key[self.rng.randrange(len(key)):]
        if how < 0.5:
            return self.rng.choice(" (\n,;<") + key + self.rng.choice(" (\n,;>.")
        return key

    def piece(self):
        how = self.rng.random()
        if how < 0.35:
            return self.key()
        if how < 0.42:
            return self.rng.choice(WIDE)
        if how < 0.5:
            return self.rng.choice(ENDS)
        if how < 0.55:
            word = self.rng.choice(self.fixed)
            return self.rng.choice(['#include "{}"', "#include <{}>", '#define THC_GENERIC_FILE "{}"', '#include "{}',
                "#include <{}"]).format(word + self.key())
        return self.rng.choice(self.fixed)

    def text(self):
        size = self.rng.choice([1, 2, 3, 5, 8, 20, 60])
        data = "".join(self.piece() for _ in range(size)).encode()
        if self.rng.random() < 0.03:
            at = self.rng.randrange(len(data) + 1)
            data = data[:at] + self.rng.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
                b"\x80", b"\xf0\x8f\xbf\xbf", b"\xc3"]) + data[at:]
        return data


def cases(rng, count, keys, launches):
    texts = Texts(rng, keys, launches)
    for _ in range(count):
        folder = rng.choice(list(MAPS))
        yield "/nowhere/" + folder + rng.choice(["/", "/"]) + rng.choice(NAMES), MAPS[folder], texts.text()


def real_cases(rng, folder):
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if name.endswith((".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp", "CMakeLists.txt")) and os.path.isfile(path):
                place = rng.choice(list(MAPS))
                with open(path, "rb") as file:
                    yield f"/nowhere/{place}/{name}", MAPS[place], file.read()


class Endless(Exception):
    pass


def on_timer(_signal, _frame):
    raise Endless()


def expected(original, path, data, launches, seconds=0.03):
    """What is right for a text: ("ok", bytes), or ("error", a part of our message or None)."""
    try:
        data.decode()
    except UnicodeDecodeError as e:
        return "error", f"byte 0x{data[e.start]:02x} at offset {e.start} "
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds if launches else 0)
        try:
            return "ok", original.run(path, data, launches).encode()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except (TypeError, KeyError, MemoryError):
        return "error", None
    except Endless:  # a launch without an end; looking longer costs much memory
        return "error", None


def answers(driver, folder, todo, launches):
    blob = b"".join(b"%d %d %d %d\n%s%s" % (kind, launches, len(path.encode()), len(data), path.encode(), data)
        for path, kind, data in todo)
    out = subprocess.run([driver, folder], input=blob, stdout=subprocess.PIPE, check=True).stdout
    at = 0
    for _ in todo:
        end = out.index(b"\n", at)
        head, at = out[at:end].split(b" ", 1), end + 1
        if head[0] == b"error":
            yield "error", head[1].decode()
            continue
        yield "ok", out[at:at + int(head[1])]
        at += int(head[1])


def same(want, got):
    if want[0] == "error":
        return got[0] == "error" and (want[1] is None or want[1] in got[1])
    return want == got


def main():
    driver, folder, what = sys.argv[1:4]
    launches = len(sys.argv) > 5 and sys.argv[5] == "launches"
    h = load(folder)
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    caffe2, paths = getattr(h, "CAFFE2_MAP", {}), getattr(h, "CAFFE2_PATH_MAPPINGS", {})
    keys = sorted({*h.PYTORCH_MAP, *caffe2, *paths})
    texts = cases(rng, int(what), keys, launches) if what.isdigit() else real_cases(rng, what)
    todo = [case for case in texts if not case[2].startswith(b"// !!!")]
    if not caffe2:
        todo = [(path, 0, data) for path, _, data in todo]
    original = Original(h)
    signal.signal(signal.SIGVTALRM, on_timer)
    bad = failed = changed = 0
    for (path, kind, data), got in zip(todo, answers(driver, folder, todo, launches)):
        want = expected(original, path, data, launches)
        if launches and want[0] == "error" and got[0] == "ok":
            want = expected(original, path, data, launches, 20)
        failed += want[0] == "error"
        changed += want[0] == "ok" and want[1] != data
        if same(want, got):
            continue
        bad += 1
        if bad <= 5:
            print(f"{path} map {kind}\n  in   {data!r}\n  want {want!r}\n  got  {got!r}")
    print(f"{len(todo)} texts, {changed} changed, {failed} refused, {bad} differ")
    return 1 if bad or not changed else 0


if __name__ == "__main__":
    sys.exit(main())
