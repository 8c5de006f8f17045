-- Fingerprints of data: sixteen digits of a SHA-256 of the content, whatever its source.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

-- By tensor or lists: these do not change, so each is read once, also where datasets share it. Tables of texts may be changed by the script,
-- and tracked tensors by optimisers: those are read each time.
local known = setmetatable({}, { __mode = "k" })

local function of_value(value)
  if not value then return "none" end
  if type(value) == "table" then return core.fingerprint_of_texts(value) end
  local is_lists = check.is_lists(value)
  if not is_lists and value.tracked then return core.fingerprint_of_tensor(value) end
  if not known[value] then known[value] = (is_lists and core.fingerprint_of_lists or core.fingerprint_of_tensor)(value) end
  return known[value]
end

---One fingerprint of several things, in their order: tensors, lists, lists of texts, numbers, texts and flags; false for what is absent.
---@param ... any
---@return string
---Example: `#require("moonrank.data.fingerprint").combined(mr.tensor{1, 2}, "test", 3)   --> 16`
function M.combined(...)
  local parts = table.pack(...)
  for i = 1, parts.n do
    local kind = type(parts[i])
    if kind == "userdata" or kind == "table" or not parts[i] then parts[i] = of_value(parts[i])
    else parts[i] = ("%s %q"):format(kind, kind == "boolean" and "true" or parts[i]) end
  end
  return core.sha256(table.concat(parts, "\n")):sub(1, 16)
end

---Gives a tensor or lists the fingerprint of the same ones on another device.
---@param from any
---@param to any
function M.carry(from, to)
  if from and to then known[to] = known[to] or of_value(from) end
end

---The fingerprint of a dataset, a fold, ratings or lists; nil for anything else.
---@param thing any
---@return string?
function M.of(thing)
  if check.is_lists(thing) then return M.combined("lists", thing) end
  if type(thing) ~= "table" then return nil end
  local found = check.field(thing, "fingerprint")
  return type(found) == "string" and found or nil
end

return M
