# Measures one step (value and derivative with respect to scores) of smooth AP as PyTorch users write it. Lists have N
# rows, and every second row is relevant. Prints N and the seconds per list of every run.
# FORM: "padded" computes an N x N sigmoid for all lists at once; "lists" one list after the other; "relevant" one list
# after the other, with one P x N sigmoid for its P relevant rows. "approxndcg" and "neuralndcg" are allRank's losses.
# The suffix " compiled" runs the loss through torch.compile.
# Usage: kernels_torch.py FORM THREADS REPEATS N,N,...
import os
import sys
import time

import torch

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter

form, threads, repeats = sys.argv[1].split()[0], int(sys.argv[2]), int(sys.argv[3])
compiled = sys.argv[1].endswith(" compiled")
sizes = [int(n) for n in sys.argv[4].split(",")]
torch.set_num_threads(threads)
torch.manual_seed(1)
longest = 20.0  # seconds after which no further run is begun

if form in ("approxndcg", "neuralndcg"):
    from allrank_losses import losses

    loss = losses.approxNDCGLoss if form == "approxndcg" else losses.neuralNDCG
    if compiled:
        loss = torch.compile(loss, dynamic=True)
else:

    def smooth_ap(scores, relevance):
        sigmoids = torch.sigmoid(scores.unsqueeze(-2) - scores.unsqueeze(-1))
        ranks = sigmoids.sum(-1) + 0.5
        among = torch.matmul(sigmoids, relevance.unsqueeze(-1)).squeeze(-1) + 1 - 0.5 * relevance
        return -(relevance * among / ranks).sum(-1) / relevance.sum(-1)

    def relevant_ap(scores, of, relevance):
        sigmoids = torch.sigmoid(scores.unsqueeze(0) - scores[of].unsqueeze(1))
        return -((sigmoids @ relevance + 0.5) / (sigmoids.sum(1) + 0.5)).sum() / len(of)

    if compiled:
        smooth_ap, relevant_ap = (torch.compile(f, dynamic=True) for f in (smooth_ap, relevant_ap))

    def loss(scores, relevance):
        if form == "lists":
            return torch.stack([smooth_ap(s, y) for s, y in zip(scores, relevance)]).mean()
        if form == "relevant":
            return torch.stack([relevant_ap(s, torch.nonzero(y).squeeze(1), y) for s, y in zip(scores, relevance)]).mean()
        return smooth_ap(scores, relevance).mean()


for n in sizes:
    lists = max(1, 4096 // n)
    scores = torch.randn(lists, n, requires_grad=True)
    relevance = (torch.arange(n) % 2 == 0).float().repeat(lists, 1)
    began = clock()
    for run in range(repeats + 1):
        start = clock()
        scores.grad = None
        loss(scores, relevance).backward()
        if run > 0:  # the first run is a warm-up
            print(n, (clock() - start) / lists, flush=True)
        if run > 0 and clock() - began > longest:
            break
