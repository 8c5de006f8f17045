-- Linear models that are solved without mr.fit: least squares with penalties, and logistic regression of rows and of
-- pairs. Each function computes the weights in float64 and returns an mr.models.linear with these weights.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local declare = require("moonrank.options").declare
local memory = require "moonrank.system.memory"
local solver = require "moonrank.models.solver"

local M = {}

local function columns_of(_, p) return p end

-- Raises an error if memory is too small for the solver: a few copies of the features, and square matrices with as many
-- rows as `side` returns from the numbers of rows and columns of the features.
local function check_memory(where, features, side)
  local n, p = #features, features:size(2)
  local bytes = 8 * (4 * n * p + 8 * side(n, p) ^ 2)
  memory.need(where, ("train: %d rows of %d features"):format(n, p), bytes, "Use fewer features")
end

local function has_lists(value) return check.field(value, "lists") ~= nil end

local train = { "train", "mr.Dataset", required = true, accept = has_lists,
  expected = "a dataset with features, such as fold.train", help = "features and grades to fit" }
local alpha = { "alpha", "number", default = 1, least = 0, help = "weight of the penalty" }
local alpha_above_0 = { "alpha", "number", default = 1, accept = function(value) return value >= 1e-300 end,
  expected = "a finite number above 0, at least 1e-300", help = "weight of the penalty, above 0" }
local intercept = { "intercept", "boolean", default = true, also = { "fit_intercept" },
  help = "fit an intercept, which is not penalised" }
local dtype = { "dtype", "string", default = "float32", choices = { "float32", "float64" },
  help = "type of the model; the solution is computed in float64" }

-- Checks the options of a regression. Returns the options, and the features and the grades of the dataset `train` in
-- float64.
local function begun(where, options, declared, side)
  local o = declared:read(where, options)
  local lists, features = o.train.lists, check.field(o.train, "features")
  dataset.need(where, "train", o.train, "features", "rows")
  check_memory(where, features, side)
  local row, column, value = core.first_not_finite(features, false)
  if row then
    local found = value ~= value and "NaN" or tostring(value)
    check.fail("%s: features have %s in row %d, column %d, expected a finite number", where, found, row, column)
  end
  return o, features:to("cpu"):double(), lists.relevance:to("cpu"):double()
end

-- Makes an mr.models.linear with the given weights (a table of numbers) and bias.
local function linear(o, weights, bias)
  local model = require("moonrank.models").linear{ inputs = #weights, dtype = o.dtype }
  return model:put{
    ["layer1.weight"] = core.tensor(weights, "float64", "cpu"):reshape(#weights, 1):to(o.dtype),
    ["layer1.bias"] = core.tensor({ bias }, "float64", "cpu"):reshape(1, 1):to(o.dtype),
  }
end

-- Returns features, grades, and the means of both. With an intercept, the means are subtracted from features and
-- grades; without one, both are unchanged, and 0 is returned for each mean.
local function centred(o, x, y)
  if not o.intercept then return x, y, core.full({ x:size(2) }, 0, "float64", "cpu"), 0 end
  local mean_x, mean_y = x:mean(1), y:mean():item()
  return x - mean_x, y - mean_y, mean_x, mean_y
end

local function with_intercept(o, weights, mean_x, mean_y)
  local bias = mean_y - (core.tensor(weights, "float64", "cpu") * mean_x):sum():item()
  return linear(o, weights, o.intercept and bias or 0)
end

local ridge_options = declare("mr.models.RidgeOptions", { train, alpha, intercept, dtype })

---Fits ridge regression (Hoerl & Kennard 1970) of grades on features, and returns a linear model.
---The weights minimise |y - X w - b|^2 + alpha |w|^2 over all rows, in closed form. The largest
---matrix to be solved has as many rows as there are rows or features, whichever is fewer. `alpha =
---0` is ordinary least squares; linearly dependent features are then an error.
---@param options mr.models.RidgeOptions
---@return mr.Model  an mr.models.linear
---Example:
---```lua
---local train = mr.data.dataset{lists = mr.lists{{0, 2, 4}}, features = mr.tensor{{0}, {1}, {2}}}
---mr.models.ridge{train = train, alpha = 2}:parameters()[1]:item()   --> 1.0
---```
function M.ridge(options)
  local where = "mr.models.ridge"
  local o, x, y = begun(where, options, ridge_options, math.min)
  local centred_x, centred_y, mean_x, mean_y = centred(o, x, y)
  local weights
  if o.alpha == 0 then
    local width = x:size(2)
    check.expect(#y >= width, where, "alpha", 0, "above 0, because %d rows do not determine the weights of %d features",
      #y, width)
    local found, _, _, rank = core.least_squares(centred_x, centred_y)
    check.expect(rank == width, where, "alpha", 0, "above 0, because %d of %d features depend linearly on the others",
      width - rank, width)
    weights = found
  else
    weights = solver.ridge(centred_x, centred_y, o.alpha)
  end
  return with_intercept(o, weights:totable(), mean_x, mean_y)
end

local lasso_options = declare("mr.models.LassoOptions", {
  train, alpha, intercept, dtype,
  { "tolerance", "number", default = 1e-12, least = 0, also = { "tol" },
    help = "largest duality gap, as a share of |y|^2" },
  { "passes", "integer", default = 10000, least = 1, also = { "max_iter" },
    help = "largest number of passes over the features of a working set" },
})

---Fits the lasso (Tibshirani 1996) of grades on features, and returns a linear model. The weights
---minimise |y - X w - b|^2 / (2 rows) + alpha |w|_1 by coordinate descent (Friedman, Hastie &
---Tibshirani 2010) until the duality gap is at most `tolerance` |y|^2, where y are the grades (with an
---intercept, minus their mean). Weights that the penalty removes are exactly 0. Coordinate descent
---runs on working sets of features, so X'X of all features is never formed. If `passes` are not
---enough, a warning reports the remaining duality gap.
---@param options mr.models.LassoOptions
---@return mr.Model  an mr.models.linear
---Example:
---```lua
---local train = mr.data.dataset{lists = mr.lists{{0, 2, 4}}, features = mr.tensor{{0}, {1}, {2}}}
---mr.models.lasso{train = train, alpha = 0.5}:parameters()[1]:item()   --> 1.25
---```
function M.lasso(options)
  local where = "mr.models.lasso"
  local o, x, y = begun(where, options, lasso_options, math.min)
  local centred_x, centred_y, mean_x, mean_y = centred(o, x, y)
  local weights, gap = solver.lasso{ x = centred_x, y = centred_y, penalty = o.alpha * #y, tolerance = o.tolerance,
    passes = o.passes }
  if gap then
    check.warn(("%s: after %d passes the duality gap is still %.2g of |y|^2"):format(where, o.passes, gap))
  end
  return with_intercept(o, weights, mean_x, mean_y)
end

local logistic_options = declare("mr.models.LogisticOptions", {
  train, alpha_above_0, intercept,
  { "relevant", "number", default = 1, infinite = true, help = "least grade of a relevant row" },
  dtype,
})

---Fits logistic regression of rows (Cox 1958), which predicts from features whether a row is
---relevant. Returns a linear model, whose score is the log odds. The weights minimise the sum over
---rows of the cross entropy plus alpha / 2 |w|^2, by Newton's method. If all rows are relevant, or
---no row is, raises an error.
---@param options mr.models.LogisticOptions
---@return mr.Model  an mr.models.linear
---Example:
---```lua
---local train = mr.data.dataset{lists = mr.lists{{0, 1}}, features = mr.tensor{{-1}, {1}}}
---mr.models.logistic_regression{train = train}:parameters()[1]:item()   --> 0.67483
---```
function M.logistic_regression(options)
  local where = "mr.models.logistic_regression"
  local o, x, y = begun(where, options, logistic_options, columns_of)
  local relevant = y:ge(o.relevant):double()
  local count, width = relevant:sum():item(), x:size(2)
  if count == 0 or count == #y then
    check.fail("%s: %s of %d rows are relevant (grade at least %s), expected both relevant and other rows", where,
      count == 0 and "none" or "all", #y, tostring(o.relevant))
  end
  local design = o.intercept and core.cat({ x, core.full({ #y, 1 }, 1, "float64", "cpu") }, 2) or x
  local weights, gap = solver.newton(solver.rows(design, relevant), design:size(2), o.alpha, o.intercept)
  if gap then check.warn(("%s: Newton's method did not converge"):format(where)) end
  return linear(o, table.move(weights, 1, width, 1, {}), o.intercept and weights[width + 1] or 0)
end

local rank_logistic_options = declare("mr.models.RankLogisticOptions", { train, alpha_above_0, dtype })

---Fits logistic regression of pairs (Rank LR; the linear RankNet), which predicts from the
---difference of features which of two rows of a list has the higher grade. Returns a linear model
---without intercept. The weights minimise the sum over pairs of log(1 + exp(-(s_i - s_j))) plus
---alpha / 2 |w|^2, by Newton's method. Only the pairs of one list are stored at a time. If no list
---has rows of different grades, raises an error.
---@param options mr.models.RankLogisticOptions
---@return mr.Model  an mr.models.linear
---Example:
---```lua
---local train = mr.data.dataset{lists = mr.lists{{0, 1}}, features = mr.tensor{{0}, {1}}}
---mr.models.rank_logistic_regression{train = train}:parameters()[1]:item()   --> 0.40106
---```
function M.rank_logistic_regression(options)
  local where = "mr.models.rank_logistic_regression"
  local o, x, y = begun(where, options, rank_logistic_options, columns_of)
  local pairs_of, count = solver.pairs_of(x, y, core.integers(o.train.lists.sizes))
  if count == 0 then check.fail("%s: no list of train has rows of unequal grades", where) end
  local weights, gap = solver.newton(pairs_of, x:size(2), o.alpha, false)
  if gap then check.warn(("%s: Newton's method did not converge"):format(where)) end
  return linear(o, weights, 0)
end

return M
