#!/usr/bin/env bash
# slow: archives with a member above 4 GiB, written by us and judged by zipfile and unzip, and a wheel of
# that size made by Python, judged by us.
set -eu
test=$(dirname "$ROCSMITH")/tests/t_zip_write
if [ -x "$test" ]; then
	ROCSMITH_SLOW=1 CMOCKA_MESSAGE_OUTPUT=TAP "$test" >"$E2E_TMP/t_zip_write.txt" 2>&1 ||
		{ cat "$E2E_TMP/t_zip_write.txt"; exit 1; }
	grep -q '^ok .*a_member_above_4_gib$' "$E2E_TMP/t_zip_write.txt"
	echo 'ok zipfile and unzip read a member above 4 GiB that we packed'
else
	echo 'skip the unit tests are not built'
fi

python3 - "$E2E_TMP" <<'END'
import base64, hashlib, os, sys, zipfile
size, piece = (4 << 30) + 4096, os.urandom(1 << 20) + bytes(15 << 20)  # zeros alone would be a bomb
name = "demo-1.0.dist-info/"
with zipfile.ZipFile(sys.argv[1] + "/demo-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
    h, left = hashlib.sha256(), size
    with z.open("demo.bin", "w", force_zip64=True) as f:
        while left:
            part = piece[:left]
            f.write(part)
            h.update(part)
            left -= len(part)
    rows = ["demo.bin,sha256=" + base64.urlsafe_b64encode(h.digest()).decode().rstrip("=") + f",{size}"]
    for file, text in (("METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"),
            ("WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")):
        z.writestr(name + file, text)
        d = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        rows.append(f"{name}{file},sha256={d},{len(text)}")
    z.writestr(name + "RECORD", "\n".join(rows + [name + "RECORD,,", ""]))
END
"$ROCSMITH" verify "$E2E_TMP/demo-1.0-py3-none-any.whl" | tail -1 | grep -q 'pass (0 errors'
echo 'ok a wheel with a member above 4 GiB that zipfile packed passes'
