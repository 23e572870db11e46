#!/usr/bin/env bash
# doctor on this computer: its facts are those that others tell; a recording has the same facts, and names nobody.
# Peers: python's json and tarfile.
set -eu
cd "$E2E_TMP"
mkdir -p homes/secretname/.cache tmp
export HOME=$PWD/homes/secretname TMPDIR=$PWD/tmp HSA_ENABLE_SDMA=0 SECRET_TOKEN=hunter2
export LD_LIBRARY_PATH=/nowhere:$HOME/lib MIOPEN_USER_DB_PATH=/home/somebody/db HIP_VISIBLE_DEVICES=
"$ROCSMITH" doctor --json >live.json || [ $? = 1 ]
python3 - <<'PY'
import json, os, shutil
facts = json.load(open("live.json"))["facts"]
assert facts["cpus"] == os.cpu_count(), facts["cpus"]
assert facts["kernel"] == os.uname().release
assert facts["identity"]["uid"] == os.geteuid()
found = {v["name"]: v["value"] for v in facts["variables"]}
for name in ("HSA_ENABLE_SDMA", "LD_LIBRARY_PATH", "HIP_VISIBLE_DEVICES"):
    assert found[name] == os.environ[name]
assert "SECRET_TOKEN" not in found
for disk in facts["disks"]:
    at = disk["path"]
    while not os.path.exists(at):
        at = os.path.dirname(at)
    assert disk["size"] == shutil.disk_usage(at).total, disk
print("ok facts are those of Python")
PY
"$ROCSMITH" doctor --record facts.tar.gz >/dev/null 2>&1 || [ $? = 1 ]
tar -xzf facts.tar.gz
"$ROCSMITH" doctor --json --sysroot facts >again.json || [ $? = 1 ]
python3 - <<'PY'
import json, os, re, tarfile
live, again = (json.load(open(f))["facts"] for f in ("live.json", "again.json"))
text = json.dumps(live).replace(os.environ["HOME"], "/home/user")
live = json.loads(re.sub(r'/home/(?!user\b)[^/":]+', "/home/other", text)) # folders of tests may lie in a home
for facts in (live, again):
    for name in ("memory_free", "pressure", "nodes"):
        facts.pop(name)
    for disk in facts["disks"]:
        disk.pop("free")
for name in live:
    assert live[name] == again[name], (name, live[name], again[name])
secrets = ["secretname", "somebody", "hunter2"]
if os.uname().nodename not in text: # a host may be called "debian"
    secrets.append(os.uname().nodename)
for member in (tar := tarfile.open("facts.tar.gz")):
    data = tar.extractfile(member).read().decode("latin-1") if member.isreg() else member.linkname
    for secret in secrets:
        assert secret not in member.name + data, (secret, member.name, data[:200])
print("ok a recording has the same facts, and names nobody")
PY
