"""The tree that tools/lint looks at, and what all checks need of it."""
import pathlib
import re
import subprocess


class Tree:
    top = pathlib.Path(__file__).resolve().parents[2]
    build = top / "build"


def tracked(*patterns):
    """Files that git knows or would take, by git's own patterns."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
        "--", *patterns], cwd=Tree.top, stdout=subprocess.PIPE, check=True).stdout.decode()
    return [name for name in out.split("\0") if name and (Tree.top / name).is_file()]


def read(name):
    return (Tree.top / name).read_text(encoding="utf-8", errors="replace")


C_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_of(text):
    """C without comments and the content of strings; lines stay where they are."""
    def blank(match):
        token = match.group(0)
        return '""' if token[0] == '"' else "''" if token[0] == "'" else re.sub(r"[^\n]", " ", token)
    return C_TOKEN.sub(blank, text)


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def show(problems):
    for problem in problems:
        print(problem)
    return not problems


def limited(name, value, limit):
    """One line of a table; True when the value is within its limit."""
    bad = limit is not None and value > limit
    print(f"{name:28} {value:8}   {'' if limit is None else f'<= {limit}'}{'   FAILS' if bad else ''}")
    return not bad


class Allowed:
    """The rows of tools/lint.allow for one check: NAME -> why. What is not needed any more is a
    problem too, so that the list cannot outlive its reasons."""

    def __init__(self, check):
        self.check, self.why, self.used = check, {}, set()
        path = Tree.top / "tools/lint.allow"
        for line in path.read_text().splitlines() if path.exists() else []:
            words = line.split(None, 2)
            if words and words[0] == check:
                self.why[words[1]] = words[2] if len(words) > 2 else ""

    def __contains__(self, name):
        self.used.add(name)
        return bool(self.why.get(name))

    def problems(self):
        stale = [f"tools/lint.allow: {self.check} {name}: nothing needs this row any more"
            for name in sorted(set(self.why) - self.used)]
        return stale + [f"tools/lint.allow: {self.check} {name}: a row needs a reason"
            for name, why in self.why.items() if not why]
