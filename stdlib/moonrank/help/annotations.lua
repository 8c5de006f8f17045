-- Writes type annotations (LuaCATS) of the table `mr` and of the library's classes, for editors that do not have the
-- library's sources. `moonrank --dump-api` writes the annotations of the core's classes and of option tables.
local core = require "moonrank.core"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"

local M = {}

local header = [[
---@meta moonrank
-- Written by `moonrank new`; not for editing. It describes `require "moonrank"` to editors.
local mr = {}
]]

-- Appends a function's annotations and its definition without a body to `lines`. `name` is a name such as "mr.fit" or
-- "mr_Run:plot".
local function add_function(lines, name, entry)
  local described, names = entries.describe(entry), {}
  if not described then return end
  for line in (described.text .. "\n"):gmatch "(.-)\n" do lines[#lines + 1] = "---" .. line end
  for i, param in ipairs(described.params) do
    names[i] = param.name
    lines[#lines + 1] = ("---@param %s%s %s %s"):format(param.name, param.optional and "?" or "", param.type,
      param.text)
  end
  for _, result in ipairs(described.returns) do
    lines[#lines + 1] = ("---@return %s %s"):format(result.type, result.text)
  end
  lines[#lines + 1] = ("function %s(%s) end\n"):format(name, table.concat(names, ", "))
end

-- Appends the annotations of a class and its fields to `lines`, and the definition of a local table for its methods.
local function add_class(lines, class, owner)
  lines[#lines + 1] = "---@class " .. class
  for _, field in ipairs(not core.classes[class] and docs.fields(class) or {}) do
    lines[#lines + 1] = ("---@field %s%s %s %s"):format(field.name, field.optional and "?" or "", field.type,
      field.text)
  end
  lines[#lines + 1] = ("local %s = {}\n"):format(owner)
end

---Returns the text of a file with annotations of `mr`: its functions, its modules, and the methods
---and fields of public classes that are written in Lua.
---@return string
---Example: `require("moonrank.help.annotations").text():match "function mr.fit%(%w+%)"   --> function mr.fit(options)`
function M.text()
  local lines, seen = { header }, {}
  for _, entry in ipairs(entries.all()) do
    local class, method = entry.path:match "^(mr%.%u[%w_]*):(%a[%w_]*)$"
    local is_name = entry.path:find "^mr[%w_.]*$" and not entry.path:find "%.%d"
    if class and not (type(entry.value) == "function" and core.describe(entry.value)) then
      local owner = class:gsub("%.", "_")
      if not seen[class] then add_class(lines, class, owner) end
      seen[class] = true
      add_function(lines, owner .. ":" .. method, entry)
    elseif is_name and not entry.getter and not entry.item and not seen[entry.path] then
      seen[entry.path] = true
      if type(entry.value) == "table" then lines[#lines + 1] = entry.path .. " = {}\n"
      else add_function(lines, entry.path, entry) end
    end
  end
  lines[#lines + 1] = "return mr\n"
  return (table.concat(lines, "\n"):gsub(" +\n", "\n"))
end

return M
