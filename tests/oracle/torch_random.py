"""Random small extensions through PyTorch's own hipify and through ours.

python3 torch_random.py TORCH_RUN TORCH WORK SEED COUNT

TORCH is a folder that has torch/utils/hipify, TORCH_RUN the program tests/tools/torch_run.c. Each
project is made in WORK, first given to ours, which writes nothing, then to the original, in the same
folder, so that both see the same order of entries. Every file that the original made or changed
must be what ours announced, and nothing else. Then the original runs once more: what changes now
must be in what ours called repeating. Exit status 1 on the first difference, whose project stays.
"""
import contextlib
import hashlib
import io
import os
import pathlib
import random
import shutil
import subprocess
import sys

run_program, torch, work, seed, count = sys.argv[1:]
sys.path.insert(0, os.path.join(torch, "torch", "utils"))
sys.dont_write_bytecode = True
from hipify import hipify_python  # noqa: E402

DIRS = ["", "csrc", "csrc/cuda", "csrc/sub", "include", "include/sub", "barracuda", "csrc/hip", "build", "x/build",
    "third_party", "third_party/nvfuser", ".git", "THC", "sp ace", "\u00fcn\u00ef"]
NAMES = ["a.h", "b.h", "data.h", "a.cuh", "c.cu", "c.cpp", "d.cu", "c.hip", "cuda_util.h", "a_hip.h", "y.inl", "THCx.h",
    "common.hpp", "k.cc", "CUDAThing.h", "m.c", "x.in", "notes.txt", ".cu", "e.cu.h", "powPowKernel.cu"]
HEADERS = [n for n in NAMES if n.endswith((".h", ".cuh", ".hpp", ".inl", ".cu"))]
SOURCES = [n for n in NAMES if n.endswith((".cu", ".cpp", ".cc", ".c"))]
KNOWN = ["ATen/cuda/CUDAContext.h", "ATen/cudaX.h", "THC/THC.h", "THCP.h", "THCUNN.h", "torch/extension.h", "cuda.h",
    "c10/cuda/CUDAStream.h", "ATen/native/sparse/cuda/x.h"]
LINES = ["int x;", "  cudaMalloc(&p, 4);", "cudaStream_t s;", "__global__ void k() {}", "k<<<1, 2>>>(x);", "float f = std::max(a, b);",
    "// a comment", "at::cuda::getCurrentCUDAStream();", "", "using namespace c10::cuda;", "#include <cuda_runtime.h>"]
MARK = hipify_python.HIPIFY_C_BREADCRUMB


def include_path(rng):
    kind = rng.randrange(10)
    if kind < 4:
        return rng.choice(HEADERS)
    if kind < 6:
        return rng.choice(["./", "../", "sub/", "csrc/", "../csrc/", "cuda/", ".//", "sub/../", "../../", "x/"]) + rng.choice(HEADERS)
    if kind == 6:
        return rng.choice(KNOWN)
    if kind == 7:
        return os.path.join(rng.choice(DIRS[:8]), rng.choice(HEADERS))
    if kind == 8:
        return rng.choice(["h", "u.h", "none.h", ".", "..", "csrc/", "sub", "a.h\n", "a.h/", "/" + rng.choice(HEADERS), "{0}.h"])
    return os.path.join("@ROOT@", rng.choice(DIRS[:8]), rng.choice(HEADERS))


def include_line(rng):
    path = include_path(rng)
    return rng.choice(['#include "%s"'] * 6 + ["#include <%s>"] * 3 + ['#define THC_GENERIC_FILE "%s"', '# include "%s"', '#include  <%s>']) % path


def content(rng, root):
    lines = []
    if rng.random() < 0.04:
        lines.append(MARK.rstrip("\n"))
    for _ in range(rng.randint(0, 5)):
        lines.append(include_line(rng))
    for _ in range(rng.randint(0, 4)):
        lines.append(rng.choice(LINES))
    if rng.random() < 0.5:
        rng.shuffle(lines)
    plain = rng.random() < 0.45
    if plain:  # nothing but includes: such files often stay as they are
        lines = [line for line in lines if line.startswith("#include") or line in ("", "int x;", "// a comment")]
    end = "\r\n" if rng.random() < 0.08 else "\n"
    text = end.join(lines) + (end if rng.random() < 0.9 else "")
    if rng.random() < 0.05:
        text = "\ufeff" + text
    return text.replace("@ROOT@", root)


def make_links(rng, root):
    for _ in range(rng.randint(1, 3)):
        path = os.path.join(root, rng.choice(DIRS), rng.choice(["link.h", "linkdir", "a.h", "c.cu", "include"]))
        target = rng.choice(["a.h", "../csrc/a.h", "../csrc", ".", "../include", os.path.join(root, "csrc/b.h"), "c.cu"])
        if os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
            os.symlink(target, path)


def make(rng, top):
    root, out = os.path.join(top, "proj"), os.path.join(top, "out")
    os.makedirs(root)
    os.makedirs(out)
    dirs = rng.sample(DIRS, rng.randint(2, 7))
    for _ in range(rng.randint(3, 14)):
        base = out if rng.random() < 0.12 else os.path.join(root, rng.choice(dirs))
        os.makedirs(base, exist_ok=True)
        with open(os.path.join(base, rng.choice(NAMES)), "w", encoding="utf-8", newline="") as f:
            f.write(content(rng, root))
    if rng.random() < 0.2:
        make_links(rng, root)
    return root


def include_dirs(rng, root):
    choices = ["csrc", "include", "./csrc", "csrc/../include", "../out", "../proj/csrc", root + "/csrc", root + "/./include",
        root + "/../out", "none", "", ".", "csrc/", "//" + root.lstrip("/") + "/csrc", "csrc/cuda", "sp ace"]
    return rng.sample(choices, rng.choice([0, 1, 1, 2, 3, 4]))


def sources(rng, root):
    found = [os.path.join(d, n) for d, _, names in os.walk(os.path.dirname(root)) for n in names if n in SOURCES]
    found = [f for f in found if os.path.exists(f)]
    found.sort()
    chosen = rng.sample(found, rng.randint(0, len(found)))
    if chosen and rng.random() < 0.1:
        chosen.append(chosen[0])
    return [f if rng.random() < 0.5 else os.path.relpath(f, root) for f in chosen]


def snapshot(top):
    files = {}
    for d, _, names in os.walk(top):
        for n in names:
            path = os.path.join(d, n)
            if os.path.isfile(path):
                files[os.path.realpath(path)] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    return files


def changed(before, after):
    return {path: h for path, h in after.items() if before.get(path) != h}


def original(root, dirs, srcs):
    """As CUDAExtension does it, or without sources as load()."""
    hipify_python.HIPIFY_FINAL_RESULT.clear()
    os.chdir(root)
    arguments = dict(project_directory=root, output_directory=root, header_include_dirs=dirs, show_detailed=True,
        is_pytorch_extension=True)
    if srcs:
        arguments.update(includes=[os.path.join(root, "*")], extra_files=[os.path.abspath(s) for s in srcs], hipify_extra_files_only=True)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        hipify_python.hipify(**arguments)


def ours(program, root, dirs, srcs):
    """{path: hash} of what would be written, and the outputs of which it says that they repeat."""
    line = "\t".join(["extension", torch, root, ";".join(dirs), ";".join(srcs), ""])
    program.stdin.write(os.fsencode(line) + b"\n")
    program.stdin.flush()
    files, repeats, failed = {}, set(), []
    while True:
        answer = os.fsdecode(program.stdout.readline()).rstrip("\n")
        if answer == "end":
            return files, repeats, failed
        if not answer or answer.startswith("error"):
            sys.exit(f"not ok {root}: {answer or 'the program died'}")
        status, digest, path = answer.split(" ", 2)
        full = os.path.normpath(os.path.join(root, path))
        if status.startswith("failed"):
            failed.append(full)
        if digest != "-":
            files[os.path.realpath(full)] = digest
        if status.endswith("+repeats"):
            repeats.add(os.path.realpath(full))


def compare(number, rng, program):
    top = os.path.join(os.path.realpath(work), str(number))
    shutil.rmtree(top, ignore_errors=True)
    root = make(rng, top)
    dirs = include_dirs(rng, root)
    if "" in dirs and len(dirs) == 1:
        dirs = []  # the list's text form has no lone empty entry
    dirs = [d for d in dirs if d]
    srcs = sources(rng, root) if rng.random() < 0.8 else []
    before = snapshot(top)
    files, repeats, failed = ours(program, root, dirs, srcs)
    if snapshot(top) != before:
        sys.exit(f"not ok {root}: ours wrote something")
    try:
        original(root, dirs, srcs)
    except Exception as e:  # it dies where ours reports one file
        if not failed:
            print(f"{root}: original: {e!r}; dirs {dirs} sources {srcs}")
            return "differs"
        shutil.rmtree(top)
        return "died"
    first = snapshot(top)
    want = changed(before, first)
    files = {p: h for p, h in files.items() if before.get(p) != h}
    if want != files or failed:
        print(f"{root}: dirs {dirs} sources {srcs} failed {failed}")
        for path in sorted(set(want) | set(files)):
            if want.get(path) != files.get(path):
                print(f"  {path}: original {want.get(path)} ours {files.get(path)}")
        return "differs"
    original(root, dirs, srcs)
    again = changed(first, snapshot(top))
    result = "same"
    if bool(again) != bool(repeats):
        print(f"{root}: again {sorted(again)} repeats {sorted(repeats)} dirs {dirs} sources {srcs}")
        result = "repeat"
    else:
        shutil.rmtree(top)
    return result if result != "same" else "wrote" if want else "same"


def main():
    program = subprocess.Popen([run_program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    tally = {}
    for number in range(int(count)):
        result = compare(number, random.Random(f"{seed} {number}"), program)
        tally[result] = tally.get(result, 0) + 1
    print(" ".join(f"{k}={v}" for k, v in sorted(tally.items())))
    if tally.get("differs") or tally.get("repeat") or tally.get("wrote", 0) < int(count) // 3:
        sys.exit(1)


main()
