-- The search space of a sweep: a table of parameters and of conditions under which parameters exist. A space
-- enumerates, draws and describes combinations of parameters.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local digits = require "moonrank.system.digits"
local parts = require "moonrank.sweep.search.parts"

local M = {}

---@class mr.sweep.Entry
---@field name string          of the parameter
---@field part mr.sweep.Part   its possible values
---@field slot integer         its index among all entries of the space
---@field branches table[]     conditions (mr.when) on the parameter: values (a set), label, entries

---@class mr.sweep.Space
local Space = check.class("mr.sweep.Space")

local most = 2 ^ 53  -- largest number of combinations in a grid

local function check_named(where, key, value)
  check.identifier(where, "the name of a parameter", key)
  if parts.is_when(value) then
    check.fail("%s.%s is a mr.when, which has no name. Write it without '%s ='", where, key, key)
  end
  check.expect(parts.is_part(value), where, key, value,
    "a parameter: mr.choice, mr.range, mr.integer, mr.uniform, mr.loguniform or mr.seeds")
end

local build

-- Adds a condition (mr.when) to the parameter on which it depends. That parameter must be in the same table.
local function add_condition(where, entries, condition, slots)
  local entry
  for _, each in ipairs(entries) do
    if each.name == condition.name then entry = each end
  end
  if not entry then
    local names = {}
    for i, each in ipairs(entries) do names[i] = each.name end
    check.unknown(("parameter of %s for a mr.when"):format(where), condition.name, names)
  end
  local label = ("%s (%s)"):format(where, tostring(condition))
  local set = {}
  for _, value in ipairs(condition.values) do
    check.expect(entry.part.kind ~= "uniform" and entry.part.kind ~= "loguniform", label, entry.name,
      tostring(entry.part), "mr.choice, mr.range or mr.integer, because a mr.when names single values")
    check.expect(entry.part:contains(value), label, "a value of " .. entry.name, value, "a value of %s", entry.part)
    set[value] = true
  end
  table.insert(entry.branches, { values = set, label = condition:text(),
    entries = build(label, condition.parts, slots) })
end

function build(where, t, slots)
  local names, conditions, entries = {}, {}, {}
  for key, value in pairs(t) do
    if type(key) == "string" then
      check_named(where, key, value)
      names[#names + 1] = key
    else
      if parts.is_part(value) then
        check.fail("%s[%s] is %s without a name. Write name = %s", where, tostring(key), tostring(value),
          tostring(value))
      end
      check.expect(parts.is_when(value), where, ("[%s]"):format(tostring(key)), value,
        "a parameter with a name, such as lr = mr.uniform(0, 1), or a mr.when")
      conditions[#conditions + 1] = { key = key, condition = value }
    end
  end
  check.not_empty(where, "the space", names, "parameter")
  table.sort(names)
  for i, name in ipairs(names) do
    slots.count = slots.count + 1
    entries[i] = { name = name, part = t[name], slot = slots.count, branches = {} }
    slots[slots.count] = entries[i]
  end
  table.sort(conditions, function(a, b) return a.key < b.key end)
  for _, each in ipairs(conditions) do add_condition(where, entries, each.condition, slots) end
  return entries
end

local function overlap(a, b)
  for value in pairs(a) do
    if b[value] then return true end
  end
  return false
end

local function check_distinct(a, b)
  for name in pairs(b) do
    if a[name] then
      check.fail("space.%s is given twice, and both parameters may exist in one trial. Rename one of them", name)
    end
  end
end

-- Returns the set of names of the parameters in `entries` and in the conditions (mr.when) on these parameters. Raises
-- an error if two parameters of one name can exist in the same combination.
local function names_below(entries)
  local all = {}
  for _, entry in ipairs(entries) do
    local own, below = { [entry.name] = true }, {}
    for i, branch in ipairs(entry.branches) do
      below[i] = names_below(branch.entries)
      check_distinct({ [entry.name] = true }, below[i])
      for j = 1, i - 1 do
        if overlap(branch.values, entry.branches[j].values) then check_distinct(below[j], below[i]) end
      end
      for name in pairs(below[i]) do own[name] = true end
    end
    check_distinct(all, own)
    for name in pairs(own) do all[name] = true end
  end
  return all
end

local check_space = arguments{ "space", "table", accept = function(t) return not getmetatable(t) end,
  expected = "a table of parameters" }

---Makes a search space from parameters by name and conditions (`mr.when`); a search space is returned unchanged.
---@param t table|mr.sweep.Space
---Example: `require("moonrank.sweep.search.space").new{a = mr.choice{1, 2}, b = mr.range(1, 3)}:count()   --> 6`
function M.new(t)
  if getmetatable(t) == Space then return t end
  check_space("mr.sweep", t)
  local slots = { count = 0 }
  local entries = build("space", t, slots)
  return setmetatable({ _entries = entries, _slots = slots, _names = check.names(names_below(entries)) }, Space)
end

---Returns the sorted names of all parameters of the space, including conditional parameters. Each name occurs once.
function Space:names() return { table.unpack(self._names) } end

---Returns all parameters of the space with their possible values. A parameter comes before the parameters that depend
---on it. Parameters of one name under different conditions have an entry each.
function Space:entries() return { table.unpack(self._slots) } end

local function active(entry, value)
  local found = {}
  for _, branch in ipairs(entry.branches) do
    if branch.values[value] then found[#found + 1] = branch end
  end
  return found
end

local function walk(entries, params, choose)
  for _, entry in ipairs(entries) do
    local value = choose(entry)
    params[entry.name] = value
    for _, branch in ipairs(active(entry, value)) do walk(branch.entries, params, choose) end
  end
  return params
end

---Returns a combination of parameters. The function `choose` is called for each parameter whose conditions hold, and
---returns its value.
---@param choose fun(entry: mr.sweep.Entry): any
---@return table<string, any>
function Space:draw(choose) return walk(self._entries, {}, choose) end

-- Returns the product of the sizes of a list's entries (numbers of grid points). If an entry has no finite size,
-- returns nil and the entry that prevents a grid. Returns false if the product is too large to count.
local function product(list, size_of)
  local size = 1
  for _, each in ipairs(list) do
    local more, why = size_of(each)
    if not more then return more, why end
    if size > most // more then return false end
    size = size * more
  end
  return size
end

local branches_size

local function entry_size(entry)
  if entry.size then return entry.size end
  local count = entry.part:size()
  if not count then return nil, entry end
  local total = count
  if #entry.branches > 0 then
    total = 0
    for i = 1, count do
      local more, why = branches_size(active(entry, entry.part:grid(i)))
      if not more then return more, why end
      total = total + more
    end
  end
  entry.size = total
  return total
end

local function entries_size(entries) return product(entries, entry_size) end

function branches_size(branches)
  return product(branches, function(branch) return entries_size(branch.entries) end)
end

---Returns how many combinations a grid over the space has; nil if there are infinitely many or more than 2^53.
function Space:count() return entries_size(self._entries) or nil end

local decode

-- Sets a parameter and those that depend on it to their combination with the number `rest`, counted from 0.
local function assign(entry, rest, params)
  if #entry.branches == 0 then
    params[entry.name] = entry.part:grid(rest + 1)
    return
  end
  for i = 1, entry.part:size() do
    local value = entry.part:grid(i)
    local branches = active(entry, value)
    local size = branches_size(branches)
    if rest < size then
      params[entry.name] = value
      for b = #branches, 1, -1 do rest = decode(branches[b].entries, rest, params) end
      return
    end
    rest = rest - size
  end
end

function decode(entries, rest, params)
  for i = #entries, 1, -1 do
    local size = entry_size(entries[i])
    assign(entries[i], rest % size, params)
    rest = rest // size
  end
  return rest
end

---Returns the i-th combination of the grid. Parameters are in the order of their names, and the last parameter changes
---fastest. Conditional parameters come after the parameter on which they depend.
---@param i integer  from 1 to count()
---@return table<string, any>
---Example: `require("moonrank.sweep.search.space").new{a = mr.choice{1, 2}, b = mr.range(1, 3)}:grid(4).a   --> 2`
function Space:grid(i)
  local count, entry = entries_size(self._entries)
  if count == nil then
    check.fail("space.%s is %s, which has too many values for a grid. Pass the number of values: {points = n}",
      entry.name, tostring(entry.part))
  elseif not count then
    check.fail("space has more than 2^53 combinations, too many for a grid. Pass another sampler, such as 'random'")
  end
  check.expect(math.type(i) == "integer" and i > 0 and i <= count, "space", "combination", i, "an integer from 1 to %d",
    count)
  local params = {}
  decode(self._entries, i - 1, params)
  return params
end

---Returns the parameters that a trial gets, with named values in place of their names.
---@return table<string, any>
---Example: `require "moonrank.sweep.search.space".new{net = mr.choice{s = {46}}}:values{net = "s"}.net[1]   --> 46`
function Space:values(params)
  local values = {}
  self:draw(function(entry)
    values[entry.name] = entry.part:meaning(params[entry.name])
    return params[entry.name]
  end)
  return values
end

local function describe(entries, indent, lines)
  for _, entry in ipairs(entries) do
    lines[#lines + 1] = ("%s%s = %s"):format(indent, entry.name, entry.part:text())
    for _, branch in ipairs(entry.branches) do
      lines[#lines + 1] = ("%s  %s"):format(indent, branch.label)
      describe(branch.entries, indent .. "    ", lines)
    end
  end
  return lines
end

---Returns the text that identifies the space in stores. Spaces with equal parameters give equal texts, in any order of
---keys. Named values of a choice that are not plain data, such as functions, appear by name only.
---Example: `require("moonrank.sweep.search.space").new{n = mr.range(1, 3)}:describe()   --> n = range(1, 3)`
function Space:describe() return table.concat(describe(self._entries, "", {}), "\n") end

function Space:__tostring() return digits.shortened(self:describe()) end

return M
