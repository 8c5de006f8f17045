-- What the results of a trial depend on in its script: the function, the functions and values that it reaches, and the script's modules. Edits
-- that change none of this (comments, analysis after the sweep, prints outside) leave it the same.
local core = require "moonrank.core"
local bytecode = require "moonrank.sweep.bytecode"
local check = require "moonrank.check"
local definitions = require "moonrank.definitions"
local fingerprint = require "moonrank.data.fingerprint"
local record = require "moonrank.record"

local M = {}

local modules  -- those that were loaded when a sweep first looked: trials may load more, in one process and not in another

local function digest(text) return core.sha256(text):sub(1, 12) end

local function is_library(name) return name == "moonrank" or name:match "^moonrank%." end

local base = { "assert", "collectgarbage", "dofile", "error", "getmetatable", "ipairs", "load", "loadfile", "next", "pairs", "pcall",
  "print", "rawequal", "rawget", "rawlen", "rawset", "require", "select", "setmetatable", "tonumber", "tostring", "type", "warn", "xpcall" }

-- Values of the program itself, which its version and the numerics' name stand for.
local function own_values()
  local own = { [_G] = true }
  local function add(t)
    if own[t] then return end
    own[t] = true
    for _, value in next, t do
      if type(value) == "function" and debug.getinfo(value, "S").what == "C" then own[value] = true end
    end
  end
  for _, name in ipairs{ "string", "table", "math", "io", "os", "utf8", "coroutine", "debug", "package" } do add(package.loaded[name]) end
  for _, name in ipairs(base) do own[rawget(_G, name) or name] = true end
  for name, value in next, package.loaded do
    if is_library(name) and type(value) == "table" then own[value] = true end
  end
  for _, class in next, core.classes do
    for _, f in next, class.methods do own[f] = true end
  end
  own[io.stdout], own[io.stderr], own[io.stdin] = true, true, true
  return own
end

-- The source of a module without comments and blank lines, as far as that can be told without reading Lua.
local function plain_source(path)
  local file = core.is_file(path) and io.open(path, "rb")
  if not file then return "unknown" end
  local lines = {}
  for line in file:lines() do
    if not line:match "^%s*$" and not line:match "^%s*%-%-[^%[]" and not line:match "^%s*%-%-$" then lines[#lines + 1] = line end
  end
  file:close()
  return table.concat(lines, "\n")
end

-- The line of a module by its name, or nil where it is the program's own, or none.
local function module_line(name)
  local path = not is_library(name) and package.searchpath(name, package.path)
  return path and ("module %s %s"):format(name, digest(plain_source(path))) or nil
end

local function loaded_modules()
  if modules then return modules end
  modules = {}
  for _, name in ipairs(check.names(package.loaded)) do modules[#modules + 1] = module_line(name) end
  return modules
end

---@class mr.sweep.Reached
local Reached = check.class("mr.sweep.Reached")

local function add(self, form, ...) self.lines[#self.lines + 1] = form:format(...) end

-- The files that a function loads when it is called, where their names are written in it.
local function add_loaded(self, path, names, texts)
  local found = false
  for _, text in ipairs(check.names(texts)) do
    local is_name = names.require and text:match "^[%w_%-]+[%w_%-.]*$"
    local line = is_name and (is_library(text) and "" or module_line(text))
      or (names.dofile or names.loadfile) and core.is_file(text) and ("file %s %s"):format(text, digest(plain_source(text)))
    if line and line ~= "" then add(self, "%s", line) end
    found = found or line
  end
  if not found then add(self, "unseen %s: what it loads", path) end
end

-- The globals that a function reads, but for the program's own.
local function add_globals(self, path, environment, names)
  for _, name in ipairs(check.names(names)) do
    local value = rawget(environment, name)
    if value == nil then value = rawget(_G, name) end
    self:value(("%s.%s"):format(path, name), value)
  end
end

local function add_upvalues(self, path, f, uses)
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then return end
    local assigned, read = uses.assigns[i - 1] or {}, uses.reads[i - 1] or {}
    if name == "_ENV" then
      for written in pairs(assigned) do read[written] = nil end
      add_globals(self, path, value, read)
      if read.require or read.dofile or read.loadfile then add_loaded(self, path, read, uses.texts) end
    elseif not assigned[true] or type(value) == "function" then  -- what trials change is no part of what they are
      self:value(("%s.%s"):format(path, name), value, assigned)
    end
  end
end

-- A function is its bytecode, its upvalues and the globals that it reads. Those of the program are looked into for functions of the script alone.
local function add_function(self, path, f)
  local info = debug.getinfo(f, "S")
  if info.what == "C" then
    if not self.own[f] then add(self, "unseen %s: a function of another library", path) end
    return
  end
  if not info.source:match "^@stdlib/" then
    local text, uses = bytecode.of(f)
    add(self, "function %s %s", path, digest(text))
    return add_upvalues(self, path, f, uses)
  end
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then return end
    if type(value) == "function" then self:value(("%s.%s"):format(path, name), value) end
  end
end

-- Keys in an order: numbers, then texts, then flags. Of others nothing is known that stays the same.
local function sorted_keys(t)
  local keys, others = {}, 0
  for key in next, t do
    local kind = type(key)
    if kind == "number" or kind == "string" or kind == "boolean" then keys[#keys + 1] = key else others = others + 1 end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) < type(b) end
    if type(a) == "boolean" then return a and not b end
    return a < b
  end)
  return keys, others
end

-- Plain data are one checksum; functions in them are seen one by one. Fields that trials assign are left out.
local function add_contents(self, path, t, assigned)
  local keys, others = sorted_keys(t)
  local plain, outer = { ("%d other keys"):format(others) }, self.lines
  for _, key in ipairs(keys) do
    if not assigned[key] then
      self.lines = {}
      self:value(("%s.%s"):format(path, core.safe_text(tostring(key))), rawget(t, key))
      for _, line in ipairs(self.lines) do
        table.insert((line:match "^value " or line:match "^table ") and plain or outer, line)
      end
    end
  end
  self.lines = outer
  add(self, "table %s %s", path, digest(table.concat(plain, "\n")))
end

local function add_table(self, path, t, assigned)
  local meta = debug.getmetatable(t)
  local class = type(meta) == "table" and rawget(meta, "__name")
  local ours = type(class) == "string" and class:match "^mr%."
  if class == "mr.Args" or fingerprint.of(t) then return end  -- settings, data: these are compared by themselves
  add_contents(self, path, t, assigned)
  if type(meta) == "table" and not ours then self:value(path .. " metatable", meta) end
end

local function add_userdata(self, path, x)
  if check.is_tensor(x) then return add(self, "value %s %s", path, fingerprint.combined(x)) end
  local lists = fingerprint.of(x)
  if lists then return add(self, "value %s %s", path, lists) end
  local meta = debug.getmetatable(x)
  local class = type(meta) == "table" and rawget(meta, "__name")
  if class == "mr.Metric" then return add(self, "value %s %s{%s}", path, tostring(x), record.fields(x.options)) end
  if type(class) == "string" and class:match "^mr%." then return add(self, "value %s %s", path, tostring(x)) end
  add(self, "unseen %s: a %s", path, class or "userdata")
end

---Adds what a value is to the lines.
---@param path string  how it is reached
---@param value any
---@param assigned? table<any, true>  fields of it that trials assign
function Reached:value(path, value, assigned)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then
    local text = kind == "number" and ("%q"):format(value) or tostring(value)
    return add(self, "value %s = %s", path, #text <= 60 and core.safe_text(text) or digest(text))
  end
  if value == nil or self.own[value] or self.seen[value] then return end
  self.seen[value] = true
  if kind == "function" then return add_function(self, path, value) end
  if kind == "userdata" then return add_userdata(self, path, value) end
  if kind == "thread" then return add(self, "unseen %s: a coroutine", path) end
  add_table(self, path, value, assigned or {})
end

---What a function depends on, a line for each: functions, values, tables that it reaches, modules; "unseen" where that cannot be told.
---@param run function
---@return string
---Example: `require("moonrank.sweep.code").of(function() return 1 end):match "^%w+ %w+"   --> function run`
function M.of(run)
  local reached = setmetatable({ lines = {}, seen = {}, own = own_values() }, Reached)
  reached:value("run", run)
  for _, name in ipairs(check.names(definitions.all)) do reached:value(name, definitions.all[name]) end
  table.move(loaded_modules(), 1, #loaded_modules(), #reached.lines + 1, reached.lines)
  return table.concat(reached.lines, "\n")
end

return M
