"""What the Python library `packaging` says about versions and specifiers, for tests/unit/t_version.c.

Prints one case a line, fields between tabs: "N text normal prerelease", "I text" (no version),
"C a b sign", "M version specifier matches", "X specifier" (none). Exits with 77 without packaging; before its version
26 packaging read `<V` and `>V` less exactly, so that specifiers are left out then.
"""
import itertools
import random
import sys

try:
    import packaging
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version
except ImportError:
    sys.exit(77)

rng = random.Random(440)
FIXED = """1.0 1.0.0 1 0 0.0.0 1.dev0 1.0.dev456 1.0a1 1.0a2.dev456 1.0a12.dev456 1.0a12 1.0b1.dev456
1.0b2 1.0b2.post345.dev456 1.0b2.post345 1.0rc1.dev456 1.0rc1 1.0+abc.5 1.0+abc.7 1.0+5 1.0+10
1.0+abc 1.0+abc.5.x 1.0+a.b 1.0+0a 1.0+00 1.0.post456.dev34 1.0.post456 1.1.dev1 1!0.9 2!1 0!1 V1.0
v1.0 1.0-alpha.1 1.0_beta-2 1.0.PRE3 1.0preview4 1.0c1 1.0-1 1.0-r2 1.0.rev3 1.0-post 1.0post
1.0a 1.0-dev 1.0.DEV3 007.010.0 1.0+UBUNTU-1_2.3 2.9.0+rocm7.2.4.gitabcdef 2013.10 99999999999999999999
1.99999999999999999999999999.1 1.0a00 1.0.0.0.0.0.1 1.0a1-1 1.0.post1-dev2 2.2.post3 2.2.0 2.3 2.2.1
1.4.5 1.4.5a4 1.4.6 1.7 1.7.0.post1 1.7.1 1.7.0+local 1.1.post1 1.1a1 1.1 1.1.2""".split() + [" 1.0\t"]
WRONG = """. a 1. .1 1..0 1.0+ 1.0+_ 1.0+a..b 1.0.a.b 1.0--1 1.0-- 1!2!3 !1 1! 1.0x 1.0a1a2 1.0+a+b v vv1 1.0dev1a1
1.0post1rc1 1.0.dev1.post2 1,0 1.0~1 x1.0 1.0.*""".split() + ["", " ", "1 .0", "1.0 a"]
PARTS = [["", "1!", "v"], ["1", "1.0", "1.2", "2.10.3", "0"], ["", "a1", ".b2", "-rc", "c0"],
         ["", ".post1", "-2", "r"], ["", ".dev", "dev3"], ["", "+a.1", "+1", "+2.b"]]
versions = FIXED + ["".join(rng.choice(p) for p in PARTS) for _ in range(120)]
OPS = ["==", "!=", "<=", ">=", "<", ">", "~=", "==="]
SPECS = [">=1.0,<2", "==1.*", "!=1.0.*", "~=2.2", "~=1.4.5", "~=1.4.5a4", "~=2.2.0", "~=1!2.0", "==1!1.*", "", ",",
         ">=1.0, !=1.3.4.*, < 2.0", "==1.0+abc.5", "===1.0", "===1.0+ABC.5", ">1.7", ">1.7.0.post2", "<1.1.post1", "<1.1a2",
         "~=1.0.post1", "==1.0.0.*", "==0.*", "==1.0a1.*", "==1.0.post456.*", "!=1.0b2.post345.*", "<=1.0", ">=1.0.post456.dev1"]
WRONG_SPECS = ["1.0", "=1.0", "=>1.0", "~=1", "<1.0.*", "==1.0.dev1.*", "==1.0+a.*", "~=1.0+a", "<1.0+a", ">=1.0+a", "==",
               ">=x", "~=1.0.*", "== 1.0 2", "<>1.0", "==*", "!1.0", "==="]


def field(text):
    return text.replace("\t", "\\t")


def sign(a, b):
    return (a > b) - (a < b)


def main():
    for text in versions:
        v = Version(text)
        print("N", field(text), v, int(v.is_prerelease), sep="\t")
    for text in WRONG:
        try:
            Version(text)
        except InvalidVersion:
            print("I", text, sep="\t")
    pairs = list(itertools.product(versions, versions))
    for a, b in rng.sample(pairs, 12000):
        print("C", field(a), field(b), sign(Version(a), Version(b)), sep="\t")
    if Version(packaging.__version__) < Version("26"):
        return
    specs = list(SPECS)
    for text in versions:
        for op in OPS:
            specs.append(op + text.strip())
    for spec in specs:
        try:
            s = SpecifierSet(spec)
        except InvalidSpecifier:
            print("X", spec, sep="\t")
            continue
        for text in rng.sample(versions, 25) + FIXED:
            match = s.contains(Version(text), prereleases=True)
            print("M", field(text), spec, int(match), sep="\t")
    for spec in WRONG_SPECS:
        try:
            SpecifierSet(spec)
        except InvalidSpecifier:
            print("X", spec, sep="\t")


main()
