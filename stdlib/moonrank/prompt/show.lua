-- Makes the texts that the prompt shows for values. Tables are shown two levels deep and never fill more than a screen,
-- functions are shown by their documentation, and other objects as they print themselves.
local brief = require "moonrank.table.brief"
local core = require "moonrank.core"
local terminal = require "moonrank.system.terminal"
-- debug.getmetatable also returns protected metatables, such as those of tensors and lists
local getmetatable = debug.getmetatable

local M = {}

local longest <const> = 40        -- largest number of a table's entries that are shown
local usual_width <const> = 100   -- largest number of characters of a line if the terminal's width is not known

local function quoted(text) return core.safe_text((("%q"):format(text):gsub("\\\n", "\\n"))) end

local function key_text(key)
  if type(key) == "string" and key:match "^[%a_][%w_]*$" then return key end
  return "[" .. (type(key) == "string" and quoted(key) or core.safe_text(tostring(key))) .. "]"
end

---Returns true for a table without a class: its metatable, if it has one, has neither `__name` nor `__tostring`.
---Example: `require("moonrank.prompt.show").is_plain{1, 2}   --> true`
function M.is_plain(value)
  if type(value) ~= "table" then return false end
  local meta = getmetatable(value)
  return type(meta) ~= "table" or rawget(meta, "__tostring") == nil and rawget(meta, "__name") == nil
end

---Returns the name of a module of the library, such as "mr" or "mr.losses"; nil for other tables.
---Example: `require("moonrank.prompt.show").module_name(mr.losses)   --> mr.losses`
function M.module_name(t)
  local shortest  -- the shortest name, because a module such as `mr` may be loaded under two names
  for name, loaded in next, package.loaded do
    local is_module = rawequal(loaded, t) and name:match "^moonrank%f[.%z]" and name ~= "moonrank.core"
    if is_module and (not shortest or #name < #shortest) then shortest = name end
  end
  return shortest and (shortest:gsub("^moonrank", "mr"))
end

-- Returns the keys of a table other than the indices 1 to `after`, sorted by type and value: numbers before names.
local function sorted_keys(t, after)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= after) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "number" or type(a) == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

-- Returns a text in at most `width` columns, with "..." at its end if it is cut.
local function cut(text, width)
  local length = utf8.len(text) or #text
  if length <= width then return text end
  local last = utf8.len(text) and utf8.offset(text, math.max(1, width - 2)) or math.max(1, width - 2)
  return text:sub(1, last - 1) .. "..."
end

-- Returns how many entries a table has, as text: "{... 3 entries}" for a list, "{...}" for other tables.
local function closed(t)
  if next(t) == nil then return "{}" end
  local count = rawlen(t)
  return count > 0 and ("{... %d %s}"):format(count, count == 1 and "entry" or "entries") or "{...}"
end

local entry_text

-- Returns a table's first entries as texts, and their number. `inside` is a set of the tables around it.
local function entries_of(t, levels, width, inside)
  local parts, n = {}, rawlen(t)
  inside[t] = true
  for i = 1, math.min(n, longest) do parts[i] = entry_text(rawget(t, i), levels, width, inside) end
  local keys = sorted_keys(t, n)
  for i = 1, math.min(#keys, longest - #parts) do
    local head = key_text(keys[i]) .. " = "
    parts[#parts + 1] = head .. entry_text(rawget(t, keys[i]), levels, math.max(1, width - #head), inside)
  end
  inside[t] = nil
  return parts, n + #keys
end

-- Returns a table as text on one line of at most `width` columns. Entries that do not fit are counted. Tables within
-- the table are shown if `levels` is above 1. A table that contains itself is shown as a cycle.
local function inline(t, levels, width, inside)
  if inside[t] then return "{cycle}" end
  if levels == 0 or next(t) == nil then return closed(t) end
  local parts, count = entries_of(t, levels - 1, width, inside)
  local whole = "{" .. table.concat(parts, ", ") .. "}"
  if #parts == count and #whole <= width then return whole end
  local line = "{"
  for i, part in ipairs(parts) do
    local more = (", ... %d more}"):format(count - i)
    if #line + #part + 2 + #more > width then
      return i > 1 and ("%s, ... %d more}"):format(line, count - i + 1) or closed(t)
    end
    line = line .. (i > 1 and ", " or "") .. part
  end
  return ("%s, ... %d more}"):format(line, count - #parts)
end

function entry_text(value, levels, width, inside)
  if type(value) == "string" then return cut(quoted(value), width) end
  if type(value) == "function" then return "function" end
  local module = type(value) == "table" and M.module_name(value)
  if module then return "module " .. module end
  if M.is_plain(value) then return inline(value, levels, width, inside) end
  return cut(brief.text(value), width)
end

-- Returns the texts of entries in lines of at most `width` columns. Only entries that are not tables and have no name
-- share a line.
local function filled(t, parts, width)
  local lines, n = {}, rawlen(t)
  for i, part in ipairs(parts) do
    local joins = i > 1 and i <= n and type(rawget(t, i)) ~= "table" and type(rawget(t, i - 1)) ~= "table"
    if joins and #lines[#lines] + 2 + #part < width then
      lines[#lines] = lines[#lines] .. ", " .. part
    else
      if i > 1 then lines[#lines] = lines[#lines] .. "," end
      lines[#lines + 1] = "  " .. part
    end
  end
  return lines
end

-- Returns a table as text: on one line if it fits, else with a line for each named entry.
local function table_text(t, width)
  local parts, count = entries_of(t, 1, width - 3, {})
  local line = "{" .. table.concat(parts, ", ") .. "}"
  if #parts == count and #line <= width then return line end
  local lines = filled(t, parts, width)
  if count > #parts then
    lines[#lines] = lines[#lines] .. ","
    lines[#lines + 1] = ("  ... (%d more)"):format(count - #parts)
  end
  return "{\n" .. table.concat(lines, "\n") .. "\n}"
end

-- Returns the full name of a method of the core, such as "mr.Tensor:shape"; nil for other functions.
local function method_name(f)
  for class, parts in pairs(core.classes) do
    for name, method in pairs(parts.methods) do
      if method == f then return class .. ":" .. name end
    end
  end
end

-- Returns the full name of a function of a loaded module, such as "mr.models.mf"; nil for other functions.
local function function_name(f)
  for name, loaded in next, package.loaded do
    local module = type(loaded) == "table" and name:match "^moonrank%.?%l*$" and M.module_name(loaded)
    for key, value in next, module and loaded or {} do
      if rawequal(value, f) then return module .. "." .. tostring(key) end
    end
  end
end

-- Returns what a function is: its arguments and the first sentence of its documentation, or else where it is defined.
local function function_text(f)
  local method = method_name(f)
  if method then
    return ("%s, a method: x%s(...) calls it, ?%s describes it"):format(method, method:match ":.*", method)
  end
  local entries = require "moonrank.help.entries"
  local described = entries.describe{ value = f, path = function_name(f) }
  if described then return ("function %s: %s"):format(described.title, entries.first_sentence(described.text)) end
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return tostring(f) end
  return ("%s, defined in %s:%d"):format(tostring(f), info.short_src, info.linedefined)
end

---Returns the text that the prompt shows for a value. A table without a class is shown by its first 40 entries and the
---tables in them, a function by its documentation or the place of its definition, and any other value by tostring.
---@param width? integer  columns of a line; default 100
---Example: `require("moonrank.prompt.show").text{1, {2, 3}, name = "x"}   --> {1, {2, 3}, name = "x"}`
function M.text(value, width)
  if M.is_plain(value) then return table_text(value, width or usual_width) end
  if type(value) == "function" then
    return require("moonrank.help.wrap").text(core.safe_text(function_text(value), true), width)
  end
  return core.safe_text(tostring(value), true)
end

---Returns values as the function `print` writes them: a table without a class as the prompt shows it.
---Any other value, and a module of the library, is returned unchanged.
---@param ... any
---@return any ...
---Example: `require("moonrank.prompt.show").printed({1, 2}, "x")   --> {1, 2}, x`
function M.printed(...)
  local values = table.pack(...)
  for i = 1, values.n do
    local is_shown = M.is_plain(values[i]) and not M.module_name(values[i])
    if is_shown then values[i] = M.text(values[i], terminal.width()) end
  end
  return table.unpack(values, 1, values.n)
end

return M
