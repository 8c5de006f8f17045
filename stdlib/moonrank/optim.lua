-- Optimisers. `mr.optim.adam{lr = 1e-3}` describes one; `mr.fit`, or `optimizer:bind(model:parameters())`, gives it parameters.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local phase = require "moonrank.phase"

local M = {}

---@class mr.Optimizer
---@field name string
---@field options table
local Optimizer = check.class("mr.Optimizer")

local function optimizer(name, options, step)
  return setmetatable({ name = name, options = options, _step = step, _parameters = false, _state = false }, Optimizer)
end

-- Options that several optimizers have. The core checks the limits again in each step, because `options` may change.
local function lr(default)
  return { "lr", "number", default = default, above = 0, also = { "learning_rate", "eta" }, help = "learning rate" }
end
local function share(name, default, help, also)
  return { name, "number", default = default, least = 0, below = 1, help = help, also = also }
end
local function epsilon(default)
  return { "epsilon", "number", default = default, least = 0, also = { "eps" }, help = "added to the denominator" }
end
local function weight_decay(default, help)
  return { "weight_decay", "number", default = default, least = 0, also = { "l2" },
    help = help or "adds this times the parameter to its gradient" }
end

-- A new optimizer of a kind, with the options that a script gave.
local function made(kind, declaration, given, step)
  return optimizer(kind, declaration:read("mr.optim." .. kind, given), step)
end

---A copy of the optimiser for these parameters, without state.
---@param parameters mr.Tensor[]
---@return mr.Optimizer
function Optimizer:bind(parameters)
  if type(parameters) == "table" and check.field(parameters, "parameters") then
    check.fail("optimizer:bind: found a model, expected its parameters. Pass model:parameters()")
  end
  local bound = optimizer(self.name, self.options, self._step)
  bound._parameters, bound._state = parameters, core.optimizer_state(parameters)
  return bound
end

-- A copy with its own table of options, which a schedule changes.
function Optimizer:_copy()
  local options = {}
  for name, value in pairs(self.options) do options[name] = value end
  return optimizer(self.name, options, self._step)
end

---One step of every parameter along its gradient. Parameters without one do not change.
---Example:
---```lua
---local w = mr.tensor{1, 2}:requires_grad()
---local optimizer = mr.optim.sgd{lr = 0.1}:bind{w}
---local y = (w * w):sum()
---y:backward()
---optimizer:step()
---w:totable()[1]   --> 0.8
---```
function Optimizer:step()
  if not self._state then check.fail("optimizer:step: bind the optimizer to parameters first") end
  local _ <close> = phase.begin "step"
  self._step(self._state, self.options)
end

---Clears the gradients of all parameters.
---Example:
---```lua
---local w = mr.tensor{1, 2}:requires_grad()
---local optimizer = mr.optim.sgd{lr = 0.1}:bind{w}
---local y = w:sum()
---y:backward()
---optimizer:zero_grad()
---w.grad   --> nil
---```
function Optimizer:zero_grad()
  for _, parameter in ipairs(self._parameters or {}) do parameter:zero_grad() end
end

-- All that it remembers, for files: names and tensors.
function Optimizer:_numbers()
  if not self._state then check.fail("optimizer: it remembers nothing before it is bound to parameters") end
  return core.optimizer_numbers(self._state)
end

-- Raises where :_resume would; nothing changes.
function Optimizer:_check(names, tensors)
  if not self._state then check.fail("optimizer: bind it to parameters first") end
  core.check_optimizer(self._state, names, tensors)
end

-- Restores the state from the names and tensors that :_numbers returned. Raises if they belong to
-- other parameters.
function Optimizer:_resume(names, tensors)
  if not self._state then check.fail("optimizer: bind it to parameters first") end
  core.restore_optimizer(self._state, names, tensors)
end

---Writes what it remembers of its parameters (means, counts of steps, steps put off) to a safetensors file, whole or not at all; the parameters
---themselves are the model's. An existing file is replaced where it is an optimizer's, too; any other is an error and is not changed. Its folder is made.
---@param path string
function Optimizer:save(path)
  local names, tensors = self:_numbers()
  core.make_folder(path)
  core.save_tensors(path, "moonrank optimizer 1", names, tensors, { "kind" }, { self.name })
end

---Reads what :save wrote, so that training goes on in the same bits: for an optimizer of the same kind, bound to the parameters of a model that
---has its numbers of then (mr.models.load). Rates and other options stay those of this one.
---@param path string
---@return mr.Optimizer  itself
---Example:
---```lua
---local model, path = mr.models.linear{inputs = 2}, os.tmpname()
---local optimizer = mr.optim.adam{lr = 0.1}:bind(model:parameters())
---model(({lists = mr.lists{{1, 0}}, features = mr.ones(2, 2)})):sum():backward()
---optimizer:step()
---optimizer:save(path)
---tostring(mr.optim.adam{lr = 0.01}:bind(model:parameters()):load(path))   --> adam{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08, lr = 0.01, weight_decay = 0}
---```
function Optimizer:load(path)
  local names, tensors, keys, values = core.load_tensors(path, "moonrank optimizer")
  for i, key in ipairs(keys) do
    if key == "kind" and values[i] ~= self.name then
      check.fail("%s: holds what an optimizer of kind '%s' remembers, expected '%s'", path, core.safe_text(values[i]), self.name)
    end
  end
  local ok, message = pcall(self._resume, self, names, tensors)
  if message == "interrupted" then error(message, 0) end
  if not ok then check.fail("%s: is not of these parameters: %s", path, core.safe_text(check.reason(message))) end
  return self
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

local sgd_options = declare("mr.optim.SgdOptions", {
  lr(0.01), share("momentum", 0, "momentum"), weight_decay(0),
})

---Stochastic gradient descent: p = p - lr (g + weight_decay p), or with momentum v = momentum v + g, p = p - lr v.
---Rows without gradient are not touched where neither momentum nor decay moves them; what momentum does to them is put off in
---large parameters, as with Adam.
---@param options? mr.optim.SgdOptions
---@return mr.Optimizer
---Example: `tostring(mr.optim.sgd{lr = 0.5})   --> sgd{lr = 0.5, momentum = 0, weight_decay = 0}`
function M.sgd(options)
  return made("sgd", sgd_options, options, sgd_step)
end

local function adam_step(state, o)
  core.adam_step(state, o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, o.sparse)
end

local betas = { betas = "Write beta1 = 0.9, beta2 = 0.999" }
local function beta1() return share("beta1", 0.9, "decay of the mean of gradients", betas) end
local function beta2() return share("beta2", 0.999, "decay of the mean of squared gradients") end

local adam_options = declare("mr.optim.AdamOptions", {
  lr(1e-3), beta1(), beta2(), epsilon(1e-8), weight_decay(0),
  { "sparse", "boolean", default = false,
    help = "updates only rows that have a gradient in this step; takes no weight_decay" },
})

---Adam (Kingma & Ba 2015, algorithm 1). Of a parameter with millions of entries, or fewer of which a step moves few, a step costs the rows that have
---a gradient in it: what others do without one is put off until they have one or somebody reads them, and then is what all these steps add up to
---(to rounding). Reading changes nothing of what follows. Of others, on the GPU, and with weight decay, which moves all rows, a step visits all
---rows that were ever moved.
---`sparse = true` updates only rows that have a gradient in this step, and only their moments; steps are counted for all rows together and
---epsilon is added to the root before its correction, as in torch.optim.SparseAdam. That is another method than Adam: rows do not change in
---steps in which they have no gradient. It takes no weight decay.
---@param options? mr.optim.AdamOptions
---@return mr.Optimizer
---Example: `mr.optim.adam{lr = 0.01}.options.beta1   --> 0.9`
function M.adam(options)
  local adam = made("adam", adam_options, options, adam_step)
  local o = adam.options
  if o.sparse and o.weight_decay ~= 0 then
    check.fail("mr.optim.adam: weight_decay is %g, expected 0 with sparse = true, which leaves rows without gradient alone", o.weight_decay)
  end
  return adam
end

local function adamw_step(state, o)
  core.adam_step(state, o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, false, true)
end

local adamw_options = declare("mr.optim.AdamwOptions", {
  lr(1e-3), beta1(), beta2(), epsilon(1e-8),
  weight_decay(0.01, "each step multiplies the parameter by 1 - lr weight_decay"),
})

---AdamW (Loshchilov & Hutter 2019, algorithm 2 with their schedule in lr, as torch.optim.AdamW): before each step of Adam every parameter is
---multiplied by 1 - lr weight_decay, which is no part of the gradient and of its means. It moves all rows of a parameter that has a gradient.
---@param options? mr.optim.AdamwOptions
---@return mr.Optimizer
---Example: `mr.optim.adamw{lr = 0.01}.options.weight_decay   --> 0.01`
function M.adamw(options)
  return made("adamw", adamw_options, options, adamw_step)
end

local function adagrad_step(state, o) core.adagrad_step(state, o.lr, o.epsilon, o.weight_decay) end

local adagrad_options = declare("mr.optim.AdagradOptions", { lr(0.01), epsilon(1e-10), weight_decay(0) })

---Adagrad (Duchi, Hazan & Singer 2011, as torch.optim.Adagrad): s = s + g^2, p = p - lr g / (sqrt(s) + epsilon), g with weight_decay p added.
---Rows without a gradient stay, so that a step costs those that have one, unless weights decay.
---@param options? mr.optim.AdagradOptions
---@return mr.Optimizer
---Example: `tostring(mr.optim.adagrad{lr = 0.1})   --> adagrad{epsilon = 1e-10, lr = 0.1, weight_decay = 0}`
function M.adagrad(options)
  return made("adagrad", adagrad_options, options, adagrad_step)
end

local function rmsprop_step(state, o) core.rmsprop_step(state, o.lr, o.alpha, o.momentum, o.epsilon, o.weight_decay) end

local rmsprop_options = declare("mr.optim.RmspropOptions", {
  lr(0.01), share("alpha", 0.99, "decay of the mean of squared gradients", { "rho" }), share("momentum", 0, "momentum"),
  epsilon(1e-8), weight_decay(0),
})

---RMSProp (Hinton 2012, as torch.optim.RMSprop): s = alpha s + (1 - alpha) g^2, d = g / (sqrt(s) + epsilon), p = p - lr d, or with momentum
---v = momentum v + d, p = p - lr v; g with weight_decay p added. A step visits all rows that ever had a gradient.
---@param options? mr.optim.RmspropOptions
---@return mr.Optimizer
---Example: `mr.optim.rmsprop{}.options.alpha   --> 0.99`
function M.rmsprop(options)
  return made("rmsprop", rmsprop_options, options, rmsprop_step)
end

return M
