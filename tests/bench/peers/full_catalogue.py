# nDCG, AP and recall at 20 of factors for the full catalogue by recometrics: seconds of every evaluation, input already in the library's own form.
# Usage: full_catalogue.py USERS ITEMS TRAIN TEST FACTORS THREADS REPEATS
import os
import sys
import time

import numpy as np
import recometrics
import scipy.sparse

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter
users, items, train, test, factors, threads, repeats = map(int, sys.argv[1:8])
random = np.random.default_rng(1)


def part(each):
    rows, columns = np.repeat(np.arange(users), each), random.integers(0, items, users * each)
    matrix = scipy.sparse.csr_matrix((np.ones(users * each, np.float32), (rows, columns)), shape=(users, items))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


known, wanted = part(train), part(test)
p = random.uniform(-0.01, 0.01, (users, factors)).astype(np.float32)
q = random.uniform(-0.01, 0.01, (items, factors)).astype(np.float32)


def evaluate():
    recometrics.calc_reco_metrics(known, wanted, p, q, k=20, nthreads=threads, all_metrics=False, precision=False, trunc_precision=False,
                                  recall=True, average_precision=True, trunc_average_precision=False, ndcg=True, hit=False, rr=False,
                                  roc_auc=False, pr_auc=False)


evaluate()
for _ in range(repeats):
    start = clock()
    evaluate()
    print(clock() - start, flush=True)
