"""torch_wheel.py TORCH OUT CC: a wheel of PyTorch that extensions can be built against, but not run.

TORCH is a folder of `tools/torch-get VERSION headers`: headers, hipify and cpp_extension.py of PyPI's
smallest wheel of that release (for macOS, 80 MB; the one for Linux has 530 MB). Those files go into the wheel
as they are. The compiled part is stood in for by libraries without symbols, and what imports it by the few
lines below. What only a wheel for CUDA has is said as CMake would write it. OUT/torch-*.whl, printed.
"""
import os
import pathlib
import platform
import runpy
import subprocess
import sys
import tempfile
import zipfile

torch, out, cc = pathlib.Path(sys.argv[1]) / "torch", pathlib.Path(sys.argv[2]), sys.argv[3]
version = runpy.run_path(torch / "version.py")["__version__"]
tag = f"py3-none-linux_{platform.machine()}"
info = f"torch-{version}.dist-info"

OURS = {
    "__init__.py": "from torch.version import __version__\nfrom torch import _C, backends, cuda, monitor, utils, version, xpu\n",
    "cuda/__init__.py": "def _is_compiled():\n    return False\n\n\ndef is_available():\n    return False\n",
    "backends/__init__.py": "from torch.backends import cuda, mps, openmp\n",
    "backends/cuda/__init__.py": "def is_built():\n    return False\n",
    "backends/mps.py": "def is_built():\n    return False\n",
    "backends/openmp.py": "def is_available():\n    return True\n",
    "xpu.py": "def _is_compiled():\n    return False\n",
    "monitor.py": "_WaitCounter = None\n",
    "__config__.py": "from torch._C import _parallel_info as parallel_info\n",
    "_C.py": "def _parallel_info():\n    return 'ATen parallel backend: OpenMP'\n",
    "_utils_internal.py": "import os\n\n\ndef get_file_path(*parts):\n"
        "    return os.path.join(os.path.dirname(os.path.dirname(__file__)), *parts)\n",
    "utils/__init__.py": "",
    "include/c10/cuda/impl/cuda_cmake_macros.h": "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n",
    "include/ATen/cuda/CUDAConfig.h": "#pragma once\n" + "".join(f"#define {name} {value}\n" for name, value in {
        "AT_CUDNN_ENABLED()": 0, "AT_CUSPARSELT_ENABLED()": 0, "AT_HIPSPARSELT_ENABLED()": 0, "AT_ROCM_ENABLED()": 1,
        "AT_MAGMA_ENABLED()": 0, "AT_CUFILE_ENABLED()": 0, "NVCC_FLAGS_EXTRA": '""'}.items()),
}
REAL = ["version.py", "torch_version.py", "_appdirs.py", "_vendor", "utils", "include"]

out.mkdir(parents=True, exist_ok=True)
path = out / f"torch-{version}-{tag}.whl"
with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as wheel, tempfile.TemporaryDirectory() as folder:
    for name, text in OURS.items():
        wheel.writestr(f"torch/{name}", text)
    for name in REAL:
        for file in [torch / name] if (torch / name).is_file() else sorted((torch / name).rglob("*")):
            inside = file.relative_to(torch).as_posix()
            if file.is_file() and inside not in OURS:
                wheel.write(file, f"torch/{inside}")
    for name in ("c10", "torch", "torch_cpu", "torch_python"):
        library = os.path.join(folder, f"lib{name}.so")
        subprocess.run([*cc.split(), "-shared", "-nostdlib", "-x", "c", os.devnull, "-o", library,
            f"-Wl,-soname,lib{name}.so"], check=True)
        wheel.write(library, f"torch/lib/lib{name}.so")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n"
        "Requires-Dist: filelock\nRequires-Dist: setuptools\nRequires-Dist: typing-extensions\n")
    wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: rocsmith tests\nRoot-Is-Purelib: false\nTag: {tag}\n")
    wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in wheel.namelist()) + f"{info}/RECORD,,\n")
print(path)
