#!/usr/bin/env python3
"""json_docs.py ROCSMITH: the examples of JSON documents in man pages are JSON, have the members that rocsmith prints, all of them and no
others, with values of the same kinds; and each member is explained in the page."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROCSMITH = os.path.abspath(sys.argv[1])
TOP = pathlib.Path(__file__).resolve().parents[2]
DATA = TOP / "tests" / "data" / "devcode"
DIGEST = "sha256:" + "0123456789abcdef" * 4
MACHINE = """rocsmith-machine 1
proc/meminfo = MemTotal:       33554432 kB
"""


def shape(value, at="", into=None):
    """The kinds of value at each place: {"items[].name": {"str"}}. An empty list or null says nothing of what may be there."""
    into = {} if into is None else into
    into.setdefault(at, set()).add("list" if value is None else type(value).__name__)
    for key, part in value.items() if isinstance(value, dict) else ():
        shape(part, f"{at}.{key}", into)
    for part in value if isinstance(value, list) else ():
        shape(part, at + "[]", into)
    return into


def example(page, schema):
    """The example of a schema, and the rest of its section."""
    text = (TOP / "doc" / "man" / page).read_text()
    text = text[text.index("# JSON\n"):]
    found = re.search(r'^\t(\{"schema": "%s".*?)\n\n' % re.escape(schema), text, re.M | re.S)
    assert found, f"{page} has no example of {schema}"
    doc = json.loads(re.sub(r"\\(?=[_*])", "", found[1].replace("++\n", "\n")))
    after = text[found.end():]
    end = re.search(r"^(# |\t\{\"schema\")", after, re.M)
    return doc, after[:end.start()] if end else after


def check(page, schema, docs):
    want, text = example(page, schema)
    assert all(doc["schema"] == schema for doc in docs), schema
    have = {}
    for doc in docs:
        shape(doc, "", have)
    told = shape(want)
    inner = [at for at in have if at not in told and not any(at.startswith(k + "[]") for k in empty_lists(want))]
    assert not inner, f"{page} lacks {inner}"
    missing = [at for at in told if at not in have]
    assert not missing, f"{page} has {missing}, which is not printed"
    other = [at for at in told if told[at] != have[at]]
    assert not other, f"{page}: {other} are of other kinds"
    keys = {at.rsplit(".", 1)[-1].rstrip("[]") for at in told if "." in at} - {"schema"}
    unknown = [k for k in sorted(keys) if not re.search(rf"[*_]{k}[*_]", text) and not (k in RESOURCES and "_resources_" in text)]
    assert not unknown, f"{page} does not explain {unknown} of {schema}"
    print(f"ok {schema}: {len(told)} members")


def empty_lists(value, at=""):
    if value == []:
        yield at
    for key, part in value.items() if isinstance(value, dict) else ():
        yield from empty_lists(part, f"{at}.{key}")


RESOURCES = "size vgprs agprs sgprs vgpr_spills sgpr_spills lds scratch waves wave".split()


def run(*argv, status=(0,)):
    done = subprocess.run([ROCSMITH, *map(str, argv), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode in status, (argv, done.returncode, done.stderr.decode(), done.stdout.decode())
    return json.loads(done.stdout)


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    os.environ.update(ROCSMITH_HOME=os.path.abspath("home"), XDG_CACHE_HOME=os.path.abspath("cache"), HOME=os.getcwd())
    put(pathlib.Path("home/data/sdk/rocm-10.1/sdk.json"), '{"packages": [{"name": "rocm-sdk-device-gfx1201", "bytes": 2000000}]}')
    put(pathlib.Path("home/cache/build/p-1/project"), "/src/p\n")
    put(pathlib.Path("home/cache/build/p-1/state/x"))
    put(pathlib.Path("cache/uv/x"))
    put(pathlib.Path("bin/uv"), "#!/bin/sh\n")
    os.chmod("bin/uv", 0o755)
    os.environ["PATH"] = os.path.abspath("bin") + ":" + os.environ["PATH"]
    put(pathlib.Path("m.machine"), MACHINE)
    paths = DATA / "kernels-old.hsaco", DATA / "kernels-new.hsaco"

    trusted = run("du")
    os.chmod("home/data/sdk", 0o777)
    check("rocsmith-du.1.scd", "rocsmith.du/1", [trusted, run("du")])
    os.chmod("home/data/sdk", 0o755)
    check("rocsmith-clean.1.scd", "rocsmith.clean/1", [run("clean", "-n", "sdk", "build", "uv"), run("clean", "sdk", "build", "uv")])
    check("rocsmith-container.1.scd", "rocsmith.container/1", [
        run("container", "run", "--sysroot", "m.machine", "--gpu", "none", "--engine", "podman", image) for image in ("x@" + DIGEST, "x")])
    several = run("inspect", *paths)
    assert several["paths"] == [run("inspect", path) for path in paths]
    check("rocsmith-inspect.1.scd", "rocsmith.inspect-paths/1", [several])
    check("rocsmith-inspect.1.scd", "rocsmith.inspect-compare/1", [run("inspect", "--compare", *paths)])
    check("rocsmith-inspect.1.scd", "rocsmith.inspect-extract/1", [run("inspect", "--extract", "all", "-o", "taken", *paths)])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
