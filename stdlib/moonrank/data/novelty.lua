-- Novelty: how many of the evaluated users, items or queries are not in the training data. Evaluations, training runs
-- and studies print these counts below their tables.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---Counts of evaluated users, items or queries that are not in train.
---@class mr.data.Novelty
---@field users integer?      evaluated users without a relevant row in train
---@field all_users integer?  evaluated users
---@field items integer?      relevant items of the evaluated part without a relevant row in train
---@field all_items integer?  relevant items of the evaluated part
---@field left_out boolean?   whether users without a relevant row in train are left out (users = "known")
---@field queries integer?    evaluated queries that are not in train
---@field all_queries integer?  evaluated queries
local Novelty = check.class("mr.data.Novelty")

local fields = { "users", "all_users", "items", "all_items", "left_out", "queries", "all_queries" }

local function new(parts)
  for _, name in ipairs(fields) do parts[name] = parts[name] or false end
  return setmetatable(parts, Novelty)
end

local function set_of(list)
  local set = {}
  for _, each in ipairs(list) do set[each] = true end
  return set
end

-- Returns the number of entries of `list` that are not in `set`, and a table of the others.
local function unknown_of(list, set)
  local known = {}
  for _, each in ipairs(list) do known[#known + 1] = set[each] and each or nil end
  return #list - #known, known
end

-- Returns the numbers of the items that have at least one user. `counts` is the number of users of each item.
local function items_of(counts)
  local items = {}
  for item, users in ipairs(core.integers(counts)) do
    if users > 0 then items[#items + 1] = item end
  end
  return items
end

---Counts the users of `targets` who have no item in `train`, and the items of `targets` that no user has in `train`.
---Also returns `targets`; with `leave_out`, these users are removed from it.
---@param train any     mr.UserItems: relevant items of each user
---@param targets any   mr.UserItems: relevant items of each user
---@param leave_out boolean
---@return mr.data.Novelty
---@return any targets  mr.UserItems
function M.of(train, targets, leave_out)
  local users = core.integers(targets:active_users())
  local new_users, known = unknown_of(users, set_of(core.integers(train:active_users())))
  if leave_out and new_users > 0 then targets = targets:only(core.tensor(known, "int64", "cpu")) end
  local items = items_of(targets:item_counts())
  return new{
    users = new_users,
    all_users = #users,
    items = unknown_of(items, set_of(items_of(train:item_counts()))),
    all_items = #items,
    left_out = leave_out and new_users > 0,
  }, targets
end

local function most(a, b)
  return math.max(core.largest(a), core.largest(b))
end

local function ids_of(data)
  local lists = type(data) == "table" and check.field(data, "lists")
  local ids = check.is_lists(lists) and lists.ids or {}
  return #ids > 0 and ids or nil
end

---Counts the users and relevant items of `data` that have no relevant row in `train`. For data without users and items,
---counts the queries of `data` whose names are not in `train`. Returns nil if the lists have no names either.
---@param train mr.Dataset
---@param data mr.Dataset
---@param leave_out boolean  whether evaluations leave out users without a relevant row in train
---@return mr.data.Novelty?
function M.between(train, data, leave_out)
  local function has(name, is) return is(check.field(train, name)) and is(check.field(data, name)) end
  if has("users", check.is_tensor) and has("items", check.is_tensor) and has("lists", check.is_lists) then
    local users, items = most(train.users, data.users), most(train.items, data.items)
    local function table_of(part) return core.user_items(part.lists, part.users, part.items, users, items) end
    return (M.of(table_of(train), table_of(data), leave_out))
  end
  local before, ids = ids_of(train), ids_of(data)
  if not before or not ids then return nil end
  return new{ queries = unknown_of(ids, set_of(before)), all_queries = #ids }
end

-- Sentences about new users, items or queries, which are printed below tables. Each has %s for every count, and the
-- names of the fields of mr.data.Novelty that replace the %s.
local kinds = {
  { "new to training: %s of %s users, %s of %s relevant items", "users", "all_users", "items", "all_items" },
  { "users = known leaves out %s of %s users, which training never saw; new to training: %s of %s relevant items",
    "users", "all_users", "items", "all_items" },
  { "new to training: %s of %s queries", "queries", "all_queries" },
}

local function kind_of(found) return found.all_queries and kinds[3] or found.left_out and kinds[2] or kinds[1] end

-- Returns the range of a count over several mr.data.Novelty objects as text: "3", or "3 to 5" if the counts differ.
local function range(all, field)
  local low, high = math.huge, 0
  for _, each in ipairs(all) do low, high = math.min(low, each[field]), math.max(high, each[field]) end
  return low == high and ("%d"):format(low) or ("%d to %d"):format(low, high)
end

-- True if all queries are new, as usual: parts of queries rarely overlap.
local function is_usual(found) return found.all_queries and found.queries == found.all_queries end

---Returns the lines about new users, items or queries that are printed below a table of evaluations. If counts differ,
---a line shows the smallest and the largest. There is no line about queries if all of them are new.
function M.lines(all)
  local lines = {}
  for _, kind in ipairs(kinds) do
    local own, numbers, unusual = {}, {}, false
    for _, each in ipairs(all) do
      own[#own + 1] = kind_of(each) == kind and each or nil
      unusual = unusual or own[#own] == each and not is_usual(each)
    end
    if not unusual then own = {} end
    for i = 2, #own > 0 and #kind or 1 do numbers[i - 1] = range(own, kind[i]) end
    lines[#lines + 1] = #own > 0 and kind[1]:format(table.unpack(numbers)) or nil
  end
  return lines
end

---Returns the line about users, items or queries that are new to training, as it is printed below a table; false if
---all queries are new.
---@return string|false
function Novelty:line() return M.lines{ self }[1] or false end

function Novelty:__tostring() return self:line() or ("all %d queries are new to training"):format(self.all_queries) end

---Returns the counts as text such as "users=3;all_users=40", which a store of trials saves.
function Novelty:text()
  local parts = {}
  for _, name in ipairs(fields) do parts[#parts + 1] = self[name] and ("%s=%s"):format(name, self[name]) or nil end
  return table.concat(parts, ";")
end

---Returns an mr.data.Novelty from text that Novelty:text returned; nil if a count is missing in the text.
---@return mr.data.Novelty?
function M.kept(text)
  local parts = {}
  for name, value in text:gmatch "([%w_]+)=(%w+)" do
    parts[name] = value == "true" or math.tointeger(tonumber(value))
  end
  local found = new(parts)
  for i, name in ipairs(kind_of(found)) do
    if i > 1 and math.type(found[name]) ~= "integer" then return nil end
  end
  return found
end

return M
