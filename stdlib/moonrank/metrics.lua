-- Exact ranking metrics, one value per list. Tied rows: ties = "mean" (default) takes the expectation over all their orders, so that a constant
-- scorer earns nothing; "stable" puts the lower row first, "worst" the less relevant, "trec" the larger document id. Lists without relevant
-- rows: empty = "skip" (default: left out of means; the value of the list itself is 0 where the definition gives 0, as for RR, and NaN where it
-- gives 0/0, as for AP), "zero", "one" or "nan".
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.metrics.Options
---@field k? integer         ranks that count (default: all)
---@field ties? "mean"|"stable"|"worst"|"trec"
---@field empty? "skip"|"zero"|"one"|"nan"
---@field relevant? number   least grade of a relevant row (default 1)

local none = check.none

-- name -> { options of its own with defaults, values from a ranking, flags: zero (by definition, without relevant rows), needs_k, minimize, ties }
local definitions = {}

local function define(name, own, values, flags)
  definitions[name] = { own = own, values = values, flags = flags or {} }
  M[name] = function(scores, lists, options)
    return M.parse(name, options)(scores, lists)
  end
end

---DCG: sum of gain(grade) / log2(rank + 1). Options: k, gain = "exp2" (2^y - 1) | "linear" | "exp2_plus_one" (Järvelin & Kekäläinen 2002).
define("dcg", { k = none, gain = "exp2" }, function(r, o) return core.dcg(r, o.k, o.gain, false, o.empty) end, { zero = true })
---nDCG: DCG over that of the grades sorted downwards, both cut at k.
define("ndcg", { k = none, gain = "exp2" }, function(r, o) return core.dcg(r, o.k, o.gain, true, o.empty) end)
---Average precision; denominator = "relevant" (P, default) | "cutoff" (min(P, k)).
define("ap", { k = none, denominator = "relevant" },
  function(r, o) return core.average_precision(r, o.k, o.denominator, o.empty) end)
---Rank-biased precision (Moffat & Zobel 2008): (1 - p) sum p^(rank - 1); p = 0.95.
define("rbp", { p = 0.95, k = none }, function(r, o) return core.rank_biased_precision(r, o.p, false, o.k, o.empty) end,
  { zero = true })
---Rank-biased precision over the most that P relevant rows can have, 1 - p^P (Westerborg 2022, Eq. 2.5); p = 0.95.
define("nrbp", { p = 0.95, k = none }, function(r, o) return core.rank_biased_precision(r, o.p, true, o.k, o.empty) end)
---nRBP loss (Westerborg 2022, Eq. 2.12, with exact ranks): wrongly ordered pairs; less is better.
define("nrbp_loss", {}, function(r, o) return core.nrbp_loss(r, o.empty) end, { minimize = true, zero = true })
---Reciprocal rank of the first relevant row, 0 where it is below k.
define("rr", { k = none }, function(r, o) return core.first_relevant(r, o.k, true, o.empty) end, { zero = true })
---Relevant rows within k, over k. k is needed.
define("precision", { k = none }, function(r, o) return core.hits_at(r, o.k, "k", o.empty) end, { needs_k = true, zero = true })
---Relevant rows within k, over P. k is needed.
define("recall", { k = none }, function(r, o) return core.hits_at(r, o.k, "relevant", o.empty) end, { needs_k = true })
---Relevant rows within the first P, over P.
define("r_precision", {}, function(r, o) return core.hits_at(r, nil, "relevant", o.empty) end)
---Whether a relevant row is within k. k is needed.
define("hit", { k = none }, function(r, o) return core.first_relevant(r, o.k, false, o.empty) end, { needs_k = true, zero = true })
---Expected reciprocal rank (Chapelle et al. 2009); top: the largest grade there can be (default: the largest there is).
define("err", { k = none, top = none }, function(r, o) return core.expected_reciprocal_rank(r, o.k, o.top, o.empty) end, { zero = true })
---Share of (relevant, other) pairs in the right order.
define("auc", {}, function(r, o) return core.auc(r, o.empty) end)
---bpref (Buckley & Voorhees 2004), as trec_eval has it.
define("bpref", {}, function(r, o) return core.bpref(r, o.empty) end)

---@class mr.Metric
---@field name string  e.g. "ndcg@10"
local Metric = check.class("mr.Metric")

-- Key of the ranking that the metric reads, so that metrics share it.
function Metric:_ranking_key() return ("%s %g"):format(self.options.ties, self.options.relevant) end

function Metric:_rank(scores, lists) return core.ranking(scores, lists, self.options.ties, self.options.relevant) end

---One value per list.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        [lists]
function Metric:__call(scores, lists) return self:_values(self:_rank(scores, lists), lists) end

function Metric:_values(ranking, lists, empty)
  local o = setmetatable({ empty = empty or self._empty }, { __index = self.options })
  return self._compute(ranking, o, lists)
end

function Metric:__tostring() return self.name end

local function known_names()
  local names = {}
  for name in pairs(definitions) do names[#names + 1] = name end
  return names
end

-- "ndcg@10" -> "ndcg", {k = 10}; "nrbp(0.95)" -> "nrbp", {p = 0.95}; "rbp(0.8)@5" both.
local function taken_apart(text)
  local base, rest = text:match("^([%a_][%w_]*)(.*)$")
  if not base then check.unknown("metric", text, known_names()) end
  local own = {}
  local p, after = rest:match("^%(([%d.]+)%)(.*)$")
  if p then own.p, rest = tonumber(p), after end
  local k, last = rest:match("^@(%d+)(.*)$")
  if k then own.k, rest = math.tointeger(tonumber(k)), last end
  if rest ~= "" then check.fail("metric '%s': found '%s' after the name, expected @k or (p)", text, rest) end
  return base, own
end

local function merged_options(definition, text, own, options)
  local defaults = { ties = "mean", empty = "skip", relevant = 1 }
  for name, value in pairs(definition.own) do defaults[name] = value end
  for name, value in pairs(own) do
    if definition.own[name] == nil then check.fail("metric '%s' takes no %s", text, name) end
    defaults[name] = value
  end
  local o = check.options("mr.metrics." .. text, options, defaults)
  if o.k ~= nil and math.type(o.k) ~= "integer" then check.fail("metric '%s': k is %s, expected an integer", text, tostring(o.k)) end
  if definition.flags.needs_k and not o.k then check.fail("metric '%s' needs k, as in '%s@10'", text, text) end
  return o
end

---A metric from its name: "ndcg", "ndcg@10", "nrbp(0.95)", "precision@5". The result is called with (scores, lists).
---@param text string|mr.Metric
---@param options? mr.metrics.Options
---@return mr.Metric
---Example: `mr.metrics.parse("ndcg@10").name   --> ndcg@10`
function M.parse(text, options)
  if getmetatable(text) == Metric then return text end
  if type(text) ~= "string" then check.fail("mr.metrics.parse: a name expected, got a %s", type(text)) end
  local base, own = taken_apart(text)
  local definition = definitions[base]
  if not definition then check.unknown("metric", base, known_names()) end
  local o = merged_options(definition, text, own, options)
  local empty = o.empty == "skip" and definition.flags.zero and "zero" or o.empty
  return setmetatable({ name = text, options = o, minimize = definition.flags.minimize or false, _compute = definition.values,
    _empty = empty }, Metric)
end

---A metric of your own: a function of exact ranks (one per row, ties by the rule) and lists that gives one value per list.
---@param name string
---@param f fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
---Example: `mr.metrics.define("mean_rank", function(ranks, lists) return lists:mean(ranks) end)`
function M.define(name, f)
  if definitions[name] then check.fail("mr.metrics.define: there is a metric '%s' already", name) end
  define(name, {}, function(ranking, _, lists) return f(core.ranks(ranking), lists) end)
end

---Names of all metrics.
---@return string[]
function M.names()
  local names = known_names()
  table.sort(names)
  return names
end

-- Exact ranks and orders are methods of lists.
local lists_methods = core.classes["mr.Lists"].methods

---Rank of every row in its list, from 1. Under ties = "mean" tied rows share the middle of their ranks.
---@param x mr.Tensor  [rows]
---@param options? { ties?: string }
---@return mr.Tensor   [rows]
function lists_methods:rank(x, options)
  local o = check.options("rank", options, { ties = "mean" })
  return core.ranks(core.ranking(x, self, o.ties, 1))
end

---Row numbers of each list from the first rank to the last; of tied rows the lower first.
---@param x mr.Tensor  [rows]
---@param options? { ties?: string }
---@return mr.Tensor   [rows] int64
function lists_methods:order(x, options)
  local o = check.options("order", options, { ties = "stable" })
  return core.order(core.ranking(x, self, o.ties, 1))
end

return M
