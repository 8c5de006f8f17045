-- One session of random calls with a seed. Each call is written to a file as a line of Lua before it is made, so that a
-- session that crashes the program can be replayed and shortened.
local core = require "moonrank.core"
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local functions = dofile(here .. "functions.lua")
local values = dofile(here .. "values.lua")
local templates, ends = dofile(here .. "templates.lua")
local claims = dofile(here .. "claims.lua")

local M = {}

local most_kept, most_entries, slow = 30, 20000, 5.0  -- processor seconds

---Environment in which recorded lines run: functions by name, and the number of calls of each that
---succeeded.
---@return { v: any[], run: fun(line: string), worked: table<string, integer>, found: string[] }
function M.replay()
  local by_name, worked, found, damage = {}, {}, {}, claims.watch()
  for _, each in ipairs(functions.all()) do by_name[each.name] = each end
  local function claim(text, name) found[#found + 1] = text and ("%s %s"):format(name, text) end
  local function call(name, ...)
    local began = os.clock()
    local arguments, results = table.pack(...), table.pack(pcall(by_name[name].call, ...))
    local took = os.clock() - began
    if took > slow then found[#found + 1] = ("%s took %.1f s"):format(name, took) end
    claim(damage(name, arguments), name)
    if results[1] then
      worked[name] = (worked[name] or 0) + 1
      local _, wrong = pcall(claims.broken, name, arguments, { table.unpack(results, 2, results.n) })
      claim(wrong, name)
      return table.unpack(results, 2, math.min(results.n, 4))
    end
    local said = type(results[2]) == "string" and results[2] or getmetatable(results[2]) and "" or "error without text"
    if M.unclear(said) then found[#found + 1] = name .. ": " .. core.safe_text(said) end
    return nil, said
  end
  local v = {}
  local function i64(values_of) return mr.tensor(values_of, { dtype = "int64", device = "cpu" }) end
  local scope = setmetatable({ v = v, call = call, mr = mr, core = core, i64 = i64 }, { __index = _G })
  -- errors are ignored, because an argument may need the result of a line that was left out of a shortened session
  local function run(line) pcall(assert(load(line, "=call", "t", scope))) end
  return { v = v, run = run, worked = worked, found = found }
end

-- Phrases that never occur in Moonrank's own messages.
local inner = { "attempt to", "std::", "basic_string", "vector::", "_M_", "unordered_map", "stoi", "stod",
  "stack overflow", "error without text", "filesystem error", "not enough memory", "terminate", "assert" }

---True if an error comes from the language or a library, not from Moonrank.
---@param said string
---@return boolean
function M.unclear(said)
  for _, each in ipairs(inner) do
    if said:find(each, 1, true) then return true end
  end
  return false
end

---Random numbers from 1 to n, the same everywhere.
---@param seed integer
---@return fun(n: integer): integer
function M.generator(seed)
  local state = seed
  return function(n)
    state = (state * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff
    return (state >> 33) % n + 1
  end
end

-- Keeps objects for later random calls, as Lua expressions by class: initial objects, which stay, and results of calls,
-- of which new ones replace old ones.
local function shelf(random)
  local first, kept = {}, {}
  local self = {}
  function self.begin(class, text)
    first[class] = first[class] or {}
    table.insert(first[class], text)
  end
  function self.put(class, text)
    kept[class] = kept[class] or {}
    local list = kept[class]
    list[#list < most_kept and #list + 1 or random(#list)] = text
  end
  function self.take(class)
    local list = kept[class] and (not first[class] or random(2) == 1) and kept[class] or first[class]
    return list and values.pick(random, list) or "nil"
  end
  return self
end

-- Adds a call's result to the objects that later calls may use; `text` is the Lua expression for it.
local function keep(on, value, text, deep)
  if type(value) == "userdata" then
    local class = (debug.getmetatable(value) or {}).__name
    if class == "mr.Tensor" and value:numel() > most_entries then return end
    if class then on.put(class, text) end
  elseif type(value) == "table" and not deep and not getmetatable(value) then
    local names = {}
    for name in pairs(value) do
      if type(name) == "string" or name == 1 then names[#names + 1] = tostring(name) end
    end
    table.sort(names)
    for _, name in ipairs(names) do
      local key = name == "1" and 1 or name
      keep(on, value[key], ("%s[%s]"):format(text, key == 1 and "1" or ("%q"):format(name)), true)
    end
  end
end

-- Collects the words that an error names as valid values, to use them as arguments of later calls.
local function learn(into, said)
  local expected = said:match "There are: (.*)" or said:match "expected (.*)" or said:match "known: (.*)"
  if not expected then return end
  for word in expected:gmatch "[%w_@%.%-]+" do
    if #into < 60 then into[#into + 1] = word end
  end
end

-- Starts a session of random calls with this seed, which writes each call to `record`.
local function begin(seed, record)
  local random = M.generator(seed)
  local self = { random = random, on = shelf(random), session = M.replay(), words = {}, good = {} }
  function self.run(line)
    record:write(line, "\n")
    record:flush()
    self.session.run(line)
  end
  return self
end

-- Calls a function with these arguments. Arguments of a successful call are kept, to be tried again with changes.
local function make(self, each, arguments, number)
  local v, at = self.session.v, 4 * number
  local results = ("v[%d], v[%d], v[%d]"):format(at, at + 1, at + 2)
  local before = self.session.worked[each.name]
  self.run(("%s = call(%s)"):format(results, table.concat({ ("%q"):format(each.name), table.unpack(arguments) }, ", ")))
  if self.session.worked[each.name] ~= before then
    self.good[each.name] = self.random(4) == 1 and arguments or self.good[each.name] or arguments
  elseif type(v[at + 1]) == "string" then
    learn(self.words[each.name], v[at + 1])
  end
  for i = 0, 2 do keep(self.on, v[at + i], ("v[%d]"):format(at + i)) end
end

-- Makes one random call of a function: with all arguments random, or with one argument of an earlier successful call
-- changed.
local function step(self, each, number)
  local random, arguments = self.random, {}
  local function object(class) return self.on.take(class) end
  local good = random(3) > 1 and self.good[each.name] or nil
  local changed = good and random(math.max(#each.types, 1))
  for i, kind in ipairs(each.types) do
    arguments[i] = good and i ~= changed and good[i]
      or values.of_type(random, kind, each.names[i] or "", self.words[each.name], object)
  end
  make(self, each, arguments, number)
end

---Names of what is called and can work.
---@return string[]
function M.names()
  local names = {}
  for _, each in ipairs(functions.all()) do
    if not functions.fail_here[each.name] then names[#names + 1] = each.name end
  end
  return names
end

local function named(list, name)
  for _, each in ipairs(list) do
    if each.name == name then return each end
  end
end

---Makes random calls.
---@param seed integer
---@param count integer  of calls
---@param record file*   gets each call before it is made
---@return { worked: table<string, integer>, found: string[] }
function M.calls(seed, count, record)
  local self, list = begin(seed, record), functions.all()
  local grows = pcall(core.xgboost_version)
  for i, first in ipairs(values.first) do
    if grows or first[3] ~= "trees" then
      self.run(("v[%d] = %s"):format(-i, first[2]))
      self.on.begin(first[1], ("v[%d]"):format(-i))
    end
  end
  for i, each in ipairs(list) do
    local template = templates[each.name]
    self.words[each.name] = {}
    if template and (grows or not template.needs) then
      self.good[each.name] = template
      make(self, each, template, count + i)
    end
  end
  for i, each in ipairs(ends) do make(self, named(list, each[1]), { table.unpack(each, 2) }, count + #list + i) end
  for number = 1, count do step(self, list[self.random(#list)], number) end
  return self.session
end

return M
