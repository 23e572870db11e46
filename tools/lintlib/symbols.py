"""Checks by the symbols of the object files: what nm says is used, not what a name looks like.

A file here is a .c file with its header. The object files are those of the build folder, found
through its compile_commands.json: those of src/ are the program, all others (tests, tools) are not.
"""
import collections
import json
import os
import re
import subprocess

from .tree import Allowed, Tree, code_of, limited, read, show

# Ceilings of files that use each other (pairs that are one idea), and of the longest chain of files each of which uses the next.
CIRCLES = 0
CIRCLE_FILES = 0
FLOORS = {"hipify": 8}


class House:
    """Which file of the program defines and uses which symbol."""

    def __init__(self):
        self.home, self.needs, self.outside = {}, {}, collections.defaultdict(set)
        objects = self.objects()
        for path, kind, symbol in self.symbols(objects):
            source = objects[path]
            if not source.startswith("src/"):
                if kind == "U":
                    self.outside[symbol].add(source)
            elif kind == "U":
                self.needs.setdefault(source, set()).add(symbol)
            elif kind in "TDBRVWC":
                self.home[symbol] = source
        for source in objects.values():
            if source.startswith("src/"):
                self.needs.setdefault(source, set())
        self.uses = {source: {self.home[s] for s in needed if s in self.home} - {source}
            for source, needed in self.needs.items()}

    @staticmethod
    def objects():
        """Object file -> source file, as the tree calls it; generated ones of src/ are src/NAME.c too, and
        tables of data/ are src/data/NAME.c."""
        found = {}
        for entry in json.loads((Tree.build / "compile_commands.json").read_text()):
            path = os.path.join(entry["directory"], entry["output"])
            source = os.path.join(entry["directory"], entry["file"])
            inside = Tree.build if source.startswith(f"{Tree.build}/src") else Tree.top
            table = re.fullmatch(rf"{Tree.build}/(\w+_table\.c)", source)
            if os.path.exists(path):
                found[path] = f"src/data/{table[1]}" if table else os.path.relpath(source, inside)
        return found

    @staticmethod
    def symbols(objects):
        out = subprocess.run(["nm", "-A", "--format=posix", *objects], stdout=subprocess.PIPE,
            check=True).stdout.decode()
        for line in out.splitlines():
            path, symbol, kind = re.match(r"(.*?): (\S+) (\S)", line).groups()
            yield path, kind, symbol

    def tie(self, one, other):
        return ", ".join(sorted(s for s in self.needs[one] if self.home.get(s) == other))


def rings(uses):
    """Tarjan: the sets of files that use each other, those below first; most are of one file."""
    number, low, stack, found = {}, {}, [], []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in sorted(uses[file]):
            if other not in number:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], number[other])
        if low[file] == number[file]:
            at = stack.index(file)
            found.append(stack[at:])
            del stack[at:]

    for file in sorted(uses):
        if file not in number:
            visit(file)
    return found


def floors(house, groups, folder):
    """The longest chain within a folder ("" for all), from its top file down."""
    chain = {}
    for group in groups:  # what a group uses stands before it
        inside = [file for file in group if file.startswith(f"src/{folder}") and
            (Tree.top / file).exists()]  # a generated table is no floor
        below = [chain[other] for file in inside for other in house.uses[file]
            if other not in group and other.startswith(f"src/{folder}")]
        longest = inside + max(below, key=len, default=[])
        chain.update((file, longest) for file in group)
    return max(chain.values(), key=len, default=[])


def check_circles(_):
    house = House()
    groups = rings(house.uses)
    circles = [sorted(group) for group in groups if len(group) > 1]
    good = limited("circles", len(circles), CIRCLES)
    good &= limited("files of the largest circle", max(map(len, circles), default=0), CIRCLE_FILES)
    for circle in circles:
        print(f"    {len(circle)} files use each other:")
        for one in circle:
            for other in sorted(house.uses[one] & set(circle)):
                print(f"        {one} -> {other}: {house.tie(one, other)}")
    print("floors: the longest chain of files each of which uses the next")
    limited("    house", len(floors(house, groups, "")), None)
    for folder in sorted({file.split("/")[1] for file in house.uses if file.count("/") > 1}):
        longest = floors(house, groups, folder + "/")
        if not limited("    " + folder, len(longest), FLOORS.get(folder)):
            good = False
            print("\n".join("        " + file for file in longest))
    if not good:
        print("circles: there are more circles or floors than tools/lintlib/symbols.py allows")
    return good


def mentions(source, symbol):
    return len(re.findall(rf"\b{symbol}\b", code_of(read(source)))) if source.endswith(".c") else 0


def check_unused(_):
    """Each external symbol has a user in another file of the program. A parser that its own file uses
    may be external for a fuzz target alone, and gen_table counts the rows of tables that are walked up to the empty one."""
    house, allowed, problems = House(), Allowed("unused"), []
    used = set().union(*house.needs.values())
    for symbol, source in sorted(house.home.items(), key=lambda row: (row[1], row[0])):
        counts = symbol.endswith("_count") and symbol.removesuffix("_count") + "_table" in used
        if symbol in used or symbol == "main" or symbol in allowed or counts:
            continue
        own = (Tree.top / source).exists() and mentions(source, symbol) > 1
        tests = sorted(house.outside[symbol])
        if own and any(name.startswith("tests/fuzz/") for name in tests):
            continue
        who = "only its own file uses it: make it static" if own else "nobody uses it"
        if tests:
            who = f"only {'its own file and ' * own}{tests[0]} uses it"
        problems.append(f"{source}: {symbol}: {who}")
    return show(problems + allowed.problems())
