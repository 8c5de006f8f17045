-- Regularisers of a model's factors that a loss asks for: mr.fit, which knows model and batch, adds them to the loss of each batch.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

---The factors of a loss's regularisers.
M.factors = declare("mr.losses.RegularizeOptions", {
  { "users", "number", least = 0, help = "factor of the squared norm of the factors of a list's user" },
  { "items", "number", least = 0, help = "factor of the squared norms of the factors of the items of a list's rows" },
})

-- A parameter of a model, or of what a script gave in its place, by its name.
local function parameter_of(model, name)
  if type(check.field(model, "state")) ~= "function" then return nil end
  local names, values = model:state()
  for i, each in ipairs(names) do
    if each == name then return values[i] end
  end
end

local function rows_of(loss, model, batch, name)
  local factors, numbers = parameter_of(model, name), check.field(batch, name)
  if not check.is_tensor(factors) or not check.is_tensor(numbers) then
    check.fail("mr.losses.%s: regularize names '%s', but the %s", loss.name, name,
      check.is_tensor(numbers) and "model has no parameter of this name" or "training data have none")
  end
  return factors:rows(numbers)
end

---The sum over the lists of a batch of lambda |factors|^2, of each list's user and of the items of its rows; nil where the loss asks for none.
---@param loss mr.Loss
---@param model mr.Model
---@param batch mr.Batch
---@return mr.Tensor?
function M.of_batch(loss, model, batch)
  local options, sum = check.field(loss, "options"), nil
  local regularize = type(options) == "table" and check.field(options, "regularize")
  for _, name in ipairs{ "users", "items" } do
    local lambda = regularize and regularize[name] or 0
    if lambda > 0 then
      local rows = rows_of(loss, model, batch, name)
      local part = (rows * rows):sum() * lambda
      sum = sum and sum + part or part
    end
  end
  return sum
end

return M
