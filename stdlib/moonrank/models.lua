-- Models: callable objects from a batch to one score per row. Saved as safetensors; loading one runs no code.
local core = require "moonrank.core"
local check = require "moonrank.check"
local parts = require "moonrank.models.parts"
local tensors = require "moonrank.tensor"

local M = {}

-- How each kind is made from options and a source of parameters: random numbers, or a file.
local kinds = {}

local function draw(_, sizes, range, stream, o, centre)
  local low, high = (centre or 0) - range, (centre or 0) + range
  return tensors.uniform(sizes, { low = low, high = high, seed = o.seed, stream = stream, dtype = o.dtype })
end

function kinds.mf(options, source)
  local o = check.options("mr.models.mf", options,
    { users = check.none, items = check.none, factors = 32, init = 0.01, seed = 1, dtype = "float32" })
  parts.positive_integers("mr.models.mf", o, { "users", "items", "factors" })
  local function matrix(name, rows) return source(name, { rows, o.factors }, o.init, "mf " .. name, o) end
  return parts.build("mf", o, { matrix("users", o.users), matrix("items", o.items) }, { "users", "items" }, function(p, batch)
    return core.factor_scores(p[1], p[2], batch.users, batch.items, batch.lists)
  end)
end

---Matrix factorisation: the score of item i for user u is <p_u, q_i>. Entries start uniform in (-init, init).
---@param options { users: integer, items: integer, factors?: integer, init?: number, seed?: integer, dtype?: string }  defaults 32, 0.01, 1, "float32"
---@return mr.Model
---Example: `mr.models.mf{users = 2, items = 3, factors = 4}:size()   --> 20`
function M.mf(options) return kinds.mf(options, draw) end

local activations = { "relu", "tanh", "sigmoid", "softplus" }

function kinds.mlp(options, source)
  local o = check.options("mr.models.mlp", options,
    { inputs = check.none, hidden = {}, activation = "relu", seed = 1, dtype = "float32" })
  parts.positive_integers("mr.models.mlp", o, { "inputs" })
  check.choice("mr.models.mlp", "activation", o.activation, activations)
  for i, width in ipairs(o.hidden) do
    if math.type(width) ~= "integer" or width < 1 then
      check.fail("mr.models.mlp: hidden layer %d is %s, expected an integer of at least 1", i, tostring(width))
    end
  end
  local parameters, names, inputs = {}, {}, o.inputs
  for i, width in ipairs(o.hidden) do
    parts.layer(parameters, names, "layer " .. i, inputs, width, o, source)
    inputs = width
  end
  parts.layer(parameters, names, "layer " .. #o.hidden + 1, inputs, 1, o, source)
  return parts.build("mlp", o, parameters, names, function(p, batch)
    local x = batch.features
    for i = 1, #p - 2, 2 do x = core.layer(x, p[i], p[i + 1], o.activation) end
    return core.layer(x, p[#p - 1], p[#p], "none"):reshape(#x)
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

kinds.self_attention = require "moonrank.models.self_attention"

---Self-attention among the rows of a list (Pobrotyn et al. 2020, context-aware learning to rank): a fully connected layer from `inputs` to
---`width`, `blocks` times x + attention(norm(x)) and x + network(norm(x)) with one ReLU layer of `inner` units inside, a last norm, a linear
---score. The order of rows does not matter, other lists do not either. Dropout acts in batches that carry the number of the training step, as
---those of mr.fit do, on what is added to x; which entries it drops depends on seed and step.
---@param options { inputs: integer, width?: integer, heads?: integer, blocks?: integer, inner?: integer, dropout?: number, seed?: integer, dtype?: string }  defaults 64, 2, 2, 2 width, 0, 1, "float32"
---@return mr.Model
---Example: `mr.models.self_attention{inputs = 46, width = 16, heads = 2, blocks = 1}:size()   --> 3025`
function M.self_attention(options) return kinds.self_attention(options, draw) end

local function from_text(text, like)
  if type(like) == "table" then
    local numbers = {}
    for digits in text:gmatch("[^,]+") do numbers[#numbers + 1] = math.tointeger(tonumber(digits)) end
    return numbers
  end
  return type(like) == "number" and (math.tointeger(tonumber(text)) or tonumber(text)) or text
end

---Reads a model that :save wrote. No code in the file is run.
---@param path string
---@return mr.Model
function M.load(path)
  local names, values, metadata_names, metadata = core.load_tensors(path, "moonrank model")
  local config, kind = {}, nil
  for i, name in ipairs(metadata_names) do
    if name == "kind" then kind = metadata[i]
    elseif name ~= "numerics" then config[name] = metadata[i] end
  end
  if not kinds[kind] then check.fail("%s: kind of model is '%s', expected 'mf', 'mlp' or 'self_attention'", path, tostring(kind)) end
  local number = { users = 0, items = 0, factors = 0, init = 0, seed = 0, inputs = 0, hidden = {}, width = 0, heads = 0, blocks = 0,
    inner = 0, dropout = 0 }
  for name, text in pairs(config) do config[name] = from_text(text, number[name]) end
  local by_name = {}
  for i, name in ipairs(names) do by_name[name] = values[i] end
  -- no tensor of the configuration's size is allocated before the file's tensors are found to have it
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
  if model == "interrupted" then error(model, 0) end
  if not ok then check.fail("%s: %s", path, (tostring(model):gsub("^[^\n]-:%d+: ", ""))) end
  return model
end

return M
