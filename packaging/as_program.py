#!/usr/bin/env python3
"""Runs scripts by the Python package as the program does: results STORE, or SCRIPT WORD..."""

import sys

import moonrank

if sys.argv[1] == "results":
    print(moonrank.lua("return require('moonrank.results').text(store)", store=sys.argv[2]))
else:
    with open(sys.argv[1], encoding="utf-8") as script:
        moonrank.lua(script.read(), arg=sys.argv[2:])
