"""Every metric, bound and loss has the program's numbers, to the last bit."""

import math

import numpy as np
import pytest
from kept_losses import differentiated

import moonrank
from moonrank import _library, _lists

NEED_CUTOFF = {"f1", "hit", "letor_ndcg", "precision", "recall"}
METRIC_NAMES = [name + "@3" if name in NEED_CUTOFF else name for name in moonrank.names()["metrics"]]
AFFINE = ["none", "minmax", "expectation", "expectation_max", "zscore"]

HEAD = """
local mr = require "moonrank"
local exact = require("moonrank.evaluate").exact
local newton = require "moonrank.losses.newton"
local function show(key, tensor)
  local out = {}
  for i, x in ipairs(tensor:double():totable()) do out[i] = ("%%a"):format(x) end
  print(key, table.concat(out, " "))
end
local lists = mr.lists{ relevance = mr.tensor{%s}, sizes = {%s} }
local scores = { float64 = mr.tensor({%s}, { dtype = "float64" }) }
scores.float32 = scores.float64:float()
"""


def head(lists):
    texts = [", ".join("%.17g" % x for x in values) for values in (lists.grades, lists.sizes, lists.scores)]
    return HEAD % tuple(texts)


def listed(names):
    return ", ".join(f'"{name}"' for name in names)


def numbers(text):
    """Returns printed numbers by their keys."""
    found = {}
    for line in text.splitlines():
        key, _, values = line.partition("\t")
        found[key] = np.array([float.fromhex(value) for value in values.split()])
    return found


def assert_equal(found, expected):
    assert sorted(found) == sorted(expected)
    differing = [key for key in expected if np.shape(found[key]) != np.shape(expected[key])
                 or not np.array_equal(found[key], expected[key], equal_nan=True)]
    assert differing == []


METRICS = """
for _, name in ipairs{ %s } do
  for _, bound in ipairs{ %s } do
    for dtype, x in pairs(scores) do
      local found = mr.evaluate(x, lists, { bound == "plain" and name or { name, bound = bound } })
      show(table.concat({ name, bound, dtype, "values" }, " "), exact(found, found.names[1]))
    end
  end
end
"""


@pytest.mark.parametrize("grades", ["binary", "graded"])
def test_every_metric_and_bound_equals_the_program(program, tmp_path, request, grades):
    lists = request.getfixturevalue(grades)
    bounds = ["plain", *AFFINE]
    expected = numbers(program(head(lists) + METRICS % (listed(METRIC_NAMES), listed(bounds)), tmp_path))
    found = {}
    for name in METRIC_NAMES:
        for bound in bounds:
            for dtype in ("float32", "float64"):
                evaluation = moonrank.evaluate(lists.scores.astype(dtype), lists.grades, lists.sizes,
                                               [name if bound == "plain" else (name, bound)])
                own, = evaluation.names
                found[f"{name} {bound} {dtype} values"] = evaluation.values[own]
                values = evaluation.values[own][~np.isnan(evaluation.values[own])]
                if len(values) == 0:
                    assert np.isnan(evaluation.mean[own])
                else:  # the program's mean is the mean of values that were already rounded
                    assert evaluation.mean[own] == pytest.approx(math.fsum(values) / len(values), rel=1e-15, abs=1e-15)
    assert_equal(found, expected)


LOSSES = """
for _, name in ipairs(mr.losses.names()) do
  for _, bound in ipairs(mr.losses.bounds(name)) do
    local loss = mr.losses[name]{ bound = bound }
    for dtype, x in pairs(scores) do
      local key = table.concat({ name, bound, dtype, "" }, " ")
      mr.seed(1)
      x = x:detach():requires_grad()
      local values = loss(x, lists)
      if values.tracked then values:sum():backward() end
      show(key .. "values", values:detach())
      show(key .. "gradient", x.grad or x:detach() * 0)
      mr.seed(1)
      show(key .. "mean", loss:mean(x:detach(), lists):reshape{1})
      mr.seed(1)
      local first, second = newton.derivatives(loss, x:detach():double(), lists)
      show(key .. "first", first)
      show(key .. "second", second)
    end
  end
end
"""


def test_every_loss_and_bound_equals_the_program(program, tmp_path, binary):
    expected = numbers(program(head(binary) + LOSSES, tmp_path))
    given = _lists.judged(binary.grades, binary.sizes)
    kept = _library.Kept("lists", given)
    found = {}
    for name in moonrank.names()["losses"]:
        for bound in moonrank.lua("return (mr.losses.bounds(name))", name=name):
            loss = _library.Kept("loss", {"loss": name, "options": {"bound": bound}})
            for dtype in ("float32", "float64"):
                scores = binary.scores.astype(dtype)
                moonrank.lua("mr.seed(1)")
                values, gradient = differentiated(loss, scores, given, "none")
                moonrank.lua("mr.seed(1)")
                mean, _ = differentiated(loss, scores, given, "mean", gradient=False)
                moonrank.lua("mr.seed(1)")
                newton = _library.call("derivatives", {"loss": loss.number, "scores": scores, "lists": kept.number})
                for key, array in (("values", values), ("gradient", gradient), ("mean", mean), ("first", newton["first"]), ("second", newton["second"])):
                    found[f"{name} {bound} {dtype} {key}"] = np.atleast_1d(array.astype(np.float64))
    assert_equal(found, expected)


BOUNDS = """
for _, name in ipairs{ %s } do
  local of = mr.bounds.of(name, { n = 7, p = 3 })
  show(name .. " of", mr.tensor({ of.min, of.max, of.best, of.expectation, of.sd }, { dtype = "float64" }))
  local d = mr.bounds.distribution(name, { n = 7, p = 3 })
  local values, probabilities = d:pmf()
  show(name .. " values", values)
  show(name .. " probabilities", probabilities)
  show(name .. " numbers", mr.tensor({ d:mean(), d:sd(), d:min(), d:max(), d:cdf(0.5), d:quantile(0.3) },
    { dtype = "float64" }))
end
"""


def test_ranges_and_distributions_equal_the_program(program, tmp_path, binary):
    expected = numbers(program(head(binary) + BOUNDS % listed(METRIC_NAMES), tmp_path))
    found = {}
    for name in METRIC_NAMES:
        of = moonrank.bounds.of(name, n=7, p=3)
        found[f"{name} of"] = np.array([of[key] for key in ("min", "max", "best", "expectation", "sd")])
        d = moonrank.bounds.distribution(name, n=7, p=3)
        found[f"{name} values"], found[f"{name} probabilities"] = d.pmf()
        found[f"{name} numbers"] = np.array([d.mean, d.sd, d.min, d.max, d.cdf(0.5), d.quantile(0.3)])
    assert_equal(found, expected)


COMPARISON = """
local systems = { a = scores.float64, b = scores.float32 * -1, c = scores.float64 * 0 }
for name, x in pairs(systems) do systems[name] = mr.evaluate(x, lists, { "ndcg@3", { "ap", bound = "minmax" } }) end
local found = mr.compare{ systems = systems, samples = 500, seed = 3, order = { "c", "a", "b" } }
local tests = found:tests()
for i, row in ipairs(tests.rows) do
  local out = {}
  for c = 4, #tests.columns do out[#out + 1] = row[c] end
  show("test " .. i, mr.tensor(out, { dtype = "float64" }))
end
print(found:to_markdown())
"""


def table(markdown):
    return [line for line in markdown.splitlines() if line.startswith("|")]


def test_a_comparison_equals_the_program(program, tmp_path, graded):
    printed = program(head(graded) + COMPARISON, tmp_path)
    lines = [line for line in printed.splitlines() if line.startswith("test ")]
    expected = numbers("\n".join(lines))
    systems = {"c": graded.scores * 0, "a": graded.scores, "b": -graded.scores.astype(np.float32)}
    found = moonrank.compare(systems, graded.grades, graded.sizes, ["ndcg@3", ("ap", "minmax")], samples=500, seed=3)
    assert found.systems == ["c", "a", "b"]
    rows = {f"test {i}": np.array(list(row.values())[3:], np.float64) for i, row in enumerate(found.tests, 1)}
    assert_equal(rows, expected)
    assert table(found.to_markdown()) == table(printed[printed.index(lines[-1]) + len(lines[-1]):])


METRICS_OF_ALL = ["ndcg@5", "ndcg", "ap", "rr", ("ap", "minmax"), "precision@5"]


@pytest.mark.parametrize("options", [{}, {"ties": "worst"}, {"empty": "zero"}, {"relevant": 2}, {"gain": "linear"}])
def test_a_comparison_has_the_means_of_evaluate(options):
    draw = np.random.default_rng(4)
    scores, grades, sizes = np.round(draw.normal(size=600), 1), draw.integers(0, 3, 600), np.full(100, 6)
    grades[:12] = 0
    metrics = ["ndcg@5"] if "gain" in options else METRICS_OF_ALL
    systems = {"b": scores, "a": -scores.astype(np.float32), "ties": scores * 0}
    found = moonrank.compare(systems, grades, sizes, metrics, samples=10, orders=10, **options)
    expected = {name: moonrank.evaluate(each, grades, sizes, metrics, **options) for name, each in systems.items()}
    assert [row["system"] for row in found.means] == list(systems) * len(metrics)
    for row in found.means:
        assert row["mean"] == pytest.approx(expected[row["system"]].mean[row["metric"]], abs=1e-15)
        assert row["lists"] == expected[row["system"]].counted[row["metric"]]


def test_wrong_comparisons_are_errors():
    grades, sizes = [0, 1], [2]
    for systems, options, word in (
            ({"a": [1, 2], "b": [2, 1]}, {"ties": "trec"}, "trec"), ([[1, 2]], {}, "systems"), ({}, {}, "systems"),
            ({1: [1, 2], 2: [2, 1]}, {}, "systems.*1"), ({"a": [1, 2], "b": [1]}, {}, "'b'")):
        with pytest.raises(moonrank.MoonrankError, match=word):
            moonrank.compare(systems, grades, sizes, ["ap"], **options)


def test_weights():
    scores, grades, sizes = [3.0, 2, 1, 1, 2], [0, 1, 2, 1, 0], [3, 2]
    plain = moonrank.evaluate(scores, grades, sizes, ["ndcg", "ap"])
    found = moonrank.evaluate(scores, grades, sizes, ["ndcg", "ap"], list_weights=[3, 1])
    for name in ("ndcg", "ap"):
        values = plain.values[name]
        assert found.mean[name] == pytest.approx((3 * values[0] + values[1]) / 4)
    found = moonrank.evaluate(scores, grades, sizes, ["ndcg@1"], weights=[1, 1, 0, 1, 1])
    assert found.values["ndcg@1"].tolist() == [0, 0]
    found = moonrank.evaluate(scores, grades, sizes, ["ndcg@2"], weights=[1, 1, 0, 1, 1])
    assert found.values["ndcg@2"][0] == pytest.approx(1 / np.log2(3), rel=1e-6)
    with pytest.raises(moonrank.MoonrankError, match="ap"):
        moonrank.evaluate(scores, grades, sizes, ["ap"], weights=[1] * 5)
