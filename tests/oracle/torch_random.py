"""Random small projects through PyTorch's own hipify and through ours.

python3 torch_random.py TORCH_RUN TORCH WORK SEED COUNT: extensions, and trees like PyTorch's own.
python3 torch_random.py ROCSMITH TORCH WORK SEED COUNT calls: several calls in one folder, as a setup.py
with several extensions makes them, by the command itself; then everything is taken back.

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

run_program, torch, work, seed, count = os.path.abspath(sys.argv[1]), *sys.argv[2:6]
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
TREE_DIRS = ["aten/src/ATen/cuda", "aten/src/ATen/native/sparse/cuda", "aten/src/ATen/core", "aten/src/ATen/hip", "torch/csrc",
    "torch/csrc/cuda", "torch/include", "c10/cuda", "c10/hip", "c10/cuda/test", "caffe2/operators", "caffe2/core", "caffe2/operators/hip",
    "third_party/nvfuser/csrc", "third_party/fbgemm/x", "binaries", "tools/autograd/templates", "barracuda", "barrahip", "build", ""]
TREE_NAMES = NAMES + ["x_gpu.h", "x_gpu.cc", "cudnn_gpu.cu", "CMakeLists.txt", "linalg.cu", "sparse_gpu.h", "HIPThing.h", "x.h.in", "w.py"]
TREE_INCLUDES = ["aten/src/ATen/cuda/*", "aten/src/ATen/*", "torch/*", "c10/cuda/*", "c10/cuda/test/CMakeLists.txt", "caffe2/*",
    "caffe2/**/*_test*", "third_party/*", "binaries/*", "tools/autograd/templates/*.cpp", "barra*", "*.cu", "*"]
TREE_IGNORES = ["*/hip/*", "torch/include/*", "aten/src/ATen/core/*", "caffe2/operators/c.cu", "*[a-b].h"]
SCRIPT = """import os
proj_dir = "x"
out_dir = proj_dir
includes = {includes!r}
includes = [os.path.join(proj_dir, include) for include in includes]
ignores = {ignores!r}
ignores = [os.path.join(proj_dir, ignore) for ignore in ignores]
hipify_python.hipify(
    project_directory=proj_dir,
    output_directory=out_dir,
    includes=includes,
    ignores=ignores,
    extra_files={extra_files!r},
    hip_clang_launch={hip_clang_launch!r},
)
"""
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


def make_links(rng, root, dirs):
    for _ in range(rng.randint(1, 3)):
        path = os.path.join(root, rng.choice(dirs), rng.choice(["link.h", "linkdir", "a.h", "c.cu", "include"]))
        target = rng.choice(["a.h", "../csrc/a.h", "../csrc", ".", "../include", os.path.join(root, "csrc/b.h"), "c.cu"])
        if os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path):
            os.symlink(target, path)


def put(rng, root, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(content(rng, root))


def make(rng, top):
    root, out = os.path.join(top, "proj"), os.path.join(top, "out")
    os.makedirs(root)
    os.makedirs(out)
    dirs = rng.sample(DIRS, rng.randint(2, 7))
    for _ in range(rng.randint(3, 14)):
        base = out if rng.random() < 0.12 else os.path.join(root, rng.choice(dirs))
        put(rng, root, os.path.join(base, rng.choice(NAMES)))
    if rng.random() < 0.2:
        make_links(rng, root, DIRS)
    return root


def make_tree(rng, top):
    root = os.path.join(top, "proj")
    os.makedirs(root)
    dirs = rng.sample(TREE_DIRS, rng.randint(3, 9)) + ["torch"]
    for _ in range(rng.randint(4, 20)):
        put(rng, root, os.path.join(root, rng.choice(dirs), rng.choice(TREE_NAMES)))
    if rng.random() < 0.3:
        make_links(rng, root, dirs)
    extra = [os.path.join(rng.choice(["torch", "binaries", "torch/../torch", "barracuda"]), "w.py") for _ in range(rng.randint(0, 2))]
    for name in extra:
        os.makedirs(os.path.join(root, "torch"), exist_ok=True)
        put(rng, root, os.path.join(root, name))
    arguments = {
        "includes": rng.sample(TREE_INCLUDES, rng.randint(1, 5)),
        "ignores": rng.sample(TREE_IGNORES, rng.randint(0, 3)) + (["*/hip/*"] if rng.random() < 0.5 else []),
        "extra_files": extra,
        "hip_clang_launch": rng.random() < 0.5,
    }
    script = os.path.join(root, "tools/amd_build/build_amd.py")
    os.makedirs(os.path.dirname(script))
    pathlib.Path(script).write_text(SCRIPT.format(**arguments))
    return root, arguments


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


class Extension:
    def __init__(self, rng, top):
        self.root = make(rng, top)
        self.dirs = [d for d in include_dirs(rng, self.root) if d]
        self.sources = sources(rng, self.root) if rng.random() < 0.8 else []

    def __str__(self):
        return f"{self.root}: include folders {self.dirs} sources {self.sources}"

    def job(self):
        return ["extension", torch, self.root, ";".join(self.dirs), ";".join(self.sources), ""]

    def arguments(self):
        """As CUDAExtension does it, or without sources as load()."""
        arguments = dict(header_include_dirs=self.dirs, show_detailed=True, is_pytorch_extension=True)
        if self.sources:
            arguments.update(includes=[os.path.join(self.root, "*")], hipify_extra_files_only=True,
                extra_files=[os.path.abspath(s) for s in self.sources])
        return arguments


class Tree:
    def __init__(self, rng, top):
        self.root, self.lists = make_tree(rng, top)

    def __str__(self):
        return f"{self.root}: {self.lists}"

    def job(self):
        return ["torch", torch, self.root, "", "", ""]

    def arguments(self):
        return {**self.lists, **{key: [os.path.join(self.root, p) for p in self.lists[key]] for key in ("includes", "ignores")}}


def original(project, keep=False):
    if not keep:
        hipify_python.HIPIFY_FINAL_RESULT.clear()
    os.chdir(project.root)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        hipify_python.hipify(project_directory=project.root, output_directory=project.root, **project.arguments())


def ours(program, project):
    """{path: hash} of what would be written, and the outputs of which it says that they repeat."""
    program.stdin.write(os.fsencode("\t".join(project.job())) + b"\n")
    program.stdin.flush()
    files, repeats, failed = {}, set(), []
    while True:
        answer = os.fsdecode(program.stdout.readline()).rstrip("\n")
        if answer == "end":
            return files, repeats, failed
        if not answer or answer.startswith("error"):
            sys.exit(f"not ok {project}: {answer or 'the program died'}")
        status, digest, path = answer.split(" ", 2)
        full = os.path.realpath(os.path.join(project.root, path))
        if status.startswith("failed"):
            failed.append(full)
        if digest != "-":
            files[full] = digest
        if status.endswith("+repeats"):
            repeats.add(full)


def compare(number, rng, program):
    top = os.path.join(os.path.realpath(work), str(number))
    shutil.rmtree(top, ignore_errors=True)
    project = (Tree if number % 3 == 2 else Extension)(rng, top)
    before = snapshot(top)
    files, repeats, failed = ours(program, project)
    if snapshot(top) != before:
        sys.exit(f"not ok {project}: ours wrote something")
    try:
        original(project)
    except Exception as e:  # it dies where ours reports one file
        if not failed:
            print(f"{project}: original: {e!r}")
            return "differs"
        shutil.rmtree(top)
        return "died"
    first = snapshot(top)
    want = changed(before, first)
    files = {p: h for p, h in files.items() if before.get(p) != h}
    if want != files or failed:
        print(f"{project} failed {failed}")
        for path in sorted(set(want) | set(files)):
            if want.get(path) != files.get(path):
                print(f"  {path}: original {want.get(path)} ours {files.get(path)}")
        return "differs"
    original(project)
    again = changed(first, snapshot(top))
    if bool(again) != bool(repeats):
        print(f"{project}: again {sorted(again)} repeats {sorted(repeats)}")
        return "repeat"
    shutil.rmtree(top)
    return "wrote" if want else "same"


def tree_of(root):
    """What is below root, but for our own folder: path -> content, a link's target, or None for a folder."""
    found = {}
    for d, dirs, names in os.walk(root):
        dirs[:] = [n for n in dirs if n != ".rocsmith"]
        for n in dirs + names:
            path = os.path.join(d, n)
            found[os.path.relpath(path, root)] = ("link", os.readlink(path)) if os.path.islink(path) else (
                pathlib.Path(path).read_bytes() if os.path.isfile(path) else None)
    return found


def command(project, *arguments):
    return subprocess.run([run_program, "hipify", *arguments, "-q"], cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def call(project):
    arguments = ["--mode", "extension", "--torch", torch, "--in-place"]
    for folder in project.dirs:
        arguments += ["-I", folder]
    return command(project, *arguments, project.root, *project.sources)


def compare_calls(number, rng):
    """The calls of one process share what the original remembers of headers that are done."""
    top = os.path.join(os.path.realpath(work), str(number))
    shutil.rmtree(top, ignore_errors=True)
    project = Extension(rng, top)
    inside = [s for s in sources(rng, project.root) if os.path.join(project.root, s).startswith(project.root + "/") and ".." not in s]
    parts = [inside[i::3] for i in range(3)]
    parts = [part for part in parts if part]
    before = tree_of(top)
    outs = []
    for project.sources in parts + parts[:1]:
        outs.append(call(project))
    got = tree_of(top)
    back = command(project, "restore", project.root) if parts else None
    if tree_of(top) != before:
        print(f"{project}: not taken back: {back}")
        return "differs"
    hipify_python.HIPIFY_FINAL_RESULT.clear()
    try:
        for project.sources in parts:
            original(project, keep=True)
    except Exception:
        shutil.rmtree(top)
        return "died"
    want = tree_of(top)
    folders = {p for p, content in want.items() if content is None and p not in before}  # made, maybe for nothing
    bad = [p for p in set(want) | set(got) if want.get(p, 0) != got.get(p, 0) and p not in folders]
    if bad:
        print(f"{project}: calls {parts} {bad} {[o.stdout for o in outs]}")
        return "differs"
    shutil.rmtree(top)
    return "wrote" if want != before else "same"


def main():
    if sys.argv[6:] == ["calls"]:
        tally = {}
        for number in range(int(count)):
            result = compare_calls(number, random.Random(f"{seed} {number}"))
            tally[result] = tally.get(result, 0) + 1
        print(" ".join(f"{k}={v}" for k, v in sorted(tally.items())))
        sys.exit(1 if tally.get("differs") or tally.get("wrote", 0) < int(count) // 3 else 0)
    program = subprocess.Popen([run_program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    tally = {}
    for number in range(int(count)):
        result = compare(number, random.Random(f"{seed} {number}"), program)
        tally[result] = tally.get(result, 0) + 1
    print(" ".join(f"{k}={v}" for k, v in sorted(tally.items())))
    if tally.get("differs") or tally.get("repeat") or tally.get("wrote", 0) < int(count) // 3:
        sys.exit(1)


main()
