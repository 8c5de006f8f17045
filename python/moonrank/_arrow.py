"""Arrow arrays by the PyCapsule interface (`__arrow_c_array__`, `__arrow_c_stream__`), without PyArrow. Memory is read
in place. Chunks of a stream are joined.

Source: https://arrow.apache.org/docs/format/CDataInterface.html
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from moonrank._library import MoonrankError


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
                    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.c_void_p),
                    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                   ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
                   ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class _Stream(ctypes.Structure):
    pass


_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_Stream._fields_ = [("get_schema", _GetSchema), ("get_next", _GetNext), ("get_last_error", ctypes.c_void_p),
                    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]

_NUMBERS = {b"c": np.int8, b"C": np.uint8, b"s": np.int16, b"S": np.uint16, b"i": np.int32, b"I": np.uint32,
            b"l": np.int64, b"L": np.uint64, b"e": np.float16, b"f": np.float32, b"g": np.float64}
_BOOLEAN = b"b"
_OFFSETS = {b"+l": np.int32, b"+L": np.int64}

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class _View:
    """Memory of an Arrow array as NumPy reads it. `owner` is the capsule that keeps the memory valid."""

    def __init__(self, owner: Any, address: int, dtype: type, count: int):
        self._owner = owner
        self.__array_interface__ = {"version": 3, "typestr": np.dtype(dtype).str, "shape": (count,),
                                    "data": (address, True)}


def _view(owner: Any, address: int | None, dtype: type, first: int, count: int) -> np.ndarray:
    if count == 0 or not address:
        return np.empty(0, dtype)
    return np.asarray(_View(owner, address + first * np.dtype(dtype).itemsize, dtype, count))


def _bits(owner: Any, address: int | None, first: int, count: int) -> np.ndarray:
    """Returns bits of a bitmap as uint8 numbers 0 and 1."""
    start = first % 8
    bits = _view(owner, address, np.uint8, first // 8, (start + count + 7) // 8 if count > 0 else 0)
    return np.unpackbits(bits, bitorder="little")[start:start + count]


def _refuse_nulls(name: str, what: str, owner: Any, array: _Array, first: int, count: int) -> None:
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0] or count == 0:
        return
    missing = np.flatnonzero(_bits(owner, array.buffers[0], first, count) == 0)
    if missing.size > 0:
        raise MoonrankError(f"{name}: {what} {missing[0]} is null, expected no nulls (numbers count from 0)")


def is_arrow(values: Any) -> bool:
    """True for an Arrow array, such as one of PyArrow. False for NumPy arrays, lists, tensors, and pandas columns of
    numbers."""
    if hasattr(values, "__arrow_c_array__"):
        return True
    if not hasattr(values, "__arrow_c_stream__"):
        return False
    # pandas exports numbers by Arrow only where PyArrow is installed
    return not hasattr(values, "__array__") or np.asarray(values).dtype.kind not in "fiub"


class _Owned:
    """A schema or an array that a stream wrote. It is released with the last NumPy array that uses its memory."""

    def __init__(self, kind: type):
        self.struct = kind()

    def __del__(self):
        if self.struct.release:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.struct.release)(ctypes.addressof(self.struct))


def _chunks(name: str, capsule: Any) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Returns the numbers and the sizes of each array of a stream, or of one empty array if the stream is empty."""
    stream = _Stream.from_address(_pointer(capsule, b"arrow_array_stream"))
    schema = _Owned(_Schema)
    chunks: list[tuple[np.ndarray, np.ndarray | None]] = []
    if stream.get_schema(ctypes.byref(stream), ctypes.byref(schema.struct)) != 0:
        raise MoonrankError(f"{name} is an Arrow stream that failed to give its type. Pass a NumPy array")
    while True:
        array = _Owned(_Array)
        if stream.get_next(ctypes.byref(stream), ctypes.byref(array.struct)) != 0:
            raise MoonrankError(f"{name} is an Arrow stream that failed to give its chunk {len(chunks)}. Pass a NumPy "
                                "array")
        if not array.struct.release:
            break
        chunks.append(_array(f"{name} (chunk {len(chunks)})" if chunks else name, array, schema.struct, array.struct))
    return chunks or [(np.empty(0), np.empty(0, np.int64) if schema.struct.format.startswith(b"+") else None)]


def read(name: str, values: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns the numbers of an Arrow array, and the sizes of its lists if it is a List, a LargeList or a
    FixedSizeList.

    The numbers are read in place. Chunks are joined, and booleans are copied. Nulls and other types raise
    MoonrankError.
    """
    if hasattr(values, "__arrow_c_array__"):
        capsules = values.__arrow_c_array__()
        return _array(name, capsules, _Schema.from_address(_pointer(capsules[0], b"arrow_schema")),
                      _Array.from_address(_pointer(capsules[1], b"arrow_array")))
    try:
        capsule = values.__arrow_c_stream__()
    except Exception as error:  # for example PyArrow's error for mixed types, or ImportError if PyArrow is missing
        raise MoonrankError(f"{name} is not an array of numbers, and cannot be read as an Arrow array: {error}") \
            from error
    chunks = _chunks(name, capsule)
    if len(chunks) == 1:
        return chunks[0]
    sizes = [each[1] for each in chunks if each[1] is not None]
    return np.concatenate([each[0] for each in chunks]), np.concatenate(sizes) if sizes else None


def _is_flat(schema: _Schema) -> bool:
    return (schema.format in _NUMBERS or schema.format == _BOOLEAN) and not schema.dictionary


def _format(schema: _Schema) -> str:
    return f"format '{schema.format.decode()}'" + (" with a dictionary" if schema.dictionary else "")


def _array(name: str, owner: Any, schema: _Schema, array: _Array) -> tuple[np.ndarray, np.ndarray | None]:
    if _is_flat(schema):
        return _flat(name, owner, schema, array, array.offset, array.length), None
    first, count = array.offset, array.length
    if schema.format in _OFFSETS:
        _refuse_nulls(name, "list", owner, array, first, count)
        ends = _view(owner, array.buffers[1], _OFFSETS[schema.format], first, count + 1 if count > 0 else 0)
        sizes = np.diff(ends).astype(np.int64)
        start, rows = (int(ends[0]), int(ends[-1] - ends[0])) if count > 0 else (0, 0)
    elif schema.format.startswith(b"+w:"):
        _refuse_nulls(name, "list", owner, array, first, count)
        width = int(schema.format[3:])
        sizes, start, rows = np.full(count, width, np.int64), first * width, count * width
    else:
        raise MoonrankError(f"{name} is an Arrow array of the {_format(schema)}, expected numbers or lists of numbers")
    child_schema, child = schema.children[0].contents, array.children[0].contents
    return _flat(name, owner, child_schema, child, child.offset + start, rows), sizes


def _flat(name: str, owner: Any, schema: _Schema, array: _Array, first: int, count: int) -> np.ndarray:
    if not _is_flat(schema):
        raise MoonrankError(f"{name} has entries of the Arrow {_format(schema)}, expected numbers")
    _refuse_nulls(name, "row", owner, array, first, count)
    if schema.format == _BOOLEAN:
        return _bits(owner, array.buffers[1], first, count)
    return _view(owner, array.buffers[1], _NUMBERS[schema.format], first, count)
