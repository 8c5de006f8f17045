-- Exact ranking metrics, with one value per list. A call with options alone returns the metric itself:
-- mr.metrics.rbp{p = 0.8}.
-- `ties` says how tied rows are ordered. "mean" (default) takes the mean over all orders of the tied rows, so that
-- constant scores are not rewarded. The row that comes first is the one with the lower row number under "stable", the
-- less relevant row under "worst", and the document with the larger id under "trec".
-- `empty` says what a list without relevant rows counts: "zero", "one", "nan", or "skip" (default). Under "skip",
-- means leave the list out, and evaluations show NaN. A direct call then returns what the metric's definition
-- gives: 0 (RR) or 0/0 (AP).
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local declared = require "moonrank.metrics.declared"
local metric = require "moonrank.metrics.registry"

local M = {}

-- Raises an error about a number in the place of scores, which is meant as the cutoff.
local function refuse_number(name, k)
  local ok = check.attempt(metric.parse, name, { k = k })
  check.fail("mr.metrics.%s: scores is the number %g, expected scores and lists, or options%s", name, k,
    ok and (". Write mr.metrics.%s{k = %d}, or the name '%s@%d' in a list of metrics"):format(name, k, name, k) or "")
end

local function given(name, scores, lists, options)
  if type(scores) == "number" then refuse_number(name, scores) end
  if type(scores) == "table" and lists == nil and options == nil then return metric.parse(name, scores) end
  return metric.parse(name, options)(scores, lists)
end

---Computes discounted cumulative gain (Järvelin & Kekäläinen 2002): the sum over rows i of the gain
---of the grade $y_i$, discounted by the rank $r_i$.
---
---   $DCG = sum_i gain(y_i) / log2(r_i + 1)$
---
---Every grade above 0 counts. A gain above 2^1000, or above 2^96 with float32 scores, raises an
---error. With `gain = "exp2_plus_one"`, grade 0 has gain 1, so a list without relevant rows also
---has a DCG. Evaluations still leave such a list out under `empty = "skip"`.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  k, gain; ties, empty, relevant
---@return mr.Tensor        [lists]
---Example: `mr.metrics.dcg(mr.tensor{3, 2, 1}, mr.lists{{0, 2, 0}}, {gain = "linear"}):item()   --> 1.2619`
function M.dcg(scores, lists, options) return given("dcg", scores, lists, options) end

---Computes nDCG: DCG divided by the DCG of the ideal ranking, both cut at rank k (Westerborg
---2022, Eqs. 2.2, 2.3).
---
---   $nDCG = 1 / IDCG sum_i gain(y_i) / log2(r_i + 1)$
---
---Row i has the grade $y_i$ and the rank $r_i$. IDCG is the DCG of the ideal ranking, which sorts
---grades in descending order. Every grade above 0 counts. A gain above 2^1000 raises an error.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  k, gain; ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.ndcg(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {k = 2}):item()   --> 0.6309`
function M.ndcg(scores, lists, options) return given("ndcg", scores, lists, options) end

---Computes nDCG@k as LETOR 4.0's evaluation script does (Eval-Score-4.0.pl; Qin & Liu 2013). The
---gain is 2^y - 1 for grade y. Ranks 1 and 2 have the discount 1, and rank r from 3 on has 1 /
---log2(r). A list with fewer than k rows counts as 0. A list without relevant rows counts as 0 as
---well, unless `empty` says otherwise. The script leaves tied rows in the order of the file, as
---`ties = "stable"` does. k is required. The metric is for evaluation only: it has no smooth form,
---and mr.losses.lambdarank does not take it.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options mr.metrics.Options  k; ties, empty
---@return mr.Tensor        [lists]
---Example: `mr.metrics.letor_ndcg(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {k = 2}):item()   --> 1.0`
---Example: `mr.metrics.letor_ndcg(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {k = 10}):item()   --> 0.0`
function M.letor_ndcg(scores, lists, options) return given("letor_ndcg", scores, lists, options) end

---Computes average precision (Westerborg 2022, Eq. 2.6): the sum of the precision at the rank of
---each relevant row, up to rank k. The sum is divided by P, the number of relevant rows, or by
---min(P, k), as the option `denominator` says.
---
---   $AP = 1/P sum_(relevant i) 1 / r_i sum_(relevant j) [r_j <= r_i]$
---
---Row i has the rank $r_i$. The brackets are 1 if what they contain is true, else 0.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  k, denominator; ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.ap(mr.tensor{3, 2, 1}, mr.lists{{1, 0, 1}}):item()   --> 0.8333`
function M.ap(scores, lists, options) return given("ap", scores, lists, options) end

---Computes rank-biased precision (Moffat & Zobel 2008; Westerborg 2022, Eq. 2.4).
---
---   $RBP = (1 - p) sum_(relevant i) p^(r_i - 1)$
---
---Row i has the rank $r_i$, and p is the probability that a user goes on to the next row.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  p, k; ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.rbp{p = 0.5}(mr.tensor{3, 2, 1}, mr.lists{{1, 0, 1}}):item()   --> 0.625`
function M.rbp(scores, lists, options) return given("rbp", scores, lists, options) end

---Computes nRBP (Westerborg 2022, Eq. 2.5): rank-biased precision divided by its maximum for P
---relevant rows.
---
---   $nRBP = RBP / (1 - p^P) = (1 - p) / (1 - p^P) sum_(relevant i) p^(r_i - 1)$
---
---Row i has the rank $r_i$. With `k`, only the first k ranks count; the divisor stays as
---it is.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  p, k; ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.nrbp{p = 0.5}(mr.tensor{3, 2, 1}, mr.lists{{1, 0, 1}}):item()   --> 0.8333`
function M.nrbp(scores, lists, options) return given("nrbp", scores, lists, options) end

---Counts the wrongly ordered pairs of a relevant row and a row that is not relevant. This is the
---nRBP loss with exact ranks (Westerborg 2022, Eq. 2.12). Lower is better.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.nrbp_loss(mr.tensor{3, 2, 1}, mr.lists{{0, 0, 1}}):item()   --> 2.0`
function M.nrbp_loss(scores, lists, options) return given("nrbp_loss", scores, lists, options) end

---Counts the pairs of rows with unequal grades in the wrong order. Lower is better. A tied pair
---counts half under `ties = "mean"`. For grades 0 and 1 the metric equals
---mr.metrics.nrbp_loss. Bounds of the losses ranknet, hinge and direct_ranker are computed from this
---metric, unless their option `metric` names another.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  ties, empty
---@return mr.Tensor        [lists]; 0 for a list whose grades are all equal (all 0: see option `empty`)
---Example: `mr.metrics.wrong_pairs(mr.tensor{3, 2, 1}, mr.lists{{1, 3, 2}}):item()   --> 2.0`
function M.wrong_pairs(scores, lists, options) return given("wrong_pairs", scores, lists, options) end

---Computes reciprocal rank: 1 / rank of the first relevant row (Li et al. 2021, Eq. 4). It is 0 if
---this rank is greater than k. Row i has the rank $r_i$:
---
---   $RR = max_(relevant i) 1 / r_i$
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  k; ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.rr(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 1}}):item()   --> 0.5`
function M.rr(scores, lists, options) return given("rr", scores, lists, options) end

---Computes precision at k: the number of relevant rows among the first k, divided by k. The divisor
---is also k for lists with fewer rows. k is required.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options mr.metrics.Options  k; ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.precision(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 1}}, {k = 2}):item()   --> 0.5`
function M.precision(scores, lists, options) return given("precision", scores, lists, options) end

---Computes recall at k: the number of relevant rows among the first k, divided by the number of all
---relevant rows. k is required.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options mr.metrics.Options  k; ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.recall(mr.tensor{3, 2, 1}, mr.lists{{1, 1, 1}}, {k = 2}):item()   --> 0.6667`
function M.recall(scores, lists, options) return given("recall", scores, lists, options) end

---Computes F1 at k: the harmonic mean of precision at k and recall at k. k is required.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options mr.metrics.Options  k; ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.f1(mr.tensor{3, 2, 1}, mr.lists{{1, 1, 1}}, {k = 2}):item()   --> 0.8`
function M.f1(scores, lists, options) return given("f1", scores, lists, options) end

---Computes R-precision: the number of relevant rows among the first P ranks, divided by P. P is the
---number of all relevant rows of the list.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.r_precision(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 1}}):item()   --> 0.5`
function M.r_precision(scores, lists, options) return given("r_precision", scores, lists, options) end

---Computes hit at k: 1 if a relevant row is among the first k rows, else 0. If rows are tied, the
---value is the probability of a hit over random orders of these rows (`ties = "mean"`, the default).
---k is required.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options mr.metrics.Options  k; ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.hit(mr.tensor{1, 1, 1}, mr.lists{{0, 0, 1}}, {k = 1}):item()   --> 0.3333`
function M.hit(scores, lists, options) return given("hit", scores, lists, options) end

---Computes expected reciprocal rank (Chapelle et al. 2009): a user reads down the ranking and stops
---at a row with a probability that rises with the grade.
---
---   $ERR = sum_i stop_i / r_i prod_(r_j < r_i) (1 - stop_j)$
---
---Row i has the grade y_i, the rank r_i, and the probability $stop_i = (2^(y_i) - 1) / 2^top$. The
---option `top` is the largest possible grade; a grade above it is an error. Every grade above 0 counts.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  k, top; ties, empty, relevant
---@return mr.Tensor        [lists]; 0 for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.err(mr.tensor{3, 2, 1}, mr.lists{{1, 0, 0}}):item()   --> 0.5`
function M.err(scores, lists, options) return given("err", scores, lists, options) end

---Computes AUC: the fraction of pairs of a relevant row and a row that is not relevant that are in
---the right order. A tied pair counts half under `ties = "mean"`, the default. The value is NaN if all
---rows are relevant. With N rows, of which P are relevant, and ranks r:
---
---   $AUC = 1 / (P (N - P)) sum_(relevant i) sum_(irrelevant j) [r_i < r_j]$
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.auc(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}):item()   --> 0.5`
function M.auc(scores, lists, options) return given("auc", scores, lists, options) end

---Computes bpref (Buckley & Voorhees 2004) as trec_eval does: the mean over the P relevant rows of
---$1 - min(others above, P) / min(P, others)$. "Others" are rows that are not relevant; "others
---above" rank before the relevant row. The value is 1 if all rows are relevant.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param options? mr.metrics.Options  ties, empty, relevant
---@return mr.Tensor        [lists]; NaN for a list without relevant rows (see option `empty`)
---Example: `mr.metrics.bpref(mr.tensor{4, 3, 2, 1}, mr.lists{{1, 0, 1, 0}}):item()   --> 0.75`
function M.bpref(scores, lists, options) return given("bpref", scores, lists, options) end

-- Adds a function to `mr.metrics` for every metric of the registry that has no function of its own in this file.
for _, name in ipairs(metric.names()) do
  M[name] = M[name] or function(scores, lists, options) return given(name, scores, lists, options) end
end

---Returns a metric from its name: "ndcg", "ndcg@10", "nrbp(0.95)", "precision@5". The metric,
---called with (scores, lists), returns one value per list. An unknown name is an error. A metric is
---returned unchanged, and takes no options.
---@param text string|mr.Metric
---@param options? mr.metrics.Options
---@return mr.Metric
---Example: `mr.metrics.parse("ndcg", {k = 10}).name   --> ndcg@10`
function M.parse(text, options) return metric.parse(text, options) end

local own = {}  -- names of metrics that scripts defined; scripts may define them again

local define_options = declare("mr.metrics.DefineOptions", {
  { "direction", "string", default = "maximize", choices = { "maximize", "minimize" }, formerly = "minimize",
    renamed = 2, meant = { [true] = "minimize", [false] = "maximize" },
    help = "whether larger or smaller values are better" },
})

local check_define = arguments{ "f", "function|table",
  expected = "a function, or a table with gain and discount" }

---Defines a metric of your own, which is then known by its name. The script may define the name
---again; a name of Moonrank's own metrics, or of another function in mr.metrics, is an error. `f` is a
---function of exact ranks and lists that returns one value per list. There is one rank per row; under
---ties = "mean", tied rows share the middle of their ranks. Ranks and the lists' relevance are float64,
---whatever the type of the scores. A float32 tensor of the script has to be converted with :double()
---before `f` combines it with them. Calls of the metric return values of the scores' type. The metric's
---option `empty` says what a list without relevant rows counts.
---
---`f` may instead be a table with `gain(grade)` and `discount(rank)`. The metric is then the sum
---over rows of gain times discount. With `ideal = true`, this sum is divided by the sum for the
---ranking by gain. mr.losses.lambdarank takes metrics declared by gain and discount, too.
---@param name string
---@param f (fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor)|mr.metrics.Declared
---@param options? mr.metrics.DefineOptions
---Example:
---local function mean_rank(ranks, lists) return lists:mean(ranks) end
---mr.metrics.define("documented_mean_rank", mean_rank, {direction = "minimize"})
---mr.metrics.documented_mean_rank(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}):item()   --> 2.0
---Example:
---local parts = {gain = function(grade) return grade end, discount = function(rank) return 1 / rank ^ 2 end}
---mr.metrics.define("documented_top_heavy", parts)
---local loss = mr.losses.lambdarank{metric = "documented_top_heavy"}
---loss(mr.tensor{0, 0}, mr.lists{{0, 2}}):item() / math.log(2)   --> 1.5
function M.define(name, f, options)
  local o = define_options:read("mr.metrics.define", options)
  local is_taken = not own[name] and type(name) == "string" and (rawget(M, name) ~= nil or metric.known(name))
  check.new_name("mr.metrics.define", name, is_taken and "a metric or function of the library" or nil)
  check_define("mr.metrics.define", f)
  local minimize = o.direction == "minimize"
  if type(f) == "table" then
    local made = declared.made(name, f)
    metric.define(name, made.values, minimize, made.tables, f)
  else
    metric.define(name, f, minimize)
  end
  own[name] = true
  M[name] = function(scores, lists, with) return given(name, scores, lists, with) end
end

---Returns the sorted names of all metrics, including those that scripts defined.
---@return string[]
---Example: `mr.metrics.names()[1]   --> ap`
function M.names() return metric.names() end

return M
