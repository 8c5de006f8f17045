-- Compares values that are paired, such as the values of test users under two settings, for several pairs of settings.
local check = require "moonrank.check"
local given = require "moonrank.experiment.given"
local stats = require "moonrank.stats"

local M = {}

---Compares pairs of lists of values, for example the values of each test user under two settings. For
---each pair it returns the mean difference (`change`, first minus second), the ends of its 95 %
---bootstrap interval (`low`, `high`), the p-value of a permutation test of the mean difference with
---100,000 choices of signs (`p`), this p-value after Holm's correction over all pairs (`holm`), and the
---number of values that are compared (`n`). Values that are NaN in one of the lists are left out. A
---result also has the other fields of its pair, such as the names of what is compared.
---@param pairs_of { [1]: number[], [2]: number[] }[]  pairs of lists of equal length, and any fields with names
---@return { change: number, low: number, high: number, p: number, holm: number, n: integer }[]
---Example:
---```lua
---local found = mr.experiment.paired{
---  {{0.5, 0.7, 0.9}, {0.4, 0.6, 0.8}, name = "ap"}, {{0.1, 0.4, 0.2}, {0.2, 0.3, 0.2}, name = "rr"}}
---("%s %.2f %.2f %.2f"):format(found[1].name, found[1].change, found[1].p, found[1].holm)   --> ap 0.10 0.25 0.50
---```
function M.paired(pairs_of)
  given.array("paired", "pairs_of", pairs_of, "table", "pairs of lists of values")
  local found, ps = {}, {}
  for i, pair in ipairs(pairs_of) do
    check.length("mr.experiment.paired", ("pairs_of[%d]"):format(i), #pair, 2, "a pair of lists")
    local a, b = pair[1], pair[2]
    local test, interval = stats.permutation(a, b, { orders = 100000 }), stats.bootstrap{ a, b }
    local result = {}
    for name, value in pairs(pair) do
      if name ~= 1 and name ~= 2 then result[name] = value end
    end
    result.change, result.low, result.high = test.mean_difference, interval.low, interval.high
    result.p, result.n = test.p, test.n
    found[i], ps[i] = result, test.p
  end
  for i, p in ipairs(stats.holm(ps)) do found[i].holm = p end
  return found
end

return M
