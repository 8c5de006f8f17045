"""Moonrank's losses and metrics for LightGBM (4.0 or later), under every bound.

```python
import lightgbm, moonrank.lightgbm

train = lightgbm.Dataset(x, grades, group=sizes)
lightgbm.train({"objective": moonrank.lightgbm.Objective("ndcg", bound="expectation"), "metric": "None"}, train,
               valid_sets=[train], feval=moonrank.lightgbm.Metric("ndcg@10"))
```

Labels are grades from 0 up; a grade of 1 or more is relevant. The lists are the groups of the Dataset. With
scikit-learn's interface, write `LGBMRanker(objective=Objective("ndcg"))` and `fit(..., eval_metric=Metric("ndcg@10"))`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moonrank import _library, _lists, _losses, _trees
from moonrank._calls import named_by_class
from moonrank._library import MoonrankError

__all__ = ["Metric", "Objective"]


def _judged(data: Any) -> tuple[np.ndarray, np.ndarray]:
    _trees.check_type(data, ["get_group", "get_label", "get_weight"],
                      "a lightgbm.Dataset. Call lightgbm.train, or LGBMRanker with groups")
    sizes = data.get_group()
    if sizes is None:
        raise MoonrankError("the Dataset has no groups, expected group: lightgbm.Dataset(x, grades, group=sizes)")
    sizes = np.asarray(sizes, np.int64)
    return _trees.labels_of(data, "lightgbm.Dataset(x, grades, group=sizes)", int(sizes.sum())), sizes


def _kept(grades: np.ndarray, sizes: np.ndarray | None) -> _library.Kept:
    if sizes is None:
        raise MoonrankError("there are no groups, expected fit(x, grades, group=sizes)")
    return _library.Kept("lists", _lists.judged(grades, np.asarray(sizes, np.int64), name_of_sizes="group"))


class Objective(_trees.Newton):
    """An objective for `lightgbm.train({"objective": ...})` and for `LGBMRanker(objective=...)`: a loss under a bound,
    with first and second derivatives.

    name:    name of the loss, such as "ndcg" or "lambdarank" (moonrank.names()["losses"])
    bound:   name of the bound that rescales each list (default "none")
    options: options of the loss. help(Objective("lambdarank")) lists them, and moonrank.help("mr.losses.lambdarank")
             is the reference text of the loss

    Losses of pairs and of single rows have second derivatives of their own. For other losses, a list's first
    derivatives have the root mean square 1 times the slope of the bound, and its second derivatives are that slope.
    Weights of the Dataset, one per row, multiply both. An unknown name or option raises MoonrankError.

    >>> Objective("lambdarank", bound="minmax").bound
    'minmax'
    """

    __doc__ = _losses.Documentation(__doc__)  # type: ignore[assignment]

    @named_by_class
    def __call__(self, predictions: np.ndarray, data: Any, weights: np.ndarray | None = None,
                 group: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Returns first and second derivatives, [rows] float64 each. `predictions` has the scores, [rows].

        LightGBM's scikit-learn interface counts the arguments of this function and passes four: those of `ranker`.
        """
        if isinstance(data, np.ndarray):
            return self.ranker(predictions, data, weights, group)
        kept = _trees.lists.of(data, _judged)
        return _trees.weighted(self.derivatives(predictions, kept), data.get_weight(), _judged(data)[1])

    @named_by_class
    def ranker(self, grades: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None,
               group: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """The objective with the arguments that `LGBMRanker(objective=...)` passes."""
        kept = _kept(grades, group)
        return _trees.weighted(self.derivatives(predictions, kept), weights, np.asarray(group))


class Metric(_trees.Metrics):
    """An evaluation function for `lightgbm.train(..., feval=)` and for `LGBMRanker.fit(..., eval_metric=)`: means of
    exact metrics over lists.

    metrics: names such as "ndcg@10", pairs of a metric and a bound such as ("ap", "minmax"), or a list of both
    options: ties, empty, relevant, gain and denominator, as moonrank.evaluate takes them

    >>> Metric("ndcg@10", ("ap", "minmax")).names
    ['ndcg@10', 'ap[minmax]']
    """

    @named_by_class
    def __call__(self, predictions: np.ndarray, data: Any, weights: np.ndarray | None = None,
                 group: np.ndarray | None = None) -> list[tuple[str, float, bool]]:
        """Returns name, mean and whether larger values are better. `predictions` has the scores, [rows].

        LightGBM's scikit-learn interface counts the arguments of this function and passes four: those of `ranker`.
        """
        if isinstance(data, np.ndarray):
            return self.ranker(predictions, data, weights, group)
        return self._rows(self.means(predictions, _trees.lists.of(data, _judged)))

    @named_by_class
    def ranker(self, grades: np.ndarray, predictions: np.ndarray, weights: np.ndarray | None,
               group: np.ndarray | None) -> list[tuple[str, float, bool]]:
        """The evaluation function with the arguments that `LGBMRanker.fit(eval_metric=)` passes. Ignores weights."""
        return self._rows(self.means(predictions, _kept(grades, group)))

    def _rows(self, means: list[tuple[str, float]]) -> list[tuple[str, float, bool]]:
        return [(name, mean, larger) for (name, mean), larger in zip(means, self.larger_is_better)]
