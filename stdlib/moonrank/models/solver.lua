-- Solves the linear models of models/regression.lua: ridge regression in closed form, the lasso by coordinate descent,
-- and logistic regression by Newton's method.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local function identity_of(width)
  local numbers = core.arange(1, width, 1, "float64", "cpu")
  return numbers:reshape(width, 1):eq(numbers:reshape(1, width)):double()
end

-- Solves the linear system A x = b. Raises an error if A is numerically singular.
local function solution(a, b)
  local found, _, _, rank = core.least_squares(a, b:reshape(#a))
  if rank < #a then
    check.fail("mr.models: features are linearly dependent and alpha is too small to separate them, expected a larger "
      .. "alpha")
  end
  return found
end

---Returns the weights w that minimise |y - X w|^2 + alpha |w|^2, for alpha above 0. With fewer rows than columns, this
---is w = X' (X X' + alpha I)^-1 y, where the matrix to be solved is small. It is an error if the matrix to be solved
---(else X'X + alpha I) is singular to rounding, because alpha is too small.
---@param x mr.Tensor  [rows, width] float64
---@param y mr.Tensor  [rows]
---@return mr.Tensor  [width]
function M.ridge(x, y, alpha)
  local rows, width = #x, x:size(2)
  local function solved(a, b) return solution(a + identity_of(#a) * alpha, b) end
  if rows >= width then return solved(x:t():matmul(x), x:t():matmul(y:reshape(rows, 1))) end
  return x:t():matmul(solved(x:matmul(x:t()), y):reshape(rows, 1)):reshape(width)
end

-- Returns the duality gap of the lasso as a share of |y|^2: an upper bound on how far |y - X w|^2 / 2 + penalty |w|_1
-- is above its minimum. `steepest` is the largest absolute entry of X'(y - X w), `norm` is |w|_1.
local function duality_gap(o, steepest, norm, squared_rest, y_rest)
  local scale = steepest > o.penalty and o.penalty / steepest or 1
  return (0.5 * squared_rest * (1 + scale * scale) + o.penalty * norm - scale * y_rest) / o.square
end

-- Returns the duality gap of the lasso on a working set, as if X had only the columns in the set. `w` are the weights
-- of these columns, `fits` is X'X w.
local function gap_of_set(o, set, w, fits)
  local norm, by_fits, by_products, steepest = 0, 0, 0, 0
  for k, each in ipairs(w) do
    norm, by_fits, by_products = norm + math.abs(each), by_fits + each * fits[k], by_products + each * set.products[k]
    steepest = math.max(steepest, math.abs(set.products[k] - fits[k]))
  end
  return duality_gap(o, steepest, norm, o.square - 2 * by_products + by_fits, o.square - by_products)
end

-- Makes one pass of coordinate descent over the weights `w` of a working set of columns. Returns true if a weight
-- changed.
local function descend(o, set, w, fits)
  local changed, width = false, #w
  for k = 1, width do
    local row = set.gram[k]
    local old, curve = w[k], row[k]
    local slope = set.products[k] - fits[k] + curve * old
    local size = math.abs(slope) - o.penalty
    local new = size > 0 and curve > 0 and (slope > 0 and size or -size) / curve or 0.0
    if new ~= old then
      w[k], changed = new, true
      for i = 1, width do fits[i] = fits[i] + (new - old) * row[i] end
    end
  end
  return changed
end

-- Returns the numbers of the columns to descend over: all columns with a nonzero weight, and those columns of weight 0
-- whose slopes exceed the penalty most. There are at most as many of the latter as of the former, or 64 if that is
-- more.
local function working_set(o, w, slopes)
  local numbers, others = {}, {}
  for k, slope in ipairs(slopes) do
    if w[k] ~= 0 then numbers[#numbers + 1] = k elseif math.abs(slope) > o.penalty then others[#others + 1] = k end
  end
  table.sort(others, function(a, b)
    local first, second = math.abs(slopes[a]), math.abs(slopes[b])
    return first > second or first == second and a < b
  end)
  table.move(others, 1, math.min(#others, math.max(64, #numbers)), #numbers + 1, numbers)
  table.sort(numbers)
  return numbers
end

-- Runs coordinate descent on some columns until their duality gap is at most `enough`, no weight changes, or `passes`
-- are done. Returns whether a weight changed, and the number of passes. An empty set has no pass.
local function descend_in(o, columns, numbers, w, enough, passes)
  if #numbers == 0 then return false, 0 end
  local x, part = columns:rows(core.tensor(numbers, "int64", "cpu")), {}
  for i, k in ipairs(numbers) do part[i] = w[k] end
  local gram = x:matmul(x:t())
  local fits = gram:matmul(core.tensor(part, "float64", "cpu"):reshape(#part, 1)):reshape(#part):totable()
  local set = { gram = gram:totable(), products = x:matmul(o.y:reshape(#o.y, 1)):reshape(#numbers):totable() }
  local used, any = 0, false
  repeat
    core.check_interrupt()
    local changed = descend(o, set, part, fits)
    used, any = used + 1, any or changed
  until not changed or used >= passes or gap_of_set(o, set, part, fits) <= enough
  for i, k in ipairs(numbers) do w[k] = part[i] end
  return any, used
end

-- Returns the duality gap of the lasso over all columns, and the slope of each column, X'(y - X w).
local function measured(o, columns, w)
  local weights = core.tensor(w, "float64", "cpu")
  local rest = o.y - o.x:matmul(weights:reshape(#w, 1)):reshape(#o.y)
  local slopes = columns:matmul(rest:reshape(#rest, 1)):reshape(#w)
  local gap = duality_gap(o, slopes:abs():max():item(), weights:abs():sum():item(), (rest * rest):sum():item(),
    (o.y * rest):sum():item())
  return gap, slopes:totable()
end

---Returns the weights w that minimise |y - X w|^2 / 2 + penalty |w|_1 (the lasso), by coordinate descent on working
---sets of columns from 0, without X'X of all columns. x is [rows, width] and y is [rows], float64.
---@param o { x: mr.Tensor, y: mr.Tensor, penalty: number, tolerance: number, passes: integer }
---@return number[] weights
---@return number? gap  duality gap as a share of |y|^2, if `passes` were not enough; nil if the gap is at most the
---   tolerance, or if rounding keeps every weight from changing
function M.lasso(o)
  local columns, w, passes = o.x:t(), {}, o.passes
  for k = 1, o.x:size(2) do w[k] = 0.0 end
  o.square = (o.y * o.y):sum():item()
  if o.square == 0 then return w end
  while true do
    local gap, slopes = measured(o, columns, w)
    if gap <= o.tolerance then return w end
    if passes <= 0 then return w, gap end
    local numbers = working_set(o, w, slopes)
    local changed, used = descend_in(o, columns, numbers, w, math.max(0.5 * o.tolerance, 0.1 * gap), passes)
    if not changed then return w end
    passes = passes - used
  end
end

---Returns the objective of logistic regression of rows: a function from weights to the cross entropy and, if `curved`
---is true, its gradient and its matrix of second derivatives.
---@param x mr.Tensor  [rows, width] float64
---@param relevant mr.Tensor  [rows]
---@return fun(w: mr.Tensor, curved: boolean): number, mr.Tensor?, mr.Tensor?
function M.rows(x, relevant)
  return function(w, curved)
    local scores = x:matmul(w):reshape(#x)
    local value = (scores:softplus() - relevant * scores):sum():item()
    if not curved then return value end
    local share = scores:sigmoid()
    local weighted = x * (share * (1 - share)):reshape(#x, 1)
    return value, x:t():matmul((share - relevant):reshape(#x, 1)), x:t():matmul(weighted)
  end
end

-- Returns the cross entropy of the pairs of rows of one list at weights w, its gradient and its matrix of second
-- derivatives. The matrix `better` has 1 at [i, j] if row i of the list has a higher grade than row j.
local function of_list(x, better, w, curved)
  local n = #x
  local scores = x:matmul(w):reshape(n)
  local margins = scores:reshape(n, 1) - scores:reshape(1, n)
  local value = (better * (-margins):softplus()):sum():item()
  if not curved then return value end
  local wrong = (-margins):sigmoid()
  local slopes, curves = better * wrong, better * wrong * (1 - wrong)
  curves = curves + curves:t()
  local gradient = x:t():matmul((slopes:sum(1) - slopes:sum(2)):reshape(n, 1))
  return value, gradient, x:t():matmul(x * curves:sum(2):reshape(n, 1)) - x:t():matmul(curves:matmul(x))
end

---Returns the objective of logistic regression of pairs, like `rows`: the sum of log(1 + exp(-(s_i - s_j))) over pairs
---of rows of a list with grades y_i > y_j. Also returns the number of pairs.
---@param x mr.Tensor  [rows, width] float64
---@param y mr.Tensor  [rows] float64
---@param sizes integer[]  number of rows of each list
---@return fun(w: mr.Tensor, curved: boolean): number, mr.Tensor?, mr.Tensor?
---@return integer  number of pairs
function M.pairs_of(x, y, sizes)
  local parts, count, first = {}, 0, 1
  for _, n in ipairs(sizes) do
    if n > 1 then
      local grades = y:narrow(1, first, n)
      local better = grades:reshape(n, 1):gt(grades:reshape(1, n)):double()
      local number = better:sum():item()
      if number > 0 then parts[#parts + 1], count = { first, n, grades }, count + number end
    end
    first = first + n
  end
  return function(w, curved)
    local total, gradient, curvature = 0, nil, nil
    for _, part in ipairs(parts) do
      core.check_interrupt()
      local from, n, grades = table.unpack(part)
      local better = grades:reshape(n, 1):gt(grades:reshape(1, n)):double()
      local value, slope, curve = of_list(x:narrow(1, from, n), better, w, curved)
      total = total + value
      if curved then
        gradient, curvature = gradient and gradient + slope or slope, curvature and curvature + curve or curve
      end
    end
    return total, gradient, curvature
  end, math.tointeger(count)
end

local most_steps = 100

---Returns the weights w that minimise f(w) + alpha / 2 |w|^2, found by Newton's method with step
---halving, starting at 0.
---@param f fun(w: mr.Tensor, curved: boolean): number, mr.Tensor?, mr.Tensor?  like M.rows
---@param free boolean  whether the last weight has no penalty
---@return number[] weights
---@return boolean? unfinished  true if the method did not converge
function M.newton(f, width, alpha, free)
  local penalties = {}
  for k = 1, width do penalties[k] = free and k == width and 0.0 or alpha end
  local penalty = core.tensor(penalties, "float64", "cpu"):reshape(width, 1)
  local identity = identity_of(width)
  local w = core.full({ width, 1 }, 0, "float64", "cpu")
  local function value_at(at) return f(at, false) + 0.5 * (penalty * at * at):sum():item() end
  for _ = 1, most_steps do
    local value, gradient, curvature = f(w, true)
    value = value + 0.5 * (penalty * w * w):sum():item()
    gradient = gradient + penalty * w
    local step = solution(curvature + identity * penalty, gradient):reshape(width, 1)
    local decrement = (gradient * step):sum():item()
    if decrement <= 1e-16 * (1 + math.abs(value)) then return (w - step):reshape(width):totable() end
    local length = 1.0
    while length > 1e-12 and value_at(w - step * length) > value - 0.25 * length * decrement do length = length / 2 end
    if length <= 1e-12 then break end
    w = w - step * length
  end
  return w:reshape(width):totable(), true
end

return M
