#!/usr/bin/env python3
"""tools/diagnoses add: the skeleton of an entry and its examples, in a tree of its own. diagnoses_test.py ROCSMITH"""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/diagnoses"
LOG = """\
Loading weights
[rank0]: RuntimeError: the frobnicator "a" has 12345 slots at 0x7f00, see /home/me/x.txt
Aborted (core dumped)
"""


def add(top, log, *words):
    return subprocess.run([sys.executable, TOOL, "add", log, "--top", top, "--rocsmith", sys.argv[1], *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def main():
    results = []

    def check(name, good):
        results.append(good)
        print("ok" if good else "not ok", len(results), "-", name)

    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        for name in ("data/diagnoses", "tests/logs", "src/know"):
            (top / name).mkdir(parents=True)
        (top / "src/know/meson.build").touch()
        log = top / "log"
        log.write_text(LOG)
        done = add(top, log)
        entry = top / "data/diagnoses/the-frobnicator-a-has.yaml"
        check("the first real error gets an entry", done.returncode == 0 and entry.is_file())
        text = entry.read_text() if entry.is_file() else ""
        check("what differs from machine to machine is not in the pattern",
            "text: 'the frobnicator ''a'' has [0-9]+ slots at 0x[0-9a-f]+, see [^ '':]+'" in text)
        check("the log is its example", (top / "tests/logs/the-frobnicator-a-has/yes-1.txt").read_text() == LOG)
        check("an id is taken once", add(top, log).returncode == 1)
        log.write_text("all is well\n")
        check("a log without an error wants a line", add(top, log).returncode == 1)
        check("which can be named", add(top, log, "--line", "1", "--id", "all-well").returncode == 0)
    print(f"1..{len(results)}")
    return 0 if all(results) else 1


sys.exit(main())
