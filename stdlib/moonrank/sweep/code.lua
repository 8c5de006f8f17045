-- What the results of a trial depend on in its script: the function, the functions and values that it reaches, and the script's modules. Edits
-- that change none of this (comments, analysis after the sweep, prints outside) leave it the same.
local core = require "moonrank.core"
local bytecode = require "moonrank.sweep.bytecode"
local check = require "moonrank.check"
local definitions = require "moonrank.definitions"
local fingerprint = require "moonrank.data.fingerprint"

local M = {}

-- Tables are what they were when a sweep first saw them, modules those that were loaded then: trials may fill a cache or load more, in one
-- process and not in another.
local known, modules = setmetatable({}, { __mode = "k" }), nil

local function digest(text) return core.sha256(text):sub(1, 12) end

local function is_library(name) return name == "moonrank" or name:match "^moonrank%." end

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

local function loaded_modules()
  if modules then return modules end
  modules = {}
  for _, name in ipairs(check.names(package.loaded)) do
    local path = not is_library(name) and package.searchpath(name, package.path)
    if path then modules[#modules + 1] = ("module %s %s"):format(name, digest(plain_source(path))) end
  end
  return modules
end

---@class mr.sweep.Reached
local Reached = check.class("mr.sweep.Reached")

local function add(self, form, ...) self.lines[#self.lines + 1] = form:format(...) end

-- A function is its bytecode and its upvalues. Those of the program are looked into for functions of the script alone.
local function add_function(self, path, f)
  local info = debug.getinfo(f, "S")
  local ours = info.source:match "^@stdlib/"
  if info.what == "C" then
    if not self.own[f] then add(self, "unseen %s: a function of another library", path) end
    return
  end
  local assigns = {}
  if not ours then
    local text
    text, assigns = bytecode.of(f)
    add(self, "function %s %s", path, digest(text))
  end
  for i = 1, math.huge do
    local name, value = debug.getupvalue(f, i)
    if not name then break end
    local counter = assigns[i] and type(value) ~= "function"  -- what trials change is no part of what they are
    if type(value) == "function" or not ours and not counter then self:value(("%s.%s"):format(path, name), value) end
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

-- Plain data are one checksum; functions in them are seen one by one.
local function contents(self, t)
  local keys, others = sorted_keys(t)
  local plain, lines, outer, seen = { ("%d other keys"):format(others) }, {}, self.lines, self.seen
  self.seen = { [t] = true }  -- what it holds does not depend on how it is reached
  for _, key in ipairs(keys) do
    self.lines = {}
    self:value("." .. core.safe_text(tostring(key)), rawget(t, key))
    for _, line in ipairs(self.lines) do
      local is_plain = line:match "^value " or line:match "^table "
      table.insert(is_plain and plain or lines, line)
    end
  end
  self.lines, self.seen = outer, seen
  table.insert(lines, 1, ("table  %s"):format(digest(table.concat(plain, "\n"))))
  return lines
end

local function add_table(self, path, t)
  local meta = debug.getmetatable(t)
  local class = type(meta) == "table" and rawget(meta, "__name")
  local ours = type(class) == "string" and class:match "^mr%."
  if class == "mr.Args" or fingerprint.of(t) then return end  -- settings, data: these are compared by themselves
  if not known[t] then
    known[t] = {}  -- where it holds itself
    known[t] = contents(self, t)
  end
  for _, line in ipairs(known[t]) do
    local word, rest = line:match "^(%w+) (.*)$"
    add(self, "%s %s%s", word, path, rest)
  end
  if type(meta) == "table" and not ours then self:value(path .. " metatable", meta) end
end

local function add_userdata(self, path, x)
  if check.is_tensor(x) then return add(self, "value %s %s", path, fingerprint.combined(x)) end
  if fingerprint.of(x) then return end
  local meta = debug.getmetatable(x)
  local class = type(meta) == "table" and rawget(meta, "__name")
  if type(class) == "string" and class:match "^mr%." then return add(self, "value %s %s", path, tostring(x)) end
  add(self, "unseen %s: a %s", path, class or "userdata")
end

---Adds what a value is to the lines.
---@param path string  how it is reached
---@param value any
function Reached:value(path, value)
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
  add_table(self, path, value)
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
