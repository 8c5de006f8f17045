-- mr.gradcheck compares the gradient of a function with central differences.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

local gradcheck_options = declare("mr.GradcheckOptions", {
  { "step", "number", default = 1e-5, above = 0, also = { "eps" },
    help = "distance by which an entry is moved, times the entry's absolute value if that is above 1" },
  { "tolerance", "number", default = 1e-6, infinite = true, also = { "atol", "rtol", "tol" },
    help = "largest allowed error" },
  { "seed", "integer", default = 1, help = "seed of the combination of several results" },
})

---Compares the gradient of `f` at `x` with central differences. `f` gets x in float64, and its result
---has to be float64. Each entry of x is moved up and down a little, as the option `step` says. Returns
---the largest error of a derivative. If `f` returns several numbers, a fixed random combination of them
---is checked.
---@param f fun(x: mr.Tensor): mr.Tensor
---@param x mr.Tensor
---@param options? mr.GradcheckOptions
---@return number  largest error, relative to 1 + |derivative|; more than `tolerance` is an error that names the entry
---Example: `mr.gradcheck(function(x) return (x * x):sum() end, mr.tensor{1, 2, 3}) < 1e-6   --> true`
function M.gradcheck(f, x, options)
  check.expect(check.callable(f), "mr.gradcheck", "f", f,
    "a function: mr.gradcheck(function(x) return x:sum() end, x)")
  options = gradcheck_options:read("mr.gradcheck", options)
  local point = core.numbers(x)
  local sizes = core.shape(x)
  local function at(numbers) return core.reshape(core.tensor(numbers, "float64", x.device), sizes) end
  local leaf = at(point):requires_grad()
  local out = f(leaf)
  local weights = core.uniform(core.shape(out), 0.5, 1.5, options.seed, "gradcheck", "float64", x.device)
  local function value(numbers) return (f(at(numbers)) * weights):sum():item() end
  if out.tracked then (out * weights):sum():backward() end
  local grad = leaf.grad and core.numbers(leaf.grad) or {}
  local worst = 0
  for i = 1, #point do
    local kept = point[i]
    local step = options.step * math.max(1, math.abs(kept))
    point[i] = kept + step
    local above = value(point)
    point[i] = kept - step
    local below = value(point)
    point[i] = kept
    local expected = (above - below) / (2 * step)
    local found = grad[i] or 0
    local err = math.abs(found - expected) / (1 + math.abs(expected))
    if err > options.tolerance or err ~= err then
      check.fail("gradcheck: entry %d has derivative %.10g, but central differences give %.10g", i, found, expected)
    end
    worst = math.max(worst, err)
  end
  return worst
end

return M
