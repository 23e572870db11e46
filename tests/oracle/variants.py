"""variants.py DIR: variantlib, with AMD's provider rocm-bootstrap, reads the variant wheel and the index file in DIR; run by
the Python of an environment that has both. Asks for GPUs by the provider's own variable."""
import email
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

from variantlib.api import get_variant_environment_dict, get_variants_by_priority
from variantlib.plugins.loader import VARIANT_PROVIDER_CACHE_TABLE

folder = sys.argv[1]
(wheel,) = glob.glob(f"{folder}/*-rocm.whl")
(index,) = glob.glob(f"{folder}/*-variants.json")
text = json.load(open(index))


def variantlib(*words):
    r = subprocess.run([os.path.join(os.path.dirname(sys.executable), "variantlib"), *words], capture_output=True, text=True)
    said = r.stdout + r.stderr
    assert r.returncode == 0 and "ERROR" not in said and "WARNING" not in said, said
    return said


said = variantlib("analyze-wheel", "-i", wheel)
assert "amd :: gfx_arch :: gfx1201" in said, said
alone = folder + ".variant"
shutil.rmtree(alone, ignore_errors=True)
os.mkdir(alone)
shutil.copy(wheel, alone)
variantlib("generate-index-json", "-d", alone)
(theirs,) = glob.glob(f"{alone}/*.json")
assert os.path.basename(theirs) == os.path.basename(index) and json.load(open(theirs)) == text, open(theirs).read()

names = zipfile.ZipFile(wheel)
metadata = email.message_from_bytes(names.read(next(n for n in names.namelist() if n.endswith("METADATA"))))
for gpu, want in {
    "gfx1100": {"gfx1100", "gfx11", "gfx110x"},
    "gfx1151": {"gfx11-generic", "gfx11"},
    "gfx1201": {"gfx1201", "gfx12-0"},
    "gfx906": None,
}.items():
    os.environ["ROCM_BOOTSTRAP_FORCE_GFX_ARCH"] = gpu
    VARIANT_PROVIDER_CACHE_TABLE.clear()
    found = get_variants_by_priority(variants_json=text)
    if want is None:
        assert not [v for v in found if v.label == "rocm"], (gpu, found)
        continue
    assert found[0].label == "rocm", (gpu, found)
    properties = get_variant_environment_dict(found[0])["variant_properties"]
    needs = [
        re.fullmatch(r'amd-kern-device-(\S+) == 1.0\+rocm7.2; "(.*)" in variant_properties', r)
        for r in metadata.get_all("Requires-Dist")
    ]  # packaging does not know the variable yet
    got = {m[1] for m in needs if m and m[2] in properties}
    assert got == want, (gpu, got)
