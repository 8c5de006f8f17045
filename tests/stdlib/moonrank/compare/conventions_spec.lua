-- Tests the conventions of mr.compare: gain, ties and empty lists of runs, files and tensors, and the tables that print
-- them.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- Ten queries of five documents. Queries 2 and 10 have no relevant document. Features differ within a query.
local grades, features = {}, {}
for q = 1, 10 do
  grades[q] = {}
  for d = 1, 5 do
    grades[q][d] = (q == 2 or q == 10) and 0 or (q * d * d + d) % 5
    features[#features + 1] = { (q * 7 + d * 3) % 5 + q / 100 }
  end
end
local lists = mr.lists(grades)
local data = mr.data.dataset{ lists = lists, features = mr.tensor(features) }
local model = mr.models.linear{ inputs = 1 }
local run = mr.fit{ model = model, loss = mr.losses.ndcg{}, train = data, test = data, epochs = 1,
  metrics = { "ndcg@3", "rr" }, progress = false }
local scores = model(data:batches{ size = 10 }()):detach()
local numbers = scores:totable()

-- Returns nDCG@3 of a query, computed by its definition.
local function ndcg_of(q, gain_of)
  local order, ideal = {}, {}
  for d = 1, 5 do order[d], ideal[d] = d, grades[q][d] end
  table.sort(order, function(a, b) return numbers[5 * (q - 1) + a] > numbers[5 * (q - 1) + b] end)
  table.sort(ideal, function(a, b) return a > b end)
  local dcg, best = 0, 0
  for rank = 1, 3 do
    dcg = dcg + gain_of(grades[q][order[rank]]) * math.log(2) / math.log(rank + 1)
    best = best + gain_of(ideal[rank]) * math.log(2) / math.log(rank + 1)
  end
  return best > 0 and dcg / best or nil
end

-- Returns the mean over the queries. `empty` is the value of a query without relevant documents; nil leaves it out.
local function mean_of(gain_of, empty)
  local sum, count = 0, 0
  for q = 1, 10 do
    local value = ndcg_of(q, gain_of) or empty
    if value then sum, count = sum + value, count + 1 end
  end
  return sum / count
end

local function exp2(grade) return 2 ^ grade - 1 end
local function linear(grade) return grade end
local own, of_trec_eval = mean_of(exp2), mean_of(linear, 0)

it("mr.compare measures tensors by the conventions of a run, else by those of trec_eval or its options", function()
  check(math.abs(own - of_trec_eval) > 0.02)
  near(run.test.mean["ndcg@3"], own, 1e-6)
  local beside = mr.compare{ fit = run, tensor = scores, qrels = data }
  near(beside.cells["ndcg@3"].fit.mean, own, 1e-12)
  near(beside.cells["ndcg@3"].tensor.mean, own, 1e-12)
  equal(beside.pairs[1].p, 1.0)
  local function alone(options)
    options.a, options.b, options.qrels, options.metrics = scores, scores, data, { "ndcg@3" }
    return mr.compare(options)
  end
  local plain = alone{}
  near(plain.cells["ndcg@3"].a.mean, of_trec_eval, 1e-12)
  local function says(comparison, line)
    check((tostring(comparison) .. "\n"):find("\n" .. line .. "\n", 1, true), tostring(comparison))
  end
  says(plain, "gain linear; ties trec; empty lists zero; cutoff 3")
  local asked = alone{ gain = "exp2", ties = "mean", empty = "skip" }
  near(asked.cells["ndcg@3"].a.mean, own, 1e-12)
  says(asked, "gain exp2; ties mean; empty lists skip; cutoff 3")
  local evaluation = mr.data.scored(scores, lists):evaluate(lists, { "ndcg@3" }, { gain = "exp2", empty = "skip" })
  near(evaluation.mean["ndcg@3"], own, 1e-12)
end)

it("every table of metrics prints gain, ties, empty lists and cutoff, also in LaTeX", function()
  local line = "gain exp2; ties mean; empty lists skip; cutoff 3 (ndcg@3), none (rr); relevant 1"
  local c = mr.compare{ fit = run, tensor = scores, qrels = data }
  for name, text in pairs{ evaluation = tostring(run.test), latex = run.test:to_latex(), run = tostring(run),
    comparison = tostring(c), of_comparison = c:to_latex(), markdown = c:to_markdown(), tests = tostring(c:tests()),
    table = c:table():to_latex() } do
    check(text:find(line, 1, true), name .. ": " .. text)
  end
  check(tostring(c):find "2 of 10 lists [^\n]*ndcg@3, rr", tostring(c))
  check(c:to_latex():find("p \\textless{} 0.05", 1, true), c:to_latex())
  check(not run.test:to_csv():find "ties" and not c:to_csv():find "ties")
  -- a metric under a bound leaves out empty lists for any value of option empty
  local bounded = mr.evaluate(scores, lists, { { "rr", bound = "minmax" } }, { empty = "zero" })
  check(tostring(bounded):find("empty lists skip", 1, true) and bounded.skipped["rr[minmax]"] == 2, tostring(bounded))
end)

it("mr.compare rejects evaluations or options with different conventions and names both", function()
  local name = "ndcg@3"
  local function evaluated(options) return mr.evaluate(scores, lists, { name }, options) end
  local options = { gain = { "exp2", "linear" }, ties = { "mean", "worst" }, empty = { "skip", "one" },
    relevant = { 1, 2 } }
  for option, values in pairs(options) do
    local words = option == "empty" and "empty lists" or option
    name = option == "relevant" and "ap@3" or "ndcg@3"
    for _, value in ipairs(values) do
      raises(function() mr.compare{ a = evaluated{ [option] = values[1] }, b = evaluated{ [option] = values[2] } } end,
        words, tostring(value), "'a'", "'b'")
    end
    raises(function() mr.compare{ a = evaluated(), b = scores, qrels = lists, [option] = values[2] } end,
      option, tostring(values[1]))
    equal(mr.compare{ a = evaluated(), b = scores, qrels = lists, [option] = values[1] }.pairs[1].p, 1.0)
  end
  name = "ndcg@3"
  -- scores of a file are evaluated with linear gain, unlike runs of mr.fit
  local of_file = mr.data.scored(scores, lists):evaluate(lists, { "ndcg@3" })
  raises(function() mr.compare{ a = evaluated(), b = of_file } end, "gain", "exp2", "linear")
end)

it("mr.compare rejects scores whose rows differ from those of the evaluation", function()
  local fold = mr.data.synthetic{ users = 20, items = 60, mean_activity = 20, seed = 1 }:binarize(4):folds{ k = 2 }[1]
  local popular = mr.models.popularity{ fold = fold }
  local function refused(evaluation, scored, qrels, word)
    raises(function() mr.compare{ a = evaluation, b = scored, qrels = qrels } end, word)
  end
  refused(fold:evaluate(popular, { "rr" }), popular, fold.test, "candidates")
  refused(fold:evaluate(popular, { "rr" }), mr.data.scored(popular, fold.test), fold.test.lists, "candidates")
  local lists_of_a, other = mr.lists{ { 1, 0 }, { 1, 0 } }, mr.lists{ { 0, 1 }, { 1, 0 } }
  refused(mr.evaluate(mr.ones(4), lists_of_a, { "rr" }), mr.ones(4), other, "qrels")
end)

it("mr.compare reports difference 0 and p 1 for identical rankings from float32, float64 or a tensor", function()
  local many, shuffled = {}, {}
  for q = 1, 60 do many[q] = grades[(q - 1) % 9 + 1] end
  for i = 1, 300 do shuffled[i] = i * 37 % 101 + i / 1000 end
  local judged, x = mr.lists(many), mr.tensor(shuffled)
  local metrics = { "ndcg", "ap", "rr", "nrbp(0.9)", "err", { "ap", bound = "minmax" } }
  local single, double = mr.evaluate(x, judged, metrics), mr.evaluate(x:double(), judged, metrics)
  local c = mr.compare{ single = single, double = double }
  for _, pair in ipairs(c.pairs) do equal({ pair.difference, pair.p }, { 0.0, 1.0 }, pair.metric) end
  for _, name in ipairs{ "ndcg", "rr" } do
    equal(mr.stats.permutation(single[name], double[name]).p, 1, name)
    equal(mr.stats.wilcoxon(double[name], single[name]).p, 1, name)
  end
  local plain = { "ndcg", "ap", "rr", "nrbp(0.9)" }
  c = mr.compare{ single = mr.evaluate(x, judged, plain), tensor = x, qrels = judged }
  for _, pair in ipairs(c.pairs) do equal(pair.p, 1.0, pair.metric) end
end)

it("mr.compare keeps the order of float64 scores that are equal in float32", function()
  local close, judged = {}, mr.lists{ { 0, 0, 1 }, { 1, 0, 0 }, { 0, 1, 0 } }
  for i = 1, 9 do close[i] = 1 + i * 1e-12 end
  local x = mr.tensor(close, { dtype = "float64" })
  local c = mr.compare{ run = mr.evaluate(x, judged, { "rr" }), tensor = x, qrels = judged }
  near(c.values.rr.tensor, { 1, 1 / 3, 1 / 2 }, 1e-15)
  equal(c.pairs[1].p, 1.0)
end)
