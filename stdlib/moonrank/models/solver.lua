-- What solves the linear models of models/regression: systems with a ridge, coordinate descent, Newton's method.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- The identity of so many rows.
local function identity_of(width)
  local numbers = core.arange(1, width, 1, "float64", "cpu")
  return numbers:reshape(width, 1):eq(numbers:reshape(1, width)):double()
end

-- The solution of A x = b; an error where A is singular to rounding.
local function solution(a, b)
  local found, _, _, rank = core.least_squares(a, b:reshape(#a))
  if rank < #a then
    check.fail("mr.models: features depend on each other and alpha is too small to tell them apart, expected a larger alpha")
  end
  return found
end

---The solution of (A + alpha I) x = b.
---@param a mr.Tensor  [width, width] float64
---@param b mr.Tensor  [width, 1]
---@param alpha number
---@return mr.Tensor  [width]
function M.solved(a, b, alpha)
  return solution(a + identity_of(#a) * alpha, b)
end

-- What |y - X w|^2 / 2 + penalty |w|_1 has at most above its least value, as a share of |y|^2. `fits` is X'X w.
local function duality_gap(o, w, fits)
  local norm, by_fits, by_products, steepest = 0, 0, 0, 0
  for k, each in ipairs(w) do
    norm, by_fits, by_products = norm + math.abs(each), by_fits + each * fits[k], by_products + each * o.products[k]
    steepest = math.max(steepest, math.abs(o.products[k] - fits[k]))
  end
  local squared = o.square - 2 * by_products + by_fits
  local scale = steepest > o.penalty and o.penalty / steepest or 1
  return (0.5 * squared * (1 + scale * scale) + o.penalty * norm - scale * (o.square - by_products)) / o.square
end

-- One pass over all coefficients; whether any of them changed.
local function descend(o, w, fits)
  local changed, width = false, #w
  for k = 1, width do
    local row = o.gram[k]
    local old, curve = w[k], row[k]
    local slope = o.products[k] - fits[k] + curve * old
    local size = math.abs(slope) - o.penalty
    local new = size > 0 and curve > 0 and (slope > 0 and size or -size) / curve or 0.0
    if new ~= old then
      w[k], changed = new, true
      for i = 1, width do fits[i] = fits[i] + (new - old) * row[i] end
    end
  end
  return changed
end

---The least of |y - X w|^2 / 2 + penalty |w|_1 by coordinate descent, from 0.
---@param o { gram: number[][], products: number[], square: number, penalty: number, tolerance: number, passes: integer }  X'X, X'y, |y|^2
---@return number[] weights
---@return number? gap  where it did not get below the tolerance
function M.lasso(o)
  local w, fits = {}, {}
  for k = 1, #o.products do w[k], fits[k] = 0.0, 0.0 end
  if o.square == 0 then return w end
  local gap
  for _ = 1, o.passes do
    core.check_interrupt()
    local changed = descend(o, w, fits)
    gap = duality_gap(o, w, fits)
    if not changed or gap <= o.tolerance then return w end
  end
  return w, gap
end

---Cross entropy of rows that are relevant (1) or not (0), at weights: value, gradient, curvature.
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

-- The same of the pairs of one list; `better` is 1 where the row's grade is above the column's.
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

---The sum over pairs of rows of a list with grades y_i > y_j of log(1 + exp(-(s_i - s_j))), as M.rows; and how many pairs there are.
---@param x mr.Tensor  [rows, width] float64
---@param y mr.Tensor  [rows] float64
---@param sizes integer[]
---@return fun(w: mr.Tensor, curved: boolean): number, mr.Tensor?, mr.Tensor?
---@return integer
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
      if curved then gradient, curvature = gradient and gradient + slope or slope, curvature and curvature + curve or curve end
    end
    return total, gradient, curvature
  end, math.tointeger(count)
end

local most_steps = 100

---The least of f + alpha / 2 |w|^2 by Newton's method with halved steps, from 0.
---@param f fun(w: mr.Tensor, curved: boolean): number, mr.Tensor?, mr.Tensor?
---@param width integer
---@param alpha number
---@param free boolean  whether the last weight has no penalty
---@return number[] weights
---@return boolean? unfinished
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
