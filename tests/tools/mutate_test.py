#!/usr/bin/env python3
"""tools/mutate on a small tree: which lines it changes, what it says of tests that can fail and of those that cannot."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tools"))
from mutatelib.points import mutants_of, mutated

TREE = {
    "meson.build": """project('toy', 'c')
core = static_library('core', 'src/toy/toy.c', 'src/toy/far.c')
foreach name : ['toy', 'far']
    test(name, executable('t_' + name, 'tests/t_' + name + '.c', link_with: core), suite: 'unit')
endforeach
""",
    "src/toy/toy.c": """int clamp(int n);
int clamp(int n)
{
	if (n > 9)
		return 9;
	return n < 0 ? 0 : n;
}
""",
    "src/toy/far.c": """int far(int n);
int far(int n)
{
	int unseen = 0;
	while (n > 1)
		n -= 1;
	unseen = 5;
	return n;
}
""",
    "tests/t_toy.c": """int clamp(int n);
int main(void)
{
	for (int i = -20; i < 20; i++)
		if (clamp(i) != (i < 0 ? 0 : i > 9 ? 9 : i))
			return 1;
	return 0;
}
""",
    "tests/t_far.c": "int far(int n);\nint main(void) { return far(3) != 1; }\n",
}


class Points(unittest.TestCase):
    def edits(self, body):
        text = "int f(int a)\n{\n" + body + "\n}\n"
        return [m.new.strip() for line in mutants_of("f.c", text).values() for m in line]

    def test_operators(self):
        self.assertEqual(self.edits("\treturn a + b;"), ["return a - b;"])
        self.assertEqual(self.edits("\treturn a < b && *p;"),
            ["return a <= b && *p;", "return a >= b && *p;", "return a < b || *p;"])
        self.assertEqual(self.edits("\treturn !a;"), ["return a;"])
        self.assertEqual(self.edits("\tchar *p = &b[i];"), [])

    def test_constants(self):
        self.assertEqual(self.edits("\treturn 7;"), ["return 8;", "return 6;"])
        self.assertEqual(self.edits("\treturn 0;"), ["return 1;"])
        self.assertEqual(self.edits("\treturn 0x0fu;"), ["return 0x10u;", "return 0xeu;"])
        self.assertEqual(self.edits("\treturn 0644;"), ["return 0645;", "return 0643;"])
        self.assertEqual(self.edits("\treturn true;"), ["return false;"])
        self.assertEqual(self.edits("\tstruct x y = {0};"), [])
        self.assertEqual(self.edits("\tint y[] = {0, 1 };"), ["int y[] = {1, 1 };", "int y[] = {0, 2 };", "int y[] = {0, 0 };"])

    def test_conditions_and_statements(self):
        self.assertEqual(self.edits("\tif (a)\n\t\tgo(b);"), ["if (!(a))", ";"])
        self.assertEqual(self.edits("\tFOO_EACH (x, list)\n\t\tgo(b);"), [";"])
        self.assertEqual(self.edits("\tint n = g(a);"), [])

    def test_texts_and_comments_stay(self):
        self.assertEqual(self.edits("\treturn \"1 + 1\"; /* 1 < 2 */ // a && b\n#if 1 < 2\n#endif\n\treturn '1';"), [])

    def test_only_the_edit_changes(self):
        text = "int f(void)\n{\n\treturn 1 + 2;\n}\n"
        for line in mutants_of("f.c", text).values():
            for m in line:
                self.assertEqual(mutated(text, m.edit), text.replace(m.old, m.new))


@unittest.skipIf(not shutil.which("bwrap") or not shutil.which("meson"), "needs bwrap and meson")
class Run(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="mutate-"))
        self.addCleanup(shutil.rmtree, self.top)
        for name, text in TREE.items():
            path = self.top / "tree" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def mutate(self, *options, status=0):
        done = subprocess.run([sys.executable, TOP / "tools/mutate", "--tree", self.top / "tree", "--work",
            self.top / "work", "--folders", "toy", *options], check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def results(self):
        lines = (self.top / "work/journal.jsonl").read_text().splitlines()
        return {(e["file"], e["line"]): e for e in map(json.loads, lines)}

    def test_the_whole(self):
        before = {n: (self.top / "tree" / n).read_text() for n in TREE}
        out = self.mutate("--count", "99", "--want", "99", status=1)
        got = self.results()
        self.assertEqual(got["src/toy/far.c", 7]["result"], "survived", out)
        self.assertEqual(got["src/toy/toy.c", 5]["result"], "killed", out)
        self.assertEqual(got["src/toy/toy.c", 5]["by"], "toy")
        self.assertIn("\nsrc/toy/far.c:7", out)
        self.assertEqual(before, {n: (self.top / "tree" / n).read_text() for n in TREE})
        # An entry is enough to make the survivor equivalent, and nothing is tried again.
        entry = got["src/toy/far.c", 7]
        (self.top / "tree/tools").mkdir()
        (self.top / "tree/tools/mutate.equivalent").write_text(
            f"# head\n\n{entry['file']}\n-{entry['old']}\n+{entry['new']}\nwhy: it is not read\n")
        again = self.mutate("--count", "99", "--resume")
        self.assertIn("1 equivalent", again)
        self.assertEqual(self.results(), got)

    def test_the_same_seed_tries_the_same(self):
        some = self.mutate("--list", "--count", "2", "--seed", "3")
        self.assertEqual(some, self.mutate("--list", "--count", "2", "--seed", "3"))
        self.assertTrue(self.mutate("--list", "--count", "4", "--seed", "3").startswith(some))

    def test_a_folder_without_sources(self):
        self.assertIn("no sources in src/none", self.mutate("--folders", "none", status=2))


if __name__ == "__main__":
    unittest.main()
