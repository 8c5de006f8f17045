-- mr.stats.distribution describes how a metric is distributed over users, because a mean hides who is served badly.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local input = require "moonrank.stats.input"
local tables = require "moonrank.table"

local where = "mr.stats.distribution"

local function are_shares(list)
  local last = 0
  for _, each in ipairs(list) do
    if type(each) ~= "number" or not (each >= last and each <= 1) then return false end
    last = each
  end
  return #list > 0
end

local distribution_options = declare("mr.stats.DistributionOptions", {
  { "quantiles", "number[]", default = { 0.1, 0.25, 0.5, 0.75, 0.9 }, accept = are_shares,
    expected = "a table of shares from 0 to 1 in ascending order",
    help = "shares of the quantiles, in ascending order" },
  { "gini", "boolean", default = true, help = "include the Gini coefficient; it is not defined for negative values" },
  { "samples", "integer", default = 2000, least = 2, most = 1000000, help = "bootstrap samples of the intervals" },
  { "seed", "integer", default = 1, help = "seed of the samples" },
}, input.level_options)

---@class mr.stats.Estimate
---@field estimate number
---@field low number   ends of the interval
---@field high number

---@class mr.stats.Quantile: mr.stats.Estimate
---@field share number

---@class mr.stats.Distribution: mr.Exports
---@field mean mr.stats.Estimate
---@field worst_decile mr.stats.Estimate  mean of the smallest tenth of the values, at least one value
---@field cvar_10 mr.stats.Estimate       mean of the lowest tenth of the probability
---@field gini mr.stats.Estimate|false
---@field quantiles mr.stats.Quantile[]
---@field n integer
---@field skipped integer
---@field level number
local Distribution = check.class "mr.stats.Distribution"

-- Returns the estimate of a statistic (number `column`) with the percentiles of its bootstrap samples.
local function estimated(estimates, samples, column, level)
  local estimate = estimates[column]:item()
  local none = core.tensor({}, "float64", "cpu")
  local low, high = core.bootstrap_interval(samples:narrow(2, column, 1), estimate, none, level)
  return { estimate = estimate, low = low, high = high }
end

---Returns a table with a row for each statistic: its estimate and its interval.
---@return mr.Table
---Example: `mr.stats.distribution{1, 2, 3}:table().rows[1][1]   --> mean`
function Distribution:table()
  local rows = {}
  local function add(name, of) rows[#rows + 1] = { name, of.estimate, of.low, of.high } end
  add("mean", self.mean)
  add("worst decile", self.worst_decile)
  add("CVaR 10 %", self.cvar_10)
  if self.gini then add("Gini", self.gini) end
  for _, each in ipairs(self.quantiles) do add(("quantile %g"):format(each.share), each) end
  local note = ("%d values%s; low, high: %g %% interval (bootstrap, percentiles)"):format(self.n,
    self.skipped > 0 and (", %d without a value left out"):format(self.skipped) or "", 100 * self.level)
  return tables.new{ columns = { "statistic", "estimate", "low", "high" }, rows = rows, notes = { note },
    formats = { estimate = "%.4f", low = "%.4f", high = "%.4f" } }
end

tables.add_exports(Distribution)

function Distribution:__tostring() return tostring(self:table()) end

local function check_gini(values)
  local least = #values > 0 and -(-values):max():item() or 0
  check.expect(least >= 0, where, "the smallest value", least, "at least 0 for the Gini coefficient, or gini = false")
end

return function(x, options)
  local o = distribution_options:read(where, options)
  local values, skipped = core.without_nan(input.moderate(where, "x", x):to("cpu"))
  if o.gini then check_gini(values) end
  local shares = core.tensor(o.quantiles, "float64", "cpu")
  local estimates, samples = core.values_distribution(values, shares, o.samples, o.seed)
  local found = { n = #values, skipped = skipped, level = o.level, quantiles = {} }
  for i, name in ipairs{ "mean", "worst_decile", "cvar_10", "gini" } do
    found[name] = estimated(estimates, samples, i, o.level)
  end
  found.gini = o.gini and found.gini
  for i, share in ipairs(o.quantiles) do
    local quantile = estimated(estimates, samples, 4 + i, o.level)
    quantile.share, found.quantiles[i] = share, quantile
  end
  return setmetatable(found, Distribution)
end
