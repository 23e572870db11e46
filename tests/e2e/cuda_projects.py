"""Real CUDA projects, built as their users would build them.

cuda_projects.py build CHOSEN SEEN [NAME...]: builds the projects of CHOSEN (tests/data/cuda_projects.tsv), or those named,
in the folder E2E_TMP; prints TAP lines, and writes what came out to the file SEEN, a row for each project. A project that
is built by its row in tests/data/cuda_projects_seen.tsv must be built again; others may end with a reason, and no wheel may lack
a GPU or a symbol.
cuda_projects.py by_hand CHOSEN OUT PERL [NAME...]: what hipify-perl and hipcc make of the same projects. Their .cu and header
files are translated in place, and hipcc checks the first three .cu files with all of the project's folders, and torch's, as search
paths: "2 of 3".
cuda_projects.py table CHOSEN SEEN: the table of doc/cuda.md.

The readers are not rocsmith's: llvm-objdump says which GPUs a library has code for, pip installs the wheel, ctypes loads the
libraries on those of the SDK. SURVEY_LIMIT: seconds for a command, SURVEY_NICE: how nice it is.
"""
import csv
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
GPUS = ("gfx1201", "gfx90a")
COLUMNS = ("name", "result", "libraries", "seconds", "given", "reason", "judged", "by_hand", "commit")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t",
            quoting=csv.QUOTE_NONE))


def run(argv, log, limit=int(os.environ.get("SURVEY_LIMIT", 600)), **more):
    """The exit status, 124 after `limit` seconds; stdout and stderr go to the file `log`."""
    with open(log, "wb") as out:
        child = subprocess.Popen(["nice", "-n", os.environ.get("SURVEY_NICE", "10"), *map(str, argv)], stdout=out, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, start_new_session=True, **more)
        try:
            return child.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 15)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
                child.wait()
            return 124


def sums(folder):
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else
        hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if not path.is_dir()}


def fetch(project):
    """The unpacked sources, from the cache or by apt and pip's index; None when they cannot be had."""
    if project["from"] == "debian":
        argv = [TOP / "tools/debian-source", "sid", project["name"], project["sha256"]]
    else:
        argv = [TOP / "tools/sdist-get", f"{project['name']}=={project['version']}", project["sha256"]]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    return pathlib.Path(done.stdout.strip()) if done.returncode == 0 else None


def targets(library, llvm, scratch):
    """The GPUs that llvm-objdump finds code for, each bundle for itself; it writes what it finds beside the library."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    copy = scratch / "lib.so"
    shutil.copy(library, copy)
    text = subprocess.run([*llvm, "--offloading", copy], cwd=scratch, capture_output=True, text=True)
    names = [path.name for path in scratch.iterdir()] + text.stdout.split()
    found = re.findall(r"gfx[0-9a-f]+", " ".join(names))
    return sorted(set(found)), all(found.count(name) == found.count(found[0]) for name in found)


LOAD = """
import ctypes, sys
for name in sys.argv[1:]:
    ctypes.CDLL(name, ctypes.RTLD_GLOBAL)
"""


class Survey:
    def __init__(self):
        self.rocsmith = os.environ["ROCSMITH"]
        self.folder = pathlib.Path(os.environ["E2E_TMP"])
        self.llvm = json.loads(os.environ["LLVM_OBJDUMP"])
        self.torch = os.environ.get("TORCH_WHEEL")
        done = subprocess.run(["git", "-C", TOP, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
        self.commit = done.stdout.strip()

    def build(self, work, project, given, log):
        """Runs `rocsmith build` as a user would; `given` is nothing, what the project's documentation names, or the line for
        rocsmith.yaml that rocsmith proposed."""
        sdk = re.match(r"--sdk (\S+) ?", given)
        given = given[sdk.end():] or "-" if sdk else given
        self.sdk = sdk.group(1).replace(":", "-") if sdk else "debian-sid"
        kind, _, value = given.partition(" ")
        environment = {key: text for key, text in os.environ.items() if key not in ("CC", "CXX", "CCACHE_DIR")}
        argv = [self.rocsmith, "build", "project", "--gpu", ",".join(GPUS), "-o", "out", "--build-dir", "b", "-j2"]
        if project["system"] == "torch" or "torch at build time" in project["needs"]:
            argv += ["--with", self.torch, "--torch-as-rocm"]
        if sdk:
            argv += ["--sdk", sdk.group(1)]
        if kind == "env":
            environment.update([value.split("=", 1)])
        elif kind != "-":
            (work / "survey.yaml").write_text(f"build: {{options: [{value}]}}\n" if kind == "options" else given + "\n")
            argv += ["--config", "survey.yaml"]
        return run(argv, log, cwd=work, env=environment)

    def make(self, work, project, log):
        """A Makefile, which `rocsmith build` does not run: by the folder that stands for a CUDA toolkit."""
        libraries = [name.replace("cu", "hip", 1).lower() for name in project["needs"].split(", ") if name.startswith("cu")]
        status = run([self.rocsmith, "sdk", "install", "debian", "--suite", "sid", "--components", ",".join(["compiler", *libraries])],
            work / "sdk.txt", cwd=work) or run([self.rocsmith, "sdk", "shims", "--cuda", "toolkit", "--gpu", ",".join(GPUS)], log, cwd=work)
        if status:
            return status
        cuda = work / "toolkit/cuda"
        shutil.copytree(work / "project", work / "copy")
        words = project["switch"].split()[1:]
        return run(["make", "-C", "copy", "-j2", *words, f"CUDA_BASE={cuda}", f"CUDA_HOME={cuda}", f"CUDA_PATH={cuda}"], log, cwd=work,
            env={**os.environ, "PATH": f"{cuda}/bin:{work}/toolkit/host:{os.environ['PATH']}", "LIBRARY_PATH": f"{cuda}/lib64",
                "CPATH": f"{cuda}/include"})

    def examine(self, work, project):
        """What is wrong with the libraries that came out, or None, and how many have device code."""
        if project["system"] == "make":
            places = [path for path in (work / "copy").rglob("*") if path.is_file() and not path.is_symlink() and
                path.open("rb").read(4) == b"\x7fELF" and path.suffix != ".o"]
        else:
            wheels = list((work / "out").glob("*.whl"))
            if len(wheels) != 1:
                return f"{len(wheels)} wheels", 0
            done = run([sys.executable, "-m", "venv", "--without-pip", "venv"], work / "pip.log", cwd=work) or run([sys.executable,
                "-m", "pip", "--python", "venv/bin/python", "install", "--no-deps", "--no-index", "-q", wheels[0]], work / "pip.log", cwd=work)
            if done:
                return "pip does not install the wheel", 0
            with zipfile.ZipFile(wheels[0]) as wheel:
                wheel.extractall(work / "site")
            places = [path for path in (work / "site").rglob("*.so*") if path.open("rb").read(4) == b"\x7fELF"]
        device = 0
        for path in places:
            found, even = targets(path, self.llvm, work / "scratch")
            device += bool(found)
            if found and found != sorted(GPUS):
                return f"{path.name} has code for {' '.join(found)}", device
            if found and not even:
                return f"{path.name}: not every bundle has all GPUs", device
        if project["system"] not in ("torch", "make") and "torch" not in project["needs"] and places:
            if run([self.rocsmith, "sdk", "run", "--sdk", self.sdk, "--host", "--", sys.executable, "-c", LOAD, *places], work / "load.log", cwd=work):
                return "load: " + (work / "load.log").read_text(errors="replace").strip().split("\n")[-1], device
        return None, device

    def project(self, project):
        work = self.folder / project["name"]
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        seen = dict.fromkeys(COLUMNS, "")
        seen["name"], seen["commit"] = project["name"], self.commit
        source = fetch(project)
        if not source:
            return {**seen, "result": "not fetched"}
        shutil.copytree(source, work / "project", symlinks=True)
        before = sums(work / "project")
        run([self.rocsmith, "plan", "project", "--gpu", ",".join(GPUS)], work / "plan.txt", cwd=work)
        start, given, text = time.monotonic(), "-", ""
        if project["system"] == "make":
            status = self.make(work, project, work / "build.txt")
            wrong, device = self.examine(work, project) if status == 0 else (None, 0)
            text = (work / "build.txt").read_text(errors="replace")
        lines = []
        for turn in range(0 if project["system"] == "make" else 4):
            shutil.rmtree(work / "out", ignore_errors=True)
            log = work / f"build{turn or ''}.txt"
            status = self.build(work, project, given, log)
            text = log.read_text(errors="replace")
            wrong, device = self.examine(work, project) if status == 0 else (None, 0)
            more = [line for line in proposed(text) if line not in lines]
            then = merged(lines + more) if more else project["switch"] if not lines else given
            if device or status == 124 or then in ("-", given) or turn == 3 or "only host calls" in text:
                break
            given, lines = then, lines + more
        seen["seconds"] = str(round(time.monotonic() - start))
        # sources that only make kernels at run time, or only call libraries, have none, and rocsmith says so
        kernels = "only host calls" not in text and any(path.suffix == ".cu" for path in source.rglob("*"))
        seen["given"] = "-" if project["system"] == "make" else given
        seen["libraries"] = str(device)
        if status == 124:
            seen["result"] = "time"
        elif status:
            seen["result"], seen["reason"] = f"exit {status}", reason(text, work)
        elif wrong:
            seen["result"], seen["reason"] = "wrong", wrong
        elif not device and kernels:
            seen["result"], seen["reason"] = "no device code", reason(text, work)
        else:
            seen["result"] = "built" if given == "-" else "built with a line"
            if project["system"] != "make":
                seen["reason"] = self.again(work, project, given)
        if sums(work / "project") != before:
            seen["result"], seen["reason"] = "wrong", "the sources were modified"
        return seen

    def again(self, work, project, given):
        for log in (work / "b/log").glob("*.log"):
            log.unlink()
        status = self.build(work, project, given, work / "again.txt")
        return "" if status == 0 and not list((work / "b/log").glob("*.log")) else "a second build runs something"


def proposed(text):
    """The lines for rocsmith.yaml in rocsmith's hints, and another SDK that it names."""
    return re.findall(r"(build: \{.*\}|--sdk [\w:]+(?= a build finds it))", text)


def merged(lines):
    """One line for rocsmith.yaml from several, behind the last SDK."""
    keys, sdk = {}, [line for line in lines if line.startswith("--sdk")][-1:]
    for line in lines:
        for key, value in re.findall(r"(\w+): \[([^\]]*)\]", line):
            keys.setdefault(key, []).append(value)
    yaml = "build: {" + ", ".join(f"{key}: [{', '.join(values)}]" for key, values in keys.items()) + "}"
    return " ".join(sdk + ([yaml] if keys else []))


def reason(text, work):
    """The first error of a run and the lines that belong to it, on one line, without the names of our folders."""
    lines = re.sub(rf"\x1b\[[0-9;]*m|{re.escape(str(work))}/(project/)?", "", text).split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith("error:")), None)
    if start is None:
        return " ".join(lines[-3:]).strip()[:300]
    more = [line.strip() for line in lines[start:start + 8] if line.strip() and "its whole output" not in line]
    return " / ".join(more).replace("\t", " ")[:500]


SOURCES = {".cu", ".cuh", ".h", ".hpp", ".cpp", ".cc", ".c", ".inl"}


def by_hand(project, perl, work):
    source = fetch(project)
    if not source:
        return ""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source, work, symlinks=True)
    files = [path for path in sorted(work.rglob("*")) if path.suffix in SOURCES and path.is_file() and not path.is_symlink()]
    for path in files:
        if b"cuda" in path.read_bytes() or b"cu" in path.suffix.encode():
            run(["perl", perl, "-inplace", "-quiet-warnings", path], os.devnull, 60)
    kernels = [path for path in files if path.suffix == ".cu"][:3]
    folders = sorted({str(path.parent.relative_to(work)) for path in files} | {"."})[:200]
    torch = os.environ.get("TORCH_HEADERS")
    words = [f"-I{folder}" for folder in folders] + ([f"-I{torch}/include", f"-I{torch}/include/torch/csrc/api/include"] if torch else [])
    good = sum(run([os.environ["ROCSMITH"], "sdk", "run", "--", "hipcc", "-std=c++17", "-w", "-fsyntax-only",
        f"--offload-arch={GPUS[0]}", "-x", "hip", *words, path.relative_to(work)], f"{work}.log", 120, cwd=work) == 0 for path in kernels)
    return f"{good} of {len(kernels)}" if kernels else "no .cu"


def table(chosen, seen):
    """Rows of `doc/cuda.md`: what came out in a word, with the commit where it is not the one that the text names, and
    what a person says of the reason."""
    by_name = {row["name"]: row for row in seen}
    print("| project | build system | rocsmith | why | .cu by hipify-perl + hipcc |\n|---|---|---|---|---|")
    for project in chosen:
        row = by_name[project["name"]]
        word = row["result"] if row["result"] in ("built", "not tried", "time") else "built with " + f"`{row['given']}`" \
            if row["result"] == "built with a line" else "not built"
        word += f" ({row['commit']})" if row["commit"] else ""
        print(f"| `{project['name']}` {project['version']} | {project['system']} | {word} | {row['judged']} | {row['by_hand']} |")


def main():
    command, chosen, path, *names = sys.argv[1:]
    chosen = rows(chosen)
    if command == "table":
        return table(chosen, rows(path))
    if command == "by_hand":
        perl, *names = names
        for project in chosen:
            if not names or project["name"] in names:
                found = by_hand(project, perl, pathlib.Path(os.environ["E2E_TMP"]) / "by_hand" / project["name"])
                with open(path, "a") as out:
                    out.write(f"{project['name']}\t{found}\n")
        return 0
    known = TOP / "tests/data/cuda_projects_seen.tsv"
    known = {row["name"]: row for row in rows(known)} if known.exists() else {}
    survey, failed = Survey(), 0
    for project in chosen:
        if names and project["name"] not in names:
            continue
        before = os.times()
        row = survey.project(project)
        after = os.times()
        cpu = after.children_user - before.children_user + after.children_system - before.children_system
        print(f"# {project['name']}: {cpu:.0f} s of CPU", flush=True)
        with open(path, "a") as out:
            out.write("\t".join(row[column] for column in COLUMNS) + "\n")
        expected = known.get(project["name"], {}).get("result", "")
        if row["result"] == "not fetched":
            print(f"skip {project['name']}: cannot be fetched")
        elif not expected.startswith("built") and re.fullmatch("exit [1-5]", row["result"]) and row["reason"]:
            print(f"ok {project['name']}: refused with a reason, {row['result']}", flush=True)
        elif not row["result"].startswith("built") and (expected.startswith("built") or row["result"] not in ("time", "no device code")):
            failed = 1
            print(f"not ok {project['name']}: {row['result']} {row['reason']}", flush=True)
        else:
            print(f"ok {project['name']}: {row['result']}", flush=True)
    return failed


sys.exit(main())
