"""Smooth ranks of one list and their derivative by torchsort. Usage: soft_rank.py torchsort rows=222472"""
import turns  # noqa: I001 (sets the number of threads first)
import torch
import torchsort

torch.set_num_threads(1)
torch.manual_seed(1)
_, o = turns.options()
scores = torch.randn(1, o["rows"], requires_grad=True)
weights = torch.randn(1, o["rows"])


def work():
    scores.grad = None
    (torchsort.soft_rank(scores, regularization="l2") * weights).sum().backward()


turns.take(work)
