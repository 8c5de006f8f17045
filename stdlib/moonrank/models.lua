-- Models: callable objects from a batch to one score per row. Saved as safetensors; loading one runs nothing.
local core = require "moonrank.core"
local check = require "moonrank.check"
local tensors = require "moonrank.tensor"

local M = {}

---@class mr.Model
---@field kind string
---@field config table  what it was made with
local Model = check.class("mr.Model")

-- How each kind is made from options and from where its parameters come: `draw`, or a file.
local kinds = {}

local function draw(_, sizes, range, stream, o)
  return tensors.uniform(sizes, { low = -range, high = range, seed = o.seed, stream = stream, dtype = o.dtype })
end

local function build(kind, config, parameters, names, forward)
  for i, parameter in ipairs(parameters) do parameters[i] = parameter:requires_grad() end
  return setmetatable({ kind = kind, config = config, _parameters = parameters, _names = names, _forward = forward }, Model)
end

---One score per row of the batch, differentiable in the parameters.
function Model:__call(batch) return self._forward(self._parameters, batch) end

---The tensors that training changes.
---@return mr.Tensor[]
function Model:parameters() return { table.unpack(self._parameters) } end

---Copies of the parameters as they are now, for :restore.
---@return mr.Tensor[]
function Model:snapshot()
  local copies = {}
  for i, parameter in ipairs(self._parameters) do copies[i] = core.snapshot(parameter) end
  return copies
end

---Puts the numbers of a snapshot back.
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

---Writes the parameters and the configuration to a safetensors file, in one piece or not at all.
---@param path string
function Model:save(path)
  local names, values = { "kind" }, { self.kind }
  for name, value in pairs(self.config) do
    names[#names + 1] = name
    values[#values + 1] = type(value) == "table" and table.concat(value, ",") or tostring(value)
  end
  core.save_tensors(path, self._names, self._parameters, names, values)
end

local function positive_integers(where, options, names)
  for _, name in ipairs(names) do
    local value = options[name]
    if math.type(value) ~= "integer" or value < 1 then
      check.fail("%s: %s is %s, expected an integer of at least 1", where, name, value == check.none and "absent" or tostring(value))
    end
  end
end

function kinds.mf(options, source)
  local o = check.options("mr.models.mf", options,
    { users = check.none, items = check.none, factors = 32, init = 0.01, seed = 1, dtype = "float32" })
  positive_integers("mr.models.mf", o, { "users", "items", "factors" })
  local function matrix(name, rows) return source(name, { rows, o.factors }, o.init, "mf " .. name, o) end
  return build("mf", o, { matrix("users", o.users), matrix("items", o.items) }, { "users", "items" }, function(p, batch)
    return core.factor_scores(p[1], p[2], batch.users, batch.items, batch.lists)
  end)
end

---Matrix factorisation: the score of item i for user u is <p_u, q_i>. Entries start uniform in (-init, init).
---@param options { users: integer, items: integer, factors?: integer, init?: number, seed?: integer, dtype?: string }  defaults 32, 0.01, 1, "float32"
---@return mr.Model
---Example: `mr.models.mf{users = 2, items = 3, factors = 4}:size()   --> 20`
function M.mf(options) return kinds.mf(options, draw) end

local activations = { "relu", "tanh", "sigmoid", "softplus" }

-- Weights and bias of one layer, uniform in +-1/sqrt(inputs).
local function layer(parameters, names, number, inputs, outputs, o, source)
  local range = 1 / math.sqrt(inputs)
  for _, part in ipairs{ { "weight", { inputs, outputs } }, { "bias", { 1, outputs } } } do
    local stream = ("layer %d %s"):format(number, part[1])
    names[#names + 1] = ("layer%d.%s"):format(number, part[1])
    parameters[#parameters + 1] = source(names[#names], part[2], range, stream, o)
  end
end

function kinds.mlp(options, source)
  local o = check.options("mr.models.mlp", options,
    { inputs = check.none, hidden = {}, activation = "relu", seed = 1, dtype = "float32" })
  positive_integers("mr.models.mlp", o, { "inputs" })
  check.choice("mr.models.mlp", "activation", o.activation, activations)
  for i, width in ipairs(o.hidden) do
    if math.type(width) ~= "integer" or width < 1 then
      check.fail("mr.models.mlp: hidden layer %d is %s, expected an integer of at least 1", i, tostring(width))
    end
  end
  local parameters, names, inputs = {}, {}, o.inputs
  for i, width in ipairs(o.hidden) do
    layer(parameters, names, i, inputs, width, o, source)
    inputs = width
  end
  layer(parameters, names, #o.hidden + 1, inputs, 1, o, source)
  return build("mlp", o, parameters, names, function(p, batch)
    local x = batch.features
    for i = 1, #p - 2, 2 do
      local z = x:matmul(p[i]) + p[i + 1]
      x = z[o.activation](z)
    end
    return (x:matmul(p[#p - 1]) + p[#p]):reshape(#x)
  end)
end

---A network of fully connected layers from features to one score; the last layer is linear.
---@param options { inputs: integer, hidden?: integer[], activation?: string, seed?: integer, dtype?: string }  defaults {}, "relu", 1, "float32"
---@return mr.Model
---Example: `mr.models.mlp{inputs = 46, hidden = {46}}:size()   --> 2209`
function M.mlp(options) return kinds.mlp(options, draw) end

---A linear function of the features.
---@param options { inputs: integer, seed?: integer, dtype?: string }
---@return mr.Model
---Example: `mr.models.linear{inputs = 46}:size()   --> 47`
function M.linear(options)
  local o = check.options("mr.models.linear", options, { inputs = check.none, seed = 1, dtype = "float32" })
  return M.mlp{ inputs = o.inputs, hidden = {}, seed = o.seed, dtype = o.dtype }
end

local function from_text(text, like)
  if type(like) == "table" then
    local numbers = {}
    for digits in text:gmatch("[^,]+") do numbers[#numbers + 1] = math.tointeger(tonumber(digits)) end
    return numbers
  end
  return type(like) == "number" and (math.tointeger(tonumber(text)) or tonumber(text)) or text
end

---Reads a model that :save wrote. The file is data: nothing in it is run.
---@param path string
---@return mr.Model
function M.load(path)
  local names, values, metadata_names, metadata = core.load_tensors(path)
  local config, kind = {}, nil
  for i, name in ipairs(metadata_names) do
    if name == "kind" then kind = metadata[i] else config[name] = metadata[i] end
  end
  if not kinds[kind] then check.fail("%s: kind of model is '%s', expected 'mf' or 'mlp'", path, tostring(kind)) end
  local number = { users = 0, items = 0, factors = 0, init = 0, seed = 0, inputs = 0, hidden = {} }
  for name, text in pairs(config) do config[name] = from_text(text, number[name]) end
  local by_name = {}
  for i, name in ipairs(names) do by_name[name] = values[i] end
  -- nothing of the size that the configuration claims is made before the file's tensors prove it
  local function stored(name, sizes, _, _, o)
    local x = by_name[name]
    if not x then check.fail("no tensor '%s' in the file", name) end
    local found, expected = table.concat(x:shape(), ", "), table.concat(sizes, ", ")
    if found ~= expected or x.dtype ~= o.dtype then
      check.fail("tensor '%s' is {%s} %s, expected {%s} %s", name, found, x.dtype, expected, o.dtype)
    end
    return x:to(tensors.device())
  end
  local ok, model = pcall(kinds[kind], config, stored)
  if not ok then check.fail("%s: %s", path, (tostring(model):gsub("^[^\n]-:%d+: ", ""))) end
  return model
end

return M
