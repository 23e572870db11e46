#!/usr/bin/env python3
"""tools/lint against small trees, each with one thing wrong: what a check is there for, it says."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

LINT = pathlib.Path(__file__).resolve().parents[2] / "tools/lint"


class Lint(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="lint-"))
        self.addCleanup(shutil.rmtree, self.top)
        subprocess.run(["git", "init", "-q", self.top], check=True)

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def lint(self, check, good=False):
        done = subprocess.run([sys.executable, LINT, check, "--top", self.top], check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0 if good else 1, text)
        return text

    def compile(self, **files):
        """Objects of these sources (src__a: src/a.c), as meson describes them."""
        build, commands = self.top / "build", []
        build.mkdir(exist_ok=True)
        (build / "rocsmith").touch()
        for stem, text in files.items():
            name = stem.replace("__", "/") + ".c"
            self.write(name, text)
            subprocess.run(["cc", "-c", self.top / name, "-o", build / f"{stem}.o"], check=True)
            commands.append({"directory": str(build), "file": f"../{name}", "output": f"{stem}.o"})
        (build / "compile_commands.json").write_text(json.dumps(commands))

    def link(self, *flags):
        """A program of these flags in the place of rocsmith."""
        build = self.top / "build"
        build.mkdir(exist_ok=True)
        self.write("src/main.c", "#include <stdio.h>\nint main(int n, char **v)\n{\n"
            "\tchar b[9];\n\tsnprintf(b, (size_t)n, \"%s\", v[0]);\n\treturn puts(b);\n}\n")
        command = ["cc", *flags, str(self.top / "src/main.c"), "-o", str(build / "rocsmith")]
        subprocess.run(command, check=True)
        (build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(build), "file": "../src/main.c", "command": " ".join(command)}]))

    def test_a_program_without_hardening_is_told(self):
        hard = ["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-fstack-protector-strong",
            "-fcf-protection", "-pie", "-fPIE", "-Wl,-z,relro", "-Wl,-z,now"]
        self.link(*hard)
        self.lint("hardening", good=True)
        for weak, says in {"-no-pie": "position-independent", "-Wl,-z,execstack": "executable stack",
                "-Wl,-z,norelro": "read-only relocations", "-Wl,-z,lazy": "lazily",
                "-fno-stack-protector": "no stack protector", "-fcf-protection=none": "no CET",
                "-U_FORTIFY_SOURCE": "_FORTIFY_SOURCE"}.items():
            self.link(*[flag for flag in hard if weak != "-no-pie" or "pie" not in flag.lower()], weak)
            self.assertIn(says, self.lint("hardening"))
        self.link("-O0", *hard[3:])  # a debug build has all but what needs an optimiser
        self.lint("hardening", good=True)

    def test_circles_are_told_with_what_ties_them(self):
        ring = {f"src__hipify__{n}": f"void f{(n + 1) % 9}(void); void f{n}(void) {{ f{(n + 1) % 9}(); }}"
            for n in range(9)}
        self.compile(**ring)
        text = self.lint("circles")
        self.assertIn("9 files use each other", text)
        self.assertIn("src/hipify/0.c -> src/hipify/1.c: f1", text)

    def test_floors_are_the_longest_chain(self):
        chain = {f"src__hipify__{n}": f"void f{n + 1}(void); void f{n}(void) {{ f{n + 1}(); }}"
            for n in range(14)}
        self.compile(**chain)
        text = self.lint("circles")
        self.assertRegex(text, r"circles +0 ")
        self.assertRegex(text, r"hipify +14 .*FAILS")

    def test_two_files_on_one_floor_are_no_circle(self):
        self.compile(src__main="void a(void); void b(void); int main(void) { a(); b(); }",
            src__base__a="void a(void) { }", src__base__b="void b(void) { }")
        text = self.lint("circles", good=True)
        self.assertRegex(text, r"house +2 ")

    def test_symbols_without_a_user_are_told_apart(self):
        self.compile(src__main="void used(void); int main(void) { used(); }",
            src__base__a="void own(void) { } void used(void) { own(); } void none(void) { }"
                " void tested(void) { } void parser(void) { } void other(void) { parser(); }",
            tests__fuzz__fuzz_a="void parser(void); int main(void) { parser(); }",
            tests__unit__t_a="void tested(void); int main(void) { tested(); }")
        text = self.lint("unused")
        self.assertIn("src/base/a.c: own: only its own file uses it", text)
        self.assertIn("src/base/a.c: none: nobody uses it", text)
        self.assertIn("src/base/a.c: tested: only tests/unit/t_a.c uses it", text)
        self.assertIn("src/base/a.c: other: nobody uses it", text)
        self.assertNotIn("a.c: used: ", text)
        self.assertNotIn("a.c: parser: ", text)

    def test_what_is_allowed_needs_a_reason_and_a_use(self):
        self.compile(src__main="int main(void) { }", src__base__a="void none(void) { }")
        self.write("tools/lint.allow", "# why\nunused none kept for plugins\n")
        self.lint("unused", good=True)
        self.write("tools/lint.allow", "unused none\n")
        self.assertIn("a row needs a reason", self.lint("unused"))
        self.write("tools/lint.allow", "unused none for plugins\nunused gone for nobody\n")
        self.assertIn("unused gone: nothing needs this row", self.lint("unused"))

    def test_file_calls_outside_base(self):
        self.write("src/base/fs.c", "void f(void) { open(p, 0); }")
        self.write("src/sdk/a.c", "/* open() */\nvoid f(struct s *s)\n{\n\ts->open(1);\n\tfs_open(2);\n"
            "\tputs(\"rename(a)\");\n\tlstat(p, &st);\n}\n")
        text = self.lint("filecalls")
        self.assertEqual(text.splitlines(),
            ["src/sdk/a.c:7: lstat(): files are reached through src/base/"])
        self.write("tools/lint.allow", "filecalls src/sdk/a.c:lstat of another process\n")
        self.lint("filecalls", good=True)

    def test_names_of_files_that_are_not_there(self):
        self.write("src/base/fs.c", "/* See base/fs.c, fs.h and tests/unit/t_NAME.c. */\n")
        self.write("tests/unit/t_fs.c", '/* a fixture: makes.h */\nconst char *s = "makes.h";\n')
        self.write("doc/a.md", "Read `gone.md`, then\n`base/fs.c`.\n")
        self.assertEqual(self.lint("names").splitlines(),
            ["doc/a.md:1: there is no file 'gone.md'", "src/base/fs.c:1: there is no file 'fs.h'"])

    def test_options_that_nobody_reads(self):
        self.write("src/cli/cmd_a.c", """
struct a_args { bool one, two, three; };
#define ARGS struct a_args
static const struct opt opts[] = {
	{OPT_FLAG("one", one, "with (brackets)")},
	{OPT_FLAG("two", two, "text"), .sname = 't'},
	{OPT_VALUE("three", OPT_STR, three, "X", "text")},
};
static void run(struct a_args *a) { if (a->one) a->two = true; }
""")
        self.assertEqual(self.lint("rows").splitlines(),
            [f"src/cli/cmd_a.c: nobody reads 'struct a_args'.{m}, where an option goes"
                for m in ("three", "two")])

    def test_findings_and_their_registry(self):
        self.write("data/findings.def", 'X(V_A, "a-a", SEV_ERROR, "")\nX(V_B, "b-b", SEV_ERROR, "")\n'
            'FINDING("c-c", SEV_INFO, "")\nFINDING("d-d", SEV_INFO, "")\nFINDING("d-d", SEV_INFO, "")\n')
        self.write("src/machine/findings.c", """
static struct finding *add(struct arena *a, const char *id)
{
	return finding_add(a, list(a), id, SEV_INFO);
}
void f(void)
{
	add(a, x() ? "c-c" : "e-e");
	finding_add(a, list(a),
		"g-g", SEV_INFO);
	other("h-h", V_A);
}
""")
        self.write("data/rules.yaml", "rule:\n- id: a-a\n- id: c-c\n- id: i-i\n")
        self.write("doc/man/rocsmith-doctor.1.scd", "*c-c* (info), *i-i* (error)\n")
        self.assertEqual(self.lint("findings").splitlines(),
            ["data/findings.def: 'd-d' stands there 2 times",
                "src/machine/findings.c:8: the finding 'e-e' is not in data/findings.def",
                "src/machine/findings.c:9: the finding 'g-g' is not in data/findings.def"] +
            [f"data/rules.yaml: '{n}' is not in data/findings.def, or not in rocsmith-doctor(1)" for n in ("a-a", "i-i")] +
            [f"data/findings.def: nothing finds '{n}'" for n in ("b-b", "d-d", "d-d")])


if __name__ == "__main__":
    unittest.main()
