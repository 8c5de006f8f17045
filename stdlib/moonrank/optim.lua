-- Optimizers. `mr.optim.adam{lr = 1e-3}` makes an optimizer without parameters. It gets parameters from mr.fit, or
-- from optimizer:bind(model:parameters()).
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local phase = require "moonrank.system.phase"

local M = {}

---An optimizer. It updates parameters only after optimizer:bind(parameters).
---@class mr.Optimizer
---@field name string
---@field options table
local Optimizer = check.class("mr.Optimizer")

local function optimizer(name, options, step)
  return setmetatable({ name = name, options = options, _step = step, _parameters = false, _state = false }, Optimizer)
end

-- Declares options that several optimizers have. The core checks their limits again in each step, because scripts
-- may change `optimizer.options`.
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
    help = help or "factor of the parameter that is added to its gradient" }
end

local function made(kind, declaration, given, step)
  return optimizer(kind, declaration:read("mr.optim." .. kind, given), step)
end

---Returns a copy of the optimizer that updates these parameters and has a new, empty state. The copy
---shares the table `options` with this optimizer, so a change of `options.lr` is one for both.
---@param parameters mr.Tensor[]
---@return mr.Optimizer
function Optimizer:bind(parameters)
  check.expect(type(parameters) ~= "table" or not check.field(parameters, "parameters"), "optimizer:bind", "parameters",
    parameters, "the parameters of a model: model:parameters()")
  local bound = optimizer(self.name, self.options, self._step)
  bound._parameters, bound._state = parameters, core.optimizer_state(parameters)
  return bound
end

-- Returns a copy with its own table of options, because a schedule changes `lr` in it.
function Optimizer:_copy()
  local options = {}
  for name, value in pairs(self.options) do options[name] = value end
  return optimizer(self.name, options, self._step)
end

-- Returns the state of an optimizer that is bound to parameters. Raises an error if it is not bound.
local function state_of(self)
  if not self._state then
    check.fail "optimizer: the optimizer is not bound to parameters. Call optimizer:bind(model:parameters()) first"
  end
  return self._state
end

---Updates every parameter by one optimizer step from its gradient. The optimizer must be bound to
---parameters (optimizer:bind). Parameters without a gradient do not change.
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
  local state = state_of(self)
  local _ <close> = phase.begin "step"
  self._step(state, self.options)
end

---Clears the gradients of all parameters to which the optimizer is bound.
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

-- Returns the optimizer's state, to be saved in a file: an array of names, and an array of the tensors of these names.
function Optimizer:_numbers() return core.optimizer_numbers(state_of(self)) end

-- Checks a state from a file: raises the same errors as :_resume, but does not change the optimizer's state.
function Optimizer:_check(names, tensors) core.check_optimizer(state_of(self), names, tensors) end

-- Restores the state that :_numbers returned. A state of other parameters is an error.
function Optimizer:_resume(names, tensors) core.restore_optimizer(state_of(self), names, tensors) end

---Saves the optimizer's state to a safetensors file: means, step counts, deferred updates. (The
---model's file has the parameters.) The file is written completely or not at all, and missing
---folders are made. A file that has the state of an optimizer, or is empty, is replaced. Any other
---existing file raises an error and is not changed. An optimizer that is not bound to parameters
---raises an error, too.
---@param path string
function Optimizer:save(path)
  local names, tensors = self:_numbers()
  core.make_folder(path)
  core.save_tensors(path, "moonrank optimizer 1", names, tensors, { "kind" }, { self.name })
end

---Loads a state that :save wrote, so that training continues with identical bits. A state of another
---kind of optimizer is an error. The optimizer must be bound to the parameters of the model as it was when the
---state was saved (mr.models.load loads such a model). The learning rate and other options remain
---those of this optimizer.
---@param path string
---@return mr.Optimizer  itself
---Example:
---```lua
---local model, path = mr.models.linear{inputs = 2}, os.tmpname()
---local optimizer = mr.optim.adam{lr = 0.1}:bind(model:parameters())
---model(({lists = mr.lists{{1, 0}}, features = mr.ones(2, 2)})):sum():backward()
---optimizer:step()
---optimizer:save(path)
---local other = mr.optim.adam{lr = 0.01}:bind(model:parameters()):load(path)
---other.options.lr, other.name   --> 0.01, adam
---```
function Optimizer:load(path)
  state_of(self)
  local names, tensors, keys, values = core.load_tensors(path, "moonrank optimizer")
  for i, key in ipairs(keys) do
    check.expect(key ~= "kind" or values[i] == self.name, path, "the kind of optimizer in the file", values[i],
      self.name)
  end
  check.within(path .. ": the state in the file does not fit these parameters", self._resume, self, names, tensors)
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

---Makes the stochastic gradient descent optimizer: p = p - lr (g + weight_decay p). With momentum
---it is v = momentum v + g, p = p - lr v, where g includes weight_decay p. Rows without a gradient
---change only by momentum or weight decay. These updates may be deferred, as mr.optim.adam describes.
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
    help = "whether only rows with a gradient in this step are updated; not allowed with weight_decay" },
})

---Makes the Adam optimizer (Kingma & Ba 2015, algorithm 1).
---
---Updates of rows without a gradient may be deferred until the row gets a gradient or is read. The
---deferred update is the sum of all missed steps, up to rounding. Reading a row does not change
---later results. A step then costs only the rows with a gradient. Updates are deferred in
---parameters with millions of entries, and in smaller ones if few of their rows have a gradient in a
---step. Otherwise, each step visits all rows that ever had a gradient; on the GPU, all rows. With
---weight decay, all rows move. The missed steps of a row are then taken one by one when the row is
---used, which gives the same bits as steps that visit all rows, and saves no arithmetic.
---mr.optim.adamw defers its updates with weight decay as sums.
---
---`sparse = true` updates only rows that have a gradient in this step, and only the moments of
---these rows, as torch.optim.SparseAdam does. Steps are counted for all rows together. Epsilon is
---added to the root before its bias correction. Results differ from Adam, because a row does not
---change in steps in which it has no gradient. Weight decay with `sparse = true` is an error.
---@param options? mr.optim.AdamOptions
---@return mr.Optimizer
---Example: `mr.optim.adam{lr = 0.01}.options.beta1   --> 0.9`
function M.adam(options)
  local adam = made("adam", adam_options, options, adam_step)
  local o = adam.options
  check.expect(not o.sparse or o.weight_decay == 0, "mr.optim.adam", "weight_decay", o.weight_decay,
    "0, because sparse = true does not change rows without a gradient")
  return adam
end

local function adamw_step(state, o)
  core.adam_step(state, o.lr, o.beta1, o.beta2, o.epsilon, o.weight_decay, false, true)
end

local adamw_options = declare("mr.optim.AdamwOptions", {
  lr(1e-3), beta1(), beta2(), epsilon(1e-8),
  weight_decay(0.01, "each step multiplies the parameter by 1 - lr weight_decay"),
})

---Makes the AdamW optimizer (Loshchilov & Hutter 2019, algorithm 2 with the schedule in lr, as
---torch.optim.AdamW). Before each step of Adam, all rows of every parameter that has a gradient are
---multiplied by 1 - lr weight_decay. The decay does not enter the gradient or the means of gradients.
---Updates of rows without a gradient may be deferred, as mr.optim.adam describes.
---@param options? mr.optim.AdamwOptions
---@return mr.Optimizer
---Example: `mr.optim.adamw{lr = 0.01}.options.weight_decay   --> 0.01`
function M.adamw(options)
  return made("adamw", adamw_options, options, adamw_step)
end

local function adagrad_step(state, o) core.adagrad_step(state, o.lr, o.epsilon, o.weight_decay) end

local adagrad_options = declare("mr.optim.AdagradOptions", { lr(0.01), epsilon(1e-10), weight_decay(0) })

---Makes the Adagrad optimizer (Duchi, Hazan & Singer 2011, as torch.optim.Adagrad): s = s + g^2, p
---= p - lr g / (sqrt(s) + epsilon), where g includes weight_decay p. Without weight decay, rows
---without a gradient do not change, and a step costs only the rows with a gradient.
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

---Makes the RMSProp optimizer (Hinton 2012, as torch.optim.RMSprop): s = alpha s + (1 - alpha)
---g^2, d = g / (sqrt(s) + epsilon), p = p - lr d. With momentum it is v = momentum v + d, p = p -
---lr v. Here g includes weight_decay p. Updates of rows without a gradient may be deferred, as
---mr.optim.adam describes. With weight decay their missed steps are taken one by one.
---@param options? mr.optim.RmspropOptions
---@return mr.Optimizer
---Example: `mr.optim.rmsprop{}.options.alpha   --> 0.99`
function M.rmsprop(options)
  return made("rmsprop", rmsprop_options, options, rmsprop_step)
end

return M
