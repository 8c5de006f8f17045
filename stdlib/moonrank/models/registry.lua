-- Definitions of models by name: the built-in ones and those of scripts go through the same door.
local baselines = require "moonrank.models.baselines"
local check = require "moonrank.check"
local definitions = require "moonrank.definitions"
local listed = require "moonrank.models.parameters"
local model = require "moonrank.models.model"
local random = require "moonrank.random"
local room = require "moonrank.room"

local M = {}

local known = {}  -- definitions by name

local types = { "integer", "number", "string", "boolean", "integers" }

---@class mr.models.Definition
---@field required? table<string, string>   options that must be given, with their types: "integer" (of at least 1), "integers", "number", "string", "boolean"
---@field options? table<string, any>       further options with their defaults; seed = 1 and dtype = "float32" are always there, and
---   tensors must have the type that dtype names
---@field check? fun(options: table)         raises where options do not go together
---@field parameters fun(options: table): table<string, mr.Tensor>, string[]?  tensors by name, and the order of their names (default: sorted)
---@field buffers? fun(options: table): table<string, mr.Tensor>  what forward keeps from batch to batch and training does not update
---@field forward fun(self: table, batch: mr.Batch): mr.Tensor    one score per row; self has parameters, buffers (to be assigned) and `options` by name
---@field constrain? fun(self: table): table<string, mr.Tensor>  parameters where they must be, by name; mr.fit puts them there after every step
---@field penalty? fun(self: table, batch: mr.Batch): mr.Tensor?  a number that mr.fit adds to the loss of each batch, mean or sum as that is
---@field repeats? boolean|fun(options: table): boolean  whether scores depend on the batch and the parameters alone, so that a GPU may replay an epoch (default false; not with buffers)

local function of_type(value, kind)
  if kind == "integer" then return math.type(value) == "integer" and value >= 1 end
  if kind == "integers" then
    for _, each in ipairs(type(value) == "table" and value or { "none" }) do
      if math.type(each) ~= "integer" then return false end
    end
    return true
  end
  return type(value) == kind
end

-- The type of an option, from what is required or from its default.
local function type_of(definition, name)
  if definition.required[name] then return definition.required[name] end
  local default = definition.options[name]
  if type(default) == "table" then return default == check.none and "number" or "integers" end
  return math.type(default) == "integer" and "whole" or type(default)
end

-- Refuses what no file could hold.
local function check_storable(where, name, value)
  local kind = type(value)
  if kind == "boolean" or kind == "string" and utf8.len(value) then return end
  if kind == "number" and value == value and math.abs(value) ~= math.huge then return end
  if kind == "table" and of_type(value, "integers") then return end
  check.fail("%s: option %s is %s, expected a finite number, a text in UTF-8, true or false, or a list of integers", where, name,
    kind == "number" and tostring(value) or kind == "string" and "no UTF-8" or "a " .. kind)
end

-- Raises where options are given to a definition that declares none: the first thing that a new definition lacks.
local function check_declared(where, definition, given)
  if next(definition.required) or next(definition.options) or type(given) ~= "table" then return end
  for name in pairs(given) do
    if name ~= "seed" and name ~= "dtype" then
      check.fail("%s: option %s is not declared: mr.models.define takes `required = {%s = \"integer\"}`, or `options = {%s = 16}` with its "
        .. "default", where, tostring(name), tostring(name), tostring(name))
    end
  end
end

-- A model's own copy of a list; what would be left out is an error.
local function list_of(where, name, given)
  local copy, count = table.move(given, 1, #given, 1, {}), 0
  for key in pairs(given) do
    count = count + 1
    if math.type(key) ~= "integer" then
      check.fail("%s: option %s has something under '%s', expected a list", where, name, tostring(key))
    end
  end
  if count ~= #copy then check.fail("%s: option %s has gaps, expected a list without", where, name) end
  return copy
end

-- Options of a model, complete and of the right types.
local function options_of(definition, given)
  local where, defaults = "mr.models." .. definition.name, { seed = 1, dtype = "float32" }
  check_declared(where, definition, given)
  for name in pairs(definition.required) do defaults[name] = check.none end
  for name, default in pairs(definition.options) do defaults[name] = default end
  local o = check.options(where, given, defaults)
  for _, name in ipairs(check.names(definition.required)) do
    local kind = definition.required[name]
    if not of_type(o[name], kind) then
      check.fail("%s: %s is %s, expected %s", where, name, tostring(o[name]), kind == "integer" and "an integer of at least 1"
        or kind == "integers" and "a table of integers" or "a " .. kind)
    end
  end
  check.choice(where, "dtype", o.dtype, { "float32", "float64" })
  for name, value in pairs(o) do
    if type(value) == "table" then o[name] = list_of(where, name, value) end
  end
  if definition.check then definition.check(o) end
  for _, name in ipairs(check.names(o)) do check_storable(where, name, o[name]) end
  return o
end

local function make(definition, given)
  local o = options_of(definition, given)
  local where = ("mr.models.%s: parameters"):format(definition.name)
  local _ <close> = random.scope(o.seed, definition.name)
  local names, values = listed.listed(where, definition.parameters(o))
  listed.check_leaves(where, names, values, o.dtype)
  local buffers = definition.buffers and definition.buffers(o) or {}
  for _, name in ipairs((listed.listed(("mr.models.%s: buffers"):format(definition.name), buffers))) do
    if buffers[name].dtype ~= "int64" then
      listed.check_leaves(("mr.models.%s: buffers"):format(definition.name), { name }, { buffers[name] }, o.dtype)
    end
    for _, other in ipairs(names) do
      if name == other then check.fail("mr.models.%s: '%s' is a parameter and a buffer", definition.name, name) end
    end
  end
  return model.new(definition, o, names, values, buffers)
end

local function checked(name, definition, built_in)
  local none, where = check.none, "mr.models.define"
  if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then check.fail("%s: name is %s, expected a word", where, tostring(name)) end
  if known[name] and known[name].built_in then check.fail("%s: there is a model '%s' already", where, name) end
  local d = check.options(where, definition,
    { required = {}, options = {}, check = none, parameters = none, buffers = none, forward = none, repeats = none,
      constrain = none, penalty = none })
  for _, part in ipairs{ "parameters", "forward" } do
    if type(d[part]) ~= "function" then check.fail("%s: %s of '%s' is a %s, expected a function", where, part, name, type(d[part])) end
  end
  for _, part in ipairs{ "check", "buffers", "constrain", "penalty" } do
    if d[part] and type(d[part]) ~= "function" then
      check.fail("%s: %s of '%s' is a %s, expected a function", where, part, name, type(d[part]))
    end
  end
  if d.buffers and d.repeats then
    check.fail("%s: '%s' has buffers, which change from batch to batch, and repeats, which says that nothing does", where, name)
  end
  if d.constrain and d.repeats then
    check.fail("%s: '%s' has constrain, which changes parameters after each step, and repeats, which says that nothing does", where, name)
  end
  for _, option in ipairs(check.names(d.required)) do check.choice(where, "required." .. option, d.required[option], types) end
  d.name, d.built_in = name, built_in or false
  return d
end

---Adds a definition; returns the function that makes its models.
---@param name string
---@param definition mr.models.Definition
---@param built_in? boolean  not a script's: its scores are not checked, and its name is not given again
---@return fun(options?: table): mr.Model
function M.define(name, definition, built_in)
  definition = checked(name, definition, built_in)
  local was = known[name]
  known[name] = definition
  if not definition.built_in then definitions.note("model", name, definition, function() known[name] = was end) end
  return function(options) return make(definition, options) end
end

---Whether a script defined a model of this name.
function M.of_script(name) return known[name] ~= nil and not known[name].built_in end

-- An option from its text in a file.
local function from_text(text, kind)
  if kind == "integers" then
    local numbers = {}
    for digits in text:gmatch "[^,]+" do numbers[#numbers + 1] = math.tointeger(tonumber(digits)) end
    return numbers
  end
  if kind == "boolean" then return text == "true" end
  if kind == "integer" or kind == "whole" or kind == "number" then return math.tointeger(tonumber(text)) or tonumber(text) or text end
  return text
end

-- Puts the tensors of a file in the place of those that a model was made with.
local function fill(made, by_name)
  local names, values = made:state()
  for i, name in ipairs(names) do
    local x, to = by_name[name], values[i]
    if not x then check.fail("no tensor '%s' in the file", name) end
    local found, expected = table.concat(x:shape(), ", "), table.concat(to:shape(), ", ")
    if found ~= expected or x.dtype ~= to.dtype then
      check.fail("tensor '%s' is {%s} %s, expected {%s} %s", name, found, x.dtype, expected, to.dtype)
    end
  end
  made:put(by_name)
  return made
end

---A model from what its file holds. The sizes of what is made first are limited by the file's.
---@param texts table<string, string>     its kind and options
---@param by_name table<string, mr.Tensor>
---@return mr.Model
function M.restore(texts, by_name)
  if baselines.kinds[texts.kind] then return baselines.restore(texts, by_name) end
  local definition = known[texts.kind]
  if not definition then
    local kinds = { table.unpack(check.names(baselines.kinds)) }
    table.move(check.names(known), 1, #check.names(known), #kinds + 1, kinds)
    table.sort(kinds)
    check.fail("kind of model is '%s', which is not defined; there are: %s (mr.models.define makes others)", tostring(texts.kind),
      table.concat(kinds, ", "))
  end
  local options, entries = {}, 65536
  for name, text in pairs(texts) do
    if name ~= "kind" then options[name] = from_text(text, name == "seed" and "whole" or type_of(definition, name)) end
  end
  for _, x in pairs(by_name) do entries = entries + 4 * x:numel() end
  return fill(room.within(entries, make, definition, options), by_name)
end

return M
