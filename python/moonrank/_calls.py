"""Names the called Python function and its argument in errors."""

from __future__ import annotations

import contextlib
import functools
import re
from typing import Any, Callable, TypeVar

from moonrank._values import MoonrankError

_Function = TypeVar("_Function", bound=Callable[..., Any])

# Messages of the C++ core ("bad argument 'p' to 'f' (text)") and of the Lua library ("mr.f: text", "f: text").
_CORE = re.compile(r"bad argument (?:#\d+ )?'(\w+)' to '[^']*' \((.*)\)$", re.DOTALL)
_LUA = re.compile(r"(?:mr\.)?[a-z_]\w*(?:[.:]\w+)*: ")
_UNKNOWN_OPTION = re.compile(r"unknown option of [\w.]+: ('[^']*')")
_FOUND = re.compile(r"(?:'|-?\d|-?inf|NaN)[^ ]*, (?:expected|but) ")
_GRADE = re.compile(r"list \d+, row \d+: grade ")


def in_words_of_python(text: str) -> str:
    """Returns an error message of the library without names of internal functions, as "argument is ...".

    >>> in_words_of_python("bad argument 'k' to 'f' (0, expected 1)")
    'k is 0, expected 1'
    >>> in_words_of_python("mr.compare: alpha is 0, expected more")
    'alpha is 0, expected more'
    """
    core = _CORE.match(text)
    if core:
        name, reason = core.groups()
        if reason.startswith("is "):
            return f"{name} {reason}"
        if _FOUND.match(reason):
            return f"{name} is {reason}"
        return reason if re.match(rf"{name}\b", reason) else f"{name}: {reason}"
    text = _UNKNOWN_OPTION.sub(r"unknown option \1", _LUA.sub("", text, count=1) if _LUA.match(text) else text)
    text = re.sub(r"\bis nil\b", "is None", text).replace("Pass lists:weighted{weights = false}", "Leave weights out")
    text = text.replace("a table of ", "a list of ").replace("an mr.Tensor object", "an array")
    return f"grades: {text}" if _GRADE.match(text) else text


class Named(contextlib.ContextDecorator):
    """Lets each MoonrankError of a function or a block begin with the name of the Python function that the user
    called. If such functions call each other, the error has the name of the outermost one.
    """

    def __init__(self, function: str):
        self._function = function

    def __enter__(self) -> Named:
        return self

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        if isinstance(error, MoonrankError):
            error.name_function(self._function)


def named_by_class(method: _Function) -> _Function:
    """Returns a method whose errors begin with the name of its object's class, like `Named`. A class that a user
    derived from a class of Moonrank has the name of the latter."""
    @functools.wraps(method)
    def wrapper(self, *arguments, **options):
        own = next(each for each in type(self).__mro__ if each.__module__.startswith("moonrank."))
        with Named(f"{own.__module__}.{own.__qualname__}"):
            return method(self, *arguments, **options)
    return wrapper  # type: ignore[return-value]
