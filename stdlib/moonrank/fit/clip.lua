-- Gradient clipping: the gradients of an optimizer step are scaled down if their norm is too large.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local shortest = require("moonrank.system.digits").shortest

local M = {}

---Clips gradients whose norm is larger than `norm`; made by mr.clip_gradients.
---@class mr.Clip
---@field norm number
local Clip = check.class("mr.Clip")

---Scales the gradients of `parameters` down if their common norm is larger than the object's
---`norm`. Returns the norm before scaling.
---@param parameters mr.Tensor|mr.Tensor[]|mr.Model
---@return number  norm of the gradients before scaling
function Clip:__call(parameters)
  if check.is_tensor(parameters) then parameters = { parameters } end
  if type(parameters) ~= "table" then
    check.expect(false, tostring(self), "parameters", parameters,
      "a model or a table of tensors: clip(model), clip{x, y}")
  end
  if getmetatable(parameters) then parameters = parameters:parameters() end
  return core.clip_gradients(parameters, self.norm)
end

function Clip:__tostring() return ("clip_gradients{norm = %s}"):format(shortest(self.norm)) end

local clip_options = declare("mr.ClipGradientsOptions", {
  { "norm", "number", required = true, above = 0, also = { "max_norm" },
    help = "largest norm over all gradients together" },
})

---Makes an object that clips gradients by their norm (Pascanu et al. 2013): if the norm of all
---gradients together exceeds `norm`, the gradients are scaled down to this norm. Pass the object to
---mr.fit as `clip`; a number has the same effect. In a training loop of your own, call the object
---with the parameters between `loss:backward()` and `optimizer:step()`; the call returns the norm
---before clipping.
---@param options mr.ClipGradientsOptions
---@return mr.Clip
---Example:
---```lua
---local p = mr.tensor{1, 2}:requires_grad();
---(p * mr.tensor{3, 4}):sum():backward()
---mr.clip_gradients{norm = 1}{p}, p.grad   --> 5.0, {0.6, 0.8}  mr.Tensor {2} float32
---```
function M.clip_gradients(options)
  return setmetatable({ norm = clip_options:read("mr.clip_gradients", options).norm }, Clip)
end

return M
