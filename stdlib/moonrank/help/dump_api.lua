-- Writes type annotations (LuaCATS) for editors: of functions and classes of the C++ core, and of option tables, which
-- the Lua sources do not annotate. The build stores the annotations in `meta/moonrank.lua`.
local core = require "moonrank.core"
local M = {}

local check = require "moonrank.check"
local docs = require "moonrank.help.docs"

local header = [[
---@meta
-- Written by `moonrank --dump-api`; not for editing, and not for `require`.
error("this file describes Moonrank to editors; it cannot be required")

---@class mr.core
local core = {}
]]

local function add_function(lines, owner, separator, name, row)
  lines[#lines + 1] = "---" .. row.doc
  local names, shown, arrow = {}, {}, false
  for argument in row.arguments:gmatch "[^,%s]+" do names[#names + 1] = argument end
  for i, kind in ipairs(row.types) do
    if kind == "->" then arrow = true
    elseif arrow then lines[#lines + 1] = "---@return " .. kind
    elseif not (i == 1 and separator == ":") then
      local argument = names[i]:gsub("%?$", "")
      shown[#shown + 1] = argument
      lines[#lines + 1] = ("---@param %s%s %s"):format(argument, kind:match "%?$" or "", (kind:gsub("%?$", "")))
    end
  end
  lines[#lines + 1] = ("function %s%s%s(%s) end\n"):format(owner, separator, name, table.concat(shown, ", "))
end

local function add_options(lines, name)
  lines[#lines + 1] = "---@class " .. name
  for _, field in ipairs(docs.fields(name)) do
    lines[#lines + 1] = ("---@field %s%s %s %s"):format(field.name, field.optional and "?" or "",
      field.type, field.text)
  end
  lines[#lines + 1] = ""
end

---Returns the text of `meta/moonrank.lua`: LuaCATS annotations of the core and of option tables.
---@return string
---Example: `require "moonrank.help.dump_api".text():match "^[^\n]*"   --> ---@meta`
function M.text()
  local lines = { header }
  for _, name in ipairs(check.names(core)) do
    local row = type(core[name]) == "function" and core.describe(core[name])
    if row then add_function(lines, "core", ".", name, row) end
  end
  for _, class in ipairs(check.names(core.classes)) do
    local parts = core.classes[class]
    local owner = class:gsub("%.", "_")
    lines[#lines + 1] = "---@class " .. class
    for _, name in ipairs(check.names(parts.getters)) do
      local row = name ~= "[]" and core.describe(parts.getters[name])
      if row then lines[#lines + 1] = ("---@field %s %s %s"):format(name, row.types[#row.types], row.doc) end
    end
    lines[#lines + 1] = ("local %s = {}\n"):format(owner)
    for _, name in ipairs(check.names(parts.methods)) do
      local row = core.describe(parts.methods[name])
      if row then add_function(lines, owner, ":", name, row) end
    end
  end
  for _, name in ipairs(docs.option_names()) do add_options(lines, name) end
  lines[#lines + 1] = "return core"
  return table.concat(lines, "\n")
end

return M
