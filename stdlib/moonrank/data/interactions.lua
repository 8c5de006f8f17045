-- Makes batches of interactions. An interaction is a user and a relevant item, with k sampled negatives. It is a list
-- of 1 + k rows, so that every loss of lists works on it.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local distribution = require "moonrank.stats.distribution"
local phase = require "moonrank.system.phase"
local whole_lists = require "moonrank.bounds.whole_lists"

local M = {}

---Interactions of a dataset, from which batches are made.
---@class mr.data.Interactions
---@field count integer  number of interactions
---@field users integer  number of users
local Interactions = check.class("mr.data.Interactions")

---How interactions get their negatives.
---@class mr.data.InteractionDraws
---@field users integer       number of users
---@field items integer       number of items of the catalogue
---@field negatives integer   sampled negatives of each interaction
---@field shared boolean      whether all interactions of a batch have the same negatives
---@field seed integer

-- Returns a tensor with the index of each user's whole list (all items of the catalogue, which the user ranks), and an
-- array with the number of relevant rows of each whole list. Users with equally many relevant items share a whole list.
local function shapes_of(counts)
  local number_of, numbers, relevant = {}, {}, {}
  for user, count in ipairs(core.integers(counts)) do
    if not number_of[count] then
      relevant[#relevant + 1] = count
      number_of[count] = #relevant
    end
    numbers[user] = number_of[count]
  end
  return core.tensor(numbers, "int64", "cpu"), relevant
end

---Finds the interactions of a dataset: its different pairs of a user and an item of grade 1 or higher. Users who have
---every item of the catalogue are left out, because there is no negative for them.
---@param set mr.Dataset  with users and items
---@param o mr.data.InteractionDraws
---@return mr.data.Interactions
function M.of(set, o)
  local lists = set.lists:with_relevance(set.lists.relevance:ge(1))
  local table_of = core.user_items(lists, set.users:to("cpu"), set.items:to("cpu"), o.users, o.items)
  local found = table_of:interactions()
  local numbers, relevant = shapes_of(found.counts)
  return setmetatable({ count = found.count, users = o.users, _table = table_of, _how = o, _numbers = numbers,
    _shapes = whole_lists.shapes(o.items, relevant), _lists = {}, _set = set }, Interactions)
end

-- Returns, for each user, an array of the items with which the user has interactions, in the order of the dataset.
local function items_by_user(set, users)
  local found, is_known = {}, {}
  for user = 1, users do found[user], is_known[user] = {}, {} end
  local rows = select(2, set.lists:relevant_part(1)):to("cpu")
  local owners = set.lists:spread(set.users:to("cpu")):rows(rows):totable()
  local items = set.items:to("cpu"):rows(rows):totable()
  for i, user in ipairs(owners) do
    if not is_known[user][items[i]] then table.insert(found[user], items[i]) end
    is_known[user][items[i]] = true
  end
  return found
end

---Returns a matrix [users, width] of the numbers of each user's items, and a matrix that has 1 where the first one has
---an item of the user. The first matrix has item 1 and the second has 0 where a user has fewer items than `width`.
---`width` is the quantile `share` of the users' numbers of items, or `least` if that is more, but at most the largest
---number of items of a user. Users without items do not count in the quantile. Items of a user beyond `width` are left
---out.
---@param share number   0.9: all items of at least about 90 % of the users are in the matrix
---@param least integer  smallest width, unless no user has so many items
---@param device string  device of both matrices
---@return mr.Tensor items     int64
---@return mr.Tensor is_there  float32
function Interactions:items_of_users(share, least, device)
  local by_user, counts, items, is_there = items_by_user(self._set, self._how.users), {}, {}, {}
  for _, own in ipairs(by_user) do counts[#counts + 1] = #own > 0 and #own or nil end
  local at_share, most = table.unpack(distribution(counts, { quantiles = { share, 1 }, samples = 2 }).quantiles)
  local width = math.tointeger(math.min(math.max(least, 1, at_share.estimate // 1), most.estimate))
  for user, own in ipairs(by_user) do
    items[user], is_there[user] = {}, {}
    for c = 1, width do items[user][c], is_there[user][c] = own[c] or 1, own[c] and 1 or 0 end
  end
  return core.tensor(items, "int64", device), core.tensor(is_there, "float32", device)
end

---Returns `count` lists of a relevant row and its negatives. Batches of one size share what is cached for lists.
---@param count integer
---@return mr.Lists
function Interactions:lists(count)
  local found = self._lists[count]
  if not found then
    local sizes, size = {}, self._how.negatives + 1
    for l = 1, count do sizes[l] = size end
    local first = core.arange(1, size, 1, "float32", "cpu"):reshape(1, size)
    local relevance = (core.full({ count, size }, 1, "float32", "cpu")):ge(first):reshape(count * size)
    found = core.lists(sizes, relevance, {}, {})
    self._lists[count] = found
  end
  return found:to(found.relevance.dtype)
end

-- Returns the number of negatives, whether they are shared, and the number of items, which checkpoints compare.
function Interactions:__tostring()
  local how = self._how
  return ("interactions with %d %snegatives of %d items"):format(how.negatives, how.shared and "shared " or "",
    how.items)
end

---One pass over the interactions in batches.
---@class mr.data.InteractionPass
---@field size integer     interactions of a batch
---@field shuffle boolean
---@field seed integer
---@field epoch integer
---@field device string
---@field share? integer[]  {2, 3} gives the second of three shares of each batch

-- Approximate number of rows that are drawn at a time. Batches are drawn together up to this number, so that several
-- threads have work even if batches are small.
local rows_of_block = 65536

-- Draws the rows of the interactions order[first] to order[first + count - 1], on the device. These interactions belong
-- to batches of `size` interactions each: the first one is in batch number `step` of the training, after `before` other
-- interactions. On the CPU, other threads compute the rows before they are read.
local function block_of(self, order, first, count, size, before, step, device)
  local how = self._how
  local drawn = self._table:with_negatives(self._numbers, order:narrow(1, first, count), how.negatives, how.shared,
    how.seed, step, before, size, device)
  return { first = first, count = count, users = drawn.users, numbers = drawn.shapes, rows = drawn.rows }
end

-- Makes the batch of the interactions order[first] to order[first + count - 1], whose rows `block` already has.
local function batch_of(self, block, first, count, o)
  local lists, width, at = self:lists(count), self._how.negatives + 1, first - block.first
  whole_lists.set(lists, self._shapes, block.numbers:narrow(1, at + 1, count))
  return dataset.batch{ lists = lists, size = count, users = block.users:narrow(1, at + 1, count):to(o.device),
    items = block.rows:narrow(1, at * width + 1, count * width), interactions = self, epoch = o.epoch }
end

-- Makes one process's share of a batch, after the shares of the processes with lower numbers.
local function share_of(self, order, first, count, step, o)
  local index, shares = table.unpack(o.share)
  local before = count * (index - 1) // shares
  local own = count * index // shares - before
  local block = block_of(self, order, first + before, own, math.max(1, own), before, step, o.device)
  local batch = batch_of(self, block, block.first, own, o)
  batch.rows_before = before * (self._how.negatives + 1)
  return batch
end

---Returns an iterator over the batches of one epoch. The random numbers that draw an interaction's
---negatives depend on the seed, the number of the step and the interaction's place in the batch.
---@param o mr.data.InteractionPass
---@return fun(): mr.Batch?
function Interactions:pass(o)
  local order
  do
    local _ <close> = phase.begin "batches"
    order = o.shuffle and core.permutation(self.count, o.seed, "interactions", o.epoch)
      or core.arange(1, self.count, 1, "int64", "cpu")
  end
  local at, step = 1, (o.epoch - 1) * -(-self.count // o.size)
  local most = o.size * math.max(1, rows_of_block // (o.size * (self._how.negatives + 1)))
  -- Other threads draw the rows of the next block while steps are taken on the batches of this one.
  local block, following
  local function block_from(first, number)
    return first <= self.count
      and block_of(self, order, first, math.min(most, self.count - first + 1), o.size, 0, number, o.device)
  end
  return function()
    if at > self.count then return nil end
    local _ <close> = phase.begin "batches"
    local first, n = at, math.min(o.size, self.count - at + 1)
    at, step = at + n, step + 1
    if o.share then return share_of(self, order, first, n, step, o) end
    if not block or first >= block.first + block.count then
      block = following or block_from(first, step)
      following = block_from(block.first + block.count, step + block.count // o.size)
    end
    return batch_of(self, block, first, n, o)
  end
end

return M
