-- Defines the parts of a search space. A part has the possible values of one parameter: the values of a grid, a value
-- for each number in [0, 1) (for samplers that draw at random), and a text that identifies the part.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local digits = require "moonrank.system.digits"

local M = {}

---@class mr.sweep.Part
---@field kind string   "choice", "range", "integer", "uniform" or "loguniform"
---@field log boolean   whether the parameter is drawn uniformly in the logarithm
local Part = check.class("mr.sweep.Part")
Part.points, Part.step = false, false  -- defaults for kinds of parameters that have no number of grid points or no step

---@class mr.sweep.When
---@field name string     the parameter that decides
---@field values any[]    values of that parameter under which the parameters in `parts` exist
---@field parts table     parameters by name, as in a space
local When = check.class("mr.sweep.When")

function M.is_part(value) return getmetatable(value) == Part end
function M.is_when(value) return getmetatable(value) == When end

local is_plain = { number = true, string = true, boolean = true }

-- Returns a number (1 and 1.0 are equal), string or boolean as text. Numbers in the text that identifies a part have 17
-- digits, as in the stores of all versions.
local function scalar_text(value)
  if type(value) == "number" then return ("%.17g"):format(value) end
  if type(value) == "string" then
    return '"' .. value:gsub('[%c"\\]', function(c) return ("\\%03d"):format(c:byte()) end) .. '"'
  end
  return tostring(value)
end

-- Returns a plain value or a table as text with sorted keys; nil if it contains a function, an object, itself or a
-- table as a key.
local function table_text(value, seen)
  if is_plain[type(value)] then return scalar_text(value) end
  if type(value) ~= "table" then return nil end
  if getmetatable(value) or seen[value] then return nil end
  seen[value] = true
  local parts = {}
  for key, each in pairs(value) do
    local k, v = type(key) ~= "table" and table_text(key, seen), table_text(each, seen)
    if not k or not v then return nil end
    parts[#parts + 1] = ("[%s] = %s"):format(k, v)
  end
  seen[value] = nil
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function is_plain_table(value) return not getmetatable(value) end

local function is_whole(value)
  local found = math.tointeger(value)
  return found and found <= 2 ^ 53 and found >= -2 ^ 53
end

local function whole(name)
  return { name, "number", accept = is_whole, expected = "an integer from -2^53 to 2^53" }
end

local check_range = arguments(whole "first", whole "last",
  { "step", "number", accept = is_whole, least = 1, expected = "an integer from 1 to 2^53" })
local check_integers = arguments(whole "low", whole "high")
local check_reals = arguments({ "low", "number" }, { "high", "number" })
local check_span = arguments{ "high - low", "number" }
local check_logarithmic = arguments{ "low", "number", above = 0,
  expected = "a number above 0, because the scale is logarithmic" }
local check_seeds = arguments{ "count", "integer", least = 1, most = 1000,
  expected = "how many seeds, an integer from 1 to 1000" }
local check_choice = arguments{ "values", "table", accept = is_plain_table, expected = "a table of values" }
local check_when = arguments({ "name", "string", expected = "the name of a parameter" },
  { "parts", "table", accept = is_plain_table,
    expected = "a table of parameters by name, such as {lr = mr.uniform(0, 1)}" })

local function ordered(where, low, high)
  check.expect(low < high, where, "low", low, "less than high, which is %s", digits.shortest(high))
end

local function add_choice(part, where, key, value)
  local kind = type(key)
  check.expect(kind == "string" or kind == "boolean" or check.is_finite(key), where,
    ("value %d"):format(#part.keys + 1), key, "a string, finite number or boolean. Give others a name: name = value")
  if kind == "string" then check.utf8(where, "a value", key) end
  check.expect(not part.index[key], where, ("value %d"):format(#part.keys + 1), key,
    "a value that does not occur before")
  part.keys[#part.keys + 1] = key
  part.index[key], part.named[key] = #part.keys, value
end

---Makes a parameter that has one of several values: strings, numbers and booleans, given as a list. Any other value
---needs a name (`small = {hidden = {46}}`). The store has the name, and a trial gets the value. Named values come after
---the values of the list, sorted by name.
---@param values table
---@return mr.sweep.Part
---Example: `mr.choice{"ndcg", "ap"}   --> choice("ndcg", "ap")`
function M.choice(values)
  local where = "mr.choice"
  check_choice(where, values)
  local part = setmetatable({ kind = "choice", keys = {}, index = {}, named = {}, log = false }, Part)
  local named = {}
  for key, value in pairs(values) do
    if type(key) == "string" then
      named[key] = value
    else
      check.expect(math.type(key) == "integer" and key > 0 and key <= #values, where, "a key", key,
        "a name, or a place in a table without gaps")
    end
  end
  for _, value in ipairs(values) do add_choice(part, where, value) end
  for _, name in ipairs(check.names(named)) do add_choice(part, where, name, named[name]) end
  check.not_empty(where, "values", part.keys, "value")
  return part
end

---Makes a parameter that is one of the integers first, first + step, ... up to `last`, which is included if a step
---reaches it.
---@param first integer
---@param last integer  at least `first`
---@param step? integer  default 1
---@return mr.sweep.Part
---Example: `mr.range(1, 5)   --> range(1, 5)`
function M.range(first, last, step)
  local where = "mr.range"
  step = step == nil and 1 or step
  check_range(where, first, last, step)
  first, last, step = math.tointeger(first), math.tointeger(last), math.tointeger(step)
  check.expect(last >= first, where, "last", last, "at least first, which is %d", first)
  return setmetatable({ kind = "range", low = first, high = first + (last - first) // step * step, step = step,
    log = false }, Part)
end

---Makes a parameter whose values are the seeds 1 to `count`. In a grid, every combination of the other parameters is
---then repeated with each seed.
---@param count integer  1 to 1000
---@return mr.sweep.Part
---Example: `mr.seeds(3)   --> choice(1, 2, 3)`
function M.seeds(count)
  check_seeds("mr.seeds", count)
  local seeds = {}
  for i = 1, count do seeds[i] = i end
  return M.choice(seeds)
end

local part_options = declare("mr.sweep.PartOptions", {
  { "points", "integer", least = 2, most = 2 ^ 53, also = { "steps", "num", "n" },
    help = "number of values in a grid, both ends included; required for grids, except of integers: all" },
})

local integer_options = declare("mr.sweep.IntegerOptions", {
  { "log", "boolean", default = false, help = "draw uniformly in the logarithm" },
}, part_options)

local function real(kind, low, high, options)
  local where = "mr." .. kind
  check_reals(where, low, high)
  check_span(where, high - low)
  ordered(where, low, high)
  if kind == "loguniform" then check_logarithmic(where, low) end
  return setmetatable({ kind = kind, low = low + 0.0, high = high + 0.0, log = kind == "loguniform",
    points = part_options:read(where, options).points }, Part)
end

---Makes a parameter that is a number between `low` and `high`, drawn uniformly.
---@param low number
---@param high number
---@param options? mr.sweep.PartOptions
---@return mr.sweep.Part
---Example: `mr.uniform(0, 0.5)   --> uniform(0, 0.5)`
function M.uniform(low, high, options) return real("uniform", low, high, options) end

---Makes a parameter that is a number between `low` and `high`, drawn so that its logarithm is uniform.
---@param low number  above 0
---@param high number
---@param options? mr.sweep.PartOptions
---@return mr.sweep.Part
---Example: `mr.loguniform(0.001, 0.5, {points = 3})   --> loguniform(0.001, 0.5; points 3)`
function M.loguniform(low, high, options) return real("loguniform", low, high, options) end

---Makes a parameter that is an integer between `low` and `high`, both included.
---@param low integer
---@param high integer
---@param options? mr.sweep.IntegerOptions
---@return mr.sweep.Part
---Example: `mr.integer(16, 512, {log = true})   --> integer(16, 512; log)`
function M.integer(low, high, options)
  local where = "mr.integer"
  check_integers(where, low, high)
  low, high = math.tointeger(low), math.tointeger(high)
  local o = integer_options:read(where, options)
  ordered(where, low, high)
  if o.log then check_logarithmic(where, low) end
  return setmetatable({ kind = "integer", low = low, high = high, step = 1, points = o.points, log = o.log }, Part)
end

---Makes a condition: the parameters in `parts` exist only if the parameter `name`, which is a choice or an integer, has
---a certain value. The parameter `name` is in the same table of the space as the condition. A condition has no name:
---`{model = mr.choice{"linear", "mlp"}, mr.when("model", "mlp", {layers = mr.range(1, 3)})}`. Conditions may be nested.
---Two conditions that exclude each other may have parameters of the same name.
---@param name string    the parameter that decides
---@param value any      its value, or a list of values
---@param parts table    the parameters, as in a space
---@return mr.sweep.When
---Example: `mr.when("model", "mlp", {hidden = mr.choice{46, 92}})   --> when model is "mlp"`
function M.when(name, value, parts)
  local where = "mr.when"
  check_when(where, name, parts)
  local values = type(value) == "table" and value or { value }
  check.not_empty(where, ("value of '%s'"):format(name), values, "value")
  return setmetatable({ name = name, values = values, parts = parts }, When)
end

---Returns the text that identifies the condition in stores.
function When:text()
  local texts = {}
  for i, value in ipairs(self.values) do texts[i] = scalar_text(value) end
  table.sort(texts)
  return ("when %s is %s"):format(self.name, table.concat(texts, " or "))
end

function When:__tostring() return digits.shortened(self:text()) end

---Returns the text that identifies the part in stores.
function Part:text()
  if self.kind == "choice" then
    local texts = {}
    for i, key in ipairs(self.keys) do
      texts[i] = scalar_text(key)
      local value = self.named[key]
      if value ~= nil then texts[i] = texts[i] .. " = " .. (table_text(value, {}) or "...") end
    end
    return ("choice(%s)"):format(table.concat(texts, ", "))
  end
  local extra = self.kind == "range" and self.step ~= 1 and (", %d"):format(self.step) or ""
  local notes = {}
  if self.kind == "integer" and self.log then notes[#notes + 1] = "log" end
  if self.points then notes[#notes + 1] = ("points %d"):format(self.points) end
  local note = #notes > 0 and "; " .. table.concat(notes, ", ") or ""
  return ("%s(%s, %s%s%s)"):format(self.kind, scalar_text(self.low), scalar_text(self.high), extra, note)
end

function Part:__tostring() return digits.shortened(self:text()) end

-- Returns a parameter's value at a share of the way from `low` to `high`, on the parameter's scale.
local function between(part, share)
  if part.log then return part.low * core.number_power(part.high / part.low, share) end
  return part.low + share * (part.high - part.low)
end

-- Returns the integers of a grid with `points` values. Values that are rounded to the same integer occur once.
local function spread_integers(part)
  local values = {}
  for i = 0, part.points - 1 do
    local rounded = math.floor(between(part, i / (part.points - 1)) + 0.5)
    local value = math.max(part.low, math.min(part.high, rounded))
    if value ~= values[#values] then values[#values + 1] = value end
  end
  return values
end

---Returns how many values a grid of this parameter has. Returns false if the parameter is a real number without the
---option `points`, because such a parameter has infinitely many values.
function Part:size()
  if self.kind == "choice" then return #self.keys end
  if not self.step then return self.points end
  return self.points and #spread_integers(self) or (self.high - self.low) // self.step + 1
end

---Returns the i-th value of a grid of this parameter; for a named value of a choice, its name.
function Part:grid(i)
  if self.kind == "choice" then return self.keys[i] end
  if self.step then return self.points and spread_integers(self)[i] or self.low + (i - 1) * self.step end
  if i == 1 then return self.low end
  if i == self.points then return self.high end
  return between(self, (i - 1) / (self.points - 1))
end

---Returns the two ends of the axis on which a numeric parameter is drawn uniformly. For a logarithmic parameter, the
---axis has logarithms. For integers, the axis begins half a step below the lowest value, and ends half a step above the
---highest; both ends are then logarithms for a logarithmic parameter.
function Part:axis()
  local low, high = self.low, self.high
  if self.step then low, high = low - self.step / 2, high + self.step / 2 end
  if self.log then return core.number_log(low), core.number_log(high) end
  return low, high
end

---Returns the position of a parameter's value on its axis (logarithmic for a logarithmic parameter). Positions with
---`offset` -0.5 and 0.5, in steps, are the ends of the interval that is rounded to the value.
---@param offset? number
function Part:to_axis(value, offset)
  local x = value + (offset or 0) * (self.step or 0)
  return self.log and core.number_log(x) or x
end

---Returns the parameter's value nearest to a position on its axis (logarithmic for a logarithmic parameter).
function Part:from_axis(x)
  local value = self.log and core.number_exp(x) or x
  if self.step then value = self.low + math.floor((value - self.low) / self.step + 0.5) * self.step end
  return math.max(self.low, math.min(self.high, value))
end

---Returns the parameter's value for a number u in [0, 1), which a sampler draws uniformly. Equally likely values have
---equally long intervals of u.
function Part:at(u)
  if self.kind == "choice" then return self.keys[math.min(#self.keys, math.floor(u * #self.keys) + 1)] end
  local low, high = self:axis()
  return self:from_axis(low + u * (high - low))
end

---Returns true if the value is a possible value of this parameter. A named value of a choice is given by its name.
function Part:contains(value)
  if self.kind == "choice" then return self.index[value] ~= nil end
  if type(value) ~= "number" or not (value >= self.low and value <= self.high) then return false end
  return not self.step or (value - self.low) % self.step == 0
end

---Returns what a trial gets for a value of the parameter: for the name of a named value of a choice, that named value,
---else the value itself.
function Part:meaning(value)
  if self.kind ~= "choice" or self.named[value] == nil then return value end
  return self.named[value]
end

return M
