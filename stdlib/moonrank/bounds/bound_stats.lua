-- mr.Stats holds statistics of each list. Bounds that are written in Lua receive it as their second argument.
local check = require "moonrank.check"
local list_stats = require "moonrank.bounds.list_stats"
local tables = require "moonrank.table"
local registry = require "moonrank.bounds.registry"

local M = {}

---Statistics of every list, for bounds written in Lua. Each field has one entry per list, with the
---dtype of the score; NaN where undefined (no relevant row). Only `cdf` is a function: of one score per
---list, `stats.cdf(score)` gives the bounded value of the bound "distribution".
---@class mr.Stats: mr.Exports
---@field n mr.Tensor            rows
---@field p mr.Tensor            relevant rows
---@field min mr.Tensor          least value over all rankings
---@field max mr.Tensor          largest value
---@field best mr.Tensor         best value: max for a metric to be maximized, else min
---@field expectation mr.Tensor  mean over random rankings
---@field sd mr.Tensor           standard deviation over random rankings; computed when read
---@field degenerate mr.Tensor   1 if no ordering can matter, else 0
---@field cdf fun(score: mr.Tensor): mr.Tensor  smoothed distribution function over random rankings, differentiable
local Stats = {}
local columns = { "n", "p", "min", "max", "best", "expectation", "sd" }
local methods = check.exact_all("mr.Stats:", {}, Stats)
local stats_fields = { "n", "p", "min", "max", "best", "expectation", "sd", "degenerate", "cdf" }

Stats.__index = function(self, name)
  local lists, o = rawget(self, "_lists"), rawget(self, "_options")
  if methods[name] then return methods[name] end
  local function of_type(x) return x:to(o.dtype):to(o.device) end
  local value
  if name == "n" then
    value = of_type(lists.sizes)
  elseif name == "p" then
    value = of_type(lists.relevant)
  elseif name == "degenerate" then
    value = 1 - list_stats.weights(self._metric, lists, o.dtype, o.device)
  elseif name == "sd" then
    value = list_stats.of(self._metric).table(self._metric, lists, o.dtype, o.device, true).sd
  elseif name == "cdf" then
    value = function(score) return registry.get("distribution").apply(score, self._metric, lists) end
  elseif name == "min" or name == "max" or name == "best" or name == "expectation" then
    local known = list_stats.of(self._metric).table(self._metric, lists, o.dtype, o.device, false)
    for _, each in ipairs{ "min", "max", "best", "expectation" } do rawset(self, each, known[each]) end
    return known[name]
  else
    check.unknown("field of mr.Stats", name, { table.unpack(stats_fields) })
  end
  rawset(self, name, value)
  return value
end

-- Returns a table of statistics with one row for each of the first `count` lists.
local function table_of(self, count)
  local values, rows = {}, {}
  for c, name in ipairs(columns) do values[c] = self[name]:totable() end
  for i = 1, count do
    rows[i] = { i }
    for c in ipairs(columns) do rows[i][c + 1] = values[c][i] end
  end
  return tables.new{ columns = { "list", table.unpack(columns) }, rows = rows }
end

---Returns the statistics as a table, with one row per list.
---@return mr.Table
function methods:table() return table_of(self, rawget(self, "_lists").count) end

tables.add_exports(methods)

local most = 10  -- tostring shows at most this many lists

function Stats:__tostring()
  local count = rawget(self, "_lists").count
  local rest = count > most and ("\n(%d more lists)"):format(count - most) or ""
  local shown = tostring(table_of(self, math.min(most, count)))
  return ("%s over all rankings of a list\n%s%s"):format(rawget(self, "_metric").name, shown, rest)
end

---Makes an mr.Stats: statistics of a metric over all rankings of each list. A field is computed when it is first read.
---@param options mr.bounds.StatsOptions  with `dtype` and `device`
---@return mr.Stats
function M.new(metric, lists, options)
  return setmetatable({ _metric = metric, _lists = lists, _options = options }, Stats)
end

return M
