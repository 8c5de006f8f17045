# How long scikit-learn takes to read a LETOR file into a dense matrix: seconds of every run. The file is plain text with whole numbers for qids.
# Usage: letor_peer.py FILE [RUNS]
import os
import sys
import time

from sklearn.datasets import load_svmlight_file

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter

path, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
for _ in range(runs):
    start = clock()
    load_svmlight_file(path, query_id=True)[0].toarray()
    print(clock() - start, flush=True)
