"""Arguments that describe judged lists, as the library reads them."""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from moonrank import _arrow, _library
from moonrank._library import MoonrankError

Metric = Union[str, "tuple[str, str]"]
"""A metric, such as "ndcg@10", or a metric under a bound, such as ("ap", "minmax")."""


def metric_names(metrics: Metric | Sequence[Metric]) -> list[str]:
    """Returns metrics in the form that the library takes: "ap:minmax" for ("ap", "minmax")."""
    if isinstance(metrics, str):
        return [metrics]
    names = []
    for each in metrics:
        if not isinstance(each, str):
            if not (isinstance(each, (tuple, list)) and len(each) == 2 and all(isinstance(part, str) for part in each)):
                raise MoonrankError(f"metrics has {each!r}, expected a name or a pair of a metric and a bound: "
                                    '["ndcg@10", ("ap", "minmax")]')
            each = f"{each[0]}:{each[1]}"
        names.append(each)
    return names


def judged(grades: ArrayLike, sizes: ArrayLike | None) -> dict[str, np.ndarray]:
    """Returns grades and sizes as the arrays that the library reads.

    grades: [rows] numbers and sizes: [lists]; or grades is an Arrow array of lists, and sizes is None
    """
    found = None
    if _arrow.is_arrow(grades):
        grades, found = _arrow.read("grades", grades)
    if _arrow.is_arrow(sizes):
        sizes, _ = _arrow.read("sizes", sizes)
    if found is not None and sizes is not None:
        raise MoonrankError("sizes is given, but grades is an Arrow array of lists, which has the sizes. "
                            "Leave sizes out")
    if found is None and sizes is None:
        raise MoonrankError("sizes is None, expected the number of rows of each list, or grades as an Arrow array of "
                            "lists")
    sizes = _library.as_array("sizes", sizes if found is None else found, (np.int64,), dims=1)
    grades = _library.as_array("grades", grades, (np.float32,), dims=1)
    if sizes.size > 0 and sizes.min() < 0:
        at = int(np.argmin(sizes))
        raise MoonrankError(f"sizes has {sizes[at]} at {at}, expected numbers from 0 up")
    if sizes.sum() != grades.size:
        raise MoonrankError(f"sizes sum up to {sizes.sum()}, but grades has {grades.size} rows, expected equal numbers")
    return {"grades": grades, "sizes": sizes}


def scores_of(name: str, scores: ArrayLike, sizes: np.ndarray) -> np.ndarray:
    """Returns scores as the array that the library reads. Arrow lists must have these sizes."""
    if _arrow.is_arrow(scores):
        scores, found = _arrow.read(name, scores)
        if found is not None and not np.array_equal(found, sizes):
            at = int(np.argmax(found != sizes)) if found.size == sizes.size else None
            what = f"{found.size} lists, but grades has {sizes.size}" if at is None else (
                f"{found[at]} rows in list {at}, but grades has {sizes[at]}")
            raise MoonrankError(f"{name} has {what}, expected lists of equal sizes")
    array = _library.as_array(name, scores, dims=1)
    rows = int(sizes.sum())
    if array.size != rows:
        raise MoonrankError(f"{name} has {array.size} rows, but the lists have {rows}, expected equal numbers")
    return array
