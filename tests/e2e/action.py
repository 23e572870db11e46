#!/usr/bin/env python3
"""action.py ACTION.yml NAME=VALUE...: runs the steps of a composite GitHub Action in the current folder, as a runner
does, with these inputs; prints the action's outputs as JSON. The exit status is that of the step that failed."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml


def expand(text, inputs):
    """Replaces ${{ inputs.NAME }}; any other expression is an error, since nobody would have tested it."""
    def value(m):
        name = re.fullmatch(r"inputs\.(\w+)", m[1].strip())
        if not name:
            raise SystemExit(f"action.py does not know the expression '{m[1]}'")
        return inputs[name[1]]
    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def wanted(condition, inputs):
    """The answer to `inputs.NAME == 'WORD'`; a step without a condition is run."""
    if condition is None:
        return True
    name, word = re.fullmatch(r"inputs\.(\w+) == '(\w*)'", condition).groups()
    return inputs[name] == word


def run(step, inputs, folder, path):
    """Runs one step; returns its status, the folders for PATH and its outputs."""
    if set(step) - {"name", "id", "if", "shell", "env", "run"} or step["shell"] != "bash":
        raise SystemExit(f"action.py does not know all of the step {step}")
    files = {name: folder / name for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "script")}
    for file in files.values():
        file.write_text("")
    # An input in the text of a script could be code of somebody else's.
    if "${{" in step["run"]:
        raise SystemExit("the script of a step contains an expression")
    files["script"].write_text(step["run"])
    env = {**os.environ, "RUNNER_TEMP": str(folder), "PATH": os.pathsep.join([*path, os.environ["PATH"]]),
        "GITHUB_PATH": str(files["GITHUB_PATH"]), "GITHUB_OUTPUT": str(files["GITHUB_OUTPUT"]),
        **{k: expand(v, inputs) for k, v in step.get("env", {}).items()}}
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(files["script"])],
        env=env, stdout=sys.stderr, check=False)
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return done.returncode, files["GITHUB_PATH"].read_text().splitlines(), outputs


def main():
    action = yaml.safe_load(pathlib.Path(sys.argv[1]).read_text())
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    unknown = set(given) - set(action["inputs"])
    missing = [n for n, i in action["inputs"].items() if i.get("required") and n not in given]
    if unknown or missing or action["runs"]["using"] != "composite":
        raise SystemExit(f"action.py: unknown {unknown}, missing {missing}")
    inputs = {n: given.get(n, i.get("default", "")) for n, i in action["inputs"].items()}
    steps, path, status = {}, [], 0
    with tempfile.TemporaryDirectory() as folder:
        for step in action["runs"]["steps"]:
            if status or not wanted(step.get("if"), inputs):
                continue
            status, more, outputs = run(step, inputs, pathlib.Path(folder), path)
            path = more + path
            steps[step.get("id")] = outputs
    values = {}
    for name, output in action["outputs"].items():
        step, key = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", output["value"]).groups()
        values[name] = steps.get(step, {}).get(key, "")
    print(json.dumps(values))
    sys.exit(status)


main()
