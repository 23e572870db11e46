"""Runs a torch's own hipify on a scratch copy: driver.py JOB.

It completes the module and calls hipify() as CUDAExtension or a JIT load does, or runs build_amd.py as it is, with what the
user adds (ignores, endings, pairs) put into the arguments; it lists a folder in the order that the
real one has, since results of extensions depend on it; and it writes down which files were made and
what became of each source.
JOB and the report hold words that end in NUL, because names may be any bytes.
"""
import inspect
import os
import resource
import runpy
import shutil
import stat
import sys
import traceback

job = {}
with open(sys.argv[1], "rb") as f:
    words = f.read().split(b"\0")
start = os.stat(sys.argv[1]).st_mtime_ns  # the copy was complete by then
for key, value in zip(words[0::2], words[1::2]):
    job.setdefault(key.decode(), []).append(os.fsdecode(value))


def many(key):
    return job.get(key, [])


def one(key):
    return job.get(key, [""])[0]


# On a launch without an end the original takes memory without limit.
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
root, files, script = one("root"), one("files"), one("script")

# ---- the module ----
# All Python files of that torch's folder, if it has one: a later release may have more than were read.
module, package = os.path.join(one("module"), "hipify"), one("package")
for name in os.listdir(package) if os.path.isdir(package) else []:
    if name.endswith(".py") and not os.path.exists(os.path.join(module, name)):
        shutil.copyfile(os.path.join(package, name), os.path.join(module, name))
        shutil.copystat(sys.argv[1], os.path.join(module, name))  # it is no result
init = os.path.join(module, "__init__.py")
if not os.path.exists(init):
    with open(init, "w") as f:
        if os.path.exists(os.path.join(module, "version.py")):
            f.write("from .version import __version__\n")
    shutil.copystat(sys.argv[1], init)  # it is no result
if script:  # build_amd.py imports the module from its own tree
    shutil.copytree(module, os.path.join(root, "torch/utils/hipify"), dirs_exist_ok=True)

# An older build_amd.py checks here whether the compiler supports <<<>>>.
if one("launches"):
    os.environ["HIP_PATH"] = os.path.join(os.path.dirname(files), "hip")
if one("launches") == "keep":
    os.makedirs(os.path.join(os.environ["HIP_PATH"], "lib"))
    with open(os.path.join(os.environ["HIP_PATH"], "lib/.hipInfo"), "w") as f:
        f.write("HIP_COMPILER=clang\n")

# ---- the order of folders ----
scandir = os.scandir


class Ordered:
    """The entries of os.scandir() for a folder of the copy, in the order of the real one."""

    def __init__(self, path):
        real = os.path.abspath(os.fspath(path))[len(files):]
        try:
            order = {name: i for i, name in enumerate(os.listdir(real))}
        except OSError:
            order = {}
        with scandir(path) as entries:
            self.v = iter(sorted(entries, key=lambda e: order.get(e.name, len(order))))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.v)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        pass

    def close(self):
        pass


def listed(path="."):
    inside = isinstance(path, (str, os.PathLike))
    inside = inside and os.path.abspath(os.fspath(path)).startswith(files)
    return Ordered(path) if inside else scandir(path)


os.scandir = listed

# ---- the user's pairs ----
sys.path.append(one("module"))
pairs = dict(zip(many("from"), many("to")))
if pairs:
    from hipify import cuda_to_hip_mappings as tables
    first = one("generation") == "1"
    own = {k: (v,) if first else v for k, v in pairs.items()}
    tables.CUDA_TO_HIP_MAPPINGS.append(own)
from hipify import hipify_python as h
for key in set(pairs) & set(getattr(h, "PYTORCH_SPECIAL_MAP", ())):
    h.PYTORCH_SPECIAL_MAP[key] = pairs[key]

# ---- the files that are done, and the names that the user adds ----
doing, written = [], {}
preprocessor, hipify, opener = h.preprocessor, h.hipify, open


def preprocess(folder, name, *args, **kw):
    doing.append(os.path.abspath(os.path.join(folder, name)))
    result = preprocessor(folder, name, *args, **kw)
    doing.pop()
    return result


def opened(path, mode="r", *args, **kw):
    if "w" in mode and doing:
        written[os.path.abspath(path)] = doing[-1]
    return opener(path, mode, *args, **kw)


def more(key, kw):
    known = inspect.signature(hipify).parameters[key].default
    kw[key] = tuple(kw.get(key, known)) + tuple(many("ending"))


def called(*args, **kw):
    kw["ignores"] = list(kw.get("ignores", ())) + many("ignore")
    if many("ending"):
        more("extensions", kw)
        more("header_extensions", kw)
    if one("launches"):
        kw["hip_clang_launch"] = one("launches") == "keep"
    return hipify(*args, **kw)


h.preprocessor, h.hipify, h.open = preprocess, called, opened

# ---- the run ----
sources = many("source")
try:
    if script:
        sys.argv = [script] + many("argument")
        sys.path.insert(0, os.path.dirname(script))
        runpy.run_path(script, run_name="__main__")
    else:
        h.hipify(
            project_directory=root,
            output_directory=root,
            header_include_dirs=many("include"),
            extra_files=sources,
            includes=[os.path.join(root, "*")] if sources else ["*"],
            show_detailed=True,
            is_pytorch_extension=True,
            hipify_extra_files_only=bool(sources),
        )
except SystemExit as e:
    if e.code:
        raise
except Exception:
    traceback.print_exc()
    sys.exit("the file was " + doing[-1] if doing else 1)

# ---- the report: paths are those outside of the copy ----
def outside(path):
    return path[len(files):] if path.startswith(files) else path


def is_made(path):
    st = os.lstat(path)
    return stat.S_ISREG(st.st_mode) and st.st_mtime_ns > start


made = [os.path.join(folder, name) for folder, _, names in os.walk(files) for name in names]
with opener(one("result"), "wb") as f:
    def put(*words):
        for word in words:
            f.write(os.fsencode(word) + b"\0")

    for path in sorted(filter(is_made, made), key=lambda p: os.fsencode(p).split(b"/")):
        put("made", outside(path), outside(written.get(path, "")), "")
    for path, r in h.HIPIFY_FINAL_RESULT.items():
        r = r if isinstance(r, dict) else vars(r)
        put("result", outside(path), outside(r["hipified_path"] or ""), r["status"])
