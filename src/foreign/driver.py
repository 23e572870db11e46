"""Runs in the Python environment of a foreign build: driver.py WHAT RESULT [NAME=VALUE...].

requires   what the back end wants beyond what the project says       backend= path= setting= gpu=
wheel      calls the back end's build_wheel()                         backend= path= setting= gpu= out=
editable   calls its build_editable(); the wheel leads to the copy    backend= path= setting= gpu= out=
torch      which torch is installed
load       whether the loader finds what the modules of a wheel need, or these    wheel= folder= library=
rocm       makes the installed torch look like one for ROCm           hip= cc= clang=
RESULT gets the answer, one JSON object. The current folder is our copy of the project.
"""
import ast
import contextlib
import ctypes
import importlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
import types
import zipfile

what, result, *words = sys.argv[1:]
given = {}
for word in words:
    key, _, value = word.partition("=")
    given.setdefault(key, []).append(value)


def one(key):
    return given.get(key, [""])[0]


TREE = os.path.join(os.getcwd(), "")
noted = {}  # what the user should know of a build: (id of a finding, file) -> the finding
LIBRARY = r"\.so(\.[\d.]+)?$"
STANDARDS = ("98", "03", "0x", "11", "1y", "14", "1z", "17", "2a", "20", "2b", "23", "2c", "26")


def note(finding, file, text):
    if (finding, file) not in noted:
        noted[finding, file] = {"id": finding, "file": file, "text": text}
        print(f"rocsmith: {file}: {text}", flush=True)


class TorchForBuild:
    """What a build wants otherwise of torch's modules, which are changed when they are imported.

    Questions of the project's own code to torch.cuda about GPUs are answered as a machine with those of the build would, since
    setup.py may refuse to go on without one. Packages, torch among them, and machines with GPUs get torch's answers."""

    def __init__(self, gpus):
        versions = [(int(gpu[3:-2]), int(gpu[-2], 16)) for gpu in gpus]  # gfx90a: 9.0, as HIP has it
        self.answers = {
            "is_available": lambda: True,
            "device_count": lambda: len(gpus),
            "get_device_capability": lambda device=0: versions[device or 0],
            "get_device_properties": lambda device=0: types.SimpleNamespace(name=gpus[device], gcnArchName=gpus[device],
                major=versions[device][0], minor=versions[device][1]),
        }
        self.gpus = gpus

    def find_spec(self, name, path=None, target=None):
        change = {"torch.cuda": self.answer, "torch.utils.cpp_extension": self.change_extensions,
            "torch.utils.hipify.hipify_python": self.change_hipify, "torch.version": self.answer_version}.get(name)
        if not change:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            change(module)

        spec.loader.exec_module = exec_module
        return spec

    def answer(self, module):
        has_gpu = module.is_available
        for question in self.answers:
            setattr(module, question, self.answering(question, getattr(module, question, None), has_gpu))

    def answer_version(self, module):
        """A torch for ROCm has no torch.version.cuda, which a setup.py that knows CUDA alone compares, or takes apart. It gets
        the release that the nvcc of this build has."""
        listed = os.path.join(os.environ.get("CUDA_HOME", ""), "version.json")
        if not os.path.exists(listed):
            return  # a known project, which has a way of its own
        with open(listed, encoding="utf-8") as f:
            release = ".".join(json.load(f)["cuda"]["version"].split(".")[:2])

        def cuda(version):
            asks = sys._getframe(1)
            place = self.asking(asks)
            text = ""
            if place and vars(version)["cuda"] is None:
                text = text_of(asks.f_globals["__file__"])
            if not text or re.search(r"rocm|(\b|_)hip\b", text, re.I):
                return vars(version)["cuda"]
            note("gpu-asked-for", place, f"asks torch for CUDA's release, answered with {release}, as nvcc of this build says it")
            return release

        module.__class__ = type("Version", (types.ModuleType,), {"cuda": property(cuda)})

    def asking(self, frame):
        """"setup.py:12" for the project's own code, else ""."""
        file = os.path.abspath(frame.f_globals.get("__file__") or os.sep)  # setuptools sets it for setup.py
        return f"{file[len(TREE):]}:{frame.f_lineno}" if file.startswith(TREE) else ""

    @staticmethod
    def change_extensions(module):
        """A torch for ROCm has no CUDA_HOME, which many a setup.py takes for a machine that compiles no .cu. Torch's headers end
        the compile with an error where the project's options ask for an older C++ than they need."""
        module.CUDA_HOME = getattr(module, "CUDA_HOME", None) or os.environ.get("CUDA_HOME")
        plain = module.BuildExtension.build_extensions

        def build_extensions(self):
            needed, lent = needed_standard(), lent_names()
            for extension in self.extensions:
                options = extension.extra_compile_args
                options = dict(options) if isinstance(options, dict) else {"cxx": list(options), "nvcc": list(options)}
                options["cxx"] = [*options.get("cxx", []), *shlex.split(os.environ.get("CXXFLAGS", ""))]  # torch has CFLAGS alone
                options["nvcc"] = [*options.get("nvcc", []), *lent]
                extension.extra_compile_args = {key: raised(words, needed) if needed else words for key, words in options.items()}
            plain(self)

        module.BuildExtension.build_extensions = build_extensions

    def change_hipify(self, module):
        self.distinct_files(module)
        plain = module.processKernelLaunches

        def processKernelLaunches(text, *args):
            """torch glues "return k<<<1, 2>>>()" together: returnhipLaunchKernelGGL. HIP's compiler takes launches as they are."""
            made = plain(text, *args)
            return text if re.search(r"\whipLaunchKernelGGL", made) and not re.search(r"\whipLaunchKernelGGL", text) else made

        module.processKernelLaunches = processKernelLaunches

    @staticmethod
    def distinct_files(module):
        """torch gives OPS.h and OPS_cuda.h one name, OPS_hip.h, and the second replaces the first. The one that sorts last keeps its
        whole name: OPS_cuda_hip.h."""
        plain = module.get_hip_file_path

        def get_hip_file_path(path, *args, **more):
            def made_of(file):
                return plain(file, *args, **more)

            made, folder = made_of(path), os.path.dirname(path)
            files = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
            others = [name for name in files if name != os.path.basename(path) and made_of(os.path.join(folder, name)) == made]
            if not others or max(others) > os.path.basename(path):
                return made
            root = os.path.splitext(os.path.basename(path))[0]
            own = os.path.join(os.path.dirname(made), f"{root}_hip{os.path.splitext(made)[1]}")
            note("hipify-one-name", path, f"is translated as '{os.path.basename(own)}', as torch's hipify would make "
                f"'{os.path.basename(made)}' of it and of '{others[0]}'")
            return own

        module.get_hip_file_path = get_hip_file_path

    def answering(self, question, real, has_gpu):
        def function(*args, **more):
            place = self.asking(sys._getframe(1))
            if not place or has_gpu():
                return real(*args, **more)
            note("gpu-asked-for", place, f"asks torch for a GPU, answered as on a machine with {', '.join(self.gpus)}")
            return self.answers[question](*args, **more)

        return function


def needed_standard():
    """The C++ that torch's headers need, as in "17"; "" where they do not say so."""
    with open(os.path.join(torch_folder(), "include/torch/csrc/api/include/torch/all.h"), encoding="utf-8") as f:
        return "".join(re.findall(r"#error C\+\+(\d+) or later", f.read())[:1])


def lent_names():
    """Options by which sources for GPUs find what HIP lacks, or its versions before 7, and a header of ours has, as they do
    behind CUDA_HOME. Torch's own translation leaves such names."""
    ours = os.path.join(os.environ.get("CUDA_HOME", ""), "include", "rocsmith")
    if not os.path.exists(os.path.join(ours, "cuda", "hip.h")):
        return []
    names = dict(re.findall(r"^#define (__\w+) (rocsmith_\w+)$", text_of(os.path.join(ours, "cuda", "hip.h")), re.M))
    words = words_of(".", r"\.(cu|cuh|hip|h|hpp|inl)$")
    used = words & {*names, "min(", "max("}
    text = "#include <hip/hip_runtime.h>\n"
    if used & {"min(", "max("}:  # of two types of integers
        text += f'#include "{ours}/minmax.h"\n'
    for header in ("device.h", "half.h"):
        has = words_of(ours, rf"^{header}$")
        lent = sorted(name for name in used if names.get(name) in has)
        if lent:
            note("hipify-header", f"rocsmith/{header}", f"included for {', '.join(lent)}, which not every HIP has")
            text += f'#include "{ours}/{header}"\n' + "".join(f"#define {name} {names[name]}\n" for name in lent)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lent_names.h")
    if used and not (os.path.exists(path) and text_of(path) == text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return ["-include", path] if used else []


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def words_of(folder, pattern):
    """The words of code in a folder's files of these names, and "min(" and "max(" where they are called by these names alone."""
    found = set()
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if re.search(pattern, name) and os.path.isfile(os.path.join(at, name)):
                text = text_of(os.path.join(at, name))
                found.update(re.findall(r"\w+", text))
                found.update(re.findall(r"(?<![\w:.>])m(?:in|ax)\(", text))
    return found


def raised(words, needed):
    """The options of a compiler, where those that ask for an older C++ ask for the one that is needed."""
    words = list(words)
    for i, word in enumerate(words):
        ask = re.fullmatch(r"(-?-std[= ]?)?((?:c|gnu)\+\+)(\w+)", str(word))
        if ask and (ask[1] or words[i - 1:i] in (["-std"], ["--std"])) and ask[3] in STANDARDS[:STANDARDS.index(needed)]:
            words[i] = f"{ask[1] or ''}{ask[2]}{needed}"
            note("cxx-standard-raised", "setup.py", f"asks for {ask[2]}{ask[3]}, and torch's headers need C++{needed}: compiled with that")
    return words


def backend():
    """PEP 517: "module" or "module:object"; found in backend-path first."""
    sys.path[:0] = [os.path.abspath(path) for path in given.get("path", [])]
    name, _, rest = one("backend").partition(":")
    if given.get("gpu"):
        sys.meta_path.insert(0, TorchForBuild(given["gpu"]))
    found = importlib.import_module(name)
    for part in filter(None, rest.split(".")):
        found = getattr(found, part)
    return found


# ---- modules that are not there ----
def imported(path, package):
    """The dotted names that a file imports whenever it runs: not in functions, nor where it is prepared for their absence."""
    try:
        with open(path, "rb") as f:
            todo = ast.parse(f.read()).body[::-1]
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Raise):
            return
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[:len(package) + 1 - node.level] if node.level else []
            yield ".".join([*above, *filter(None, [node.module])])
        elif isinstance(node, (ast.With, ast.Try)) and not getattr(node, "handlers", []):
            todo += [*node.body, *getattr(node, "finalbody", [])][::-1]


def file_of(parts):
    """The project's file for a module on Python's path, and the package in which that looks for its own; ("", []) of others.
    setuptools has the project on that path while it runs a setup.py as it was run before PEP 517."""
    for folder in [*([TREE] if one("backend").endswith(":__legacy__") else []), *sys.path]:
        at = os.path.abspath(os.path.join(folder, *parts))
        for path, package in ((os.path.join(at, "__init__.py"), parts), (at + ".py", parts[:-1])):
            if path.startswith(TREE) and os.path.isfile(path):
                return path, package
    return "", []


def own_modules():
    """The names of all modules and packages anywhere in the project, which may still get onto Python's path."""
    names = set()
    for folder, _, files in os.walk(TREE):
        names.update(name[:-3] for name in files if name.endswith(".py"))
        names.update([os.path.basename(folder)] if "__init__.py" in files else [])
    return names


def lacking(error):
    """The modules that are not there, the one that Python stopped at and others that the project's modules at work import whenever
    they run, as do modules of the project that these import."""
    own, seen, names = own_modules(), set(), {error.name: None}
    todo = [(os.path.abspath(frame.f_globals.get("__file__") or os.sep), (frame.f_globals.get("__package__") or "").split("."))
        for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_code.co_name == "<module>"]
    while todo:
        path, package = todo.pop(0)
        if path in seen or not path.startswith(TREE) or len(seen) > 500:
            continue
        seen.add(path)
        for name in imported(path, package):
            parts = name.split(".")
            todo += [file_of(parts[:n]) for n in range(1, len(parts) + 1)]
            if parts[0] not in sys.modules and parts[0] not in own and parts[0] and not importlib.util.find_spec(parts[0]):
                names[parts[0]] = None
    return list(names)


def settings():
    """The settings that the user passes on. A key that is given twice becomes a list, as pip does it."""
    out = {}
    for word in given.get("setting", []):
        key, _, value = word.partition("=")
        out[key] = value if key not in out else [*([out[key]] if isinstance(out[key], str) else out[key]), value]
    return out or None


def requires():
    kind = "editable" if one("editable") else "wheel"
    back = backend()
    hook = getattr(back, f"get_requires_for_build_{kind}", getattr(back, "get_requires_for_build_wheel", None))
    return {"requires": list(hook(settings())) if hook else []}


def distinct_objects():
    """torch makes ops_hip.cpp of ops.cpp and ops_hip.hip of ops_cuda.cu; both would be compiled to ops_hip.o."""
    import setuptools  # noqa: F401: its distutils is the one in use
    from distutils.ccompiler import CCompiler
    plain = CCompiler.object_filenames

    def object_filenames(self, sources, *args, **more):
        objects = plain(self, sources, *args, **more)
        for i, name in enumerate(objects):
            if name in objects[:i]:
                root, end = os.path.splitext(name)
                objects[i] = root + os.path.splitext(sources[i])[1].replace(".", "_") + end
                print(f"rocsmith: the object of '{sources[i]}' is '{objects[i]}', as another source has '{name}'")
        return objects

    CCompiler.object_filenames = object_filenames


def made_by(hook):
    """What the back end makes. meson-python builds all targets, programs too that the wheel does not get: where something
    fails, only what the wheel gets is built."""
    given = settings() or {}
    if one("backend") != "mesonpy":
        return hook(one("out"), given or None, None)
    if "builddir" not in given:
        given.setdefault("build-dir", os.path.join("build", "meson"))
    try:
        return hook(one("out"), given, None)
    except SystemExit:
        folder = os.path.abspath(given.get("build-dir", given.get("builddir")))
        listed = os.path.join(folder, "meson-info", "intro-targets.json")
        with open(listed if os.path.exists(listed) else os.devnull, encoding="utf-8") as f:
            targets = json.loads(f.read() or "[]")
        wanted = [os.path.relpath(name, folder) for target in targets if target["installed"] for name in target["filename"]]
        left = sorted({target["name"] for target in targets if not target["installed"] and target["type"] == "executable"})
        own = given.get("compile-args", [])
        if not wanted or not left:
            raise
        note("programs-left-out", "meson.build", f"a target failed, so that what the wheel does not get was left out: {', '.join(left)}")
        return hook(one("out"), {**given, "compile-args": [*([own] if isinstance(own, str) else own), *wanted]}, None)


def wheel():
    if importlib.util.find_spec("setuptools"):
        distinct_objects()
    return {"wheel": made_by(backend().build_wheel), "found": list(noted.values())}


def develop(back):
    """For a setuptools before 64 what "setup.py develop" does: modules are built in their places, and a file of the
    environment names the folder. It becomes a wheel, since pip installs and removes that."""
    if not os.path.exists("setup.py"):
        sys.exit(f"the back end '{one('backend')}' makes no editable wheels (PEP 660: build_editable)")
    from distutils.core import run_setup
    sys.path.insert(0, os.getcwd())
    dist = run_setup("setup.py", ["build_ext", "--inplace"])
    with tempfile.TemporaryDirectory() as folder:
        info = back.prepare_metadata_for_build_wheel(folder, settings())
        name = info[:-len(".dist-info")]
        files = {f"__editable__.{name}.pth": os.path.abspath((dist.package_dir or {}).get("", ".")) + "\n",
            f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: rocsmith\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
        for file in ("METADATA", "entry_points.txt"):
            path = os.path.join(folder, info, file)
            if os.path.exists(path):
                files[f"{info}/{file}"] = open(path, encoding="utf-8").read()
        files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
        with zipfile.ZipFile(os.path.join(one("out"), f"{name}-0.editable-py3-none-any.whl"), "w") as z:
            for path, text in files.items():
                z.writestr(zipfile.ZipInfo(path), text)
        return os.path.basename(z.filename)


def built_in_place(wheel, code):
    """The libraries that an editable wheel has, and those that its build made in the copy; links to these in the folder
    `code`, whose device code is checked. Back ends may build in "build/", and copy from there."""
    with zipfile.ZipFile(wheel) as z:
        libraries = [name for name in z.namelist() if re.search(LIBRARY, name)]
        z.extractall(code, libraries)
    found = [os.path.relpath(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names
        if re.search(LIBRARY, name)]
    found = [path for path in found if os.path.isfile(path) and not os.path.islink(path)
        and not os.path.exists(os.path.join(one("project"), path))]
    found = [path for path in found if not path.startswith("build" + os.sep)] or ([] if libraries else found)
    for path in found:
        os.makedirs(os.path.join(code, os.path.dirname(path)), exist_ok=True)
        os.link(path, os.path.join(code, path))
    return [os.path.join(code, name) for name in libraries] + [os.path.abspath(path) for path in found]


def lasting_objects():
    """The objects of an editable build stay for the next one; setuptools and scikit-build-core would put them into a folder
    that they remove."""
    if not os.path.exists("build/build.ninja"):  # of the step that configures, with PyTorch
        os.environ.setdefault("SKBUILD_BUILD_DIR", "build/editable")
    if not importlib.util.find_spec("setuptools"):
        return
    distinct_objects()
    from distutils.command.build_ext import build_ext
    plain = build_ext.finalize_options

    def finalize_options(self):
        self.build_temp = self.build_temp or os.path.join("build", "temp.editable")
        self.build_lib = self.build_lib or os.path.join("build", "lib.editable")
        plain(self)

    build_ext.finalize_options = finalize_options


def editable():
    lasting_objects()
    back = backend()
    hook = getattr(back, "build_editable", None)
    name = made_by(hook) if hook else develop(back)
    code = os.path.join(one("out"), "code")
    os.makedirs(code)
    return {"wheel": name, "found": list(noted.values()), "libraries": built_in_place(os.path.join(one("out"), name), code)}


# ---- what was built ----
def complaint(path):
    """The loader's complaint about a library, or "". All names are resolved at once, as Python does it, in
    another process, since libraries run code when they are loaded."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
            os._exit(0)
        except OSError as e:
            os.write(write, str(e).encode(errors="replace")[:4000])
        finally:
            os._exit(1)
    os.close(write)
    with open(read, "rb") as f:
        text = f.read().decode(errors="replace")
    _, status = os.waitpid(child, 0)
    return f"ends with signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else text


def load():
    answer = {"failed": [], "untried": []}
    # an extension of torch finds it loaded
    if importlib.util.find_spec("torch"):
        for name in ("libc10.so", "libtorch.so", "libtorch_python.so"):
            try:
                ctypes.CDLL(os.path.join(torch_folder(), "lib", name), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
            except OSError as e:
                return {**answer, "untried": [{"file": f"torch/lib/{name}", "why": str(e)}]}
    folder, libraries = one("folder"), given.get("library")
    if not libraries:
        with zipfile.ZipFile(one("wheel")) as z:
            libraries = [name for name in z.namelist() if re.search(LIBRARY, name)]
            z.extractall(folder, libraries)
    for name in libraries:
        if name.endswith(".so") and not os.path.basename(name).startswith("lib"):
            why = complaint(os.path.join(folder, name)).replace(folder + os.sep, "")
            if why:
                kind = "untried" if "cannot open shared object file" in why else "failed"
                answer[kind].append({"file": name, "why": why})
    return answer


# ---- torch ----
def torch_folder():
    """The folder of torch. It is not imported: a torch for CUDA cannot be, while its libraries are missing."""
    spec = importlib.util.find_spec("torch")
    return os.path.dirname(spec.origin)


def torch_version():
    spec = importlib.util.spec_from_file_location("version", os.path.join(torch_folder(), "version.py"))
    version = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(version)
    return version


def torch():
    version = torch_version()
    return {"folder": torch_folder(), "version": str(version.__version__),
        "hip": getattr(version, "hip", None) or "", "cuda": getattr(version, "cuda", None) or ""}


def run(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **more).stdout


def shared(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if re.search(LIBRARY, name)]


def undefined(library):
    """Names that a library needs: (name, version or "")."""
    for line in run("nm", "-D", "--undefined-only", "--with-symbol-versions", library).splitlines():
        kind, name = line.split()[-2:]
        if kind == "U":
            name, _, version = name.partition("@")
            yield name, version.lstrip("@")


def stand_in(path, soname, symbols):
    """A library that has these names and does nothing; symbols: version -> names."""
    source, script = path + ".s", path + ".map"
    with open(source, "w") as f:
        # static constructors of a torch register their kernels, and want a success
        print(".text\nnothing:\n\txorl %eax, %eax\n\tret", file=f)
        for name in sorted({name for names in symbols.values() for name in names}):
            print(f'.globl "{name}"\n.type "{name}", @function\n.set "{name}", nothing', file=f)
        print('.section .note.GNU-stack,"",@progbits', file=f)
    with open(script, "w") as f:
        for version, names in sorted(symbols.items()):
            if version:
                print(f'{version} {{ global:', *[f'"{name}";' for name in sorted(names)], "};", file=f)
    options = [f"-Wl,--version-script={script}"] if any(symbols) else []
    run(*one("cc").split(), "-shared", "-nostdlib", "-o", path, source, f"-Wl,-soname,{soname}", *options)
    os.remove(script)
    os.rename(source, path + ".stand-in")


def stand_in_for_cuda(libraries):
    """Makes empty libraries for those of CUDA, which are of no use here, but which importing torch loads."""
    libraries = [path for path in libraries if not os.path.exists(path + ".stand-in")]
    ours = {os.path.basename(path) for path in libraries}
    cuda, of_cuda = re.compile(r"lib(cu|nv|nccl)"), re.compile(r"_*(cu|nv|nccl)")
    wanted, versions, loose, defined = {}, {}, set(), set()
    for library in libraries:
        text = run("readelf", "-d", "-V", "-W", library)
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
            if name not in ours and cuda.match(name):
                wanted.setdefault(name, {})
        for file, part in re.findall(r"File: (\S+)\s+Cnt:.*\n((?:.*Name: .*\n)*)", text):
            for version in re.findall(r"Name: (\S+)", part):
                versions[version] = file
        for line in run("nm", "-D", "--defined-only", library).splitlines():
            defined.add(line.split()[-1].partition("@")[0])
    for library in libraries:
        for name, version in undefined(library):
            if versions.get(version) in wanted:
                wanted[versions[version]].setdefault(version, set()).add(name)
            elif not version and name not in defined and of_cuda.match(name):
                loose.add(name)
    for name in sorted(wanted):
        # names without a version may be those of any library that has no versions
        stand_in(os.path.join(os.path.dirname(libraries[0]), name), name, wanted[name] or {"": loose})
    return sorted(wanted)


def hipify_headers(include):
    """torch's own hipify makes of the headers for CUDA what a torch for ROCm has beside them. It takes
    them for PyTorch's where they lie in the source tree only, so that is how they are laid out."""
    from torch.utils.hipify import hipify_python
    parts = {"ATen/cuda": "aten/src/ATen/cuda", "ATen/native/cuda": "aten/src/ATen/native/cuda",
        "c10/cuda": "c10/cuda"}
    count = 0
    with tempfile.TemporaryDirectory() as tree:
        for installed, source in parts.items():
            if os.path.isdir(os.path.join(include, installed)):
                shutil.copytree(os.path.join(include, installed), os.path.join(tree, source))
        hipify_python.hipify(project_directory=tree, output_directory=tree,
            includes=[os.path.join(tree, "*")], show_progress=False, hip_clang_launch=True,
            is_pytorch_extension=False)
        for installed, source in parts.items():
            made = os.path.join(tree, source[:-4] + "hip")
            for folder, _, files in os.walk(made):
                to = os.path.join(include, installed[:-4] + "hip", os.path.relpath(folder, made))
                os.makedirs(to, exist_ok=True)
                for name in files:
                    shutil.copyfile(os.path.join(folder, name), os.path.join(to, name))
                    count += 1
    return count


def rocm():
    folder, version = torch_folder(), torch_version()
    lib, include = os.path.join(folder, "lib"), os.path.join(folder, "include")
    cuda = stand_in_for_cuda(shared(lib)) if getattr(version, "cuda", None) else []
    for name in ("libc10_hip.so", "libtorch_hip.so"):
        if not os.path.exists(os.path.join(lib, name)):
            stand_in(os.path.join(lib, name), name, {})
    done = hipify_headers(include)
    macros = os.path.join(include, "c10", "hip", "impl", "hip_cmake_macros.h")
    os.makedirs(os.path.dirname(macros), exist_ok=True)
    with open(macros, "w") as f:
        f.write("#pragma once\n#define C10_HIP_BUILD_SHARED_LIBS\n")
    for package, functions in (("cuda", {"_is_compiled": True, "is_available": False}), ("backends/cuda", {"is_built": True})):
        with open(os.path.join(folder, package, "__init__.py"), "a") as f:
            f.write("\n\n# rocsmith: --torch-as-rocm\n")
            f.writelines(f"def {name}():\n    return {value}\n" for name, value in functions.items())
    # said last: until then a killed run begins anew
    with open(os.path.join(folder, "version.py"), "a") as f:
        f.write(f"\n# rocsmith: --torch-as-rocm\nhip = {one('hip')!r}\ncuda = None\n")
    return {"headers": done, "libraries": cuda}


try:
    answer = {"requires": requires, "wheel": wheel, "editable": editable, "load": load, "torch": torch, "rocm": rocm}[what]()
except ModuleNotFoundError as e:
    if e.name and "." not in e.name:
        with contextlib.suppress(Exception):  # which other ones there are must not hide the one that stopped it
            print(f"rocsmith: modules that are not there: {', '.join(lacking(e))}", flush=True)
    raise
with open(result + ".part", "w", encoding="utf-8") as f:
    json.dump(answer, f)
os.replace(result + ".part", result)
