"""Moonrank's losses for PyTorch, under every bound, on ragged lists.

>>> import torch, moonrank.torch
>>> loss = moonrank.torch.Loss("ndcg", bound="expectation")
>>> scores = torch.tensor([3., 2., 1.], requires_grad=True)
>>> loss(scores, torch.tensor([0., 1., 0.]), torch.tensor([3])).backward()
>>> scores.grad.shape
torch.Size([3])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from moonrank import _library, _lists, _losses
from moonrank._calls import Named
from moonrank._library import MoonrankError
from moonrank._names import Bound, Reduction, TorchLoss

__all__ = ["Loss"]


_REDUCTIONS = {"mean": 0, "sum": 1, "none": 2}

# keeps torch.compile from tracing into the loss: the loss is called as it is
_not_compiled = getattr(getattr(torch, "compiler", None), "disable", lambda function: function)


class _Once(torch.autograd.Function):
    """The identity of a gradient, which raises an error where a second derivative is asked for."""

    @staticmethod
    def forward(context, gradient, *_):
        return gradient.view_as(gradient)

    @staticmethod
    def backward(context, *_):
        raise MoonrankError("a second derivative of moonrank.torch.Loss is asked for, but the loss has first derivatives "
                            "only. Use the gradient as a constant: gradient.detach(), or create_graph=False")


def _saved(tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor on the same memory, which stays valid if the caller gives the tensor other memory. Tensors of
    inference mode are copied, because PyTorch does not save them."""
    return tensor.clone() if tensor.is_inference() else tensor.detach()


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(context, scores, learned, loss, given, wanted):
        # With one value per list (reduction "none"), the gradient depends on the weights of the values, which only the
        # backward pass knows. Otherwise the gradient is computed together with the value.
        at_once = wanted and loss.reduction != "none"
        found = loss._compute(scores, learned, given, at_once)
        context.loss, context.drawn, context.numbers = loss, found.drawn, found.numbers
        context.inputs = scores, learned
        if at_once:
            context.save_for_backward(found.gradient, found.of_learned)
        else:  # the backward pass reads the lists again; PyTorch checks that saved tensors were not modified since
            context.given = given
            context.save_for_backward(scores, *map(_saved, given.tensors))
        return found.values

    @staticmethod
    def backward(context, output):  # pyright: ignore[reportIncompatibleMethodOverride]
        saved = context.saved_tensors
        with torch.no_grad():
            if context.loss.reduction == "none":
                given = context.given
                if given.tensors:
                    given = given._replace(grades=saved[1].data_ptr(), sizes=saved[2].data_ptr(), tensors=saved[1:])
                found = context.loss._compute(saved[0], None, given, True, output, context.drawn, context.numbers)
                both = found.gradient, found.of_learned
            else:
                both = saved[0] * output, None if saved[1] is None else saved[1] * output
        if not torch.is_grad_enabled():
            context.inputs = None  # otherwise a value that the caller keeps would keep the scores
        elif context.inputs is None:
            raise MoonrankError("a backward pass of moonrank.torch.Loss with create_graph=True comes after one without "
                                "it. Pass create_graph=True in the first one, too")
        else:
            both = tuple(each if each is None else _Once.apply(each, output, *context.inputs) for each in both)
        return both[0], both[1], None, None, None


class _Found(NamedTuple):
    values: torch.Tensor
    gradient: torch.Tensor | None
    of_learned: torch.Tensor | None  # gradient of the loss's learned parameters
    numbers: torch.Tensor | None  # the learned parameters in float64
    drawn: int


class _Given(NamedTuple):
    """Judged lists and weights as addresses, and the arrays in `holds` or `tensors` to which they belong."""

    lists: int  # number of the lists' object in the library, or 0
    rows: int
    list_count: int
    grades: int
    sizes: int
    row_weights: int
    list_weights: int
    holds: tuple[Any, ...] = ()
    tensors: tuple[torch.Tensor, ...] = ()  # grades and sizes, or nothing


def _weights(name: str, weights: Any, size: int, what: str, read_again: bool) -> np.ndarray | None:
    if weights is None:
        return None
    array = _library.as_array(name, weights, (np.float64,), dims=1)
    if array.size != size:
        raise MoonrankError(f"{name} has {array.size} numbers, but there are {size} {what}, expected equal numbers")
    return array.copy() if read_again else array


def _address(array: np.ndarray | None) -> int:
    return 0 if array is None else array.ctypes.data


def _given(grades: Any, sizes: Any, row_weights: Any, list_weights: Any, read_again: bool) -> _Given:
    """Returns the arguments of a loss. If the backward pass reads them again, arrays are copied, because the caller may
    change them until then."""
    if (isinstance(grades, torch.Tensor) and isinstance(sizes, torch.Tensor) and row_weights is None
            and list_weights is None and grades.dtype is torch.float32 and sizes.dtype is torch.int64
            and grades.is_cpu and sizes.is_cpu and grades.dim() == sizes.dim() == 1 and grades.is_contiguous()
            and sizes.is_contiguous()
            and not grades.is_neg()):  # these tensors are passed without a copy; the library checks their values
        return _Given(0, grades.numel(), sizes.numel(), grades.data_ptr(), sizes.data_ptr(), 0, 0,
                      tensors=(grades, sizes))
    judged = _lists.judged(grades, sizes)
    if read_again:
        judged.update((name, array.copy()) for name, array in judged.items() if isinstance(array, np.ndarray))
    own, lengths, kept = judged.get("grades"), judged["sizes"], judged.holds
    rows = len(judged["grades"] if kept is None else kept.grades)
    of_rows = _weights("weights", row_weights, rows, "rows", read_again)
    of_lists = _weights("list_weights", list_weights, len(lengths), "lists", read_again)
    return _Given(judged.get("lists", 0), rows, len(lengths), _address(own), _address(lengths), _address(of_rows),
                  _address(of_lists), holds=(judged, of_rows, of_lists))


def _refuse_gradients(**given: Any) -> None:
    for name, each in given.items():
        if isinstance(each, torch.Tensor) and each.requires_grad:
            raise MoonrankError(f"{name} requires a gradient, but a loss of Moonrank is differentiated by its scores "
                                f"only. Pass {name}.detach()")


def _readable(scores: torch.Tensor) -> torch.Tensor:
    """Returns scores as the library reads them: in the memory of the CPU, as float32 or float64."""
    if scores.dtype is not torch.float32 and scores.dtype is not torch.float64:
        scores = scores.float()
    return scores.cpu().contiguous().resolve_neg()


class Loss(TorchLoss, torch.nn.Module):
    """A loss of Moonrank as a differentiable function of scores, to be minimized.

    name:      name of the loss, such as "ndcg", "lambdarank" or "softmax_cross_entropy" (moonrank.names()["losses"])
    bound:     name of the bound that rescales each list (default "none")
    reduction: "mean" over the lists that count (default), "sum", or "none": a value per list
    options:   options of the loss, such as Loss("nrbp", steepness=2). help(Loss("nrbp")) lists them, and
               moonrank.help("mr.losses.nrbp") is the reference text of the loss

    An unknown name or option, and arrays of wrong shapes, raise MoonrankError. The lists are never padded. Scores of
    float32 or float64 in the memory of the CPU are read in place; scores on a GPU are copied. The loss is computed
    with all threads of Moonrank, while other Python threads run. A second derivative raises MoonrankError, and the
    transforms of torch.func, such as grad and vmap, are not possible.

    A loss with parameters of its own, such as "llpauc" or Loss("ordinal", learn=True), has them in `learned` and
    `parameters()`, so that an optimizer can train them with those of the model. Each call first moves them into their
    ranges. The gradient of "llpauc" has the opposite sign for the parameters p and gamma, because training maximizes
    over them (ascent=False: it does not). Losses without such parameters have `learned` None.

    Losses that draw, such as "bpr", use Moonrank's random numbers, which `moonrank.lua("mr.seed(1)")` starts
    again. They draw again in each call, so they do not belong into torch.utils.checkpoint, which calls them twice.

    >>> Loss("ap", bound="minmax", reduction="none")(torch.tensor([2., 1.]), [1, 0], [2]).shape
    torch.Size([1])
    """

    __doc__ = _losses.Documentation(__doc__, learns=True)  # type: ignore[assignment]

    @Named("moonrank.torch.Loss")
    def _make(self, name: str, bound: Bound | str, reduction: Reduction, options: dict[str, Any]) -> None:
        torch.nn.Module.__init__(self)
        if not isinstance(reduction, str) or reduction not in _REDUCTIONS:
            raise MoonrankError(f"reduction is {reduction!r}, expected 'mean', 'sum' or 'none'")
        self.name, self.bound, self.reduction = name, bound, reduction
        self._loss = _losses.kept(name, bound, options, learns=True)
        own = self._loss.reply.get("parameters")
        self.learned = None if own is None else torch.nn.Parameter(torch.tensor(own, dtype=torch.get_default_dtype()))

    @_not_compiled
    @Named("moonrank.torch.Loss")
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

        Only scores get a gradient: grades and weights that require one raise MoonrankError.

        Returns a number, or [lists] numbers if the reduction is "none", in the type of the scores.
        """
        if not isinstance(scores, torch.Tensor):
            raise MoonrankError(f"scores is a {type(scores).__name__}, expected a tensor of PyTorch")
        if not scores.dtype.is_floating_point:
            raise MoonrankError(f"scores has the type {scores.dtype}, expected floating point")
        if scores.layout is not torch.strided or scores.is_nested or scores.is_meta:
            raise MoonrankError(f"scores is {'a meta' if scores.is_meta else 'a sparse or nested'} tensor, expected a "
                                "dense one with data")
        has_graph = torch.is_grad_enabled()
        if has_graph:
            _refuse_gradients(grades=grades, weights=weights, list_weights=list_weights)
        scores = scores.squeeze(1) if scores.dim() == 2 and scores.shape[1] == 1 else scores
        learned = self.learned
        wanted = has_graph and (scores.requires_grad or learned is not None and learned.requires_grad)
        given = _given(grades, sizes, weights, list_weights, wanted and self.reduction == "none")
        if scores.dim() != 1 or scores.numel() != given.rows:
            self._refuse(scores, grades, sizes)
        try:
            return _Function.apply(scores, learned, self, given, wanted)
        except MoonrankError:
            self._refuse(scores, grades, sizes)
            raise

    def extra_repr(self) -> str:
        return f"{self.name!r}, bound={self.bound!r}, reduction={self.reduction!r}"

    def _refuse(self, scores: torch.Tensor, grades: Any, sizes: Any) -> None:
        """Raises an error if arguments do not fit together, with the words of the other functions of Moonrank."""
        _lists.scores_of("scores", scores, _lists.judged(grades, sizes)["sizes"])

    def _compute(self, scores: torch.Tensor, learned: torch.Tensor | None, given: _Given, wanted: bool,
                 upstream: torch.Tensor | None = None, drawn: int = -1, numbers: torch.Tensor | None = None) -> _Found:
        x = _readable(scores)
        values = x.new_empty(given.list_count if self.reduction == "none" else ())
        gradient = torch.empty_like(x) if wanted else None
        weights = upstream if upstream is None else upstream.to(x.device, x.dtype).contiguous()
        own, of_own, before = (0, 0, 0), None, None
        if learned is not None:
            before = learned.detach()
            numbers = before.to("cpu", torch.float64, copy=True)
        if numbers is not None:
            of_own = torch.zeros_like(numbers)
            own = numbers.data_ptr(), of_own.data_ptr(), numbers.numel()
        drawn = _library.step(
            self._loss.number, given.lists, given.rows, given.list_count, given.grades, given.sizes, x, x.data_ptr(),
            0 if x.dtype is torch.float32 else 1, given.row_weights, given.list_weights, _REDUCTIONS[self.reduction],
            values.data_ptr(), 0 if gradient is None else gradient.data_ptr(),
            0 if weights is None else weights.data_ptr(), *own, drawn)
        if before is not None and numbers is not None and not torch.equal(before.to("cpu", torch.float64), numbers):
            before.copy_(numbers)  # the loss has clamped its parameters to their ranges
        if x is not scores:
            values = values.to(scores.device, scores.dtype)
            gradient = gradient if gradient is None else gradient.to(scores.device, scores.dtype)
        return _Found(values, gradient, of_own if wanted else None, numbers, drawn)
