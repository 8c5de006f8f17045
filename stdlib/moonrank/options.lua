-- Declarations of options. A function that takes a table of options declares each option once: name, type, default, range and one line of
-- documentation. The check of what a script passes, the error, `moonrank doc`, completion, the reference and the types for editors come from
-- that declaration.
--
--   local step_options = options.declare("mr.schedule.StepOptions", {
--     { "every", "integer", least = 1, required = true, help = "epochs from one change to the next" },
--     { "factor", "number", default = 0.1, above = 0, most = 1, help = "factor of each change" },
--   })
--   local o = step_options:read("mr.schedule.step", given)
--
-- A text among the rows, such as "Data", begins a group of the documentation.
local check = require "moonrank.check"
local core = require "moonrank.core"
local getmetatable = debug.getmetatable  -- tensors and lists hide theirs from scripts

local M = {}

---@class mr.options.Row
---@field [1] string          name
---@field [2] string          type in LuaCATS: "integer", "number", "boolean", "string", "table", "function", a class, "integer[]", "A|B"
---@field default? any        value where the script passes none; a table is copied
---@field default_of? fun(): any  makes the default at each call, where it is not known before
---@field shown? string       the default in words, where its value says less: "one per core"
---@field required? boolean   an error where the script passes none
---@field choices? any[]      the only values; of a type such as "string|number" the only texts
---@field least? number       smallest number
---@field most? number        largest number
---@field above? number       the number is larger than this
---@field below? number       the number is smaller than this
---@field infinite? boolean   of a number: infinities are allowed; NaN is not
---@field class? string       the value is an object of this class of the library, e.g. "mr.Schedule"
---@field accept? fun(value: any): boolean  whether the value is allowed, where type and range do not say all
---@field expected? string    what an error says is expected, where type and range do not say it: "an optimizer, as mr.optim.adam{}"
---@field also? string[]      names that other libraries give this option; an error proposes the name here
---@field help string         one line
---@field group? string       filled in: the group of the documentation
---@field is_of_type? fun(value: any): boolean  filled in: whether a value that is not among the choices is of the type
---@field has_more? boolean    filled in: values beside the choices are allowed

---@class mr.options.Declaration
---@field name string
---@field rows mr.options.Row[]  in the order of the documentation
---@field by_name table<string, mr.options.Row>
---@field has_required? boolean
local Declaration = {}
Declaration.__index = Declaration

M.declared = {}  -- declarations by name

-- A default or a limit in words: a large power of two as such, others as the shortest decimal that is this number.
local function written(value)
  if type(value) ~= "number" then return tostring(value) end
  if value >= 2 ^ 20 and value < math.huge then
    local exponent, rest = 0, value
    while rest >= 2 do exponent, rest = exponent + 1, rest / 2 end
    if rest == 1 then return ("2^%d"):format(exponent) end
  end
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

-- What a script passed, in a message; of a short list its elements.
local function found(value)
  local kind = type(value)
  if kind == "string" then return ("'%s'"):format(core.safe_text(value)) end
  if kind == "number" then return tostring(value) end
  if kind == "boolean" or kind == "nil" then return tostring(value) end
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
  if kind == "table" and not name and #value > 0 and #value <= 4 then
    local parts = {}
    for i = 1, #value do parts[i] = type(value[i]) == "table" and "a table" or found(value[i]) end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return "a " .. (type(name) == "string" and name ~= "" and name or kind)
end

-- The limits of a number in words: "at least 1", "from 0 to 1", "above 0 and below 1"; nil where it has none.
local function limits_of(row)
  if row.least and row.most then return ("from %s to %s"):format(written(row.least), written(row.most)) end
  local low = row.least and "at least " .. written(row.least) or row.above and "above " .. written(row.above)
  local high = row.most and "at most " .. written(row.most) or row.below and "below " .. written(row.below)
  return low and high and low .. " and " .. high or low or high
end

local articles = { boolean = "true or false", string = "a text", table = "a table", ["function"] = "a function" }

-- The alternatives of a type: "string|number" has two, "fun(x: string|number)" is one.
local function alternatives(kind)
  local list, depth, first = {}, 0, 1
  for at, mark in kind:gmatch "()([(<{|}>)])" do
    depth = depth + (mark:find "[(<{]" and 1 or mark == "|" and 0 or -1)
    if mark == "|" and depth == 0 then list[#list + 1], first = kind:sub(first, at - 1), at + 1 end
  end
  list[#list + 1] = kind:sub(first)
  return list
end

-- The types of a row's values that are not among its choices.
local function types_of(row)
  local list = {}
  for _, kind in ipairs(alternatives(row[2])) do
    if not row.choices or kind ~= "string" then list[#list + 1] = kind end
  end
  return list
end

-- What is expected of a value of this type, in words.
local function expected_type(row, kind)
  if kind == "integer" or kind == "number" then
    if row.above == 0 and not row.most and not row.below then return "a positive number" end
    local limits = limits_of(row)
    local noun = kind == "integer" and "an integer" or (limits or row.infinite) and "a number" or "a finite number"
    return limits and ("%s %s"):format(noun, limits:gsub("^at", "of at")) or noun
  end
  if kind:match "%[%]$" then return "a list" end
  if kind:match "^fun" then return "a function" end
  if M.declared[kind] then return articles.table end
  return articles[kind:match "^%a+"] or kind
end

-- What is expected, in words.
local function expected_of(row)
  if row.expected then return row.expected end
  if row.class then return "a value of class " .. row.class end
  local words = {}
  for i, each in ipairs(row.choices or {}) do words[i] = found(each) end
  for _, kind in ipairs(row.has_more and types_of(row) or not row.choices and alternatives(row[2]) or {}) do
    words[#words + 1] = expected_type(row, kind)
  end
  return table.concat(words, " or ")
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

-- The test of a value by a type; types that are not listed accept any value, unless `class` or `accept` says more.
local function test_of_type(row, kind)
  if kind == "integer" then return function(value) return math.type(value) == "integer" and within(row, value) end end
  if kind == "number" then return function(value) return type(value) == "number" and within(row, value) end end
  if kind:match "%[%]$" or kind:match "^table" or M.declared[kind] then return function(value) return type(value) == "table" end end
  if kind:match "^fun[%(c]" then return function(value) return type(value) == "function" end end
  if articles[kind] then return function(value) return type(value) == kind end end
  return function() return true end
end

-- The test of a value by the type of a row: it is of one of the alternatives.
local function test_of(row)
  local tests = {}
  for i, kind in ipairs(types_of(row)) do tests[i] = test_of_type(row, kind) end
  if #tests == 1 then return tests[1] end
  return function(value)
    for _, is_of_type in ipairs(tests) do
      if is_of_type(value) then return true end
    end
    return false
  end
end

local fields = { default = true, default_of = true, shown = true, required = true, choices = true, least = true, most = true, above = true,
  below = true, infinite = true, class = true, accept = true, expected = true, also = true, help = true }

local function check_row(declaration, row)
  for key in pairs(row) do
    assert(key == 1 or key == 2 or fields[key], ("%s: option %s has the unknown field %s"):format(declaration.name, row[1], key))
  end
  assert(type(row[1]) == "string" and type(row[2]) == "string" and type(row.help) == "string", declaration.name)
  assert(not declaration.by_name[row[1]], ("%s declares %s twice"):format(declaration.name, row[1]))
end

-- The row that each element of a list of numbers is checked by; nil of other types.
local function element_row(row)
  local kind = row[2]:match "^(%l+)%[%]$"
  if kind ~= "integer" and kind ~= "number" then return nil end
  local element = { row[1], kind }
  for _, limit in ipairs{ "least", "most", "above", "below", "infinite" } do element[limit] = row[limit] end
  element.is_of_type = test_of(element)
  return element
end

-- Whether values of another type than text are allowed beside choices that are texts: "string|number".
local function has_more(row)
  for _, choice in ipairs(row.choices or {}) do
    if type(choice) ~= "string" then return false end
  end
  return row.choices ~= nil and row[2] ~= "string" and row[2]:find("string", 1, true) ~= nil
end

local function add_row(declaration, row)
  check_row(declaration, row)
  row.is_of_type, row.element, row.has_more = test_of(row), element_row(row), has_more(row)
  declaration.rows[#declaration.rows + 1], declaration.by_name[row[1]] = row, row
end

local function include(declaration, other)
  for _, row in ipairs(other.rows) do
    assert(not declaration.by_name[row[1]], ("%s declares %s twice"):format(declaration.name, row[1]))
    declaration.rows[#declaration.rows + 1], declaration.by_name[row[1]] = row, row
  end
end

---Declares a table of options.
---@param name string  of the class in the documentation: "mr.FitOptions"
---@param rows (mr.options.Row|mr.options.Declaration|string)[]  a text begins a group; a declaration adds its options
---@param ... mr.options.Declaration  others, whose options follow
---@return mr.options.Declaration
function M.declare(name, rows, ...)
  local declaration = setmetatable({ name = name, rows = {}, by_name = {} }, Declaration)
  local group
  for _, row in ipairs(rows) do
    if type(row) == "string" then
      group = row
    elseif getmetatable(row) == Declaration then
      include(declaration, row)
    else
      add_row(declaration, row)
      row.group = group
    end
  end
  for _, other in ipairs{ ... } do include(declaration, other) end
  for _, row in ipairs(declaration.rows) do declaration.has_required = declaration.has_required or row.required end
  M.declared[name] = declaration
  return declaration
end

-- The first key of a list whose element is not allowed, or that no list has; nil where there is none.
local function wrong_key(row, value)
  local is_of_type, n = row.element.is_of_type, #value
  for i = 1, n do
    if not is_of_type(value[i]) then return i end
  end
  for key in next, value do
    if math.type(key) ~= "integer" or key < 1 or key > n then return key end
  end
end

local function refuse(where, row, value)
  local of_texts = row.choices ~= nil
  for _, each in ipairs(row.choices or {}) do of_texts = of_texts and type(each) == "string" end
  if of_texts and (type(value) == "string" or not row.has_more) then check.choice(where, row[1], value, row.choices) end
  local key = row.element and type(value) == "table" and wrong_key(row, value)
  if key then
    local name, expected = core.safe_text(tostring(key)), expected_of(row.element)
    check.fail("%s: %s[%s] is %s, expected a list, each element %s", where, row[1], name, found(value[key]), expected)
  end
  check.fail("%s: %s is %s, expected %s", where, row[1], found(value), expected_of(row))
end

local function among(value, choices)
  for i = 1, #choices do
    if choices[i] == value then return true end
  end
  return false
end

local function allows(row, value)
  if row.choices and (among(value, row.choices) or not row.has_more) then return among(value, row.choices) end
  return row.is_of_type(value) and (not row.element or wrong_key(row, value) == nil)
    and (not row.class or is_of_class(value, row.class)) and (not row.accept or row.accept(value))
end

-- Raises that there is no such option, and proposes one.
local function refuse_unknown(self, where, name)
  local known = {}
  for i, row in ipairs(self.rows) do
    known[i] = row[1]
    for _, other in ipairs(row.also or {}) do
      if other == name then check.fail("no option of %s '%s': it is called '%s' here", where, name, row[1]) end
    end
  end
  check.unknown("option of " .. where, name, known)
end

local function default_of(row)
  if row.default_of then return row.default_of() end
  local value = row.default
  return type(value) == "table" and not getmetatable(value) and table.move(value, 1, #value, 1, {}) or value
end

-- Raises where a required option is missing.
local function refuse_missing(self, where, o)
  for _, row in ipairs(self.rows) do
    if row.required and o[row[1]] == nil then check.fail("%s: %s is missing, expected %s", where, row[1], expected_of(row)) end
  end
end

local none = {}

---The options with their defaults. Raises where the script passed an unknown option or a value that is not allowed, or lacks a required one.
---@param where string   the function, for messages
---@param given? table   what the script passed
---@return table
function Declaration:read(where, given)
  if given ~= nil and type(given) ~= "table" then check.fail("%s: options is a %s, expected a table", where, type(given)) end
  given = given or none
  for name in next, given do
    if not self.by_name[name] then refuse_unknown(self, where, name) end
  end
  local o, rows = {}, self.rows
  for i = 1, #rows do
    local row = rows[i]
    local name = row[1]
    local value = rawget(given, name)
    if value ~= nil and not allows(row, value) then refuse(where, row, value) end
    if value == nil and not row.required then value = default_of(row) end
    o[name] = value
  end
  if self.has_required then refuse_missing(self, where, o) end
  return o
end

-- The default in words, or nil.
local function default_text(row)
  if row.shown then return row.shown end
  local value = row.default
  if value == nil then return nil end
  if type(value) == "string" then return '"' .. value .. '"' end
  if type(value) == "table" then
    local parts = {}
    for i, each in ipairs(value) do parts[i] = default_text{ default = each } end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  return written(value)
end

-- The type as the documentation shows it.
local function shown_type(row)
  if not row.choices then return row[2] end
  local parts = {}
  for i, each in ipairs(row.choices) do parts[i] = type(each) == "string" and ('"%s"'):format(each) or tostring(each) end
  for _, kind in ipairs(row.has_more and types_of(row) or {}) do parts[#parts + 1] = kind end
  return table.concat(parts, "|")
end

---The options as fields of a class, for the documentation.
---@return mr.luacats.Entry[]
function Declaration:fields()
  local entries = {}
  for i, row in ipairs(self.rows) do
    local text, default = row.help, default_text(row)
    local parts = { limits_of(row) }
    parts[#parts + 1] = default and "default " .. default
    if #parts > 0 then text = ("%s (%s)"):format(text, table.concat(parts, "; ")) end
    entries[i] = { name = row[1], type = shown_type(row), text = text, optional = not row.required, group = row.group,
      also = row.also }
  end
  return entries
end

return M
