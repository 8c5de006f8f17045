-- Writes type annotations (LuaCATS) for editors. `text` describes the C++ core and option tables, which the Lua sources
-- do not annotate; the build stores it in `meta/moonrank.lua`. `library` describes `mr` to editors that do not have the
-- library's sources.
local core = require "moonrank.core"
local check = require "moonrank.check"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"

local M = {}

local header_of_core = [[
---@meta
-- Written by `moonrank --dump-api`; not for editing, and not for `require`.
error("this file describes Moonrank to editors; it cannot be required")

---@class mr.core
local core = {}
]]

local header_of_library = [[
---@meta moonrank
-- Written by `moonrank new`; not for editing. It describes `require "moonrank"` to editors.
local mr = {}
]]

-- Appends a function's annotations and its definition without a body to `lines`. `name` is a name such as "mr.fit" or
-- "mr_Run:plot". A function without documentation is left out.
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

-- Appends the annotations of a class and its fields to `lines`.
local function add_class(lines, class, fields)
  lines[#lines + 1] = "---@class " .. class
  for _, field in ipairs(fields) do
    lines[#lines + 1] = ("---@field %s%s %s %s"):format(field.name, field.optional and "?" or "", field.type,
      field.text)
  end
end

-- Returns a name with "_" in place of dots. It is the name of the local table to which a class's methods are added
-- ("mr_Run"), or of a method in this table ("mr_Run:plot").
local function owner_of(path) return (path:gsub("%.", "_")) end

local function finished(lines) return (table.concat(lines, "\n"):gsub(" +\n", "\n")) end

---Returns the text of `meta/moonrank.lua`: LuaCATS annotations of the core and of option tables.
---Example: `require "moonrank.help.dump_api".text():match "^[^\n]*"   --> ---@meta`
function M.text()
  local lines = { header_of_core }
  for _, name in ipairs(check.names(core)) do
    if type(core[name]) == "function" then add_function(lines, "core." .. name, { value = core[name] }) end
  end
  for _, class in ipairs(check.names(core.classes)) do
    local parts, fields = core.classes[class], {}
    for _, name in ipairs(check.names(parts.getters)) do
      local row = name ~= "[]" and core.describe(parts.getters[name])
      if row then fields[#fields + 1] = { name = name, type = row.types[#row.types], text = row.doc } end
    end
    add_class(lines, class, fields)
    lines[#lines + 1] = ("local %s = {}\n"):format(owner_of(class))
    for _, name in ipairs(check.names(parts.methods)) do
      local method, path = parts.methods[name], class .. ":" .. name
      if core.describe(method) then add_function(lines, owner_of(path), { path = path, value = method }) end
    end
  end
  for _, name in ipairs(docs.option_names()) do
    add_class(lines, name, docs.fields(name))
    lines[#lines + 1] = ""
  end
  lines[#lines + 1] = "return core"
  return finished(lines)
end

---Returns LuaCATS annotations of `mr`: its functions, its modules, and the methods and fields of
---public classes that are written in Lua.
---Example: `require("moonrank.help.dump_api").library():match "function mr.fit%(%w+%)"   --> function mr.fit(options)`
function M.library()
  local lines, seen = { header_of_library }, {}
  for _, entry in ipairs(entries.all()) do
    local class = entry.path:match "^(mr%.%u[%w_]*):%a[%w_]*$"
    local is_name = entry.path:find "^mr[%w_.]*$" and not entry.path:find "%.%d"
    if class and not (type(entry.value) == "function" and core.describe(entry.value)) then
      if not seen[class] then
        add_class(lines, class, not core.classes[class] and docs.fields(class) or {})
        lines[#lines + 1] = ("local %s = {}\n"):format(owner_of(class))
      end
      seen[class] = true
      add_function(lines, owner_of(entry.path), entry)
    elseif is_name and not entry.getter and not entry.item and not seen[entry.path] then
      seen[entry.path] = true
      if type(entry.value) == "table" then lines[#lines + 1] = entry.path .. " = {}\n"
      else add_function(lines, entry.path, entry) end
    end
  end
  lines[#lines + 1] = "return mr\n"
  return finished(lines)
end

return M
