"""Runs a torch's own hipify on a scratch copy: driver.py JOB.

It calls hipify() as CUDAExtension or a JIT load does, or runs build_amd.py as it is, with what the
user adds (ignores, endings, pairs) put into the arguments; it lists a folder in the order that the
real one has, since results of extensions depend on it; and it writes down what became of each file.
JOB and the report hold words that end in NUL, because names may be any bytes.
"""
import inspect
import os
import resource
import runpy
import sys
import traceback

job = {}
with open(sys.argv[1], "rb") as f:
    words = f.read().split(b"\0")
for key, value in zip(words[0::2], words[1::2]):
    job.setdefault(key.decode(), []).append(os.fsdecode(value))


def many(key):
    return job.get(key, [])


def one(key):
    return job.get(key, [""])[0]


# On a launch without an end the original takes memory without limit.
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
root, files = one("root"), one("files")

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
script, sources = one("script"), many("source")
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

# ---- the report ----
with opener(one("result"), "wb") as f:
    def put(*words):
        for word in words:
            f.write(os.fsencode(word) + b"\0")

    for path, r in h.HIPIFY_FINAL_RESULT.items():
        r = r if isinstance(r, dict) else vars(r)
        put("result", path, r["hipified_path"] or "", r["status"])
    for path, source in written.items():
        put("written", path, source, "")
