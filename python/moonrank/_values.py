"""Values as bytes, in the format of stdlib/moonrank/sweep/frame.lua: numbers keep all their bits, and no value is
code."""

from __future__ import annotations

import struct

import numpy as np

ARRAY = "\0array"


class MoonrankError(ValueError):
    """An error of Moonrank: which function and argument, what was found, what was expected."""

    __module__ = "moonrank"
    reason: str | None = None  # the message without the name of a function; None: all of the message

    def name_function(self, function: str) -> None:
        """Puts the name of a function before the message, in place of the name that an earlier call put there."""
        if self.reason is None:
            self.reason = str(self)
        self.args = (f"{function}: {self.reason}",)


_DEEPEST = 64  # the largest depth of tables that frame.lua reads


# Keys of a call's value under which there are dictionaries of arguments.
_GROUPS = ("options", "conventions", "shape", "variables", "systems")


def pack(value, arrays):
    """Returns a value as bytes. NumPy arrays in it are appended to `arrays`; dictionaries and sequences become
    tables. Keys are names of arguments for errors."""
    parts = []
    _write(parts, value, arrays, 0, "the value")
    return b"".join(parts)


def refuse_depth(name, depth):
    """Raises MoonrankError for a list or a dictionary inside too many others. `name` is the argument."""
    if depth >= _DEEPEST:
        raise MoonrankError(f"{name} has a list or a dictionary that contains itself, or is inside {_DEEPEST} others, "
                            "expected fewer")


def encoded(name, text):
    """Returns the bytes of a text in UTF-8. `name` is the argument with the text."""
    try:
        return text.encode()
    except UnicodeEncodeError:  # for example names of files whose bytes are not UTF-8
        raise MoonrankError(f"{name} has the text {text!r} with a character that UTF-8 does not have, expected "
                            "Unicode text") from None


def _write(parts, value, arrays, depth, name):
    if value is None:
        parts.append(b"n")
    elif isinstance(value, (bool, np.bool_)):
        parts.append(b"t" if value else b"f")
    elif isinstance(value, (int, np.integer)):
        if not -2**63 <= value < 2**63:
            raise MoonrankError(f"{name} has the integer {value} of more than 64 bits, expected one from -2**63 to "
                                "2**63 - 1")
        parts.append(struct.pack("<cq", b"i", int(value)))
    elif isinstance(value, (float, np.floating)):
        parts.append(struct.pack("<cd", b"d", float(value)))
    elif isinstance(value, str):
        text = encoded(name, value)
        parts.append(struct.pack("<cQ", b"s", len(text)) + text)
    elif isinstance(value, np.ndarray):
        arrays.append(value)
        _write_table(parts, [(ARRAY, len(arrays))], arrays, depth, name)
    elif isinstance(value, dict):
        for key in value:
            is_kind = isinstance(key, (str, bool, int, float, np.bool_, np.integer, np.floating))
            if not is_kind or key != key or key == ARRAY:
                raise MoonrankError(f"{name} has a dictionary with the key {key!r}, expected a text or a number")
        _write_table(parts, list(value.items()), arrays, depth, name)
    elif isinstance(value, (list, tuple)):
        _write_table(parts, list(enumerate(value, 1)), arrays, depth, name)
    else:
        raise MoonrankError(f"{name} has the type {type(value).__name__}, expected numbers, texts, booleans, arrays, "
                            "lists and dictionaries")


def _write_table(parts, items, arrays, depth, name):
    refuse_depth(name, depth)
    parts.append(struct.pack("<cq", b"T", len(items)))
    for key, each in items:
        _write(parts, key, arrays, depth + 1, name)
        holds_arguments = isinstance(key, str) and (depth == 0 or name in _GROUPS)
        _write(parts, each, arrays, depth + 1, key if holds_arguments else name)


def unpack(data, arrays):
    """Returns the value that the library packed. A table with the keys 1 to n becomes a list, any other a dictionary
    with sorted keys."""
    return _read(memoryview(data), 0, arrays)[0]


def _read(data, at, arrays):
    kind = data[at]
    at += 1
    if kind == ord("n"):
        return None, at
    if kind in b"tf":
        return kind == ord("t"), at
    if kind in b"id":
        return struct.unpack_from("<q" if kind == ord("i") else "<d", data, at)[0], at + 8
    count = struct.unpack_from("<q", data, at)[0]
    at += 8
    if kind == ord("s"):
        return bytes(data[at:at + count]).decode(errors="replace"), at + count
    found = {}
    for _ in range(count):
        key, at = _read(data, at, arrays)
        found[key], at = _read(data, at, arrays)
    if ARRAY in found:
        return arrays[found[ARRAY] - 1], at
    if count > 0 and all(key in found for key in range(1, count + 1)):
        return [found[key] for key in range(1, count + 1)], at
    return dict(sorted(found.items(), key=lambda item: (isinstance(item[0], str), item[0]))), at
