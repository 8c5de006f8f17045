-- What kinds of model share: the class, and parameters, random or read by name.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.Model
---@field kind string
---@field config table  what it was made with
---@field repeats boolean   whether its scores depend on the batch and the parameters alone
local Model = check.class("mr.Model")
Model.repeats = true

---A model from its parameters, their names in files, and a function of them and of a batch.
function M.build(kind, config, parameters, names, forward)
  for i, parameter in ipairs(parameters) do parameters[i] = parameter:requires_grad() end
  return setmetatable({ kind = kind, config = config, _parameters = parameters, _names = names, _forward = forward }, Model)
end

---One score per row of the batch, differentiable in the parameters.
function Model:__call(batch) return self._forward(self._parameters, batch) end

---The tensors that training updates.
---@return mr.Tensor[]
function Model:parameters() return { table.unpack(self._parameters) } end

---Copies of the parameters as they are now, for :restore. Of what an optimiser moves row by row a row is copied when it changes.
---@param into? mr.Tensor[]  an earlier snapshot, which is overwritten
---@return mr.Tensor[]
function Model:snapshot(into)
  local copies = {}
  for i, parameter in ipairs(self._parameters) do copies[i] = core.snapshot(parameter, into and into[i]) end
  return copies
end

---Restores the values of a snapshot.
---@param snapshot mr.Tensor[]
function Model:restore(snapshot)
  for i, parameter in ipairs(self._parameters) do core.restore(parameter, snapshot[i]) end
end

---Number of entries of all parameters.
function Model:size()
  local n = 0
  for _, parameter in ipairs(self._parameters) do n = n + parameter:numel() end
  return n
end

function Model:__tostring()
  local parts = {}
  for name, value in pairs(self.config) do
    parts[#parts + 1] = ("%s = %s"):format(name, type(value) == "table" and "{" .. table.concat(value, ", ") .. "}" or tostring(value))
  end
  table.sort(parts)
  return ("%s{%s}, %d parameters"):format(self.kind, table.concat(parts, ", "), self:size())
end

---Writes the parameters and the configuration to a safetensors file, whole or not at all. An existing file is replaced where it is a model,
---too; any other is an error and is not changed. Where `path` is a link, this goes for the file that it leads to.
---@param path string
function Model:save(path)
  local names, values = { "kind" }, { self.kind }
  for name, value in pairs(self.config) do
    names[#names + 1] = name
    values[#values + 1] = type(value) == "table" and table.concat(value, ",") or tostring(value)
  end
  core.save_tensors(path, "moonrank model 1", self._names, self._parameters, names, values)
end

---Refuses options that are not integers of at least 1.
function M.positive_integers(where, options, names)
  for _, name in ipairs(names) do
    local value = options[name]
    if math.type(value) ~= "integer" or value < 1 then
      check.fail("%s: %s is %s, expected an integer of at least 1", where, name, value == check.none and "absent" or tostring(value))
    end
  end
end

---Appends weights and bias of one fully connected layer, uniform in +-1/sqrt(inputs); returns the index of its weights.
function M.layer(parameters, names, name, inputs, outputs, o, source)
  local range = 1 / math.sqrt(inputs)
  for _, part in ipairs{ { "weight", { inputs, outputs } }, { "bias", { 1, outputs } } } do
    local stream = ("%s %s"):format(name, part[1])
    names[#names + 1] = ("%s.%s"):format(name:gsub(" ", ""), part[1])
    parameters[#parameters + 1] = source(names[#names], part[2], range, stream, o)
  end
  return #parameters - 1
end

return M
