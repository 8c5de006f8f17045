-- Data fingerprints: checksums of datasets, folds, ratings and lists, made of the first 16 hex digits of a SHA-256 of
-- the content. They do not depend on the paths and formats of files.
local core = require "moonrank.core"
local check = require "moonrank.check"
local probabilities = require "moonrank.losses.probabilities"

local M = {}

-- Cached fingerprints by mr.Lists object; mr.Lists are immutable. Fingerprints of tensors are not cached, because an
-- optimizer may change the memory that a tensor shares with a parameter.
local known = setmetatable({}, { __mode = "k" })

local function of_value(value)
  if not value then return "none" end
  if type(value) == "table" then return core.fingerprint_of_texts(value) end
  if not check.is_lists(value) then return core.fingerprint_of_tensor(value) end
  return M.of_lists(value)
end

---Returns the fingerprint of lists: of their rows, grades, names and weights, and of the probabilities
---with which their rows were drawn (lists:drawn).
---@param lists mr.Lists
---@return string
function M.of_lists(lists)
  if not known[lists] then
    local found, q = core.fingerprint_of_lists(lists), probabilities.of(lists)
    known[lists] = q and M.combined(found, q) or found
  end
  return known[lists]
end

---Returns one fingerprint of all arguments, which depends on their order. An argument is a tensor,
---mr.Lists, a table of strings, a number, a string or a boolean; false stands for a missing value.
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

---Returns the fingerprint of lists, or of an object with a field `fingerprint`, such as a dataset, a
---fold or ratings; nil for any other value.
function M.of(thing)
  if check.is_lists(thing) then return M.combined("lists", thing) end
  if type(thing) ~= "table" then return nil end
  local found = check.field(thing, "fingerprint")
  return type(found) == "string" and found or nil
end

return M
