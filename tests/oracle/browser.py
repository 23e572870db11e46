#!/usr/bin/env python3
"""browser.py CHROMIUM PAGE...: opens pages in a headless Chromium, and says what a person would see go wrong.

Each page is opened at 360 and at 1280 pixels, in light and in dark. Wrong are: anything in the console, any request but for
the page itself, a page wider than its window, text that reaches out of it (but for what scrolls or is cut by design, as in
maps), a GPU's name on two lines, text with too little contrast, a script. With $SHOTS set, a folder, the first 1600 pixels of each view are saved there ($SHOT_FROM: those from there on;
$PRINTED: as on paper).
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# Text nodes and their boxes, as the page shows them.
LOOK = r"""
(() => {
  const wrong = [], width = document.documentElement.clientWidth;
  const say = (what, node) => wrong.push(what + ": " + node.textContent.trim().slice(0, 80));
  if (document.documentElement.scrollWidth > width) wrong.push("the page is " + document.documentElement.scrollWidth + " pixels wide");
  if (document.scripts.length) wrong.push("a script");
  const rgb = text => { const m = text.match(/[\d.]+/g).map(Number); return text.startsWith("color(srgb") ? m.map((v, i) => i < 3 ? v * 255 : v) : m; };
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement, style = getComputedStyle(e);
    if (!n.textContent.trim() || e.closest("style,title") || style.visibility === "hidden" || !e.getClientRects().length) continue;
    texts++;
    const range = document.createRange();
    range.selectNodeContents(n);
    const box = range.getBoundingClientRect();
    const scrolls = e.closest(".map,.wide");
    if (!scrolls && (box.right > width + 1 || box.left < -1)) say("outside of the page", n);
    if (!scrolls && e.classList.contains("gpu") && range.getClientRects().length > 1) say("broken over lines", n);
    if (e.closest("svg")) continue;
    const [a, b] = [light(rgb(style.color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) say("contrast " + ((a + 0.05) / (b + 0.05)).toFixed(2), n);
  }
  return {wrong, texts};
})()
"""


class Browser:
    """Chromium by its debugging pipe: JSON messages that end in NUL, on descriptors 3 and 4."""

    def __init__(self, program, home):
        ours_in, its_out = os.pipe()
        its_in, ours_out = os.pipe()
        self.events, self.last = [], 0
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                 "--disable-dev-shm-usage", f"--user-data-dir={home}", "about:blank"]
        wire = f'exec 3<&{its_in} 4>&{its_out}; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", wire, "bash", program, *flags], pass_fds=(its_in, its_out),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_in)
        os.close(its_out)
        self.input, self.output = os.fdopen(ours_in, "rb"), os.fdopen(ours_out, "wb")
        self.session = None

    def receive(self):
        data = bytearray()
        while (byte := self.input.read(1)) != b"\0":
            if not byte:
                sys.exit("not ok the browser went away")
            data += byte
        return json.loads(data)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        self.output.flush()
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    sys.exit(f"not ok {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())


def view(browser, page, width, scheme):
    """What is wrong with one view of a page."""
    browser.events.clear()
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
    browser.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", url=page.as_uri())
    browser.wait("Page.loadEventFired")
    found = browser.call("Runtime.evaluate", expression=LOOK, returnByValue=True)["result"]["value"]
    wrong = found["wrong"] + ([] if found["texts"] > 5 else ["there is hardly any text"])
    for event in browser.events:
        kind, what = event.get("method"), event.get("params", {})
        if kind in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            wrong.append("console: " + json.dumps(what)[:300])
        if kind == "Network.requestWillBeSent" and what["request"]["url"] != page.as_uri():
            wrong.append("request: " + what["request"]["url"])
    shots = os.environ.get("SHOTS")
    if shots:
        if os.environ.get("PRINTED"):
            browser.call("Emulation.setEmulatedMedia", media="print")
        data = browser.call("Page.captureScreenshot", captureBeyondViewport=True, clip={"x": 0, "y": int(
            os.environ.get("SHOT_FROM", 0)), "width": width, "height": 1600, "scale": 1})["data"]
        (pathlib.Path(shots) / f"{page.stem}-{width}-{scheme}.png").write_bytes(base64.b64decode(data))
    return wrong


def main(program, *pages):
    failed = False
    with tempfile.TemporaryDirectory() as home:
        browser = Browser(program, home)
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            browser.call(domain + ".enable")
        for page in map(lambda p: pathlib.Path(p).resolve(), pages):
            for width in (360, 1280):
                for scheme in ("light", "dark"):
                    wrong = view(browser, page, width, scheme)
                    for what in wrong[:10]:
                        print(f"{page.name} at {width} pixels, {scheme}: {what}")
                    failed = failed or bool(wrong)
        browser.session = None
        browser.call("Browser.close")
        browser.process.wait(20)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
