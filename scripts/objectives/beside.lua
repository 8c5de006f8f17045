-- Decisions of this project that Tang et al. (2023) do not describe: how differences between networks are tested.
-- docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local training = dofile(here .. "training.lua")
local protocol = training.protocol

local M = { training = training }

---The network with which others are compared, and the level of significance.
M.base, M.level = protocol.names[1], 0.05

---True for the smallest and the largest rate: a better one may lie beyond.
function M.at_edge(rate) return rate == protocol.rates[1] or rate == protocol.rates[#protocol.rates] end

---Compares the values of all test queries of each algorithm with random orders and with the first one, `M.base`:
---permutation tests with 100,000 choices of signs, paired by query, and Holm's correction over all comparisons of a
---data set. Returns for each algorithm its name, mean, n, skipped, p-value against random orders (`p_random`),
---and its `change` against the base with `p`, `low` and `high`.
function M.compare(values, random)
  local pairs_of, found, names = {}, {}, protocol.names
  for i, name in ipairs(names) do pairs_of[i] = { values[name], random } end
  for i = 2, #names do pairs_of[#names + i - 1] = { values[names[i]], values[M.base] } end
  local tests = mr.experiment.paired(pairs_of)
  for i, name in ipairs(names) do
    local change = i > 1 and tests[#names + i - 1] or {}
    found[i] = protocol.with(mr.stats.summary(values[name]), { name = name, p_random = tests[i].holm,
      change = change.change, p = change.holm, low = change.low, high = change.high })
  end
  return found
end

return M
