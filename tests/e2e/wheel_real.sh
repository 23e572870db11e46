#!/usr/bin/env bash
# slow: half a gigabyte of wheels is fetched, and read by Python many times
# Wheels that people use, with code in each of the places where linkers put .hip_fatbin: what was split and merged has every
# object, and the parts between fit each other.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
oracle=$top/tests/oracle
cd "$E2E_TMP"
rm -rf ./*
cache=${E2E_CACHE:-$PWD}
done=0
for want in ${ROCSMITH_REAL_WHEELS:-pyg-lib-rocm==0.8.0.post2 bitsandbytes==0.50.2 cupy-rocm-7-0==14.2.0 \
	jax-rocm7-plugin==0.10.2 jax-rocm7-pjrt==0.12.0 tensorflow-rocm==2.14.0.600}; do
	name=${want%%==*}
	pattern=${name//-/_}-${want#*==}-*.whl
	# shellcheck disable=SC2086
	compgen -G "$cache/"$pattern >/dev/null || timeout 600 python3 -m pip download -q --no-deps --only-binary=:all: \
		--python-version 3.11 --disable-pip-version-check --platform manylinux2014_x86_64 --platform manylinux_2_24_x86_64 \
		--platform manylinux_2_27_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux_2_32_x86_64 --dest "$cache" "$want" \
		>pip.log 2>&1 || {
		echo "skip $want cannot be fetched"
		continue
	}
	# shellcheck disable=SC2086
	wheel=$(compgen -G "$cache/"$pattern | head -n 1)
	file=${wheel##*/}
	python3 "$oracle/placement.py" "$wheel" >>places
	"$ROCSMITH" split -q --format kpack "$wheel" -o parts >/dev/null
	"$ROCSMITH" verify --json parts >said || [ $? = 1 ]
	python3 - <<'PY'
import json
found = [f for w in json.load(open("said"))["wheels"] for f in w["findings"]
    if f["id"].startswith(("kpack", "device", "record", "zip", "set"))]
assert not found, found[:3]
PY
	python3 "$oracle/kpack.py" "$wheel" parts
	"$ROCSMITH" merge -q parts/*.whl -o merged >/dev/null
	python3 "$oracle/merged.py" "$wheel" "merged/$file"
	rm -r parts merged
	"$ROCSMITH" split -q --format plain "$wheel" -o parts >/dev/null
	"$ROCSMITH" merge -q "parts/$file" parts/*_all-*.whl -o merged >/dev/null
	python3 "$oracle/merged.py" "$wheel" "merged/$file"
	rm -r parts merged
	done=$((done + 1))
done
sort places | uniq -c
[ "$done" -lt 6 ] || [ "$(cut -d: -f1 places | sort -u | wc -l)" -ge 3 ]
echo "ok $done wheels are split, judged and merged"
