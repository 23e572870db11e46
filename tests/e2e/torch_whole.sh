#!/usr/bin/env bash
# slow: PyTorch as a whole takes hours of CPU time, and an SDK of 10 GB
# PyTorch 2.6.0 for gfx1201 from Debian's source package: from an empty home, as an ordinary user, by one command.
# Its wheel is verified, imported on the SDK's libraries, and counts right; then torchaudio, torchvision and two
# extensions of PyPI are built against it.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" || exit 1
chmod -R u+w . && rm -rf ./*
[ "$(df --output=avail -k . | tail -n 1)" -gt 25000000 ] || { echo 'skip PyTorch: no 25 GB free'; exit 0; }
mkdir home && cp "$ROCSMITH" rocsmith
unset ROCSMITH_HOME XDG_DATA_HOME XDG_CACHE_HOME
as=()
if [ "$(id -u)" = 0 ]; then
	chown -R nobody: . && as=(setpriv --reuid nobody --regid nogroup --clear-groups)
fi
us() { "${as[@]}" env HOME="$PWD/home" "$@"; }
rocsmith() { us "$PWD/rocsmith" "$@"; }
python() { rocsmith sdk run --host -- "$PWD/env/bin/python" "$@"; }
check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >log 2>&1; then echo "ok $what"; else echo "not ok $what: $(tail -n 30 log)"; return 1; fi
}

status=0
rocsmith build torch --source debian:trixie/pytorch --gpu gfx1201 --sdk debian -o out >log 2>&1 || status=$?
case $status in
0) echo "ok one command gives a wheel" ;;
4) echo "skip PyTorch: $(grep -m 1 error: log)" && exit 0 ;;
*) echo "not ok one command gives a wheel: $(tail -n 30 log)" && exit 0 ;;
esac
wheel=$(echo out/torch-2.6.0+rocm*.whl)
check "one wheel" test -f "$wheel"
check "its libraries can be loaded, its device code is for the GPU" rocsmith verify --sdk debian-sid --require gfx1201 "$wheel"
rocsmith inspect --json "$wheel" >inspect.json
check "each library with device code has gfx1201 and nothing else" python3 -c 'import json
files = json.load(open("inspect.json"))["files"]
have = {f["path"]: sorted({o["target"] for o in f["objects"]}) for f in files if f["objects"]}
assert any("libtorch_hip" in path for path in have), have
assert all(targets == ["gfx1201"] for targets in have.values()), have'
sources=home/.cache/rocsmith/source/pytorch-2.6.0*dfsg*[0-9a-f]
built=$(echo "$PWD"/home/.cache/rocsmith/build/pytorch-2.6.0*)
torch() { rocsmith build torch --source debian:trixie/pytorch --gpu gfx1201 --sdk debian -o out; }
compiled() { grep -cE '"kind":"(c|c\+\+|hip)","input":"[^"]*/tree/[^"]*\.(c|cpp|hip)"' "$built/log/cc.jsonl"; }
again() { # HOW-MANY: the build, once more, compiles so many sources
	local before
	before=$(compiled)
	torch && [ "$(compiled)" = $((before + $1)) ]
}
check "a second run compiles nothing" again 0
us sh -c "echo '// touched' >>$(echo $sources)/aten/src/ATen/native/cuda/FillKernel.cu"
check "of a touched kernel its own object and what is linked from it" again 1

check "an environment with it" us sh -c "python3 -m venv env && env/bin/pip install -q 'numpy<2.3' setuptools $wheel"
check "import: the version of HIP, and no GPU" python -c 'import torch
assert torch.version.hip.startswith("6.4"), torch.version.hip
assert torch.cuda.is_available() is False and torch.cuda.device_count() == 0'
cat >counts.py <<'PY' # torch.jit.script reads its function's source
import numpy as np, torch
rng = np.random.default_rng(0)
a, b = rng.standard_normal((64, 48)), rng.standard_normal((48, 80))
np.testing.assert_allclose((torch.from_numpy(a) @ torch.from_numpy(b)).numpy(), a @ b)
np.testing.assert_allclose(torch.linalg.svdvals(torch.from_numpy(a)).numpy(), np.linalg.svd(a, compute_uv=False))
np.testing.assert_allclose(torch.fft.fft(torch.from_numpy(a)).numpy(), np.fft.fft(a), atol=1e-9)
x = torch.from_numpy(a).requires_grad_()
(x ** 3).sum().backward()
np.testing.assert_allclose(x.grad.numpy(), 3 * a ** 2)
image, kernel = torch.randn(1, 3, 9, 9), torch.randn(2, 3, 3, 3)
out = torch.nn.functional.conv2d(image, kernel)
want = sum(image[0, c, i:i + 7, j:j + 7] * kernel[:, c, i, j, None, None] for c in range(3) for i in range(3) for j in range(3))
torch.testing.assert_close(out[0], want, atol=1e-4, rtol=1e-4)
def twice(v):
    return v * 2
assert torch.jit.script(twice)(torch.ones(2)).tolist() == [2, 2]
PY
check "the CPU counts right" python counts.py

mkdir -p ext
cat >ext/setup.py <<'PY'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="twice", version="1.0", ext_modules=[CUDAExtension("twice", ["twice.cpp", "kernel.cu"])],
      cmdclass={"build_ext": BuildExtension})
PY
cat >ext/twice.cpp <<'CPP'
#include <torch/extension.h>
torch::Tensor gpu(torch::Tensor x);
static torch::Tensor twice(torch::Tensor x) { return x.is_cuda() ? gpu(x) : x * 2; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
CPP
cat >ext/kernel.cu <<'CU'
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>
__global__ void kernel(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
torch::Tensor gpu(torch::Tensor x)
{
	auto y = x.clone();
	kernel<<<(y.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), y.numel());
	return y;
}
CU
over() { # WHAT ARGUMENT...
	local what=$1
	shift
	check "$what" rocsmith build "$@" --with "$wheel" --gpu gfx1201 --sdk debian -o out
}
over "torch.utils.cpp_extension" ext && us env/bin/pip install -q out/twice-*.whl &&
	check "the extension runs" python -c 'import torch, twice; assert twice.twice(torch.ones(3)).tolist() == [2, 2, 2]'
over "torchaudio 2.6.0" torchaudio && us env/bin/pip install -q --no-deps out/torchaudio-*.whl &&
	check "torchaudio counts right" python -c 'import torch, torchaudio
x = torch.sin(torch.arange(16000) * 440 * 2 * torch.pi / 16000)[None]
y = torchaudio.functional.lfilter(x, torch.tensor([1.0, 0]), torch.tensor([0.5, 0]))
torch.testing.assert_close(y, x * 0.5)'
over "torchvision 0.21.0" torchvision && us env/bin/pip install -q --no-deps pillow out/torchvision-*.whl &&
	check "torchvision counts right" python -c 'import torch, torchvision
boxes = torch.tensor([[0., 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])
assert torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7]), 0.5).tolist() == [0, 2]'
over "torch-scatter 2.1.2" sdist:torch-scatter==2.1.2 && us env/bin/pip install -q --no-deps out/torch_scatter-*.whl &&
	check "torch-scatter counts right" python -c 'import torch, torch_scatter
assert torch_scatter.scatter(torch.ones(4), torch.tensor([0, 0, 1, 1]), reduce="sum").tolist() == [2, 2]'
over "causal-conv1d 1.5.2" sdist:causal-conv1d==1.5.2
for part in out/torchvision-*.whl out/torch_scatter-*.whl out/causal_conv1d-*.whl; do
	check "${part##*/}" rocsmith verify --sdk debian-sid --require gfx1201 "$part"
done
check torchaudio rocsmith verify --sdk debian-sid out/torchaudio-*.whl # no kernels for ROCm in 2.6

# Killed while it configures, links and makes the wheel: it goes on, and ends with the same libraries. A linker that
# was killed leaves a file of its own.
us mkdir -p killed
kills=${ROCSMITH_KILLS:-3}
us python3 "$top/tests/e2e/faults.py" kill --times "$kills" --timeout 7200 \
	--setup "rm -f '$PWD/killed/kills' '$built/log/cc.jsonl' '$built/state/done' '$built'/tree/build/lib/libtorch_*.so \
		'$built'/tree/build/caffe2/CMakeFiles/torch_cpu.dir/__/aten/src/ATen/core/[A-G]*.o" \
	--check "cd killed && python3 '$top/tests/e2e/once.py' '$built/log/cc.jsonl' '$PWD/killed/kills' 3" \
	--tree "$built/tree/build/lib" --ignore '*.so.tmp*' -- "$PWD/rocsmith" build torch \
	--source debian:trixie/pytorch --gpu gfx1201 --sdk debian -o out >log 2>&1 &&
	echo "ok $kills kills of the whole" || echo "not ok $kills kills of the whole: $(tail -n 30 log)"
