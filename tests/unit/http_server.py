"""A web server that misbehaves on request, for tests/unit/t_http.c.

Prints its port on the first line, answers each path as the table in do_GET() says, and writes one
line a request ("PATH RANGE IF-RANGE AUTHORIZATION PROXIED") to the file named by the argument. Ends
when its standard input does.
"""
import base64
import hashlib
import http.server
import os
import sys
import threading
import time

BODY = b"".join(b"%07d\n" % i for i in range(25000))  # 200,000 bytes
LOG = open(sys.argv[1], "w", buffering=1)
SEEN = {}
LOCK = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def head(self, status, length, *extra):
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        for name, value in extra:
            self.send_header(name, value)
        self.end_headers()

    def drop(self):
        self.wfile.flush()
        self.close_connection = True

    def whole(self, *extra, body=BODY):
        self.head(200, len(body), *extra)
        self.wfile.write(body)

    def ranged(self, tag, stop=None):
        """A good server: Range, If-Range with an ETag. Stops after some bytes when told."""
        start, wanted = 0, self.headers.get("Range")
        guard = self.headers.get("If-Range")
        if wanted and (guard is None or guard == tag):
            start = int(wanted[len("bytes="):-1])
        if start >= len(BODY):
            return self.head(416, 0, ("Content-Range", "bytes */%d" % len(BODY)))
        tags = [("ETag", tag)] if tag else []
        if start:
            tags.append(("Content-Range", "bytes %d-%d/%d" % (start, len(BODY) - 1, len(BODY))))
        self.head(206 if start else 200, len(BODY) - start, *tags)
        self.wfile.write(BODY[start:stop] if stop else BODY[start:])
        if stop:
            self.drop()

    def do_GET(self):
        proxied = self.path.startswith("http://")
        path = "/" + self.path.split("/", 3)[3] if proxied else self.path
        with LOCK:
            n = SEEN[path] = SEEN.get(path, 0) + 1
        LOG.write("%s %s %s %s %s\n" % (path, self.headers.get("Range", "-"), self.headers.get("If-Range", "-"),
                                        self.headers.get("Authorization", "-"), "proxied" if proxied else "direct"))
        name = path.strip("/").split("/")[0]
        if name == "plain":
            self.ranged('"v1"')
        elif name == "empty":
            self.head(200, 0)
        elif name == "drops":  # each answer a bit further
            self.ranged('"v1"', stop=60000 * n if n < 4 else None)
        elif name == "untagged":  # nothing to vouch for a part
            self.ranged("", stop=60000 if n == 1 else None)
        elif name == "changed":  # another file by the second request
            self.ranged('"v%d"' % n, stop=60000 if n == 1 else None)
        elif name == "weak":
            self.ranged('W/"v1"', stop=60000 if n == 1 else None)
        elif name == "noranges":
            if n == 1:
                self.head(200, len(BODY), ("ETag", '"v1"'))
                self.wfile.write(BODY[:60000])
                self.drop()
            else:
                self.whole(("ETag", '"v1"'))
        elif name == "lies":  # 206 for another range than asked for
            if self.headers.get("Range"):
                self.head(206, 10, ("Content-Range", "bytes 0-9/%d" % len(BODY)))
                self.wfile.write(BODY[:10])
            else:
                self.ranged('"v1"', stop=60000)
        elif name == "busy":
            if n < 3:
                self.head(503, 4)
                self.wfile.write(b"busy")
            else:
                self.whole()
        elif name == "later":
            if n < 2:
                self.head(429, 0, ("Retry-After", "1"))
            else:
                self.whole()
        elif name == "always503":
            self.head(503, 0)
        elif name == "missing":
            self.head(404, 9)
            self.wfile.write(b"not here\n")
        elif name == "long":
            self.whole(body=BODY + b"more")
        elif name == "wrong":
            self.whole(body=BODY[:-1] + b"X")
        elif name == "hangs":
            if n == 1:
                self.head(200, len(BODY))
                self.wfile.write(BODY[:1000])
                self.wfile.flush()
                time.sleep(40)
                self.drop()
            else:
                self.whole()
        elif name == "moved":
            self.head(302, 0, ("Location", "/plain/moved"))
        elif name == "circle":
            self.head(302, 0, ("Location", "/circle"))
        elif name == "outside":
            self.head(302, 0, ("Location", "file:///etc/passwd"))
        elif name == "secret":
            want = "Basic " + base64.b64encode(b"me:pass word").decode()
            if self.headers.get("Authorization") == want:
                self.whole()
            else:
                self.head(401, 0, ("WWW-Authenticate", 'Basic realm="x"'))
        elif name == "garbage":
            self.wfile.write(b"\x00\x01this is not HTTP\r\n\r\n")
            self.drop()
        else:
            self.drop()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], hashlib.sha256(BODY).hexdigest(), flush=True)
sys.stdin.read()
os._exit(0)
