-- Computes weighted sums of losses, such as mr.losses.ndcg{} + 0.1 * mr.losses.mse{}.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- Returns the terms of a loss. A loss that is not a sum is its only term, with the factor 1.
local function terms_of(value) return rawget(value, "_terms") or { { factor = 1, loss = value } } end

local function text_of(term)
  return term.factor == 1 and term.loss.name or ("%.12g %s"):format(term.factor, term.loss.name)
end

local function all(terms, field)
  for _, term in ipairs(terms) do
    if not term.loss[field] then return false end
  end
  return true
end

-- Returns the name of the bound that all terms have, else the names of all bounds in the order of the terms.
local function bounds_of(terms)
  local names, same = {}, true
  for i, term in ipairs(terms) do
    names[i], same = term.loss.bound_name, same and term.loss.bound_name == terms[1].loss.bound_name
  end
  return same and names[1] or table.concat(names, ", ")
end

-- Returns the parameters of all terms, each once, because two terms may be the same loss.
local function parameters_of(terms)
  local found, is_known = {}, {}
  for _, term in ipairs(terms) do
    for _, each in ipairs(term.loss:parameters()) do
      if not is_known[each] then found[#found + 1] = each end
      is_known[each] = true
    end
  end
  return #found > 0 and found
end

-- Returns a function of a training's interactions that returns the states of all terms; false if no term has a state.
local function states_of(terms)
  local has_states = false
  for _, term in ipairs(terms) do has_states = has_states or term.loss._states end
  return has_states and function(interactions)
    local found = {}
    for _, term in ipairs(terms) do
      local own = term.loss._states and term.loss._states(interactions) or {}
      table.move(own, 1, #own, #found + 1, found)
    end
    return found
  end
end

-- Returns a function of scores and lists: the sum over terms of the factor times `values(loss, scores, lists)`.
local function sum_of(terms, values)
  return function(scores, lists)
    local sum
    for _, term in ipairs(terms) do
      local value = values(term.loss, scores, lists)
      if term.factor == 0 then  -- a term with the factor 0 adds nothing, even if its value is infinite
        value = core.times_slope(value, core.full({ #value }, 0, value.dtype, value.device))
      elseif term.factor ~= 1 then
        value = value * term.factor
      end
      sum = sum and sum + value or value
    end
    return sum
  end
end

-- Returns the fields of the loss object that is the weighted sum of the losses in `terms`.
local function made(terms, values, unbounded)
  local names, gains, options = {}, false, {}
  for i, term in ipairs(terms) do
    if term.loss._count_of then
      check.fail("loss: the means of %s are over pairs, so it cannot be a term of a sum. Make it with per = 'list'",
        term.loss.name)
    end
    names[i], gains = text_of(term), gains or term.loss._gains
    options[i] = { factor = term.factor, loss = term.loss.name, options = term.loss.options }
  end
  return {
    name = table.concat(names, " + "), bound_name = bounds_of(terms), metric = terms[1].loss.metric,
    repeats = all(terms, "repeats"), pointwise = all(terms, "pointwise"), options = { terms = options },
    _terms = terms, _row_weights = true, _gains = gains, _parameters = parameters_of(terms), _maximize = false,
    _counts_all = all(terms, "_counts_all"), _bounds_metric = terms[1].loss._bounds_metric,
    _apply = function(value) return value end, _unbounded = sum_of(terms, unbounded),
    _prepare = function(model, batch)
      for _, term in ipairs(terms) do
        if term.loss._prepare then term.loss._prepare(model, batch) end
      end
    end,
    _states = states_of(terms),
    _smooth = sum_of(terms, values),
  }
end

---Gives losses the operators +, -, * and /. A sum has, for each list, the sum of its terms, and the mean
---over the lists that count in at least one term.
---@param class table  mr.Loss
---@param values fun(loss: mr.Loss, scores: mr.Tensor, lists: mr.Lists): mr.Tensor
---@param unbounded fun(loss: mr.Loss, scores: mr.Tensor, lists: mr.Lists): mr.Tensor  the values before the bound
function M.install(class, values, unbounded)
  local function is_loss(value) return getmetatable(value) == class end
  local function check_term(value)
    check.expect(is_loss(value), "loss", "a term of the sum", value, "a loss: mr.losses.ndcg{} + mr.losses.mse{}")
  end

  function class.__add(a, b)
    check_term(a)
    check_term(b)
    local terms = table.move(terms_of(a), 1, #terms_of(a), 1, {})
    return setmetatable(made(table.move(terms_of(b), 1, #terms_of(b), #terms + 1, terms), values, unbounded), class)
  end

  function class.__mul(a, b)
    local factor, of = a, b
    if is_loss(a) then factor, of = b, a end
    check.expect(check.is_finite(factor), "loss", "factor", factor, "a finite number: 0.1 * mr.losses.mse{}")
    local terms = {}
    for i, term in ipairs(terms_of(of)) do terms[i] = { factor = term.factor * factor, loss = term.loss } end
    return setmetatable(made(terms, values, unbounded), class)
  end

  function class.__unm(a) return -1 * a end
  function class.__sub(a, b)
    check_term(b)
    return a + -1 * b
  end
  function class.__div(a, b)
    check.expect(is_loss(a) and type(b) == "number" and b ~= 0, "loss", "divisor", is_loss(a) and b or a,
      "a number other than 0: mr.losses.mse{} / 2")
    return a * (1 / b)
  end
end

return M
