-- The parameters of a space from its description, which is what a store keeps of it.
local M = {}

---@class mr.sweep.Described
---@field kind string         "choice", "range", "integer", "uniform" or "loguniform"
---@field low? number         the least value, of numbers
---@field high? number
---@field step? integer       of whole numbers
---@field log boolean         whether equal ratios count alike
---@field conditional boolean whether it applies to some combinations only

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

-- A parameter that stands under several conditions: from the least to the greatest value, a choice where one of them is.
local function both(a, b)
  local kind = (a.kind == "choice" or b.kind == "choice") and "choice" or a.kind == b.kind and a.kind or "uniform"
  if kind == "choice" then return { kind = kind, log = false, conditional = true } end
  return { kind = kind, low = math.min(a.low, b.low), high = math.max(a.high, b.high), log = a.log and b.log, conditional = true,
    step = a.step and b.step and math.min(a.step, b.step) }
end

---Returns parameters by name from a description. Lines that do not describe a parameter are
---skipped.
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
