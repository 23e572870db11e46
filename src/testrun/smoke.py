"""smoke.py: what a torch can do on one device, as `rocsmith test smoke` asks it, one process for each GPU. $ROCSMITH_TEST names
a folder with settings.json (exclude, only: ids; device: "cuda" or "cpu"; name: how ids begin), and gets a journal as
plugin.py writes it. Results of the device are compared with those of the CPU in float64."""
import ctypes
import json
import os
import time
import traceback

FOLDER = os.environ["ROCSMITH_TEST"]
with open(os.path.join(FOLDER, "settings.json"), encoding="utf-8") as settings_file:
    SETTINGS = json.load(settings_file)
DEVICE, NAME = SETTINGS["device"], SETTINGS["name"]
JOURNAL = os.open(os.path.join(FOLDER, f"{time.time_ns():020d}-{os.getpid()}.journal"),
    os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
CHECKS = {}


def write(**row):
    os.write(JOURNAL, json.dumps({**row, "time": time.time()}).encode() + b"\n")


class Skip(Exception):
    pass


write(event="start", id=f"{NAME}::import")  # a torch that crashes is found by its first line
began = time.monotonic()
try:
    import torch
    import torch.nn.functional as F
except Exception as problem:
    traceback.print_exc()
    write(event="collected", id=f"{NAME}::import")
    write(event="result", id=f"{NAME}::import", outcome="failed", message=str(problem)[:2000], seconds=time.monotonic() - began)
    write(event="end", status=1)
    raise SystemExit(1) from problem
CHECKS["import"] = lambda: None
# TF32 would round the factors of float32 products to ten bits
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
FLOATS = {"float64": 1e-12, "float32": 1e-4, "float16": 2e-2, "bfloat16": 8e-2}


def check(*cases):
    def add(function):
        for case in cases or [None]:
            CHECKS[function.__name__ + (f"[{case}]" if case else "")] = (lambda case=case: function(*([case] if case else [])))
        return function
    return add


def sample(*shape, dtype="float32"):
    return torch.randn(*shape, dtype=torch.float64).to(getattr(torch, dtype))


def compare(function, *inputs, dtype):
    """The device's result against the CPU's in float64, for the same inputs."""
    want = function(*(x.double() for x in inputs))
    got = function(*(x.to(DEVICE) for x in inputs)).cpu().double()
    assert torch.isfinite(got).all(), "a result is not finite"
    off = ((got - want).abs().max() / want.abs().max().clamp(min=1e-30)).item()
    assert off <= FLOATS[dtype], f"differs from the CPU's result in float64 by {off:.3g} of the largest value"


@check()
def available():
    if DEVICE == "cpu":
        raise Skip("no GPU is here: what follows runs on the CPU")
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1, "torch does not see exactly this GPU"
    print(torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0))


@check()
def kernels():
    """The device code of the wheel has this GPU's, and a kernel of it runs."""
    if DEVICE == "cpu":
        raise Skip("no GPU is here")
    listed = torch.cuda.get_arch_list()
    properties = torch.cuda.get_device_properties(0)
    own = getattr(properties, "gcnArchName", "").split(":")[0] or f"sm_{properties.major}{properties.minor}"
    print("code for", listed, "on", own)
    x = torch.arange(1000, device=DEVICE)
    assert int((x * x).sum()) == 332833500, "a kernel gives a wrong sum"


@check()
def preloaded():
    """Functions of ROCm's libraries that extensions look up without naming a library."""
    if not torch.version.hip:
        raise Skip("this torch is not built for ROCm")
    missing = [name for name in ("hipGetDeviceCount", "hipblasCreate") if not hasattr(ctypes.CDLL(None), name)]
    assert not missing, f"the process does not find {', '.join(missing)}"


@check()
def copies():
    x = sample(1 << 20)
    assert torch.equal(x.to(DEVICE).cpu(), x), "data comes back changed"


@check(*FLOATS)
def mm(dtype):
    compare(torch.mm, sample(257, 129, dtype=dtype), sample(129, 65, dtype=dtype), dtype=dtype)


@check(*FLOATS)
def bmm(dtype):
    compare(torch.bmm, sample(5, 33, 64, dtype=dtype), sample(5, 64, 17, dtype=dtype), dtype=dtype)


@check("float64", "float32")
def mv(dtype):
    compare(torch.mv, sample(300, 200, dtype=dtype), sample(200, dtype=dtype), dtype=dtype)


@check("float64", "float32")
def dot(dtype):
    compare(lambda x: torch.dot(x, x), sample(4096, dtype=dtype), dtype=dtype)


@check("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def convolution(name):
    size = int(name[-2])
    shape = (4, 6) if "transpose" in name else (6, 4)
    compare(lambda x, w: getattr(F, name)(x, w, stride=2, padding=1), sample(2, 4, *[11] * size), sample(*shape, *[3] * size),
        dtype="float32")


@check("float16", "bfloat16")
def conv2d(dtype):
    compare(lambda x, w: F.conv2d(x, w, padding=1), sample(2, 8, 14, 14, dtype=dtype), sample(16, 8, 3, 3, dtype=dtype),
        dtype=dtype)


@check()
def blas():
    config = torch.__config__.show()
    print(config)
    assert "BLAS" in config and torch._C.has_lapack, "this torch is built without BLAS or LAPACK"


@check("cpu", "device")
def svd(where):
    if where == "device" and DEVICE == "cpu":
        raise Skip("no GPU is here")
    x = sample(60, 40).to("cpu" if where == "cpu" else DEVICE)
    u, s, v = torch.linalg.svd(x, full_matrices=False)
    off = ((u * s) @ v - x).abs().max().item()
    assert off < 1e-4, f"the product of the parts differs by {off:.3g}"


@check("math", "flash", "efficient", "cudnn")
def attention(backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    kind = getattr(SDPBackend, {"math": "MATH", "flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION",
        "cudnn": "CUDNN_ATTENTION"}[backend], None)
    if kind is None or (DEVICE == "cpu" and backend in ("efficient", "cudnn")):
        raise Skip("not a back end of this torch and device")
    dtype = "float32" if DEVICE == "cpu" else "float16"
    q, k, v = (sample(2, 4, 128, 64, dtype=dtype) for _ in range(3))

    def run(q, k, v):
        own = q.dtype == torch.float64  # the reference
        with sdpa_kernel(SDPBackend.MATH if own else kind):
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    try:
        compare(run, q, k, v, dtype=dtype)
    except RuntimeError as error:
        if "No available kernel" in str(error) or "No viable backend" in str(error):
            raise Skip(f"this GPU and torch have no such kernel: {error}") from error
        raise


@check()
def backward():
    layer = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64))
    x = sample(16, 64)
    layer.double()(x.double()).square().mean().backward()
    want = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer.float().to(DEVICE)(x.to(DEVICE)).square().mean().backward()
    for one, other in zip(want, layer.parameters()):
        assert torch.allclose(one, other.grad.cpu().double(), atol=1e-4), "a gradient differs from the CPU's in float64"


def run(name, function):
    began, outcome, message = time.monotonic(), "passed", ""
    torch.manual_seed(7)
    try:
        function()
        if DEVICE != "cpu":
            torch.cuda.synchronize()
    except Skip as why:
        outcome, message = "skipped", str(why)
    except Exception as error:
        traceback.print_exc()
        outcome, message = "failed", f"{type(error).__name__}: {error}" if not isinstance(error, AssertionError) else str(error)
    write(event="result", id=name, outcome=outcome, message=message[:2000], seconds=time.monotonic() - began)
    return outcome != "failed"


good, first = True, True
mine = {f"{NAME}::{key}": function for key, function in CHECKS.items()}
mine = {name: function for name, function in mine.items()
    if name.endswith("::import") or name not in SETTINGS["exclude"] and (not SETTINGS["only"] or name in SETTINGS["only"])}
for name in mine:
    write(event="collected", id=name)
for name, function in mine.items():
    if not name.endswith("::import"):
        write(event="start", id=name)
    good &= run(name, function)
write(event="end", status=0 if good else 1)
raise SystemExit(0 if good else 1)
