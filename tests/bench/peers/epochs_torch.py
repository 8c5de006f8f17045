# Matrix factorisation trained with smooth metrics (Westerborg 2022, Eqs. 2.9 to 2.12), as a competent PyTorch user
# writes it: 32 factors, batches of 32 lists, Adam. Prints the seconds of every epoch after a warm-up of WARM batches,
# and the last epoch's mean loss.
# FORM: "padded" pads lists to the longest of the batch, with a mask and N x N sigmoids; "lists" computes one N x N
# sigmoid per list, without padding; "relevant" computes one P x N sigmoid per list, for its P relevant rows only. The
# suffix " compiled" runs the loss through torch.compile.
# DATA has one list per line: the user, then item:relevance for each row, counted from 1. With WIDTH > 0, a row has
# WIDTH features in single precision in the file DATA.features, and the model is a network with layers of WIDTH, WIDTH
# and 1 units.
# Usage: epochs_torch.py DATA LOSS FORM THREADS EPOCHS WARM FACTORS RATE WIDTH
import os
import sys
import time

import numpy
import torch
from torch.nn.utils.rnn import pad_sequence

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter

path, loss_name, form = sys.argv[1:4]
compiled, form = form.endswith(" compiled"), form.split()[0]
threads, epochs, warm, width = map(int, sys.argv[4:8])
rate = float(sys.argv[8])
inputs = int(sys.argv[9])
torch.set_num_threads(threads)
torch.manual_seed(1)

lists = []
with open(path) as file:
    for line in file:
        user, *rows = line.split()
        pairs = [row.split(":") for row in rows]
        lists.append((int(user) - 1, torch.tensor([int(i) - 1 for i, _ in pairs]), torch.tensor([float(y) for _, y in pairs])))

if inputs > 0:
    features = torch.from_numpy(numpy.fromfile(path + ".features", dtype=numpy.float32).reshape(-1, inputs))
    network = torch.nn.Sequential(torch.nn.Linear(inputs, inputs), torch.nn.ReLU(), torch.nn.Linear(inputs, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
else:
    users = torch.nn.Embedding(1 + max(u for u, _, _ in lists), width)
    items = torch.nn.Embedding(1 + max(int(i.max()) for _, i, _ in lists), width)
    for table in (users, items):
        torch.nn.init.uniform_(table.weight, -0.01, 0.01)
    optimizer = torch.optim.Adam([users.weight, items.weight], lr=rate)


def scores_of(user, chosen):
    """Scores of rows, which may be many users' (one more dimension)."""
    if inputs > 0:
        return network(features[chosen]).squeeze(-1)
    return torch.matmul(items(chosen), users(user).unsqueeze(-1)).squeeze(-1)


def smooth_metric(ranks, among, relevance, relevant, ideal):
    """One loss per list; the last dimension holds rows, and rows that are not there have relevance 0."""
    if loss_name == "ndcg":
        return -((torch.exp2(relevance) - 1) / torch.log2(ranks + 1)).sum(-1) / ideal.clamp(min=1e-9)
    count = relevant.sum(-1)
    if loss_name == "ap":
        return -(relevant * among / ranks).sum(-1) / count.clamp(min=1)
    return (relevant * (ranks - 1)).sum(-1) - count * (count - 1) / 2


def ideal_dcg(relevance):
    best = relevance.sort(dim=-1, descending=True).values
    return ((torch.exp2(best) - 1) / torch.log2(torch.arange(best.shape[-1]) + 2.0)).sum(-1)


def padded_loss(scores, mask, relevance, ideal):
    sigmoids = torch.sigmoid(scores.unsqueeze(1) - scores.unsqueeze(2))  # [lists, target, source]
    relevant = (relevance >= 1).to(scores.dtype)
    # a row's own sigmoid sigma(0) = 1/2 is in the sum, so the rank is the sum + 1/2
    ranks = torch.matmul(sigmoids, mask.unsqueeze(2)).squeeze(2) + 0.5
    among = torch.matmul(sigmoids, relevant.unsqueeze(2)).squeeze(2) + 1 - 0.5 * relevant if loss_name == "ap" else None
    return smooth_metric(ranks, among, relevance, relevant, ideal).mean()


def padded_step(batch):
    chosen = pad_sequence([i for _, i, _ in batch], batch_first=True)
    relevance = pad_sequence([y for _, _, y in batch], batch_first=True)
    mask = pad_sequence([torch.ones(len(y)) for _, _, y in batch], batch_first=True)
    scores = scores_of(torch.tensor([u for u, _, _ in batch]), chosen)
    return padded_loss(scores, mask, relevance, ideal_dcg(relevance))


def loss_of_rows(scores, of, relevance):
    """One list's loss, of its rows `of`."""
    relevant = (relevance >= 1).to(scores.dtype)
    sigmoids = torch.sigmoid(scores.unsqueeze(0) - scores[of].unsqueeze(1))
    among = sigmoids @ relevant + 1 - 0.5 * relevant[of] if loss_name == "ap" else None
    return smooth_metric(sigmoids.sum(1) + 0.5, among, relevance[of], relevant[of], ideal_dcg(relevance))


if compiled:
    padded_loss, loss_of_rows = (torch.compile(f, dynamic=True) for f in (padded_loss, loss_of_rows))


def list_loss(user, chosen, relevance):
    of = torch.nonzero(relevance > 0).squeeze(1) if form == "relevant" else torch.arange(len(relevance))
    return loss_of_rows(scores_of(torch.tensor(user), chosen), of, relevance)


def list_step(batch):
    return torch.stack([list_loss(*each) for each in batch]).mean()


def batches():
    order = torch.randperm(len(lists)).tolist()
    for at in range(0, len(order), 32):
        yield [lists[i] for i in order[at : at + 32]]


def step(batch):
    optimizer.zero_grad()
    loss = (list_step if form in ("lists", "relevant") else padded_step)(batch)
    loss.backward()
    optimizer.step()
    return loss.item() * len(batch)


for _, batch in zip(range(warm), batches()):
    step(batch)
for _ in range(epochs):
    start = clock()
    total = sum(step(batch) for batch in batches())
    print(clock() - start, flush=True)
print("loss", total / len(lists))
