#!/usr/bin/env python3
"""Makes a package index as AMD publishes it, and serves it on loopback.

    amd_index.py make SITE [--version 10.1.0] [--gpu gfx1151,gfx1201] [--torch 2.14.0] [--tree ROOT] [--kib N]
    amd_index.py serve SITE PORTFILE [--status 403] [--no-ranges] [--flat] [--cut FILE=BYTES] [--log FILE]

SITE/PROJECT/ gets the files of a project: rocm (the source distribution that selects), rocm-sdk-core, -libraries,
-device-gfxN, -devel, and with --torch the host and device wheels of torch, with a chain of wheels per target,
sub-family and family. `make` can be run again for further versions. Layouts and metadata are those of ROCm/TheRock
(89553ce37): build_tools/packaging/python/templates, rocm_kpack's wheel splitter. Contents are N KiB of noise each,
or --tree: what builds need of a Debian SDK of rocsmith (.../sdk/NAME/root), its loader and libc beside the packages.
`serve` prints nothing, writes its address to PORTFILE, and answers 403 for what is not there, as AMD's host does.
As a module: wheel(), sdist(), make(), and Site(...) as a context with .url.
"""
import argparse
import base64
import hashlib
import html
import http.server
import io
import json
import os
import pathlib
import random
import re
import tarfile
import threading
import urllib.parse
import zipfile

TIME = (2026, 8, 1, 0, 0, 0)
LINUX = "py3-none-linux_x86_64"
# target: its sub-family and family, as rocm_bootstrap has them
CHAINS = {"gfx1151": ("gfx115x", "gfx11"), "gfx1150": ("gfx115x", "gfx11"), "gfx1100": ("gfx110x", "gfx11"),
    "gfx1101": ("gfx110x", "gfx11"), "gfx1102": ("gfx110x", "gfx11"), "gfx1103": ("gfx110x", "gfx11"),
    "gfx1200": ("gfx12-0", "gfx12"), "gfx1201": ("gfx12-0", "gfx12"), "gfx942": ("gfx9-4", "gfx9"),
    "gfx90a": ("gfx9-0", "gfx9"), "gfx950": ("gfx9-5", "gfx9"), "gfx1030": ("gfx10-3", "gfx10")}


def noise(seed, kib):
    return random.Random(seed).randbytes(kib << 10)


def metadata(name, version, requires=(), extras=()):
    """requires: PEP 508 texts; extras: {extra: [PEP 508 texts]}"""
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=3.10\n"
    text += "".join(f"Requires-Dist: {r}\n" for r in requires)
    for extra, needs in dict(extras).items():
        text += f"Provides-Extra: {extra}\n" + "".join(f"Requires-Dist: {n}; extra == '{extra}'\n" for n in needs)
    return text


def wheel(site, name, version, files, tag=LINUX, requires=(), extras=()):
    """Writes SITE/NAME/*.whl; files: {path: bytes, text, or a pathlib.Path to read}. Returns its path."""
    spelled = re.sub(r"[-_.]+", "_", name)
    info = f"{spelled}-{version}.dist-info"
    files = {**files, f"{info}/METADATA": metadata(name, version, requires, extras),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: amd_index\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    path = pathlib.Path(site) / name / f"{spelled}-{version}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    with zipfile.ZipFile(path, "w") as out:
        for member, what in sorted(files.items()):
            data = what.read_bytes() if isinstance(what, pathlib.Path) else what.encode() if isinstance(what, str) else what
            runs = os.access(what, os.X_OK) if isinstance(what, pathlib.Path) else "/bin/" in member
            entry = zipfile.ZipInfo(member, TIME)
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            out.writestr(entry, data)
            hashed = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{member},sha256={hashed},{len(data)}\n")
        out.writestr(zipfile.ZipInfo(f"{info}/RECORD", TIME), "".join(rows) + f"{info}/RECORD,,\n")
    return path


def sdist(site, name, version, requires=(), extras=()):
    path = pathlib.Path(site) / name / f"{name}-{version}.tar.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as out:
        for member, text in {"PKG-INFO": metadata(name, version, requires, extras),
                "setup.py": "raise SystemExit('nobody runs this')\n"}.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{member}")
            entry.size = len(text)
            out.addfile(entry, io.BytesIO(text.encode()))
    return path


# ---- ROCm ----
def tarball(entries):
    """_devel.tar: {path: bytes, Path, or ("link", target)}"""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as out:
        for name, what in sorted(entries.items()):
            entry = tarfile.TarInfo(name)
            entry.mtime = 1785542400
            if isinstance(what, tuple):
                entry.type, entry.linkname = tarfile.SYMTYPE, what[1]
                out.addfile(entry)
                continue
            runs = os.access(what, os.X_OK) if isinstance(what, pathlib.Path) else "/bin/" in name
            text = what.read_bytes() if isinstance(what, pathlib.Path) else what
            entry.size, entry.mode = len(text), 0o755 if runs else 0o644
            out.addfile(entry, io.BytesIO(text))
    return data.getvalue()


def small(kib, version):
    """Contents that look like an SDK: core, libraries, devel."""
    script = b"#!/bin/sh\necho 'clang version 23.0.0'\n"
    core = {"_rocm_sdk_core/lib/llvm/bin/clang++": script, "_rocm_sdk_core/lib/libamdhip64.so.7": noise("hip", kib),
        "_rocm_sdk_core/lib/llvm/amdgcn/bitcode/ocml.bc": noise("ocml", 1), "rocm_sdk_core/__init__.py": "",
        "_rocm_sdk_core/.info/version": f"{version}\n"}
    libraries = {"_rocm_sdk_libraries/lib/librocblas.so.5": noise("rocblas", kib), "rocm_sdk_libraries/__init__.py": ""}
    up = "../" * 4
    devel = {"_rocm_sdk_devel/__init__.py": b"", "_rocm_sdk_devel/include/hip/hip_runtime.h": b"#pragma once\n",
        "_rocm_sdk_devel/include/rocblas/rocblas.h": b"#pragma once\n",
        "_rocm_sdk_devel/lib/libamdhip64.so.7": ("link", "../../_rocm_sdk_core/lib/libamdhip64.so.7"),
        "_rocm_sdk_devel/lib/libamdhip64.so": ("link", "libamdhip64.so.7"),
        "_rocm_sdk_devel/lib/librocblas.so.5": ("link", "../../_rocm_sdk_libraries/lib/librocblas.so.5"),
        "_rocm_sdk_devel/lib/librocblas.so": ("link", "librocblas.so.5"),
        "_rocm_sdk_devel/lib/llvm/bin/clang++": ("link", up + "_rocm_sdk_core/lib/llvm/bin/clang++"),
        "_rocm_sdk_devel/lib/llvm/amdgcn/bitcode/ocml.bc": ("link", up + "../_rocm_sdk_core/lib/llvm/amdgcn/bitcode/ocml.bc"),
        "_rocm_sdk_devel/.info/version": ("link", "../../_rocm_sdk_core/.info/version"),
        "_rocm_sdk_devel/lib/cmake/hip/hip-config-version.cmake": f'set(PACKAGE_VERSION "{version}")\n'.encode()}
    return core, libraries, devel


def builds_with(file):
    """No build reads kernels in files of their own; the largest libraries (rocBLAS, rocSOLVER, MIOpen) are 20 GB of an SDK
    with all components, of which an install wants five times the space."""
    return file.suffix not in (".co", ".dat", ".hsaco", ".kdb") and file.stat().st_size < 200 << 20


def from_tree(root):
    """The same from a Debian SDK: its view /opt/rocm is the prefix, what that leads to lies in core, headers and
    CMake files in devel. Loader, libc and the compiler's other libraries lie in usr/ beside the packages."""
    root, core, libraries, devel = pathlib.Path(root), {"rocm_sdk_core/__init__.py": ""}, {}, {}
    view = root / "opt/rocm"

    def each(folder):
        for path, _, names in os.walk(folder, followlinks=True):
            for name in names:
                full = pathlib.Path(path) / name
                if full.is_file() and builds_with(full):
                    yield full, full.relative_to(view)
    for full, name in each(view):
        text, up = str(name), "../" * len(name.parts)
        if text.startswith(("include/", "lib/cmake/", "share/")):
            devel[f"_rocm_sdk_devel/{text}"] = full
        elif text.startswith("lib/") and ".so" in full.name and full.name != full.resolve().name and \
                (full.parent / full.resolve().name).exists():
            devel[f"_rocm_sdk_devel/{text}"] = ("link", full.resolve().name)
        else:
            to, where = (core, "_rocm_sdk_core") if not re.search(r"lib(roc|hip)(blas|rand|fft|sparse|solver)", text) \
                else (libraries, "_rocm_sdk_libraries")
            to[f"{where}/{text}"] = full
            devel[f"_rocm_sdk_devel/{text}"] = ("link", f"{up}{where}/{text}")
    devel["_rocm_sdk_devel/__init__.py"] = b""
    libraries["rocm_sdk_libraries/__init__.py"] = ""
    for folder in ("usr/lib64", "usr/lib/x86_64-linux-gnu"):
        for full in sorted((root / folder).iterdir()):
            if full.is_file() and ".so" in full.name and builds_with(full):
                core[f"{folder}/{full.name}"] = full
    for name in ("lib", "lib64"):  # the usr-merge, for the loader's own path
        devel[name] = ("link", f"usr/{name}")
    for name in ("usr/bin/dash", "etc/passwd"):
        core[name] = root / name
    devel["usr/bin/sh"], devel["bin"] = ("link", "dash"), ("link", "usr/bin")
    return core, libraries, devel


def make(site, version="10.1.0", gpus=("gfx1151", "gfx1201"), torch=None, tree=None, kib=64, devices=None, python="cp312"):
    """devices: version of the device wheels, if another one; python: tag of torch's wheels."""
    site = pathlib.Path(site)
    core, libraries, devel = from_tree(tree) if tree else small(kib, version)
    extras = {"libraries": [f"rocm-sdk-libraries=={version}"], "devel": [f"rocm-sdk-devel=={version}"]}
    for gpu in gpus:
        extras[f"device-{gpu}"] = [f"rocm-sdk-device-{gpu}=={version}"]
        own = f"_rocm_sdk_libraries/lib/rocblas/library/kernels_{gpu}.kpack"
        link = {"relpath": own.split("/", 1)[1], "target": f"../../../../{own}"}
        manifest = json.dumps({"version": devices or version, "links": [link]})
        wheel(site, f"rocm-sdk-device-{gpu}", devices or version, {own: noise(gpu, kib),
            f"_rocm_sdk_libraries/.devel_links/{gpu}.json": manifest}, requires=[f"rocm-sdk-libraries=={version}"])
    extras["device-all"] = [extras[f"device-{gpu}"][0] for gpu in gpus]
    sdist(site, "rocm", version, [f"rocm-sdk-core=={version}"], extras)
    wheel(site, "rocm-sdk-core", version, core)
    wheel(site, "rocm-sdk-libraries", version, libraries, requires=[f"rocm-sdk-core=={version}"])
    wheel(site, "rocm-sdk-devel", version, {"rocm_sdk_devel/__init__.py": "", "rocm_sdk_devel/_devel.tar": tarball(devel)})
    if torch:
        make_torch(site, f"{torch}+rocm{version}", version, gpus, kib, python)


def make_torch(site, version, rocm, gpus, kib, python="cp312"):
    """The host wheel, and for each target the chain of device wheels of its kernels and images."""
    tag, made, extras = f"{python}-{python}-linux_x86_64", set(), {}
    for gpu in gpus:
        chain = (gpu, *CHAINS.get(gpu, ()))
        names = [f"amd-torch-device-{part}" for part in chain]
        for i, name in enumerate(names):
            if name in made:
                continue
            made.add(name)
            after = [f"{names[i + 1]}=={version}"] if i + 1 < len(names) else []
            after += [f"rocm-sdk-device-{gpu}=={rocm}"] if not i else []
            wheel(site, name, version, {f"torch/.kpack/torch_{chain[i]}.kpack": noise(name, kib)}, tag, after)
        extras[f"device-{gpu}"] = [f"{names[0]}=={version}"]
    extras["device-all"] = [need for gpu in gpus for need in extras[f"device-{gpu}"]]
    short = ".".join(rocm.split(".")[:2])
    wheel(site, "torch", version, {"torch/__init__.py": "", "torch/lib/libtorch_hip.so": noise("torch", 4 * kib)}, tag,
        [f"rocm[libraries,device-all]=={short}.*", "filelock", "typing-extensions>=4.10.0"], extras)


# ---- serving ----
class Site:
    """with Site(folder) as site: site.url; options as those of `serve`."""
    def __init__(self, folder, status=403, ranges=True, flat=False, cut=None, log=None, hashes=True):
        folder, kept, cut = pathlib.Path(folder), {}, dict(cut or {})

        def known(path):
            if path not in kept:
                kept[path] = hashlib.sha256(path.read_bytes()).hexdigest()
            return kept[path]

        def sidecar(path):
            with zipfile.ZipFile(path) as whole:
                return whole.read(next(n for n in whole.namelist() if n.endswith(".dist-info/METADATA")))

        def page(paths, prefix):
            text = "<!DOCTYPE html><html><body>\n"
            for path in paths:
                hashed = f"#sha256={known(path)}" if hashes else ""
                more = ' data-requires-python="&gt;=3.10"'
                if path.suffix == ".whl" and not flat:
                    more += f' data-core-metadata="sha256={hashlib.sha256(sidecar(path)).hexdigest()}"'
                text += f'<a href="{prefix(path)}{urllib.parse.quote(path.name)}{hashed}"{more}>{html.escape(path.name)}</a>\n'
            return (text + "</body></html>\n").encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                self.do_GET(False)

            def do_GET(self, body=True):
                name = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).strip("/")
                if log:
                    with open(log, "a") as out:
                        out.write(f"{self.command} {self.path} {self.headers.get('Range', '')}\n")
                path = folder / name
                data = None
                if ".." in name.split("/"):
                    pass
                elif not name and flat:
                    data = page(sorted(folder.glob("*/*")), lambda p: p.parent.name + "/")
                elif not name:
                    data = "".join(f'<a href="{p.name}/">{p.name}</a>\n' for p in sorted(folder.iterdir())).encode()
                elif path.is_dir() and not flat:
                    data = page(sorted(path.iterdir()), lambda p: "")
                elif path.is_file():
                    data = path.read_bytes()
                elif name.endswith(".metadata") and path.with_suffix("").is_file() and not flat:
                    data = sidecar(path.with_suffix(""))
                if data is None:
                    return self.send_error(status)
                start, end = 0, len(data)
                asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
                if asked and ranges:
                    start, end = int(asked[1]), min(int(asked[2]) + 1 if asked[2] else end, end)
                    if start >= len(data):
                        return self.send_error(416)
                self.send_response(206 if asked and ranges else 200)
                self.send_header("Content-Type", "text/html" if not path.is_file() else "application/octet-stream")
                self.send_header("Content-Length", str(end - start))
                if asked and ranges:
                    self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
                self.end_headers()
                if body:
                    self.wfile.write(data[start:min(end, start + cut.get(path.name, end))])

            def log_message(self, *words):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *what):
        self.server.shutdown()


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    m = commands.add_parser("make")
    m.add_argument("site")
    m.add_argument("--version", default="10.1.0")
    m.add_argument("--devices")
    m.add_argument("--gpu", default="gfx1151,gfx1201")
    m.add_argument("--torch")
    m.add_argument("--tree")
    m.add_argument("--kib", type=int, default=64)
    s = commands.add_parser("serve")
    s.add_argument("site")
    s.add_argument("portfile")
    s.add_argument("--status", type=int, default=403)
    s.add_argument("--no-ranges", action="store_true")
    s.add_argument("--no-hashes", action="store_true")
    s.add_argument("--flat", action="store_true")
    s.add_argument("--cut", action="append", default=[])
    s.add_argument("--log")
    o = parser.parse_args()
    if o.command == "make":
        make(o.site, o.version, [g for g in o.gpu.split(",") if g], o.torch, o.tree, o.kib, o.devices)
        return
    cut = {name: int(n) for name, _, n in (c.partition("=") for c in o.cut)}
    site = Site(o.site, o.status, not o.no_ranges, o.flat, cut, o.log, not o.no_hashes)
    pathlib.Path(o.portfile + ".new").write_text(site.url)
    os.rename(o.portfile + ".new", o.portfile)
    site.server.serve_forever()


if __name__ == "__main__":
    main()
