"""The C interface (runtime/embed/moonrank.h) by ctypes. One state serves the process."""

from __future__ import annotations

import atexit
import collections
import ctypes
import os
import pathlib
import sys
import threading
from typing import Any, Sequence

import numpy as np

from moonrank import _calls, _values
from moonrank._values import MoonrankError

_DTYPES: dict[np.dtype, int] = {np.dtype(np.float32): 0, np.dtype(np.float64): 1, np.dtype(np.int64): 2}
_BY_NUMBER: dict[int, Any] = {number: dtype for dtype, number in _DTYPES.items()}
_MOST_DIMS = 4
_LARGEST_INTEGER = 2**63 - 1
_API_VERSION = 1
_INTERRUPTED = 2

_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("dims", ctypes.c_int32),
                ("shape", ctypes.c_int64 * _MOST_DIMS), ("release", _Release), ("owner", ctypes.c_void_p)]


class _Reply(ctypes.Structure):
    _fields_ = [("values", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("arrays", ctypes.POINTER(_Array)),
                ("count", ctypes.c_int32), ("owner", ctypes.c_void_p)]


def _find() -> str:
    given = os.environ.get("MOONRANK_LIBRARY")
    here = pathlib.Path(__file__).resolve().parent
    own = [here / "libmoonrank.so", here.parents[1] / "build/release/libmoonrank.so"]
    places = [pathlib.Path(given)] if given else own
    for place in places:
        if place.exists():
            return str(place)
    raise ImportError(f"moonrank: libmoonrank.so is not at {' or '.join(map(str, places))}. Set MOONRANK_LIBRARY "
                      "to its path")


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_find())
    library.moonrank_open.restype = ctypes.c_void_p
    library.moonrank_close.argtypes = [ctypes.c_void_p]
    library.moonrank_error.restype = ctypes.c_char_p
    library.moonrank_error.argtypes = [ctypes.c_void_p]
    library.moonrank_version.restype = ctypes.c_char_p
    library.moonrank_watch_interrupts.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.moonrank_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
                                      ctypes.POINTER(_Array), ctypes.c_int, ctypes.POINTER(_Reply)]
    library.moonrank_loss_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.moonrank_release.argtypes = [ctypes.POINTER(_Reply)]
    library.moonrank_release.restype = None
    if library.moonrank_api_version() != _API_VERSION:
        found = library.moonrank_api_version()
        raise ImportError(f"moonrank: the library has interface {found}, expected {_API_VERSION}")
    return library


_library = _load()
version: str = _library.moonrank_version().decode()

# Arrays and tensors that the library reads, by number. They must not be freed before the library calls `_give_back`
# with the number.
_lent: dict[int, Any] = {}
_last_number = 0
_lent_bytes = 0
_collect_at = _least_collected = 256 << 20  # if more bytes than this are lent, the library collects garbage
_lock = threading.RLock()  # held until the reply to a call is read
# Numbers of library objects whose Python wrappers were deleted. A destructor only notes the number, because it may run
# during a call; the next call tells the library.
_dropped: collections.deque[int] = collections.deque()


@_Release
def _give_back(number):
    global _lent_bytes
    _lent_bytes -= _lent.pop(number).nbytes


_give_back_address: int = ctypes.cast(_give_back, ctypes.c_void_p).value or 0


def _noted(array: Any) -> int:
    """Notes that the library reads an array or a tensor, and returns its number."""
    global _last_number, _lent_bytes
    _last_number += 1
    _lent[_last_number] = array
    _lent_bytes += array.nbytes
    return _last_number


def _lend(array: np.ndarray) -> _Array:
    number = _noted(array)
    shape = (ctypes.c_int64 * _MOST_DIMS)(*array.shape)
    return _Array(array.ctypes.data, _DTYPES[array.dtype], array.ndim, shape, _give_back, number)


class _Memory:
    """The memory of an array that the library returned. It is released with the last NumPy array that uses it."""

    def __init__(self, array: _Array):
        self._array = array
        dtype = _BY_NUMBER[array.dtype]
        self.__array_interface__ = {"version": 3, "typestr": dtype.str, "shape": tuple(array.shape[:array.dims]),
                                    "data": (array.data or 0, False)}

    def __del__(self):
        array = getattr(self, "_array", None)  # missing if the constructor failed
        if array is not None:
            array.release(array.owner)


def _received(array: _Array) -> np.ndarray:
    copy = _Array()
    ctypes.pointer(copy)[0] = array
    memory = _Memory(copy)
    if 0 in memory.__array_interface__["shape"]:
        return np.empty(memory.__array_interface__["shape"], _BY_NUMBER[copy.dtype])
    return np.asarray(memory)


def without_torch(values: Any) -> Any:
    """Returns a tensor of PyTorch as a NumPy array, on the same memory if that is possible, without its gradient.
    Floating point types that NumPy lacks become float32. Returns other values as they are."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(values, torch.Tensor):
        return values
    values = values.detach().cpu().resolve_neg()
    if values.dtype.is_floating_point and values.dtype not in (torch.float16, torch.float32, torch.float64):
        values = values.float()
    return values.numpy()


def plain_array(name: str, values: Any) -> np.ndarray:
    """Returns values as an array of NumPy, which may have any type. Masked entries raise MoonrankError."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise MoonrankError(f"{name} has masked entries, expected a value in each row. Leave these rows out, or fill "
                            "them: values.filled(0)")
    try:
        return np.asarray(without_torch(values))
    except (TypeError, ValueError, RuntimeError) as error:  # for example nested lists of different lengths
        raise MoonrankError(f"{name} is not an array: {error}") from None


def _numbers(name: str, values: Any) -> np.ndarray:
    array = plain_array(name, values)
    if array.dtype.kind not in "fiub":
        raise MoonrankError(f"{name} is an array of {array.dtype}, expected numbers")
    return array


def as_array(name: str, values: Any, dtypes: Sequence[type] = (np.float32, np.float64),
             dims: int | None = None) -> np.ndarray:
    """Returns values as an array that the library can read in place. A contiguous array of one of these types is not
    copied. Numbers of another type become the last of the types, float16 the first."""
    array = _numbers(name, values)
    if array.dtype not in _DTYPES or array.dtype.type not in dtypes:
        whole = array.dtype.kind in "iub" or array.size == 0
        if dtypes[-1] is np.int64 and not whole:
            raise MoonrankError(f"{name} is an array of {array.dtype}, expected whole numbers")
        largest = int(array.max()) if array.dtype == np.uint64 and array.size > 0 else 0
        if dtypes[-1] is np.int64 and largest > _LARGEST_INTEGER:
            raise MoonrankError(f"{name} has the integer {largest}, expected at most 2**63 - 1")
        array = array.astype(dtypes[0] if array.dtype == np.float16 else dtypes[-1])
    if dims is not None and array.ndim != dims:
        raise MoonrankError(f"{name} has the shape {array.shape}, expected {dims} dimension{'s' if dims > 1 else ''}")
    if array.ndim > _MOST_DIMS:
        raise MoonrankError(f"{name} has {array.ndim} dimensions, expected at most {_MOST_DIMS}")
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])


def refuse_nan(name: str, array: np.ndarray) -> None:
    """Raises MoonrankError if an array has NaN. Needs no memory unless it has, because NaN is the minimum then."""
    if array.size > 0 and np.isnan(array.min()):
        at = int(np.argmax(np.isnan(array)))
        raise MoonrankError(f"{name} has NaN at row {at}, expected numbers (rows count from 0)")


_longest_wait_to_fork = 10.0  # seconds
_locked_to_fork: list[bool] = []


def _before_fork() -> None:
    # A forked child has only the thread that forked. A call of another thread must therefore end before the fork. If
    # that takes too long, the process is forked anyway, and the library refuses every later call in the child.
    _locked_to_fork.append(_lock.acquire(timeout=_longest_wait_to_fork))


def _after_fork_in_parent() -> None:
    if _locked_to_fork.pop():
        _lock.release()


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()
    _locked_to_fork.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)

_state: int | None = None


def _close() -> None:
    global _state
    # If a thread still computes, it holds the lock: the process then ends without closing the library.
    if not _lock.acquire(timeout=1):
        return
    try:
        if _state is not None:
            _library.moonrank_close(_state)
            _state = None
    finally:
        _lock.release()


def _opened() -> int:
    global _state
    if _state is None:
        _state = _library.moonrank_open()
        if not _state:
            raise MoonrankError(_library.moonrank_error(None).decode())
        atexit.register(_close)
    return _state


_watching: bool | None = None


def _entered() -> int:
    """Returns the state for a call of this thread. Ctrl-C stops calls of the main thread."""
    global _watching
    state = _opened()
    is_main = threading.current_thread() is threading.main_thread()
    if is_main is not _watching:
        _library.moonrank_watch_interrupts(state, is_main)
        _watching = is_main
    return state


def _raise_failure(state: int, status: int) -> None:
    if status == _INTERRUPTED:
        raise KeyboardInterrupt
    error = MoonrankError(_library.moonrank_error(state).decode(errors="replace"))
    error.reason = _calls.in_words_of_python(str(error))
    raise error


def _call(function: str, value: Any) -> Any:
    arrays: list[np.ndarray] = []
    return _call_packed(function, _values.pack(value, arrays), arrays)


def _call_packed(function: str, data: bytes, arrays: list[np.ndarray]) -> Any:
    state = _entered()
    lent = (_Array * len(arrays))(*map(_lend, arrays))
    reply = _Reply()
    status = _library.moonrank_call(state, function.encode(), data, len(data), lent, len(arrays), ctypes.byref(reply))
    if status != 0:
        _raise_failure(state, status)
    try:
        found = [_received(reply.arrays[i]) for i in range(reply.count)]
        return _values.unpack(ctypes.string_at(reply.values, reply.bytes), found)
    finally:
        _library.moonrank_release(ctypes.byref(reply))


def _tidy() -> None:
    """Releases dropped objects, and arrays that no script uses if many bytes are lent."""
    global _collect_at, _lent_bytes
    while _dropped:
        _call("release", {"object": _dropped.popleft()})
    if _lent_bytes > _collect_at:
        _call("collect", None)
        _lent_bytes = sum(array.nbytes for array in list(_lent.values()))
        _collect_at = max(_least_collected, 2 * _lent_bytes)


def call(function: str, value: Any) -> Any:
    """Calls a function of stdlib/moonrank/system/bridge.lua. The interpreter's lock is free meanwhile."""
    with _lock:
        _tidy()
        return _call(function, value)


def call_packed(function: str, data: bytes, arrays: list[np.ndarray]) -> Any:
    """Like `call`, with the bytes and arrays that `_values.pack` made of the value."""
    with _lock:
        _tidy()
        return _call_packed(function, data, arrays)


_Step = ctypes.c_int64 * 21  # the C struct moonrank_step as an array: each of its 21 members has 8 bytes
_DRAWN = 20


def step(loss: int, lists: int, rows: int, count: int, grades: int, sizes: int, scores: Any, address: int, dtype: int,
         row_weights: int, list_weights: int, reduction: int, values: int, gradient: int, upstream: int,
         parameters: int = 0, parameter_gradient: int = 0, parameter_count: int = 0, draw_again: int = -1) -> int:
    """Computes a kept loss by moonrank_loss_step. `address` and all names of arrays are addresses (0: none), and
    `scores` is the object that owns the scores. Returns what names the random numbers that the loss drew. The
    interpreter's lock is free meanwhile."""
    with _lock:
        if _dropped or _lent_bytes > _collect_at:
            _tidy()
        state = _entered()
        given = _Step(loss, lists, rows, count, grades, sizes, address, dtype, _give_back_address, _noted(scores),
                      row_weights, list_weights, reduction, values, gradient, upstream, parameters,
                      parameter_gradient, parameter_count, draw_again)
        status = _library.moonrank_loss_step(state, given)
        if status != 0:
            _raise_failure(state, status)
        return given[_DRAWN]


class Kept:
    """An object inside the library, such as a loss. The library forgets it after this object is gone.

    Copies share the object. A pickled one is made again from `function` and `value`. `reply` is what the function
    returned: the object's number, or a dictionary in which "object" is the number.
    """

    def __init__(self, function: str, value: Any):
        self._made_by = function, value
        self.value = value
        self.reply = call(function, value)
        self.number: int = self.reply["object"] if isinstance(self.reply, dict) else self.reply

    def __copy__(self) -> Kept:
        return self

    def __deepcopy__(self, _: Any) -> Kept:
        return self

    def __reduce__(self):
        return Kept, self._made_by

    def __del__(self):
        if hasattr(self, "number"):
            _dropped.append(self.number)
