-- Regularizers of a model's factors, which a loss can request. A loss does not see the model, so mr.fit computes
-- the regularizers and adds them to the loss of each batch.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

---Declares the fields of a loss's option `regularize`, such as {users = 0.1, items = 0.1}. Each is
---the factor of a regularizer that mr.fit adds to the loss; without a field, mr.fit adds none.
M.factors = declare("mr.losses.RegularizeOptions", {
  { "users", "number", least = 0, help = "factor of the squared norm of the latent factors of a list's user" },
  { "items", "number", least = 0,
    help = "factor of the squared norms of the latent factors of the items in a list's rows" },
})

-- Returns a model's parameter by name; nil if a script's model lacks the method :state.
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
    check.fail("mr.losses.%s: regularize has a factor for '%s', but the %s, or leave the factor out", loss.name, name,
      check.is_tensor(numbers) and "model has no parameter of this name. Pass a model with latent factors"
      or "training data have no tensor of this name. Train on a dataset of users and items")
  end
  return factors:rows(numbers)
end

-- Appends the regularizers that the loss requests, multiplied by `factor`, to the array `terms`.
local function add_terms(terms, loss, factor)
  for _, each in ipairs(check.field(loss, "_terms") or {}) do add_terms(terms, each.loss, factor * each.factor) end
  local options = check.field(loss, "options")
  local regularize = type(options) == "table" and check.field(options, "regularize")
  for _, name in ipairs{ "users", "items" } do
    local lambda = regularize and regularize[name] or 0
    if lambda > 0 then terms[#terms + 1] = { name = name, lambda = lambda * factor, loss = loss } end
  end
end

---Returns the regularizer that a loss, or a sum of losses, requests; nil if it requests none. It is the sum over lists
---of lambda |factors|^2 for the list's user and for the items of its rows.
---@return nil|fun(model: mr.Model, batch: mr.Batch): mr.Tensor
function M.of(loss)
  local terms = {}
  add_terms(terms, loss, 1)
  if #terms == 0 then return nil end
  return function(model, batch)
    local sum
    for _, term in ipairs(terms) do
      local rows = rows_of(term.loss, model, batch, term.name)
      local part = (rows * rows):sum() * term.lambda
      sum = sum and sum + part or part
    end
    return sum
  end
end

return M
