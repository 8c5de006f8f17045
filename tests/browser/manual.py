#!/usr/bin/env python3
"""Looks at the manual's pages (`moonrank doc --html`) with Chromium.

Checks the search, its keys, the mark of the section in view, narrow tables, the width and the console of each page.
Usage: tests/browser/manual.py [PROGRAM [FOLDER for screenshots]]
"""
import json
import os
import subprocess

import chromium

HITS = "document.querySelectorAll('#hits a')"
FIELD = "document.activeElement === document.getElementById('q')"

NAMES = f"Array.from({HITS}, each => each.firstChild.textContent)"
ROWS = f"Array.from({HITS}, each => each.firstChild.textContent.split('.').pop() + each.lastChild.textContent)"
# what a newcomer types, and names that must be among the hits
FOUND = {
    "bound": ("Losses and bounds", "Glossary: Bound", "mr.bounds", "mr.Bound"),
    "numpy": ("Coming from Python",),
    "PyTorch": ("Coming from Python",),
    "torch.cat": ("Coming from Python",),
    "dataloader": ("Coming from Python",),
    "data frame": ("Coming from Python",),
    "implicit feedback": ("mr.data.interactions", "Data and protocols"),
    "resume": ("How does training continue after it was interrupted?", "Training and checkpoints"),
    "patience": ("mr.FitOptions.patience",),
}
# what a newcomer types, and a name that must be among the first three hits
FIRST = {
    "precision@10": "mr.metrics.precision",
    "recall@20": "mr.metrics.recall",
    "MAP@10": "Glossary: AP",
    "learning-rate": "Glossary: Learning rate",
    "k-fold": "mr.Ratings:folds",
    "overfit": "mr.FitOptions.patience",
    "x:sum()": "mr.Tensor:sum",
    "loss:backward()": "mr.Tensor:backward",
    "~=": "Lua in ten minutes",
    "ndgc": "mr.metrics.ndcg",
    "mean reciprocal rank": "mr.metrics.rr",
    "expected reciprocal rank": "mr.metrics.err",
}


def search(browser, text):
    browser.value("document.getElementById('q').value = ''; document.getElementById('q').focus()")
    browser.type(text)


def check_search(browser):
    index = "groups.flatMap(group => group[1].map(entry => entry.slice(1, 4).join(' ').toLowerCase()))"
    # a synonym, a plural, a participle: words that no name and no sentence contains
    for text, word in {"LambdaMART": "trees", "permutations": "permutation", "shuffling": "shuffle"}.items():
        if browser.value(f"{index}.some(each => each.includes({json.dumps(text.lower())}))"):
            raise SystemExit(f"FAILED: the index has '{text}'; choose another word")
        search(browser, text)
        browser.until(f"{HITS}.length > 0 && {HITS}[0].textContent.toLowerCase().includes('{word}')",
                      f"'{text}' finds no '{word}'")
    for text, name in {"train_test_split": "split", "scores.item()": "item", "clip_grad_norm_": "clip_gradients"}.items():
        search(browser, text)
        browser.until(f"Array.from({HITS}, each => each.textContent).some(text => text.includes('{name}'))",
                      f"'{text}' finds no '{name}'")
    search(browser, "overfitting")
    browser.until(f"Array.from({HITS}, each => each.textContent).some(text => text.includes('patience'))",
                  "a synonym in a sentence")
    for text, titles in FOUND.items():
        search(browser, text)
        for title in titles:
            browser.until(f"{NAMES}.includes({json.dumps(title)})", f"'{text}' does not find '{title}'")
        browser.until(f"new Set({ROWS}).size === {HITS}.length", f"'{text}' has equal hits")
    for text, name in FIRST.items():
        search(browser, text)
        browser.until(f"{HITS}.length > 0 && {NAMES}.slice(0, 3).includes({json.dumps(name)})",
                      f"'{text}' does not find '{name}' among the first three")
    # A text of many words is pasted, as by a mistake: the search must not block the page.
    browser.until("(() => { const field = document.getElementById('q'), began = performance.now(); "
                  "field.value = 'metric loss list fold bound '.repeat(400); field.oninput(); "
                  "return performance.now() - began < 1000; })()", "a search of 2000 words takes longer than a second")
    search(browser, "minmax")
    browser.until(f"{HITS}[0].textContent.includes('(M - min)')", "minmax is not described by its formula")
    search(browser, "qqzzq")
    browser.until(f"{HITS}.length === 0 && document.getElementById('hits').textContent.trim() !== '' "
                  "&& document.getElementById('hits').offsetHeight > 10", "an empty search does not say so")
    search(browser, " ")
    browser.until("document.getElementById('hits').offsetHeight === 0", "hits without a word")


def check_keys(browser, index):
    browser.open(index)
    browser.press("/")
    browser.until(FIELD + " && document.activeElement.value === ''", "the key / does not lead to the search field")
    browser.type("ndcg")
    browser.until(HITS + ".length > 2", "three hits")
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        browser.press(key)
        browser.until(f"document.activeElement === {HITS}[{at}]", f"{key} does not lead to hit {at + 1}")
    second = browser.value(HITS + "[1].href")
    browser.press("Enter")
    browser.until(f"location.href === {json.dumps(second)} && document.readyState === 'complete'", "Enter on a hit")
    browser.until("!!document.querySelector(':target')", "the hit leads to no section")
    search(browser, "ndcg")
    browser.until(HITS + ".length > 2", "three hits")
    browser.press("ArrowDown")
    browser.press("ArrowUp")
    browser.until(FIELD, "ArrowUp does not lead back to the field")
    browser.press("Escape")
    browser.until(f"{HITS}.length === 0 && !({FIELD})", "Escape does not close the hits")
    for _ in range(2):  # the second time, the hit is on the open page
        search(browser, "minmax")
        browser.until(HITS + ".length > 0", "a hit")
        first = browser.value(HITS + "[0].href")
        browser.press("Enter")
        browser.until(f"location.href === {json.dumps(first)} && document.readyState === 'complete'",
                      "Enter in the field does not open the first hit")
        browser.until(HITS + ".length === 0", "hits stay open after Enter")


def check_narrow_tables(browser, address, names):
    """Checks that tables with two columns, such as scripts and their results, fit a narrow window."""
    wide = "Array.from(document.querySelectorAll('.wide')).filter(box => box.querySelector('tr').cells.length === 2 " \
        "&& box.scrollWidth > box.clientWidth + 1).length"
    browser.resize(chromium.SIZES[1])
    for name in names:
        browser.open(address + name)
        browser.until(wide + " === 0", "a table with two columns scrolls")


def test(browser, program, folder, pictures):
    subprocess.run([program, "doc", "--html", folder + "/manual"], check=True, stdout=subprocess.DEVNULL)
    address = f"file://{folder}/manual/"
    names = sorted(name for name in os.listdir(folder + "/manual") if name.endswith(".html"))
    browser.resize(chromium.SIZES[0])
    browser.open(address + "index.html")
    check_search(browser)
    check_keys(browser, address + "index.html")
    for name in ("guide_training", "reference_mr", "guide_glossary"):
        browser.open(f"{address}{name}.html")
        chromium.check_contents(browser)
    for name in names:
        browser.open(address + name)
        chromium.check_width(browser)
    check_narrow_tables(browser, address, [name for name in names if name.startswith(("guide", "papers", "formats"))])
    shown = ("index", "guide_training", "reference_mr", "papers")
    chromium.take_pictures(browser, {name: f"{address}{name}.html" for name in shown}, pictures)


chromium.run(test)
