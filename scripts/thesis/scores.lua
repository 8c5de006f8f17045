-- Compares bounds by the test scores of lists in stored training runs (runs.lua).
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local protocol = dofile(here .. "protocol.lua")

local M = {}

---A copy of `where`, a filter of training runs by their parameters, that also selects the bound `bound`.
---@param where table<string, any>
---@return table<string, any>
function M.with(where, bound)
  local at = { bound = bound }
  for key, value in pairs(where) do at[key] = value end
  return at
end

---Compares the test scores under one bound with those under another by protocol.compare, paired by user or query. The
---result has the mean under each bound, change, p-value, effect size `d`, number of pairs `n` and share of `wins` of
---the first bound.
---@param all mr.Results[]  one for each seed
---@param where table<string, any>  filter of training runs by parameters other than the bound
---@param bound string
---@param other string
---@param metric? string  key of `per_list` in the runs (default: the metric that the loss optimises)
---@return { mean: number, other_mean: number, change: number, p: number, d: number, n: integer, wins: number }
function M.compare(all, where, bound, other, metric)
  local function values(name) return mr.experiment.by_list(all, M.with(where, name), metric or "own") end
  local a, b = values(bound), values(other)
  local found = protocol.compare(a, b)
  found.mean, found.other_mean = mr.stats.mean(a), mr.stats.mean(b)
  return found
end

return M
