# Measures one step (value and derivative with respect to scores) of a loss over random rankings of LISTS lists of ROWS
# rows, as PyTorch users write it for all lists and rankings at once. Prints the seconds of every run.
# LOSS: "pl_rank" is PL-Rank-3 (Oosterhuis 2022) by cumulative sums; "policy_gradient" differentiates log probabilities
# automatically, with the mean of the other rankings as baseline.
# PATH holds float32 numbers from Moonrank: the scores, the grades, the derivative, and the sum of the loss over lists,
# from MORE times SAMPLES rankings.
# Usage: rankings_torch.py LOSS K PATH LISTS ROWS SAMPLES THREADS REPEATS MORE
import os
import sys
import time

import torch

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter
name, cutoff, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
count, rows, samples, threads, repeats, more = map(int, sys.argv[4:10])
torch.set_num_threads(threads)
torch.manual_seed(1)
numbers = torch.frombuffer(bytearray(open(path, "rb").read()), dtype=torch.float32)
size = count * rows
scores, grades, slopes = (numbers[k * size : (k + 1) * size].reshape(count, rows).clone() for k in range(3))
scores.requires_grad_()
ranks = torch.arange(rows)
discounts = (ranks < cutoff) / torch.log2(ranks + 2.0)
gains = torch.exp2(grades) - 1
gains = gains / (gains.sort(dim=1, descending=True).values * discounts).sum(1, keepdim=True)


def drawn(s):
    """The rows by rank of random rankings, [rankings, lists, rows], and their scores."""
    noise = -torch.log(-torch.log(torch.rand(samples, count, rows).clamp_min(1e-30)))
    order = (s.detach() + noise).argsort(dim=2, descending=True)
    return order, torch.gather(s.expand(samples, -1, -1), 2, order)


def from_the_last(x):
    return x.flip(2).cumsum(2).flip(2)


def pl_rank(s):
    with torch.no_grad():
        order, f = drawn(s)
        e = torch.exp(f - s.max(dim=1, keepdim=True).values)
        left = from_the_last(e)
        gain = torch.gather(gains.expand(samples, -1, -1), 2, order)
        terms = gain * discounts
        rest = from_the_last(terms)
        within = (ranks < cutoff).float()
        slope = rest - terms + e * (gain * (discounts / left).cumsum(2) - (rest * within / left).cumsum(2))
        mean = torch.zeros(samples, count, rows).scatter_(2, order, slope).mean(0)
        value = -terms.sum(2).mean(0).sum()
    return value, -(s * mean).sum()


def policy_gradient(s):
    order, f = drawn(s)
    gain = torch.gather(gains.expand(samples, -1, -1), 2, order)
    values = (gain * discounts).sum(2)
    log = (f - f.flip(2).logcumsumexp(2).flip(2))[..., :cutoff].sum(2)
    weights = (values - values.mean(0)) / (samples - 1)
    return -values.mean(0).sum(), -(weights.detach() * log).sum()


def step():
    scores.grad = None
    value, made = {"pl_rank": pl_rank, "policy_gradient": policy_gradient}[name](scores)
    made.backward()
    return value.item()


def agree(total):
    """Means of as many rankings as the other program's numbers come from."""
    value, mean = 0, torch.zeros_like(slopes)
    for _ in range(more):
        value += step() / more
        mean += scores.grad / more
    if not abs(value - total) <= 0.02 * abs(total):
        raise ValueError(f"the value is {value:.6g}, not {total:.6g}")
    if cutoff >= rows:
        return  # without a cutoff, derivatives are not compared: their sampling error is larger than they are
    alike = (torch.dot(mean.flatten(), slopes.flatten()) / (mean.norm() * slopes.norm())).item()
    if not alike >= 0.5:
        raise ValueError(f"the cosine of the derivatives is {alike:.2g}")


agree(numbers[-1].item())
for _ in range(repeats):
    start = clock()
    step()
    print(clock() - start, flush=True)
