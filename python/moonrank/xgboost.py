"""Moonrank's losses and metrics for XGBoost (2.0 or later), under every bound.

```python
import xgboost, moonrank.xgboost

dtrain = xgboost.DMatrix(x, label=grades, qid=qid)
xgboost.train({"disable_default_eval_metric": True}, dtrain, evals=[(dtrain, "train")],
              obj=moonrank.xgboost.Objective("ndcg", bound="expectation"),
              custom_metric=moonrank.xgboost.Metric("ndcg@10"))
```

Labels are grades from 0 up; a grade of 1 or more is relevant. The lists are the groups of the DMatrix (`qid=`,
`group=` or `set_group`). `XGBRanker` of XGBoost does not take an objective of a user.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from moonrank import _losses, _trees
from moonrank._calls import named_by_class
from moonrank._library import MoonrankError

__all__ = ["Metric", "Objective"]


def _judged(data: Any) -> tuple[np.ndarray, np.ndarray]:
    _trees.check_type(data, ["get_uint_info", "get_label", "get_weight"],
                      "an xgboost.DMatrix. Call xgboost.train, because XGBoost's scikit-learn classes pass arrays")
    ends = np.asarray(data.get_uint_info("group_ptr"), np.int64)
    if ends.size == 0:
        raise MoonrankError("the DMatrix has no groups, expected qid or group: "
                            "xgboost.DMatrix(x, label=grades, qid=qid)")
    return _trees.labels_of(data, "xgboost.DMatrix(x, label=grades, qid=qid)", int(ends[-1])), np.diff(ends)


class Objective(_trees.Newton):
    """An objective for `xgboost.train(..., obj=)`: a loss under a bound, with first and second derivatives.

    name:    name of the loss, such as "ndcg" or "lambdarank" (moonrank.names()["losses"])
    bound:   name of the bound that rescales each list (default "none")
    options: options of the loss. help(Objective("lambdarank")) lists them, and moonrank.help("mr.losses.lambdarank")
             is the reference text of the loss

    Losses of pairs and of single rows have second derivatives of their own. For other losses, a list's first
    derivatives have the root mean square 1 times the slope of the bound, and its second derivatives are that slope.
    Weights of the DMatrix, one per list (or per row), multiply both. An unknown name or option raises MoonrankError.

    >>> Objective("lambdarank", bound="minmax").bound
    'minmax'
    """

    __doc__ = _losses.Documentation(__doc__)  # type: ignore[assignment]

    @named_by_class
    def __call__(self, predictions: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns first and second derivatives, [rows] float64 each. `predictions` has the scores, [rows]."""
        kept = _trees.lists.of(data, _judged)
        found = self.derivatives(predictions, kept)
        weights = data.get_weight()
        return _trees.weighted(found, weights, _judged(data)[1]) if len(weights) > 0 else found


class Metric(_trees.Metrics):
    """An evaluation function for `xgboost.train(..., custom_metric=)`: means of exact metrics over lists.

    metrics: names such as "ndcg@10", pairs of a metric and a bound such as ("ap", "minmax"), or a list of both
    options: ties, empty, relevant, gain and denominator, as moonrank.evaluate takes them

    Warning: for early stopping, pass `xgboost.callback.EarlyStopping(rounds=10, maximize=True)` as a callback, or
    `maximize=True` beside `early_stopping_rounds`. Without `maximize`, XGBoost takes the metric for a loss and stops
    at the worst model, unless the name begins with "ndcg", "map", "pre" or "auc". The name "map" is kept for this
    reason, but "ap", "rr" and "nrbp" need `maximize=True`. The attribute `maximize` is this boolean for the last of
    the metrics, by which XGBoost stops; `larger_is_better` is a list for all of them.

    >>> Metric("ndcg@10", ("ap", "minmax")).names
    ['ndcg@10', 'ap[minmax]']
    """

    @property
    def maximize(self) -> bool:
        return self.larger_is_better[-1]

    @named_by_class
    def __call__(self, predictions: np.ndarray, data: Any) -> list[tuple[str, float]]:
        """Returns names and means. `predictions` has the scores, [rows]."""
        return self.means(predictions, _trees.lists.of(data, _judged))
