#!/usr/bin/env python3
"""Looks at the pages of `moonrank serve` with Chromium, through its debugging protocol.

Checks that the console has no error and no violation of the content security policy, that the filter works while one
types, and that a trial appears on an open page. Usage: tests/serve/browser.py [PROGRAM [FOLDER for screenshots]]
"""
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PAGES = ("", "study?name=study", "trial?study=study&number=7", "compare?study=study&trial=1&trial=2&trial=9")


class Browser:
    """A headless Chromium with one page. Messages go through the descriptors 3 and 4, which Chromium expects."""

    def __init__(self, program, folder):
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        command = f'exec "$0" "$@" 3<&{read} 4>&{write}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             f"--user-data-dir={folder}/user", "about:blank"], pass_fds=(read, write), stderr=subprocess.DEVNULL)
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
        for _ in range(150):
            if self.value(script):
                return
            time.sleep(0.1)
        raise SystemExit(f"FAILED: {what}")

    def open(self, address):
        self.ask("Page.navigate", url=address)
        self.until(f"document.readyState === 'complete' && location.href === {json.dumps(address)}", "no " + address)


def pictures(browser, address, folder):
    for width, height in ((1280, 900), (400, 800)):
        for scheme in ("light", "dark"):
            browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                        mobile=False)
            browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for page in PAGES:
                browser.open(address + page)
                if browser.value("document.documentElement.scrollWidth") > width:
                    raise SystemExit(f"FAILED: {page} is wider than {width} pixels")
                shot = browser.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                with open(f"{folder}/{page.split('?')[0] or 'studies'}-{width}-{scheme}.png", "wb") as file:
                    file.write(base64.b64decode(shot))


def check_live(browser, address, more):
    rows = "document.querySelectorAll('#trials tbody tr').length"
    browser.open(address + PAGES[1])
    browser.until(rows + " === 30", "30 trials")
    browser.value("document.querySelector('#trials input[value=\"3\"]').click()")
    more()
    browser.until(rows + " === 33", "the new trials do not appear")
    if not browser.value("document.querySelector('#trials input[value=\"3\"]').checked"):
        raise SystemExit("FAILED: a tick is lost when new trials come")
    browser.value("document.getElementById('q').focus()")
    browser.ask("Input.insertText", text="loss=ap done")
    shown = "Array.from(document.querySelectorAll('#trials tbody tr'), row => row.textContent)"
    browser.until(f"{rows} < 33 && {shown}.every(text => text.includes('ap') && text.includes('done'))", "the filter")
    if browser.value("document.activeElement.id") != "q" or "q=loss%3Dap" not in browser.value("location.href"):
        raise SystemExit("FAILED: the filter loses the focus or is not in the address")
    browser.value("document.querySelector('#trials a[href*=\"sort=lr\"]').click()")
    browser.until("location.href.includes('sort=lr') && !!document.querySelector('th[aria-sort]')", "sorting")


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/release/moonrank")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("SKIPPED: Chromium is not installed (on Debian: apt install chromium)")
        return
    study = os.path.join(os.path.dirname(os.path.abspath(__file__)), "study.lua")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store = folder + "/r.db"

        def sweep(trials):
            subprocess.run([program, study, store, str(trials)], check=True, stdout=subprocess.DEVNULL)

        sweep(30)
        server = subprocess.Popen([program, "serve", store, "--port", "0"], stdout=subprocess.PIPE, text=True)
        browser = None
        try:
            address = re.search(r"http://\S*/", server.stdout.readline()).group()
            browser = Browser(chromium, folder)
            pictures(browser, address, sys.argv[2] if len(sys.argv) > 2 else folder)
            check_live(browser, address, lambda: sweep(33))
            if browser.problems:
                raise SystemExit("FAILED: the console has errors:\n" + "\n".join(browser.problems))
        finally:
            if browser:
                browser.process.terminate()
                browser.process.wait()
            server.send_signal(signal.SIGINT)
            server.wait(10)
    print("The pages work in Chromium.")


main()
