"""Ranges and distributions of metrics over all rankings of a list, given its numbers of rows and relevant rows."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from moonrank import _library
from moonrank._calls import Named

__all__ = ["Distribution", "distribution", "of"]


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise _library.MoonrankError(f"{name} is {value!r}, expected a number")
    return number


def _shape(n: int | None, p: int | None, grades: ArrayLike | None) -> dict[str, Any]:
    given = None if grades is None else _library.as_array("grades", grades, (np.float64,), dims=1).tolist()
    return {key: value for key, value in (("n", n), ("p", p), ("grades", given)) if value is not None}


@Named("moonrank.bounds.of")
def of(metric: str, n: int | None = None, p: int | None = None, grades: ArrayLike | None = None) -> dict[str, Any]:
    """Minimum, maximum, best value, expectation and standard deviation of a metric over all rankings of one list.

    metric: name such as "ndcg@10"
    n, p:   numbers of rows and of relevant rows
    grades: [rows] grades in any order, instead of n and p

    Returns a dictionary with the numbers "min", "max", "best", "expectation" and "sd", and the name of the "method".
    The numbers are NaN without relevant rows.

    >>> of("nrbp_loss", n=9, p=3)["max"]
    18.0
    """
    return _library.call("bounds_of", {"metric": metric, "shape": _shape(n, p, grades)})


class Distribution:
    """The distribution of a metric over random rankings of one list.

    `mean`, `sd`, `min` and `max` are numbers; `method` is a text that names the algorithm. Printed, it shows
    them.
    """

    def __init__(self, metric: str, options: dict[str, Any]):
        self._object = _library.Kept("distribution", {"metric": metric, "options": options})
        found = self._object.reply
        self.mean: float = found["mean"]
        self.sd: float = found["sd"]
        self.min: float = found["min"]
        self.max: float = found["max"]
        self.method: str = found["method"]
        self._text: str = found["text"].replace("mr.Distribution", "moonrank.bounds.Distribution", 1)

    def __repr__(self) -> str:
        return self._text

    @Named("moonrank.bounds.Distribution.pmf")
    def pmf(self) -> tuple[np.ndarray, np.ndarray]:
        """The metric's values and their probabilities, as two arrays of float64. An error if there are too many
        values."""
        values, probabilities = _library.call("pmf", {"object": self._object.number})
        return values, probabilities

    @Named("moonrank.bounds.Distribution.cdf")
    def cdf(self, value: float) -> float:
        """The probability of values up to `value`."""
        return _library.call("cdf", {"object": self._object.number, "at": _number("value", value)})

    @Named("moonrank.bounds.Distribution.quantile")
    def quantile(self, q: float) -> float:
        """The smallest value whose cdf is at least q, a number from 0 to 1."""
        return _library.call("quantile", {"object": self._object.number, "at": _number("q", q)})


@Named("moonrank.bounds.distribution")
def distribution(metric: str, n: int | None = None, p: int | None = None, grades: ArrayLike | None = None, *,
                 method: Literal["auto", "exact", "sampled"] = "auto", samples: int | None = None, seed: int = 1,
                 beta: float = 0.0) -> Distribution:
    """Computes the distribution of a metric over random rankings of one list.

    metric:  name such as "ndcg@10"
    n, p:    numbers of rows and of relevant rows
    grades:  [rows] grades in any order, instead of n and p
    method:  "auto" is exact if that is feasible
    samples: number of random rankings, if they are sampled (default: that of mr.bounds.distribution)
    seed:    seed of the random rankings
    beta:    rows are drawn with probability proportional to e^(beta * grade); 0: all rankings are equally likely

    >>> distribution("precision@1", n=2, p=1).cdf(0)
    0.5
    """
    options = {**_shape(n, p, grades), "method": method, "seed": seed, "beta": beta}
    if samples is not None:
        options["samples"] = samples
    return Distribution(metric, options)
