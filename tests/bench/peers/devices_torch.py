"""The works of tests/bench/devices.lua in PyTorch, compiled, on its GPU: a line "name<tab>median seconds" for each. Usage: devices_torch.py REPEATS."""
import statistics
import sys
import time

import torch
from interactions_torch import stepper

repeats = int(sys.argv[1])
device = torch.device("cuda")
lists, rows, width = 4096, 256, 32


def report(name, work):
    times = []
    for i in range(repeats + 3):
        started = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if i >= 3:
            times.append(time.perf_counter() - started)
    print(f"{name}\t{statistics.median(times):.9f}", flush=True)


def smooth_ranks(scores):
    return 0.5 + torch.sigmoid(scores.unsqueeze(1) - scores.unsqueeze(2)).sum(2)


def smooth_ndcg(scores, relevance):
    gains = (2**relevance - 1) / torch.log2(1 + smooth_ranks(scores))
    return gains.sum(1)


def smooth_ap(scores, relevance):
    above = torch.sigmoid(scores.unsqueeze(1) - scores.unsqueeze(2))
    ranks = 0.5 + above.sum(2)
    among = 0.5 + (above * relevance.unsqueeze(1)).sum(2)
    return (relevance * among / ranks).sum(1) / relevance.sum(1)


def factor_scores(users, items, user_of, item_of):
    return (users[user_of] * items[item_of]).sum(1)


def main():
    torch.manual_seed(1)
    x = torch.zeros(1 << 28, device=device)
    report("copy 1 GiB", x.clone)
    del x
    a = torch.randn(8192, 8192, device=device)
    report("product 8192", lambda: a @ a)
    users, items = torch.randn(lists, width, device=device), torch.randn(20000, width, device=device)
    user_of = torch.arange(lists, device=device).repeat_interleave(rows)
    item_of = torch.randint(20000, (lists * rows,), device=device)
    compiled = torch.compile(factor_scores)
    report("factor scores", lambda: compiled(users, items, user_of, item_of))
    layer = torch.compile(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).to(device))
    features = torch.randn(1 << 18, 64, device=device)
    with torch.no_grad():
        report("layer 262144 x 64", lambda: layer(features))
    parameter = torch.zeros(1 << 26, device=device, requires_grad=True)
    parameter.grad = torch.ones_like(parameter)
    adam = torch.optim.Adam([parameter], fused=True)
    report("Adam 67 million", adam.step)
    scores = torch.randn(lists, rows, device=device)
    relevance = ((torch.arange(rows, device=device) + 1) % 8 == 0).float().expand(lists, rows)
    ndcg, ap = torch.compile(smooth_ndcg), torch.compile(smooth_ap)
    report("smooth nDCG 4096 x 256", lambda: ndcg(scores, relevance))
    leaf = scores.clone().requires_grad_()

    def step():
        leaf.grad = None
        (-ap(leaf, relevance)).sum().backward()

    report("smooth AP, step 4096 x 256", step)
    long = torch.randn(lists, 1024, device=device)
    report("exact order 4096 x 1024", lambda: torch.sort(long, dim=1, descending=True, stable=True))
    del long
    for form in ["gathered", "product"]:
        train = stepper(form, 1000, 29858, 40988, 64, 0.2, device="cuda")
        user, item = torch.randint(29858, (1024,), device=device), torch.randint(40988, (1024, 1), device=device)
        report(f"SL {form}", lambda: train(user, item))


if torch.cuda.is_available():
    print(f"version\t{torch.__version__}", flush=True)
    main()
