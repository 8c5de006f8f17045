-- Gradient steps as in Tang et al. (2023), section 4.2: batches that are made once and used in the same order in every
-- epoch. The functions return training data for mr.fit{train = ..., batch = 1, shuffle = false}, whose batches are
-- these steps. For steps of one query each, pass the dataset itself to mr.fit.
local mr = require "moonrank"
local core = require "moonrank.core"

local M = {}

local Batches = {}
Batches.__index = Batches

-- Makes training data for mr.fit with `count` batches, from the dataset `set`; `make(i)` returns batch number i.
local function of(set, count, make)
  return setmetatable({ lists = set.lists, features = set.features, fingerprint = set.fingerprint, count = count,
    _make = make }, Batches)
end

---Iterates over the batches, in the same order every time, as mr.fit does in each epoch.
function Batches:batches()
  local at = 0
  return function()
    at = at + 1
    return at <= self.count and self._make(at) or nil
  end
end

-- Makes training data with one batch per entry of `groups`. An entry has the numbers of those lists of the dataset that
-- are in the batch. Batches are made once and stored.
local function of_groups(set, groups)
  local kept = {}
  for i, numbers in ipairs(groups) do
    local part = set:select{ lists = numbers }
    kept[i] = { lists = part.lists, features = part.features, size = #numbers }
  end
  return of(set, #groups, function(i) return kept[i] end)
end

---Makes training data whose gradient steps batch queries with equally many documents, up to `size` queries per step
---(default: all). Numbers of documents that fewer than `least` queries have are left out. With `drop` the last step of
---an epoch is left out. The second result is the number of queries in all steps.
---@param set mr.Dataset
---@param o { size?: integer, least: integer, drop?: boolean }
---@return table, integer
function M.equal_lengths(set, o)
  local by_size, order = {}, {}
  for i, n in ipairs(set.lists.sizes:totable()) do
    if not by_size[n] then by_size[n], order[#order + 1] = {}, n end
    table.insert(by_size[n], i)
  end
  local groups, count = {}, 0
  for _, n in ipairs(order) do
    local all = by_size[n]
    for from = 1, #all >= o.least and #all or 0, o.size or #all do
      local part = table.move(all, from, math.min(from + (o.size or #all) - 1, #all), 1, {})
      groups[#groups + 1], count = part, count + #part
    end
  end
  if o.drop and #groups > 1 then
    count = count - #groups[#groups]
    groups[#groups] = nil
  end
  return of_groups(set, groups), count
end

---Makes training data whose gradient steps take `size` documents each, from any queries. The documents are put into a
---random order once, and the last step is left out.
---@param set mr.Dataset
---@param size integer
---@param seed integer
function M.documents(set, size, seed)
  local rows = set:pointwise()
  local order, groups = core.permutation(rows.count, seed, "documents", 0):totable(), {}
  for from = 1, #order - 2 * size + 1, size do groups[#groups + 1] = table.move(order, from, from + size - 1, 1, {}) end
  return of_groups(rows, groups)
end

-- All ordered pairs of rows of the same query, as arrays `better`, `equal` and `worse`: by whether the first row's
-- grade is better than, equal to or worse than the second's. A pair is one integer, i << 32 | j.
local function targets(set)
  local grades, found, before = set.lists.relevance:totable(), { better = {}, equal = {}, worse = {} }, 0
  for _, n in ipairs(set.lists.sizes:totable()) do
    for i = before + 1, before + n do
      for j = before + 1, before + n do
        local class = grades[i] > grades[j] and "better" or grades[i] < grades[j] and "worse" or "equal"
        if i ~= j then table.insert(found[class], i << 32 | j) end
      end
    end
    before = before + n
  end
  return found
end

-- Draws `count` entries of an array at random with replacement.
local function drawn(entries, count, seed, stream)
  local found = {}
  if #entries == 0 then return found end
  for i, u in ipairs(mr.uniform({ count }, { seed = seed, stream = stream, dtype = "float64" }):totable()) do
    found[i] = entries[math.floor(u * #entries) + 1]
  end
  return found
end

---Makes training data whose gradient steps take `size` pairs of documents of the same query, each pair as a list of two
---rows. All pairs of equal grades are used. As many pairs with the first document better, and as many with it worse,
---are drawn with replacement. The last step is left out.
---@param set mr.Dataset
---@param size integer
---@param seed integer
function M.pairs(set, size, seed)
  local by_target = targets(set)
  local count, pairs_of, grades = #by_target.equal, {}, {}
  for _, class in ipairs{ "better", "equal", "worse" } do
    local some = class == "equal" and by_target.equal or drawn(by_target[class], count, seed, class)
    for _, pair in ipairs(some) do
      pairs_of[#pairs_of + 1], grades[#grades + 1] = pair, class
    end
  end
  local order, rows, relevance = core.permutation(#pairs_of, seed, "pairs", 0):totable(), {}, {}
  for i, number in ipairs(order) do
    local pair, class = pairs_of[number], grades[number]
    rows[2 * i - 1], rows[2 * i] = pair >> 32, pair & 0xffffffff
    relevance[2 * i - 1], relevance[2 * i] = class == "better" and 1 or 0, class == "worse" and 1 or 0
  end
  rows, relevance = mr.tensor(rows, { dtype = "int64" }), mr.tensor(relevance)
  local sizes = mr.full({ size }, 2, { dtype = "int64" })
  return of(set, math.max(#order // size - 1, 0), function(i)
    local from = 2 * size * (i - 1) + 1
    local lists = mr.lists{ relevance = relevance:narrow(1, from, 2 * size), sizes = sizes }
    return { lists = lists, size = size, features = set.features:rows(rows:narrow(1, from, 2 * size)) }
  end)
end

return M
