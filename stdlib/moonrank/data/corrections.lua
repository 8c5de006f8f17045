-- Corrects sampled metrics. A list has one relevant row and sampled other rows. A correction estimates what the metric
-- would be if all items were ranked (Krichene & Rendle 2020, Section 5).
local core = require "moonrank.core"
local check = require "moonrank.check"
local evaluate = require "moonrank.evaluate"

local M = {}

-- Largest number of sampled items per list. With more sampled items, the equations of the least-squares estimates
-- overflow double precision.
local most_sampled = 1000

---A way to estimate metrics on all items from metrics on sampled items.
---@class mr.data.Correction
---@field suffix string          appended to a metric's name in brackets
---@field words string           how the estimates are described below a table
---@field most_sampled? integer  largest number of sampled items
---@field gamma? number          default weight of the variance; nil if it is fixed at 0

---All corrections of sampled metrics, by the value of the option `correct` of fold:candidates.
---@type table<string, mr.data.Correction>
M.all = {
  rank = { suffix = "corrected", words = "corrected to" },
  minimal_bias = { suffix = "minimal_bias", words = "corrected with the least bias to", most_sampled = most_sampled },
  trade_off = { suffix = "trade_off", words = "corrected by bias and variance (gamma %.14g) to",
    most_sampled = most_sampled, gamma = 0.1 },
}

local function one() return 1 end
-- Formula of each metric for a list of n rows whose only relevant row is at rank r; r may be fractional. The cutoff k
-- is applied later, in `values_at`.
local at_rank = {
  rr = function(r) return 1 / r end,
  ap = function(r) return 1 / r end,
  ndcg = function(r) return core.number_log(2) / (r + 1):log() end,
  hit = one,
  recall = one,
  precision = function(_, _, k) return 1 / k end,
  auc = function(r, n) return (n - r) / (n - 1) end,
}

local function values_at(each, r, n)
  local values = r * 0 + at_rank[each.base](r, n, each.k)
  return each.k and r:gt(each.k):where(0, values) or values
end

---Returns the metrics, renamed with the suffix of the correction `how`, as in "ndcg@10[corrected]".
---A metric without a known correction is an error, and so is a metric with other `ties` than "mean" or another
---`relevant` than 1.
---@param where string  function name for error messages
---@param metrics mr.Metric[]
---@param how string  a key of the table `all`, such as "rank"
---@return mr.Metric[]
function M.named(where, metrics, how)
  local named = {}
  for i, each in ipairs(metrics) do
    check.choice(where, "a metric that gets a correction", evaluate.is_bounded(each) and each.name or each.base,
      check.names(at_rank))
    check.expect(each.ties == "mean", where, ("ties of '%s'"):format(each.name), each.ties, "'mean' with correct")
    check.expect(each.relevant == 1, where, ("relevant of '%s'"):format(each.name), each.relevant, "1 with correct")
    named[i] = each:with("name", ("%s[%s]"):format(each.name, M.all[how].suffix))
  end
  return named
end

-- Computes metrics from the estimated rank of a list's relevant item among all n items that could be sampled. If r - 1
-- of m sampled items are above the relevant item, the estimate is that n (r - 1) / m of the n items are above it.
local function of_ranks(metrics, lists, ranks, n)
  local sampled = lists.sizes:to("cpu"):double() - 1
  local r = n:double() * (ranks - 1) / sampled:maximum(1) + 1
  return evaluate.of_values(#r, metrics, function(each) return values_at(each, r, n:double() + 1) end)
end

-- Returns the estimates of a metric for each rank that the relevant item can have among m sampled items, where m items
-- were sampled from n. The estimates are cached in `tables`, because many users have the same n.
local function estimates(tables, each, n, m, gamma)
  local key = ("%s@%s of %d"):format(each.base, each.k, n)
  if not tables[key] then
    tables[key] = core.sampled_estimates(values_at(each, core.arange(1, n + 1, 1, "float64", "cpu"), n + 1), m,
      gamma):totable()
  end
  return tables[key]
end

-- Computes metrics of each list from the least-squares estimates for the rank of its relevant item. If other items have
-- the same score as the relevant item, a metric is the mean over all ranks that the relevant item can have among them.
local function of_least_squares(metrics, lists, ranks, worst, n, gamma, tables)
  local sizes, mean, last, unseen = core.integers(lists.sizes), ranks:totable(), worst:totable(), core.integers(n)
  return evaluate.of_values(#sizes, metrics, function(each)
    local values = {}
    for l, size in ipairs(sizes) do
      local known, sum = estimates(tables, each, unseen[l], size - 1, gamma), 0
      local first, final = math.tointeger(2 * mean[l] - last[l]), math.tointeger(last[l])
      for rank = first, final do sum = sum + known[rank] end
      values[l] = sum / (final - first + 1)
    end
    return core.tensor(values, "float64", "cpu")
  end)
end

---Evaluates lists of sampled items by corrected metrics, which estimate the metrics among all
---items. The first row of each list is its only relevant row.
---@param metrics mr.Metric[]  returned by `named`
---@param made { lists: mr.Lists, unseen: mr.Tensor }  unseen: for each list, the number of items that could be sampled
---@param scores mr.Tensor  [rows]
---@param o { correct: string, gamma: number }
---@param tables table  cache of estimates, to be passed again in the next call
---@return mr.Evaluation
function M.evaluate(metrics, made, scores, o, tables)
  local lists, firsts, at = made.lists, {}, 1
  for l, size in ipairs(core.integers(lists.sizes)) do firsts[l], at = at, at + size end
  local first = core.tensor(firsts, "int64", "cpu")
  local function ranks(ties) return core.ranks(core.ranking(scores:double(), lists, ties, 0x1p-149)):rows(first) end
  if o.correct == "rank" then return of_ranks(metrics, lists, ranks "mean", made.unseen) end
  return of_least_squares(metrics, lists, ranks "mean", ranks "worst", made.unseen, o.gamma, tables)
end

return M
