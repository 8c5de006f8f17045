"""Objectives and metrics for XGBoost and LightGBM."""

import pickle

import numpy as np
import pytest
from kept_losses import differentiated

import moonrank
import moonrank.lightgbm
import moonrank.xgboost
from moonrank import _library, _lists

SIZES = np.array([12, 20, 9, 15, 24] * 8)
ROWS = int(SIZES.sum())
QID = np.repeat(np.arange(len(SIZES)), SIZES)
DRAW = np.random.default_rng(5)
X = DRAW.normal(size=(ROWS, 6))
GRADES = np.digitize(X @ [2.0, -1.0, 1.0, 0.0, 0.0, 0.0] + DRAW.normal(size=ROWS), [1.0, 2.5, 4.0]).astype(np.float32)
OBJECTIVES = [("ndcg", "expectation"), ("lambdarank", "minmax"), ("softmax_cross_entropy", "none"), ("mse", "none")]
BOTH = pytest.mark.parametrize("package", [moonrank.xgboost, moonrank.lightgbm], ids=["xgboost", "lightgbm"])


def at_chance():
    return moonrank.evaluate(np.zeros(ROWS), GRADES, SIZES, ["ndcg@10"]).mean["ndcg@10"]


class Data:
    """Stands for a DMatrix and a Dataset."""

    def __init__(self, weights=None, grades=GRADES, sizes=SIZES):
        self.grades, self.sizes, self.weights = grades, sizes, weights

    def get_label(self):
        return self.grades

    def get_group(self):
        return self.sizes

    def get_uint_info(self, name):
        assert name == "group_ptr"
        ends = [] if self.sizes is None else np.concatenate([[0], np.cumsum(self.sizes)])
        return np.array(ends, np.uint32)

    def get_weight(self):
        return np.array([]) if self.weights is None else self.weights


@BOTH
@pytest.mark.parametrize("name, bound", OBJECTIVES)
def test_derivatives_are_those_of_the_library(package, name, bound):
    scores = DRAW.normal(size=ROWS)
    kept, loss = (_library.Kept("lists", _lists.judged(GRADES, SIZES)),
                  _library.Kept("loss", {"loss": name, "options": {"bound": bound}}))
    expected = _library.call("derivatives", {"loss": loss.number, "lists": kept.number, "scores": scores})
    first, second = package.Objective(name, bound=bound)(scores, Data())
    assert np.array_equal(first, expected["first"]) and np.array_equal(second, expected["second"])
    assert np.abs(first).max() > 0 and second.max() > 0 and second.min() >= 0


@BOTH
def test_the_first_derivatives_of_a_pairwise_loss_are_its_gradient(package):
    scores, step = DRAW.normal(size=ROWS), 1e-5
    first, _ = package.Objective("ranknet")(scores, Data())
    loss = _library.Kept("loss", {"loss": "ranknet", "options": {}})
    given = _lists.judged(GRADES, SIZES)
    for row in (0, 50, ROWS - 1):
        moved = []
        for sign in (1, -1):
            x = scores.copy()
            x[row] += sign * step
            moved.append(differentiated(loss, x, given, "sum", gradient=False)[0].item())
        assert first[row] == pytest.approx((moved[0] - moved[1]) / (2 * step), abs=1e-6)


@BOTH
def test_weights_multiply_both_derivatives(package):
    objective, scores = package.Objective("lambdarank"), DRAW.normal(size=ROWS)
    plain, by_row = objective(scores, Data()), DRAW.random(ROWS).astype(np.float32)
    for found, expected in zip(objective(scores, Data(by_row)), plain):
        assert np.array_equal(found, expected * by_row.astype(np.float64))
    by_list = DRAW.random(len(SIZES)).astype(np.float32)
    for found, expected in zip(objective(scores, Data(by_list)), plain):
        assert np.array_equal(found, expected * np.repeat(by_list.astype(np.float64), SIZES))
    with pytest.raises(moonrank.MoonrankError, match="7 weights"):
        objective(scores, Data(np.ones(7)))


@BOTH
def test_changed_labels_are_noticed(package):
    data, objective, scores = Data(), package.Objective("lambdarank"), DRAW.normal(size=ROWS)
    before = objective(scores, data)[0]
    assert np.array_equal(objective(scores, data)[0], before)
    data.grades = GRADES[::-1].copy()
    assert not np.array_equal(objective(scores, data)[0], before)


@BOTH
def test_metrics_are_those_of_evaluate(package):
    scores = DRAW.normal(size=ROWS)
    metrics = ["ndcg@10", ("ap", "minmax"), "wrong_pairs"]
    expected = moonrank.evaluate(scores, GRADES, SIZES, metrics, relevant=2).mean
    metric = package.Metric(*metrics, relevant=2)
    found = metric(scores, Data())
    assert {row[0]: row[1] for row in found} == expected
    if package is moonrank.lightgbm:
        assert [row[2] for row in found] == [True, True, False]
    else:
        assert metric.larger_is_better == [True, True, False] and metric.maximize is False


@BOTH
def test_errors(package):
    for wrong, word in (({"name": "ndgc"}, "ndgc"), ({"name": "os.exit(7)"}, "os.exit"),
                        ({"name": "ndcg", "bound": "minmx"}, "minmx"),
                        ({"name": "ndcg", "steepnes": 1}, "steepnes")):
        with pytest.raises(moonrank.MoonrankError, match=word):
            package.Objective(**wrong)
    for metrics, options, word in ((["ndgc"], {}, "ndgc"), ([("ap", "minmx")], {}, "minmx"), ([], {}, "no metric"),
                                   (["ap"], {"tiez": "mean"}, "tiez")):
        with pytest.raises(moonrank.MoonrankError, match=word):
            package.Metric(*metrics, **options)
    with pytest.raises(moonrank.MoonrankError, match="group"):
        package.Objective("ndcg")(np.zeros(ROWS), Data(sizes=None))
    with pytest.raises(moonrank.MoonrankError, match="group"):
        package.Metric("ndcg")(np.zeros(ROWS), Data(sizes=None))
    for missing in (None, np.array([], np.float32)):
        with pytest.raises(moonrank.MoonrankError, match="labels"):
            package.Objective("ndcg")(np.zeros(ROWS), Data(grades=missing))
    for made in (package.Objective("ndcg"), package.Metric("ndcg")):
        with pytest.raises(moonrank.MoonrankError, match="predictions.*NaN.*row 1"):
            made(np.where(np.arange(ROWS) == 1, np.nan, 0), Data())


@BOTH
def test_names_of_metrics(package):
    assert package.Metric(["ndcg@10", "ap"]).names == ["ndcg@10", "ap"]
    assert package.Metric(("ap", "minmax"), "ap", "ap").names == ["ap[minmax]", "ap"]
    metric = package.Metric("map", ("map", "minmax"), "map@5", "ap@7")
    assert metric.names == ["map", "map[minmax]", "map@5", "ap@7"]
    scores = DRAW.normal(size=ROWS)
    assert metric(scores, Data())[0][1] == moonrank.evaluate(scores, GRADES, SIZES, ["ap"]).mean["ap"]


@BOTH
def test_an_objective_can_be_pickled(package):
    scores = DRAW.normal(size=ROWS)
    objective, metric = package.Objective("ndcg", bound="minmax"), package.Metric("ndcg@10")
    again = pickle.loads(pickle.dumps(objective))
    assert np.array_equal(again(scores, Data())[0], objective(scores, Data())[0])
    assert pickle.loads(pickle.dumps(metric))(scores, Data()) == metric(scores, Data())


@pytest.mark.parametrize("name, bound", OBJECTIVES)
def test_xgboost_learns(name, bound):
    xgboost = pytest.importorskip("xgboost")
    data, history = xgboost.DMatrix(X, label=GRADES, qid=QID), {}
    booster = xgboost.train({"disable_default_eval_metric": True, "max_depth": 3, "eta": 0.3, "min_child_weight": 0,
                             "base_score": 0, "nthread": 1}, data, 15, evals=[(data, "train")],
                            obj=moonrank.xgboost.Objective(name, bound=bound),
                            custom_metric=moonrank.xgboost.Metric("ndcg@10", ("ap", "minmax")), evals_result=history,
                            verbose_eval=False)
    means = history["train"]["ndcg@10"]
    assert means[-1] > max(0.9, means[0], at_chance() + 0.2) and len(history["train"]["ap[minmax]"]) == 15
    found = moonrank.evaluate(booster.predict(data, output_margin=True), GRADES, SIZES, ["ndcg@10"]).mean["ndcg@10"]
    assert means[-1] == pytest.approx(found, abs=1e-5)


def test_xgboost_with_weights_early_stopping_and_quantiles():
    xgboost = pytest.importorskip("xgboost")
    weights = np.ones(len(SIZES), np.float32)
    data = xgboost.QuantileDMatrix(X, label=GRADES, qid=QID, weight=weights)
    stop = xgboost.callback.EarlyStopping(rounds=2, maximize=True, save_best=True)
    booster = xgboost.train({"disable_default_eval_metric": True, "nthread": 1, "eta": 0.3}, data, 60,
                            evals=[(data, "train")], obj=moonrank.xgboost.Objective("lambdarank"),
                            custom_metric=moonrank.xgboost.Metric("rr"), callbacks=[stop], verbose_eval=False)
    assert booster.best_score > 0.9
    with pytest.raises(moonrank.MoonrankError, match="group"):
        xgboost.train({}, xgboost.DMatrix(X, label=GRADES), 1, obj=moonrank.xgboost.Objective("ndcg"))


def test_xgboost_maximizes_map_by_its_name():
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(X, label=GRADES, qid=QID)

    def rounds(metric, **options):
        booster = xgboost.train({"disable_default_eval_metric": True, "nthread": 1, "eta": 0.3}, data, 20,
                                evals=[(data, "train")], obj=moonrank.xgboost.Objective("lambdarank"),
                                custom_metric=moonrank.xgboost.Metric(metric), early_stopping_rounds=5,
                                verbose_eval=False, **options)
        return booster.best_iteration
    assert rounds("map") > 5 and rounds("ap", maximize=True) > 5


@pytest.mark.parametrize("name, bound", OBJECTIVES)
def test_lightgbm_learns(name, bound):
    lightgbm = pytest.importorskip("lightgbm")
    data, history = lightgbm.Dataset(X, GRADES, group=SIZES), {}
    booster = lightgbm.train({"objective": moonrank.lightgbm.Objective(name, bound=bound), "metric": "None",
                              "num_leaves": 8, "learning_rate": 0.3, "min_sum_hessian_in_leaf": 0, "verbose": -1,
                              "num_threads": 1}, data, 15, valid_sets=[data], valid_names=["train"],
                             feval=moonrank.lightgbm.Metric("ndcg@10", ("ap", "minmax")),
                             callbacks=[lightgbm.record_evaluation(history)])
    means = history["train"]["ndcg@10"]
    assert means[-1] > max(0.9, means[0], at_chance() + 0.2) and len(history["train"]["ap[minmax]"]) == 15
    found = moonrank.evaluate(booster.predict(X), GRADES, SIZES, ["ndcg@10"]).mean["ndcg@10"]
    assert means[-1] == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize("plain", [True, False])
def test_lightgbms_ranker_learns(plain):
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    objective = moonrank.lightgbm.Objective("ndcg", bound="expectation")
    metric = moonrank.lightgbm.Metric("ndcg@10")
    if not plain:
        objective, metric = objective.ranker, metric.ranker
    model = lightgbm.LGBMRanker(objective=objective, n_estimators=15, learning_rate=0.3, verbose=-1, n_jobs=1)
    model.fit(X, GRADES, group=SIZES, eval_set=[(X[:80], GRADES[:80])], eval_group=[SIZES[:5]],
              eval_metric=metric)
    history, = model.evals_result_.values()
    assert history["ndcg@10"][-1] > 0.9


def test_xgb_ranker_refuses_objectives():
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match="XGBRanker"):  # README.md says so
        xgboost.XGBRanker(objective=moonrank.xgboost.Objective("ndcg")).fit(np.zeros((3, 1)), [0, 1, 0], qid=[1, 1, 1])
