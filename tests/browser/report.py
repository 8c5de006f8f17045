#!/usr/bin/env python3
"""Looks at a report of scripts/all.lua with Chromium.

Checks the mark of the section in view, that only its document shows its sections, hints at tables that scroll,
figures on dark screens, the width and the console.
Usage: tests/browser/report.py [PROGRAM [FOLDER for screenshots]]
"""
import os
import subprocess

import chromium

HINTS = "Array.from(document.querySelectorAll('.box')).filter(box => box.firstElementChild.offsetHeight > 0)"


def check_hints(browser):
    wide = "Array.from(document.querySelectorAll('.box'))" \
        ".filter(box => box.lastElementChild.scrollWidth > box.lastElementChild.clientWidth + 1)"
    found = []
    for size in chromium.SIZES:
        browser.resize(size)
        browser.until(f"{HINTS}.length === {wide}.length && {HINTS}.every((box, i) => box === {wide}[i])",
                      f"other tables have a hint than those that scroll, {size[0]} pixels")
        found.append(browser.value(HINTS + ".length"))
    if not found[0] < found[1]:
        raise SystemExit(f"FAILED: {found} tables scroll on wide and narrow windows")


def check_documents(browser):
    open_lists = "Array.from(document.querySelectorAll('.document ul')).filter(list => list.offsetHeight > 0)"
    browser.resize(chromium.SIZES[0])
    for name in ("d1", "d1s2", "d2s1"):
        browser.value(f"location.hash = '{name}'")
        shown = f"{open_lists}.map(list => list.parentNode.querySelector('a').hash).join()"
        browser.until(f"{shown} === '#{name[:2]}'", f"the sections of another document are shown at {name}")
    browser.resize(chromium.SIZES[1])
    browser.until(f"{open_lists}.length === 2", "a narrow window does not show the sections of all documents")


def check_dark(browser):
    """Checks that figures have a dark background on a dark screen, and a white one on another."""
    fills = "Array.from(document.querySelectorAll('.recoloured > rect'), each => getComputedStyle(each).fill)"
    for scheme, is_white in (("dark", "false"), ("light", "true")):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.until(f"{fills}.length > 0 && {fills}.every(each => (each === 'rgb(255, 255, 255)') === {is_white})",
                      f"backgrounds of figures, {scheme} screen")


def test(browser, program, folder, pictures):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/all.lua")
    words = ["--smoke", "--workers", "0", "--documents", "cmu,lecture", "--out", folder + "/report.html"]
    subprocess.run([program, script, *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    address = f"file://{folder}/report.html"
    browser.open(address)
    chromium.check_contents(browser)
    check_documents(browser)
    check_hints(browser)
    check_dark(browser)
    chromium.check_width(browser)
    chromium.take_pictures(browser, {"report": address}, pictures)


chromium.run(test)
