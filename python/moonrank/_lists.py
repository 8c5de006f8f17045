"""Arguments that describe judged lists, as the library reads them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Union, get_args

import numpy as np
from numpy.typing import ArrayLike

from moonrank import _arrow, _library
from moonrank._calls import Named
from moonrank._library import MoonrankError
from moonrank._names import Bound, MetricName

Metric = Union[MetricName, str, "tuple[str, Bound | str]"]
"""A metric, such as "ndcg@10", or a metric under a bound, such as ("ap", "minmax")."""


_BOUNDS = frozenset(get_args(Bound))


def _is_pair(metric: Any) -> bool:
    return isinstance(metric, tuple) and len(metric) == 2 and all(isinstance(part, str) for part in metric)


def metric_names(metrics: Metric | Iterable[Metric]) -> list[str]:
    """Returns metrics as the library takes and names them: a text as it is, "ap[minmax]" for ("ap", "minmax")."""
    if isinstance(metrics, str):
        return [metrics]
    if isinstance(metrics, tuple) and _is_pair(metrics) and metrics[1] in _BOUNDS:
        return [f"{metrics[0]}[{metrics[1]}]"]
    if isinstance(metrics, Mapping) or not isinstance(metrics, Iterable):
        raise MoonrankError(f"metrics is {metrics!r}, expected a name or a list of names and pairs of a metric and a "
                            'bound: ["ndcg@10", ("ap", "minmax")]')
    names = []
    for each in metrics:
        if isinstance(each, list):
            names.extend(metric_names(each))
        elif isinstance(each, str):
            names.append(str(each))
        elif _is_pair(each):
            names.append(f"{each[0]}[{each[1]}]")
        else:
            raise MoonrankError(f"metrics has {each!r}, expected a name or a pair of a metric and a bound: "
                                '["ndcg@10", ("ap", "minmax")]')
    if not names:
        raise MoonrankError('metrics is empty: no metric is given. Pass names of metrics, such as ["ndcg@10"]')
    return names


def lists_of_qid(qid: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Returns the sizes and the qids of lists from the qid of each row. Rows of a list must be adjacent."""
    if _arrow.is_arrow(qid) and not hasattr(qid, "__array__"):
        qid, _ = _arrow.read("qid", qid)
    array = _library.plain_array("qid", qid)
    if array.ndim != 1:
        raise MoonrankError(f"qid has the shape {array.shape}, expected 1 dimension")
    if array.size == 0:
        return np.empty(0, np.int64), array
    if array.dtype.kind == "f":
        _library.refuse_nan("qid", array)
    try:
        starts = np.flatnonzero(np.concatenate([[True], array[1:] != array[:-1]]))
    except TypeError:  # pandas.NA has no truth value
        raise MoonrankError("qid has values that cannot be compared, expected numbers or texts only") from None
    ids, seen = array[starts], set()
    for start, each in zip(starts, ids.tolist()):
        if not isinstance(each, Hashable) or each is None or isinstance(each, float) and math.isnan(each):
            raise MoonrankError(f"qid has {each!r} at row {start}, expected a number or a text")
        if each in seen:
            raise MoonrankError(f"qid has {each!r} again at row {start}, expected the rows of a list side by side. "
                                "Sort the rows by qid (rows count from 0)")
        seen.add(each)
    return np.diff(np.append(starts, array.size)).astype(np.int64), ids


class Lists:
    """Judged lists that stay inside the library, made by moonrank.lists.

    grades: [rows] float32 array, read-only
    sizes:  [lists] int64 array, read-only
    qid:    [lists] what names each list, or None
    """

    @Named("moonrank.Lists")
    def __init__(self, grades: Grades, sizes: ArrayLike | None = None, qid: ArrayLike | None = None,
                 weights: ArrayLike | None = None, list_weights: ArrayLike | None = None):
        if isinstance(grades, Lists):
            raise MoonrankError("grades has lists of moonrank.lists already, expected numbers or an Arrow array "
                                "of lists")
        # copies, so that later changes of the caller's arrays do not change the lists
        own = {name: array.copy() for name, array in judged(grades, sizes, qid, weights, list_weights).items()}
        for array in own.values():
            array.flags.writeable = False
        self.grades: np.ndarray = own["grades"]
        self.sizes: np.ndarray = own["sizes"]
        self.qid = None if qid is None else lists_of_qid(qid)[1]
        self._kept = _library.Kept("lists", own)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"Lists(lists={len(self.sizes)}, rows={len(self.grades)})"


Grades = Union[ArrayLike, Lists]
"""Grades of all rows, an Arrow array of lists of grades, or lists made by moonrank.lists."""


class Judged(dict):
    """Arguments that describe lists. `holds` has the kept lists among them, which live as long as the arguments."""

    holds: Lists | None = None


def judged(grades: Grades, sizes: ArrayLike | None, qid: ArrayLike | None = None,
           weights: ArrayLike | None = None, list_weights: ArrayLike | None = None, name: str = "grades",
           name_of_sizes: str = "sizes") -> Judged:
    """Returns grades and sizes as the arrays that the library reads, or the number of kept lists and their sizes.

    grades: [rows] numbers and sizes: [lists] or qid: [rows]; or grades is an Arrow array of lists or has kept lists,
    and sizes and qid are None
    weights, list_weights: [rows] and [lists] numbers, which the library checks
    name, name_of_sizes: names of grades and sizes in errors
    """
    found = _judged(grades, sizes, qid, name, name_of_sizes)
    for argument, key, given in (("weights", "row_weights", weights), ("list_weights", "list_weights", list_weights)):
        if given is not None:
            found[key] = _library.as_array(argument, given, (np.float64,), dims=1)
    return found


def _judged(grades: Grades, sizes: ArrayLike | None, qid: ArrayLike | None, name: str, name_of_sizes: str) -> Judged:
    if isinstance(grades, Lists):
        if sizes is not None or qid is not None:
            raise MoonrankError(f"{'qid' if sizes is None else 'sizes'} is given, but grades has lists of "
                                "moonrank.lists, which have the sizes. Leave it out, and name metrics=")
        kept = Judged(lists=grades._kept.number, sizes=grades.sizes)
        kept.holds = grades
        return kept
    if qid is not None:
        if sizes is not None:
            raise MoonrankError("sizes and qid are both given, expected one of them. Leave sizes out")
        sizes, _ = lists_of_qid(qid)
    found = None
    if _arrow.is_arrow(grades):
        grades, found = _arrow.read("grades", grades)
    if _arrow.is_arrow(sizes):
        sizes, _ = _arrow.read("sizes", sizes)
    if found is not None and sizes is not None:
        raise MoonrankError("sizes or qid is given, but grades is an Arrow array of lists, which has the sizes. "
                            "Leave it out")
    if found is None and sizes is None:
        raise MoonrankError("sizes is None, expected the number of rows of each list. Without sizes, pass as grades an "
                            "Arrow array of lists, or moonrank.lists(grades, qid=...), which has them")
    sizes = _library.as_array(name_of_sizes, sizes if found is None else found, (np.int64,), dims=1)
    grades = _library.as_array(name, grades, (np.float32,), dims=1)
    if sizes.size > 0 and sizes.min() < 0:
        at = int(np.argmin(sizes))
        raise MoonrankError(f"{name_of_sizes} has {sizes[at]} at {at}, expected numbers from 0 up")
    if sizes.sum() != grades.size:
        given = (f"qid has {sizes.sum()} rows" if qid is not None else
                 f"the numbers in {name_of_sizes} sum up to {sizes.sum()}")
        raise MoonrankError(f"{given}, but {name} has {grades.size} rows, expected equal numbers")
    # Minimum and maximum need no temporary array. They are NaN for an array with NaN, so the condition finds NaN, too.
    if grades.size > 0 and not (grades.min() >= 0 and grades.max() < np.inf):
        at = int(np.argmax(~((grades >= 0) & (grades < np.inf))))
        raise MoonrankError(f"{name} has {grades[at]} at row {at}, expected finite numbers from 0 up (rows count "
                            "from 0)")
    return Judged(grades=grades, sizes=sizes)


def scores_of(name: str, scores: ArrayLike, sizes: np.ndarray) -> np.ndarray:
    """Returns scores, [rows] or [rows, 1], as the array that the library reads. Arrow lists must have these sizes."""
    if _arrow.is_arrow(scores):
        scores, found = _arrow.read(name, scores)
        if found is not None and not np.array_equal(found, sizes):
            at = int(np.argmax(found != sizes)) if found.size == sizes.size else None
            what = f"{found.size} lists, but grades has {sizes.size}" if at is None else (
                f"{found[at]} rows in list {at}, but grades has {sizes[at]}")
            raise MoonrankError(f"{name} has {what}, expected lists of equal sizes")
    array = _library.as_array(name, scores)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    array = _library.as_array(name, array, dims=1)
    rows = int(sizes.sum())
    if array.size != rows:
        raise MoonrankError(f"{name} has {array.size} rows, but the lists have {rows}, expected equal numbers")
    _library.refuse_nan(name, array)
    return array
