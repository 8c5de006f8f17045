# How long scikit-learn takes to read a LETOR file into a dense matrix: seconds (the least of the runs), MB/s and the shape. The file is plain
# text with whole numbers for qids. Usage: letor_peer.py FILE [RUNS]
import os
import sys
import time

from sklearn.datasets import load_svmlight_file

path, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
best = float("inf")
for _ in range(runs):
    start = time.perf_counter()
    rows = load_svmlight_file(path, query_id=True)[0].toarray()
    best = min(best, time.perf_counter() - start)
print(f"{best:.3f} s, {os.path.getsize(path) / 1e6 / best:.1f} MB/s, {rows.shape[0]} rows of {rows.shape[1]} features")
