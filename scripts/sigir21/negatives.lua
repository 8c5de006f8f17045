-- Samples negatives (items that are not relevant to a user) as the authors' code does (Dataset.train_preparation,
-- test_preparation). Negatives for train are any items that are not relevant to the user in train, so they may
-- include items that are relevant in test. Negatives for test are items that are relevant to the user in neither
-- part, but may have been negatives in train. In the library's own folds, negatives of one part are relevant in no
-- part.
local mr = require "moonrank"

local M = {}

-- Returns a random number generator: a function that returns a random integer from 1 to `most` in each call.
local function numbers(most, seed)
  local block, size, drawn, at = 0, 100000, {}, 0
  return function()
    if at == #drawn then
      block = block + 1
      drawn, at = mr.uniform({ size },
        { dtype = "float64", device = "cpu", seed = seed * 1000003 + block }):totable(), 0
    end
    at = at + 1
    return math.floor(drawn[at] * most) + 1
  end
end

-- Returns, by user, the set of the user's items over several datasets of relevant rows (found[user][item] is true),
-- and the number of these items.
local function items_of(parts)
  local found, count = {}, {}
  for _, part in ipairs(parts) do
    local users, items, at = part.users:totable(), part.items:totable(), 0
    for l, n in ipairs(part.lists.sizes:totable()) do
      local user = users[l]
      found[user], count[user] = found[user] or {}, (count[user] or 0) + n
      for i = at + 1, at + n do found[user][items[i]] = true end
      at = at + n
    end
  end
  return found, count
end

-- Returns a dataset in which each list also has `nsr` sampled negatives per relevant row. Negatives are never in
-- `relevant[user]`, a set of `count[user]` items. If a user has too few other items, all of them are added.
local function with_negatives(part, nsr, items, relevant, count, next_number)
  local grades, rows, users, own, at = {}, {}, part.users:totable(), part.items:totable(), 0
  for l, n in ipairs(part.lists.sizes:totable()) do
    local of_list, excluded = {}, setmetatable({}, { __index = relevant[users[l]] })
    for i = 1, n do of_list[i], rows[#rows + 1] = 1, own[at + i] end
    at = at + n
    for _ = 1, math.min(nsr * n, items - count[users[l]]) do
      local item = next_number()
      while excluded[item] do item = next_number() end
      excluded[item], of_list[#of_list + 1], rows[#rows + 1] = true, 0, item
    end
    grades[l] = of_list
  end
  return mr.data.dataset{ lists = mr.lists(grades), users = part.users,
    items = mr.tensor(rows, { dtype = "int64", device = "cpu" }), name = part.name }
end

---Samples negatives for train and test of a fold that has only relevant rows: `nsr` per relevant row,
---among `items` items. The validation part is returned unchanged.
---@param fold { train: mr.Dataset, valid: mr.Dataset, test: mr.Dataset }
---@return { train: mr.Dataset, valid: mr.Dataset, test: mr.Dataset }
function M.drawn(fold, nsr, items, seed)
  local next_number = numbers(items, seed)
  local in_train, count = items_of{ fold.train }
  local train = with_negatives(fold.train, nsr, items, in_train, count, next_number)
  local in_any, of_any = items_of{ fold.train, fold.test }
  return { train = train, valid = fold.valid,
    test = with_negatives(fold.test, nsr, items, in_any, of_any, next_number) }
end

return M
