-- Computes the importance of parameters: the share of each parameter and of each pair in the variance, over the
-- search space, of a number that trials return or report. The shares come from a forest of regression trees
-- (functional analysis of variance: Hutter, Hoos and Leyton-Brown 2014).
local core = require "moonrank.core"
local axes = require "moonrank.results.axes"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local forest = require "moonrank.results.forest"
local tables = require "moonrank.table"

local M = {}

local most_cells = 64  -- largest number of cells into which an axis of numbers is divided
local least_trials = 10
local trials_each = 2  -- smallest number of trials per parameter; with fewer, no importance is computed
local shown_pair = 0.005  -- smallest share of a pair of parameters that is printed in the table of importances

---Result of results:importance: how much of the variance of a study's number each parameter, and each
---pair of parameters, explains.
---@class mr.Importance: mr.Exports
---@field metric string       name of the number
---@field trials integer      number of trials
---@field trees integer        number of regression trees
---@field parameters { name: string, share: number, sd: number }[]  largest share first; sd over trees
---@field pairs { first: string, second: string, share: number, sd: number }[]  share beyond those of the two parameters
---@field rest number         share of interactions of three and more parameters
local Importance = check.class("mr.Importance")

-- Makes a cell for each possible value (level) of a choice. All cells have the same weight.
local function level_cells(levels, key)
  local index, weights = {}, {}
  for c, level in ipairs(levels) do index[level], weights[c] = c, 1 / #levels end
  return function(value) return index[key and key(value) or value] end, weights
end

-- Returns cut points that divide an axis into cells. A cut lies halfway between neighbouring values of trials. If there
-- are too many values, the cells get about equally many values each.
local function places(values)
  local found, gaps = {}, #values - 1
  for i = 1, math.min(gaps, most_cells - 1) do
    local at = gaps < most_cells and i or 1 + (i - 1) * gaps // (most_cells - 1)
    found[i] = (values[at] + values[at + 1]) / 2
  end
  return found
end

-- Divides an axis of numbers into cells. An axis with few steps, such as of few integers, has a cell for each value, as
-- wide as on the sampler's axis.
local function number_cells(axis, column, rows)
  local to = axis.log and function(x) return core.number_log(x) end or function(x) return x + 0.0 end
  local low, high, half = axis.low, axis.high, (axis.step or 0) / 2
  local inside, weights = {}, {}
  if axis.step and (high - low) // axis.step < most_cells then
    for x = low, high - axis.step, axis.step do inside[#inside + 1] = to(x + half) end
  else
    local values = {}
    for _, row in ipairs(rows) do values[#values + 1] = column[row] ~= nil and to(column[row]) or nil end
    inside = places(axes.distinct(values))
  end
  local first, last = to(low - half), to(high + half)
  for c = 1, #inside + 1 do
    weights[c] = last > first and ((inside[c] or last) - (inside[c - 1] or first)) / (last - first) or 1.0
  end
  return function(value)
    local x, from, till = to(value), 1, #inside + 1
    while from < till do
      local middle = (from + till) // 2
      if x > inside[middle] then from = middle + 1 else till = middle end
    end
    return from
  end, weights
end

-- Returns a parameter as a dimension of the regression trees (mr.results.Dimension): its axis divided into cells, and
-- the cell of each trial in `rows`. Returns nil if no trial has the parameter.
function M.dimension(space, name, column, rows)
  local axis = axes.of(space, name, column, rows)
  if not axis then return nil end
  local cell, weights
  if axis.categories then cell, weights = level_cells(axis.categories, tostring)
  elseif axis.levels then cell, weights = level_cells(axis.levels)
  else cell, weights = number_cells(axis, column, rows)
  end
  local codes = {}
  for i, row in ipairs(rows) do codes[i] = column[row] == nil and 0 or cell(column[row]) end
  return { name = name, codes = codes, weights = weights, ordered = axis.categories == nil }
end

local function random(count, seed, use) return core.uniform({ count }, 0, 1, seed, use, "float64", "cpu"):totable() end

-- Returns how many times each trial is in the bootstrap sample of a tree.
local function drawn(count, seed, tree)
  local weight = {}
  for i = 1, count do weight[i] = 0 end
  for _, u in ipairs(random(count, seed, ("importance tree %d"):format(tree))) do
    local i = math.min(count, math.floor(u * count) + 1)
    weight[i] = weight[i] + 1
  end
  return weight
end

-- Returns the dimensions (parameters) in a random order for a tree. The first of several equally good splits wins, so
-- the order must not favour a parameter. The order depends on the seed, the tree and the names, not on the order of
-- `dimensions`.
local function shuffled(dimensions, seed, tree)
  local key, order = {}, table.move(dimensions, 1, #dimensions, 1, {})
  for _, each in ipairs(dimensions) do
    key[each] = random(1, seed, ("importance tree %d parameter %s"):format(tree, each.name))[1]
  end
  table.sort(order, function(a, b)
    if key[a] ~= key[b] then return key[a] < key[b] end
    return a.name < b.name
  end)
  return order
end

-- Returns the numbers scaled to mean 0 and mean square 1; nil if all numbers are equal. The numbers are first divided
-- by the largest one, so that their squares do not overflow.
local function standardised(y)
  local most, mean, square, out = 0.0, 0.0, 0.0, {}
  for _, value in ipairs(y) do most = math.max(most, math.abs(value)) end
  if most == 0 then return nil end
  for i, value in ipairs(y) do
    out[i] = value / most
    mean = mean + out[i] / #y
  end
  for _, value in ipairs(out) do square = square + (value - mean) ^ 2 / #y end
  if square <= (1e-12 * mean) ^ 2 then return nil end
  for i, value in ipairs(out) do out[i] = (value - mean) / square ^ 0.5 end
  return out
end

local function summary(shares)
  local mean, square = 0.0, 0.0
  for _, share in ipairs(shares) do mean = mean + share / #shares end
  for _, share in ipairs(shares) do square = square + (share - mean) ^ 2 end
  return mean, #shares > 1 and (square / (#shares - 1)) ^ 0.5 or 0.0
end

local function pair_key(a, b) return a < b and a .. " " .. b or b .. " " .. a end

-- Grows the forest. Returns the shares of parameters and of pairs by tree, and the number of trees whose variance is
-- above 0, which are the only ones that count.
local function grown(dimensions, y, o)
  local single, pair, count = {}, {}, 0
  local function note(shares, name, share)
    shares[name] = shares[name] or {}
    shares[name][count] = share
  end
  for tree = 1, o.trees do
    local order = shuffled(dimensions, o.seed, tree)
    local found = forest.variance(order, forest.tree(order, y, drawn(#y, o.seed, tree), o.leaf))
    if found.variance > 0 then
      count = count + 1
      for j, first in ipairs(order) do
        note(single, first.name, found.single[j] / found.variance)
        for k = j + 1, #order do
          note(pair, pair_key(first.name, order[k].name), found.pair[j][k] / found.variance)
        end
      end
    end
  end
  return single, pair, count
end

local function by_share(list, name)
  table.sort(list, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a[name] < b[name] or a[name] == b[name] and (a.second or "") < (b.second or "")
  end)
end

-- Computes the importance of parameters for a number `y` of each trial, in the order of the dimensions' `codes`. Too
-- few trials, and numbers that are all equal, are errors.
function M.of(dimensions, y, o)
  local where = "results:importance"
  local needed = math.max(least_trials, trials_each * #dimensions)
  check.expect(#y >= needed, where, ("the number of trials with a value of '%s'"):format(o.metric), #y,
    "at least %d for %d parameters", needed, #dimensions)
  local standard = standardised(y)
  if not standard then
    check.fail("%s: '%s' is %.6g in all %d trials, so there is no variance to divide among "
      .. "parameters", where, o.metric, y[1], #y)
  end
  local single, pair, count = grown(dimensions, standard,
    { trees = o.trees, seed = o.seed, leaf = o.leaf or math.max(1, math.min(5, #y // 100)) })
  check.expect(count > 0, where, "the number of trees that found a difference", count,
    "at least 1 of %d. Try more trials or a smaller leaf", o.trees)
  local self = setmetatable({ metric = o.metric, trials = #y, trees = count, parameters = {}, pairs = {}, rest = 1.0,
    _title = o.title }, Importance)
  for j, dimension in ipairs(dimensions) do
    local share, sd = summary(single[dimension.name])
    self.parameters[j], self.rest = { name = dimension.name, share = share, sd = sd }, self.rest - share
    for k = j + 1, #dimensions do
      share, sd = summary(pair[pair_key(dimension.name, dimensions[k].name)])
      self.rest = self.rest - share
      table.insert(self.pairs, { first = dimension.name, second = dimensions[k].name, share = share, sd = sd })
    end
  end
  self.rest = math.max(0.0, self.rest)
  by_share(self.parameters, "name")
  by_share(self.pairs, "first")
  return self
end

-- Returns the number `o.value` of each trial, by the trial's row: the number that the trial returned or, with `o.step`,
-- the last number that it reported up to that step. Trials that did not reach the step have no number.
local function values_of(results, data, rows, o, metric)
  if not o.step then return data:_column("results:importance", o.value) end
  local number, reported, values = data:_column("results:importance", "number"), results:reported(metric), {}
  for _, row in ipairs(rows) do
    local reports = reported[number[row]] or {}
    for _, report in ipairs(reports) do
      if report.step <= o.step and reports[#reports].step >= o.step then values[row] = report.value end
    end
  end
  return values
end

-- Computes the result of results:importance; `o` has its options.
function M.make(results, o)
  local where = "results:importance"
  local data = results:columns(o.step and { "done", "pruned" } or nil)
  local metric = o.value == "value" and results.study.metric or o.value
  local found, rows, y, dimensions = data:_wanted_rows(where, o.where), {}, {}, {}
  local values = values_of(results, data, found, o, metric)
  for _, row in ipairs(found) do
    local value = values[row]
    if type(value) == "number" and value - value == 0 then rows[#rows + 1], y[#y + 1] = row, value end
  end
  for _, name in ipairs(data.params) do
    dimensions[#dimensions + 1] = M.dimension(results.study.space, name, data:_column(where, name), rows)
  end
  return M.of(dimensions, y, { metric = metric .. (o.step and (" at step %d"):format(o.step) or ""), trees = o.trees,
    leaf = o.leaf, seed = o.seed, title = results.name })
end

-- Returns rows of name, share and standard deviation for parameters, and for pairs with a share of at least `least`.
local function lines_of(self, least)
  local rows = {}
  for _, each in ipairs(self.parameters) do rows[#rows + 1] = { each.name, each.share, each.sd } end
  for _, each in ipairs(self.pairs) do
    if each.share >= least then rows[#rows + 1] = { each.first .. " × " .. each.second, each.share, each.sd } end
  end
  return rows
end

local function table_of(rows)
  return tables.new{ columns = { "parameter", "share", "sd" }, rows = rows, formats = { share = "%.3f", sd = "%.3f" },
    direction = { share = "maximize" } }
end

---Returns a table of every parameter and pair of parameters: the share of the variance, and the
---share's standard deviation over trees.
---@return mr.Table
function Importance:table() return table_of(lines_of(self, 0)) end

tables.add_exports(Importance)

local plot_options = declare("mr.results.ImportancePlotOptions", {
  { "least", "number", default = shown_pair, infinite = true, help = "smallest share of a pair that is shown" },
})

---Draws the variance shares of parameters and of pairs as bars, with standard deviations over
---trees. Pairs with a share below the option `least` are not drawn.
---@param options? mr.results.ImportancePlotOptions
---@return mr.Figure
function Importance:plot(options)
  local o = plot_options:read("importance:plot", options)
  local names, shares, errors, most = {}, {}, {}, 0.01
  for i, row in ipairs(lines_of(self, o.least)) do
    names[i], shares[i], errors[i] = row[1], row[2], row[3]
    most = math.max(most, row[2] + row[3])
  end
  return require("moonrank.plot").bars{ categories = names, values = shares, errors = errors, horizontal = true,
    xrange = { 0, most * 1.05 }, xlabel = "share of the variance of " .. self.metric, title = self._title,
    height = math.max(160, 90 + 26 * #names) }
end

function Importance:__tostring()
  local rows = lines_of(self, shown_pair)
  rows[#rows + 1] = { "three and more", self.rest }
  local head = ("mr.Importance of %s: shares of the variance, by %d trees over %d trials"):format(self.metric,
    self.trees, self.trials)
  return core.safe_text(head) .. "\n" .. tostring(table_of(rows))
end

return M
