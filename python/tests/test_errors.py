"""Errors name the Python function and the argument, for wrong values of every argument of every function."""

import copy
import inspect
import math
import pickle
import re

import numpy as np
import pytest

import moonrank

SCORES, GRADES, SIZES = [3.0, 2.0, 1.0], [0, 1, 0], [3]
NAN = math.nan
TEXTS = ["nosuch", NAN, [1, 2], {}, object(), -1]
LISTS = {
    "grades": ["x", NAN, [1, 2], [0, -1, 0], [0, NAN, 0], [0, math.inf, 0], {}, object()],
    "sizes": ["x", NAN, [2], [4, -1], [1.5, 1.5], None, [2**62, 2**62]],
}
QID = {"qid": ["x", NAN, [1, 2], [1, 2, 1], [1.0, NAN, NAN]]}
WEIGHTS = {"weights": ["x", NAN, [1, 2], [1, -1, 1], [1, NAN, 1], [1, math.inf, 1]],
           "list_weights": ["x", NAN, [1, 2], [-1], [NAN]]}
METRICS = {"metrics": ["nosuch", [], NAN, None, {}, [1], ["ap@0"], ["nrbp(7)"], ["ndcg@x"], [("ap", "nosuch")],
                       [("nosuch", "minmax")], object()]}
CONVENTIONS = {"ties": [*TEXTS, "trec"], "empty": TEXTS, "relevant": ["x", NAN, [1], {}, object()], "gain": TEXTS,
               "denominator": TEXTS}
SHAPE = {"n": ["x", NAN, 0, 1.5, -1, None, 10**9, 2**70, [3], object()],
         "p": ["x", NAN, 1.5, -1, 4, None, 10**9, 2**70, [3], object()],
         "grades": ["x", NAN, [NAN, 1], [math.inf, 1], [[1, 2]], [0, 1]]}
METRIC = {"metric": ["nosuch", "ap@0", "nrbp(7)", NAN, None, [1], {}, object(), 2**70]}
SYSTEMS = {"a": SCORES, "b": SCORES}
JUDGED = {"grades": GRADES, "sizes": SIZES}

# For each function: the function, its other arguments, and wrong values of each argument.
FUNCTIONS = {
    "moonrank.evaluate": (moonrank.evaluate, {"scores": SCORES, "metrics": ["ap", "ndcg"], **JUDGED}, {
        "scores": ["x", NAN, [1, 2], [1, NAN, 2], None, {}, [[1, 2, 3]]], **LISTS, **METRICS, **CONVENTIONS, **QID,
        **WEIGHTS}),
    "moonrank.lists": (moonrank.lists, JUDGED, {**LISTS, **QID, **WEIGHTS}),
    "moonrank.Lists": (moonrank.Lists, JUDGED, {**LISTS, **QID, **WEIGHTS}),
    "moonrank.compare": (moonrank.compare, {"systems": SYSTEMS, "metrics": ["ap", "ndcg"], **JUDGED}, {
        "systems": ["x", {}, None, {1: SCORES}, {"a": SCORES}, {"a": SCORES, "b": [1, 2]}, {"a": SCORES, "b": None}],
        **LISTS, **METRICS, "gain": TEXTS, "ties": [*TEXTS, "trec"], "empty": TEXTS,
        "relevant": ["x", NAN, [1], object()], "alpha": [0, 1, NAN, "x", [1], object()],
        "level": [0, 1, NAN, "x", [1], object()], "samples": [0, 1.5, NAN, "x", 10**12, object()],
        "orders": [0, 1.5, NAN, "x", 10**12, object()], "seed": [1.5, NAN, "x", 2**70, object()], **QID}),
    "moonrank.bounds.of": (moonrank.bounds.of, {"metric": "ndcg", "n": 3, "p": 1}, {**METRIC, **SHAPE}),
    "moonrank.bounds.distribution": (moonrank.bounds.distribution, {"metric": "ndcg", "n": 3, "p": 1}, {
        **METRIC, **SHAPE, "method": TEXTS, "samples": [0, 1.5, NAN, "x", 10**12, object()],
        "seed": [1.5, NAN, "x", 2**70, object()], "beta": [NAN, math.inf, "x", [1], object(), 1e6]}),
    "moonrank.bounds.Distribution.cdf": (moonrank.bounds.distribution("ap", 3, 1).cdf, {}, {
        "value": ["x", NAN, None, [0.5], {}]}),
    "moonrank.bounds.Distribution.quantile": (moonrank.bounds.distribution("ap", 3, 1).quantile, {}, {
        "q": ["x", NAN, None, [0.5], {}, 2, -1]}),
    "moonrank.threads": (moonrank.threads, {}, {"n": ["x", NAN, 0, 1.5, [1], 10**6, object(), 2**70]}),
    "moonrank.help": (moonrank.help, {}, {"name": [1, None, [], "\udc80"]}),
    "moonrank.lua": (moonrank.lua, {"code": "return 1"}, {
        "code": [1, None, [], "\udc80"],
        "variables": [object(), 2**70, {None: 1}, "\udc80", np.zeros((1,) * 5), [[object()]], np.array(["a"])]}),
}
OBJECTIVE = {"name": ["nosuch", "ndcg@10", "a b", NAN, None, [1]], "bound": ["nosuch", NAN, [1], {}, object()],
             "options": [{"nosuch": 1}, {"steepness": "x"}, {"steepness": NAN}, {"steepness": -1},
                         {"steepness": object()}, {"kernel": "nosuch"}]}
INTERNAL = re.compile(r"bad argument|stdlib/|\bto '\w+'|mr\.(evaluate|compare|lists|bounds|losses)\b|<string>")


def refused(name, argument, function, given):
    with pytest.raises(moonrank.MoonrankError) as error:
        function(**given)
    text = str(error.value)
    assert text.startswith(f"{name}: "), text
    said = text[len(name) + 2:]
    assert re.search(rf"(?<!\w){argument}(?!\w)", said), text
    assert not INTERNAL.search(said), text
    return text


def arguments_of(name, argument, value, others):
    if argument == "variables":
        return "x", {**others, "x": value}
    if argument == "qid":
        others = {key: each for key, each in others.items() if key != "sizes"}
    if argument == "grades" and ".bounds." in name:
        # three grades that are right do not fit to the number of rows
        others = {"metric": "ndcg", "n": 3} if value == [0, 1] else {"metric": "ndcg"}
        argument_in_error = "n" if value == [0, 1] else argument
        return argument_in_error, {**others, "grades": value}
    return argument, {**others, argument: value}


@pytest.mark.parametrize("name, argument", [(name, argument) for name, (_, _, wrong) in FUNCTIONS.items()
                                            for argument in wrong])
def test_errors_name_function_and_argument(name, argument):
    function, others, wrong = FUNCTIONS[name]
    for value in wrong[argument]:
        named, given = arguments_of(name, argument, value, others)
        refused(name, named, function, given)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_wrong_values(name):
    function, _, wrong = FUNCTIONS[name]
    assert set(inspect.signature(function).parameters) == set(wrong)


@pytest.mark.parametrize("metric", ["ndcg", "err"])
@pytest.mark.parametrize("name", ["of", "distribution"])
@pytest.mark.parametrize("given, missing", [({"n": 3}, "p"), ({"p": 1}, "n"), ({}, "n")])
def test_missing_partners_are_named(metric, name, given, missing):
    refused(f"moonrank.bounds.{name}", missing, getattr(moonrank.bounds, name), {"metric": metric, **given})


def test_torch_losses():
    torch = pytest.importorskip("torch")
    import moonrank.torch
    name = "moonrank.torch.Loss"
    for argument, values in {**OBJECTIVE, "reduction": TEXTS}.items():
        for value in values:
            given, named = {"name": "ndcg", argument: value}, argument
            if argument == "options":
                given, named = {"name": "ndcg", **value}, next(iter(value))
            refused(name, named, moonrank.torch.Loss, given)
    refused(name, "metric", moonrank.torch.Loss, {"name": "bce", "metric": "nosuch"})
    others = {"scores": torch.tensor(SCORES), **JUDGED}
    tensors = {"grades": [torch.tensor([-1.0, 0, 0]), torch.tensor([0.0, 1.0])], "sizes": [torch.tensor([2])]}
    for argument, values in {"scores": ["x", None, SCORES, torch.tensor([1, 2, 3]), torch.tensor([1.0, NAN, 2.0]),
                                        torch.tensor([1.0])], **LISTS, **WEIGHTS}.items():
        for value in [*values, *tensors.get(argument, [])]:
            refused(name, argument, moonrank.torch.Loss("ndcg"), {**others, argument: value})
    refused(name, "weights", moonrank.torch.Loss("bsl"), {**others, "weights": [1, 2, 1]})


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_objectives_and_metrics_of_trees(library):
    pytest.importorskip(library)
    package = __import__(f"moonrank.{library}", fromlist=["Metric"])
    name = f"moonrank.{library}.Objective"
    for argument, values in OBJECTIVE.items():
        for value in values:
            given, named = {"name": "ndcg", argument: value}, argument
            if argument == "options":
                given, named = {"name": "ndcg", **value}, next(iter(value))
            refused(name, named, package.Objective, given)
    for argument, values in CONVENTIONS.items():
        for value in values:
            if value != "trec":  # an error where scores are ranked
                refused(f"moonrank.{library}.Metric", argument, lambda **given: package.Metric("ap", **given),
                        {argument: value})
    for value in METRICS["metrics"]:
        refused(f"moonrank.{library}.Metric", "metrics", lambda value: package.Metric(value), {"value": value})

    class Data:
        def __init__(self, label=GRADES, group=SIZES):
            self.label, self.group = label, group

        def get_label(self):
            return None if self.label is None else np.float32(self.label)

        def get_weight(self):
            return np.ones(2)

        def get_group(self):
            return self.group

        def get_uint_info(self, _):
            return [] if self.group is None else np.cumsum([0, *self.group])

    class Labelled:
        def get_label(self):
            return np.float32(GRADES)

    class Derived(package.Objective):
        pass

    right = np.zeros(3)
    cases = [("predictions", wrong, Data()) for wrong in ("x", np.array([0, NAN, 1]), np.zeros(2), np.zeros((2, 2)))]
    cases += [("label", right, Data([-1, 0, 0])), ("labels", right, Data(None)), ("group", right, Data(group=None))]
    for made, name in ((package.Objective("ndcg"), "Objective"), (package.Metric("ndcg"), "Metric"),
                       (Derived("ndcg"), "Objective")):
        for argument, predictions, data in cases:
            if argument != "group" or library == "lightgbm":
                refused(f"moonrank.{library}.{name}", argument, lambda **given: made(given["p"], given["data"]),
                        {"p": predictions, "data": data})
        for data in [None, "x", GRADES, {"group": SIZES}, Labelled(), *([right] if library == "xgboost" else [])]:
            text = refused(f"moonrank.{library}.{name}", "data", lambda **given: made(given["p"], given["data"]),
                           {"p": right, "data": data})
            assert type(data).__name__ in text and ("DMatrix" in text or "Dataset" in text)
    refused(f"moonrank.{library}.Objective", "weights", lambda: package.Objective("ndcg")(right, Data()), {})
    if library == "lightgbm":
        for made, name in ((package.Objective("ndcg"), "Objective"), (package.Metric("ndcg"), "Metric")):
            for argument, given in (("group", {"group": None}), ("group", {"group": np.array([2])}),
                                    ("grades", {"grades": np.array([NAN, 0, 0])})):
                refused(f"moonrank.lightgbm.{name}", argument, made.ranker, {
                    "grades": np.array(GRADES), "predictions": right, "weights": None, "group": np.array(SIZES),
                    **given})


def test_errors_of_scripts_are_those_of_lua():
    with pytest.raises(moonrank.MoonrankError) as error:
        moonrank.lua("error('no', 0)")
    assert str(error.value) == "no"
    with pytest.raises(moonrank.MoonrankError, match="^script:1: "):
        moonrank.lua("mr.evaluate(1)")


def test_an_error_can_be_copied():
    with pytest.raises(moonrank.MoonrankError) as error:
        moonrank.bounds.of("ndcg", n=3)
    for other in (copy.copy(error.value), pickle.loads(pickle.dumps(error.value))):
        assert str(other) == str(error.value)
