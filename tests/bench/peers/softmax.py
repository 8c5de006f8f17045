"""An epoch of matrix factorisation with the softmax loss SL in PyTorch, in batches of interactions with sampled negatives
(interactions_torch.py says in which forms). The file `path` has a line for each interaction: user, item.
Usage: softmax.py product|gathered path=FILE users=1974 items=1200 factors=64 batch=1024 negatives=1000 tau=0.2"""
import turns  # noqa: I001 (sets the number of threads first)
import interactions_torch
import numpy as np
import torch

torch.set_num_threads(1)
form, o = turns.options()
pairs = torch.from_numpy(np.loadtxt(o["path"], dtype=np.int64)) - 1
step = interactions_torch.stepper(form, o["negatives"], o["users"], o["items"], o["factors"], float(o["tau"]))


def epoch():
    for rows in torch.randperm(len(pairs)).split(o["batch"]):
        step(pairs[rows, 0], pairs[rows, 1:])


turns.take(epoch)
