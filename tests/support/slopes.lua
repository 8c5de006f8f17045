-- Computes values of functions with their gradients, and checks losses on scores that are far apart, equal or infinite.
local mr = require "moonrank"
local test = require "moonrank.test"

local M = {}

---A function of scores, with its gradient there; nil where nothing is tracked.
---@param f fun(scores: mr.Tensor): mr.Tensor
---@param scores mr.Tensor
---@return mr.Tensor value
---@return mr.Tensor? gradient
function M.value_and_gradient(f, scores)
  local leaf = scores:requires_grad()
  local value = f(leaf)
  if value.tracked then value:sum():backward() end
  local gradient = leaf.grad
  leaf:zero_grad()
  return value, gradient
end

---Like `value_and_gradient`, for a loss on lists.
function M.of_loss(loss, scores, lists)
  return M.value_and_gradient(function(x) return loss(x, lists) end, scores)
end

-- Test inputs: scores of four rows that are far apart, equal or infinite, and grades of four rows, with several grades
-- or with one grade only.
local infinity = math.huge
local far = { { 1e4, -1e4, 0, 3 }, { -1e4, 1e4, 0, 3 }, { 0.5, 0.5, 0.5, 0.5 }, { infinity, 0, 1, -infinity },
  { -infinity, infinity, 3, 0 }, { -infinity, infinity, infinity, 0 }, { infinity, infinity, infinity, infinity },
  { -infinity, -infinity, -infinity, -infinity } }
local of_grades = { { 0, 0, 0, 0 }, { 1, 1, 1, 1 }, { 2, 0, 1, 0 }, { 4, 4, 0, 4 }, { 2, 2, 1, 1 }, { 0, 2, 0, 0 } }

---Checks that a loss is never NaN and has finite gradients, on scores that are far apart, equal or infinite.
---@param loss mr.Loss
---@param name string
---@param also? fun(value: number, gradient: mr.Tensor, scores: number[], grades: integer[], what: string)
function M.stays_a_number(loss, name, also)
  for _, scores in ipairs(far) do
    for _, grades in ipairs(of_grades) do
      for _, dtype in ipairs{ "float32", "float64" } do
        local value, gradient = M.of_loss(loss, mr.tensor(scores, { dtype = dtype }), mr.lists{ grades })
        local what = ("%s of %s, grades %s"):format(name, table.concat(scores, ", "), table.concat(grades, ", "))
        test.check(value:item() == value:item(), what)
        test.check(not gradient or (gradient - gradient):eq(0):min():item() == 1, what .. ": gradient")
        if also then also(value:item(), gradient, scores, grades, what) end
      end
    end
  end
end

---Checks that a loss under each bound is the loss times the bound's slope.
---@param make fun(options: table): mr.Loss
---@param of string  the metric
---@param lists mr.Lists
---@param also? fun(bounded: mr.Loss, where: string)
function M.by_slope(make, of, lists, also)
  local scores = mr.normal({ lists.rows }, { seed = 5, dtype = "float64" })
  local exact = mr.metrics.parse(of)(scores, lists)
  mr.seed(2)
  local value = make{}(scores, lists)
  for _, bound in ipairs(mr.bounds.names()) do
    local at = not mr.bounds.resolve(bound).affine and exact or nil
    local slopes = bound == "none" and 1 or mr.bounds.slopes(bound, of, lists, { at = at })
    local bounded = make{ bound = bound }
    mr.seed(2)
    test.near(bounded(scores, lists), value * slopes, 1e-12, of .. " under " .. bound)
    if also then also(bounded, bound) end
  end
end

---Checks the gradients of a loss by differences.
---@param loss mr.Loss
---@param lists mr.Lists
---@param name string
function M.by_differences(loss, lists, name)
  for _, spread in ipairs{ 0.5, 3 } do
    local x = mr.normal({ lists.rows }, { seed = 2, dtype = "float64" }) * spread
    test.check(mr.gradcheck(function(s) return loss(s, lists) end, x) < 1e-6, name)
  end
end

---n grades drawn from 0 to most, evenly; with `zeros`, so many values more of the draw are 0.
---@param n integer
---@param seed? integer
---@param most integer
---@param zeros? integer
---@return integer[]
function M.grades(n, seed, most, zeros)
  local u, y = mr.uniform({ math.max(n, 1) }, { seed = seed or 1, device = "cpu" }):totable(), {}
  for i = 1, n do y[i] = math.max(0, math.floor((most + 1 + (zeros or 0)) * u[i]) - (zeros or 0)) end
  return y
end

return M
