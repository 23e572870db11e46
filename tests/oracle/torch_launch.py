#!/usr/bin/env python3
"""Kernel launches: ours against PyTorch's own processKernelLaunches().

torch_launch.py TORCH PASSES [-n CASES] [-s SEED] [-m MINUTES] [TREE...]
TORCH: a folder with torch/utils/hipify (tools/torch-get prints one). PASSES: the built
tests/torch_passes. Generated texts, and all files of the trees that hold a "<<<", must give the
same bytes; where the original dies or does not end, ours must be an error with a line.
Exit status 1 at the first difference, which is left in the file torch_launch.case.
"""
import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import time

NAMES = ["k", "kk", "a::k", "k_1", "é", "αk", "k²", "#k", "(k)", "k<int>", "k<a, b<c>>",
         "k<a<b<c>>>", "k<(1>2)>", "k <int> ", "k<\n  a>", "k_", "n::k<T, 4>", "détail::k", "中k",
         "<k", "=k", "_", "1", "k<a -> b>", "k<x<<<y>"]
ARGS = ["1", "2", "g", "b", "grid", "(a,b)", "dim3(1, 2)", "f<a,b>(x)", "a->b", " 0", "\n  s", "",
        " ", "é", "g\nb", "/* , */ 1", "\"a,b\"", "a<b", "a>b", "(1", ")2(", "1 1", "// ,\n1",
        "/* >>> */ 3", "((g+1)/2)", "\tg\t", "<<<", "1 // >>>\n"]
ENDS = ["(x)", "(x);\n", "(", "\n    (x, y);\n", "", ";", " ", "(j<<<1,2>>>(x))", "()", "<(x)",
        "<<(x)", ">(x)", "<<(<x)", "ü(x)"]
BETWEEN = [" ", "\n", ";", "  ", "{", "}", "\t", "// c\n", "/* c */", "/*", "*/", "\"", "\\\"", "'\"'",
           "'", "\\", "// k<<<1,2>>>(x)\n", "\"k<<<1,2>>>(\"", "/*/", "//\r", "é", "—", "<", ">",
           "<<", ">>", "->", ",", "(", ")", "k", "hipLaunchKernelGGL((", "hipLaunchKernelGGL(",
           " detail:: \\\n  k", "  detai:: \\\n k", " detail:: \\\n detail:: \\\n k", "<<<", ">>>",
           "<<<<<", ">>>>", "dim3(", ", 0, 0, ", "#define L \\\n", "\u2028", "\U0001d7d8", "x<"]


def launch(rng):
    n = rng.choice([1, 2, 2, 2, 2, 2, 3, 4, 4, 5]) if rng.random() < 0.2 else rng.choice([2, 3, 4])
    few = rng.random() < 0.7
    args = ",".join(rng.choice(ARGS[:8] if few else ARGS) for _ in range(n))
    gap = rng.choice(["", "", "", " ", "\n", ";", "é "])
    return rng.choice(NAMES) + gap + "<<<" + args + ">>>" + rng.choice(ENDS)


def statements(rng):
    pool = [launch(rng) for _ in range(rng.choice([1, 2, 3, 5]))]
    glue = rng.choice([[""], [" ", "\n"], BETWEEN[:8], BETWEEN])
    return "".join(rng.choice(glue) + rng.choice(pool) for _ in range(rng.randrange(1, 10)))


def soup(rng):
    tokens = BETWEEN + NAMES + ["<<<", ">>>", "1,2", "<<<1,2>>>(", "k<<<1,2>>>(x)", "(", "(x)"]
    pool = rng.sample(tokens, rng.randrange(3, 12)) + ["<<<1,2>>>(", " k<<<1,2>>>(x)"]
    return "".join(rng.choice(pool) for _ in range(rng.randrange(2, 30)))


def letters(rng):
    alphabet = rng.choice(["<>k(,1 ", "<<<>>>k(1,2; ", "k(1,2) <>\"/*\n'", "k<<<1,2>>>("])
    size = rng.randrange(8, 60)
    return "k<<<1,2>>>(".join("".join(rng.choice(alphabet) for _ in range(size // 3))
                              for _ in range(3))


def generate(rng):
    text = rng.choice([statements, statements, soup, letters])(rng)
    if rng.random() < 0.2:  # something missing or doubled
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        text = text[:i] + text[j:] if rng.random() < 0.5 else text[:j] + text[i:]
    return text if rng.random() < 0.1 else " " + text


class Slow(Exception):
    pass


def on_alarm(_signal, _frame):
    raise Slow()


class Original:
    def __init__(self, torch):
        sys.path.insert(0, os.path.join(torch, "torch", "utils"))
        from hipify import hipify_python
        self.run = hipify_python.processKernelLaunches
        signal.signal(signal.SIGVTALRM, on_alarm)

    def __call__(self, text, seconds=0.01):
        """The new text, or the exception that it ended with."""
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
            try:
                return self.run(text, {"kernel_launches": []})
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except (Slow, MemoryError, KeyError, TypeError, IndexError) as e:
            return e


class Ours:
    def __init__(self, passes):
        self.p = subprocess.Popen([passes], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, kind, text):
        data = text.encode()
        self.p.stdin.write(b"%s %d\n" % (kind.encode(), len(data)) + data)
        self.p.stdin.flush()
        head = self.p.stdout.readline().split()
        body = self.p.stdout.read(int(head[-1])).decode()
        if head[0] == b"ok":
            return body
        if head[1] == b"0":
            raise SystemExit(f"an error without a line: {body}")
        return ValueError(body)


def compare(original, ours, text):
    """Words for the difference, or None."""
    first = ours("launch", text)
    # The original never ends on these and eats memory meanwhile: some are enough.
    if "without '>>>'" in str(first) and not isinstance(first, str) and random.random() > 0.05:
        return None
    if isinstance(first, str) and len(first) > 1 << 20:
        return None  # launches without "(": the original takes very long, too
    want = original(text)
    for kind in "launch", "traced":
        got = ours(kind, text) if kind == "traced" else first
        # Most that takes long never ends, but looking for long costs much memory.
        if isinstance(want, Slow) and (isinstance(got, str) or random.random() < 0.003):
            want = original(text, 60 if isinstance(got, str) else 1)
        if "too large" in str(got) and not isinstance(got, str) and len(str(want)) > 1 << 20:
            return None  # we stop such texts earlier
        if isinstance(want, str) and want != got:
            return f"{kind}: want {want[:2000]!r}\n got {got if got is None else str(got)[:2000]!r}"
        if not isinstance(want, str) and isinstance(got, str):
            return f"{kind}: the original ends with {want!r}, ours gives {got[:2000]!r}"
    return None


def files_with_launches(trees):
    for tree in trees:
        for folder, _, names in os.walk(tree):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.isfile(path):
                    continue
                with open(path, "rb") as f:
                    data = f.read()
                if b"<<<" not in data and b"detai" not in data:
                    continue
                try:
                    yield path, data.decode().replace("\r\n", "\n").replace("\r", "\n")
                except UnicodeDecodeError:
                    continue


def main():
    args = argparse.ArgumentParser()
    args.add_argument("torch")
    args.add_argument("passes")
    args.add_argument("-n", type=int, default=1000)
    args.add_argument("-s", type=int, default=1)
    args.add_argument("-m", type=float, default=1e9)
    args.add_argument("trees", nargs="*")
    o = args.parse_intermixed_args()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # the original took 10 GB
    original, ours = Original(o.torch), Ours(o.passes)
    rng, end = random.Random(o.s), time.time() + 60 * o.m
    count = {"texts": 0, "errors": 0, "changed": 0, "files": 0}

    def check(text, name):
        what = compare(original, ours, text)
        if what:
            with open("torch_launch.case", "w", newline="") as f:
                f.write(text)
            raise SystemExit(f"not ok {name}\n text {text[:2000]!r}\n {what}")

    for path, text in files_with_launches(o.trees):
        check(text, path)
        count["files"] += 1
    while count["texts"] < o.n and time.time() < end:
        text = generate(rng)
        check(text, f"case {count['texts']} of seed {o.s}")
        count["texts"] += 1
        result = ours("launch", text)
        count["errors"] += not isinstance(result, str)
        count["changed"] += isinstance(result, str) and result != text
        if count["texts"] % 5000 == 0:
            print(" ".join(f"{k}={v}" for k, v in count.items()), file=sys.stderr, flush=True)
    print("ok", " ".join(f"{k}={v}" for k, v in count.items()))


if __name__ == "__main__":
    main()
