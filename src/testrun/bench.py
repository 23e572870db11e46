"""Benchmarks of a torch, plain Python: `rocsmith bench lora` and `bench micro` run this file, and so does `python bench.py
lora|micro [OPTION...]` on any machine with a torch (ROCm's, CUDA's, a CPU's). Nothing is downloaded.

lora   finetunes a model with the shape of Qwen2.5-0.5B and random weights: LoRA of rank 8 on all seven projections, 1,500
       synthetic samples, three times, in batches of 8: 563 steps. --shape small is a tiny model, for CPUs
micro  matrix products, attention by each back end and convolutions, by data type

The result is one JSON object (rocsmith.bench/1), written to -o FILE or stdout. --compare FILE takes an earlier one of the same
settings: a slower run, or another loss, is an error. Exit status: 0 pass, 1 fail (also NaN, out of memory, a hang).

The shape: config.json of Qwen/Qwen2.5-0.5B; the model is written after the description of Llama-like models with biases on q, k
and v, in RMSNorm, rotary positions, grouped attention and a gated MLP."""
import argparse
import contextlib
import faulthandler
import json
import math
import os
import platform
import statistics
import sys
import threading
import time
import traceback

import torch
import torch.nn.functional as F
from torch import nn

SHAPES = {
    "qwen2.5-0.5b": {"hidden": 896, "layers": 24, "heads": 14, "kv_heads": 2, "mlp": 4864, "vocab": 151936, "seq": 256,
        "parameters": 494032768, "trainable": 4399104},
    "small": {"hidden": 64, "layers": 2, "heads": 4, "kv_heads": 2, "mlp": 160, "vocab": 512, "seq": 32,
        "parameters": 119360, "trainable": 17920},
}
SAMPLES, EPOCHS, RANK, ALPHA, THETA, WORDS = 1500, 3, 8, 16, 1e6, 96


class Lora(nn.Module):
    """A frozen projection, and beside it the product of two small trainable ones, in float32."""

    def __init__(self, inputs, outputs, bias=False):
        super().__init__()
        self.base = nn.Linear(inputs, outputs, bias=bias)
        self.base.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
        self.up = nn.Parameter(torch.zeros(outputs, RANK))

    def forward(self, x):
        return self.base(x) + (F.linear(F.linear(x.float(), self.down), self.up) * (ALPHA / RANK)).to(x.dtype)


class Norm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size), requires_grad=False)

    def forward(self, x):
        wide = x.float()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * self.weight


def rotate(x, cos, sin):
    one, other = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-other, one), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.head = shape["hidden"] // shape["heads"]
        few = shape["kv_heads"] * self.head
        self.groups = shape["heads"] // shape["kv_heads"]
        self.before, self.between = Norm(shape["hidden"]), Norm(shape["hidden"])
        self.q = Lora(shape["hidden"], shape["hidden"], bias=True)
        self.k, self.v = Lora(shape["hidden"], few, bias=True), Lora(shape["hidden"], few, bias=True)
        self.o = Lora(shape["hidden"], shape["hidden"])
        self.gate, self.wide = Lora(shape["hidden"], shape["mlp"]), Lora(shape["hidden"], shape["mlp"])
        self.narrow = Lora(shape["mlp"], shape["hidden"])

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        normed = self.before(x)
        q, k, v = (f(normed).view(batch, length, -1, self.head).transpose(1, 2) for f in (self.q, self.k, self.v))
        k, v = (t.repeat_interleave(self.groups, dim=1) for t in (rotate(k, cos, sin), v))
        mixed = F.scaled_dot_product_attention(rotate(q, cos, sin), k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, length, -1))
        normed = self.between(x)
        return x + self.narrow(F.silu(self.gate(normed)) * self.wide(normed))


class Model(nn.Module):
    """Input and output embeddings are the same, as in the original of this size."""

    def __init__(self, shape):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(shape["vocab"], shape["hidden"]) * 0.02, requires_grad=False)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape["layers"]))
        self.last = Norm(shape["hidden"])
        half = shape["hidden"] // shape["heads"]
        self.frequencies = 1 / THETA ** (torch.arange(0, half, 2).float() / half)

    def forward(self, tokens):
        x = F.embedding(tokens, self.embedding)
        angles = torch.outer(torch.arange(tokens.shape[1]).float(), self.frequencies).to(x.device)
        cos, sin = (torch.cat((f(angles), f(angles)), dim=-1).to(x.dtype) for f in (torch.cos, torch.sin))
        for layer in self.layers:
            x = layer(x, cos, sin)
        return F.linear(self.last(x), self.embedding)


def count(model):
    """Asserted, so that the figures are those of the model that the name says."""
    every = sum(p.numel() for p in model.parameters())
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return every - trainable, trainable


def samples(shape, length, seed):
    """Each sample walks through a few words by steps of its own, so that there is something to learn."""
    made = torch.Generator().manual_seed(seed)
    words = torch.randperm(shape["vocab"], generator=made)[:WORDS]
    start = torch.randint(0, WORDS, (SAMPLES, 1), generator=made)
    step = torch.randint(1, 4, (SAMPLES, 1), generator=made)
    return words[(start + step * torch.arange(length + 1)) % WORDS]


class Watchdog:
    """Ends a run without a step for so long: by a thread that writes what is known; if Python itself hangs, by the timer
    of faulthandler, which needs no Python. Both print where it hangs."""

    def __init__(self, seconds, report):
        self.seconds, self.report, self.last, self.at = seconds, report, time.monotonic(), "the start"
        threading.Thread(target=self.watch, daemon=True).start()
        self.alive("the start")

    def alive(self, at):
        self.last, self.at = time.monotonic(), at
        faulthandler.dump_traceback_later(self.seconds * 1.5 + 10, exit=True)

    def watch(self):
        while True:
            time.sleep(min(1, self.seconds / 4))
            if time.monotonic() - self.last > self.seconds:
                faulthandler.dump_traceback()
                self.report.fail("hang", f"no sign of life for {self.seconds} s after {self.at}")
                self.report.finish()
                os._exit(1)


class Report:
    def __init__(self, args, device):
        self.args, self.began = args, time.monotonic()
        self.row = {"schema": "rocsmith.bench/1", "name": args.name, "verdict": "pass",
            "python": ".".join(platform.python_version_tuple()[:2]), "torch": torch.__version__,
            "hip": torch.version.hip or "", "cuda": torch.version.cuda or "", "device": describe(device), "settings": {},
            "errors": []}
        self.lock = threading.Lock()

    def fail(self, kind, message, hint=""):
        self.row["verdict"] = "fail"
        self.row["errors"].append({"kind": kind, "message": message[:2000], "hint": hint})
        print(f"bench: {kind}: {message}" + (f" ({hint})" if hint else ""), file=sys.stderr)

    def caught(self, error):
        traceback.print_exc()
        text = str(error)
        if isinstance(error, torch.cuda.OutOfMemoryError):
            self.fail("memory", text.splitlines()[0], "a smaller --batch or --seq needs less memory")
        else:
            self.fail("device" if any(word in text for word in ("HIP", "CUDA", "MIOPEN", "miopen", "hipblas")) else "exception",
                f"{type(error).__name__}: {text}")

    def finish(self):
        with self.lock:
            if self.args.compare:
                compare(self, self.args)
            text = json.dumps(self.row, indent=1, allow_nan=False) + "\n"
            if not self.args.output:
                sys.stdout.write(text)
                sys.stdout.flush()
                return
            part = f"{self.args.output}.{os.getpid()}.part"
            with open(part, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, self.args.output)


def describe(device):
    if device == "cpu":
        return {"kind": "cpu", "name": platform.processor() or platform.machine(), "target": "", "memory": 0,
            "threads": torch.get_num_threads()}
    found = torch.cuda.get_device_properties(0)
    return {"kind": "gpu", "name": found.name, "memory": found.total_memory, "threads": torch.get_num_threads(),
        "target": getattr(found, "gcnArchName", "") or f"sm_{found.major}{found.minor}"}


def back_ends(device):
    """Which libraries torch may use; what it did use are the kernels of one step."""
    on = {"cpu_blas": "mkl" if torch.backends.mkl.is_available() else "other", "onednn": torch.backends.mkldnn.is_available()}
    for name in ("flash_sdp", "mem_efficient_sdp", "math_sdp", "cudnn_sdp"):
        function = getattr(torch.backends.cuda, name + "_enabled", None)
        on[name] = bool(function and function())
    if device != "cpu":
        on["miopen" if torch.version.hip else "cudnn"] = str(torch.backends.cudnn.version())
        for name in ("preferred_blas_library", "preferred_linalg_library"):
            function = getattr(torch.backends.cuda, name, None)
            on[name] = str(function()) if function else ""
    return on


def kernels(function, device):
    """The kernels that took longest in one call, with their share; [] if this torch cannot tell."""
    from torch.profiler import ProfilerActivity, profile
    kinds = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device != "cpu" else [])
    with profile(activities=kinds) as seen:
        function()
    key = "self_device_time_total" if device != "cpu" else "self_cpu_time_total"
    rows = [(getattr(event, key, 0), event.key) for event in seen.key_averages()]
    rows.sort(reverse=True)
    every = sum(spent for spent, _ in rows) or 1
    return [{"name": name[:200], "share": round(spent / every, 4)} for spent, name in rows[:12] if spent]


def peak(device):
    if device != "cpu":
        return torch.cuda.max_memory_allocated()
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def lora(args, report, device):
    shape = SHAPES[args.shape]
    length = args.seq or shape["seq"]
    steps = args.steps or math.ceil(SAMPLES * EPOCHS / args.batch)
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    report.row["settings"] = {"shape": args.shape, "batch": args.batch, "seq": length, "steps": steps, "seed": args.seed,
        "dtype": str(dtype).partition(".")[2], "rank": RANK}
    torch.manual_seed(args.seed)
    model = Model(shape)
    frozen, trainable = count(model)
    assert (frozen, trainable) == (shape["parameters"], shape["trainable"]), \
        f"{frozen} and {trainable} parameters, not {shape['parameters']} and {shape['trainable']}"
    model = model.to(device)
    for parameter in model.parameters():
        parameter.data = parameter.data.to(torch.float32 if parameter.requires_grad else dtype)
    tokens = samples(shape, length, args.seed)
    made = torch.Generator().manual_seed(args.seed + 1)
    epochs = math.ceil(steps * args.batch / SAMPLES)
    order = torch.cat([torch.randperm(SAMPLES, generator=made) for _ in range(epochs)])
    order = order[:SAMPLES * EPOCHS] if not args.steps else order
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=args.rate)
    row = report.row
    row.update({"parameters": frozen + trainable, "trainable": trainable, "loss": [], "steps": 0, "samples": 0,
        "back_ends": back_ends(device)})

    def step(batch):
        optimizer.zero_grad(set_to_none=True)
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.item()  # waits for the device

    dog = Watchdog(args.hang, report)
    began = time.monotonic()
    for number in range(steps):
        batch = tokens[order[number * args.batch:(number + 1) * args.batch]].to(device)
        if args.test_hang == number + 1:
            time.sleep(3600)
        loss = step(batch) if args.test_nan != number + 1 else math.nan
        dog.alive(f"step {number + 1} of {steps}")
        now = time.monotonic() - began
        if not math.isfinite(loss):
            report.fail("nan", f"the loss of step {number + 1} is {loss}")
            break
        row["loss"].append(round(loss, 5))
        row.update(steps=number + 1, samples=row["samples"] + len(batch), seconds=now)
        row.setdefault("first_step_seconds", now)
        if (number + 1) % args.every == 0 or number + 1 == steps:
            print(f"bench: step {number + 1}/{steps} loss {loss:.4f} {row['samples'] / now:.2f} samples/s", file=sys.stderr, flush=True)
    later = row.get("seconds", 0) - row.get("first_step_seconds", 0)
    row["samples_per_second"] = row["samples"] / row["seconds"] if row["steps"] else 0
    row["steps_per_second"] = row["steps"] / row["seconds"] if row["steps"] else 0
    row["steady_steps_per_second"] = (row["steps"] - 1) / later if row["steps"] > 1 else 0
    row["peak_memory"] = peak(device)
    if row["steps"] == steps and steps >= 50 and not row["errors"]:
        first, last = (statistics.mean(part) for part in (row["loss"][:10], row["loss"][-10:]))
        if last >= first:
            report.fail("loss", f"the loss did not fall: {first:.4f} at first, {last:.4f} in the end")
    if row["steps"] == steps:
        with contextlib.suppress(Exception):  # a torch without a profiler
            row["kernels"] = kernels(lambda: step(batch), device)
    dog.alive("the end")


def clock(function, device, repeat):
    """The median of several runs, in seconds, after two that nobody counts; each long enough for the clock."""
    def once(times):
        if device != "cpu":
            torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(times):
            function()
        if device != "cpu":
            torch.cuda.synchronize()
        return (time.perf_counter() - began) / times

    once(1)
    times = max(1, min(1000, int(0.02 / max(once(1), 1e-6))))
    return statistics.median(once(times) for _ in range(repeat))


def work(device, small):
    """(kind, case, dtype, operations, function that makes the call)"""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    dtypes = ["float32", "bfloat16"] if device == "cpu" else ["float64", "float32", "float16", "bfloat16"]
    new = lambda dtype, *shape: torch.randn(*shape, device=device).to(getattr(torch, dtype))
    for n in (128, 256) if small else (1024, 4096, 8192):
        for dtype in dtypes:
            def gemm(n=n, dtype=dtype):
                x, y = new(dtype, n, n), new(dtype, n, n)
                return lambda: x @ y
            yield "gemm", f"{n}x{n}x{n}", dtype, 2 * n ** 3, gemm
    batch, heads, length, head = (1, 2, 64, 32) if small else (8, 16, 2048, 64)
    for dtype in dtypes[1:]:
        for name in ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
            kind = getattr(SDPBackend, name, None)
            if kind is None or (device == "cpu" and name[0] in "EC"):
                continue
            def attention(dtype=dtype, kind=kind):
                q, k, v = (new(dtype, batch, heads, length, head) for _ in range(3))
                def call():
                    with sdpa_kernel(kind):
                        return F.scaled_dot_product_attention(q, k, v)
                return call
            yield "attention", f"{name.lower()}-{batch}x{heads}x{length}x{head}", dtype, \
                4 * batch * heads * length * length * head, attention
    for images, channels, size in [(1, 8, 16)] if small else [(32, 64, 56), (32, 256, 14)]:
        for dtype in dtypes if device == "cpu" else dtypes[1:]:
            def convolution(dtype=dtype, images=images, channels=channels, size=size):
                x, w = new(dtype, images, channels, size, size), new(dtype, channels, channels, 3, 3)
                return lambda: F.conv2d(x, w, padding=1)
            yield "convolution", f"{images}x{channels}x{size}x{size}-3x3", dtype, \
                2 * images * channels ** 2 * size ** 2 * 9, convolution


def micro(args, report, device):
    small = args.shape == "small"
    report.row["settings"] = {"shape": args.shape, "repeat": args.repeat, "seed": args.seed}
    report.row.update(results=[], back_ends=back_ends(device))
    torch.manual_seed(args.seed)
    dog = Watchdog(args.hang, report)
    for kind, case, dtype, operations, make in work(device, small):
        row = {"kind": kind, "case": case, "dtype": dtype, "seconds": 0.0, "tflops": 0.0, "skipped": ""}
        try:
            with torch.no_grad():
                call = make()
                if not torch.isfinite(call()).all():
                    report.fail("nan", f"{kind} {case} {dtype}: a result is not finite")
                row["seconds"] = clock(call, device, args.repeat)
            row["tflops"] = operations / row["seconds"] / 1e12
        except RuntimeError as error:
            if "No available kernel" in str(error) or "No viable backend" in str(error):
                row["skipped"] = "this device and torch have no such kernel"
            else:
                report.caught(error)
                row["skipped"] = "it failed"
        report.row["results"].append(row)
        dog.alive(f"{kind} {case} {dtype}")
        print(f"bench: {kind} {case} {dtype}: " + (row["skipped"] or f"{row['tflops']:.3f} TFLOP/s"), file=sys.stderr, flush=True)
    report.row["peak_memory"] = peak(device)


def compare(report, args):
    """Adds what became worse than in the earlier result, beyond the tolerances."""
    row = report.row
    try:
        with open(args.compare, encoding="utf-8") as file:
            old = json.load(file)
        same = ("schema", "name", "settings")
        other = [key for key in same if old.get(key) != row[key]]
        if other:
            report.fail("compare", f"'{args.compare}' is no result of the same run: another {' and '.join(other)}")
            return
        least = 1 - args.tolerance / 100
        pairs = [("steps_per_second", old.get("steps_per_second", 0), row.get("steps_per_second", 0))]
        new = {(r["kind"], r["case"], r["dtype"]): r["tflops"] for r in row.get("results", [])}
        pairs += [(" ".join(key), r["tflops"], new.get(key, 0)) for r in old.get("results", [])
            for key in [(r["kind"], r["case"], r["dtype"])]]
        row["compared"] = [{"what": what, "before": before, "now": now} for what, before, now in pairs if before]
        for what, before, now in pairs:
            if before and now < before * least:
                report.fail("slower", f"{what}: {now:.4g} now, {before:.4g} before")
        if row.get("loss") and old.get("loss"):
            before, now = (statistics.mean(losses[-10:]) for losses in (old["loss"], row["loss"]))
            row["compared"].append({"what": "loss", "before": before, "now": now})
            if now > before * (1 + args.loss_tolerance / 100):
                report.fail("loss", f"the last losses are {now:.4f} now, and were {before:.4f}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        report.fail("compare", f"'{args.compare}' cannot be compared: {type(error).__name__}: {error}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["lora", "micro"])
    parser.add_argument("--shape", choices=list(SHAPES), default="qwen2.5-0.5b")
    parser.add_argument("--device", choices=["auto", "cpu", "gpu"], default="auto")
    parser.add_argument("--steps", type=int, default=0, help="0 = all samples three times: 563 with batches of 8")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=0, help="tokens of a sample; 0 = that of the shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--every", type=int, default=25, help="steps between two lines on stderr")
    parser.add_argument("--hang", type=float, default=300, help="seconds without a step that are a hang")
    parser.add_argument("--compare", default="", metavar="FILE")
    parser.add_argument("--tolerance", type=float, default=10, help="percent of speed that may be lost")
    parser.add_argument("--loss-tolerance", type=float, default=5, help="percent")
    parser.add_argument("-o", "--output", default="", metavar="FILE")
    parser.add_argument("--test-hang", type=int, default=0, help=argparse.SUPPRESS)  # for tests of the watchdog
    parser.add_argument("--test-nan", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = arguments()
    gpu = torch.cuda.is_available()
    if args.device == "gpu" and not gpu:
        print("bench: this torch sees no GPU", file=sys.stderr)
        return 3
    device = "cuda" if gpu and args.device != "cpu" else "cpu"
    report = Report(args, device)
    try:
        (lora if args.name == "lora" else micro)(args, report, device)
    except Exception as error:
        report.caught(error)
    faulthandler.cancel_dump_traceback_later()
    report.finish()
    return 0 if report.row["verdict"] == "pass" else 1


if __name__ == "__main__":
    sys.stdout.flush()
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads of a GPU's libraries may never end
