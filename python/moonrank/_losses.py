"""Losses inside the library, by name and options."""

from __future__ import annotations

import difflib
import functools
import re
import textwrap
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


@functools.lru_cache(maxsize=None)
def _declared() -> dict[str, dict[str, Any]]:
    return {loss["name"]: loss for loss in _library.call("declared", None)["losses"]}


def options_of(loss: dict[str, Any], learns: bool) -> list[dict[str, Any]]:
    """Returns the options of a declared loss that Python can follow. `learn` needs a class whose losses learn."""
    return [option for option in loss["options"]
            if not option.get("only_fit") or learns and option["name"] == "learn"]


def documentation(name: str, learns: bool) -> str:
    """Returns the docstring of a loss: what it is, and its options. It is empty for a loss that a script defined.
    `learns` tells whether its own parameters, if it has any, can be trained."""
    loss = _declared().get(name)
    if loss is None:
        return ""
    summary = re.sub("^Makes ", "", loss["summary"])
    parts = [textwrap.fill(summary[0].upper() + summary[1:], 105)]
    if loss["draws"]:
        parts.append("Each call draws random numbers, which `moonrank.lua(\"mr.seed(1)\")` starts again.")
    options = options_of(loss, learns)
    width = max(len(option["name"]) for option in options) + 2
    parts.append("\n".join(textwrap.fill(option["text"], 106, initial_indent=f"{option['name']}:".ljust(width),
                                         subsequent_indent=" " * width) for option in options))
    left_out = [option["name"] for option in loss["options"] if option not in options]
    if "learn" in left_out:
        parts.append("The parameters of the loss are constants here. mr.fit and moonrank.torch.Loss train them.")
    elif left_out:
        parts.append(f"The option `{left_out[0]}` of mr.losses.{name} is for mr.fit only.")
    elif any(option["name"] == "learn" for option in options):
        parts.append("`parameters()` has the parameters of the loss for an optimizer, and `learned` is their tensor.")
    return "\n\n".join(parts)


class Documentation:
    """The `__doc__` of a class of losses, and of each object of the class that of its loss."""

    def __init__(self, text: str, learns: bool = False):
        self._text, self._learns = text, learns

    def __get__(self, loss: Any, _: Any) -> str:
        return self._text if loss is None else documentation(loss.name, self._learns) or self._text


def kept(name: Loss | str, bound: Bound | str, options: dict[str, Any], learns: bool = False) -> _library.Kept:
    """Returns a loss inside the library, with its own parameters if it `learns`. A text that is not a name, such as an
    expression, raises MoonrankError."""
    if not isinstance(name, str):
        raise MoonrankError(f'name has the type {type(name).__name__}, expected the name of a loss, such as "ndcg"')
    if not re.fullmatch(r"[A-Za-z0-9_]+", name):
        raise MoonrankError(f"name is {name!r}, expected the name of a loss (letters, digits and _). {_hint(name)}")
    if bound is not None and not isinstance(bound, str):
        raise MoonrankError(f"bound has the type {type(bound).__name__}, expected the name of a bound, such as "
                            '"minmax"')
    return _library.Kept("loss", {"loss": name, "options": {"bound": bound, **options}, "learns": learns})
