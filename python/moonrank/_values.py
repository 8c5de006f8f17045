"""Values as bytes, in the format of stdlib/moonrank/sweep/frame.lua: numbers keep all their bits, and no value is
code."""

import struct

import numpy as np

ARRAY = "\0array"


class MoonrankError(ValueError):
    """An error of Moonrank: which argument, what was found, what was expected."""

    __module__ = "moonrank"


_DEEPEST = 64  # the largest depth of tables that frame.lua reads


def pack(value, arrays):
    """Returns a value as bytes. NumPy arrays in it are appended to `arrays`; dictionaries and sequences become
    tables."""
    parts = []
    _write(parts, value, arrays, 0)
    return b"".join(parts)


def refuse_depth(depth):
    """Raises MoonrankError for a list or a dictionary inside too many others."""
    if depth >= _DEEPEST:
        raise MoonrankError(f"a list or a dictionary contains itself, or is inside {_DEEPEST} others, expected fewer")


def _write(parts, value, arrays, depth):
    if value is None:
        parts.append(b"n")
    elif isinstance(value, (bool, np.bool_)):
        parts.append(b"t" if value else b"f")
    elif isinstance(value, (int, np.integer)):
        if not -2**63 <= value < 2**63:
            raise MoonrankError(f"the integer {value} has more than 64 bits, expected one from -2**63 to 2**63 - 1")
        parts.append(struct.pack("<cq", b"i", int(value)))
    elif isinstance(value, (float, np.floating)):
        parts.append(struct.pack("<cd", b"d", float(value)))
    elif isinstance(value, str):
        try:
            text = value.encode()
        except UnicodeEncodeError:  # for example names of files whose bytes are not UTF-8
            raise MoonrankError(f"the text {value!r} has a character that UTF-8 does not have, expected Unicode text") \
                from None
        parts.append(struct.pack("<cQ", b"s", len(text)) + text)
    elif isinstance(value, np.ndarray):
        arrays.append(value)
        _write_table(parts, [(ARRAY, len(arrays))], arrays, depth)
    elif isinstance(value, dict):
        for key in value:
            is_kind = isinstance(key, (str, bool, int, float, np.bool_, np.integer, np.floating))
            if not is_kind or key != key or key == ARRAY:
                raise MoonrankError(f"a dictionary has the key {key!r}, expected a text or a number")
        _write_table(parts, list(value.items()), arrays, depth)
    elif isinstance(value, (list, tuple)):
        _write_table(parts, list(enumerate(value, 1)), arrays, depth)
    else:
        raise MoonrankError(
            f"a {type(value).__name__} cannot be given to moonrank: expected numbers, texts, booleans, arrays, lists "
            "and dictionaries")


def _write_table(parts, items, arrays, depth):
    refuse_depth(depth)
    parts.append(struct.pack("<cq", b"T", len(items)))
    for key, each in items:
        _write(parts, key, arrays, depth + 1)
        _write(parts, each, arrays, depth + 1)


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
