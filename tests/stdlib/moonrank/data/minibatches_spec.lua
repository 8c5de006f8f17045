-- Tests mr.Dataset:equal_lengths and minibatches, which make datasets whose training steps use fixed groups of lists.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, raises = test.it, test.equal, test.near, test.raises

local lists = { { 1, 0 }, { 0, 1, 0 }, { 0, 1 }, { 1 }, { 1, 1 }, { 1, 0, 0 } }
local set = mr.data.dataset{ lists = mr.lists(lists),
  features = mr.arange(1, 13, { dtype = "float32" }):reshape(13, 1) }

it("equal_lengths groups lists by their number of rows, and leaves out lengths that few lists have", function()
  equal(set:equal_lengths(), { { 1, 3, 5 }, { 2, 6 }, { 4 } })
  equal(set:equal_lengths{ size = 2 }, { { 1, 3 }, { 5 }, { 2, 6 }, { 4 } })
  equal(set:equal_lengths{ size = 2, least = 3 }, { { 1, 3 }, { 5 } })
  equal(set:equal_lengths{ least = 4 }, {})
  raises(function() set:equal_lengths{ size = 0 } end, "equal_lengths", "size")
end)

it("minibatches have the rows of their lists, in every pass in one order", function()
  local train, count = set:minibatches{ { 6, 2 }, { 4 } }
  equal({ train.count, count, train.fingerprint }, { 2, 3, set.fingerprint })
  for _ = 1, 2 do
    local rows, sizes = {}, {}
    for batch in train:batches() do
      rows[#rows + 1], sizes[#sizes + 1] = batch.features:reshape(batch.lists.rows):totable(), batch.size
    end
    equal({ rows, sizes }, { { { 11, 12, 13, 3, 4, 5 }, { 8 } }, { 2, 1 } })
  end
  for _, wrong in ipairs{ { { 7 } }, { { 0 } }, { 1 }, "all" } do
    raises(function() set:minibatches(wrong) end, "minibatches", "groups")
  end
end)

it("mr.fit with minibatches of users and items trains like batches of these lists", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 20, items = 40 }
  local fold = ratings:binarize(4):folds{ k = 2, by = "user", nsr = 1 }[1]
  local numbers, groups = {}, {}
  for l = 1, fold.train.count do numbers[l] = l end
  for from = 1, #numbers, 4 do
    groups[#groups + 1] = table.move(numbers, from, math.min(from + 3, #numbers), 1, {})
  end
  local function trained(train, batch)
    local model = mr.models.mf{ users = fold.users, items = fold.items, factors = 3, seed = 2 }
    mr.fit{ model = model, loss = mr.losses.ap(), train = train, batch = batch, shuffle = false, epochs = 3,
      progress = false }
    return model:parameters()[1]:detach()
  end
  near(trained(fold.train:minibatches(groups), 1), trained(fold.train, 4), 1e-6)
end)
