"""Downloads a source distribution from the package index that this Python's pip is configured to use.

    python -I - NAME VERSION FOLDER < sdist.py

Unlike `pip download`, this runs no code of the project. Index, proxy, certificates and the folders of
--find-links come from `pip config list`; the default index is the one that pip's own help names. The index
is read by the simple API: PEP 503 (HTML), PEP 691 (JSON), PEP 592 (yanked files). A file is taken only if
the index gives its sha256. Prints lines "progress DONE TOTAL FILE", and finally one line of JSON: file,
sha256, index and note, or error and kind.
"""
import ast
import base64
import hashlib
import html.parser
import http.client
import json
import netrc
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SUFFIXES = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")  # PEP 625 prescribes the first
MAX_INDEX, MAX_FILE, TRIES = 256 << 20, 4 << 30, 3
NETWORK_ERRORS = (urllib.error.URLError, ConnectionError, TimeoutError, ssl.SSLError,
    http.client.HTTPException)
name, version, folder = sys.argv[1:]


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
    """Environment variables override the section of `pip download`, which overrides the global one."""
    found = {"global": {}, "download": {}, ":env:": {}}
    for line in pip("config", "list").splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in found:
            try:
                found[section][option] = str(ast.literal_eval(value))
            except (SyntaxError, ValueError):
                pass
    return {**found["global"], **found["download"], **found[":env:"]}


def indexes(config):
    if config.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return []
    first = config.get("index-url")
    if not first:
        match = re.search(r"--index-url.*?\(default\s+(\S+?)\)", pip("help", "download"), re.DOTALL)
        if not match:
            raise Failure("tool", "pip's help does not name its default index; set PIP_INDEX_URL")
        first = match.group(1)
    return [first, *config.get("extra-index-url", "").split()]


# ---- the network ----
class Network:
    def __init__(self, config):
        cert = config.get("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or \
            os.environ.get("CURL_CA_BUNDLE") or None
        self.timeout = float(config.get("timeout") or config.get("default-timeout") or 60)
        self.trusted = config.get("trusted-host", "").split()
        self.context = ssl.create_default_context(cafile=cert)
        self.handlers = []
        if config.get("proxy"):
            proxy = config["proxy"]
            self.handlers = [urllib.request.ProxyHandler({"http": proxy, "https": proxy})]

    def opener(self, host, port):
        context = self.context
        if host in self.trusted or f"{host}:{port}" in self.trusted:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return urllib.request.build_opener(*self.handlers, urllib.request.HTTPSHandler(context=context))

    def open(self, url, accept="*/*"):
        parts = urllib.parse.urlsplit(url)
        login = (parts.username, parts.password) if parts.username else None
        if not login and parts.hostname:
            try:
                known = netrc.netrc().authenticators(parts.hostname)
                login = known and (known[0], known[2])
            except (OSError, netrc.NetrcParseError):
                pass
        url = urllib.parse.urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        request = urllib.request.Request(url, headers={"Accept": accept, "User-Agent": "rocsmith"})
        if login:
            words = ":".join(urllib.parse.unquote(word or "") for word in login)
            request.add_unredirected_header(
                "Authorization", "Basic " + base64.b64encode(words.encode()).decode())
        return self.opener(parts.hostname, parts.port).open(request, timeout=self.timeout)


def again(function):
    """Calls a function up to three times, until the server gives an answer, even a refusal."""
    for n in range(TRIES):
        try:
            return function()
        except urllib.error.HTTPError as e:
            if e.code < 500 or n + 1 == TRIES:
                raise
        except NETWORK_ERRORS as e:
            if n + 1 == TRIES:
                why = getattr(e, "reason", e)
                raise Failure("net", f"the package index cannot be reached: {why}") from e
        time.sleep(1 + n)


# ---- the index ----
class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.files, self.base = [], None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "base" and attrs.get("href"):
            self.base = attrs["href"]
        if tag != "a" or not attrs.get("href"):
            return
        url, _, fragment = attrs["href"].partition("#")
        hashes = dict([fragment.split("=", 1)]) if "=" in fragment else {}
        path = urllib.parse.unquote(urllib.parse.urlsplit(url).path)
        self.files.append({"url": url, "filename": path.rpartition("/")[2], "hashes": hashes,
            "yanked": attrs.get("data-yanked", False)})


def read_page(network, url):
    with network.open(url, "application/vnd.pypi.simple.v1+json, "
            "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1") as page:
        kind, base = page.headers.get("Content-Type", ""), page.geturl()
        text = page.read(MAX_INDEX + 1)
    if len(text) > MAX_INDEX:
        raise Failure("gone", "the index's page of this project is larger than 256 MiB")
    if "json" in kind:
        return json.loads(text).get("files", []), base
    links = Links()
    links.feed(text.decode(errors="replace"))
    return links.files, urllib.parse.urljoin(base, links.base) if links.base else base


def version_of(file):
    """The version in a file name of this project, or None for any other file.

    "torch_scatter-2.1.2.tar.gz" -> "2.1.2"
    """
    suffix = next((s for s in SUFFIXES if file.endswith(s)), None)
    if not suffix or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+!-]*", file):
        return None
    stem = file[:-len(suffix)]
    cuts = (i for i, char in enumerate(stem) if char == "-" and normal(stem[:i]) == normal(name))
    return next((stem[i + 1:] for i in cuts), None)


def same_version(one, other):
    return normal(one.lower().lstrip("v")) == normal(other.lower().lstrip("v"))


def candidates(network, index):
    url = index.rstrip("/") + "/" + normal(name) + "/"
    try:
        files, base = again(lambda: read_page(network, url))
    except urllib.error.HTTPError as e:
        if e.code in (404, 410):
            return []
        raise Failure("net", f"the package index answers {e.code} {e.reason}") from e
    found = []
    for file in files:
        kind = version_of(file.get("filename", ""))
        target = urllib.parse.urljoin(base, file.get("url", ""))
        if kind and urllib.parse.urlsplit(target).scheme in ("http", "https"):
            found.append({**file, "version": kind, "url": target, "index": index})
    return found


# ---- the file ----
def hash_of(path):
    known = hashlib.sha256()
    with open(path, "rb") as f:
        for piece in iter(lambda: f.read(1 << 20), b""):
            known.update(piece)
    return known.hexdigest()


def download(network, file, path):
    known, done, last = hashlib.sha256(), 0, 0
    with network.open(file["url"]) as source, open(path + ".part", "wb") as out:
        total = int(source.headers.get("Content-Length") or 0)
        for piece in iter(lambda: source.read(1 << 17), b""):
            done += len(piece)
            if done > MAX_FILE:
                raise Failure("gone", f"'{file['filename']}' is larger than 4 GiB")
            known.update(piece)
            out.write(piece)
            if time.monotonic() - last > 0.2:
                last = time.monotonic()
                print("progress", done, total, file["filename"], flush=True)
    if done < total:
        raise ConnectionError(f"'{file['filename']}' ends after {done} of {total} bytes")
    if known.hexdigest() != file["hashes"]["sha256"].lower():
        os.unlink(path + ".part")
        raise Failure("hash", f"'{file['filename']}' does not match the hash in the package index")
    os.replace(path + ".part", path)


def take(network, file):
    path = os.path.join(folder, file["filename"])
    want = file.get("hashes", {}).get("sha256", "").lower()
    if not want:
        raise Failure("gone", f"the package index gives no sha256 of '{file['filename']}'")
    if not os.path.exists(path) or hash_of(path) != want:
        try:
            again(lambda: download(network, file, path))
        except urllib.error.HTTPError as e:
            raise Failure("gone", f"the package index answers {e.code} for '{file['filename']}'") from e
    note = ""
    if file.get("yanked") not in (False, None):
        note = f"{file['filename']} was withdrawn by its authors: {file['yanked'] or 'no reason given'}"
    parts = urllib.parse.urlsplit(file["index"])
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2])  # without a password
    return {"file": file["filename"], "sha256": want, "index": urllib.parse.urlunsplit(shown),
        "note": note}


def take_local(config):
    """Copies the file from a folder of --find-links; returns None if no folder has it."""
    for place in config.get("find-links", "").split():
        path = urllib.parse.unquote(place[7:]) if place.startswith("file://") else place
        names = sorted(os.listdir(path)) if os.path.isdir(path) else []
        for file in names:
            found = version_of(file)
            if not found or not same_version(found, version):
                continue
            kept = os.path.join(folder, file)
            shutil.copyfile(os.path.join(path, file), kept + ".part")
            os.replace(kept + ".part", kept)
            return {"file": file, "sha256": hash_of(kept), "index": place, "note": ""}
    return None


def main():
    config = configuration()
    found = take_local(config)
    if found:
        return found
    network, seen = Network(config), []
    for index in indexes(config):
        seen += candidates(network, index)
    fits = [file for file in seen if same_version(file["version"], version)]
    if fits:
        return take(network, min(fits, key=lambda f: not f["filename"].endswith(SUFFIXES[0])))
    others = list(dict.fromkeys(file["version"] for file in seen))[-8:]
    if not others:
        raise Failure("gone", f"the package index has no source distribution of '{name}'")
    raise Failure("gone", f"the package index has '{name}' in other versions: {', '.join(others)}")


try:
    answer = main()
except Failure as failure:
    answer = {"error": str(failure), "kind": failure.kind}
except OSError as failure:
    answer = {"error": f"cannot store the file from the package index: {failure}", "kind": "tool"}
except (ValueError, TypeError, AttributeError, KeyError) as failure:
    answer = {"error": f"the package index's page of '{name}' cannot be read: {failure}", "kind": "gone"}
print(json.dumps(answer))
