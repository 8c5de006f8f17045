# Measures nDCG, AP, RR and, if asked for, RBP of lists of random scores by ranx or pytrec_eval (which has no RBP). The
# input is already in the library's own form. Prints the seconds of every evaluation.
# Usage: metrics.py ranx|pytrec_eval LISTS ROWS REPEATS THREADS RBP(yes|no)
import os
import sys
import time

import numpy as np

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter

library, lists, rows, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
random = np.random.default_rng(1)
relevance = (random.random((lists, rows)) < 0.1).astype(int)
relevance[:, 0] = 1
scores = random.standard_normal((lists, rows))
names = [str(i) for i in range(rows)]

if library == "ranx":
    import ranx

    qrels = ranx.Qrels({f"q{l}": {n: int(y) for n, y in zip(names, relevance[l]) if y} for l in range(lists)})
    run = ranx.Run({f"q{l}": dict(zip(names, map(float, scores[l]))) for l in range(lists)})
    metrics = ["ndcg", "map", "mrr"] + (["rbp.95"] if sys.argv[6] == "yes" else [])

    def evaluate():
        ranx.evaluate(qrels, run, metrics, threads=int(sys.argv[5]), make_comparable=False)
else:
    import pytrec_eval

    qrels = {f"q{l}": {n: int(y) for n, y in zip(names, relevance[l])} for l in range(lists)}
    run = {f"q{l}": dict(zip(names, map(float, scores[l]))) for l in range(lists)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "map", "recip_rank"})

    def evaluate():
        evaluator.evaluate(run)


evaluate()  # the first call is a warm-up; ranx compiles its functions in it
for _ in range(repeats):
    start = clock()
    evaluate()
    print(clock() - start, flush=True)
