#!/usr/bin/env bash
# long
# verify against the dynamic loader, and on wheels that many people use, which must not fail; auditwheel computes their tags.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)

python3 "$top/tests/oracle/loader.py" "$ROCSMITH" 30

tools=$ROCSMITH_HOME/oracles wheels=$ROCSMITH_HOME/wheels/popular
bash "$top/tests/oracle/venv.sh" "$tools" 2>"$E2E_TMP/pip.log" || { echo 'skip no venv or package index'; exit 0; }
mkdir -p "$wheels"
"$tools/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary=:all: --python-version 3.12 \
	--platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 -d "$wheels" pyyaml==6.0.3 cffi==2.1.1 \
	ujson==6.1.0 psycopg-binary==3.3.9 pydantic-core==2.50.4 orjson==3.13.0 \
	2>"$E2E_TMP/pip.log" || { echo 'skip the wheels of others cannot be fetched'; exit 0; }
"$tools/bin/python" "$top/tests/oracle/auditwheel_tags.py" "$ROCSMITH" "$wheels"/*.whl

# What they are made of is read, and is about them: with another version it is not.
python3 - "$wheels" "$E2E_TMP" <<'EOF'
import pathlib, sys, zipfile
source = next(pathlib.Path(sys.argv[1]).glob("psycopg_binary-*.whl"))
with zipfile.ZipFile(source) as z, zipfile.ZipFile(pathlib.Path(sys.argv[2], source.name), "w", zipfile.ZIP_DEFLATED) as out:
    for item in z.infolist():
        data = z.read(item)
        if item.filename.endswith("sboms/auditwheel.cdx.json"):
            data = data.replace(b'"version": "3.3.9"', b'"version": "3.3.8"').replace(b'"version":"3.3.9"', b'"version":"3.3.8"')
        out.writestr(item, data)
EOF
said=$("$ROCSMITH" verify --json "$E2E_TMP"/psycopg_binary-*.whl || [ $? = 1 ])
grep -q '"id": "sbom-subject"' <<<"$said"
echo 'ok a bill of materials of another version is found'
