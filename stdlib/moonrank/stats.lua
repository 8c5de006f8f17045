-- Statistics of results.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local function tensor(where, x)
  if type(x) == "table" then return core.tensor(x, "float64", "cpu") end
  if type(x) ~= "userdata" then check.fail("%s: a tensor or a table of numbers expected, got a %s", where, type(x)) end
  return x
end

---Student's t-test of paired values, two-sided. Pairs with NaN on either side are left out and counted.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { t: number, df: number, p: number, mean_difference: number, standard_error: number, n: integer, skipped: integer }
---Example: `mr.stats.paired_t({1, 2, 3}, {0, 2, 2}).n   --> 3`
function M.paired_t(a, b)
  local t, df, p, difference, err, n, skipped = core.paired_t(tensor("mr.stats.paired_t", a), tensor("mr.stats.paired_t", b))
  return { t = t, df = df, p = p, mean_difference = difference, standard_error = err, n = n, skipped = skipped }
end

---Wilcoxon's signed-rank test of paired values (Wilcoxon 1945), two-sided. Equal pairs are dropped, equal differences share their mean rank.
---Up to 200 unequal pairs p is exact (every sign a fair coin, ties included), beyond by the normal distribution with a correction for continuity.
---Pairs with NaN on either side are left out and counted.
---@param a mr.Tensor|number[]
---@param b mr.Tensor|number[]
---@return { statistic: number, p: number, exact: boolean, n: integer, equal: integer, skipped: integer }  statistic: sum of the ranks of a > b
---Example: `mr.stats.wilcoxon({1, 2, 4, 8}, {0, 0, 0, 0}).p   --> 0.125`
function M.wilcoxon(a, b)
  local statistic, p, exact, n, equal, skipped = core.wilcoxon(tensor("mr.stats.wilcoxon", a), tensor("mr.stats.wilcoxon", b))
  return { statistic = statistic, p = p, exact = exact, n = n, equal = equal, skipped = skipped }
end

---Mean, sample standard deviation, how many values, how many NaN left out.
---@param x mr.Tensor|number[]
---@return { mean: number, sd: number, n: integer, skipped: integer }
---Example: `mr.stats.summary({1, 2, 3}).sd   --> 1.0`
function M.summary(x)
  local mean, sd, n, skipped = core.summary(tensor("mr.stats.summary", x))
  return { mean = mean, sd = sd, n = n, skipped = skipped }
end

---Mean of the values that are not NaN.
---@param x mr.Tensor|number[]
---@return number
---Example: `mr.stats.mean({1, 2, 3})   --> 2.0`
function M.mean(x) return M.summary(x).mean end

return M
