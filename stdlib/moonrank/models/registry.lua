-- Keeps definitions of models by name: the models of Moonrank, and models that scripts define.
local baselines = require "moonrank.models.baselines"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local definitions = require "moonrank.system.definitions"
local listed = require "moonrank.models.parameters"
local model = require "moonrank.models.model"
local model_options = require "moonrank.models.options"
local random = require "moonrank.tensor.random"
local room = require "moonrank.system.room"

local M = {}

local known = {}  -- all definitions of models by name, such as "mf"; those of Moonrank and of scripts

-- Maps each definition of a model to the declaration of its options. The declaration is not stored in the definition,
-- because studies compare definitions exactly as the script wrote them.
local options_by_definition = setmetatable({}, { __mode = "k" })

local definition_options = declare("mr.models.Definition", {
  "Options of the model",
  { "required", "table<string, string>", default = {}, shown = "none",
    help = "required options with their types: integer (of at least 1), integers, number, string, boolean" },
  { "options", "table<string, any>", default = {}, shown = "none",
    help = 'further options with their defaults; seed = 1 and dtype = "float32" are always there' },
  { "check", "fun(options: table)", help = "raises an error if options contradict each other" },
  "Tensors and scores",
  { "parameters", "fun(options: table): table<string, mr.Tensor>, string[]?", required = true,
    help = "returns tensors of the type dtype by name, and the order of their names (default: sorted)" },
  { "buffers", "fun(options: table): table<string, mr.Tensor>",
    help = "returns tensors by name that forward keeps from batch to batch and training does not update" },
  { "forward", "fun(self: table, batch: mr.Batch): mr.Tensor", required_without = "vectors",
    shown = "inner products of `vectors`", expected = "a function(self, batch) that returns one score per row",
    help = "returns one score per row; self has parameters, buffers and `options` by name; buffers may be assigned" },
  { "vectors", "fun(self: table): mr.Tensor, mr.Tensor, mr.Tensor?",
    help = "returns vectors [users, width] and [items, width], and maybe biases [items], whose inner products plus "
      .. "biases are the scores; one product then scores a catalogue" },
  "Training",
  { "constrain", "fun(self: table): table<string, mr.Tensor>",
    help = "returns corrected parameters by name, e.g. within a ball; mr.fit applies them after every step" },
  { "penalty", "fun(self: table, batch: mr.Batch): mr.Tensor?",
    help = "returns a number that mr.fit adds to the loss of each batch, reduced (mean or sum) like that loss" },
  { "repeats", "boolean|fun(options: table): boolean", shown = "false",
    excludes = { buffers = "buffers change from batch to batch", constrain = "constrain changes parameters" },
    help = "scores depend on batch and parameters alone, so that a GPU may replay an epoch" },
})

-- Raises an error for an option of a script's model without any options; it shows how to declare the option.
local function check_declared(where, definition, given)
  if definition.built_in or next(definition.required) or next(definition.options) or type(given) ~= "table" then
    return
  end
  for name in pairs(given) do
    if name ~= "seed" and name ~= "dtype" then
      check.fail("%s: option %s is not declared. Pass `required = {%s = \"integer\"}` to mr.models.define, or "
        .. "`options = {%s = 16}` with its default", where, tostring(name), tostring(name), tostring(name))
    end
  end
end

-- Checks the options of a model and fills in defaults. Lists are copied, because scripts may change theirs.
local function options_of(definition, given)
  local where = "mr.models." .. definition.name
  check_declared(where, definition, given)
  local o = options_by_definition[definition]:read(where, given)
  for name, value in pairs(o) do
    if type(value) == "table" then o[name] = table.move(value, 1, #value, 1, {}) end
  end
  if definition.check then definition.check(o) end
  for _, name in ipairs(check.names(o)) do model_options.check_storable(where, name, o[name]) end
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
      check.expect(name ~= other, "mr.models." .. definition.name, "name of a buffer", name,
        "another name, because a parameter has it")
    end
  end
  return model.new(definition, o, names, values, buffers)
end

local function checked(name, given)
  local where = "mr.models.define"
  check.new_name(where, name, known[name] and known[name].built_in and "a model of the library" or nil)
  local definition = definition_options:read(where, given)
  definition.name, definition.built_in = name, false
  return definition
end

-- Registers a definition of a model under a name. Returns the constructor: a function from options to a model.
local function maker(name, definition, declared)
  known[name], options_by_definition[definition] = definition, declared
  return function(options) return make(definition, options) end
end

---Checks and registers a model definition of a script under the name `name`; an earlier definition
---is replaced. Returns the constructor: a function from options to a model.
---@param undo fun()  called when the definition is undone
---@return fun(options?: table): mr.Model
function M.define(name, given, undo)
  local definition = checked(name, given)
  local declared = model_options.of_definition("mr.models.define", definition)
  local was = known[name]
  definitions.note("model", name, definition, function()
    known[name] = was
    undo()
  end)
  return maker(name, definition, declared)
end

---Registers a model definition of Moonrank. Returns the constructor: a function from options to a
---model. Scores of the model are not checked, and scripts cannot define a model with the same name.
---@param definition table  like mr.models.Definition, but `options` is the declaration of all options
---@return fun(options?: table): mr.Model
function M.built_in(name, definition)
  definition.name, definition.built_in = name, true
  return maker(name, definition, definition.options)
end

---Returns true if a script defined a model with the name `name`.
function M.of_script(name) return known[name] ~= nil and not known[name].built_in end

-- Replaces parameters and buffers of a new model by those of a file, which must have the same sizes and types.
local function fill(made, by_name)
  local names, values = made:state()
  for i, name in ipairs(names) do
    listed.saved(by_name, name, values[i]:shape(), values[i].dtype)
  end
  made:put(by_name)
  return made
end

---Makes a model from the contents of its saved file. It first has initial parameters, whose memory the size of the file
---limits, and then the tensors of the file.
---@param texts table<string, string>     kind and options of the model
function M.restore(texts, by_name)
  if baselines.kinds[texts.kind] then return baselines.restore(texts, by_name) end
  local definition = known[texts.kind]
  if not definition then
    local kinds = check.names(baselines.kinds)
    for kind in pairs(known) do kinds[#kinds + 1] = kind end
    check.choice("the file", "the kind of model", texts.kind, kinds, "a kind that mr.models.define defines")
  end
  local options, entries, rows = {}, 65536, options_by_definition[definition].by_name
  for name, text in pairs(texts) do
    if name ~= "kind" then options[name] = model_options.from_text(text, rows[name]) end
  end
  for _, x in pairs(by_name) do entries = entries + 4 * x:numel() end
  return fill(room.within(entries, make, definition, options), by_name)
end

return M
