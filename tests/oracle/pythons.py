#!/usr/bin/env python3
"""pythons.py ROCSMITH FOLDER [WHEEL...]: compares what `rocsmith doctor --json` says of Python environments with what
pip and the interpreters themselves say.

An environment gets 200 small wheels whose requirements are random (specifiers, markers, extras), and the wheels given;
`pip list` and `pip check` are asked. Which environment is active is asked of python3 with several PATHs.
"""
import base64
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import zipfile

ROCSMITH, FOLDER, *WHEELS = sys.argv[1:]
TOP = pathlib.Path(FOLDER).resolve()
HOME = TOP / "home"
random.seed(12)


def run(*argv, check=True, **env):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYENV", "VIRTUAL", "CONDA", "PYTHON", "PIP"))}
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=TOP,
        env=clean | {"HOME": str(HOME)} | env, encoding="utf-8", check=False)
    assert not check or done.returncode == 0, done.stdout
    return done.stdout


def facts(*more, **env):
    said = json.loads(run(ROCSMITH, "doctor", "--json", *more, check=False, **env))
    return said["facts"]["pythons"]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wheel(name, version, requires):
    """A wheel of nothing but its metadata."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files = {f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
             + "".join(f"Requires-Dist: {line}\n" for line in requires) + "\nA text.\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(text)}\n"
    out = TOP / "wheels" / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(out, "w") as z:
        for path, text in (files | {f"{info}/RECORD": record + f"{info}/RECORD,,\n"}).items():
            z.writestr(path, text)
    return out


VERSIONS = ["1.0", "1.2.3", "2.0", "2.9.1+rocm6.4", "2.9.1", "2.10.0", "2.10.0rc1", "2.9.1.post1", "3.0.dev2", "7.10.0a20251006",
    "2.12.0+rocm10.0", "2.12.0+rocm7.13.0"]
PUBLIC = [v.partition("+")[0] for v in VERSIONS]
MARKERS = ["sys_platform == 'linux'", "sys_platform == 'win32'", 'platform_system == "Linux"', "platform_system != 'Darwin'",
    "platform_machine == 'x86_64'", "platform_machine in 'aarch64 arm64'", "python_version >= '3.9'", "python_version < '3.9'",
    "python_version == '3.*'", "python_version not in '3.7, 3.8'", "extra == 'all'", "os_name == 'nt'", "'linux' in sys_platform",
    "implementation_name == 'cpython'", "platform_python_implementation != 'CPython'"]


def marker(depth=0):
    if depth < 2 and random.random() < 0.4:
        text = f"{marker(depth + 1)} {random.choice(('and', 'or'))} {marker(depth + 1)}"
        return f"({text})" if random.random() < 0.5 else text
    return random.choice(MARKERS)


def requirement(names):
    line = random.choice(names)
    op = random.choice(["", "==", "==", "!=", ">=", "<=", "<", ">", "~="])
    if op:
        version = random.choice(VERSIONS if op in ("==", "!=") else PUBLIC)
        line += f"{random.choice(('', ' '))}{op}{version}"
        if random.random() < 0.2:
            line += f",!={random.choice(VERSIONS)}"
    if random.random() < 0.5:
        line += f"; {marker()}"
    return line


def said_by_pip(text):
    for line in text.splitlines():
        missing = re.fullmatch(r"(\S+) \S+ requires (\S+), which is not installed\.", line)
        wrong = re.fullmatch(r"(\S+) \S+ has requirement (.*), but you have (\S+) (\S+)\.", line)
        if missing:
            yield normal(missing[1]), normal(missing[2]), "is not here"
        elif wrong:
            yield normal(wrong[1]), normal(wrong[3]), wrong[4]


def said_by_us(packages):
    for p in packages:
        for line in p["unmet"]:
            name = normal(re.match(r"[\w.-]*\w", line)[0])
            here = re.search(r", but (?:it (is not here)|(\S+) is here)$", line)
            yield p["name"], name, here[1] or here[2]


def packages():
    names = [f"rocm-p{i}" for i in range(200)] + ["Torch", "torchvision", "pytorch_triton.rocm"]
    absent = ["rocm-absent", "triton", "jax"]
    made = [wheel(n, random.choice(VERSIONS), [requirement(names + absent)]) for n in names]
    env = TOP / "env"
    run(sys.executable, "-m", "venv", env)
    python = env / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", *made, *WHEELS)
    (ours,) = [p for p in facts(PATH=f"{env}/bin:/usr/bin") if p["active"]]
    assert ours["path"] == str(env) and ours["kind"] == "venv", ours["path"]
    listed = json.loads(run(python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"))
    want = {(normal(p["name"]), p["version"]) for p in listed if normal(p["name"]) not in ("pip", "setuptools")}
    got = {(p["name"], p["version"]) for p in ours["packages"]}
    assert got == want, got ^ want
    found = json.loads(run(python, "-c", "import importlib.metadata as m, json; "
        "print(json.dumps([str(d._path) for d in m.distributions()]))"))
    assert {p["path"] for p in ours["packages"]} <= {os.path.realpath(p) for p in found}
    pip, us = set(said_by_pip(run(python, "-m", "pip", "check", check=False))), set(said_by_us(ours["packages"]))
    pip = {x for x in pip if x[1] in {normal(n) for n in names + absent} | {"torch", "numpy", "jaxlib"}}
    assert us == pip, f"only rocsmith: {sorted(us - pip)}\nonly pip: {sorted(pip - us)}"
    print(f"ok {len(got)} packages and {len(us)} requirements that are not met, as pip says")
    return env


def active(env):
    """Of several PATHs: where python3 really is, also in a recording."""
    system, pyenv = TOP / "system", HOME / ".pyenv"
    run(sys.executable, "-m", "venv", "--system-site-packages", system)
    (TOP / "link").symlink_to(env)
    (pyenv / "shims").mkdir(parents=True)
    (pyenv / "versions").mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", pyenv / "versions" / "mine")
    (pyenv / "version").write_text("mine\nsystem\n")
    (pyenv / "shims" / "python3").write_text(f'#!/bin/sh\nexec {pyenv}/versions/$(head -n 1 {pyenv}/version)/bin/python3 "$@"\n')
    (pyenv / "shims" / "python3").chmod(0o755)
    paths = [f"{env}/bin:/usr/bin:/bin", f"/nowhere:{system}/bin:{env}/bin", "/usr/local/bin:/usr/bin:/bin", "/bin",
        f"{TOP}/link/bin:/usr/bin", f"{os.path.dirname(os.path.realpath(sys.executable))}:/usr/bin", f"{pyenv}/shims:/usr/bin"]
    for i, path in enumerate(paths):
        want = run("python3", "-c", "import sys; print(sys.prefix, '%d.%d' % sys.version_info[:2])", PATH=path + ":/bin").split()
        said = facts(PATH=path)
        got = [p for p in said if p["active"] and p["kind"] != "user"]
        assert [(p["path"], p["version"]) for p in got] == [(os.path.realpath(want[0]), want[1])], (path, want, got)
        run(ROCSMITH, "doctor", "--record", TOP / f"copy{i}", check=False, PATH=path)
        again = facts("--sysroot", TOP / f"copy{i}")
        assert json.loads(json.dumps(said).replace(str(HOME), "/home/user")) == again, f"another answer of a recording: {path}"
    print(f"ok python3 is found as {len(paths)} PATHs have it, and recordings say the same")


if __name__ == "__main__":
    for folder in ("home", "wheels"):
        (TOP / folder).mkdir()
    active(packages())
