# Samples the distribution of a metric over random rankings (Westerborg 2022, Algorithm 1) as a Python user would write
# it with NumPy: in a loop over permutations. Prints the seconds that `samples` permutations take.
# Usage: sampled_distribution.py METRIC N P SAMPLES
import os
import sys
import time

import numpy as np

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter

metric, n, p, samples = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
random = np.random.default_rng(1)
relevance = np.zeros(n)
relevance[:p] = 1
ranks = np.arange(1, n + 1)
discount = 1 / np.log2(ranks + 1)
ideal = discount[:p].sum()


def value(order):
    if metric == "ndcg":
        return (order * discount).sum() / ideal
    if metric == "ap":
        return (np.cumsum(order) / ranks * order).sum() / p
    return (order * (ranks - 1)).sum() - p * (p - 1) / 2


start = clock()
values = np.array([value(random.permutation(relevance)) for _ in range(samples)])
unique, counts = np.unique(values, return_counts=True)
print(clock() - start)
