-- Declarations of options. A function that takes a table of options declares each option once: name, type, default,
-- range and one line of documentation. Checks, errors, `moonrank doc`, completion, the reference and the types for
-- editors come from this declaration.
--
--   local step_options = options.declare("mr.schedule.StepOptions", {
--     { "every", "integer", least = 1, required = true, help = "epochs from one change to the next" },
--     { "factor", "number", default = 0.1, above = 0, most = 1, help = "factor of each change" },
--   })
--   local o = step_options:read("mr.schedule.step", given)
--
-- A text between the options, such as "Data", is a heading for the options that follow it in the documentation.
local getmetatable = debug.getmetatable  -- debug.getmetatable returns protected metatables, too, such as a tensor's

local M = {}

---@class mr.options.Row
---@field [1] string          name
---@field [2] string          type in LuaCATS: "integer", "number", "boolean", "string", "table", "function",
---   a class, "integer[]", "A|B"
---@field default? any        value if the script passes none; a table is copied
---@field default_of? fun(): any  returns the default, called in each `read`
---@field shown? string       the default in words, for documentation: "one per core"
---@field required? boolean   whether a missing option is an error
---@field choices? any[]      the allowed values; for a type such as "string|number" only texts are limited to them
---@field least? number       smallest number
---@field most? number        largest number
---@field above? number       the number is larger than this
---@field below? number       the number is smaller than this
---@field infinite? boolean   whether infinite numbers are allowed; NaN is not
---@field class? string       the value is an object of this class of the library, e.g. "mr.Schedule"
---@field accept? fun(value: any): boolean  whether the value is allowed, in addition to type and range
---@field expected? string    text after "expected" in errors, instead of type and range: "a file, or an open stream"
---@field also? table         names of the option in other libraries; an error shows also[name], or the option's name
---@field formerly? string|string[]  names of the option in earlier versions, which are accepted with a warning; the
---   latest one comes first
---@field renamed? integer|integer[]  for each former name, the round of renamings (M.rounds) that ended it
---@field meant? table|fun(value: any, where: string): any  present value for a value under a former name; the called
---   function's name `where` is for errors
---@field excludes? table<string, string|true>  options that cannot be given beside this one, with the reason
---@field required_without? string  option without which this one is required
---@field requires? string    option without which this one has no effect
---@field only_with? table<string, any>  value, or array of values, of another option with which this one has an effect
---@field not_above? string   option that is the largest value of this one
---@field each? mr.options.Row  declaration of each element of an array, or of each value of a table by name. Its first
---   entry is the type: { "string", choices = { "max", "min" } }
---@field some? string        the array must not be empty; its entry in words: "metric"
---@field help string         one line of documentation
---@field group? string       computed on first use: heading above the option in the documentation
---@field is_of_type? fun(value: any): boolean  computed: whether a value that is not among the choices has the type
---@field element? mr.options.Row  computed: declaration of each element of an array, or value of a table by name
---@field of_texts? boolean   computed: whether all choices are texts
---@field has_more? boolean   computed: whether values of another type are allowed beside the choices

---@class mr.options.Declaration
---@field name string
---@field rows mr.options.Row[]  in the order of the documentation
---@field by_name table<string, mr.options.Row>
---@field related mr.options.Row[]|false  rows with a relation to another option; false if there are none
---@field by_former table<string, mr.options.Row>|false  rows by their former names; false if no row has one
---@field former_names table<string, string>[]|false  for each round of renamings, the former names of options that got
---   their present names in this round or later, by present name; false if no option was renamed
local Declaration = {}
Declaration.__index = Declaration

-- Metatable of declarations before their first use, which checks and indexes them, so that programs start faster.
local Unprepared = {}

M.declared = {}  -- maps the name of an option table, such as "mr.FitOptions", to its declaration

-- Number of rounds in which options were renamed, several at a time. Files of versions before a round contain the
-- former names of all options that were renamed in this round or later. 1: `gain` became `steepness`. 2: names of
-- several functions became equal.
M.rounds = 2

-- Maps tables of options that `read` returned to the field `former_names` of their declarations.
local former_names_of = setmetatable({}, { __mode = "k" })

-- Loads on demand the module that writes errors and documentation of options, because most runs need neither.
local function words() return require "moonrank.options.words" end

---Returns the alternatives of a LuaCATS type: two for "string|number", but one for "fun(x: string|number)".
---Example: `#require("moonrank.options").alternatives("string|(string|number)[]")   --> 2`
function M.alternatives(kind)
  local list, depth, first = {}, 0, 1
  for at, mark in kind:gmatch "()([(<{|}>)])" do
    depth = depth + (mark:find "[(<{]" and 1 or mark == "|" and 0 or -1)
    if mark == "|" and depth == 0 then list[#list + 1], first = kind:sub(first, at - 1), at + 1 end
  end
  list[#list + 1] = kind:sub(first)
  return list
end

---Returns the LuaCATS types of the values that an option accepts. If the option has a list of choices, the type
---"string" is left out, because only the choices are accepted as texts.
function M.types_of(row)
  local list = {}
  for _, kind in ipairs(M.alternatives(row[2])) do
    if not row.choices or kind ~= "string" then list[#list + 1] = kind end
  end
  return list
end

local function within(row, value)
  if value ~= value then return false end
  if not row.infinite and (value == math.huge or value == -math.huge) then return false end
  return (not row.least or value >= row.least) and (not row.most or value <= row.most)
    and (not row.above or value > row.above) and (not row.below or value < row.below)
end

local function is_of_class(value, class)
  local meta = getmetatable(value)
  return type(meta) == "table" and rawget(meta, "__name") == class
end

local plain = { boolean = true, string = true, table = true, ["function"] = true }

-- Returns a function that tests whether a value has the type `kind`, and whether a number is in the option's range.
-- Other types, such as a class, accept any value here; `class` and `accept` of the option may test the value later.
local function test_of_type(row, kind)
  if kind == "integer" then return function(value) return math.type(value) == "integer" and within(row, value) end end
  if kind == "number" then return function(value) return type(value) == "number" and within(row, value) end end
  if kind:match "%[%]$" or kind:match "^table" or M.declared[kind] then
    return function(value) return type(value) == "table" end
  end
  if kind:match "^fun[%(c]" then return function(value) return type(value) == "function" end end
  if plain[kind] then return function(value) return type(value) == kind end end
  return function() return true end
end

-- Returns a function that tests whether a value has one of the types that an option accepts.
local function test_of(row)
  local tests = {}
  for i, kind in ipairs(M.types_of(row)) do tests[i] = test_of_type(row, kind) end
  if #tests == 1 then return tests[1] end
  return function(value)
    for _, is_of_type in ipairs(tests) do
      if is_of_type(value) then return true end
    end
    return false
  end
end

local fields = { default = true, default_of = true, shown = true, required = true, choices = true, least = true,
  most = true, above = true, below = true, infinite = true, class = true, accept = true, expected = true, also = true,
  formerly = true, renamed = true, meant = true, excludes = true, requires = true, required_without = true,
  only_with = true, not_above = true, each = true, some = true, help = true }

local function check_row(name, row)
  for key in pairs(row) do
    assert(key == 1 or key == 2 or fields[key], ("%s: option %s has the unknown field %s"):format(name, row[1], key))
  end
  assert(type(row[1]) == "string" and type(row[2]) == "string" and type(row.help) == "string", name)
  assert(type(row.formerly) == "table" and #row.formerly == #row.renamed or not row.formerly == not row.renamed, name)
end

---Returns the former names of a declared option, the oldest one last.
---@return string[]
function M.former_names(row) return type(row.formerly) == "table" and row.formerly or { row.formerly } end

---Returns the name that a declared option had before a round of renamings; nil if it was the present name.
---@return string?
function M.name_before(round, row)
  local rounds, found = type(row.renamed) == "table" and row.renamed or { row.renamed }, nil
  for i, name in ipairs(M.former_names(row)) do
    if rounds[i] >= round then found = name end
  end
  return found
end

-- Returns a declaration that checks each element of an option with the field `each` or of type integer[], number[] or
-- string[]; nil for others.
local function element_row(row)
  if row.each then
    local element = { row[1] }
    for key, value in pairs(row.each) do element[key == 1 and 2 or key] = value end
    return M.filled_in(element)
  end
  local kind = row[2]:match "^(%l+)%[%]$"
  if kind ~= "integer" and kind ~= "number" and kind ~= "string" then return nil end
  local element = { row[1], kind }
  for _, limit in ipairs{ "least", "most", "above", "below", "infinite" } do element[limit] = row[limit] end
  element.is_of_type = test_of(element)
  return element
end

local function are_texts(choices)
  for _, choice in ipairs(choices) do
    if type(choice) ~= "string" then return false end
  end
  return true
end

---Returns a copy of an option's declaration with its "computed" fields, such as its test function.
function M.filled_in(row, group)
  local filled = { group = group, is_of_type = test_of(row), element = element_row(row) }
  for key, value in pairs(row) do filled[key] = value end
  filled.of_texts = row.choices ~= nil and are_texts(row.choices)
  filled.has_more = filled.of_texts and row[2] ~= "string" and row[2]:find("string", 1, true) ~= nil
  return filled
end

local function is_declaration(value)
  local meta = getmetatable(value)
  return meta == Declaration or meta == Unprepared
end

-- Returns the declarations of all options in an option table, with those of added tables.
local function rows_of(declaration)
  local rows, group = {}, nil
  for _, part in ipairs(declaration.parts) do
    if type(part) == "string" then
      group = part
    elseif is_declaration(part) then
      table.move(part.rows, 1, #part.rows, #rows + 1, rows)
    else
      check_row(declaration.name, part)
      rows[#rows + 1] = M.filled_in(part, group)
    end
  end
  return rows
end

-- Returns the fields `by_former` and `former_names` of a declaration.
local function former_of(declaration, rows, by_name)
  local by_former, in_files = false, false
  for _, row in ipairs(rows) do
    if row.formerly then
      by_former, in_files = by_former or {}, in_files or {}
      for _, name in ipairs(M.former_names(row)) do
        local text = "%s declares %s, which is another option's former name"
        assert(not by_name[name] and not by_former[name], text:format(declaration.name, name))
        by_former[name] = row
      end
      for round = 1, M.rounds do
        in_files[round] = in_files[round] or {}
        in_files[round][row[1]] = M.name_before(round, row)
      end
    end
  end
  return by_former, in_files
end

-- Fills the fields of a declaration on its first use. If memory runs out, the next use tries again.
local function prepare(declaration)
  local rows, by_name, related = rows_of(declaration), {}, {}
  for _, row in ipairs(rows) do
    assert(not by_name[row[1]], ("%s declares %s twice"):format(declaration.name, row[1]))
    by_name[row[1]] = row
    if row.excludes or row.requires or row.required_without or row.only_with or row.not_above then
      related[#related + 1] = row
    end
  end
  declaration.by_former, declaration.former_names = former_of(declaration, rows, by_name)
  declaration.rows, declaration.by_name = rows, by_name
  declaration.related = #related > 0 and related
  declaration.parts = nil
  setmetatable(declaration, Declaration)
end

function Unprepared.__index(declaration, key)
  prepare(declaration)
  return declaration[key]
end

---Declares options that the documentation does not list, such as those in a file, or those of a model that a script
---defines. The returned declaration checks given options by its method `read`.
---@param rows (mr.options.Row|mr.options.Declaration|string)[]  a text begins a group; a declaration adds its options
---@param ... mr.options.Declaration  declarations whose options follow
---@return mr.options.Declaration
function M.unlisted(name, rows, ...)
  local parts = table.move({ ... }, 1, select("#", ...), #rows + 1, rows)
  return setmetatable({ name = name, parts = parts }, Unprepared)
end

---Declares the options of a function, which the documentation lists under the name of the declaration. The returned
---declaration checks given options by its method `read`.
---@param name string  name of the class in the documentation: "mr.FitOptions"
---@param rows (mr.options.Row|mr.options.Declaration|string)[]  a text begins a group; a declaration adds its options
---@param ... mr.options.Declaration  declarations whose options follow
---@return mr.options.Declaration
function M.declare(name, rows, ...)
  M.declared[name] = M.unlisted(name, rows, ...)
  return M.declared[name]
end

local none = {}

local function among(value, choices)
  for i = 1, #choices do
    if choices[i] == value then return true end
  end
  return false
end

local allows

-- Returns whether an array's declaration allows an element. An element that the row does not declare (`each`) needs
-- only the right type.
local function allows_element(row, value)
  if row.each then return allows(row.element, value) end
  return row.element.is_of_type(value)
end

---Returns the first index at which the array `value` of an option has an element that the option does not allow.
---Otherwise returns a key of `value` that is not an index of an array, or nil if all elements are allowed. Returns the
---name of a value that is not allowed, or a key that is not a name, for a table of values by name.
---@param row mr.options.Row  with `element`
---@param value table
function M.wrong_key(row, value)
  if row[2]:find "^table<string" then
    for key, each in next, value do
      if type(key) ~= "string" or not allows(row.element, each) then return key end
    end
    return nil
  end
  local n = #value
  for i = 1, n do
    if not allows_element(row, value[i]) then return i end
  end
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 or key > n then return key end
  end
end

function allows(row, value)
  if row.choices and (among(value, row.choices) or not row.has_more) then return among(value, row.choices) end
  return row.is_of_type(value) and (not row.element or type(value) ~= "table" or M.wrong_key(row, value) == nil)
    and (not row.some or #value > 0)
    and (not row.class or is_of_class(value, row.class)) and (not row.accept or row.accept(value))
end

local function default_of(row)
  if row.default_of then return row.default_of() end
  local value = row.default
  return type(value) == "table" and not getmetatable(value) and table.move(value, 1, #value, 1, {}) or value
end

-- Returns the value that replaces a value given under an option's former name.
local function present_value(row, value, where)
  if type(row.meant) == "function" then return row.meant(value, where) end
  local meant = row.meant and row.meant[value]
  if meant ~= nil then return meant end
  return value
end

-- Returns the given options under their present names. Two names of one option are an error.
local function renamed(self, where, given)
  local options, names = {}, {}
  for name, value in next, given do
    local row = self.by_former[name]
    local present = row and row[1] or name
    if names[present] then words().both_names(where, row or self.by_name[name], names[present], name) end
    if row then value = present_value(row, value, where) end
    if row then words().warn_of_former(where, row, name) end
    options[present], names[present] = value, name
  end
  return options
end

-- Raises an error if options that were given contradict each other. `o` has the values with their defaults.
local function check_relations(self, where, given, o)
  for _, row in ipairs(self.related) do
    local name, most = row[1], row.not_above and o[row.not_above]
    local is_given = rawget(given, name)
    for other, values in next, is_given ~= nil and row.only_with or none do
      if not among(o[other], type(values) == "table" and values or { values }) then
        words().no_effect(where, row, is_given, other, values, o[other])
      end
    end
    for other, why in next, is_given and row.excludes or none do
      if rawget(given, other) then words().excluded(where, name, other, why) end
    end
    local instead = row.required_without
    if instead and o[name] == nil and o[instead] == nil then words().missing(where, row, instead) end
    if is_given and row.requires and o[row.requires] == nil then words().lacks(where, name, row.requires) end
    if most and o[name] and o[name] > most then words().above(where, row, o) end
  end
end

---Checks the options that a script passed, and returns them with the defaults of the other options. Errors are an
---unknown option, a value that is not allowed, a missing required option, and options that contradict each other. An
---option under a former name is returned under its present name, with a warning.
---@param where string  name of the called function, for errors
---@param given? table  options that the script passed
---@return table
function Declaration:read(where, given)
  if given ~= nil and type(given) ~= "table" then words().no_table(self, where, given) end
  given = given or none
  local has_former = false
  for name in next, given do
    if not self.by_name[name] then
      if not (self.by_former and self.by_former[name]) then words().unknown(self, where, name) end
      has_former = true
    end
  end
  if has_former then given = renamed(self, where, given) end
  local o, rows, missing = {}, self.rows, nil
  for i = 1, #rows do
    local row = rows[i]
    local name = row[1]
    local value = rawget(given, name)
    if value == nil then
      if row.required then missing = missing or row else value = default_of(row) end
    elseif not allows(row, value) then
      words().refused(where, row, value)
    end
    o[name] = value
  end
  if missing then words().missing(where, missing) end
  if self.related then check_relations(self, where, given, o) end
  if self.former_names then former_names_of[o] = self.former_names end
  return o
end

-- Raises an error if a positional argument is missing or has a value that its declaration does not allow.
local function check_argument(where, row, value)
  if value == nil and row.required == false then return end
  if value == nil or not allows(row, value) then words().refused(where, row, value) end
end

---Declares positional arguments. Returns a function that raises an error if one of them is missing or not allowed. It
---takes the name of the called function and the arguments, and returns the arguments.
---@param ... mr.options.Row  one for each argument, without `help`; `required = false` allows nil
---@return fun(where: string, ...: any): ...
---Example: `require("moonrank.options").arguments{ "n", "integer", least = 1 }("f", 3)   --> 3`
function M.arguments(...)
  local rows, is_ready = { ... }, false
  return function(where, ...)
    if not is_ready then
      for i, row in ipairs(rows) do rows[i] = M.filled_in(row) end
      is_ready = true
    end
    for i = 1, #rows do check_argument(where, rows[i], (select(i, ...))) end
    return ...
  end
end

---Returns true if a text in a file says the same as a text of this run, perhaps with former names of options.
---@param stored? string
---@param text_of fun(round?: integer): string  makes the text of this run, with the names before a round of renamings
function M.is_same(stored, text_of)
  if stored == text_of() then return true end
  for round = 1, M.rounds do
    if stored == text_of(round) then return true end
  end
  return false
end

---Returns the names that options had in files of versions before a round of renamings, by present name. Options that
---were not renamed in this round or later are left out. The result is nil for a table that is not from `read`, and for
---options of which none was ever renamed.
---@param o table        from `read`
---@param round integer  from 1 to M.rounds
---@return table<string, string>?
---Example: `require("moonrank.options").names_before(1, mr.losses.ndcg().options).steepness   --> gain`
function M.names_before(round, o) return former_names_of[o] and former_names_of[o][round] end

---Returns the declared options in the form in which fields of a class are documented: name, type and text of each.
function Declaration:fields() return words().fields(self.rows) end

return M
