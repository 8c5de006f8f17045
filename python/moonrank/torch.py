"""Moonrank's losses for PyTorch, under every bound, on ragged lists.

>>> import torch, moonrank.torch
>>> loss = moonrank.torch.Loss("ndcg", bound="expectation")
>>> scores = torch.tensor([3., 2., 1.], requires_grad=True)
>>> loss(scores, torch.tensor([0., 1., 0.]), torch.tensor([3])).backward()
>>> scores.grad.shape
torch.Size([3])
"""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import ArrayLike

from moonrank import _library, _lists, _losses
from moonrank._library import MoonrankError
from moonrank._names import Bound, Reduction, TorchLoss

__all__ = ["Loss"]


# torch.compile calls the loss as it is
_not_compiled = getattr(getattr(torch, "compiler", None), "disable", lambda function: function)


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(context, scores, loss, given, wanted):
        # The gradient of a value per list depends on the weights of the values, which only the backward pass knows.
        at_once = wanted and loss.reduction != "none"
        found = loss._compute(scores, given, gradient=at_once)
        context.loss, context.given, context.drawn = loss, given, found["drawn"]
        context.save_for_backward(found["gradient"] if at_once else scores)
        return found["value"]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, output):  # pyright: ignore[reportIncompatibleMethodOverride]
        saved, = context.saved_tensors
        if context.loss.reduction == "none":
            found = context.loss._compute(saved, context.given, gradient=True, weights=output, drawn=context.drawn)
            return found["gradient"], None, None, None
        return saved * output, None, None, None


class Loss(TorchLoss, torch.nn.Module):
    """A loss of Moonrank as a differentiable function of scores, to be minimized.

    name:      name of the loss, such as "ndcg", "lambdarank" or "softmax_cross_entropy" (moonrank.names()["losses"])
    bound:     name of the bound that rescales each list (default "none")
    reduction: "mean" over the lists that count (default), "sum", or "none": a value per list
    options:   options of the loss, such as Loss("nrbp", steepness=2). help(Loss("nrbp")) lists them, and
               moonrank.help("mr.losses.nrbp") is the reference text of the loss

    An unknown name or option, and arrays of wrong shapes, raise MoonrankError. The lists are never padded. Scores of
    float32 or float64 in the memory of the CPU are read in place; scores on a GPU are copied. The loss is computed
    with all threads of Moonrank, while other Python threads run. Second derivatives are not available.

    Losses that draw, such as "bpr", use Moonrank's random numbers, which `moonrank.lua("mr.seed(1)")` starts
    again.

    >>> Loss("ap", bound="minmax", reduction="none")(torch.tensor([2., 1.]), [1, 0], [2]).shape
    torch.Size([1])
    """

    __doc__ = _losses.Documentation(__doc__)  # type: ignore[assignment]

    def _make(self, name: str, bound: Bound | str, reduction: Reduction, options: dict[str, Any]) -> None:
        torch.nn.Module.__init__(self)
        if reduction not in ("mean", "sum", "none"):
            raise MoonrankError(f"reduction is {reduction!r}, expected 'mean', 'sum' or 'none'")
        self.name, self.bound, self.reduction = name, bound, reduction
        self._loss = _losses.kept(name, bound, options)

    @_not_compiled
    def forward(self, scores: torch.Tensor, grades: torch.Tensor | _lists.Grades,
                sizes: torch.Tensor | ArrayLike | None = None, *, weights: torch.Tensor | ArrayLike | None = None,
                list_weights: torch.Tensor | ArrayLike | None = None) -> torch.Tensor:
        """Computes the loss.

        scores: [rows] or [rows, 1] tensor
        grades: [rows] numbers from 0 up (1 or more is relevant), an Arrow array of lists, or lists made by
                moonrank.lists, which are not read again in each call
        sizes:  [lists] number of rows of each list; left out if grades has lists
        weights: [rows] weight of each row in the loss of its list, 0 or more
        list_weights: [lists] weight of each list under the reductions "mean" and "sum", 0 or more

        Returns a number, or [lists] numbers if the reduction is "none", in the type of the scores.
        """
        if not isinstance(scores, torch.Tensor):
            raise MoonrankError(f"scores is a {type(scores).__name__}, expected a tensor of PyTorch")
        if not scores.dtype.is_floating_point:
            raise MoonrankError(f"scores has the type {scores.dtype}, expected floating point")
        scores = scores.squeeze(1) if scores.dim() == 2 and scores.shape[1] == 1 else scores
        given = _lists.judged(grades, sizes, None, weights, list_weights)
        return _Function.apply(scores, self, given, scores.requires_grad and torch.is_grad_enabled())

    def extra_repr(self) -> str:
        return f"{self.name!r}, bound={self.bound!r}, reduction={self.reduction!r}"

    def _compute(self, scores: torch.Tensor, given: _lists.Judged, gradient: bool,
                 weights: torch.Tensor | None = None, drawn: int | None = None) -> dict[str, Any]:
        value = {"loss": self._loss.number, "scores": _lists.scores_of("scores", scores, given["sizes"]),
                 "reduction": self.reduction, "gradient": gradient, "draw_again": drawn, **given}
        if weights is not None:
            value["weights"] = _library.as_array("weights", weights)
        found = _library.call("loss_values", value)
        for key in found.keys() - {"drawn"}:
            found[key] = torch.from_numpy(found[key]).to(scores.device, scores.dtype)
        return found
