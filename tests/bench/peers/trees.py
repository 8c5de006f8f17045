"""Boosted trees on the five folds of MQ2008: XGBoost and LightGBM with their own LambdaRank, and with Moonrank's.

Each of the four trainings is tuned by the same random trials: learning rate, leaves, least sum of second derivatives in
a leaf, and share of features per tree. Validation nDCG@10 chooses the trial of a fold, and its test nDCG@10 counts.
Trees grow by leaves in both libraries, with 255 bins, L2 term 1, one thread. All other options keep their defaults.
nDCG@10 is moonrank.evaluate's: gain 2^grade - 1, tied rows get the mean over their orders, and queries without relevant
documents are left out. Seconds are processor time of the training alone.

Usage: python3 tests/bench/peers/trees.py [--trials 20] [--trees 100] [--folds 5] [--data FOLDER] [--out FILE.csv]
It needs NumPy, XGBoost and LightGBM (`./bootstrap bench --peers` installs them into build/peers), and Moonrank's
library (`./bootstrap build`). The CSV has the chosen trials, and the text beside it the means and the paired tests.
"""
import argparse
import csv
import datetime
import os
import pathlib
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
import xgboost  # noqa: E402

import letor_files  # noqa: E402 (finds the package in this tree)
import moonrank  # noqa: E402
import moonrank.lightgbm  # noqa: E402
import moonrank.xgboost  # noqa: E402

PROGRAMS = [("XGBoost", "own"), ("XGBoost", "moonrank"), ("LightGBM", "own"), ("LightGBM", "moonrank")]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=20, help="random trials per fold")
    parser.add_argument("--trees", type=int, default=100, help="trees of a model")
    parser.add_argument("--folds", type=int, default=5, help="the first folds, at most 5")
    parser.add_argument("--loss", default="lambdarank", help="loss of Moonrank")
    parser.add_argument("--bound", default="none", help="bound of Moonrank's loss")
    letor_files.add_data_folder(parser)
    parser.add_argument("--out", type=pathlib.Path, help="a file for the chosen trials, as CSV")
    given = parser.parse_args()
    for name, least, most in (("trials", 1, 10000), ("trees", 1, 100000), ("folds", 1, 5)):
        if not least <= getattr(given, name) <= most:
            parser.error(f"--{name} is {getattr(given, name)}, expected {least} to {most}")
    if not (given.data / "mq2008/S1.txt.gz").exists():
        parser.error(f"--data: {given.data} has no mq2008/S1.txt.gz. Name the folder of the data sets")
    return given


class Part:
    """Rows of several partitions: features, grades and sizes of lists."""

    def __init__(self, partitions):
        self.x, self.grades, self.sizes = letor_files.joined(partitions)

    def ndcg(self, scores):
        return moonrank.evaluate(scores, self.grades, self.sizes, ["ndcg@10"]).mean["ndcg@10"]


def random_trials(count):
    draw = np.random.default_rng(1)
    return [{"rate": float(np.exp(draw.uniform(np.log(0.02), np.log(0.3)))),
             "leaves": int(np.exp(draw.uniform(np.log(4), np.log(64)))),
             "least": float(np.exp(draw.uniform(np.log(1e-3), np.log(10)))),
             "features": float(draw.uniform(0.4, 1))} for _ in range(count)]


def train_xgboost(data, trial, objective, trees):
    options = {"tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "max_leaves": trial["leaves"],
               "eta": trial["rate"], "min_child_weight": trial["least"], "colsample_bytree": trial["features"],
               "max_bin": 255, "lambda": 1, "nthread": 1, "seed": 1, "base_score": 0, "verbosity": 0,
               "disable_default_eval_metric": True}
    if objective is None:
        options["objective"] = "rank:ndcg"
    start = time.process_time()
    model = xgboost.train(options, data, trees, obj=objective)
    seconds = time.process_time() - start
    return seconds, lambda x: model.predict(xgboost.DMatrix(x), output_margin=True)


def train_lightgbm(data, trial, objective, trees):
    options = {"num_leaves": trial["leaves"], "max_depth": -1, "learning_rate": trial["rate"],
               "min_sum_hessian_in_leaf": trial["least"], "min_data_in_leaf": 0, "feature_fraction": trial["features"],
               "lambda_l2": 1, "num_threads": 1, "seed": 1, "deterministic": True, "force_col_wise": True,
               "verbosity": -1, "metric": "None", "objective": objective or "lambdarank"}
    start = time.process_time()
    model = lightgbm.train(options, data, trees)
    seconds = time.process_time() - start
    return seconds, lambda x: model.predict(x, raw_score=True)


def trainers(part, given):
    """Returns a function per program: trial -> (seconds, prediction)."""
    qid = np.repeat(np.arange(len(part.sizes)), part.sizes)
    for_xgboost = xgboost.QuantileDMatrix(part.x, label=part.grades, qid=qid, max_bin=255, nthread=1)
    for_lightgbm = lightgbm.Dataset(part.x, part.grades, group=part.sizes, free_raw_data=False,
                                    params={"max_bin": 255, "verbosity": -1, "num_threads": 1,
                                            "min_data_in_leaf": 0, "force_col_wise": True}).construct()
    ours = {"XGBoost": moonrank.xgboost.Objective(given.loss, bound=given.bound),
            "LightGBM": moonrank.lightgbm.Objective(given.loss, bound=given.bound)}

    def trainer(library, objective):
        train, data = (train_xgboost, for_xgboost) if library == "XGBoost" else (train_lightgbm, for_lightgbm)
        return lambda trial: train(data, trial, ours[library] if objective == "moonrank" else None, given.trees)
    return {program: trainer(*program) for program in PROGRAMS}


def of_fold(fold, partitions, trials, given):
    """Returns, for each program, its chosen trial as a row, and the scores of its test rows."""
    train, vali, test = (Part([partitions[(fold + i) % 5] for i in which]) for which in ((0, 1, 2), (3,), (4,)))
    trained, best, seconds = trainers(train, given), {}, {program: [] for program in PROGRAMS}
    for program in PROGRAMS:  # a small model per program as a warm-up
        trained[program]({**trials[0], "leaves": 4})
    for number, trial in enumerate(trials):
        # programs take turns, so that other work on the machine disturbs all of them
        for program in PROGRAMS[number % 4:] + PROGRAMS[:number % 4]:
            took, predict = trained[program](trial)
            seconds[program].append(took)
            value = vali.ndcg(predict(vali.x))
            if program not in best or value > best[program][0]:
                best[program] = value, number, predict(test.x)
        print(f"fold {fold + 1} of {given.folds}, trial {number + 1} of {len(trials)}", file=sys.stderr, flush=True)
    rows = []
    for library, objective in PROGRAMS:
        value, number, scores = best[library, objective]
        took = seconds[library, objective]
        rows.append([library, objective, fold + 1, number + 1, *(f"{x:.4g}" for x in trials[number].values()),
                     f"{value:.6f}", f"{test.ndcg(scores):.6f}", *(f"{x:.4f}" for x in (
                         np.median(took), min(took), max(took)))])
    return rows, {program: best[program][2] for program in PROGRAMS}, test


COLUMNS = ["library", "objective", "fold", "trial", "learning rate", "leaves", "least", "features", "validation",
           "ndcg@10", "seconds", "shortest", "longest"]


def summary(rows, tests, given):
    """Yields lines: what was measured, and a line per program and per comparison."""
    yield (f"Trees by random trials: {given.trials} trials, {given.trees} trees, {given.folds} folds of MQ2008, "
           f"processor time of one thread. {datetime.date.today()}, {letor_files.where()}, "
           f"xgboost {xgboost.__version__}, lightgbm {lightgbm.__version__}.")
    for program in PROGRAMS:
        mine = [row for row in rows if tuple(row[:2]) == program]
        yield (f"{' '.join(program)}: nDCG@10 {np.mean([float(row[9]) for row in mine]):.4f} (mean of folds), "
               f"{np.median([float(row[10]) for row in mine]):.3f} s per training")
    yield from tests


def compared(scores, tests):
    """Compares, over all test queries, Moonrank's objective with the library's own one."""
    grades, sizes = (np.concatenate([getattr(part, name) for part in tests]) for name in ("grades", "sizes"))
    for library in ("XGBoost", "LightGBM"):
        systems = {objective: np.concatenate([each[library, objective] for each in scores])
                   for objective in ("moonrank", "own")}
        yield f"{library}:"
        found = moonrank.compare(systems, grades, sizes, ["ndcg@10"])
        yield from str(found).rstrip().split("\n")
        for row in found.tests:
            yield ", ".join(f"{key} {value}" for key, value in row.items())


def main():
    given = arguments()
    moonrank.threads(1)
    partitions = [letor_files.read(given.data / f"mq2008/S{i}.txt.gz") for i in range(1, 6)]
    trials, rows, scores, tests = random_trials(given.trials), [], [], []
    for fold in range(given.folds):
        found, of_test, test = of_fold(fold, partitions, trials, given)
        rows += found
        scores.append(of_test)
        tests.append(test)
    text = "\n".join(summary(rows, compared(scores, tests), given)) + "\n"
    print(text, end="")
    if given.out:
        with open(given.out, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
        given.out.with_suffix(".txt").write_text(text)


if __name__ == "__main__":
    main()
