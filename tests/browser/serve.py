#!/usr/bin/env python3
"""Looks at the pages of `moonrank serve` with Chromium.

Checks that the console has no error and no violation of the content security policy, that the filter works while one
types, and that a trial appears on an open page. Usage: tests/browser/serve.py [PROGRAM [FOLDER for screenshots]]
"""
import os
import re
import signal
import subprocess

import chromium

PAGES = {"studies": "", "study": "study?name=study", "trial": "trial?study=study&number=7",
         "compare": "compare?study=study&trial=1&trial=2&trial=9"}


def check_live(browser, address, more):
    rows = "document.querySelectorAll('#trials tbody tr').length"
    browser.open(address + PAGES["study"])
    browser.until(rows + " === 30", "30 trials")
    browser.value("document.querySelector('#trials input[value=\"3\"]').click()")
    more()
    browser.until(rows + " === 33", "the new trials do not appear")
    if not browser.value("document.querySelector('#trials input[value=\"3\"]').checked"):
        raise SystemExit("FAILED: a tick is lost when new trials come")
    browser.value("document.getElementById('q').focus()")
    browser.type("loss=ap done")
    shown = "Array.from(document.querySelectorAll('#trials tbody tr'), row => row.textContent)"
    browser.until(f"{rows} < 33 && {shown}.every(text => text.includes('ap') && text.includes('done'))", "the filter")
    if browser.value("document.activeElement.id") != "q" or "q=loss%3Dap" not in browser.value("location.href"):
        raise SystemExit("FAILED: the filter loses the focus or is not in the address")
    browser.value("document.querySelector('#trials a[href*=\"sort=lr\"]').click()")
    browser.until("location.href.includes('sort=lr') && !!document.querySelector('th[aria-sort]')", "sorting")


def test(browser, program, folder, pictures):
    study = os.path.join(os.path.dirname(os.path.abspath(__file__)), "study.lua")
    store = folder + "/r.db"

    def sweep(trials):
        subprocess.run([program, study, store, str(trials)], check=True, stdout=subprocess.DEVNULL)

    sweep(30)
    server = subprocess.Popen([program, "serve", store, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://\S*/", server.stdout.readline()).group()
        for page in PAGES.values():
            browser.open(address + page)
            chromium.check_width(browser)
        chromium.take_pictures(browser, {name: address + page for name, page in PAGES.items()}, pictures)
        check_live(browser, address, lambda: sweep(33))
        browser.open("about:blank")  # the page asks the server again and again
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(10)


chromium.run(test)
