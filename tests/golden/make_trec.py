# Makes reference values of trec_eval's metrics: made-up runs and judgments, evaluated by trec_eval's code
# (pytrec_eval-terrier 0.5).
#   python3 tests/golden/make_trec.py > tests/golden/trec.json
import json
import random

import pytrec_eval

random.seed(16)
measures = {"map", "Rprec", "recip_rank", "bpref", "ndcg", "P.1,3,5,10,50", "recall.1,3,5,10,50", "ndcg_cut.1,3,5,10,50",
            "map_cut.1,3,5,10,50", "success.1,3,10"}


def queries(letter, count):
    return [f"{letter}{i}" for i in range(count)]


# Made-up queries: with few and many documents, without relevant documents, with grades below 0, and some in only one of
# the two files.
qrels, runs = {}, {"fine": {}, "coarse": {}}
for n, query in enumerate(queries("q", 14)):
    size = [1, 2, 5, 12, 20, 30, 33][n % 7]
    documents = [f"d{i}" for i in range(2 * size)]
    if n != 4:
        grades = [0] if n in (3, 9) else [-2, -1, 0, 0, 1, 2, 4]
        qrels[query] = {d: random.choice(grades) for d in random.sample(documents, max(1, size * 3 // 2))}
    for name, run in runs.items():
        if n == 6 and name == "coarse":
            continue
        # scores of the run "coarse" have many ties; those of "fine" all differ, but some are equal in float32
        score = (lambda: float(random.randrange(4))) if name == "coarse" else (lambda: round(random.uniform(-9, 9), 9))
        run[query] = {d: score() for d in random.sample(documents, size)}
        if name == "fine" and size > 2:
            first, second = list(run[query])[:2]
            run[query][first], run[query][second] = 1.00000001, 1.00000002


def lines_of_run(run):
    rows = [(q, d, s) for q, documents in run.items() for d, s in documents.items()]
    random.shuffle(rows)
    return "".join(f"{q} Q0 {d} 0 {s!r} made\n" for q, d, s in rows)


values = {}
for name, run in runs.items():
    for level in (1, 2):
        found = pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)
        values[f"{name} {level}"] = found
text = {
    "about": "values: by 'run least-grade', query and measure; runs and qrels: the files' text",
    "qrels": "".join(f"{q} 0 {d} {g}\n" for q, documents in qrels.items() for d, g in documents.items()),
    "runs": {name: lines_of_run(run) for name, run in runs.items()},
    "values": values,
}
print(json.dumps(text, indent=0, sort_keys=True))
