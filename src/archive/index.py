"""Asks package indexes for a project's files, and downloads them. archive/index.c feeds it to a Python,
with a call of run() and a job as the last line; index.h says what the jobs are.

Without URLs in the job, index, proxy, certificates and the folders of --find-links come from `pip config list`;
the default index is the one that pip's own help names. Indexes are read by the simple API: PEP 503 (HTML),
PEP 691 (JSON), PEP 592 (yanked files), PEP 658 and 714 (metadata). No code of a project is run. Prints lines
"progress DONE TOTAL FILE", and finally one line of JSON.
"""
import ast
import base64
import errno
import hashlib
import html.parser
import http.client
import io
import json
import netrc
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib

SUFFIXES = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")  # PEP 625 prescribes the first
MAX_INDEX, MAX_FILE, MAX_TEXT, MAX_FILES, TRIES = 256 << 20, 32 << 30, 16 << 20, 30000, 3
NETWORK_ERRORS = (urllib.error.URLError, ConnectionError, TimeoutError, ssl.SSLError,
    http.client.HTTPException)
true, false, null = True, False, None  # a job is written as JSON
job = {}


class Failure(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def normal(text):
    return re.sub(r"[-_.]+", "-", text).lower()


# ---- pip's configuration ----
def pip(*words):
    r = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "1000", "LC_ALL": "C.UTF-8"})
    if r.returncode:
        lines = r.stderr.decode(errors="replace").strip().splitlines() or ["it prints no error"]
        raise Failure("tool", f"pip of '{sys.executable}' does not name its index: {lines[-1]}")
    return r.stdout.decode(errors="replace")


def configuration():
    """Environment variables override the section of `pip download`, which overrides the global one. A job may bring what an
    earlier one was told."""
    if job.get("config"):
        return json.loads(job["config"])
    found = {"global": {}, "download": {}, ":env:": {}}
    try:
        text = pip("config", "list")
    except Failure:
        if job["do"] in ("list", "sdist") and not job["urls"] and not job["links"]:
            raise
        text = ""  # a Python without pip: only its proxy and certificates are not known
    for line in text.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in found:
            try:
                found[section][option] = str(ast.literal_eval(value))
            except (SyntaxError, ValueError):
                pass
    return {**found["global"], **found["download"], **found[":env:"]}


def places(config):
    """The folders and pages of files, and the indexes, in the order in which they are asked."""
    if job["urls"] or job["links"]:
        return job["links"], job["urls"]
    links = config.get("find-links", "").split()
    if config.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return links, []
    first = config.get("index-url")
    if not first:
        match = re.search(r"--index-url.*?\(default\s+(\S+?)\)", pip("help", "download"), re.DOTALL)
        if not match:
            raise Failure("tool", "pip's help does not name its default index; set PIP_INDEX_URL")
        first = match.group(1)
    return links, [first, *config.get("extra-index-url", "").split()]


# ---- the network ----
class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows none from https to http, unless the hash of what comes is known."""
    def __init__(self, known):
        self.known = known

    def redirect_request(self, request, source, code, message, headers, url):
        if request.type == "https" and not self.known and urllib.parse.urlsplit(url).scheme != "https":
            raise Failure("hash", f"'{shown(request.full_url)}' leads to '{shown(url)}', which is not encrypted")
        return super().redirect_request(request, source, code, message, headers, url)


class Network:
    def __init__(self, config):
        cert = config.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or \
            os.environ.get("CURL_CA_BUNDLE") or None
        self.timeout = float(config.get("timeout") or config.get("default-timeout") or 60)
        self.trusted = config.get("trusted-host", "").split()
        self.context = ssl.create_default_context(cafile=cert)
        self.handlers, self.logins = [], {}
        if config.get("proxy"):
            proxy = config["proxy"]
            self.handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy})]

    def opener(self, host, port, known):
        context = self.context
        if host in self.trusted or f"{host}:{port}" in self.trusted:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return urllib.request.build_opener(
            *self.handlers, Redirects(known), urllib.request.HTTPSHandler(context=context))

    def open(self, url, accept="*/*", start=None, method="GET", known=False):
        if url.startswith("file://"):
            return urllib.request.urlopen(url)  # only list_folder() makes these
        parts = urllib.parse.urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        login = (parts.username, parts.password) if parts.username else self.logins.get(host)
        if not login and parts.hostname:
            try:
                known = netrc.netrc().authenticators(parts.hostname)
                login = known and (known[0], known[2])
            except (OSError, netrc.NetrcParseError):
                pass
        self.logins[host] = login  # what its pages link to has the address without it
        url = urllib.parse.urlunsplit(parts._replace(netloc=host))
        request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "rocsmith"})
        if start is not None:
            request.add_header("Range", start)
        request.method = method
        if login:
            words = ":".join(urllib.parse.unquote(word or "") for word in login)
            request.add_unredirected_header(
                "Authorization", "Basic " + base64.b64encode(words.encode()).decode())
        return self.opener(parts.hostname, parts.port, known).open(request, timeout=self.timeout)


def again(url, function):
    """Calls a function up to three times, until the server of the URL gives an answer, even a refusal."""
    for n in range(TRIES):
        try:
            return function()
        except urllib.error.HTTPError as e:
            if e.code < 500 or n + 1 == TRIES:
                raise
        except NETWORK_ERRORS as e:
            if n + 1 == TRIES:
                why, server = getattr(e, "reason", e), urllib.parse.urlsplit(url).hostname or shown(url)
                raise Failure("net", f"the package index at '{server}' cannot be reached: {why}") from e
        time.sleep(1 + n)


# ---- the index ----
class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.files, self.folders, self.base = [], 0, None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "base" and attrs.get("href"):
            self.base = attrs["href"]
        if tag != "a" or not attrs.get("href"):
            return
        url, _, fragment = attrs["href"].partition("#")
        hashes = dict([fragment.split("=", 1)]) if "=" in fragment else {}
        path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
        self.folders += path.endswith("/") and not path.startswith((".", "/"))
        metadata = attrs.get("data-core-metadata", attrs.get("data-dist-info-metadata"))
        if metadata:
            metadata = dict([metadata.split("=", 1)]) if "=" in metadata else True
        self.files.append({"url": url, "filename": path.rpartition("/")[2], "hashes": hashes,
            "yanked": "data-yanked" in attrs and (attrs["data-yanked"] or True), "core-metadata": metadata,
            "requires-python": attrs.get("data-requires-python")})


def read_page(network, url, most=MAX_INDEX):
    """The files on a page, the address that they are relative to, and how many folders it links to."""
    with network.open(url, "application/vnd.pypi.simple.v1+json, "
            "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1") as page:
        kind, base = page.headers.get("Content-Type", ""), page.geturl()
        text = page.read(most + 1)
    if len(text) > MAX_INDEX:
        raise Failure("gone", "the index's page of this project is larger than 256 MiB")
    if "json" in kind:
        return json.loads(text).get("files", []), base, 0
    links = Links()
    links.feed(text.decode(errors="replace"))
    return links.files, urllib.parse.urljoin(base, links.base) if links.base else base, links.folders


def version_of(file):
    """The version in the name of a source distribution of this project, or None for any other file.

    "torch_scatter-2.1.2.tar.gz" -> "2.1.2"
    """
    suffix = next((s for s in SUFFIXES if file.endswith(s)), None)
    if not suffix or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+!-]*", file):
        return None
    stem = file[:-len(suffix)]
    cuts = (i for i, char in enumerate(stem) if char == "-" and normal(stem[:i]) == normal(job["name"]))
    return next((stem[i + 1:] for i in cuts), None)


def is_ours(file):
    wheel = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._]*)-[A-Za-z0-9._+!-]+\.whl", file)
    return normal(wheel.group(1)) == normal(job["name"]) if wheel else version_of(file) is not None


def same_version(one, other):
    return normal(one.lower().lstrip("v")) == normal(other.lower().lstrip("v"))


def shown(url):
    """The address without a name and password."""
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def check_address(url):
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Failure("usage", f"'{shown(url)}' is neither a folder nor an address of http or https")


def list_folder(place, found):
    path = os.path.abspath(urllib.parse.unquote(place[7:]) if place.startswith("file://") else place)
    for folder in (path, os.path.join(path, normal(job["name"]))):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        for file in filter(is_ours, names):
            full = os.path.join(folder, file)
            found.append({"filename": file, "url": "file://" + urllib.parse.quote(full),
                "size": os.stat(full).st_size, "index": path})


def list_page(network, place, page, found):
    """Adds the project's files on a page; returns what the page has in their place."""
    files, base, folders = again(page, lambda: read_page(network, page))
    wheels = 0
    for file in files:
        url = urllib.parse.urljoin(base, file.get("url", ""))
        wheels += file.get("filename", "").endswith(".whl")
        if is_ours(file.get("filename", "")) and urllib.parse.urlsplit(url).scheme in ("http", "https"):
            found.append({**file, "url": url, "index": shown(place)})
    if len(found) > MAX_FILES:
        raise Failure("gone", f"the index has more than {MAX_FILES} files of '{job['name']}'")
    return "an index" if folders and not wheels else ""


def list_place(network, place, flat, found):
    """Adds the files of one place; returns why there are none."""
    if place.startswith("file://") or os.path.isdir(place):
        list_folder(place, found)
        return "" if found else f"'{place}' has no file of it"
    if not job["urls"] and not job["links"] and "://" not in place:
        return f"there is no folder '{place}'"  # pip goes on then, too
    check_address(place)
    name, page = shown(place), place if flat else place.rstrip("/") + "/" + normal(job["name"]) + "/"
    try:
        kind = list_page(network, place, page, found)
        if flat and kind:
            raise Failure("usage", f"'{name}' is a simple index, not a page of files: --index-url takes it")
        return "" if found else f"'{name}' has no file of it"
    except urllib.error.HTTPError as e:
        if e.code not in (403, 404, 410):
            raise Failure("net", f"the package index '{name}' answers {e.code} {e.reason}") from e
        if not flat and job["urls"]:
            try:
                files, _, _ = read_page(network, place.rstrip("/") + "/", 1 << 18)
            except (urllib.error.HTTPError, *NETWORK_ERRORS):
                files = []
            if any(file.get("filename", "").endswith(".whl") for file in files):
                raise Failure("usage", f"'{name}' is a page of files, not a simple index: --find-links takes it") from e
        return f"'{name}' does not have it, and answers {e.code} {e.reason}"


def list_files(asked, network, everywhere=False):
    """The project's files in the first place that has any, or in all; and why there are none."""
    found, whys, (links, urls) = [], [], asked
    for place, flat in [(p, True) for p in links] + [(p, False) for p in urls]:
        if not found or everywhere:
            whys.append(list_place(network, place, flat, found))
    return found, "" if found else "; ".join(filter(None, whys)) or "pip is configured to use none"


def list_projects(asked, network):
    answer = {"files": [], "missing": []}
    for job["name"] in job["names"]:
        files, why = list_files(asked, network)
        answer["files"] += [row(file) for file in files]
        if not files:
            answer["missing"].append({"project": job["name"], "why": why})
    return answer


def row(file):
    metadata = file.get("core-metadata", file.get("dist-info-metadata", file.get("data-dist-info-metadata")))
    if isinstance(metadata, dict):
        metadata = metadata.get("sha256") or True
    return {"project": normal(job["name"]), "name": file["filename"], "url": file["url"], "index": file["index"],
        "sha256": str(file.get("hashes", {}).get("sha256", "")).lower(),
        "requires_python": str(file.get("requires-python") or ""),
        "metadata_sha256": "true" if metadata is True else str(metadata or ""),
        "size": min(max(int(file.get("size") or 0), 0), 1 << 50), "yanked": file.get("yanked") not in (False, None)}


# ---- files ----
def hash_of(path):
    known = hashlib.sha256()
    if os.path.exists(path):
        with open(path, "rb") as f:
            for piece in iter(lambda: f.read(1 << 20), b""):
                known.update(piece)
    return known


def receive(network, file, part):
    """Continues the partial file; returns the hash of the whole."""
    done, last, known = (os.path.getsize(part) if os.path.exists(part) else 0), 0, None
    with network.open(file["url"], start=f"bytes={done}-" if done else None, known=bool(file["sha256"])) as source:
        if done and getattr(source, "status", 200) == 206:
            known = hash_of(part)
        else:
            known, done = hashlib.sha256(), 0
        total = done + int(source.headers.get("Content-Length") or 0)
        room = os.statvfs(os.path.dirname(part))
        if total - done > room.f_bavail * room.f_frsize:
            raise Failure("space", f"'{file['name']}' has {total} bytes, and '{os.path.dirname(part)}' no space for them")
        with open(part, "ab" if done else "wb") as out:
            for piece in iter(lambda: source.read(1 << 17), b""):
                done += len(piece)
                if done > MAX_FILE:
                    raise Failure("gone", f"'{file['name']}' is larger than {MAX_FILE >> 30} GiB")
                known.update(piece)
                out.write(piece)
                if time.monotonic() - last > 0.2:
                    last = time.monotonic()
                    print("progress", done, max(total, file["size"]), file["name"], flush=True)
            out.flush()
            os.fsync(out.fileno())
    if done < total:
        raise ConnectionError(f"'{file['name']}' ends after {done} of {total} bytes")
    return known.hexdigest()


def take(network, file, folder):
    """Downloads the file unless it is there; returns its hash."""
    path, want = os.path.join(folder, file["name"]), file["sha256"]
    part = path + ".part"
    if want and os.path.exists(path) and hash_of(path).hexdigest() == want:
        return want
    if not want:  # nothing would tell whether the rest belongs to it
        here = urllib.parse.urlsplit(file["url"])
        if here.scheme == "http" and here.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise Failure("hash", f"the package index gives no sha256 of '{file['name']}', and sends it unencrypted")
        if os.path.exists(part):
            os.unlink(part)
    had = os.path.exists(part)
    try:
        known = again(file["url"], lambda: receive(network, file, part))
    except urllib.error.HTTPError as e:
        if not had or e.code != 416:
            raise Failure("gone", f"the package index answers {e.code} for '{file['name']}'") from e
        known = ""
    if want and known != want:
        os.unlink(part)
        if had:  # the part was of something else
            return take(network, file, folder)
        raise Failure("hash", f"'{file['name']}' does not match the hash in the package index")
    os.replace(part, path)
    return known


def size_of(network, file):
    if not file["size"]:
        with again(file["url"], lambda: network.open(file["url"], method="HEAD", known=True)) as answer:
            file["size"] = int(answer.headers.get("Content-Length") or 0)
    return file["size"]


class Remote(io.RawIOBase):
    """A file of an index, read in pieces of 64 KiB at least; whole if the server gives no pieces."""
    def __init__(self, network, file):
        super().__init__()
        self.network, self.url, self.at, self.kept = network, file["url"], 0, (0, b"")
        self.size = size_of(network, file)

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, to, whence=0):
        self.at = to + (0, self.at, self.size)[whence]
        return self.at

    def read(self, n=-1):
        n = self.size - self.at if n < 0 else min(n, self.size - self.at)
        start, data = self.kept
        if n > 0 and not start <= self.at <= self.at + n <= start + len(data):
            start = max(0, min(self.at, self.size - (1 << 16)))
            last = max(self.at + n, min(start + (1 << 16), self.size)) - 1
            with again(self.url, lambda: self.network.open(self.url, start=f"bytes={start}-{last}")) as answer:
                if getattr(answer, "status", 0) != 206:
                    raise Failure("gone", f"the server of '{shown(self.url)}' gives no pieces of it, and the index no metadata")
                data = answer.read(last - start + 1)
            self.kept = start, data
        text = data[self.at - start:self.at - start + max(n, 0)]
        self.at += len(text)
        return text


def metadata_of(network, file):
    wheel, want = file["name"].endswith(".whl"), file["metadata_sha256"]
    if want and wheel:
        with again(file["url"], lambda: network.open(file["url"] + ".metadata", known=want != "true")) as answer:
            text = answer.read(MAX_TEXT)
        if want != "true" and hashlib.sha256(text).hexdigest() != want:
            raise Failure("hash", f"the metadata of '{file['name']}' does not match the hash in the package index")
        return text
    if wheel:
        local = file["url"].startswith("file://") and urllib.request.url2pathname(file["url"][7:])
        with zipfile.ZipFile(local or Remote(network, file)) as whole:
            names = [n for n in whole.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)]
            if len(names) == 1 and whole.getinfo(names[0]).file_size <= MAX_TEXT:
                return whole.read(names[0])
    else:
        with again(file["url"], lambda: network.open(file["url"])) as source, \
                tarfile.open(fileobj=source, mode="r|*") as whole:
            for member in whole:
                if member.offset > MAX_INDEX:
                    break  # what is before it was unpacked for nothing
                if re.fullmatch(r"[^/]+/PKG-INFO", member.name) and member.size <= MAX_TEXT:
                    return whole.extractfile(member).read()
    raise Failure("gone", f"'{file['name']}' has no metadata")


def metadata_of_all(network):
    for file in job["files"]:
        job["name"] = file["name"]  # for messages
        try:
            yield {"text": metadata_of(network, file).decode(errors="replace")}
        except urllib.error.HTTPError as failure:
            yield {"why": f"the package index answers {failure.code} for '{file['name']}'"}
        except Failure as failure:
            if failure.kind != "gone":
                raise
            yield {"why": str(failure)}


# ---- jobs ----
def sdist(config, network):
    """Takes the source distribution of a version; a folder of --find-links has precedence."""
    seen, _ = list_files(places(config), network, everywhere=True)
    seen = [{**file, "version": version_of(file["filename"])} for file in seen]
    seen = [file for file in seen if file["version"]]
    fits = [file for file in seen if same_version(file["version"], job["version"])]
    if not fits:
        others = list(dict.fromkeys(file["version"] for file in seen))[-8:]
        if not others:
            raise Failure("gone", f"the package index has no source distribution of '{job['name']}'")
        raise Failure("gone", f"the package index has '{job['name']}' in other versions: {', '.join(others)}")
    file = min(fits, key=lambda f: (not f["url"].startswith("file:"), not f["filename"].endswith(SUFFIXES[0])))
    known = row(file)
    if not known["sha256"] and not known["url"].startswith("file:"):
        raise Failure("gone", f"the package index gives no sha256 of '{known['name']}'")
    note = ""
    if known["yanked"]:
        why = file["yanked"] if isinstance(file["yanked"], str) else "no reason given"
        note = f"{known['name']} was withdrawn by its authors: {why}"
    return {"files": [{**known, "sha256": take(network, known, job["folder"])}], "text": note}


def work():
    job["config"] = json.dumps(configuration())
    config = json.loads(job["config"])
    network = Network(config)
    if job["do"] == "sdist":
        return sdist(config, network)
    if job["do"] == "list":
        return list_projects(places(config), network)
    if job["do"] == "metadata":
        return {"metadata": list(metadata_of_all(network))}
    for file in job["files"]:
        if not file["url"].startswith("file://"):
            check_address(file["url"])
        if job["do"] == "fetch":
            file["sha256"] = take(network, file, job["folder"])
            file["size"] = os.path.getsize(os.path.join(job["folder"], file["name"]))
        else:
            size_of(network, file)
    return {"files": job["files"]}


def subject():
    return ", ".join(job["names"]) or job["name"] or ", ".join(file["name"] for file in job["files"][:1])


def run(what):
    job.update(what)
    try:
        answer = work()
    except Failure as failure:
        answer = {"error": str(failure), "kind": failure.kind}
    except urllib.error.HTTPError as failure:
        answer = {"error": f"the package index answers {failure.code} for '{subject()}'", "kind": "gone"}
    except OSError as failure:
        answer = {"error": f"cannot store the file from the package index: {failure}",
            "kind": "space" if failure.errno == errno.ENOSPC else "tool"}
    except (ValueError, TypeError, AttributeError, KeyError, ArithmeticError, RuntimeError, EOFError, zlib.error,
            zipfile.BadZipFile, tarfile.TarError) as failure:
        answer = {"error": f"the package index's answer about '{subject()}' cannot be read: {failure}", "kind": "net"}
    print(json.dumps({**answer, "config": job.get("config", "")}))
