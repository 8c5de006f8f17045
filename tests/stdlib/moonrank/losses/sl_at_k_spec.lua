-- SL@K with estimates of the users' quantiles in mr.fit{unit = "interaction"}. Answers are worked out beside each test.
local mr = require "moonrank"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local it, near, equal, check, raises = test.it, test.near, test.equal, test.check, test.raises

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end

-- A model whose score of an item is the item's parameter, for every user.
mr.models.define("sl_at_k_spec", {
  required = { users = "integer", items = "integer" },
  parameters = function(o) return { scores = mr.zeros{ o.items } } end,
  forward = function(self, batch) return self.scores:rows(batch.items) end,
})

-- User 1 has items 1 to 3, user 2 items 1 to 5. Items 1 to 3 have the scores 0.9, 0.7 and 0.5, the other items 0.
local train = mr.data.dataset{ lists = mr.lists{ { 1, 1, 1 }, { 1, 1, 1, 1, 1 } },
  users = mr.tensor({ 1, 2 }, { dtype = "int64" }), items = mr.tensor({ 1, 2, 3, 1, 2, 3, 4, 5 }, { dtype = "int64" }) }
local score_of = { 0.9, 0.7, 0.5, 0, 0 }

local function new_model(users)
  local model, scores = mr.models.sl_at_k_spec{ users = users or 2, items = 30 }, {}
  for item = 1, 30 do scores[item] = score_of[item] or 0 end
  model:restore{ mr.tensor(scores), buffers = {} }
  return model
end

-- Trains with steps that are too small to change a score, so that only the estimates change.
local function losses_of(loss, o)
  local given = { model = new_model(), loss = loss, train = train, unit = "interaction", negatives = 10, batch = 8,
    epochs = 4, optimizer = mr.optim.sgd{ lr = 1e-30 }, progress = false }
  for name, value in pairs(o or {}) do given[name] = value end
  if given.unit == "list" then given.negatives = nil end
  local found = {}
  for epoch, entry in ipairs(mr.fit(given).history) do found[epoch] = entry.loss end
  return found
end

-- The loss of the eight interactions, each with ten negatives of score 0. beta: the estimates of the two users.
local function expected(beta)
  local sum = 0
  for user, count in ipairs{ 3, 5 } do
    for item = 1, count do
      local f = score_of[item]
      sum = sum + sigmoid((f - beta[user]) / 0.25) * (math.log(10) - f / 0.5)
    end
  end
  return sum / 8
end

it("with every, beta is 0 at first, and then the k-th largest score of the user, from every second epoch on", function()
  local at_first = expected{ 0, 0 }
  near(losses_of(mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 2 }),
    { at_first, at_first, expected{ 0.7, 0.7 }, expected{ 0.7, 0.7 } }, 1e-6)
  near(losses_of(mr.losses.sl_at_k{ k = 3, tau = 0.5, tau_beta = 0.25, every = 1 }),
    { at_first, expected{ 0.5, 0.5 }, expected{ 0.5, 0.5 }, expected{ 0.5, 0.5 } }, 1e-6)
  -- the fifth largest score of both users is 0
  near(losses_of(mr.losses.sl_at_k{ k = 5, tau = 0.5, tau_beta = 0.25, every = 3 })[4], at_first, 1e-6)
  local of_double = losses_of(mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 1 },
    { model = new_model():double() })
  near(of_double[2], expected{ 0.7, 0.7 }, 1e-6)
end)

it("with every, a user with fewer than k scores gets the weight 1", function()
  local sum = 0
  for user, count in ipairs{ 3, 5 } do
    for item = 1, count do
      sum = sum + (user == 1 and 1 or sigmoid(score_of[item] / 0.25)) * (math.log(10) - score_of[item] / 0.5)
    end
  end
  local found = losses_of(mr.losses.sl_at_k{ k = 14, tau = 0.5, tau_beta = 0.25, every = 1, share = 1 })
  near(found[2], sum / 8, 1e-6)  -- user 2 has 5 + 10 scores, user 1 has 3 + 10
  found = losses_of(mr.losses.sl_at_k{ k = 9, tau = 0.5, tau_beta = 0.25, every = 1, share = 0 }, { negatives = 5 })
  near(found[2], sum / 8 + (math.log(5) - math.log(10)) * (3 + sigmoid(3.6) + sigmoid(2.8) + sigmoid(2) + 1) / 8, 1e-6)
end)

it("with every, the estimates use all items of nine tenths of the users by default", function()
  -- Nine users have item 1, and one has items 1 to 5: 1 + 0.1 (5 - 1), rounded down, is one item.
  local lists, users, items = {}, {}, {}
  for user = 1, 10 do
    lists[user], users[user] = {}, user
    for item = 1, user == 10 and 5 or 1 do lists[user][item], items[#items + 1] = 1, item end
  end
  local data = mr.data.dataset{ lists = mr.lists(lists), users = mr.tensor(users, { dtype = "int64" }),
    items = mr.tensor(items, { dtype = "int64" }) }
  local function second(share)
    return losses_of(mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 1, share = share },
      { train = data, batch = 20, model = new_model(10) })[2]
  end
  equal(second(), second(0.9))
  check(math.abs(second() - second(1)) > 0.01, "one item and five")
end)

it("with every, items are cut off at the number that a share of the users has at most", function()
  local batch = interactions.of(train, { users = 2, items = 30, negatives = 10, shared = false, seed = 1 })
  -- 3 and 5 items: at the share 0.6, 4.2 and so 4; at 0, 3; at least `least`, but not more than 5
  for _, case in ipairs{ { 0.6, 1, 4, 4 }, { 0, 1, 3, 3 }, { 1, 1, 3, 5 }, { 0, 6, 3, 5 } } do
    local items, is_there = batch:items_of_users(case[1], case[2], "cpu")
    local counts = is_there:sum(2):totable()
    equal({ counts[1], counts[2], items:size(2) }, { 3.0, case[4] + 0.0, case[4] })
    local rows = items:totable()
    for item = 1, case[4] do equal(rows[2][item], item) end
  end
end)

it("items of users are each listed once, in the order of the dataset, without rows of grade 0", function()
  local set = mr.data.dataset{ lists = mr.lists{ { 1, 0, 2 }, { 1 }, { 1, 1 } },
    users = mr.tensor({ 1, 3, 1 }, { dtype = "int64" }),
    items = mr.tensor({ 9, 1, 4, 2, 4, 3 }, { dtype = "int64" }) }
  local of = interactions.of(set, { users = 3, items = 10, negatives = 1, shared = false, seed = 1 })
  local items, is_there = of:items_of_users(1, 1, "cpu")
  equal(is_there:totable(), { { 1.0, 1.0, 1.0 }, { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 } })
  equal(items:totable()[1], { 9, 4, 3 })
  equal(items:totable()[3][1], 2)
  equal(of:items_of_users(0.5, 1, "cpu"):size(2), 2)  -- the users with items have 1 and 3
end)

it("checkpoints have the estimates of the users", function()
  local function loss() return mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 2 } end
  local path = os.tmpname()
  os.remove(path)
  local whole = losses_of(loss(), { epochs = 6 })
  losses_of(loss(), { epochs = 3, checkpoint = path })
  equal(losses_of(loss(), { epochs = 6, checkpoint = path }), whole)
  os.remove(path)
  check(math.abs(whole[4] - whole[1]) > 0.01, "a training that forgot the estimates would begin with 0 again")
end)

it("the model of the chosen epoch has no trace of the estimates", function()
  local model = new_model()
  local valid = mr.data.dataset{ lists = mr.lists{ { 1, 0 } }, users = mr.tensor({ 1 }, { dtype = "int64" }),
    items = mr.tensor({ 1, 7 }, { dtype = "int64" }) }
  local run = mr.fit{ model = model, loss = mr.losses.sl_at_k{ k = 2, every = 1 }, train = train, valid = valid,
    unit = "interaction", negatives = 10, batch = 8, epochs = 3, metrics = { "ndcg", "rr" }, select = { "ndcg", "rr" },
    progress = false }
  for _ = 1, 2 do
    run:restore "ndcg"
    equal(next(model:buffers()), nil)
  end
end)

it("a loss with every may be a term of a sum, and each training begins with estimates of its own", function()
  local loss = mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 1 }
  local alone, path = losses_of(loss), os.tmpname()
  equal(losses_of(loss), alone)
  near(losses_of(2 * loss + mr.losses.sl_at_k{ k = 2, tau = 0.5, tau_beta = 0.25, every = 1 }),
    { 3 * alone[1], 3 * alone[2], 3 * alone[3], 3 * alone[4] }, 1e-5)
  os.remove(path)
  losses_of(2 * loss + mr.losses.bpr(), { epochs = 2, checkpoint = path })
  near(losses_of(2 * loss + mr.losses.bpr(), { epochs = 3, checkpoint = path }),
    losses_of(2 * loss + mr.losses.bpr(), { epochs = 3 }), 1e-7)
  os.remove(path)
  local two = loss + mr.losses.sl_at_k{ k = 5, tau = 0.5, tau_beta = 0.25, every = 1 }
  losses_of(two, { epochs = 2, checkpoint = path })
  near(losses_of(two, { epochs = 3, checkpoint = path }), losses_of(two, { epochs = 3 }), 1e-7)
  os.remove(path)
end)

it("a bound multiplies the loss with estimates by the slope of the user's whole list", function()
  local o = { k = 2, tau = 0.5, tau_beta = 0.25, every = 1 }
  o.bound, o.metric, o.slope_at = "zscore", "ndcg@20", "expectation"
  local slope, sum = {}, 0
  for user, count in ipairs{ 3, 5 } do
    local whole = {}
    for i = 1, 30 do whole[i] = i <= count and 1 or 0 end
    slope[user] = mr.bounds.slopes("zscore", "ndcg@20", mr.lists{ whole }):item()
    for item = 1, count do
      local f = score_of[item]
      sum = sum + slope[user] * sigmoid((f - 0.7) / 0.25) * (math.log(10) - f / 0.5)
    end
  end
  check(slope[1] ~= slope[2], "slopes differ")
  near(losses_of(mr.losses.sl_at_k(o))[2], sum / 8, 1e-6)
end)

it("where a step takes lists, every has no effect; several processes are refused", function()
  local scores, lists = mr.tensor({ 0.5, -0.25, 0.75 }, { dtype = "float64" }), mr.lists{ { 1, 0, 0 } }
  equal(mr.losses.sl_at_k{ k = 2, every = 3 }(scores, lists):item(), mr.losses.sl_at_k{ k = 2 }(scores, lists):item())
  local with_negatives = mr.data.dataset{ lists = mr.lists{ { 1, 0, 0 } },
    users = mr.tensor({ 1 }, { dtype = "int64" }), items = mr.tensor({ 1, 7, 8 }, { dtype = "int64" }) }
  local function of(loss) return losses_of(loss, { train = with_negatives, unit = "list" }) end
  equal(of(mr.losses.sl_at_k{ k = 2, every = 1 }), of(mr.losses.sl_at_k{ k = 2 }))
  raises(function() losses_of(mr.losses.sl_at_k{ every = 1 }, { parallel = true }) end, "parallel", "sl_at_k")
  raises(function() mr.losses.sl_at_k{ share = 0.5 } end, "share", "every")
  raises(function() mr.losses.sl_at_k{ every = 0 } end, "every", "0")
end)

it("one loss as two terms of a sum is twice the loss; a k beyond all scores is like one just beyond", function()
  local function made(k) return mr.losses.sl_at_k{ k = k, tau = 0.5, every = 1 } end
  local twice, loss = losses_of(2 * made(3)), made(3)
  equal(losses_of(loss + loss), twice)
  equal(losses_of(made(1000000000)), losses_of(made(100)))
end)

it("a second training with the checkpoint of the first goes on, in the same process", function()
  local path, model = os.tmpname(), new_model()
  os.remove(path)
  local function epochs(n)
    return #mr.fit{ model = model, loss = mr.losses.sl_at_k{ k = 2, every = 1 }, train = train, unit = "interaction",
      negatives = 10, epochs = n, progress = false, checkpoint = path }.history
  end
  equal({ epochs(2), epochs(4) }, { 2, 4 })
end)
