"""Where ROCm's wheels are, and their libraries; rocsmith packs this into rocm. The functions that PyTorch calls, and the
commands of rocm-sdk, are those of AMD's module of this name: init, path, targets, version."""
import argparse
import csv
import ctypes
import fnmatch
import importlib.metadata
import json
import os
import pathlib
import re
import tarfile
import warnings

__version__ = importlib.metadata.version("rocm")
SITE = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("_rocm_sdk_core/lib", "_rocm_sdk_libraries/lib", "_rocm_sdk_core/lib/rocm_sysdeps/lib", "_rocm_sdk_core/lib/host-math/lib")
FILES = {"miopen": "MIOpen", "hipdnn": "hipdnn_backend"}
_loaded = {}


def find_libraries(*names):
    """The paths of libraries by their short names, such as "amdhip64"."""
    found = []
    for name in names:
        paths = [p for f in FOLDERS for p in sorted((SITE / f).glob(f"lib{FILES.get(name, name)}.so*"))]
        if not paths:
            raise FileNotFoundError(f"no package of ROCm {__version__} that is installed has the library '{name}'")
        found.append(paths[0])
    return found


def preload_libraries(*names, rtld_global=True):
    for name in names:
        if name not in _loaded:
            mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
            _loaded[name] = ctypes.CDLL(str(find_libraries(name)[0]), mode=mode)


def initialize_process(*, preload_shortnames=None, rtld_global=True, env_override=True, check_version=None,
        fail_on_version_mismatch=False, **_):
    """Loads libraries, so that others find them, and compares the version, in which '*' stands for anything."""
    names = list(preload_shortnames or [])
    if env_override:
        names += [n for n in re.split("[,;]", os.environ.get("ROCM_SDK_PRELOAD_LIBRARIES", "")) if n.strip()]
    preload_libraries(*(n.strip() for n in names), rtld_global=rtld_global)
    if check_version is None:
        return
    same = check_version.match(__version__) if hasattr(check_version, "match") else fnmatch.fnmatchcase(__version__, check_version)
    if not same:
        text = f"ROCm {__version__} is installed, and {getattr(check_version, 'pattern', check_version)} is wanted"
        if fail_on_version_mismatch:
            raise RuntimeError(text)
        warnings.warn(text)


def _devices():
    for path in sorted((SITE / "_rocm_sdk_libraries/.devel_links").glob("*.json")):
        yield path.stem, json.loads(path.read_text())["links"]


def devel_root():
    """Expands the tar of rocm-sdk-devel at the first call, and leads to the files of device wheels at each."""
    root, tar = SITE / "_rocm_sdk_devel", SITE / "rocm_sdk_devel/_devel.tar"
    if tar.exists():
        with tarfile.open(tar) as archive:
            archive.extractall(SITE, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
            names = [m.name for m in archive.getmembers()]
        for name in names:
            _make_hard(SITE / name)
        _record("rocm-sdk-devel", names)
        tar.unlink()
    if not root.is_dir():
        raise ModuleNotFoundError("rocm-sdk-devel is not installed: pip install rocm[devel]")
    for gpu, links in _devices():
        new = [l for l in links if not os.path.lexists(root / l["relpath"])]
        for link in new:
            (root / link["relpath"]).parent.mkdir(parents=True, exist_ok=True)
            (root / link["relpath"]).symlink_to(link["target"])
            _make_hard(root / link["relpath"])
        _record(f"rocm-sdk-device-{gpu}", [f"_rocm_sdk_devel/{l['relpath']}" for l in new])
    return root


def _make_hard(path):
    """Makes a link to a file a hard one, as AMD's are: pip does not see links whose files it removed before."""
    real = path.resolve()
    if path.is_symlink() and real.is_file():
        path.unlink()
        os.link(real, path)


def _record(project, names):
    """Adds files to a package's RECORD, so that pip removes them with it."""
    path = next(p.locate() for p in importlib.metadata.files(project) if p.name == "RECORD")
    with open(path, "a", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows([name, "", ""] for name in names)


def main():
    parser = argparse.ArgumentParser(prog="rocm-sdk")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in {"init": "expand rocm-sdk-devel", "version": "print the version", "targets": "print the GPUs",
            "path": "print a folder of rocm-sdk-devel"}.items():
        commands.add_parser(name, help=text)
    commands.choices["init"].add_argument("--quiet", action="store_true")
    which = commands.choices["path"].add_mutually_exclusive_group(required=True)
    for name, folder in {"root": ".", "bin": "bin", "cmake": "lib/cmake"}.items():
        which.add_argument(f"--{name}", dest="folder", action="store_const", const=folder)
    o = parser.parse_args()
    if o.command == "version":
        print(__version__)
    elif o.command == "targets":
        print(";".join(gpu for gpu, _ in _devices()))
    elif o.command == "path":
        print(devel_root() / o.folder)
    else:
        root = devel_root()
        if not o.quiet:
            print(root)
