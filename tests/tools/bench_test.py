#!/usr/bin/env python3
"""bench/run on benchmarks of a line or two: what it prints, which promises it sees broken. Its argument is tools/measure."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MEASURE = pathlib.Path(sys.argv.pop()).resolve()


class Bench(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="bench-test-"))
        self.addCleanup(shutil.rmtree, self.top)
        (self.top / "bench").mkdir()
        shutil.copy(TOP / "bench/run", self.top / "bench/run")
        (self.top / "build/tools").mkdir(parents=True)
        (self.top / "build/tools/measure").symlink_to(MEASURE)

    def bench(self, *lines, good=True):
        (self.top / "bench/toy.bench").write_text("\n".join(("[bench]", "title = a toy", *lines)) + "\n")
        done = subprocess.run([sys.executable, self.top / "bench/run", "toy"], check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        text = done.stdout.decode()
        self.assertEqual(done.returncode, 0 if good else 1, text)
        return text

    def test_a_program_that_measures_itself(self):
        text = self.bench("ours = sh -c 'echo 2.03x >>$BENCH_TMP/table'", "show = cat $BENCH_TMP/table", "runs = 0")
        self.assertEqual(text, "toy: a toy\n    2.03x\n")

    def test_ours_alone(self):
        text = self.bench("ours = true", "runs = 1")
        self.assertRegex(text, r"^toy: a toy\n    ours +[0-9.]+ ms +[0-9.]+ MiB\n$")

    def test_promises(self):
        kept = self.bench("peer = true", "ours = true", "runs = 1", "ratio = 0.0001", "memory = 500", "seconds = 30")
        self.assertRegex(kept, r"peer .*\n    ours .*\n    ratio +[0-9.]+ x +[0-9.]+ x\n$")
        broken = self.bench("peer = true", "ours = sleep 0.2", "runs = 1", "ratio = 9999", "memory = 0", "seconds = 0.1", good=False)
        self.assertEqual(broken.count("MISSED"), 3, broken)

    def test_what_is_not_possible_and_what_fails(self):
        self.assertIn("not possible on this machine", self.bench("prepare = exit 77", "ours = true"))
        self.assertIn("preparing failed with 3", self.bench("prepare = exit 3", "ours = true", good=False))
        self.assertIn("'sh -c 'echo no >&2; exit 4'' ended with 4: no", self.bench("ours = sh -c 'echo no >&2; exit 4'", good=False))


if __name__ == "__main__":
    unittest.main()
