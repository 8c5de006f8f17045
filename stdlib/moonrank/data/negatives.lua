-- Samples negatives for the parts of a fold, one part after the other. Negatives of a part are not relevant to the user
-- in this part and in earlier parts, but may be relevant in later parts, which are not looked at.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local declare = require("moonrank.options").declare
local tensors = require "moonrank.tensor"

local M = {}

local negatives_options = declare("mr.data.NegativesOptions", {
  { "items", "integer", required = true, least = 1, help = "number of items, among which negatives are drawn" },
  { "nsr", "integer", default = 1, least = 0, help = "negative sampling ratio: sampled items per relevant item" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the samples" },
})

-- Returns a random number generator: a function that returns a random integer from 1 to `most` in each call.
local function numbers(most, seed)
  local block, size, drawn, at = 0, 100000, {}, 0
  return function()
    if at == #drawn then
      block = block + 1
      drawn, at = tensors.uniform({ size },
        { dtype = "float64", device = "cpu", seed = seed * 1000003 + block }):totable(), 0
    end
    at = at + 1
    return math.floor(drawn[at] * most) + 1
  end
end

local function check_part(i, part)
  dataset.need("mr.data.sample_negatives", ("parts[%d]"):format(i), part, "users", "items")
  local others = part.lists.rows - math.tointeger(part.lists.relevant:double():sum():item())
  check.expect(others <= 0, "mr.data.sample_negatives",
    ("the number of rows of parts[%d] that are not relevant"):format(i), others, "0, as a fold with nsr = 0 has")
  check.expect(not part.lists.weights, "mr.data.sample_negatives", ("the weights of rows of parts[%d]"):format(i),
    part.lists.weights, "none, because negatives have no weights: lists:weighted{weights = false}")
end

-- Adds the items of a part to the users' relevant items: relevant[user][item] is true, count[user] is their number.
local function add_items(relevant, count, part)
  local users, items, at = part.users:totable(), part.items:totable(), 0
  for l, n in ipairs(part.lists.sizes:totable()) do
    local user = users[l]
    relevant[user], count[user] = relevant[user] or {}, (count[user] or 0) + n
    for i = at + 1, at + n do relevant[user][items[i]] = true end
    at = at + n
  end
end

-- Returns a dataset in which each list also has `nsr` sampled negatives per relevant row. Negatives are never in
-- `relevant[user]`, a set of `count[user]` items. If a user has too few other items, all of them are added.
local function with_negatives(part, o, relevant, count, next_number)
  local grades, rows, users, own, at = {}, {}, part.users:totable(), part.items:totable(), 0
  for l, n in ipairs(part.lists.sizes:totable()) do
    local of_list, excluded = {}, setmetatable({}, { __index = relevant[users[l]] })
    for i = 1, n do of_list[i], rows[#rows + 1] = 1, own[at + i] end
    at = at + n
    for _ = 1, math.min(o.nsr * n, o.items - count[users[l]]) do
      local item = next_number()
      while excluded[item] do item = next_number() end
      excluded[item], of_list[#of_list + 1], rows[#rows + 1] = true, 0, item
    end
    grades[l] = of_list
  end
  local weights = part.lists.list_weights
  return dataset.checked{ lists = tensors.lists(grades):weighted{ list_weights = weights }, users = part.users,
    items = core.tensor(rows, "int64", "cpu"), name = part.name, ids = part.ids }
end

---Adds sampled negatives to parts that have only relevant rows, as `ratings:folds{nsr = 0}` makes
---them. A negative of a part is an item that is not relevant to the user in this part or in a part
---before it. Negatives of train may therefore be relevant in test, as in code that samples without a
---look at the test part. Negatives of `ratings:folds`, in contrast, are not relevant to the user in
---any part. The negatives of a list are different items. A list has fewer of them than asked for if
---the user has fewer items that are not relevant. A part with a row that is not relevant is an
---error. One stream of random numbers serves all parts in their order, so the negatives of a part
---depend on the parts before it.
---@param parts mr.Dataset[]  with users and items, in the order train, validation, test
---@param options mr.data.NegativesOptions
---@return mr.Dataset[]  one dataset for each part, on the CPU, with the part's name and names of users and items
---Example:
---```lua
---local ratings = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4)
---local fold = ratings:folds{by = "share", nsr = 0}[1]
---local train, test = table.unpack(mr.data.sample_negatives({fold.train, fold.test}, {items = ratings.items}))
---train.lists.rows == 2 * fold.train.lists.rows, test.count == fold.test.count   --> true, true
---```
function M.sample_negatives(parts, options)
  local o = negatives_options:read("mr.data.sample_negatives", options)
  check.sequence("mr.data.sample_negatives", "parts", parts)
  for i, part in ipairs(parts) do check_part(i, part) end
  local next_number, relevant, count, found = numbers(o.items, o.seed), {}, {}, {}
  for i, part in ipairs(parts) do
    add_items(relevant, count, part)
    found[i] = with_negatives(part, o, relevant, count, next_number)
  end
  return found
end

return M
