-- Settings that results are kept under, as texts: the same in every process, and another where a setting is, also within tables.
local check = require "moonrank.check"
local fingerprint = require "moonrank.data.fingerprint"

local M = {}

local text_of

-- Whether a table has the keys 1 to its length alone.
local function is_list(t)
  local count = 0
  for _ in pairs(t) do count = count + 1 end
  return count == #t
end

local function key_text(refuse, key)
  if type(key) == "string" then return key end
  if type(key) ~= "number" then refuse(("has a %s as a key, expected texts or numbers"):format(type(key))) end
  return ("[%s]"):format(tostring(key))
end

-- What is between the braces of a table.
local function inside(refuse, t, above)
  if above[t] then refuse "contains itself" end
  above[t] = true
  local parts, separator = {}, ","
  if is_list(t) then
    for i, each in ipairs(t) do parts[i] = text_of(refuse, each, above) end
  else
    separator = ", "
    for key, each in pairs(t) do
      parts[#parts + 1] = ("%s = %s"):format(key_text(refuse, key), text_of(refuse, each, above))
    end
    table.sort(parts)
  end
  above[t] = nil
  return table.concat(parts, separator)
end

local function is_plain(value) return type(value) == "table" and not getmetatable(value) and not fingerprint.of(value) end

text_of = function(refuse, value, above)
  if is_plain(value) then return "{" .. inside(refuse, value, above) .. "}" end
  if check.is_tensor(value) then return fingerprint.combined("tensor", value) end
  local text = fingerprint.of(value) or tostring(value)
  if type(value) ~= "string" and text:find "0x%x+%)?$" then  -- its place in memory
    refuse(("is or holds a %s, which does not say what it is: give numbers, texts, tables of these, or data"):format(type(value)))
  end
  return text
end

---The text of a setting: of data its fingerprint, of a list what is in it, with commas.
---@param caller string  whose setting it is, for errors
---@param name string
---@param value any
---@return string
---Example: `require("moonrank.settings").text("mr.sweep", "sizes", {8, 16})   --> 8,16`
---Example: `require("moonrank.settings").text("mr.sweep", "model", {layers = {8, 16}, bias = true})   --> {bias = true, layers = {8,16}}`
function M.text(caller, name, value)
  local function refuse(why) check.fail("%s: setting '%s' %s", caller, name, why) end
  if is_plain(value) and is_list(value) then return inside(refuse, value, {}) end
  return text_of(refuse, value, {})
end

return M
