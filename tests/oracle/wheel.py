"""wheel.py CHECK ARGUMENT...: what Python's own modules, packaging, auditwheel and LLVM say about a wheel.

Prints `ok WHAT` or `not ok WHAT` lines; none of this uses rocsmith's code.
"""
import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import sys
import zipfile


def say(good, what, detail=""):
    print(("ok " if good else "not ok ") + what + (f": {detail}" if detail and not good else ""))


def check_zip(path):
    with zipfile.ZipFile(path) as z:
        say(z.testzip() is None, "python's zipfile reads every member")
        names = z.namelist()
        say(len(set(names)) == len(names), "no name is there twice")
        info = [n.split("/")[0] for n in names]
        dist = [n for n in info if n.endswith(".dist-info")]
        say(info[-len(dist):] == dist, "the dist-info folder comes last", str(names))
        say(all(i.date_time == z.infolist()[0].date_time for i in z.infolist()), "all times are equal")
        say(all((i.external_attr >> 16) & 0o777 in (0o644, 0o755) for i in z.infolist()),
            "modes are 0644 or 0755")


def check_record(path):
    with zipfile.ZipFile(path) as z:
        name = next(n for n in z.namelist() if n.endswith(".dist-info/RECORD"))
        rows = {r[0]: r[1:] for r in csv.reader(io.StringIO(z.read(name).decode()))}
        say(set(rows) == set(z.namelist()), "RECORD lists every file and no other")
        wrong = []
        for member, (digest, size) in rows.items():
            if member == name:
                if digest or size:
                    wrong.append(member)
                continue
            data = z.read(member)
            want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            if digest != "sha256=" + want or int(size) != len(data):
                wrong.append(member)
        say(not wrong, "RECORD has the right hash and size of each", str(wrong))


def check_name(path):
    from packaging.metadata import Metadata
    from packaging.utils import parse_wheel_filename

    name, version, _, tags = parse_wheel_filename(pathlib.Path(path).name)
    with zipfile.ZipFile(path) as z:
        meta = next(n for n in z.namelist() if n.endswith(".dist-info/METADATA"))
        wheel = next(n for n in z.namelist() if n.endswith(".dist-info/WHEEL"))
        data = Metadata.from_email(z.read(meta), validate=True)
        lines = z.read(wheel).decode().splitlines()
    say(data.version == version and data.name.replace("-", "_") == name.replace("-", "_"),
        "packaging: METADATA is valid and agrees with the file name")
    listed = {line.split(": ")[1] for line in lines if line.startswith("Tag: ")}
    say(listed == {str(t) for t in tags}, "packaging: WHEEL's tags are those of the file name", str(listed))


def check_audit(path, report):
    text = " ".join(pathlib.Path(report).read_text().split())
    tag = pathlib.Path(path).name[:-4].split("-")[-1]
    found = re.search(r'consistent with the following platform tag: "([^"]+)"', text)
    say(found and found.group(1) == tag, f"auditwheel gives the same platform tag, {tag}", text[:400])
    say("libamdhip64.so" in text, "auditwheel names libamdhip64 as what keeps it from manylinux", text[:400])


def check_offloading(inspect, folder):
    """llvm-objdump --offloading wrote each code object of the library in `folder` beside it; the names end in the target."""
    ours = sorted((o["target"], o["size"], o["sha256"]) for f in json.load(open(inspect))["files"] for o in f["objects"])
    theirs = sorted((path.name.split("amdgcn-amd-amdhsa--")[1], path.stat().st_size,
        hashlib.sha256(path.read_bytes()).hexdigest()) for path in pathlib.Path(folder).glob("*amdgcn-amd-amdhsa--*"))
    say(ours and theirs == ours, "llvm-objdump takes out the same objects: targets, sizes, hashes", f"{theirs} {ours}")


CHECKS = {"zip": check_zip, "record": check_record, "name": check_name, "audit": check_audit,
    "offloading": check_offloading}

if __name__ == "__main__":
    CHECKS[sys.argv[1]](*sys.argv[2:])
