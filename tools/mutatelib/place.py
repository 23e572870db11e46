"""A copy of the tree with a build folder of its own, in which one mutant at a time is built and tried.

Mutated code does what it should not: it runs with everything read-only but this place, without a
network, with limits of memory and file size, and all its processes end with it. As in the second pass of
tools/check, sanitizers look on: a read behind the end and memory that nobody frees are failures, too.
"""
import collections
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

MEMORY_MIB, FILE_SIZE = 6 << 10, 20 << 30
BUILD_SECONDS = 600
# A test may take this and ten times what it took on the unchanged tree; before that is known, the other.
TEST_SECONDS, FIRST_SECONDS = 20, 300
# Areas of tests/cases for a folder of src/; others have the area of their name, if there is one.
AREAS = {"formats": ["inspect", "verify", "report", "bundle", "slim", "split", "wheel"],
    "devcode": ["inspect", "verify", "slim"], "plan": ["plan", "why", "build", "foreign"],
    "changes": ["patch", "hipify"], "recipe": ["patch"], "machine": ["doctor"], "make": ["build"], "term": ["cli"],
    "target": ["plan", "inspect"], "know": ["doctor"], "wheel": ["build", "verify"]}
# Scripts of tests/e2e for sources of src/ whose work only a whole program shows, with an archive of their own, or
# other programs judge; and the program.
SCRIPTS = {"sdk/": ("sdk_local", "tests/rocsmith-fault"), "changes/": ("recipes_faults", "tests/rocsmith-fault"),
    "formats/elf_": ("elf_edit", "tests/elf-edit")}

# area: of test cases or a script, else ""; target: what to build; command: from the top of the tree
Test = collections.namedtuple("Test", "name area target command env")


class Failed(Exception):
    pass


def copy_tree(source, to):
    """Files that git knows or would (without git: all but build folders); those that are the same stay untouched."""
    if (source / ".git").exists():
        names = subprocess.run(["git", "-C", source, "ls-files", "-z", "-co", "--exclude-standard"], check=True,
            capture_output=True, text=True).stdout.split("\0")
    else:
        names = [str(p.relative_to(source)) for p in source.rglob("*") if not str(p.relative_to(source)).startswith("build")]
    names = {n for n in names if n and ((source / n).is_symlink() or (source / n).is_file())}
    for old in [p for p in to.rglob("*") if not p.is_dir() or p.is_symlink()]:
        if str(old.relative_to(to)) not in names:
            old.unlink()
    for name in names:
        a, b = source / name, to / name
        if not a.is_symlink() and b.is_file() and a.read_bytes() == b.read_bytes():
            continue
        b.parent.mkdir(parents=True, exist_ok=True)
        b.unlink(missing_ok=True)
        shutil.copy2(a, b, follow_symlinks=False)
        if not b.is_symlink():
            os.utime(b)  # newer than what was built of the text before


class Place:
    def __init__(self, source, top, sandbox):
        self.top, self.tree, self.build = top, top / "tree", top / "build"
        self.sandbox, self.seconds, self.left_out, self.killers = sandbox, {}, [], collections.Counter()
        self.leaks = True
        for name in ("home", "tmp", "tree"):
            (top / name).mkdir(parents=True, exist_ok=True)
        copy_tree(source, self.tree)
        if not (self.build / "build.ninja").exists():
            self.need(["meson", "setup", self.build, self.tree, "-Dwerror=false", "-Doptimization=1", "-Ddebug=false",
                "-Db_sanitize=address,undefined", "-Db_lundef=false"])
        else:  # which tests there are may be new
            self.need(["ninja", "-C", self.build, "build.ninja"])
        self.tests = self.find_tests()
        self.need(["ninja", "-C", self.build, *sorted({t.target for t in self.tests} | self.programs())])
        self.find_symbols()
        # The search for leaks traces its own process, which not every container lets it do.
        self.leaks = not self.programs() or self.run([self.build / "rocsmith", "--version"], BUILD_SECONDS)[0] == 0

    # ---- running things ----
    def run(self, command, limit, env=None, boxed=True):
        """(exit status, or None when it took too long; output)"""
        def limits():
            for what, most in ((resource.RLIMIT_FSIZE, FILE_SIZE), (resource.RLIMIT_CORE, 0)):
                resource.setrlimit(what, (most, most))
        env = {**os.environ, **(env or {})}
        if boxed:
            env |= {"HOME": str(self.top / "home"), "CCACHE_DISABLE": "1", "UBSAN_OPTIONS": "halt_on_error=1",
                "ASAN_OPTIONS": f"detect_leaks={self.leaks:d}:hard_rss_limit_mb={MEMORY_MIB}",
                "TMPDIR": "/tmp" if self.sandbox else str(self.top / "tmp")}
            if self.sandbox:
                command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", self.top / "tmp",
                    "/tmp", "--bind", self.top, self.top, "--unshare-net", "--unshare-pid", "--die-with-parent", "--",
                    *command]
        with subprocess.Popen([str(c) for c in command], cwd=self.tree, env=env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limits, start_new_session=True) as p:
            try:
                out = p.communicate(timeout=limit)[0]
                status = p.returncode
            except subprocess.TimeoutExpired:
                status, out = None, b""
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return status, out.decode(errors="replace")

    def need(self, command):
        """Part of making the place: of the unchanged tree, so it may use the compiler's cache."""
        status, out = self.run(command, 6 * BUILD_SECONDS, boxed=False)
        if status:
            raise Failed(f"{' '.join(map(str, command[:4]))} failed:\n{out[-2000:]}")

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, self.build], check=True, capture_output=True).stdout)

    def target(self, path):
        return os.path.relpath(path, self.build)

    # ---- tests ----
    def programs(self):
        return {"rocsmith"} if (self.tree / "tests" / "cases").is_dir() else set()

    def find_tests(self):
        """Unit tests and replayed corpora; cases by area, each with a folder of its own for the runner."""
        ret = [Test(t["name"], "", self.target(t["cmd"][0]), t["cmd"], t["env"])
            for t in self.introspect("--tests") if {"unit", "fuzz"} & {s.split(":")[-1] for s in t["suite"]}]
        runner = self.build / "tests" / "case_runner"
        cases = self.tree / "tests" / "cases"
        for area in sorted(p.name for p in cases.iterdir() if p.is_dir()) if cases.is_dir() else ():
            folder = self.top / "cases" / area
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(cases / area, folder / area)
            ret.append(Test("cases/" + area, area, self.target(runner), [runner, self.build / "rocsmith", folder, "--data",
                self.tree / "tests" / "data"], {}))
        for name, target in SCRIPTS.values():
            path = self.tree / "tests" / "e2e" / (name + ".sh")
            if path.exists():
                ret.append(Test("e2e/" + name, "e2e/" + name, target, ["bash", path], {
                    "ROCSMITH": str(self.build / "rocsmith"), "E2E_TMP": str(self.top / "e2e"),
                    "ROCSMITH_HOME": str(self.top / "e2e" / "home"), "ROCSMITH_KILLS": "2", "ROCSMITH_FAULT_POINTS": "4",
                    "ELF_EDIT_KINDS": "empty_strings removed_versions own_version static damaged old_path plain program "
                        "nosections soname gold noseparate"}))
        return ret

    def find_symbols(self):
        """Which sources a test is linked of, and how many of their functions it calls itself."""
        def names(path, *which):
            out = subprocess.run(["nm", "-P", *which, path], capture_output=True, text=True).stdout
            return {line.split()[0] for line in out.splitlines() if line and not line.endswith(":")}
        self.defined, own = {}, {}
        for c in json.loads((self.build / "compile_commands.json").read_text()):
            source = os.path.relpath(os.path.join(c["directory"], c["file"]), self.tree)
            if source.startswith("src/"):
                self.defined[source] = names(self.build / c["output"], "--defined-only", "-g")
            else:
                own.setdefault(os.path.dirname(c["output"]), set()).update(
                    names(self.build / c["output"], "-u") if (self.build / c["output"]).exists() else ())
        self.linked = {t.name: names(self.build / t.target, "--defined-only") for t in self.tests if not t.area}
        self.called = {t.name: own.get(t.target + ".p", set()) for t in self.tests}

    def tests_of(self, source):
        """What can tell that this source changed, the likeliest and quickest first."""
        room = source.split("/")[1]
        areas = AREAS.get(room, [room]) + ["e2e/" + n for at, (n, _) in SCRIPTS.items() if source.startswith("src/" + at)]
        symbols = self.defined.get(source, set())
        def rank(t):
            calls = len(symbols & self.called[t.name])
            return (t.area.startswith("e2e/"), -self.killers[t.name, source], not calls, bool(t.area), -calls, self.seconds.get(t.name, 0))
        return sorted((t for t in self.tests if t.name not in self.left_out and
            (t.area in areas if t.area else symbols & self.linked[t.name])), key=rank)

    def passes(self, t):
        """True, False, or None when it took too long. Where it passes, it tells how long it may take."""
        began = time.monotonic()
        limit = TEST_SECONDS + 10 * self.seconds[t.name] if t.name in self.seconds else FIRST_SECONDS
        if "E2E_TMP" in t.env:  # nothing that an earlier mutant left
            subprocess.run(["rm", "-rf", t.env["E2E_TMP"]], check=True)
            os.makedirs(t.env["E2E_TMP"])
        status, out = self.run(t.command, limit, t.env)
        status = 1 if t.area.startswith("e2e/") and "\nnot ok" in "\n" + out else status
        if status in (0, 77):
            self.seconds[t.name] = max(self.seconds.get(t.name, 0), time.monotonic() - began)
        return None if status is None else status in (0, 77)

    # ---- one mutant ----
    def builds(self, target):
        return self.run(["ninja", "-C", self.build, target], BUILD_SECONDS)[0] == 0

    def told(self, source, text, t):
        """Whether a test that failed fails because of the text: one that never passed is tried without."""
        if t.name in self.seconds:
            return True
        before = (self.tree / source).read_text()
        (self.tree / source).write_text(text)
        if not self.builds(t.target) or not all(map(self.builds, self.programs())) or not self.passes(t):
            self.left_out.append(t.name)
        (self.tree / source).write_text(before)
        return t.name not in self.left_out

    def judge(self, source, text):
        """(result, the test that told) of the text in place of the source; what was there comes back."""
        path = self.tree / source
        before = path.read_text()
        try:
            path.write_text(text)
            tests = self.tests_of(source)
            for target in [*self.programs(), *(t.target for t in tests[:1])]:
                if not self.builds(target):
                    return "does not build", ""
            for t in tests:
                if t.area and not all(map(self.builds, self.programs())) or not self.builds(t.target):
                    return "does not build", ""
                well = self.passes(t)
                if not well and self.told(source, before, t):
                    self.killers[t.name, source] += 1
                    return "timed out" if well is None else "killed", t.name
            return "survived", ""
        finally:
            path.write_text(before)
