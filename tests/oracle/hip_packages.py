#!/usr/bin/env python3
"""hip_packages.py: the packages that need a HIP runtime, by the apt at hand ($APT_CONFIG), smallest first: name,
version, bytes to download, bytes installed, and the runtime's package. Programs of tests and benchmarks are left out."""
import re
import subprocess


def apt(*words):
    return subprocess.run(["apt-cache", *words], stdout=subprocess.PIPE, check=True, text=True).stdout


def fields(paragraph):
    return dict(re.findall(r"^([A-Za-z-]+): (.*)$", paragraph, re.M))


def main():
    runtimes = [n for n in apt("pkgnames", "libamdhip64-").split() if re.fullmatch(r"libamdhip64-\d+", n)]
    names = set()
    for runtime in runtimes:
        names |= {n.strip(" |") for n in apt("rdepends", runtime).splitlines()[2:]}
    names = sorted(n for n in names if not re.search(r"-(dev|tests?|bench|tools|examples|validate)$|-tests-", n))
    rows = set()
    for paragraph in apt("show", "--all-versions", *names).split("\n\n"):
        f = fields(paragraph)
        need = re.search(r"\b(libamdhip64-\d+)", f.get("Depends", ""))
        if need and f["Package"] in names:
            rows.add((int(f["Size"]), f["Package"], f["Version"], int(f["Installed-Size"]) * 1024, need[1]))
    for size, name, version, installed, need in sorted(rows):
        print(name, version, size, installed, need)


if __name__ == "__main__":
    main()
