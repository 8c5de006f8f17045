-- mr.stats.linear_model fits least-squares models of results over factors (loss, bound, fold) and numbers, and computes
-- the marginal means of factors.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local input = require "moonrank.stats.input"

local where = "mr.stats.linear_model"

local model_options = declare("mr.stats.LinearModelOptions", {
  { "y", "number[]|mr.Tensor", required = true, expected = "a tensor or a table of numbers",
    help = "the response, a number for each row" },
  { "factors", "table<string, any[]>", default = {}, shown = "none",
    help = "by name, the level of each row; the first level is the reference" },
  { "covariates", "table<string, number[]|mr.Tensor>", default = {}, shown = "none",
    help = "by name, a number for each row" },
  { "interactions", "string[][]", default = {}, shown = "none",
    each = { "string[]", accept = function(names) return #names >= 2 end, expected = "a table of two or more names" },
    help = 'names that interact, as {{"loss", "bound"}}; main effects are always included' },
})

---Result of mr.stats.linear_model: a linear model that was fitted by least squares.
---@class mr.LinearModel
---@field coefficients table<string, number>   by column: "(mean)", "loss=ap" against the first level,
---  "loss=ap:bound=zscore", "nsr"
---@field errors table<string, number>         their standard errors
---@field p table<string, number>              their p-values by Student's t, against 0
---@field sigma number     standard deviation of the residuals
---@field df integer       rows minus columns
---@field r2 number        share of the variance that the model explains
---@field n integer        rows used
---@field skipped integer  rows with NaN
local Model = check.class("mr.LinearModel")

-- Joins the names of levels (values of factors) to one text, such as "ndcg, minmax".
local function name_of(levels)
  local parts = {}
  for i, level in ipairs(levels) do parts[i] = tostring(level) end
  return table.concat(parts, ", ")
end

-- Returns the names of a factor's levels in the order in which they first appear, and the index of each row's level.
local function levels_of(name, values, count)
  local levels, rows = input.levels(where, "factor " .. name, values, count, "y")
  check.expect(#levels >= 2, where, "the only level of factor " .. name, levels[1], "at least two levels")
  local names = {}
  for i, level in ipairs(levels) do names[i] = tostring(level) end
  check.distinct(where, ("factor %s, with its levels written as texts,"):format(name), names)
  return levels, rows
end

-- Returns a row's design-matrix columns of one factor (0/1 for each level but the first) or covariate (its number).
local function coded(self, name, value)
  local levels = self._levels[name]
  if not levels then return { value }, { name } end
  local columns, names = {}, {}
  for k = 2, #levels do
    columns[k - 1] = k == value and 1 or 0
    names[k - 1] = ("%s=%s"):format(name, tostring(levels[k]))
  end
  return columns, names
end

-- Returns the row of the design matrix for values of factors (indices of levels) and covariates, and column names.
local function design_row(self, values)
  local row, names = { 1 }, { "(mean)" }
  for _, term in ipairs(self._terms) do
    local products, products_names = { 1 }, { "" }
    for _, name in ipairs(term) do
      local columns, column_names = coded(self, name, values[name])
      local longer, longer_names = {}, {}
      for i, product in ipairs(products) do
        for k, column in ipairs(columns) do
          longer[#longer + 1] = product * column
          local head = products_names[i]
          longer_names[#longer_names + 1] = head .. (head == "" and "" or ":") .. column_names[k]
        end
      end
      products, products_names = longer, longer_names
    end
    table.move(products, 1, #products, #row + 1, row)
    table.move(products_names, 1, #products_names, #names + 1, names)
  end
  return row, names
end

-- Returns the names in an interaction as a text that does not depend on their order. A name that occurs twice is an
-- error.
local function checked_interaction(names, columns)
  local sorted = {}
  for i, name in ipairs(names) do
    if not columns[name] then check.unknown("factor or covariate of " .. where, name, check.names(columns)) end
    sorted[i] = name
  end
  check.distinct(where, "an interaction", names)
  table.sort(sorted)
  return table.concat(sorted, " and ")
end

-- Reads the options, and sets the model's factor levels and its terms (main effects and interactions). Returns the
-- response, the columns by name, and the indices of rows without NaN.
local function read(self, o)
  local y = input.numbers(where, "y", o.y)
  local columns, kept = {}, {}
  for _, name in ipairs(input.column_names(where, "factors", o.factors)) do
    self._levels[name], columns[name] = levels_of(name, o.factors[name], #y)
    self._terms[#self._terms + 1] = { name }
  end
  for _, name in ipairs(input.column_names(where, "covariates", o.covariates)) do
    check.expect(not columns[name], where, "a covariate", name, "a name that is not the name of a factor")
    columns[name] = input.numbers(where, "covariate " .. name, o.covariates[name])
    check.length(where, "covariate " .. name, #columns[name], #y, "as y has")
    self._terms[#self._terms + 1] = { name }
  end
  local interactions = {}
  for i, names in ipairs(o.interactions) do
    interactions[i] = checked_interaction(names, columns)
    self._terms[#self._terms + 1] = names
  end
  check.distinct(where, "interactions", interactions)
  for i, value in ipairs(y) do
    local whole = value == value
    for _, column in pairs(columns) do whole = whole and column[i] == column[i] end
    if whole then kept[#kept + 1] = i end
  end
  return y, columns, kept
end

-- Returns the design matrix, the response and the names of columns. Also stores the mean of each covariate.
local function design(self, y, columns, kept)
  local flat, values, names = {}, {}, nil
  for k, i in ipairs(kept) do
    local here = {}
    for name, column in pairs(columns) do
      here[name] = column[i]
      if not self._levels[name] then self._means[name] = (self._means[name] or 0) + column[i] / #kept end
    end
    local row, row_names = design_row(self, here)
    names = row_names
    table.move(row, 1, #row, #flat + 1, flat)
    values[k] = y[i]
  end
  check.not_empty(where, "the set of rows without NaN in y, factors and covariates", kept, "row")
  return core.tensor(flat, "float64", "cpu"):reshape(#kept, #names), core.tensor(values, "float64", "cpu"), names
end

local function dot(a, b)
  local sum = 0
  for i = 1, #a do sum = sum + a[i] * b[i] end
  return sum
end

-- Returns a weighted sum of the model's coefficients, its standard error, and its t statistic.
local function estimate(self, weights)
  local spread = {}
  for i, row in ipairs(self._inverse) do spread[i] = dot(row, weights) end
  local value, err = dot(self._beta, weights), self.sigma * math.sqrt(math.max(0, dot(weights, spread)))
  return value, err, value / err
end

-- Returns a predicted mean with two intervals. The confidence interval is for the mean. The prediction interval is for
-- one further row and also includes the spread of the residuals.
local function with_intervals(self, weights, level)
  local mean, err = estimate(self, weights)
  local t = core.student_quantile(0.5 + 0.5 * level, self.df)
  local half, wide = t * err, t * math.sqrt(err * err + self.sigma * self.sigma)
  return { mean = mean, error = err, low = mean - half, high = mean + half, prediction_low = mean - wide,
    prediction_high = mean + wide }
end

local function level_of(method, options)
  local level = input.level_options:read(method, options).level
  if 0.5 + 0.5 * level == 1 then
    check.expect(false, method, "level", level, "less, because its quantile is infinite")
  end
  return level
end

local function new(options)
  local o = model_options:read(where, options)
  local self = setmetatable({ _levels = {}, _terms = {}, _means = {}, coefficients = {}, errors = {}, p = {} }, Model)
  local y, columns, kept = read(self, o)
  local x, target, names = design(self, y, columns, kept)
  local beta, inverse, residual, rank = core.least_squares(x, target)
  if rank < #names then
    check.fail("%s: only %d of %d columns of the design matrix are independent in %d rows. A combination of levels "
      .. "has no rows, or one factor is nested in another", where, rank, #names, #kept)
  end
  self._beta, self._inverse, self._names = beta:totable(), inverse:totable(), names
  self.n, self.skipped, self.df = #kept, #y - #kept, #kept - #names
  self.sigma = self.df > 0 and math.sqrt(residual / self.df) or 0 / 0
  local total = target - target:mean()
  self.r2 = 1 - residual / (total * total):sum():item()
  for i, name in ipairs(names) do
    self.coefficients[name], self.errors[name] = self._beta[i], self.sigma * math.sqrt(self._inverse[i][i])
    self.p[name] = core.student_p(self._beta[i] / self.errors[name], self.df)
  end
  return self
end

-- Calls f(values) for every combination of the levels of the factors in `names`, beginning with factor number `first`.
local function for_cells(self, names, values, f, first)
  first = first or 1
  local name = names[first]
  if not name then return f(values) end
  for k = 1, #self._levels[name] do
    values[name] = k
    for_cells(self, names, values, f, first + 1)
  end
end

-- Returns, for every combination of levels of the wanted factors, the weight of each coefficient in its mean.
local function marginal_weights(self, method, wanted)
  local others, found, values = {}, {}, {}
  for i = 1, wanted.n do
    local name = wanted[i]
    check.expect(name ~= nil, method, ("argument %d"):format(i), name, "the name of a factor")
    if not self._levels[name] then check.unknown("factor of mr.LinearModel", name, check.names(self._levels)) end
  end
  check.not_empty(method, "the list of factors", wanted, "factor")
  local is_wanted = check.distinct(method, "the list of factors", wanted)
  for _, name in ipairs(check.names(self._levels)) do
    if not is_wanted[name] then others[#others + 1] = name end
  end
  for name, mean in pairs(self._means) do values[name] = mean end
  for_cells(self, wanted, values, function()
    local cell, sum, count = { levels = {}, weights = {} }, {}, 0
    for i, name in ipairs(wanted) do cell.levels[i] = self._levels[name][values[name]] end
    for_cells(self, others, values, function(v)
      count = count + 1
      for i, each in ipairs((design_row(self, v))) do sum[i] = (sum[i] or 0) + each end
    end)
    for i, each in ipairs(sum) do cell.weights[i] = each / count end
    found[#found + 1] = cell
  end)
  return found
end

---@class mr.stats.MarginalMean
---@field level string   the levels' names, joined
---@field levels any[]   a level of each factor
---@field mean number
---@field error number
---@field low number
---@field high number
---@field prediction_low number
---@field prediction_high number

---Returns estimated marginal means (Searle, Speed & Milliken 1980): the model's prediction for
---every level of a factor, or for every combination of levels of several factors. The levels of all
---other factors have equal weights, however many rows they have; numeric covariates are at their
---means. Intervals are from Student's t: for the mean (low, high), and for one further row
---(prediction_low, prediction_high). `error` is the standard error of the mean. Errors and
---intervals are NaN if the model has no degrees of freedom.
---@param ... string|mr.stats.LevelOptions  names of factors; options last
---@return mr.stats.MarginalMean[]
---Example:
---```lua
---local model = mr.stats.linear_model{y = {1, 3, 4, 8}, factors = {loss = {"ap", "ap", "rr", "rr"}}}
---model:emmeans("loss", {level = 0.9})[2].mean   --> 6.0
---```
function Model:emmeans(...)
  local method, wanted, found, options = "mr.LinearModel:emmeans", table.pack(...), {}, nil
  if type(wanted[wanted.n]) == "table" then
    options, wanted[wanted.n], wanted.n = wanted[wanted.n], nil, wanted.n - 1
  end
  local level = level_of(method, options)
  for i, cell in ipairs(marginal_weights(self, method, wanted)) do
    found[i] = with_intervals(self, cell.weights, level)
    found[i].level, found[i].levels = name_of(cell.levels), cell.levels
  end
  return found
end

-- Returns the value that a row to be predicted has in one column: the index of its level for a factor, or its number.
local function value_of(self, method, name, column, i)
  local value, levels = column[i], self._levels[name]
  if not levels then return value end
  for k, each in ipairs(levels) do
    if each == value then return k end
  end
  check.expect(false, method, ("row %d of column %s"):format(i, name), value, "one of the model's levels: %s",
    name_of(levels))
end

local check_rows = arguments{ "rows", "table", expected = "a table of columns" }

-- Checks the rows for which predictions are wanted. Returns their columns by name, and the number of rows.
local function read_rows(self, method, rows)
  check_rows(method, rows)
  local columns, names, numbers, count, first = {}, check.names(self._levels), check.names(self._means), nil, nil
  table.move(numbers, 1, #numbers, #names + 1, names)
  for name in pairs(rows) do
    if not self._levels[name] and not self._means[name] then
      check.unknown("factor or covariate of the model", name, names)
    end
  end
  for _, name in ipairs(names) do
    local column = rows[name]
    if self._means[name] then column = input.numbers(method, "column " .. name, column) end
    check.expect(type(column) == "table", method, ("column %s"):format(name), column, "a table of levels")
    count, first = count or #column, first or name
    check.length(method, "column " .. name, #column, count, "as column " .. first .. " has")
    columns[name] = column
  end
  return columns, count or 0
end

---Predicts the response for further rows. It returns the predicted mean of each row, with intervals
---by Student's t: for the mean of rows with these values (low, high), and for a single row
---(prediction_low, prediction_high). `error` is the standard error of the mean. A row with a NaN
---number gets NaN. Errors and intervals are NaN if the model has no degrees of freedom.
---@param rows table<string, any[]|mr.Tensor>  by name, all factors and covariates of the model:
---  a level, a number for each row
---@param options? mr.stats.LevelOptions
---@return { mean: number, error: number, low: number, high: number, prediction_low: number, prediction_high: number }[]
---Example:
---```lua
---local model = mr.stats.linear_model{y = {1, 3, 5, 7}, covariates = {nsr = {1, 2, 3, 4}}}
---model:predict{nsr = {5, 6}}[2].mean   --> 11.0
---```
function Model:predict(rows, options)
  local method, found = "mr.LinearModel:predict", {}
  local level = level_of(method, options)
  local columns, count = read_rows(self, method, rows)
  for i = 1, count do
    local values = {}
    for name, column in pairs(columns) do values[name] = value_of(self, method, name, column, i) end
    found[i] = with_intervals(self, (design_row(self, values)), level)
  end
  return found
end

---@class mr.stats.Contrast
---@field first string
---@field second string
---@field difference number
---@field error number
---@field t number
---@field p number
---@field adjusted number

---Tests the differences between all pairs of marginal means of a factor (or of combinations of
---several factors) with Student's two-sided t-test. `adjusted` is the p-value after Holm's
---correction for all pairs. `difference` is the mean of `first` minus that of `second`. `error`, t
---and p are NaN if the model has no degrees of freedom.
---@param ... string  names of factors
---@return mr.stats.Contrast[]
function Model:contrasts(...)
  local cells, found, ps = marginal_weights(self, "mr.LinearModel:contrasts", table.pack(...)), {}, {}
  for i = 1, #cells do
    for j = i + 1, #cells do
      local weights = {}
      for k, w in ipairs(cells[i].weights) do weights[k] = w - cells[j].weights[k] end
      local difference, err, t = estimate(self, weights)
      ps[#ps + 1] = core.student_p(t, self.df)
      found[#found + 1] = {
        first = name_of(cells[i].levels),
        second = name_of(cells[j].levels),
        difference = difference,
        error = err,
        t = t,
        p = ps[#ps],
      }
    end
  end
  for i, adjusted in ipairs(require("moonrank.stats").holm(ps)) do found[i].adjusted = adjusted end
  return found
end

function Model:__tostring()
  local rows = {}
  for i, name in ipairs(self._names) do
    local t = self._beta[i] / self.errors[name]
    rows[i] = { name, self._beta[i], self.errors[name], t, self.p[name] }
  end
  return tostring(require("moonrank.table").new{ columns = { "", "coefficient", "error", "t", "p" }, rows = rows })
    .. ("\n%d rows, %d left out, sigma %.4g on %d degrees of freedom, R2 %.4g"):format(self.n, self.skipped, self.sigma,
      self.df, self.r2)
end

return new
