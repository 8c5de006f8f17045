-- Declares options that several models share, and options of models that scripts define. Also converts option values
-- from the text in a saved file.
local check = require "moonrank.check"
local options = require "moonrank.options"
local tensors = require "moonrank.tensor"

local M = {}

local seed = { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the initial parameters" }
local dtype = { "dtype", "string", default = "float32", choices = { "float32", "float64" },
  help = "type of the parameters" }
local common = { seed = seed, dtype = dtype }

---Declares the options that every model has: `seed` and `dtype`.
M.common = options.unlisted("models", { seed, dtype })

---Declares the options of models that score users and items: `users`, `items` and `factors`.
M.of_pairs = options.unlisted("models of users and items", {
  { "users", "integer", required = true, least = 1, also = { "n_users", "num_users" }, help = "number of users" },
  { "items", "integer", required = true, least = 1, also = { "n_items", "num_items" }, help = "number of items" },
  { "factors", "integer", default = 32, least = 1, also = { "n_factors", "embedding_dim", "rank" },
    help = "length of a user's and an item's vector" },
})

M.init = { "init", "number", default = 0.01, above = 0, help = "initial factors are uniform in (-init, init)" }

---Makes the initial factors of the "users" or "items" of a matrix factorisation, by its options.
function M.factors(name, o)
  return tensors.uniform({ o[name], o.factors },
    { low = -o.init, high = o.init, seed = o.seed, stream = "mf " .. name, dtype = o.dtype })
end

M.inputs = { "inputs", "integer", required = true, least = 1, also = { "input_dim", "in_features", "n_features" },
  help = "number of features" }

---Returns the declaration of a model's option `hidden`, the widths of its hidden layers.
---@return mr.options.Row
function M.hidden(default, help)
  return { "hidden", "integer[]", default = default, least = 1, also = { "hidden_layer_sizes", "layers", "units" },
    help = help or "widths of the hidden layers" }
end

---Returns the declaration of a model's option `activation`, the function after its hidden layers.
---@return mr.options.Row
function M.activation(default, help)
  return { "activation", "string", default = default, choices = { "relu", "tanh", "sigmoid", "softplus" },
    help = help or "activation of the hidden layers" }
end

---Types that a script can give to the required options of a model that it defines (mr.models.define).
M.types = { "integer", "number", "string", "boolean", "integers" }

---Returns true if the value is a table of integers with the keys 1, 2, ... and no other keys.
---Example: `require("moonrank.models.options").are_integers{1, 0.5}   --> false`
function M.are_integers(value)
  if type(value) ~= "table" then return false end
  for key, each in next, value do
    if math.type(key) ~= "integer" or key < 1 or key > #value or math.type(each) ~= "integer" then return false end
  end
  return true
end

---Raises an error if the value of a model's option cannot be saved in a model file. Finite numbers,
---texts in UTF-8, booleans and lists of integers can be saved.
function M.check_storable(where, name, value)
  local kind = type(value)
  local is_text = kind == "string" and utf8.len(value)
  local is_storable = kind == "boolean" or is_text or check.is_finite(value) or M.are_integers(value)
  check.expect(is_storable, where, "option " .. name, value,
    "a finite number, a text in UTF-8, true or false, or a table of integers, which a model's file can hold")
end

-- Returns the type of an option whose default value is `default`. A default that is an integer gives the type "number".
local function type_of_default(default) return type(default) == "table" and "integer[]" or type(default) end

-- Returns the declaration of an option of a script's model, which is required unless it has a default.
local function row_of(name, required, default)
  local row = { help = "" }
  if common[name] then
    for key, value in pairs(common[name]) do row[key] = value end
  elseif required then
    row[1], row[2] = name, required == "integers" and "integer[]" or required
    if required == "integer" then row.least = 1 end
  else
    row[1], row[2] = name, type_of_default(default)
  end
  row.default, row.required = default, default == nil
  return row
end

---Returns the declaration of all options of a model that a script defines, including `seed` and
---`dtype`, which every model has.
---@param definition mr.models.Definition  with `required` and `options`, whose types are checked here
---@return mr.options.Declaration
function M.of_definition(where, definition)
  local rows, names = {}, { seed = true, dtype = true }
  for _, part in ipairs{ "required", "options" } do
    check.by_name(where, part == "required" and "required option" or "model's option", definition[part])
    for name in pairs(definition[part]) do names[name] = true end
  end
  for _, name in ipairs(check.names(names)) do
    local required, default = definition.required[name], definition.options[name]
    if required ~= nil then check.choice(where, "required." .. name, required, M.types) end
    if default ~= nil then M.check_storable(where, name, default) end
    if required == nil and default == nil then default = common[name].default end
    rows[#rows + 1] = row_of(name, required, default)
  end
  return options.unlisted(where, rows)
end

---Converts the text of an option in a saved file to a value of the option's type. If the option is a
---number but the text is not, or if there is no declaration, the text is returned unchanged.
---@param row? mr.options.Row  declaration of the option
---Example: `require("moonrank.models.options").from_text("2", {"k", "number"})   --> 2`
function M.from_text(text, row)
  local kind = row and row[2]
  if kind == "integer[]" then
    local numbers = {}
    for digits in text:gmatch "[^,]+" do numbers[#numbers + 1] = math.tointeger(tonumber(digits)) end
    return numbers
  end
  if kind == "boolean" then return text == "true" end
  if kind == "integer" or kind == "number" then return math.tointeger(tonumber(text)) or tonumber(text) or text end
  return text
end

return M
