-- Optimisers. `mr.optim.adam{lr = 1e-3}` describes one; `mr.fit`, or `optimizer:bind(model:parameters())`, gives it parameters.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.Optimizer
---@field name string
---@field options table
local Optimizer = check.class("mr.Optimizer")

local function optimizer(name, options, step)
  return setmetatable({ name = name, options = options, _step = step, _parameters = false, _state = false }, Optimizer)
end

---The same optimiser for these parameters, with no state yet.
---@param parameters mr.Tensor[]
---@return mr.Optimizer
function Optimizer:bind(parameters)
  local bound = optimizer(self.name, self.options, self._step)
  bound._parameters, bound._state = parameters, core.optimizer_state(parameters)
  return bound
end

---One step of every parameter along its gradient. Parameters without one do not change.
function Optimizer:step()
  if not self._state then check.fail("optimizer:step: bind the optimizer to parameters first") end
  self._step(self._state, self.options)
end

---Clears the gradients of all parameters.
function Optimizer:zero_grad()
  for _, parameter in ipairs(self._parameters or {}) do parameter:zero_grad() end
end

function Optimizer:__tostring()
  local parts = {}
  for name, value in pairs(self.options) do
    if value then parts[#parts + 1] = value == true and name .. " = true" or ("%s = %g"):format(name, value) end
  end
  table.sort(parts)
  return ("%s{%s}"):format(self.name, table.concat(parts, ", "))
end

local function sgd_step(state, o) core.sgd_step(state, o.lr, o.momentum, o.weight_decay) end

---Stochastic gradient descent: p = p - lr (g + weight_decay p), or with momentum v = momentum v + g, p = p - lr v.
---Rows without gradient are not touched where neither momentum nor decay moves them; what momentum does to them is put off in
---large parameters, as with Adam.
---@param options? { lr?: number, momentum?: number, weight_decay?: number }  defaults 0.01, 0, 0
---@return mr.Optimizer
---Example: `tostring(mr.optim.sgd{lr = 0.5})   --> sgd{lr = 0.5, momentum = 0, weight_decay = 0}`
function M.sgd(options)
  return optimizer("sgd", check.options("mr.optim.sgd", options, { lr = 0.01, momentum = 0, weight_decay = 0 }), sgd_step)
end

local function adam_step(state, o)
  core.adam_step(state, o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.sparse)
end

---Adam (Kingma & Ba 2015, algorithm 1). Of a parameter with millions of entries, or fewer of which a step moves few, a step costs the rows that have
---a gradient in it: what others do without one is put off until they have one or somebody reads them, and then is what all these steps add up to
---(to rounding). Reading changes nothing of what follows. Of others, on the GPU, and with weight decay, which moves all rows, a step visits all
---rows that were ever moved.
---`sparse = true` updates only rows that have a gradient in this step, and only their moments; steps are counted for all rows together and
---epsilon is added to the root before its correction, as in torch.optim.SparseAdam. That is another method than Adam: rows do not change in
---steps in which they have no gradient. It takes no weight decay.
---@param options? { lr?: number, beta1?: number, beta2?: number, epsilon?: number, weight_decay?: number, sparse?: boolean }  defaults 1e-3, 0.9, 0.999, 1e-8, 0, false
---@return mr.Optimizer
---Example: `mr.optim.adam{lr = 0.01}.options.beta1   --> 0.9`
function M.adam(options)
  local o = check.options("mr.optim.adam", options,
    { lr = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0, sparse = false })
  if o.sparse and o.weight_decay ~= 0 then
    check.fail("mr.optim.adam: weight_decay is %g, expected 0 with sparse = true, which leaves rows without gradient alone", o.weight_decay)
  end
  return optimizer("adam", o, adam_step)
end

return M
