"""Checks of what files say: calls of the C library, names in comments, options, finding ids."""
import collections
import os
import re

from .tree import C_TOKEN, Allowed, Tree, code_of, line_of, read, show, tracked

# What src/base/ is there for: it says what failed with which file, and knows dry runs and faults.
FILE_CALLS = """open openat creat stat lstat fstat fstatat statx access faccessat opendir fdopendir
    readdir scandir readlink readlinkat unlink unlinkat rename renameat renameat2 remove mkdir mkdirat
    rmdir symlink symlinkat link linkat chmod fchmod fchmodat chown lchown fchown fchownat truncate
    ftruncate fopen fdopen freopen mkstemp mkostemp mkdtemp tmpfile realpath utimensat futimens nftw
    ftw fts_open glob mount umount umount2 chdir fchdir chroot""".split()


def check_filecalls(_):
    """Files are reached through src/base/; a file that may do otherwise says why in tools/lint.allow."""
    call = re.compile(r"(?<![\w.>])(" + "|".join(FILE_CALLS) + r")\(")
    allowed, problems = Allowed("filecalls"), []
    for name in tracked("src/*.c", "src/*.h"):
        if name.startswith("src/base/"):
            continue
        code = code_of(read(name))
        for match in call.finditer(code):
            if f"{name}:{match.group(1)}" not in allowed:
                problems.append(f"{name}:{line_of(code, match.start())}: {match.group(1)}(): files are"
                    " reached through src/base/")
    return show(problems + allowed.problems())


# ---- names of files ----
COMMENT = {
    "c": C_TOKEN,
    "py": re.compile(r'(?<![^\s])#[^\n]*|"""(?:(?!""").)*"""', re.S),
    "sh": re.compile(r"(?<![^\s])#[^\n]*"),
    "md": re.compile(r".+", re.S),
}
FILE_NAME = re.compile(r"(?<![\w.*<>/{}$-])((?:[\w.-]+/)*[a-z_][\w-]*\.(?:c|h|def|md|py|sh|scd|bench))\b"
    r"(?![.(\w/*{-])")


def language(name):
    end = os.path.splitext(name)[1][1:]
    if end in ("c", "h", "def"):
        return "c"
    if end in ("py", "sh", "md"):
        return end
    if end == "scd":
        return None  # a man page speaks of the user's files
    if end in ("build", "bench", "yaml") or name == "Makefile":
        return "sh"
    first = read(name)[:40] if name.startswith(("tools/", "bench/", ".ci/")) else ""
    return "py" if "python" in first else "sh" if first.startswith("#!") else None


def check_names(_):
    """A file that a comment or a page names exists: here, in the text around (a fixture), or, said in
    tools/lint.allow, in another project."""
    files = tracked()
    ends = {"/".join(parts[at:]) for parts in (name.split("/") for name in files)
        for at in range(len(parts))}
    allowed, problems = Allowed("names"), []
    for name in files:
        kind = language(name)
        if not kind or name.startswith(("data/", "tests/data/", "tests/cases/", "tests/logs/", "examples/", "CHANGELOG")):
            continue
        text = read(name)
        spoken = [m for m in COMMENT[kind].finditer(text) if kind != "c" or m.group(0)[0] == "/"]
        rest = text if kind == "md" else COMMENT[kind].sub(
            lambda m: m.group(0) if m.group(0)[0] in "\"'" and m.group(0)[:3] != '"""' else " ", text)
        for comment in spoken:
            for match in FILE_NAME.finditer(comment.group(0)):
                said = match.group(1)
                base = said.split("/")[-1]
                if said in ends or re.search(r"[A-Z]|^.\.", base) or \
                        kind != "md" and base in rest or base in allowed:
                    continue
                line = line_of(text, comment.start() + match.start())
                problems.append(f"{name}:{line}: there is no file '{said}'")
    return show(problems + allowed.problems())


# ---- options ----
def option_members(text):
    """(struct, member) of each row of option tables in a file, which names the struct in its macro ARGS."""
    args = re.search(r"^#define ARGS struct (\w+)", text, re.M)
    code = re.sub(r"[\s\\]+", " ", code_of(text))
    row = r"OPT_(?:FLAG\( ?[^,()]+,|(?:VALUE|ARGUMENT)\([^,()]+, \w+,|(?:GPUS|OUTPUT|SDK|SYSROOT)\() ?([\w.]+)"
    for member in re.findall(row, code) if args else []:
        if member != "member":  # the parameter of a macro
            yield args.group(1), member


def check_rows(_):
    """Each member that an option is stored in is read somewhere in a file that knows its struct."""
    code = {name: code_of(read(name)) for name in tracked("src/*.c", "src/*.h")}
    readers = {name: set(re.findall(r"(?:\.|->)(\w+)\b(?!\s*=[^=])", text)) for name, text in code.items()}
    problems = []
    for name in code:
        for struct, member in sorted(set(option_members(read(name)))):
            knows = re.compile(rf"\bstruct {struct}\b" if "." not in member else "")
            if not any(member.split(".")[-1] in readers[other] and knows.search(text)
                    for other, text in code.items()):
                problems.append(f"{name}: nobody reads 'struct {struct}'.{member}, where an option goes")
    return show(problems)


# ---- finding ids ----
REGISTRY = "data/findings.def"
ID = re.compile(r'"([a-z0-9]+(?:-[a-z0-9]+)+)"')


def arguments(text, start):
    """What stands between the bracket at start and its partner."""
    depth = 0
    for match in re.compile(r'"(?:\\.|[^"\\])*"|[()]').finditer(text, start):
        depth += (match.group(0) == "(") - (match.group(0) == ")")
        if depth == 0:
            return text[start:match.end()]
    return text[start:]


def makers(text):
    """Functions and macros declared here that take the id of a finding."""
    return set(re.findall(r"(\w+)\([^(){};]*\bconst char \*id\b", text)) | \
        set(re.findall(r"^# *define (\w+)\([^)]*\bid\b", text, re.M))


def check_findings(_):
    """Ids that the code gives to findings stand in the registry, once each, and none stands there in vain."""
    registry = read(REGISTRY)
    rows = re.findall(r'^(?:X\((\w+), |FINDING\()"([a-z0-9-]+)"', registry, re.M)
    problems = [f"{REGISTRY}: '{name}' stands there {count} times"
        for name, count in collections.Counter(row[1] for row in rows).items() if count > 1]
    known = {row[1] for row in rows}
    files = {name: read(name) for name in tracked("src/*.c", "src/*.h", "data/*.yaml")}
    shared = {"finding_add"}.union(*(makers(text) for name, text in files.items() if name.endswith(".h")))
    for name, text in files.items():
        if not name.endswith(".c"):
            continue
        call = re.compile(r"\b(?:" + "|".join(shared | makers(text)) + r")(\()")
        for match in call.finditer(text):
            for said in ID.findall(arguments(text, match.start(1))):
                if said not in known:
                    problems.append(f"{name}:{line_of(text, match.start())}: the finding '{said}' is not in"
                        f" {REGISTRY}")
    manual = read("doc/man/rocsmith-doctor.1.scd")
    problems += [f"data/rules.yaml: '{said}' is not in {REGISTRY}, or not in rocsmith-doctor(1)"
        for said in re.findall(r"^- id: (\S+)", files["data/rules.yaml"], re.M)
        if said not in known or f"*{said}*" not in manual]
    everything = "\n".join(files.values())
    words = set(re.findall(r"[\w-]+", everything))
    problems += [f"{REGISTRY}: nothing finds '{said}'" for constant, said in rows
        if said not in words and constant not in words]
    return show(problems)
