# Trains matrix factorisation with cosine scores in PyTorch, by the softmax loss SL over sampled negatives and Adam.
# Negatives are drawn among all items. After a warm-up, prints the seconds of each measurement; a measurement has STEPS
# training steps.
# FORM: "gathered" gathers the vectors of all negatives, as published programs do; "product" computes the scores of all
# items by one matrix product and takes those of the negatives.
# Usage: interactions_torch.py FORM THREADS STEPS MEASUREMENTS BATCH NEGATIVES USERS ITEMS FACTORS TAU
import os
import sys
import time

import torch
import torch.nn.functional as F


def stepper(form, negatives, users, items, factors, tau, device="cpu"):
    """Returns a function of users {b} and items {b, 1} that makes one step. On a GPU the loss is compiled."""
    torch.manual_seed(1)
    of_users, of_items = torch.nn.Embedding(users, factors, device=device), torch.nn.Embedding(items, factors, device=device)
    optimizer = torch.optim.Adam([of_users.weight, of_items.weight], lr=0.1, fused=device != "cpu")

    def loss_of(all_users, all_items, user, chosen):
        left, right = F.normalize(all_users, dim=1)[user], F.normalize(all_items, dim=1)
        if form == "gathered":
            scores = torch.matmul(right[chosen], left.unsqueeze(-1)).squeeze(-1)
        else:
            scores = (left @ right.t()).gather(1, chosen)
        return torch.logsumexp((scores[:, 1:] - scores[:, :1]) / tau, 1).mean()

    loss_of = loss_of if device == "cpu" else torch.compile(loss_of)

    def step(user, item):
        chosen = torch.cat([item, torch.randint(items, (len(user), negatives), device=device)], 1)
        optimizer.zero_grad()
        loss_of(of_users.weight, of_items.weight, user, chosen).backward()
        optimizer.step()

    return step


def main():
    clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter
    threads, steps, measurements, batch, negatives, users, items, factors = map(int, sys.argv[2:10])
    torch.set_num_threads(threads)
    step = stepper(sys.argv[1], negatives, users, items, factors, float(sys.argv[10]))
    for measurement in range(measurements + 1):
        before = clock()
        for _ in range(steps):
            step(torch.randint(users, (batch,)), torch.randint(items, (batch, 1)))
        if measurement > 0:
            print(clock() - before, flush=True)


if __name__ == "__main__":
    main()
