"""Drives a headless Chromium through its debugging protocol, for the tests in this folder."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SIZES = ((1300, 900), (390, 800))
KEYS = {"ArrowDown": 40, "ArrowUp": 38, "Enter": 13, "Escape": 27, "/": 191}


class Browser:
    """A headless Chromium with one page. Messages go through the descriptors 3 and 4, which Chromium expects."""

    def __init__(self, program, folder):
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        command = f'exec "$0" "$@" 3<&{read} 4>&{write}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={folder}/user", "about:blank"],
            pass_fds=(read, write), stderr=subprocess.DEVNULL)
        os.close(read)
        os.close(write)
        self.count, self.pending, self.problems = 0, b"", []
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(domain + ".enable")

    def receive(self):
        while b"\0" not in self.pending:
            piece = os.read(self.read, 1 << 16)
            if not piece:
                raise SystemExit("FAILED: Chromium ended")
            self.pending += piece
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **params):
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            name = answer.get("method", "")
            if name in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.problems.append(json.dumps(answer["params"])[:400])
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise SystemExit(f"FAILED: {method}: {answer['error']}")
                return answer["result"]

    def value(self, script):
        return self.ask("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def until(self, script, what):
        """Waits until a JavaScript expression is true. Ends the test with `what` if it is not within 15 seconds."""
        end = time.monotonic() + 15
        while not self.value(script):
            if time.monotonic() > end:
                raise SystemExit(f"FAILED: {what}\n  at {self.value('location.href')}: {script}")
            time.sleep(0.02)

    def open(self, address):
        self.ask("Page.navigate", url=address)
        self.until(f"document.readyState === 'complete' && location.href === {json.dumps(address)}", "no " + address)

    def resize(self, size):
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def press(self, key):
        text = {"Enter": "\r", "/": "/"}.get(key, "")
        event = {"key": key, "windowsVirtualKeyCode": KEYS[key]}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)


def check_width(browser):
    """Checks that the page is not wider than the window, in every size."""
    for size in SIZES:
        browser.resize(size)
        browser.until(f"document.documentElement.scrollWidth <= {size[0]}", f"the page is wider than {size[0]} pixels")


def take_pictures(browser, pages, folder):
    """Takes screenshots of pages, a dictionary of names and addresses, in every size, light and dark."""
    for name, address in pages.items():
        for scheme in ("light", "dark"):
            browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for size in SIZES:
                browser.resize(size)
                browser.open(address)
                shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                with open(f"{folder}/{name}-{size[0]}-{scheme}.png", "wb") as file:
                    file.write(base64.b64decode(shot))


def check_contents(browser):
    """Checks that the table of contents of the open page marks the section in view, and keeps its mark visible."""
    browser.resize(SIZES[0])
    count = browser.value("document.querySelectorAll('.contents a').length")
    marked = "Array.from(document.querySelectorAll('.contents [aria-current]'), each => each.hash)"
    visible = """(() => { const link = document.querySelector('.contents [aria-current]');
        const at = link.getBoundingClientRect(), box = link.closest('div').getBoundingClientRect();
        return at.top >= Math.max(0, box.top) && at.bottom <= Math.min(innerHeight, box.bottom) + 1; })()"""
    if count < 3:
        raise SystemExit(f"FAILED: {browser.value('location.href')} has only {count} sections")

    def expect(i, after):
        here = f"document.querySelectorAll('.contents a')[{i}].hash"
        browser.until(f"{marked}.join() === {here}", f"section {i} of {count} is not marked {after}")
        browser.until(visible, f"the mark of section {i} of {count} is out of sight {after}")

    top = "document.getElementById(decodeURIComponent(document.querySelectorAll('.contents a')[{}].hash.slice(1)))" \
        ".getBoundingClientRect().top + scrollY"
    for i in (count - 1, count // 2, 0, 1, count - 2):
        browser.value(f"document.querySelectorAll('.contents a')[{i}].click()")
        expect(i, "after a click on its link")
    for i in (0, count // 2, 1):
        browser.value(f"scrollTo(0, {top.format(i)} - 20)")
        expect(i, "when the page is scrolled to it")
        browser.value(f"scrollTo(0, Math.max({top.format(i)}, {top.format(i + 1)} - innerHeight / 2))")
        expect(i, "when the next section is in view, too")
    browser.open(browser.value("location.href.split('#')[0]"))
    first = f"({top.format(0)} < innerHeight ? document.querySelector('.contents a').hash : '')"
    browser.until(f"{marked}.join() === {first}", "the first section is not marked at the top of the page")
    browser.value("scrollTo(0, document.documentElement.scrollHeight)")
    expect(count - 1, "at the end of the page")


def run(test):
    """Calls `test(browser, program, folder, pictures)` and checks that the browser's console stays empty.

    `folder` is a temporary folder. The command line is [PROGRAM [FOLDER for screenshots]]; a missing FOLDER is made.
    """
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release/moonrank")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("SKIPPED: Chromium is not installed (on Debian: apt install chromium)")
        return
    if len(sys.argv) > 2:
        os.makedirs(sys.argv[2], exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(chromium, folder)
        try:
            test(browser, program, folder, sys.argv[2] if len(sys.argv) > 2 else folder)
            if browser.problems:
                raise SystemExit("FAILED: the console has errors:\n" + "\n".join(browser.problems))
        finally:
            browser.process.terminate()
            browser.process.wait()
    print("The pages work in Chromium.")
