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

local M = {}

---@class mr.options.Row
---@field [1] string          name
---@field [2] string          type in LuaCATS: "integer", "number", "boolean", "string", "table", "function", a class, "integer[]", "A|B"
---@field default? any        value where the script passes none; a table is copied
---@field default_of? function  makes the default, where it is known only when the function is called
---@field shown? string       the default in words, where its value says less: "one per core"
---@field required? boolean   an error where the script passes none
---@field choices? any[]      the only values
---@field least? number       smallest number
---@field most? number        largest number
---@field above? number       the number is larger than this
---@field below? number       the number is smaller than this
---@field infinite? boolean   of a number: infinities are allowed; NaN is not
---@field class? string       the value is an object of this class of the library, e.g. "mr.Schedule"
---@field accept? fun(value: any): boolean  whether the value is allowed, where type and range do not say all
---@field expected? string    what an error says is expected, where type and range do not say it: "an optimizer, as mr.optim.adam{}"
---@field also? table         other libraries' names for it: an error proposes the name here, or shows also[name]
---@field help string         one line
---@field group? string       filled in: the group of the documentation

---@class mr.options.Declaration
---@field name string
---@field rows mr.options.Row[]  in the order of the documentation
---@field by_name table<string, mr.options.Row>
local Declaration = {}
Declaration.__index = Declaration

M.declared = {}  -- declarations by name

-- A default or a limit in words: a large power of two as such, others as the shortest decimal that is this number.
local function written(value)
  if type(value) ~= "number" then return tostring(value) end
  if value >= 2 ^ 20 and value < math.huge then
    local exponent = math.floor(math.log(value, 2) + 0.5)
    if 2 ^ exponent == value then return ("2^%d"):format(exponent) end
  end
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

-- What a script passed, in a message.
local function found(value)
  local kind = type(value)
  if kind == "string" then return ("'%s'"):format(core.safe_text(value)) end
  if kind == "number" then return tostring(value) end
  if kind == "boolean" or kind == "nil" then return tostring(value) end
  local meta = getmetatable(value)
  local name = type(meta) == "table" and rawget(meta, "__name")
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

-- What is expected, in words.
local function expected_of(row)
  if row.expected then return row.expected end
  local kind = row[2]
  if kind == "integer" or kind == "number" then
    if row.above == 0 and not row.most and not row.below then return "a positive number" end
    local limits = limits_of(row)
    local noun = kind == "integer" and "an integer" or (limits or row.infinite) and "a number" or "a finite number"
    return limits and ("%s %s"):format(noun, limits:gsub("^at", "of at")) or noun
  end
  if row.class then return "a value of class " .. row.class end
  if kind:match "%[%]$" then return "a list" end
  return articles[kind:match "^%a+"] or kind
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

-- The test of a value by the type of a row; types that are not listed accept any value, unless `class` or `accept` says more.
local function test_of(row)
  local kind = row[2]
  if kind == "integer" then return function(value) return math.type(value) == "integer" and within(row, value) end end
  if kind == "number" then return function(value) return type(value) == "number" and within(row, value) end end
  if kind:match "%[%]$" or kind:match "^table" then return function(value) return type(value) == "table" end end
  if kind:match "^fun[%(c]" and not kind:find("|", 1, true) then return function(value) return type(value) == "function" end end
  if articles[kind] then return function(value) return type(value) == kind end end
  return function() return true end
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

local function add_row(declaration, row)
  check_row(declaration, row)
  row.is_of_type = test_of(row)
  declaration.rows[#declaration.rows + 1], declaration.by_name[row[1]] = row, row
end

---Declares a table of options.
---@param name string  of the class in the documentation: "mr.FitOptions"
---@param rows (mr.options.Row|string)[]  a text begins a group
---@param ... mr.options.Declaration  others, whose options follow
---@return mr.options.Declaration
function M.declare(name, rows, ...)
  local declaration = setmetatable({ name = name, rows = {}, by_name = {} }, Declaration)
  local group
  for _, row in ipairs(rows) do
    if type(row) == "string" then
      group = row
    else
      add_row(declaration, row)
      row.group = group
    end
  end
  for _, other in ipairs{ ... } do
    for _, row in ipairs(other.rows) do
      assert(not declaration.by_name[row[1]], ("%s declares %s twice"):format(name, row[1]))
      declaration.rows[#declaration.rows + 1], declaration.by_name[row[1]] = row, row
    end
  end
  M.declared[name] = declaration
  return declaration
end

local function refuse(where, row, value)
  if row.choices then check.choice(where, row[1], value, row.choices) end
  check.fail("%s: %s is %s, expected %s", where, row[1], found(value), expected_of(row))
end

local function among(value, choices)
  for _, each in ipairs(choices) do
    if each == value then return true end
  end
  return false
end

local function allows(row, value)
  if row.choices then return among(value, row.choices) end
  return row.is_of_type(value) and (not row.class or is_of_class(value, row.class)) and (not row.accept or row.accept(value))
end

-- Raises that there is no such option, and proposes one.
local function refuse_unknown(self, where, name)
  local known = {}
  for i, row in ipairs(self.rows) do
    known[i] = row[1]
    local advice = type(name) == "string" and row.also and row.also[name]
    if advice then check.fail("no option of %s '%s'. %s", where, name, advice) end
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

---The options with their defaults. Raises where the script passed an unknown option or a value that is not allowed, or lacks a required one.
---@param where string   the function, for messages
---@param given? table   what the script passed
---@return table
function Declaration:read(where, given)
  if given ~= nil and type(given) ~= "table" then check.fail("%s: options is a %s, expected a table", where, type(given)) end
  local o = {}
  for name, value in pairs(given or {}) do
    local row = self.by_name[name]
    if not row then refuse_unknown(self, where, name) end
    if not allows(row, value) then refuse(where, row, value) end
    o[name] = value
  end
  for _, row in ipairs(self.rows) do
    local name = row[1]
    if o[name] == nil then
      if row.required then check.fail("%s: %s is missing, expected %s", where, name, expected_of(row)) end
      o[name] = default_of(row)
    end
  end
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
  return table.concat(parts, "|")
end

---The options as fields of a class, for the documentation.
---@return mr.luacats.Entry[]
function Declaration:fields()
  local entries = {}
  for i, row in ipairs(self.rows) do
    local text, default = row.help, default_text(row)
    local limits = (row[2] == "integer" or row[2] == "number") and not row.choices and limits_of(row)
    local parts = { limits or nil }
    parts[#parts + 1] = default and "default " .. default
    if #parts > 0 then text = ("%s (%s)"):format(text, table.concat(parts, "; ")) end
    entries[i] = { name = row[1], type = shown_type(row), text = text, optional = not row.required, group = row.group }
  end
  return entries
end

return M
