-- Several metrics of one scoring: the ranking is made once and shared.
local core = require "moonrank.core"
local check = require "moonrank.check"
local metrics = require "moonrank.metrics"
local tables = require "moonrank.table"

local M = {}

---@class mr.Evaluation
---@field mean table<string, number>      over the lists that count
---@field counted table<string, integer>  how many lists that are
---@field skipped table<string, integer>  how many are left out: no relevant row, empty = "skip"
---@field count integer                   number of lists
---@field names string[]                  the metrics in order; each is also a field: one value per list
local Evaluation = {}
Evaluation.__index = function(self, name)
  local own = rawget(Evaluation, name)
  if own ~= nil then return own end
  check.unknown("metric in this evaluation", name, { table.unpack(self.names) })
end

---Evaluates scores by several metrics.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@param names (string|mr.Metric)[]  e.g. {"ndcg", "ndcg@5", "ap", "nrbp(0.95)", "rr"}
---@param options? mr.metrics.Options for all of them: ties, empty, relevant
---@return mr.Evaluation
---Example: `mr.evaluate(mr.tensor{3, 2, 1}, mr.lists{{0, 1, 0}}, {"rr"}).mean.rr   --> 0.5`
function M.evaluate(scores, lists, names, options)
  local result = { mean = {}, counted = {}, skipped = {}, count = lists.count, names = {} }
  local rankings = {}
  for i, name in ipairs(names) do
    local metric = metrics.parse(name, options)
    local key = metric:_ranking_key()
    rankings[key] = rankings[key] or metric:_rank(scores, lists)
    local values = metric:_values(rankings[key], lists)
    result.names[i], result[metric.name] = metric.name, values
    local skips = metric.options.empty == "skip"
    local mean, _, counted, skipped = core.summary(skips and metric:_values(rankings[key], lists, "nan") or values)
    if metric.options.empty == "nan" and skipped > 0 then mean = 0 / 0 end
    result.mean[metric.name], result.counted[metric.name], result.skipped[metric.name] = mean, counted, skipped
  end
  return setmetatable(result, Evaluation)
end

function Evaluation:__tostring()
  local rows = {}
  for i, name in ipairs(self.names) do rows[i] = { name, self.mean[name], self.counted[name], self.skipped[name] } end
  return tostring(tables.new{ columns = { "metric", "mean", "lists", "skipped" }, formats = { mean = "%.4f" }, rows = rows })
end

return M
