-- Reads the documentation in the comments of Lua source files. A file is parsed when its documentation is first needed.
local core = require "moonrank.core"
local check = require "moonrank.check"
local luacats = require "moonrank.help.luacats"
local options = require "moonrank.options"

local M = {}

local parsed = {}

---Returns the parsed documentation comments of a Lua source file, of the standard library or of a
---script; nil if the file cannot be read.
---@return table?  header, items and classes, as moonrank.help.luacats.parse returns them
function M.of_source(source)
  if parsed[source] == nil then
    local text = source:match "^stdlib/" and core.stdlib_text(source)
    local file = not text and core.is_file(source) and io.open(source, "r")
    if file then
      text = file:read "a"
      file:close()
    end
    parsed[source] = text and luacats.parse(text) or false
  end
  return parsed[source] or nil
end

---Returns the names of all source files of the standard library, sorted.
---Example: `require "moonrank.help.docs".sources()[1]   --> stdlib/moonrank/args.lua`
function M.sources()
  local all = {}
  for _, name in ipairs(core.embedded_names()) do
    if name:match "^stdlib/moonrank/" then all[#all + 1] = name end
  end
  table.sort(all)
  return all
end

-- maps the name of an option table to the source file that declares the table; nil until `declaring_files` is first
-- called
local declared_in
-- Returns a map from the name of each option table, such as "mr.FitOptions", to the file that declares it.
local function declaring_files()
  if declared_in then return declared_in end
  declared_in = {}
  for _, source in ipairs(M.sources()) do
    for _, name in ipairs(M.of_source(source).declared) do declared_in[name] = source end
  end
  return declared_in
end

-- Returns an option table in the form of a documented class, and its file; nil if none has this name.
local function option_class(name)
  local source = declaring_files()[name]
  if not source then return nil end
  if not options.declared[name] then require((source:match "^stdlib/(.*)%.lua$":gsub("/", "."):gsub("%.init$", ""))) end
  local declaration = options.declared[name]
  return declaration and { fields = declaration:fields(), text = "", parents = {} }, source
end

---Returns the names of all option tables (such as mr.FitOptions) that the library declares, sorted.
---Example: `require "moonrank.help.docs".option_names()[1]:match "^mr%."   --> mr.`
function M.option_names() return check.names(declaring_files()) end

---Returns whether the library declares an option table with this name.
---Example: `require "moonrank.help.docs".is_option_table "mr.FitOptions"   --> true`
function M.is_option_table(name) return declaring_files()[name] ~= nil end

---Returns the documentation of a class or an option table of the standard library; nil if none has this name.
---@return table?  fields, text, parents
---@return string? source  the file that declares it
---Example: `require "moonrank.help.docs".class("mr.FitOptions").fields[1].name   --> model`
function M.class(name)
  local option_table, declared_at = option_class(name)
  if option_table then return option_table, declared_at end
  for _, source in ipairs(M.sources()) do
    local class = M.of_source(source).classes[name]
    if class then return class, source end
  end
end

---Returns the names of all classes such as "mr.Tensor", sorted. Option tables and classes within a
---module ("mr.plot.Axes") are left out.
function M.class_names()
  local found, seen = {}, {}
  local function add(name)
    if name:match "^mr%.%u%w*$" and not name:match "Options$" and not seen[name] then
      seen[name] = true
      found[#found + 1] = name
    end
  end
  for _, source in ipairs(M.sources()) do
    for name in pairs(M.of_source(source).classes) do add(name) end
  end
  for name in pairs(core.classes) do add(name) end
  table.sort(found)
  return found
end

local internal = {}
for _, name in ipairs{ "AffineBound", "Booster", "Capture", "Channel", "Database", "Exit", "FileLock", "Group",
  "HttpServer", "ItemNeighbours", "MetricRegistry", "OptimizerState", "Phase", "Positives", "Profiler",
  "RunningProfile", "Tally", "UserItems" } do
  internal["mr." .. name] = true
end

---Returns whether a class is internal: scripts never get its objects, so the manual and the search
---leave it out.
---Example: `require "moonrank.help.docs".is_internal "mr.Tensor"   --> false`
function M.is_internal(name) return internal[name] == true end

---Returns the documented fields of a class, followed by the fields of its parent classes; nil if no
---class has this name, or if the class is of the C++ core.
---@return mr.luacats.Entry[]?
---Example: `#require "moonrank.help.docs".fields("mr.args.Declaration") > 0   --> true`
function M.fields(name)
  local class = M.class(name)
  if not class or core.classes[name] then return nil end
  local fields = table.move(class.fields, 1, #class.fields, 1, {})
  for _, parent in ipairs(class.parents) do
    local more = M.fields(parent) or {}
    table.move(more, 1, #more, #fields + 1, fields)
  end
  return fields
end

---Returns the documentation of a Lua function (nil if it has none), its source file and its line.
---Returns only nil for a function in C.
---@return mr.luacats.Item?
---Example: `require "moonrank.help.docs".item(mr.arange).name   --> arange`
function M.item(f)
  local info = debug.getinfo(check.inner(f), "S")
  if info.what == "C" then return nil end
  local source = info.source:gsub("^@", "")
  local read = M.of_source(source)
  return read and read.by_line[info.linedefined], source, info.linedefined
end

return M
