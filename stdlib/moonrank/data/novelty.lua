-- How much of what is ranked training never saw: users, items or queries. Evaluations, runs and studies say it below
-- their tables.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.data.Novelty
---@field users integer?      users of whom train has nothing relevant
---@field all_users integer?
---@field items integer?      relevant items of which train has no relevant row
---@field all_items integer?
---@field left_out boolean?   whether these users are left out, by users = "known"
---@field queries integer?    queries that are not in train
---@field all_queries integer?
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

-- How many entries of a list are not in a set, and the others.
local function unknown_of(list, set)
  local known = {}
  for _, each in ipairs(list) do known[#known + 1] = set[each] and each or nil end
  return #list - #known, known
end

-- The items that any user has.
local function items_of(counts)
  local items = {}
  for item, users in ipairs(core.integers(counts)) do
    if users > 0 then items[#items + 1] = item end
  end
  return items
end

---Counts users and relevant items of `targets` that are not in `train`. With `leave_out`, users
---without relevant items in train are removed from the targets.
---@param train any     mr.UserItems
---@param targets any   mr.UserItems
---@param leave_out boolean
---@return mr.data.Novelty
---@return any targets
function M.of(train, targets, leave_out)
  local users = core.integers(targets:active_users())
  local new_users, known = unknown_of(users, set_of(core.integers(train:active_users())))
  if leave_out and new_users > 0 then targets = targets:only(core.tensor(known, "int64", "cpu")) end
  local items = items_of(targets:item_counts())
  return new{ users = new_users, all_users = #users, items = unknown_of(items, set_of(items_of(train:item_counts()))), all_items = #items,
    left_out = leave_out and new_users > 0 }, targets
end

-- The largest number in tensors of numbers.
local function most(a, b)
  local largest = 0
  for _, each in ipairs{ a, b } do largest = #each > 0 and math.max(largest, each:double():max():item()) or largest end
  return math.tointeger(largest)
end

local function ids_of(data)
  local lists = type(data) == "table" and check.field(data, "lists")
  local ids = check.is_lists(lists) and lists.ids or {}
  return #ids > 0 and ids or nil
end

---Counts users and items (or named queries) of a dataset that are not in the training data; nil if
---neither is known.
---@param train mr.Dataset
---@param data mr.Dataset
---@param leave_out boolean  whether users of whom train has nothing relevant are left out
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

-- The sentence for each kind of counts, and the fields that it shows.
local kinds = {
  { "new to training: %s of %s users, %s of %s relevant items", "users", "all_users", "items", "all_items" },
  { "users = known leaves out %s of %s users, which training never saw; new to training: %s of %s relevant items",
    "users", "all_users", "items", "all_items" },
  { "new to training: %s of %s queries", "queries", "all_queries" },
}

local function kind_of(found) return found.all_queries and kinds[3] or found.left_out and kinds[2] or kinds[1] end

-- "3", or "3 to 5" where they differ.
local function range(all, field)
  local low, high = math.huge, 0
  for _, each in ipairs(all) do low, high = math.min(low, each[field]), math.max(high, each[field]) end
  return low == high and ("%d"):format(low) or ("%d to %d"):format(low, high)
end

---Returns lines for below a table of several evaluations: one line of each kind, with the smallest
---and the largest number if they differ.
---@param all mr.data.Novelty[]
---@return string[]
function M.lines(all)
  local lines = {}
  for _, kind in ipairs(kinds) do
    local own, numbers = {}, {}
    for _, each in ipairs(all) do own[#own + 1] = kind_of(each) == kind and each or nil end
    for i = 2, #own > 0 and #kind or 1 do numbers[i - 1] = range(own, kind[i]) end
    lines[#lines + 1] = #own > 0 and kind[1]:format(table.unpack(numbers)) or nil
  end
  return lines
end

---Returns one line for below a table.
function Novelty:__tostring() return M.lines{ self }[1] end

---Returns the counts as a text that a store keeps.
---@return string
function Novelty:text()
  local parts = {}
  for _, name in ipairs(fields) do parts[#parts + 1] = self[name] and ("%s=%s"):format(name, self[name]) or nil end
  return table.concat(parts, ";")
end

---Reads the counts from a text that Novelty:text returned; nil if a number is missing.
---@param text string
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
