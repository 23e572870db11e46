#!/usr/bin/env python3
"""setup_calls.py TORCH rocm|cuda OUT.json [NAME=VALUE...]: what the setup.py of the current folder has
hipify called with.

TORCH is a folder of tools/torch-get. The setup.py runs as it is, with that torch's own
torch/utils/cpp_extension.py; the rest of torch, which would be hundreds of megabytes of libraries, is
stood in for by objects that answer whatever a setup.py asks about the machine. hipify itself only
records its arguments here. `rocm`: a ROCm torch on a ROCm machine. `cuda`: the setup.py sees a CUDA
torch, for projects that hipify nothing for ROCm; what it gives to CUDAExtension goes the same way.
Nothing is compiled. Exit status 3: the setup.py ended with an error, which is printed.
"""
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import runpy
import stat
import sys
import tempfile
import traceback
import types

HIP = "6.2.41134-65d174c3e"
CUDA = "12.8"
# Of torch, what is loaded from its own files. cpp_extension of 2.13 and newer has more helpers.
REAL = {"torch.version", "torch.torch_version", "torch._appdirs", "torch.utils.cpp_extension",
    "torch.utils._cpp_extension_versioner", "torch.utils.hipify", "torch.utils.file_baton",
    "torch._vendor"}


class Anything(types.ModuleType):
    """An object that has every attribute and can be called, indexed and decorated with."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in REAL:
            return importlib.import_module(f"{self.__name__}.{name}")
        value = (lambda *args: False) if name == "is_available" else Anything(f"{self.__name__}.{name}")
        setattr(self, name, value)
        return value

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) else Anything("result")

    def __getitem__(self, key):
        return Anything("item")

    def __iter__(self):
        return iter(())

    def __fspath__(self):
        return f"/{self.__name__}"

    def __mro_entries__(self, bases):
        return (object,)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Torch, and whatever else of this list the machine has not."""
    HELPERS = {"wheel", "ninja", "numpy", "psutil", "dskernels", "typing_extensions"}

    def __init__(self, root):
        self.root = root
        self.present = {name for name in self.HELPERS if importlib.util.find_spec(name)}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.HELPERS - self.present:
            return importlib.util.spec_from_loader(name, self, is_package=True)
        if name.split(".")[0] != "torch":
            return None
        if any(name == real or name.startswith(real + ".") for real in REAL):
            spec = importlib.machinery.PathFinder.find_spec(
                name, [os.path.join(self.root, *name.split(".")[:-1])])
            if spec:
                return spec
        return importlib.util.spec_from_loader(name, self, is_package=True)

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def executable(path, words):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{words}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def machine(folder, kind):
    """The programs that a setup.py runs to learn versions, and where they are."""
    rocm, cuda = folder / "rocm", folder / "cuda"
    executable(rocm / "bin/hipcc", f"HIP version: {HIP}")
    executable(rocm / "bin/hipconfig", HIP)
    (rocm / ".info").mkdir()
    (rocm / ".info/version").write_text("6.2.4-120\n")
    executable(cuda / "bin/nvcc", f"Cuda compilation tools, release {CUDA}, V{CUDA}.61")
    for name in ("ROCM_HOME", "ROCM_PATH", "HIP_PATH", "CUDA_HOME", "CUDA_PATH"):
        os.environ.pop(name, None)
    home = rocm if kind == "rocm" else cuda
    os.environ["PATH"] = f"{home}/bin:{os.environ['PATH']}"
    if kind == "rocm":
        os.environ["ROCM_HOME"] = os.environ["ROCM_PATH"] = str(rocm)
    else:
        os.environ["CUDA_HOME"] = str(cuda)


def load_torch(root, kind):
    sys.meta_path.insert(0, Finder(root))
    import torch
    import torch.__config__
    import torch.version
    torch.__path__ = [os.path.join(root, "torch")]
    torch.__version__ = torch.version.__version__
    torch.version.hip = HIP if kind == "rocm" else None
    torch.version.cuda = CUDA if kind == "cuda" else None
    torch.cuda._is_compiled = torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.get_device_capability = lambda *args: (8, 0)
    torch.cuda.get_arch_list = lambda: []
    torch.cuda.is_bf16_supported = lambda *args: True
    torch.cuda.nccl.version = lambda: (2, 21, 5)
    properties = types.SimpleNamespace(gcnArchName="gfx90a:sramecc+:xnack-", name="Device",
        multi_processor_count=104, major=8, minor=0)
    torch.cuda.get_device_properties = lambda *args: properties
    torch._C._GLIBCXX_USE_CXX11_ABI = True
    torch.__config__.parallel_info = lambda: "ATen parallel backend: OpenMP"
    torch.__config__.show = lambda: ""
    torch._utils_internal.get_file_path = lambda *parts: os.path.join(root, *parts)


def record_hipify(calls, kind):
    """Puts a recorder in hipify's place; in `cuda` CUDAExtension behaves as in a ROCm torch."""
    cpp_extension = importlib.import_module("torch.utils.cpp_extension")
    hipify_python = importlib.import_module("torch.utils.hipify.hipify_python")

    def hipify(**arguments):
        known = {"project_directory", "output_directory", "header_include_dirs", "includes", "ignores",
            "extra_files", "show_detailed", "show_progress", "is_pytorch_extension",
            "hipify_extra_files_only", "clean_ctx", "extensions", "header_extensions"}
        assert set(arguments) <= known, arguments
        arguments.pop("clean_ctx", None)
        calls.append({key: [os.fspath(v) for v in value] if isinstance(value, (list, tuple, set)) else
            value for key, value in arguments.items()})
        return {}

    hipify_python.hipify = hipify
    if kind == "cuda":
        original = cpp_extension.CUDAExtension

        def extension(*args, **kwargs):
            cpp_extension.IS_HIP_EXTENSION = True
            cpp_extension.ROCM_HOME = cpp_extension.CUDA_HOME
            try:
                return original(*args, **kwargs)
            finally:
                cpp_extension.IS_HIP_EXTENSION, cpp_extension.ROCM_HOME = False, None

        cpp_extension.CUDAExtension = extension


def main():
    root, kind, out, *settings = sys.argv[1:]
    sys.path.pop(0)  # the files beside this one must not hide others
    for setting in settings:
        name, _, value = setting.partition("=")
        os.environ[name] = value
    calls, why = [], None
    with tempfile.TemporaryDirectory() as folder:
        machine(pathlib.Path(folder), kind)
        load_torch(root, kind)
        record_hipify(calls, kind)
        import setuptools
        setuptools.setup = lambda **kwargs: None
        sys.argv = ["setup.py", "build_ext"]
        sys.path.insert(0, os.getcwd())
        try:
            runpy.run_path("setup.py", run_name="__main__")
        except (Exception, SystemExit):  # pylint: disable=broad-except
            why = traceback.format_exc()
    # A relative include folder counts from the output folder, as hipify has it.
    pathlib.Path(out).write_text(json.dumps({"cwd": os.getcwd(), "calls": calls}, indent=1))
    if why:
        sys.stderr.write(why)
        sys.exit(3)


main()
