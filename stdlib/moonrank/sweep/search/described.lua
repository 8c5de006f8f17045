-- Reads the parameters of a search space back from the text that describes the space in a store.
local M = {}

---@class mr.sweep.Described
---@field kind string         "choice", "range", "integer", "uniform" or "loguniform"
---@field choices? any[]     the values of a choice, in order; named values by their names
---@field low? number         smallest value of a number
---@field high? number
---@field step? integer       step of an integer
---@field log boolean         whether the parameter is drawn in the logarithm
---@field conditional boolean whether the parameter exists only under a condition (mr.when)

local function numbers_of(text)
  local low, high, step = text:match "^%(([^,;)]+), ([^,;)]+),? ?([^;)]*)"
  return tonumber(low), tonumber(high), math.tointeger(tonumber(step))
end

-- Parses the number, quoted text, true or false with which a text begins. Returns the value and the rest.
local function first_value(text)
  local quoted, rest = text:match '^"([^"]*)"(.*)$'
  if quoted then
    return quoted:gsub("\\(%d%d%d)", function(code) return string.char(tonumber(code)) end), rest
  end
  local word
  word, rest = text:match "^([^ ,)]+)(.*)$"
  if word == "true" or word == "false" then return word == "true", rest end
  local number = word and tonumber(word)
  return math.tointeger(number) or number, rest
end

-- Skips the value with which a text begins: a table {...}, three dots, or what `first_value` parses. Returns the rest.
local function after_meaning(text)
  if text:sub(1, 3) == "..." then return text:sub(4) end
  if text:sub(1, 1) == "{" then return text:match "^%b{}(.*)$" end
  return select(2, first_value(text))
end

-- Returns the values of a choice from its description, such as '("a", "b" = {[1] = 2})'.
local function choices_of(text)
  local values, rest = {}, text:sub(2)
  while rest and rest:sub(1, 1) ~= ")" do
    values[#values + 1], rest = first_value(rest)
    if rest and rest:sub(1, 3) == " = " then rest = after_meaning(rest:sub(4)) end
    if rest and rest:sub(1, 2) == ", " then rest = rest:sub(3) end
  end
  return values
end

local kinds = { choice = true, range = true, integer = true, uniform = true, loguniform = true }

local function one(kind, text, conditional)
  if not kinds[kind] then return nil end
  local found = { kind = kind, log = kind == "loguniform", conditional = conditional }
  if kind == "choice" then
    found.choices = choices_of(text)
    return found
  end
  found.low, found.high, found.step = numbers_of(text)
  if not found.low or not found.high then return nil end
  if kind == "range" or kind == "integer" then found.step = found.step or 1 end
  if kind == "integer" then found.log = text:find("; log", 1, true) ~= nil end
  return found
end

-- Combines two parameters that have the same name and exist under different conditions. The result is a choice if one
-- of the two is a choice, else a number whose range covers both ranges.
local function both(a, b)
  if a.kind == "choice" or b.kind == "choice" then
    local choices, seen = {}, {}
    for _, value in ipairs(a.choices or {}) do choices[#choices + 1], seen[value] = value, true end
    for _, value in ipairs(b.choices or {}) do choices[#choices + 1] = not seen[value] and value or nil end
    return { kind = "choice", choices = choices, log = false, conditional = true }
  end
  return { kind = a.kind == b.kind and a.kind or "uniform", low = math.min(a.low, b.low),
    high = math.max(a.high, b.high), step = a.step and b.step and math.min(a.step, b.step), log = a.log and b.log,
    conditional = true }
end

---Returns the parameters of a search space by name, from the text that Space:describe made. Parameters of one name
---under different conditions are combined: two numbers to a range that covers both, and two choices to one with the
---values of both. A choice and a number give the choice. Lines that are not a parameter are skipped.
---@return table<string, mr.sweep.Described>
---Example: `require("moonrank.sweep.search.described").read("lr = loguniform(0.001, 0.1)").lr.high   --> 0.1`
function M.read(description)
  local found = {}
  for line in description:gmatch "[^\n]+" do
    local indent, name, kind, rest = line:match "^( *)([%a_][%w_]*) = (%l+)(%(.*)$"
    local part = name and one(kind, rest, #indent > 0)
    if part then found[name] = found[name] and both(found[name], part) or part end
  end
  return found
end

return M
