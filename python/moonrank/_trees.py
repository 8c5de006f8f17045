"""What the objectives and metrics of moonrank.xgboost and moonrank.lightgbm share."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from moonrank import _library, _lists, _losses
from moonrank._calls import named_by_class
from moonrank._library import MoonrankError
from moonrank._names import Bound, Conventions, TreeObjective

if TYPE_CHECKING:
    from typing_extensions import Unpack


class KeptLists:
    """Judged lists of data sets, which stay inside the library between the rounds of a training."""

    def __init__(self) -> None:
        self._kept: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def of(self, dataset: Any, read: Callable[[Any], tuple[np.ndarray, np.ndarray]]) -> _library.Kept:
        """Returns the lists of a data set. `read` returns its labels and sizes, which are compared with the kept
        ones."""
        labels, sizes = read(dataset)
        kept = self._kept.get(dataset)
        if kept is None or not (np.array_equal(kept[0], labels) and np.array_equal(kept[1], sizes)):
            judged = _lists.judged(labels, sizes, name="label", name_of_sizes="group")
            kept = self._kept[dataset] = labels, sizes, _library.Kept("lists", judged)
        return kept[2]

    def __deepcopy__(self, _: Any) -> KeptLists:
        return self

    def __reduce__(self):
        return KeptLists, ()


lists = KeptLists()


def _predictions(scores: np.ndarray, kept: _library.Kept) -> np.ndarray:
    return _lists.scores_of("predictions", scores, kept.value["sizes"])


def check_type(data: Any, methods: list[str], expected: str) -> None:
    """Raises MoonrankError if `data` lacks one of these methods, so that it is not a data set of XGBoost or LightGBM."""
    if not all(callable(getattr(data, method, None)) for method in methods):
        raise MoonrankError(f"data has the type {type(data).__name__}, expected {expected}")


def labels_of(data: Any, example: str, rows: int) -> np.ndarray:
    """Returns the labels of a data set with this number of rows. Missing labels raise MoonrankError."""
    labels = data.get_label()
    if labels is None or (len(labels) == 0 and rows > 0):
        raise MoonrankError(f"the data set has no labels, expected grades: {example}")
    return np.asarray(labels)


class Newton(TreeObjective):
    """First and second derivatives of a loss under a bound, summed over lists, with respect to every score.

    name, bound, options: as moonrank.torch.Loss takes them
    """

    __doc__ = _losses.Documentation(__doc__)  # type: ignore[assignment]

    @named_by_class
    def _make(self, name: str, bound: Bound | str, options: dict[str, Any]) -> None:
        self.name, self.bound = name, bound
        self._loss = _losses.kept(name, bound, options)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({self.name!r}, bound={self.bound!r})"

    def derivatives(self, scores: np.ndarray, kept: _library.Kept) -> tuple[np.ndarray, np.ndarray]:
        scores = _predictions(scores, kept)
        found = _library.call("derivatives", {"loss": self._loss.number, "lists": kept.number, "scores": scores})
        return found["first"], found["second"]


class Metrics:
    """Exact metrics, each a name such as "ndcg@10", a pair such as ("ap", "minmax"), or a list of both.

    options: ties, empty, relevant, gain and denominator, as moonrank.evaluate takes them
    """

    @named_by_class
    def __init__(self, *metrics: _lists.Metric, **options: Unpack[Conventions]):
        self.names, self._options = _lists.metric_names(metrics), options
        # this call raises an error now if a metric's name or option is wrong
        found = _library.call("metrics", {"metrics": self.names, "options": options})
        self.names, self.larger_is_better = found["names"], found["maximize"]

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({', '.join(map(repr, self.names))})"

    def means(self, scores: np.ndarray, kept: _library.Kept) -> list[tuple[str, float]]:
        scores = _predictions(scores, kept)
        value = {"scores": scores, "lists": kept.number, "metrics": self.names, "options": self._options}
        mean = _library.call("means", value)
        return [(name, float(mean[name])) for name in self.names]


def weighted(derivatives: tuple[np.ndarray, np.ndarray], weights: np.ndarray | None,
             sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns derivatives times the weights of a data set, which has one per row or one per list."""
    if weights is None or len(weights) == 0:
        return derivatives
    weights = np.asarray(weights, np.float64)
    rows = len(derivatives[0])
    if len(weights) == len(sizes) and len(weights) != rows:
        weights = np.repeat(weights, sizes)
    if len(weights) != rows:
        raise MoonrankError(f"the data set has {len(weights)} weights, expected one per row ({rows}) or "
                            f"list ({len(sizes)})")
    return derivatives[0] * weights, derivatives[1] * weights
