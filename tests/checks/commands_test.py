#!/usr/bin/env python3
"""What we tell users to type exists: the commands of rocsmith in the entries of explain, the rules of doctor, README, doc/ and the man
pages have the program's names and options, and as many arguments as they want; those in messages have its names and options.
commands_test.py ROCSMITH"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
OFTEN = {"--help", "--json", "--dry-run", "--quiet", "--verbose", "--jobs", "--color", "--trace", "--version", "-h", "-n", "-q", "-v", "-j"}
VALUES = {"--jobs", "--color", "--trace", "-j"}
# the end of a command in a line of a shell
ENDS = re.compile(r"\s(?:&&|\|\|?|;|>|<|2>|#)(?=\s|$)|[;)`]")


def texts():
    """(where, text): the commands of data, and of the documents' code."""
    for path in [*sorted(TOP.glob("data/diagnoses/*.yaml")), TOP / "data/rules.yaml"]:
        for n, line in enumerate(path.read_text().splitlines(), 1):
            for text in re.findall(r"command: '((?:[^']|'')*)'", line):
                yield "%s:%d" % (path.relative_to(TOP), n), text.replace("''", "'")
    for path in sorted(TOP.glob("src/**/*.c")):  # messages quote a command: 'rocsmith sdk list'
        for n, line in enumerate(path.read_text().splitlines(), 1):
            for text in re.findall(r"'(rocsmith [a-z][^'\"]*)'", line):
                yield "%s:%d" % (path.relative_to(TOP), n), re.sub(r"%[.*]*[a-z]+", "X", text)
    for path in [TOP / "README.md", *sorted(TOP.glob("doc/*.md"))]:
        for n, line in enumerate(path.read_text().replace("\\\n", " ").splitlines(), 1):
            if line.startswith(("    rocsmith ", "    $ rocsmith ")):
                yield "%s:%d" % (path.relative_to(TOP), n), line
    for path in sorted(TOP.glob("doc/man/*.scd")):
        example = False  # begins with a tab; "++" ends a line that another one follows
        for n, line in enumerate(path.read_text().replace("\\\\++\n", "").splitlines(), 1):
            example = line.startswith("\trocsmith ") or example and line.startswith("rocsmith ")
            if example:
                yield "%s:%d" % (path.relative_to(TOP), n), line.removesuffix("++").replace("\\", "")
            example = example and line.endswith("++")


def commands(text):
    for found in re.finditer(r"(?:^|[\s(`;])rocsmith (?=[a-z])", text):
        rest = text[found.end():]
        end = ENDS.search(rest)
        yield rest[:end.start()] if end else rest


def complaint(words, table, named):
    """What is wrong with the words, or None. named: they may name a command, or a group of them, and no more."""
    for n in (2, 1):
        command = table.get(" ".join(words[:n]))
        if command:
            break
    else:
        group = named and len(words) == 1 and any(name.startswith(words[0] + " ") for name in table)
        return None if group else "no command '%s'" % " ".join(words[:2])
    options = {o["name"]: o for o in command["options"] if o["kind"] != "argument"}
    short = {"-" + o["short"]: o for o in options.values() if o["short"]}
    wanted = sum(o["required"] for o in command["options"] if o["kind"] == "argument")
    given, words = 0, iter(words[n:])
    for word in words:
        if word == "--" or word.startswith(("[", "...")):
            return None
        name, equal, _ = word.partition("=")
        if not word.startswith("-") or word == "-":
            given += 1
        elif name in OFTEN:
            next(words, None) if name in VALUES and not equal else None
        elif name.removeprefix("--").removeprefix("no-") in options or name.removeprefix("--") in options or name in short:
            o = short.get(name) or options.get(name.removeprefix("--")) or options[name.removeprefix("--").removeprefix("no-")]
            next(words, None) if o["value"] and not equal else None
        else:
            return "'%s' has no option %s" % (command["name"], name)
    return None if named or given >= wanted else "'%s' needs %d arguments" % (command["name"], wanted)


def main():
    out = subprocess.run([sys.argv[1], "help", "--json"], stdout=subprocess.PIPE, check=True).stdout
    table = {c["name"]: c for c in json.loads(out)["commands"]}
    looked, bad = 0, []
    for where, text in texts():
        for command in commands(text):
            looked += 1
            try:
                wrong = complaint(shlex.split(command, comments=True), table, where.startswith("src/"))
            except ValueError:
                wrong = None  # a quotation that goes on
            if wrong:
                bad.append("%s: rocsmith %s: %s" % (where, command.strip(), wrong))
    print("\n".join(bad + ["%d commands" % looked]))
    sys.exit(1 if bad or looked < 50 else 0)


main()
