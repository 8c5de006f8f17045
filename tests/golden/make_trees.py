"""Makes trees.json: scores of boosted trees by XGBoost's own Python package, on made-up queries and on MQ2008.

    apt install python3-xgboost    # Debian 12: 1.7.4
    /usr/bin/python3 tests/golden/make_trees.py FOLDER_OF_MQ2008

One thread. Derivatives of LambdaRank and RankNet are written out here in NumPy and given as custom objectives; nothing of
this repository is used.
"""
import gzip
import json
import pathlib
import sys

import numpy as np
import xgboost

assert xgboost.__version__.startswith("1.7.")


def made_up(queries, seed):
    random = np.random.RandomState(seed)
    x = np.round(random.randn(queries * 8, 4), 3).astype(np.float32)
    wanted = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.3 * random.randn(queries * 8)
    y = np.digitize(wanted, [0.2, 1.1]).astype(np.float32)
    x[random.rand(*x.shape) < 0.05] = np.nan
    return x, y, np.full(queries, 8)


def matrix(x, y, sizes):
    data = xgboost.DMatrix(x, label=y, missing=np.nan, nthread=1)
    data.set_group(sizes)
    return data


def lists_of(sizes):
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends, sizes)]


def pairwise(sizes, weigh):
    """Gradient and second derivative of the sum over pairs y_i > y_j of weight log(1 + exp(s_j - s_i))."""

    def derivatives(scores, data):
        y, first, second = data.get_label().astype(float), np.zeros(len(scores)), np.zeros(len(scores))
        for rows in lists_of(sizes):
            s, grades = scores[rows].astype(float), y[rows]
            weights = weigh(s, grades) * (grades[:, None] > grades[None, :])
            p = 1 / (1 + np.exp(s[:, None] - s[None, :]))
            first[rows] = (weights * p).sum(0) - (weights * p).sum(1)
            curve = weights * p * (1 - p)
            second[rows] = curve.sum(0) + curve.sum(1)
        return first.astype(np.float32), second.astype(np.float32)

    return derivatives


def ndcg_change(s, grades):
    order = np.argsort(-s, kind="stable")
    discount = np.empty(len(s))
    discount[order] = 1 / np.log2(np.arange(len(s)) + 2)
    gain = 2**grades - 1
    ideal = (np.sort(gain)[::-1] / np.log2(np.arange(len(s)) + 2)).sum()
    change = np.abs((gain[:, None] - gain[None, :]) * (discount[:, None] - discount[None, :]))
    return change / ideal if ideal > 0 else change * 0


def no_weight(s, grades):
    return np.ones((len(s), len(s)))


def ndcg(scores, y, sizes, k):
    """Mean over lists with a relevant row, and over all with 0 for the others; tied rows share their ranks' discounts."""
    values = []
    for rows in lists_of(sizes):
        s, gain = scores[rows], 2.0 ** y[rows] - 1
        discount = np.where(np.arange(len(s)) < k, 1 / np.log2(np.arange(len(s)) + 2), 0)
        ideal = (np.sort(gain)[::-1] * discount).sum()
        order, value, at = np.argsort(-s, kind="stable"), 0.0, 0
        while at < len(s):
            tied = [i for i in order if s[i] == s[order[at]]]
            value += gain[tied].mean() * discount[at : at + len(tied)].sum()
            at += len(tied)
        values.append(value / ideal if ideal > 0 else np.nan)
    return np.nanmean(values), np.nansum(values) / len(values)


common = {"nthread": 1, "tree_method": "hist", "seed": 1, "seed_per_iteration": True, "verbosity": 0}
cases = [
    ("rank:ndcg", {"depth": 3, "eta": 0.2}),
    ("rank:map", {"depth": 3, "subsample": 0.7}),
    ("rank:pairwise", {"depth": 4, "lambda": 2.0, "gamma": 0.05}),
    ("reg:squarederror", {"method": "exact", "depth": 3, "colsample_bytree": 0.5}),
    ("reg:squarederror", {"trees": 20, "eta": 1.0, "subsample": 0.63, "colsample_bynode": 0.5, "depth": 8}),
    ("binary:logistic", {"bins": 16, "alpha": 0.1, "min_child_weight": 2.0}),
    ("multi:softprob", {"depth": 2}),
    ("lambdarank", {"depth": 3, "eta": 0.1, "min_child_weight": 0.01}),
    ("ranknet", {"depth": 3, "eta": 0.1}),
]
theirs = {"depth": "max_depth", "method": "tree_method", "bins": "max_bin", "trees": "num_parallel_tree"}
own = {"lambdarank": ndcg_change, "ranknet": no_weight}


def trained(objective, options, train, rounds):
    x, y, sizes = train
    parameters = dict(common, **{theirs.get(name, name): value for name, value in options.items()})
    if objective == "binary:logistic":
        y = (y >= 1).astype(np.float32)
    if objective == "multi:softprob":
        parameters["num_class"] = 3
    if objective in own:
        return xgboost.train(dict(parameters, base_score=0), matrix(x, y, sizes), rounds, obj=pairwise(sizes, own[objective]))
    return xgboost.train(dict(parameters, objective=objective), matrix(x, y, sizes), rounds)


def scores_of(booster, objective, part):
    data = matrix(*part)
    if objective == "multi:softprob":
        return booster.predict(data) @ np.arange(3)
    return booster.predict(data, output_margin=True)


def importance(booster):
    return {kind: {str(int(name[1:]) + 1): value for name, value in booster.get_score(importance_type=kind).items()}
            for kind in ("gain", "cover", "weight")}


def floats(values):
    return [None if np.isnan(v) else float(str(np.float32(v))) for v in np.ravel(values)]


def read_letor(path):
    x, y, sizes, last = [], [], [], None
    for line in gzip.open(path, "rt"):
        fields = line.split("#")[0].split()
        if fields[1] != last:
            sizes.append(0)
            last = fields[1]
        sizes[-1] += 1
        y.append(float(fields[0]))
        x.append([float(field.split(":")[1]) for field in fields[2:]])
    return np.array(x, np.float32), np.array(y, np.float32), np.array(sizes)


def joined(parts):
    return tuple(np.concatenate(each) for each in zip(*parts))


def of_mq2008(folder):
    parts = {name: read_letor(folder / f"{name}.txt.gz") for name in ("S1", "S2", "S3", "S5")}
    train, test, found = joined([parts["S1"], parts["S2"], parts["S3"]]), parts["S5"], []
    for objective, options in [("rank:ndcg", {"depth": 5, "eta": 0.1}), ("lambdarank", {"depth": 5, "eta": 0.1, "min_child_weight": 0.01})]:
        booster = trained(objective, options, train, 40)
        scores = scores_of(booster, objective, test)
        skip, zero = ndcg(scores, test[1], test[2], 10)
        found.append({"objective": objective, "options": options, "rounds": 40, "ndcg@10": skip, "ndcg@10 of all": zero,
                      "scores": floats(scores[:40])})
    return found


def main():
    train, valid = made_up(40, 1), made_up(15, 2)
    found = []
    for objective, options in cases:
        rounds = 1 if "trees" in options else 12
        booster = trained(objective, options, train, rounds)
        found.append({"objective": objective, "options": options, "rounds": rounds,
                      "scores": floats(scores_of(booster, objective, valid)), "importance": importance(booster)})
    out = {
        "about": "scores of rows by trees that XGBoost " + xgboost.__version__ + "'s Python package grew on `train`, 8 rows each list; "
        "features are rows one after the other, null is missing; binary:logistic from grade 1 on; scores are margins, of "
        "multi:softprob expected grades. mq2008: trained on S1 to S3, scores of the first rows of S5",
        "train": {"features": floats(train[0]), "grades": train[1].tolist()},
        "valid": {"features": floats(valid[0]), "grades": valid[1].tolist()},
        "cases": found,
        "mq2008": of_mq2008(pathlib.Path(sys.argv[1])),
    }
    text = json.dumps(out, separators=(",", ":")).replace(',"', ',\n"').replace(",{", ",\n{")
    (pathlib.Path(__file__).parent / "trees.json").write_text(text + "\n")


main()
