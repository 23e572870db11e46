"""torch_amd.py TORCH-DUMP TREE SCRATCH: runs TREE/tools/amd_build/build_amd.py with a hipify of ours
that only notes its arguments, and compares with what rocsmith reads from the script's text: lists,
launches, edits before hipify, the copy after it. Prints one TAP-like line for each.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

dump, tree, scratch = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
amd = json.loads(subprocess.run([dump, tree], check=True, stdout=subprocess.PIPE).stdout)["amd"]
good = True


def say(what, ours, theirs):
    global good
    same = ours == theirs
    good &= same
    print(f"{'ok' if same else 'not ok'} build_amd.py: {what}")
    if not same:
        print(f"  ours   {ours}\n  theirs {theirs}")


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def run(clang):
    """The arguments that hipify() gets in a fresh tree, and the tree."""
    top = scratch / ("clang" if clang else "plain")
    shutil.rmtree(top, ignore_errors=True)
    put(top / "tools/amd_build/build_amd.py", (tree / "tools/amd_build/build_amd.py").read_text())
    put(scratch / "fake/hipify/__init__.py", "")
    put(scratch / "fake/hipify/hipify_python.py",
        "import json\ndef hipify(**arguments):\n    json.dump(arguments, open('arguments.json', 'w'))\n")
    for edit in amd["edits"]:
        text = "kept\n" + "".join(f"a {pair[0]} b {pair[0]}\n" for pair in edit["replace"])
        for name in edit["files"]:
            put(top / name, text)
    for name in amd["extra_files"] + amd["extra_if_there"]:
        put(top / name, "extra\n")
    if amd["copy_from"]:
        put(top / amd["copy_from"], "copied\n")
    put(top / "hip/lib/.hipInfo", "HIP_COMPILER=clang\n" if clang else "HIP_COMPILER=other\n")
    subprocess.run([sys.executable, "-B", "tools/amd_build/build_amd.py", "--project-directory", top,
        "--output-directory", top], check=True, cwd=top, stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(scratch / "fake"), "HIP_PATH": str(top / "hip")})
    return json.loads((top / "arguments.json").read_text()), top


def edited(edit, clang):
    """What our reading says becomes of a file of an edit."""
    lines = ["kept\n"] + [f"a {pair[0]} b {pair[0]}\n" for pair in edit["replace"]]
    for pair in edit["replace"] if clang or not edit["when_kept"] else []:
        lines = [line.replace(pair[0], pair[1]) for line in lines]
    return "".join(lines)


for clang in (False, True):
    arguments, top = run(clang)
    launches = {"keep": True, "rewrite": False, "ask": clang}[amd["launches"]]
    mode = "clang" if clang else "plain"
    say(f"includes, {mode}", [f"{top}/{name}" for name in amd["includes"]], arguments["includes"])
    say(f"ignores, {mode}", [f"{top}/{name}" for name in amd["ignores"]], arguments["ignores"])
    say(f"extra files, {mode}", amd["extra_files"] + amd["extra_if_there"],
        [os.path.relpath(top / name, top) for name in arguments.get("extra_files", [])])
    say(f"launches, {mode}", launches, arguments.get("hip_clang_launch", False))
    for edit in amd["edits"]:
        for name in edit["files"]:
            if (top / name).read_text() != edited(edit, clang):
                say(f"edit of {name}, {mode}", edited(edit, clang), (top / name).read_text())
    say(f"edits, {mode}: {len(amd['edits'])} lists", [], [])
    if amd["copy_to"]:
        copy = top / amd["copy_to"]
        say(f"copy, {mode}", "copied\n", copy.read_text() if copy.exists() else None)
say("nothing is doubted", [], amd["doubts"])
sys.exit(not good)
