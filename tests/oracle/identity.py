#!/usr/bin/env python3
"""Byte identity with PyTorch's hipify: the original Python runs beside ours, on copies of one tree, and
the two trees are compared whole.

    identity.py torch TREE TMP VERSION...             a PyTorch tree, through the hipify of these releases
    identity.py extensions TMP VERSIONS NAME@SDIST... projects, through the arguments of their setup.py
    identity.py headers TMP TREE VERSION[:all]...     the headers of installed torches

$ROCSMITH is the program. Prints `ok`, `not ok` and `skip` lines. The releases come from
tools/torch-get.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import tree

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
ROCSMITH = os.environ["ROCSMITH"]
ENV = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
ENV.pop("HIP_PATH", None)
FAILED = []


def say(good, text, details=()):
    print(("ok " if good else "not ok ") + text, flush=True)
    for line in list(details)[:25]:
        print(f"#   {line}", flush=True)
    if not good:
        FAILED.append(text)
    return good


def fetch(tool, *words):
    done = subprocess.run([TOP / "tools" / tool, *words], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        print(f"skip {tool} {' '.join(words)}: cannot be had here", flush=True)
        return None
    return done.stdout.decode().strip()


def program(argv, cwd=None, env=None, good=(0,)):
    """Output, seconds; or None when it ended in another way than `good`, which is reported."""
    start = time.monotonic()
    done = subprocess.run(argv, cwd=cwd, env=env or ENV, capture_output=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode not in good:
        error = done.stderr.decode(errors="replace").splitlines()[-12:]
        say(False, f"{os.path.basename(argv[0])} {' '.join(map(str, argv[1:5]))} ... ended with "
            f"{done.returncode}", error)
        return None, seconds
    return done.stdout.decode(errors="surrogateescape"), seconds


def ours(words, cwd=None, env=None):
    """The answer of `rocsmith hipify --json`, and seconds."""
    out, seconds = program([ROCSMITH, "hipify", "--json", *words], cwd, env)
    return (json.loads(out) if out is not None else None), seconds


def same_tree(what, reference, copy, note="", skip=()):
    lines, files, size = tree.differences(reference, copy, modes=True)
    lines = [line for line in lines if not any(s in line for s in skip)]
    count = f"{files} files, {size} bytes" if not lines else f"{len(lines)} differences"
    return say(not lines, f"{what}: {count}{note}", lines)


STATUS = {"[ok]": {"ok", "skipped"}, "[skipped, no changes]": {"unchanged"},
    "[skipped, already hipified]": {"unchanged", "skipped", "ok"}}


def same_mapping(what, original, root, answer, changed=()):
    """original: {absolute input: (output, status)} as the Python reports it; changed: the files that
    differ after it, of which build_amd.py edits some without a word."""
    listed = {}
    for file in answer["files"]:
        listed[os.path.normpath(os.path.join(root, file["source"]))] = (
            os.path.normpath(os.path.join(root, file["output"])), file["status"])
    wrong = []
    for source, (output, status) in original.items():
        if output is None:
            continue  # ignored: not to be hipified, or itself an output
        if source not in listed:
            wrong.append(f"not listed: {source} -> {output} {status}")
        elif listed[source][0] != output:
            wrong.append(f"{source} -> {listed[source][0]}, the original: {output}")
        elif listed[source][1] not in STATUS.get(status, {None}):
            wrong.append(f"{source}: {listed[source][1]}, the original: {status}")
    silent = set(changed) - {output for output, _ in original.values()}
    extra = [f"listed, but not by the original: {s}" for s in listed.keys() - original.keys()
        if listed[s][0] not in silent]
    wrong += sorted(extra)
    return say(not wrong, f"{what}: {len(original)} results alike" if not wrong else
        f"{what}: {len(wrong)} results differ", wrong)


# ---- a PyTorch tree ----
class Torch:
    """One PyTorch tree: `a` is for the original, `b` for us, `out` for our overlay."""

    def __init__(self, pristine, tmp):
        self.pristine = os.path.realpath(pristine)
        self.tmp = pathlib.Path(tmp).resolve()
        self.a, self.b, self.out = (str(self.tmp / name / "tree") for name in ("a", "b", "out"))
        for folder in (self.a, self.b, self.out):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
        self.clang = str(self.tmp / "hip")
        os.makedirs(self.clang + "/lib", exist_ok=True)
        pathlib.Path(self.clang, "lib/.hipInfo").write_text("HIP_COMPILER=clang\n")

    def env(self, clang):
        return {**ENV, "HIP_PATH": self.clang} if clang else ENV

    def put_module(self, folder, module):
        target = os.path.join(folder, "torch/utils/hipify")
        shutil.rmtree(target)
        shutil.copytree(os.path.join(module, "torch/utils/hipify"), target)

    def original(self, clang=False):
        """{input: (output, status)} of build_amd.py in copy a."""
        out, seconds = program([sys.executable, "tools/amd_build/build_amd.py"], self.a, self.env(clang))
        if out is None:
            return None, seconds
        rows = re.findall(r"^(\S.*) -> (\S.*) (\[.*\])$", out, re.M)
        return {a: (b, status) for a, b, status in rows}, seconds

    def start(self, module=None, clang=False):
        """Both copies fresh, the original run in a, its module in place of the tree's own."""
        tree.reset(self.pristine, self.a)
        tree.reset(self.pristine, self.b)
        if module:
            self.put_module(self.a, module)
        return self.original(clang)

    def in_place(self, what, torch, original, clang=False, skip=()):
        answer, seconds = ours(["--mode", "torch", "--torch", torch, "--in-place", self.b],
            env=self.env(clang))
        if answer is None:
            return None
        same_tree(what, self.a, self.b, f" ({seconds:.2f} s)", skip)
        same_mapping(what, {source.replace(self.a, self.b): (output.replace(self.a, self.b), status)
            for source, (output, status) in original.items()}, "/", answer,
            [os.path.join(self.b, line.split(": ", 1)[1]) for line in tree.changed(self.pristine, self.a)])
        return answer

    def overlay(self, what, torch, clang=False):
        shutil.rmtree(self.out, ignore_errors=True)
        tree.reset(self.pristine, self.b)
        before = tree.digest(self.b)
        answer, seconds = ours(["--mode", "torch", "--torch", torch, "-o", self.out, self.b],
            env=self.env(clang))
        if answer is None:
            return
        same_tree(f"{what} as overlay", self.a, self.out, f" ({seconds:.2f} s)")
        say(before == tree.digest(self.b), f"{what} as overlay: the tree itself is untouched")

    def again(self, what, torch, clang=False):
        """A second run of ours changes nothing, and names what a second run of the original would
        have changed. Copy b was translated in place; copy a is put back to where the first run left it."""
        before = tree.differences(self.a, self.b)[0]
        answer, seconds = ours(["--mode", "torch", "--torch", torch, "--in-place", self.b],
            env=self.env(clang))
        if answer is None:
            return
        say(tree.differences(self.a, self.b)[0] == before and
            not any(f["status"] == "ok" for f in answer["files"]),
            f"{what}: a second run changes nothing ({seconds:.2f} s)")
        kept = str(self.tmp / "once" / "tree")
        tree.reset(self.a, kept)
        self.original(clang)
        grown = {line.split(": ", 1)[1] for line in tree.changed(kept, self.a)}
        named = {os.path.relpath(path, self.b) for path in answer["repeats"]}
        say(named == grown, f"{what}: {len(grown)} files that a second run of the original changes are"
            f" named: {' '.join(sorted(grown)[:3])}",
            [f"named {sorted(named)}, changed {sorted(grown)}"] if named != grown else [])
        tree.reset(kept, self.a)

    def restore(self, what):
        out, _ = program([ROCSMITH, "hipify", "restore", self.b])
        if out is not None:
            fresh = str(self.tmp / "fresh" / "tree")
            tree.reset(self.pristine, fresh)
            say(tree.digest(fresh) == tree.digest(self.b),
                f"{what}: hipify restore gives contents, modes and times of the tree back",
                tree.changed(fresh, self.b))


def torch_own(t, modes):
    """The tree's own hipify, every form."""
    for clang in modes:
        what = f"PyTorch's own build_amd.py, {'hip-clang' if clang else 'default'}"
        original, seconds = t.start(clang=clang)
        if original is None:
            return
        print(f"# {what}: the original took {seconds:.2f} s for {len(original)} files", flush=True)
        if t.in_place(what, t.b, original, clang) is None:
            continue
        if not clang:
            t.restore(what)
            t.in_place(what + ", after the restore", t.b, original)
            t.again(what, t.b)
        t.overlay(what, t.b, clang)


def torch_release(t, version, forms):
    """The tree through the hipify of another release, which is a folder, a wheel, or in the tree."""
    module = fetch("torch-get", version)
    if not module:
        return
    original, seconds = t.start(module)
    if original is None:
        return
    what = f"the tree through hipify of torch {version}"
    own = (" torch/utils/hipify/",)
    print(f"# {what}: the original took {seconds:.2f} s for {len(original)} files", flush=True)
    t.in_place(what, module, original, skip=own)
    if "checkout" in forms:
        tree.reset(t.pristine, t.b)
        t.put_module(t.b, module)
        t.in_place(what + ", in the checkout", t.b, original)
        t.again(what, t.b)
    if "wheel" in forms:
        folder = t.tmp / "wheel"
        folder.mkdir(exist_ok=True)
        wheel = fetch("torch-get", version, "wheel", str(folder))
        if wheel:
            original, _ = t.start(module)
            t.in_place(what + ", out of its wheel", wheel, original, skip=own)
            os.unlink(wheel)
    if "clang" in forms:
        original, _ = t.start(module, clang=True)
        t.in_place(what + ", hip-clang", module, original, clang=True, skip=own)


def torch_main(source, tmp, *versions):
    """A version may be followed by forms: 2.15.0:checkout,wheel,clang. `own` is the tree's own, `own:clang` in both modes."""
    t = Torch(source, tmp)
    for word in versions:
        version, _, forms = word.partition(":")
        if version == "own":
            torch_own(t, (False, True) if forms else (False,))
        else:
            torch_release(t, version, forms.split(","))


# ---- extensions ----
SETTINGS = {"deepspeed": ["DS_BUILD_OPS=1", "DS_ACCELERATOR=cuda"], "flash-attn": ["GPU_ARCHS=gfx90a"]}


def record(module, kind, folder, out, name):
    """What the setup.py in folder calls hipify with; None when it refuses."""
    done = subprocess.run([sys.executable, HERE / "setup_calls.py", module, kind, out,
        *SETTINGS.get(name, [])], cwd=folder, env=ENV, capture_output=True, check=False)
    if done.returncode or not json.loads(pathlib.Path(out).read_text())["calls"]:
        return None, done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return json.loads(pathlib.Path(out).read_text()), ""


class Extension:
    """One project: `a` for the original, `b` for us, `out` for our overlay, `work` as the setup.py
    leaves it, which may copy or generate sources."""

    def __init__(self, name, sdist, tmp):
        self.name, self.sdist = name, sdist
        self.tmp = pathlib.Path(tmp).resolve() / name
        self.work, self.a, self.b, self.out = (str(self.tmp / n / "project") for n in ("w", "a", "b", "o"))
        self.json = str(self.tmp / "calls.json")

    def prepare(self, module, kind):
        shutil.rmtree(self.tmp, ignore_errors=True)
        shutil.copytree(self.sdist, self.work, symlinks=True)
        self.recorded, why = record(module, kind, self.work, self.json, self.name)
        return why if self.recorded is None else None

    def original(self, module, calls=None):
        out, seconds = program([sys.executable, HERE / "hipify_calls.py", module, calls or self.json, self.a,
            str(self.tmp / "result.json")])
        if out is None:
            return None, seconds
        return json.loads((self.tmp / "result.json").read_text()), seconds

    def words(self, call, out):
        """The command line for one call."""
        def moved(path):
            return self.b + path[len(self.work):] if (path + "/").startswith(self.work + "/") else path
        words = ["--mode", "extension"]
        words += ["-o", self.out] if out else ["--in-place"]
        for folder in call["header_include_dirs"]:
            words += ["-I", moved(folder)]
        for pattern in call.get("ignores", []):
            words += ["--ignore", pattern]
        sources = call["extra_files"] if call.get("hipify_extra_files_only") else []
        return words + [self.b] + [moved(path) for path in sources]

    def translate(self, module, out=False):
        """All calls in turn; the files of all answers together, None when one fails."""
        files, total = {}, 0
        for call in self.recorded["calls"]:
            words = self.words(call, out)
            answer, seconds = ours(["--torch", module, *words], cwd=self.b)
            if answer is None:
                return None, total
            total += seconds
            files.update((f["source"], f) for f in answer["files"])
        return {"files": list(files.values())}, total

    def lacks_sources(self, what, module):
        """Some source distributions leave their CUDA sources out: the original ends in a traceback."""
        gone = [path for call in self.recorded["calls"] for path in call["extra_files"]
            if not os.path.exists(path)]
        if not gone:
            return False
        done = subprocess.run([ROCSMITH, "hipify", "--torch", module,
            *self.words(self.recorded["calls"][0], False)], cwd=self.b, env=ENV, capture_output=True,
            check=False)
        error = done.stderr.decode(errors="replace")
        say(done.returncode in (2, 5) and os.path.basename(gone[0]) in error and
            not tree.changed(self.work, self.b),
            f"{what}: {len(gone)} sources are missing, which is told and changes nothing",
            [f"status {done.returncode}", *error.splitlines()])
        return True

    def compare(self, module, what):
        tree.reset(self.work, self.a)
        tree.reset(self.work, self.b)
        if self.lacks_sources(what, module):
            return False
        original, seconds = self.original(module)
        if original is None:
            return False
        before = tree.digest(self.b)
        answer, own = self.translate(module)
        if answer is None:
            return False
        done = sum(status == "[ok]" for _, status in original.values())
        same_tree(what, self.a, self.b, f", {done} translated ({seconds:.2f} s, {own:.2f} s)")
        same_mapping(what, {p.replace(self.a, self.b): (o and o.replace(self.a, self.b), s)
            for p, (o, s) in original.items()}, "/", answer)
        answer, _ = self.translate(module)
        if answer:
            lines = tree.changed(self.a, self.b)
            say(not lines and not any(f["status"] == "ok" for f in answer["files"]),
                f"{what}: a second run changes nothing", lines)
        if program([ROCSMITH, "hipify", "restore", self.b])[0] is not None:
            say(tree.digest(self.b) == before, f"{what}: hipify restore gives the project back",
                tree.changed(self.work, self.b))
        shutil.rmtree(self.out, ignore_errors=True)
        if self.translate(module, out=True)[0]:
            same_tree(what + " as overlay", self.a, self.out)
            say(tree.digest(self.b) == before, f"{what} as overlay: the project is untouched")
        return True


def whole_folder(x, module, what):
    """The same project as hipify_torch's command line and vLLM's step would take it: every file."""
    call = {"project_directory": x.work, "output_directory": x.work, "header_include_dirs":
        x.recorded["calls"][0]["header_include_dirs"], "includes": [x.work + "/*"], "extra_files": [],
        "is_pytorch_extension": True}
    x.recorded = {"cwd": x.work, "calls": [call]}
    pathlib.Path(x.json).write_text(json.dumps(x.recorded))
    x.compare(module, what)


def extension(x, version, module, kinds):
    for kind in kinds:
        why = x.prepare(module, kind)
        what = f"{x.name} with torch {version}"
        if why is None:
            sources = sum(len(call["extra_files"]) for call in x.recorded["calls"])
            note = " (as CUDA has it: its setup.py refuses ROCm)" if kind != kinds[0] else f" ({kind})"
            print(f"# {what}: {len(x.recorded['calls'])} calls, {sources} sources{note}", flush=True)
            x.compare(module, what + note)
            return True
        print(f"# {what}: the setup.py refuses {kind}: {why}", flush=True)
    return say(False, f"{what}: no setup.py arguments")


def extensions_main(tmp, versions, *projects):
    """projects: NAME=REQUIREMENT[:KIND[+all]]; KIND rocm (then cuda when it refuses) or cuda."""
    for word in projects:
        name, _, rest = word.partition("@")
        requirement, _, kind = rest.partition(":")
        sdist = fetch("sdist-get", requirement)
        for version in versions.split(",") if sdist else []:
            module = fetch("torch-get", version)
            if not module:
                continue
            x = Extension(name, sdist, tmp)
            plain = kind.removesuffix("+all")
            if extension(x, version, module, [plain] if plain == "cuda" else ["rocm", "cuda"]) and \
                    kind.endswith("+all"):
                whole_folder(x, module, f"{name} with torch {version}, every file")
            shutil.rmtree(x.tmp, ignore_errors=True)


# ---- an installed torch's headers ----
def header_calls(x):
    """One call that takes all headers as sources, and the folder as the header folder, so that each is
    reached in both ways."""
    found = [p for p in sorted(tree.walk(x.work)) if p.endswith((".h", ".cuh", ".hpp"))]
    call = {"project_directory": x.work, "output_directory": x.work, "header_include_dirs": [x.work],
        "includes": [x.work + "/*"], "extra_files": [os.path.join(x.work, p) for p in found],
        "is_pytorch_extension": True, "hipify_extra_files_only": True}
    x.recorded = {"cwd": x.work, "calls": [call]}
    pathlib.Path(x.json).write_text(json.dumps(x.recorded))


def only_cuda(folder, names):
    """For copytree: leaves out files without `cuda` in their path. The original's time grows with the
    square of the number of headers: half a minute for all, a second for these."""
    return [name for name in names if "cuda" not in os.path.join(folder, name).lower()
        and not os.path.isdir(os.path.join(folder, name))]


def as_checkout(include, source, module, folder):
    """The installed headers where a checkout has them, with a build_amd.py to go over them."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "torch/utils"))
    for name, place in {"ATen": "aten/src/ATen", "c10": "c10", "caffe2": "caffe2",
            "torch/csrc": "torch/csrc"}.items():
        if os.path.isdir(os.path.join(include, name)):
            shutil.copytree(os.path.join(include, name), os.path.join(folder, place))
    shutil.copytree(os.path.join(module, "torch/utils/hipify"), os.path.join(folder, "torch/utils/hipify"))
    os.makedirs(os.path.join(folder, "torch/_inductor/codegen"))
    for path in ("cpp_wrapper_cpu.py", "cpp_wrapper_gpu.py", "wrapper.py"):
        path = os.path.join("torch/_inductor/codegen", path)
        shutil.copy2(os.path.join(source, path), os.path.join(folder, path))
    shutil.copytree(os.path.join(source, "tools/amd_build"), os.path.join(folder, "tools/amd_build"))


def headers_main(tmp, source, *versions):
    """torch/include, as an extension's sources (those about CUDA, or all: 2.6.0:all), and
    laid out as the checkout whose build_amd.py `source` has."""
    for word in versions:
        version, _, how = word.partition(":")
        folder = fetch("torch-get", version, "headers")
        if not folder:
            continue
        x = Extension(f"headers-{version}", folder, tmp)
        shutil.rmtree(x.tmp, ignore_errors=True)
        include = os.path.join(folder, "torch/include")
        shutil.copytree(include, x.work, ignore=None if how == "all" else only_cuda)
        header_calls(x)
        count = len(x.recorded["calls"][0]["extra_files"])
        x.compare(folder, f"{count} headers of torch {version} as an extension's sources")
        as_checkout(include, source, folder, x.work)
        t = Torch(x.work, x.tmp / "checkout")
        original, seconds = t.start()
        what = f"the headers of torch {version} as a checkout ({seconds:.2f} s)"
        if original is not None:
            t.in_place(what, t.b, original)
            t.again(what, t.b)
        shutil.rmtree(x.tmp, ignore_errors=True)


def main():
    {"torch": torch_main, "extensions": extensions_main, "headers": headers_main}[sys.argv[1]](*sys.argv[2:])
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
