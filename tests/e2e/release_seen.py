#!/usr/bin/env python3
"""What pip sees of an index: release_seen.py PYTHON INDEX-URL VERSION... ["-" = an index without torch may be]

Resolves torch[device-gfx1100] and torchvision for Python 3.12 with the pip of PYTHON. All of what it would install has to belong to one
of the versions (of ROCm), which is printed; a mixture, or a wheel without its extra, is an error.
"""
import json
import os
import subprocess
import sys
import tempfile

PROJECTS = {"torch", "torchvision", "amd-torch-device-gfx1100", "rocm", "rocm-sdk-core", "rocm-sdk-libraries",
    "rocm-sdk-device-gfx1100"}


def seen(python, url):
    """The versions by project; None if pip finds no torch."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.json"
        r = subprocess.run([python, "-m", "pip", "--isolated", "install", "-q", "--disable-pip-version-check", "--dry-run",
            "--ignore-installed", "--no-cache-dir", "--only-binary=:all:", "--python-version", "3.12", "--target", folder,
            "--index-url", url, "--report", report, "torch[device-gfx1100]", "torchvision", "--pre"], env=env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "No matching distribution found for torch" in r.stdout or "Cannot unpack file" in r.stdout:
            return None, r.stdout
        if r.returncode or "does not provide the extra" in r.stdout:
            return {}, r.stdout
        with open(report) as f:
            doc = json.load(f)
    return {i["metadata"]["name"].lower().replace("_", "-"): i["metadata"]["version"] for i in doc["install"]}, r.stdout


def main():
    python, url, *versions = sys.argv[1:]
    got, said = seen(python, url)
    if got is None and "-" in versions:
        print("-")
        return 0
    for version in versions:
        if got and got.keys() == PROJECTS and all(v == version or v.endswith(f"+rocm{version}") for v in got.values()):
            print(version)
            return 0
    print(f"neither of {versions}: {got} {said}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
