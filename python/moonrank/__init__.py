"""Moonrank from Python: exact ranking metrics, bounds, comparisons and scripts.

A judged list is a query's documents or a user's items. The rows of all lists lie in one array: `scores` and `grades`
have an entry per row, and `sizes` has the number of rows of each list. A grade of 1 or more is relevant.

>>> import moonrank
>>> moonrank.evaluate([3., 2., 1.], [0, 1, 0], [3], ["rr"]).mean["rr"]
0.5

`moonrank.torch` has the losses for PyTorch; `moonrank.xgboost` and `moonrank.lightgbm` have objectives for trees.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from moonrank import _arrow, _library, _lists, _values, bounds
from moonrank._calls import Named
from moonrank._library import MoonrankError
from moonrank._lists import Grades, Lists, Metric
from moonrank._names import Denominator, Empty, Gain, Ties

__version__ = _library.version
__all__ = ["Comparison", "Evaluation", "Lists", "MoonrankError", "bounds", "compare", "evaluate", "help", "lists",
           "lua", "names", "threads"]


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


class Evaluation:
    """Metrics of scores, in the order in which they were given. Printed, it is a table.

    names:   names of the metrics, as they were given: "map" is called "map", and ("ap", "minmax") "ap[minmax]"
    mean:    mean over the lists for which the metric is defined
    values:  [lists] float64 array, NaN where the metric is undefined
    counted: number of lists in the mean
    skipped: number of lists left out
    """

    def __init__(self, found: dict[str, Any], qid: np.ndarray | None = None):
        self.names: list[str] = found["names"]
        self.mean: dict[str, float] = {name: found["mean"][name] for name in self.names}
        self.values: dict[str, np.ndarray] = {name: found["values"][name] for name in self.names}
        self.counted: dict[str, int] = {name: found["counted"][name] for name in self.names}
        self.skipped: dict[str, int] = {name: found["skipped"][name] for name in self.names}
        self._text, self._qid = found["text"], qid

    def __repr__(self) -> str:
        return self._text

    @Named("moonrank.Evaluation.to_dataframe")
    def to_dataframe(self) -> Any:
        """The values as a DataFrame of pandas: a row per list and a column per metric. The index has the qids, or the
        lists' numbers from 0."""
        try:
            import pandas
        except ImportError:
            raise MoonrankError("pandas is not installed. Use `values`, or install pandas") \
                from None
        index = pandas.RangeIndex(len(self.values[self.names[0]]) if self.names else 0, name="list")
        return pandas.DataFrame(self.values, columns=self.names,
                                index=index if self._qid is None else pandas.Index(self._qid, name="qid"))


@Named("moonrank.lists")
def lists(grades: ArrayLike, sizes: ArrayLike | None = None, *, qid: ArrayLike | None = None,
          weights: ArrayLike | None = None, list_weights: ArrayLike | None = None) -> Lists:
    """Makes judged lists that stay inside the library. `evaluate`, `compare` and `moonrank.torch.Loss` take them in
    place of grades and sizes. Calls are faster by the time that it takes to read grades and sizes.

    grades, sizes, qid, weights, list_weights: as for `evaluate`. They are copied: later changes of these arrays do not
    change the lists

    >>> judged = lists([0, 1, 0], [3])
    >>> judged, evaluate([3., 2., 1.], judged, metrics=["rr"]).mean["rr"]
    (Lists(lists=1, rows=3), 0.5)
    """
    return Lists(grades, sizes, qid, weights, list_weights)


@Named("moonrank.evaluate")
def evaluate(scores: ArrayLike, grades: Grades, sizes: ArrayLike | None = None,
             metrics: Metric | Sequence[Metric] = ("ndcg@10",), *, ties: Ties | None = None,
             empty: Empty | None = None, relevant: float | None = None, gain: Gain | None = None,
             denominator: Denominator | None = None, qid: ArrayLike | None = None,
             weights: ArrayLike | None = None, list_weights: ArrayLike | None = None) -> Evaluation:
    """Evaluates scores by exact metrics.

    scores:  [rows] or [rows, 1] numbers; a contiguous array of float32 or float64 is read in place. NaN is an error
    grades:  [rows] numbers from 0 up, or lists made by `lists`
    sizes:   [lists] number of rows of each list; left out if grades has lists
    metrics: names such as "ndcg@10", "nrbp(0.95)" and "rr"; ("ap", "minmax") is a metric under a bound

    Columns of pandas and tensors of PyTorch are read like arrays, without the index and without the gradient.
    grades may be an Arrow array of lists, and sizes is left out then. scores may be an Arrow array of equal lists, too.

    ties:     order of tied rows. "mean" (default): the mean over all orders; "stable": by row; "worst".
              "trec" is an error, because it orders tied rows by document ids, which arrays do not have
    empty:    value of a list without relevant rows; "skip" (default) leaves it out of means
    relevant: smallest grade of a relevant row (default 1)
    gain:     gain of a grade in dcg and ndcg: "exp2" (default), "linear" or "exp2_plus_one"
    denominator: divisor of ap: "relevant" (default) or "cutoff"
    qid:      [rows] number or text that names the row's list, instead of sizes; the rows of a list are side by side
    weights:  [rows] numbers from 0 up by which "ndcg" and "dcg" multiply gains; other metrics refuse them
    list_weights: [lists] numbers from 0 up, the weights of lists in means

    Wrong names, types and shapes raise MoonrankError.

    >>> round(evaluate([3., 2., 1.], [0, 1, 0], [3], [("rr", "minmax")]).mean["rr[minmax]"], 6)
    0.25
    """
    value = _lists.judged(grades, sizes, qid, weights, list_weights)
    value.update(scores=_lists.scores_of("scores", scores, value["sizes"]), metrics=_lists.metric_names(metrics),
                 options=_given(ties=ties, empty=empty, relevant=relevant, gain=gain, denominator=denominator))
    ids = grades.qid if isinstance(grades, Lists) else None if qid is None else _lists.lists_of_qid(qid)[1]
    return Evaluation(_library.call("evaluate", value), ids)


class Comparison:
    """A comparison of systems. Printed, it is a table, and in a notebook an HTML table.

    systems: names of the systems, in the order in which they were given
    means:   a dictionary per metric and system, such as {"metric": ..., "system": ..., "mean": ...}
    tests:   a dictionary per metric and pair of systems, with the difference and its p-value
    notes:   lines that state the conventions
    """

    def __init__(self, found: dict[str, Any]):
        self.systems: list[str] = found["systems"]
        self.notes: list[str] = list(found["notes"] or [])
        self.means, self.tests = _rows(found["means"]), _rows(found["tests"])
        self._found = found

    def __repr__(self) -> str:
        return self._found["text"]

    def _repr_html_(self) -> str:
        return self._found["html"]

    def to_latex(self) -> str:
        """The comparison as a LaTeX table (package booktabs)."""
        return self._found["latex"]

    def to_markdown(self) -> str:
        """The comparison as a Markdown table."""
        return self._found["markdown"]


def _rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    def cells(row):
        return row if isinstance(row, list) else [row.get(i) for i in range(1, len(table["columns"]) + 1)]
    return [dict(zip(table["columns"], cells(row))) for row in table["rows"] or []]


@Named("moonrank.compare")
def compare(systems: Mapping[str, ArrayLike], grades: Grades, sizes: ArrayLike | None = None,
            metrics: Metric | Sequence[Metric] = ("ndcg@10",), *, gain: Gain | None = None, ties: Ties | None = None,
            empty: Empty | None = None, relevant: float | None = None, alpha: float | None = None,
            level: float | None = None, samples: int | None = None, orders: int | None = None,
            seed: int | None = None, qid: ArrayLike | None = None) -> Comparison:
    """Compares systems list by list: means with bootstrap intervals, and paired permutation tests with Holm's
    correction.

    systems: a dictionary from the system's name to its scores, [rows]; the table has its order
    grades, sizes, metrics: as for `evaluate`
    gain, ties, empty, relevant: as for `evaluate`, with the same defaults, so that the means are those of `evaluate`.
             The program's mr.compare has the defaults of trec_eval for scores: "linear", "trec", "zero"
    alpha:   significance level (default 0.05)
    level:   confidence level of the intervals (default 0.95)
    samples: number of bootstrap samples (default 10,000)
    orders:  number of random signs in the permutation test (default 10,000)
    seed:    seed of both (default 1)
    qid:     [rows] number or text that names the row's list, instead of sizes; the rows of a list are side by side

    Wrong names, types and shapes raise MoonrankError.

    >>> found = compare({"a": [2., 1., 2., 1.], "b": [1., 2., 1., 2.]}, [1, 0, 1, 0], [2, 2], ["rr"])
    >>> [(row["system"], row["mean"]) for row in found.means]
    [('a', 1.0), ('b', 0.5)]
    """
    if not isinstance(systems, Mapping) or not systems:
        raise MoonrankError(f"systems is {'empty' if isinstance(systems, Mapping) else type(systems).__name__}, "
                            "expected a dictionary from a system's name to its scores")
    for name in systems:
        if not isinstance(name, str):
            raise MoonrankError(f"systems has the name {name!r}, expected a text")
    value = _lists.judged(grades, sizes, qid)
    value.update(systems={name: _lists.scores_of(f"systems[{name!r}]", scores, value["sizes"])
                          for name, scores in systems.items()},
                 order=list(systems), metrics=_lists.metric_names(metrics),
                 conventions=_given(gain=gain, ties=ties, empty=empty, relevant=relevant),
                 options=_given(alpha=alpha, level=level, samples=samples, orders=orders, seed=seed))
    return Comparison(_library.call("compare", value))


def _variable(name: str, value: Any, depth: int = 0) -> Any:
    if _arrow.is_arrow(value):
        value, sizes = _arrow.read(name, value)
        if sizes is not None:
            raise MoonrankError(f"{name} is an Arrow array of lists, expected an array of numbers")
    elif hasattr(value, "__array__") and not isinstance(value, np.generic):
        value = _library.plain_array(name, value)
    if isinstance(value, np.ndarray):
        array = _library.as_array(name, value, (np.float32, np.float64, np.int64) if value.dtype.kind in "iub" else
                                  (np.float32, np.float64))
        return array if array.flags.writeable else array.copy()
    if not isinstance(value, (Mapping, list, tuple)):
        return value
    _values.refuse_depth(name, depth)
    if isinstance(value, Mapping):
        return {key: _variable(name, each, depth + 1) for key, each in value.items()}
    return [_variable(name, each, depth + 1) for each in value]


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise MoonrankError(f"{name} is {value!r}, expected a text")
    _values.encoded(name, value)
    return value


def lua(code: str, **variables: Any) -> Any:
    """Runs a Lua script with variables of these names and `mr`, the library. Returns what the script returns.

    Contiguous, writeable arrays of float32, float64 and int64 become tensors on their memory. Lists and dictionaries
    become tables. Tensors of PyTorch and columns of pandas are given as arrays. A returned tensor becomes an array on
    the tensor's memory, a table becomes a list or a dictionary with sorted keys, and several values become a list.
    Other global variables last until the process ends. What the script prints goes to the standard output of the
    process, not to sys.stdout. Results of the library, such as evaluations, are returned as their tables: return a
    field, such as `mr.evaluate(...).mean.ap`, for a single number. An error of the script raises MoonrankError.

    >>> lua("return x:sum():item() + y", x=np.array([1., 2.]), y=1)
    4.0
    """
    with Named("moonrank.lua"):
        given = {name: _variable(name, value) for name, value in variables.items()}
        arrays: list[np.ndarray] = []
        data = _values.pack({1: _text("code", code), 2: "script", "variables": given}, arrays)
    found = _library.call_packed("script", data, arrays)  # an error of the script does not name moonrank.lua
    values = [found.get(i) for i in range(1, found["n"] + 1)]
    return values if len(values) > 1 else values[0] if values else None


def names() -> dict[Literal["losses", "metrics", "bounds"], list[str]]:
    """The names of all losses, metrics and bounds.

    >>> "ndcg" in names()["losses"]
    True
    """
    return _library.call("names", None)


@Named("moonrank.threads")
def threads(n: int | None = None) -> int:
    """Returns the number of threads that compute, a thread per CPU by default. With n, 1 to 4096, sets it first. The
    number changes no result.

    >>> before = threads()
    >>> threads(2), threads(before) == before
    (2, True)
    """
    return _library.call("threads", _given(n=n))


@Named("moonrank.help")
def help(name: str = "moonrank") -> None:  # noqa: A001 (the name of the prompt's function)
    """Prints the reference text of a function or page of the library, such as "mr.losses.ndcg" or "guide/python"."""
    print(_library.call("about", {"name": _text("name", name)}))
