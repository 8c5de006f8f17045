-- Results with names: plain tables that print as what they are.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local classes = {}

local most = 6  -- entries of a list that are shown

local function shown(value)
  local kind = type(value)
  if kind == "number" then return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value) end
  if kind == "string" then return core.safe_text(value) end
  if check.is_tensor(value) then
    return value:numel() == 1 and shown(value:item()) or ("{%s} %s"):format(table.concat(value:shape(), ", "), value.dtype)
  end
  if kind == "userdata" and debug.getmetatable(value).__name == "mr.Lists" then
    return ("%d lists, %d rows"):format(value.count, value.rows)
  end
  if kind ~= "table" or (getmetatable(value) or {}).__tostring then return core.safe_text((tostring(value):gsub("\n.*", " ..."))) end
  if #value == 0 and next(value) ~= nil then return "{" .. M.fields(value) .. "}" end
  local parts = {}
  for i = 1, math.min(#value, most) do parts[i] = shown(value[i]) end
  if #value > most then parts[most + 1] = "..." end
  return "{" .. table.concat(parts, ", ") .. "}"
end

---The fields of a table on one line, by name; what begins with _ is left out.
---@param fields table<string, any>
---@return string
---Example: `require("moonrank.record").fields{b = 0.5, a = {1, 2}}   --> a = {1, 2}, b = 0.5`
function M.fields(fields)
  local parts, names = {}, {}
  for name in pairs(fields) do
    if type(name) == "string" and not name:match "^_" then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = ("%s = %s"):format(name, shown(fields[name])) end
  return table.concat(parts, ", ")
end

---The same table, which now prints as its name and its fields.
---@param name string
---@param fields table<string, any>
---@param index? fun(self: table, name: string): any  what other names give; always the same for one name of a table
---@return table
---Example: `require("moonrank.record").new("paired_t", {p = 0.25, n = 3})   --> paired_t{n = 3, p = 0.25}`
function M.new(name, fields, index)
  classes[name] = classes[name] or { __name = name, __index = index,
    __tostring = function(self) return ("%s{%s}"):format(name, M.fields(self)) end }
  return setmetatable(fields, classes[name])
end

return M
