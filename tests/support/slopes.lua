-- Values with their gradients, and grades to have them for.
local mr = require "moonrank"

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
