-- Writes values as text, by which the settings of checkpoints and sweeps are compared. Equal values have equal texts in
-- every process, and different values have different texts. A number has all its digits, an ambiguous string is quoted,
-- an object is written as its class, options and parameters, and data as a data fingerprint.
local bounds = require "moonrank.bounds.registry"
local check = require "moonrank.check"
local fingerprint = require "moonrank.data.fingerprint"
local option_names = require "moonrank.options"

local M = {}

---Choices of how values are written as text.
---@class mr.settings.Manner
---@field refuse fun(why: string)        raises the error for a value without a text
---@field functions? string              text for a function; without it, functions are errors
---@field options_only? boolean          whether a model is written without its parameters
---@field round? integer                 options of objects have their names before this round of renamings

local text_of

-- Returns a number as text, with so many digits that the same number is read back.
local function number_text(x)
  if math.type(x) == "integer" then return tostring(x) end
  for digits = 14, 17 do
    local text = ("%%.%dg"):format(digits):format(x)
    if tonumber(text) == x then return text:find "^-?%d+$" and text .. ".0" or text end
  end
  return x ~= x and "nan" or x > 0 and "inf" or "-inf"
end

local reserved = { ["true"] = true, ["false"] = true, ["nil"] = true, nan = true, inf = true }

-- Returns a string as text. The string is quoted if it could be taken for another value, such as a number or `true`.
local function string_text(s)
  local plain = s ~= "" and not s:find '[,{}%[%]="%c]' and not tonumber(s) and not reserved[s]
    and not s:find "^-?inf$" and not s:find "^%s"
  return plain and s or ("%q"):format(s)
end

local function is_list(t)
  local count = 0
  for _ in next, t do count = count + 1 end
  return count == #t
end

local function key_text(manner, key)
  if type(key) == "string" then return key:find "^[%a_][%w_]*$" and key or ("[%q]"):format(key) end
  if type(key) ~= "number" then manner.refuse(("has a %s as a key, expected texts or numbers"):format(type(key))) end
  return ("[%s]"):format(number_text(key))
end

-- Returns the entries of a table as text, "name = value, ...", sorted by name. `names` maps some keys to other names
-- that are written instead, such as former names of options.
local function fields_text(manner, t, above, names)
  local parts = {}
  for key, each in next, t do
    local name = key_text(manner, names and names[key] or key)
    parts[#parts + 1] = ("%s = %s"):format(name, text_of(manner, each, above))
  end
  table.sort(parts)
  return table.concat(parts, ", ")
end

-- Returns the content of a table as text, without the outer braces.
local function inside(manner, t, above)
  if above[t] then manner.refuse "contains itself. Pass a table that does not contain itself" end
  above[t] = true
  local text
  if is_list(t) then
    local parts = {}
    for i, each in ipairs(t) do parts[i] = text_of(manner, each, above) end
    text = table.concat(parts, ",")
  else
    text = fields_text(manner, t, above, manner.round and option_names.names_before(manner.round, t))
  end
  above[t] = nil
  return text
end

-- Returns the fingerprint of the current tensors of a model or a baseline as text, or "" if it has no tensors.
local function parameters_text(value)
  local names, tensors = {}, {}
  local named = check.field(value, "_tensors")
  if type(check.field(value, "state")) == "function" then
    names, tensors = value:state()
  elseif type(named) == "table" then
    names = check.names(named)
    for i, name in ipairs(names) do tensors[i] = named[name] end
  end
  return #names > 0 and " of " .. fingerprint.combined(table.concat(names, ","), table.unpack(tensors)) or ""
end

-- True if the bound `value` is registered under `name`.
local function is_named_bound(value, name)
  return type(name) == "string" and bounds.get(name) == value
end

-- Returns an object as text: an object of the library, or an object of a script whose `__tostring` gives a text without
-- a memory address. Any other object is "the script's own" if `manner.functions` is set, and else an error
-- (`manner.refuse`).
local function object_text(manner, value, above)
  local meta = debug.getmetatable(value)
  local class = type(meta) == "table" and rawget(meta, "__name")
  local options = check.field(value, "options") or check.field(value, "config")
  local name = check.field(value, "kind") or check.field(value, "name")
  if type(options) == "table" then
    local parameters = manner.options_only and "" or parameters_text(value)
    return ("%s{%s}%s"):format(name or class or "", inside(manner, options, above), parameters)
  end
  if is_named_bound(value, name) then return name end
  local ours = type(class) == "string" and class:match "^mr%."
  if ours and type(value) == "table" then return ("%s{%s}"):format(class, inside(manner, value, above)) end
  local text = not ours and type(meta) == "table" and meta.__tostring and tostring(value) or "0x0"
  -- a text with a memory address at its end does not identify a value
  if not text:find "0x%x+%)?$" then return text end
  if manner.functions then return "the script's own" end
  local allowed = "numbers, texts, booleans, plain tables of these, tensors or datasets"
  if type(value) ~= "table" then
    return manner.refuse(("is or contains a %s, which has no text. Pass %s"):format(type(value), allowed))
  end
  return manner.refuse("is or contains an object (a table with a metatable) that has no text. Give its metatable a "
    .. "__tostring whose text has no memory address, or pass " .. allowed)
end

text_of = function(manner, value, above)
  local kind = type(value)
  if kind == "number" then return number_text(value) end
  if kind == "string" then return string_text(value) end
  if kind == "boolean" or kind == "nil" then return tostring(value) end
  if kind == "table" and not getmetatable(value) then return "{" .. inside(manner, value, above) .. "}" end
  if check.is_tensor(value) then return fingerprint.combined("tensor", value) end
  if kind == "function" and manner.functions then return manner.functions end
  return fingerprint.of(value) or object_text(manner, value, above)
end

---Returns a setting's value as text. An array of several values has commas and no outer braces.
---@param caller string  function name for errors
---@param round? integer  options of objects have their names before this round of renamings, as in files of earlier
---   versions
---Example: `require("moonrank.system.settings").text("mr.sweep", "sizes", {8, 16})   --> 8,16`
---Example:
---```lua
---local model = {layers = {8, 16}, bias = true}
---require("moonrank.system.settings").text("mr.sweep", "model", model)   --> {bias = true, layers = {8,16}}
---```
---Example: `require("moonrank.system.settings").text("mr.sweep", "k", "1")   --> "1"`
function M.text(caller, name, value, round)
  local function refuse(why) check.fail("%s: the setting named '%s' %s", caller, name, why) end
  local manner = { refuse = refuse, round = round }
  local text = text_of(manner, value, {})
  local is_row = type(value) == "table" and not getmetatable(value) and #value > 1 and is_list(value)
  return is_row and text:sub(2, -2) or text
end

---Returns the value of an option of mr.fit as text. A model is written as its options, without its parameters. All
---functions have the same text, because fit/script_code compares the code of functions.
---@param round? integer  options of objects have their names before this round of renamings, as in files of earlier
---   versions
---Example:
---```lua
---local loss = mr.losses.ndcg{steepness = 2}
---require("moonrank.system.settings").of_option(loss)   --> ndcg{bound = none, steepness = 2}
---```
function M.of_option(value, round)
  local function refuse(why) check.fail("mr.fit: an option %s", why) end
  local manner = { refuse = refuse, functions = "a function", options_only = true, round = round }
  return text_of(manner, value, {})
end

-- Takes apart the text of a table or an object, `head{a = 1, b = {2,3}}tail`. Returns the head, the texts of its
-- entries by key, such as ".a" or "[1]", and the tail. Returns nil for the text of any other value.
local function taken_apart(text)
  local head = text:match "^[^{\"]*{"
  if not head then return nil end
  local entries, depth, at, first = {}, 1, #head + 1, #head + 1
  local count = 0
  local function add(entry)
    local key, value = entry:match "^%s*([%a_%[][^={}]-) = (.*)$"
    count = count + 1
    if key then entries[key:sub(1, 1) == "[" and key or "." .. key] = value
    elseif entry ~= "" then entries[("[%d]"):format(count)] = entry end
  end
  while depth > 0 do
    local found = text:find('[{},"]', at)
    if not found then return nil end
    local sign = text:sub(found, found)
    at = found + 1
    if sign == '"' then
      local close = at
      while text:sub(close, close) ~= '"' do
        if close > #text then return nil end
        close = close + (text:sub(close, close) == "\\" and 2 or 1)
      end
      at = close + 1
    elseif sign == "{" then depth = depth + 1
    elseif sign == "}" then depth = depth - 1 end
    if depth == 0 or sign == "," and depth == 1 then
      add(text:sub(first, found - 1))
      first = found + 1
    end
  end
  return head:sub(1, -2), entries, text:sub(at)
end

-- Returns an error's words about a part of a setting whose texts differ. `was` is the text in the file and `now` the
-- present one. A text is nil if its setting lacks this part.
local function difference(path, was, now, here)
  local function is_fingerprint(text) return text and #text == 16 and text:find "^%x+$" and text:find "%a" end
  local form = "%s is %s in the file and %s %s"
  if is_fingerprint(was) and is_fingerprint(now) then
    form = "the contents of %s have the fingerprint %s in the file and %s %s"
  end
  return form:format(path, was or "not set", now or "not set", here)
end

---Returns a sentence for each part in which two texts of a setting differ, such as "loss.steepness is 1 in the file and
---5 in this training".
---@param name string  of the setting
---@param was? string  the text in the file
---@param now? string  the present text
---@param here? string  what has the present text (default: in this training)
function M.differences(name, was, now, here)
  here = here or "in this training"
  local found = {}
  local function compare(path, a, b)
    if a == b then return end
    local head, old, tail = taken_apart(a or "")
    local new_head, new, new_tail = taken_apart(b or "")
    if not (old and new) or head == new_head and tail ~= new_tail then
      found[#found + 1] = difference(path, a, b, here)
    elseif head ~= new_head then
      found[#found + 1] = difference(path, head, new_head, here)
    else
      local keys = {}
      for key in pairs(old) do keys[key] = true end
      for key in pairs(new) do keys[key] = true end
      for _, key in ipairs(check.names(keys)) do compare(path .. key, old[key], new[key]) end
    end
  end
  compare(name, was, now)
  return found
end

return M
