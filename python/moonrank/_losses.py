"""Losses inside the library, by name and options."""

from __future__ import annotations

import difflib
import re
from typing import Any

from moonrank import _library
from moonrank._library import MoonrankError
from moonrank._names import Bound, Loss


def _hint(name: str) -> str:
    """Returns what to write instead of a text that is not the name of a loss."""
    known = _library.call("names", None)["losses"]
    before, cutoff, _ = name.partition("@")
    if cutoff and before in known:
        return f"Losses take no cutoff: write {before!r}"
    first, colon, last = name.partition(":")
    if colon and first in known:
        return f"Write {first!r}, bound={last!r}"
    words = re.findall(r"\w+", last if colon else name)
    close = list(dict.fromkeys(found for word in words for found in difflib.get_close_matches(word, known)))
    if close:
        return "Close names: " + ", ".join(map(repr, close))
    return 'moonrank.names()["losses"] has all names'


def kept(name: Loss | str, bound: Bound | str, options: dict[str, Any]) -> _library.Kept:
    """Returns a loss inside the library. A text that is not a name, such as an expression, raises MoonrankError."""
    if not isinstance(name, str):
        raise MoonrankError(f'name has the type {type(name).__name__}, expected the name of a loss, such as "ndcg"')
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise MoonrankError(f"name is {name!r}, expected the name of a loss (letters, digits and _). {_hint(name)}")
    if bound is not None and not isinstance(bound, str):
        raise MoonrankError(f"bound has the type {type(bound).__name__}, expected the name of a bound, such as "
                            '"minmax"')
    return _library.Kept("loss", {"loss": name, "options": {"bound": bound, **options}})
