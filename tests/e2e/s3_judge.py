#!/usr/bin/env python3
"""Stands before a moto_server, and lets only requests pass that Amazon S3 would take: the signature is computed once more by
botocore, from the key and query as they are understood, not as they were written.

    s3_judge.py PORT STORE KEY SECRET LOG

LOG gets a line for each request: its number, "signed", "anonymous" or "refused", the method, the address. Anonymous reads are
allowed, as for a public bucket. A file LOG.fail with "N STATUS" makes request N from then on be answered with STATUS (0: with
nothing), once. While LOG.endless is there, no answer ends. For moto all uploads began in 2010; those of keys that end in "/fresh" begin
now.
"""
import hashlib
import hmac
import http.client
import http.server
import os
import re
import sys
import threading
import time
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

port, store, key, secret, log = sys.argv[1:]
lock = threading.Lock()
count = 0


def error_of(method, target, headers, body):
    """Why S3 would refuse it, or None."""
    said = headers.get("Authorization", "")
    if not said.startswith("AWS4-HMAC-SHA256 "):
        return None if method in ("GET", "HEAD") and not said else "AccessDenied"
    parts = dict(p.strip().split("=", 1) for p in said.split(" ", 1)[1].split(","))
    who, day, region, service, end = parts["Credential"].split("/")
    signed = parts["SignedHeaders"].split(";")
    sha256 = headers.get("x-amz-content-sha256")
    if who != key:
        return "InvalidAccessKeyId"
    if service != "s3" or end != "aws4_request" or not headers.get("x-amz-date", "").startswith(day):
        return "AuthorizationHeaderMalformed"
    if sha256 is None:
        return "MissingSecurityHeader"
    if sha256 != "UNSIGNED-PAYLOAD" and sha256 != hashlib.sha256(body).hexdigest():
        return "XAmzContentSHA256Mismatch"
    if "host" not in signed or any(n.lower().startswith("x-amz-") and n.lower() not in signed for n in headers):
        return "AccessDenied"  # S3 wants these signed
    url = urlsplit(target)
    request = AWSRequest(method, f"http://{headers['Host']}{quote(unquote(url.path), safe='/~')}",
        {n: headers[n] for n in signed}, body, dict(parse_qsl(url.query, keep_blank_values=True)))
    request.context["timestamp"] = headers["x-amz-date"]
    auth = S3SigV4Auth(Credentials(key, secret), "s3", region)
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return None if hmac.compare_digest(signature, parts["Signature"]) else "SignatureDoesNotMatch"


class Judge(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "date", "server", "content-length"):
                self.send_header(name, value)
        length = [v for n, v in headers if n.lower() == "content-length"]
        self.send_header("Content-Length", length[0] if self.command == "HEAD" and length else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def endless(self):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b"%x\r\n" % (1 << 20) + b"x" * (1 << 20) + b"\r\n"
        for _ in range(4096):  # 4 GiB: no test waits for more
            self.wfile.write(piece)

    def pass_on(self):
        global count
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = dict(self.headers.items())
        why = error_of(self.command, self.path, self.headers, body)
        with lock:
            count += 1
            word = "refused" if why else "signed" if "Authorization" in headers else "anonymous"
            with open(log, "a") as out:
                out.write(f"{count} {word} {self.command} {self.path}\n")
            status = None
            if word == "signed" and os.path.exists(log + ".fail"):
                with open(log + ".fail") as file:
                    left, status = map(int, file.read().split())
                with open(log + ".fail.new", "w") as file:
                    file.write(f"{left - 1} {status}")
                os.rename(log + ".fail.new", log + ".fail")
                status = status if left == 1 else None
        if os.path.exists(log + ".endless"):
            return self.endless()
        if status == 0:
            self.close_connection = True
            return None
        if why or status:
            text = f'<?xml version="1.0"?>\n<Error><Code>{why or "Test"}</Code></Error>'.encode()
            return self.answer(status or 403, [("Content-Type", "application/xml")], b"" if self.command == "HEAD" else text)
        there = http.client.HTTPConnection(store)
        headers.pop("Expect", None)
        there.request(self.command, self.path, body, headers)
        got = there.getresponse()
        text = re.sub(rb"(/fresh</Key>.*?<Initiated>)[^<]*", rb"\g<1>" + time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()).encode(),
            got.read(), flags=re.S)
        return self.answer(got.status, got.getheaders(), text)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = pass_on

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):  # clients are killed
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, address)


Server(("127.0.0.1", int(port)), Judge).serve_forever()
