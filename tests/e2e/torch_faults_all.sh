#!/usr/bin/env bash
# slow: an SDK of 10 GB, a part of PyTorch some thirty times
# A part of PyTorch 2.6.0 (c10, c10_hip, thirty sources of ATen, the links) is killed ROCSMITH_KILLS times at random
# moments, and the whole way from the configuration on a few times: the next build goes on, nothing is
# compiled twice but what a kill interrupted, and the result is that of an undisturbed build.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
kills=${ROCSMITH_KILLS:-50}
cd "$E2E_TMP"
chmod -R u+w . && rm -rf ./*
. "$top/tools/fetch.sh"
unset ROCSMITH_HOME
export XDG_DATA_HOME=$FETCH_CACHE/torch-build # as in torch_build.sh
export CCACHE_DISABLE=1 # compiles are to be killed, not look-ups
"$ROCSMITH" sdk install debian --components torch-build,torch-third-party >log 2>&1 || {
	echo "skip kills of a build of PyTorch: $(grep -m1 error: log)"
	exit 0
}

build=("$ROCSMITH" build torch --source debian:trixie/pytorch --gpu gfx1201 --sdk debian --build-dir "$PWD/b"
	--target c10 --target c10_hip)
for name in EmptyTensor LegacyBatchedTensorImpl TensorNames record_function core/{adaption,BackendSelectFallbackKernel,Dict} \
	core/{Formatting,interned_strings,List,MetaFallbackKernel,PythonFallbackKernel,PythonOpRegistrationTrampoline} \
	core/{Tensor,TensorMethods,TorchDispatchUtils,VariableFallbackKernel,library,tensor_type,type_factory} \
	core/{boxing/KernelFunction,dispatch/DispatchKeyExtractor,op_registration/infer_schema,op_registration/op_registration} \
	functorch/{BatchedTensorImpl,FunctionalizeInterpreter,Interpreter,PlumbingHelper,VmapInterpreter} quantized/QTensorImpl; do
	build+=(--target "caffe2/CMakeFiles/torch_cpu.dir/__/aten/src/ATen/$name.cpp.o")
done
at=$PWD/b/tree/build
disturb() { # TIMES SECONDS SETUP: ends with the first finding
	python3 "$top/tests/e2e/faults.py" kill --times "$1" --within "$2" --timeout 7200 --setup "$3; rm -f '$PWD/kills' '$PWD/b/log/cc.jsonl'" \
		--check "python3 '$top/tests/e2e/once.py' '$PWD/b/log/cc.jsonl' '$PWD/kills' 3" \
		--tree "$at/lib" --tree "$at/caffe2/CMakeFiles/torch_cpu.dir" --ignore CMakeDirectoryInformation.cmake --ignore '*.o.tmp' --ignore '*.so.tmp*' \
		-- "${build[@]}"
	STATUS=0 python3 "$top/tests/e2e/once.py" "$PWD/b/log/cc.jsonl" "$PWD/kills" 3
}

# What has been compiled goes, the configuration stays; generated sources are what CMake looks once more for.
"${build[@]}" >log 2>&1 && "${build[@]}" >log 2>&1 || { echo "not ok a part of PyTorch: $(tail -n 30 log)"; exit 1; }
disturb "$kills" 45 "find '$at/c10' '$at/caffe2' '$at/lib' -type f '(' -name '*.o' -o -name '*.so' ')' -delete"
[ "$(tail -n 1 compiled)" -gt 80 ] || { echo 'not ok compiles were to be counted'; exit 1; }
echo "ok $kills kills of a part of PyTorch: it goes on, nothing is compiled twice, the result is the same"
whole=$(((kills + 9) / 10))
disturb "$whole" 300 "rm -rf '$PWD/b'"
echo "ok $whole kills from an empty folder on"
