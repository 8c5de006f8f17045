-- Computes first and second derivatives of a loss with respect to every score. Boosted trees need both for Newton
-- steps.
local core = require "moonrank.core"
local check = require "moonrank.check"
local losses = require "moonrank.losses.loss"
local random = require "moonrank.tensor.random"

local M = {}

local function gradient(values_of, scores, lists)
  local x = scores:detach():requires_grad()
  local values = values_of(x, lists)
  if values.tracked then values:sum():backward() end
  return x.grad or scores * 0, values:detach()
end

-- Returns second derivatives of a pointwise loss by each score, by central differences of the gradient.
local function difference(loss, scores, lists)
  local step = 1e-4
  return (gradient(loss, scores + step, lists) - gradient(loss, scores - step, lists)) / (2 * step)
end

-- Returns, for each row, the root mean square of the derivatives of all rows in the row's list.
local function size_of(derivatives, lists)
  local sizes = lists.sizes:to(derivatives.device):double()
  return lists:spread((lists:sum(derivatives * derivatives) / sizes:maximum(1)):sqrt())
end

-- Multiplies the first and second derivatives of each row by the weight of its list, if lists have weights.
local function weighed(first, second, values, lists)
  local weights = lists:has_weights() and lists:list_weights_like(first)
  if not weights then return first, second, values end
  weights = lists:spread(weights)
  return first * weights, second * weights, values
end

-- Returns the terms of a sum of losses whose terms all have second derivatives of their own; nil for any other loss.
local function terms_of(loss)
  local terms = check.field(loss, "_terms")
  for _, term in ipairs(terms or {}) do
    if not term.loss._curvature and not term.loss.pointwise then return nil end
  end
  return terms
end

-- Computes derivatives of a sum of losses from those of its terms. A term with a negative factor may not make a second
-- derivative negative.
local function of_sum(terms, scores, lists)
  local first, second, values = scores * 0, scores * 0, core.full({ lists.count }, 0, "float64", scores.device)
  for _, term in ipairs(terms) do
    if term.factor ~= 0 then
      local own_first, own_second, own_values = M.derivatives(term.loss, scores, lists)
      first, second = first + own_first * term.factor, second + own_second * term.factor
      values = values + own_values * term.factor
    end
  end
  return first, second:maximum(0), values
end

---Computes first and second derivatives of a loss, summed over lists, with respect to every score.
---Weights of lists multiply both. The second derivatives depend on the kind of loss:
---
---A pairwise logistic loss has, for each pair, w a^2 sigma(t) (1 - sigma(t)), times the bound's slope.
---Here w is the weight of the pair, such as LambdaRank's change of the metric, a is the steepness, and
---t = a (s_i - s_j). This includes losses that draw pairs (for the same drawn pairs), and metrics that
---a script declared by gain and discount. DirectRanker has the second derivative of the logarithm
---times the square of the slope of the hyperbolic tangent. Hinge losses have no second derivative, and
---use w for each pair whose first derivative is not 0: 1 for mr.losses.hinge, the factor L for
---mr.losses.warp. Second derivatives of pointwise losses are central differences of the gradient, and
---at least 1e-16.
---
---For all other losses, the first derivatives of a list are divided by their root mean square, and
---the second derivatives are 1. First and second derivatives are then multiplied by the bound's
---slope, so that each list has the weight that its bound gives. A list whose first derivatives are
---all 0 gets second derivatives of 0.
---
---A sum of losses has the sums of its terms' derivatives, if all terms have second derivatives of their
---own. Second derivatives are at least 0.
---@param scores mr.Tensor  [rows] float64
---@return mr.Tensor first    [rows]
---@return mr.Tensor second   [rows]
---@return mr.Tensor values   [lists] values of the loss
---Example:
---```lua
---local newton = require "moonrank.losses.newton"
---local scores, lists = mr.tensor({0, 0}, {dtype = "float64"}), mr.lists{{1, 0}}
---local first, second = newton.derivatives(mr.losses.ranknet{}, scores, lists)
---first[1]:item(), second[1]:item()   --> -0.5, 0.25
---```
function M.derivatives(loss, scores, lists)
  local terms = terms_of(loss)
  if terms then return of_sum(terms, scores, lists) end
  if check.field(loss, "_curvature") then
    local first, second, values = losses.newton(loss, scores, lists)
    return weighed(first, second, values, lists)
  end
  local drawn = random.calls()
  local first, values = gradient(loss, scores, lists)
  if check.field(loss, "pointwise") then
    return weighed(first, difference(loss, scores, lists):maximum(1e-16), values, lists)
  end
  local plain = check.field(loss, "_unbounded") or function(of, part) return losses.unbounded(loss, of, part) end
  local after = random.calls()
  -- The loss without its bound must use the same random rankings as the loss with its bound, so the count of random
  -- calls is set back.
  random.go_back(drawn)
  local own = size_of(first, lists)
  local is_bounded = check.field(loss, "_smooth") and loss.bound_name ~= "none"
  local unbounded = is_bounded and size_of(gradient(plain, scores, lists), lists) or own
  random.go_back(after)
  local counts = unbounded:gt(0)
  local divisor = counts:where(unbounded, 1)
  return weighed(counts:where(first / divisor, 0), counts:where(own / divisor, 0), values, lists)
end

return M
