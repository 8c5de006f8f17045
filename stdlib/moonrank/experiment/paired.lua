-- Compares values that are paired, such as the values of test users under two settings, for several pairs of settings.
local check = require "moonrank.check"
local given = require "moonrank.experiment.given"
local stats = require "moonrank.stats"

local M = {}

---Compares pairs of arrays of values, for example the values of each test user under two settings.
---Returns one result for each pair. It has:
---
---- `change`: the mean of the first array's values minus the second's;
---- `low`, `high`: the ends of the 95 % bootstrap interval of `change`;
---- `p`: the p-value of a permutation test of `change`, by all choices of signs for up to 20 unequal
---  pairs of values, else by 100,000 random choices;
---- `holm`: `p` after Holm's correction over all results;
---- `n`: the number of positions that are compared. Positions with NaN in an array are left out;
---- the other fields of the pair, such as the names of what is compared.
---@param pairs_of { [1]: number[], [2]: number[] }[]  pairs of arrays of equal length, and any fields with names
---@return { change: number, low: number, high: number, p: number, holm: number, n: integer }[]
---Example:
---```lua
---local found = mr.experiment.paired{
---  {{0.5, 0.7, 0.9}, {0.4, 0.6, 0.8}, name = "ap"}, {{0.1, 0.4, 0.2}, {0.2, 0.3, 0.2}, name = "rr"}}
---("%s %.2f %.2f %.2f"):format(found[1].name, found[1].change, found[1].p, found[1].holm)   --> ap 0.10 0.25 0.50
---```
function M.paired(pairs_of)
  given.array("paired", "pairs_of", pairs_of, "table", "pairs of arrays of numbers")
  local found, ps = {}, {}
  for i, pair in ipairs(pairs_of) do
    check.length("mr.experiment.paired", ("pairs_of[%d]"):format(i), #pair, 2, "a pair of arrays of numbers")
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
