#!/usr/bin/env python3
"""hipify_calls.py TORCH CALLS.json FOLDER RESULT.json: PyTorch's own hipify, called as a setup.py would
have it called.

TORCH is a folder of tools/torch-get; CALLS.json is one of setup_calls.py's, or has the same shape.
All calls happen in one process, as in a setup.py, in FOLDER, which stands for the folder of the
recording wherever a path names that. RESULT.json: {input: [output or null, status]}.
"""
import json
import os
import pathlib
import sys


def main():
    torch, calls, folder, result = sys.argv[1:]
    sys.path.insert(0, os.path.join(torch, "torch", "utils"))
    from hipify import hipify_python
    recorded = json.loads(pathlib.Path(calls).read_text())

    def moved(value):
        if isinstance(value, list):
            return [moved(v) for v in value]
        if isinstance(value, str) and (value + "/").startswith(recorded["cwd"] + "/"):
            return folder + value[len(recorded["cwd"]):]
        return value

    os.chdir(folder)
    final = {}
    for call in recorded["calls"]:
        final = hipify_python.hipify(**{key: moved(value) for key, value in call.items()})
    pathlib.Path(result).write_text(json.dumps(
        {path: [r.hipified_path, r.status] for path, r in final.items()}, indent=1))


main()
