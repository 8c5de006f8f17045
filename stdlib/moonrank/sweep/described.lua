-- Reads the parameters of a search space back from the text that describes the space in a store.
local M = {}

---@class mr.sweep.Described
---@field kind string         "choice", "range", "integer", "uniform" or "loguniform"
---@field low? number         smallest value of a number
---@field high? number
---@field step? integer       step of an integer
---@field log boolean         whether the parameter is drawn in the logarithm
---@field conditional boolean whether the parameter exists only under a condition (mr.when)

local function numbers_of(text)
  local low, high, step = text:match "^%(([^,;)]+), ([^,;)]+),? ?([^;)]*)"
  return tonumber(low), tonumber(high), math.tointeger(tonumber(step))
end

local kinds = { choice = true, range = true, integer = true, uniform = true, loguniform = true }

local function one(kind, text, conditional)
  if not kinds[kind] then return nil end
  local found = { kind = kind, log = kind == "loguniform", conditional = conditional }
  if kind == "choice" then return found end
  found.low, found.high, found.step = numbers_of(text)
  if not found.low or not found.high then return nil end
  if kind == "range" or kind == "integer" then found.step = found.step or 1 end
  if kind == "integer" then found.log = text:find("; log", 1, true) ~= nil end
  return found
end

-- Combines two parameters that have the same name and exist under different conditions. The result is a choice if one
-- of the two is a choice, else a number whose range covers both ranges.
local function both(a, b)
  if a.kind == "choice" or b.kind == "choice" then return { kind = "choice", log = false, conditional = true } end
  return { kind = a.kind == b.kind and a.kind or "uniform", low = math.min(a.low, b.low),
    high = math.max(a.high, b.high), step = a.step and b.step and math.min(a.step, b.step), log = a.log and b.log,
    conditional = true }
end

---Returns the parameters of a search space by name, read from the space's description. Lines that
---do not describe a parameter are skipped.
---@param description string  of mr.sweep.Space:describe
---@return table<string, mr.sweep.Described>
---Example: `require("moonrank.sweep.described").read("lr = loguniform(0.001, 0.1)").lr.high   --> 0.1`
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
