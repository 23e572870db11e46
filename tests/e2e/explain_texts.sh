#!/usr/bin/env bash
# Texts that speak of messages are no logs: of no file of PyTorch's source, nor of our documentation, is explain sure.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
tree=$("$top/tools/debian-source" trixie pytorch 2>"$E2E_TMP/get.log") || {
	echo "skip PyTorch's source cannot be fetched"
	exit 0
}
words='hipError|[Rr][Oo][Cc][Mm]|/dev/kfd|HSA_STATUS|HSA_OVERRIDE|kernel image|out of memory|gfx[0-9]|MIOpen|amdgpu|No space left|hipcc'
grep -rlIE "$words" "$tree" "$top/doc" "$top/README.md" "$top/CONTRIBUTING.md" "$top/recipes" >"$E2E_TMP/files"
python3 - "$ROCSMITH" "$E2E_TMP/files" <<'PY'
import json, subprocess, sys
files = open(sys.argv[2]).read().split("\n")[:-1]
assert len(files) > 300, len(files)
sure = 0
for file in files:
    done = subprocess.run([sys.argv[1], "explain", "--json", file], capture_output=True, text=True)
    assert done.returncode in (0, 1), (file, done.stderr)
    for cause in json.loads(done.stdout)["causes"]:
        if not cause["context_only"]:
            sure += 1
            print(f"# {file}:{cause['line']}: {cause['id']}: {cause['text'][:200]}")
print("not ok" if sure else "ok", f"{len(files)} texts, {sure} taken for logs")
PY
