"""A kept loss and its gradient on arrays of NumPy, without PyTorch."""

import numpy as np

from moonrank import _library


def differentiated(loss, scores, given, reduction, gradient=True):
    """Returns the value and the gradient of a kept loss, as arrays. Under "none", values are summed for the gradient."""
    rows, count = len(scores), len(given["sizes"])
    values, of_scores, ones = (np.ones(n, scores.dtype) for n in (count if reduction == "none" else 1, rows, count))
    _library.step(loss.number, 0, rows, count, given["grades"].ctypes.data, given["sizes"].ctypes.data, scores,
                  scores.ctypes.data, int(scores.dtype == np.float64), 0, 0, ("mean", "sum", "none").index(reduction),
                  values.ctypes.data, of_scores.ctypes.data if gradient else 0, ones.ctypes.data)
    return values, of_scores
