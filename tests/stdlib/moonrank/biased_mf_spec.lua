-- Tests matrix factorisation with biases: its formula, its gradient, and that it learns ratings.
local mr = require "moonrank"
local test = require "moonrank.test"
local program = dofile "tests/support/program.lua"
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local function int64(t) return mr.tensor(t, { dtype = "int64" }) end
local batch = { lists = mr.lists{ { 3, 5 }, {}, { 1 } }, users = int64{ 2, 1, 3 }, items = int64{ 4, 1, 4 }, size = 3 }

it("mr.models.biased_mf scores a pair by mean, user bias, item bias and product of factors", function()
  local model = mr.models.biased_mf{ users = 3, items = 4, factors = 2, init = 1, mean = 2.5, seed = 4 }
  model = model:double()
  local p, q, b, c = table.unpack(model:parameters())
  equal({ b:totable(), c:totable() }, { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0, 0.0 } })
  local f64 = { dtype = "float64" }
  model:restore{ buffers = {}, p:detach(), q:detach(), mr.tensor({ 1, 2, 3 }, f64), mr.tensor({ 10, 20, 30, 40 }, f64) }
  local P, Q, scores = p:totable(), q:totable(), model(batch):totable()
  for r, pair in ipairs{ { 2, 4 }, { 2, 1 }, { 3, 4 } } do
    local u, i = pair[1], pair[2]
    near(scores[r], 2.5 + u + 10 * i + P[u][1] * Q[i][1] + P[u][2] * Q[i][2], 1e-12)
  end
  check(model:gradcheck(batch) < 1e-6)
end)

it("mr.models.biased_mf learns additive grades and predicts unseen pairs", function()
  local lists, users, items = { {}, {} }, { {}, {} }, { {}, {} }
  for user = 1, 12 do
    for part = 1, 2 do
      table.insert(users[part], user)
      table.insert(lists[part], {})
    end
    for item = 1, 20 do
      local part = (user + item) % 4 == 0 and 2 or 1
      table.insert(lists[part][user], 3 + user % 3 / 2 + item % 5 / 3)
      table.insert(items[part], item)
    end
  end
  local function part(i)
    return mr.data.dataset{ lists = mr.lists(lists[i]), users = int64(users[i]), items = int64(items[i]) }
  end
  local train, tested = part(1), part(2)
  local model = mr.models.biased_mf{ users = 12, items = 20, factors = 2, mean = train.lists.relevance:mean():item() }
  local function error_of(data)
    local scores = model{ lists = data.lists, users = data.users, items = data.items, size = data.count }
    return ((scores - data.lists.relevance) ^ 2):mean()
  end
  local before = error_of(tested):item()
  local optimizer = mr.optim.adam{ lr = 0.05 }:bind(model:parameters())
  for _ = 1, 60 do
    optimizer:zero_grad()
    error_of(train):backward()
    optimizer:step()
  end
  check(error_of(tested):item() < 0.1 * before, error_of(tested):item() / before)
  local fitted = mr.models.biased_mf{ users = 12, items = 20, factors = 2, mean = train.lists.relevance:mean():item() }
  mr.fit{ model = fitted, loss = mr.losses.mse{}, train = train, batch = 12, epochs = 60, reduction = "rows",
    progress = false, optimizer = mr.optim.adam{ lr = 0.05 } }
  local whole = { lists = tested.lists, users = tested.users, items = tested.items, size = tested.count }
  check(((fitted(whole) - tested.lists.relevance) ^ 2):mean():item() < 0.1 * before, "by mr.fit, too")
end)

it("mr.fit trains mr.models.biased_mf on MovieLens' ratings with mr.losses.mse", function()
  if not program.has_data "ml-latest-small" then return test.skip "no MovieLens" end
  local ratings = mr.data.movielens()
  local fold = ratings:folds{ k = 5, by = "user", seed = 1, grades = true }[1]
  local mean, truth = fold.train.lists.relevance:mean():item(), fold.test.lists.relevance
  local model = mr.models.biased_mf{ users = ratings.users, items = ratings.items, factors = 4, mean = mean }
  local run = mr.fit{ model = model, loss = mr.losses.mse{}, train = fold.train, epochs = 8, batch = 8,
    reduction = "rows", progress = false, optimizer = mr.optim.adam{ lr = 0.01 } }
  local function error_of(scores) return ((scores - truth) ^ 2):mean():sqrt():item() end
  local found, constant = error_of(require("moonrank.fit").scores(model, fold.test)), error_of(truth * 0 + mean)
  local learned = run.history[8].loss < run.history[1].loss
  check(learned and found < 0.9 * constant, ("%g, of the mean %g"):format(found, constant))
end)

it("mr.models.biased_mf is saved and loaded, recommends, and requires items", function()
  local model, path = mr.models.biased_mf{ users = 3, items = 4, factors = 2, mean = 3 }, os.tmpname()
  model:save(path)
  local again = mr.models.load(path)
  equal(again(batch):totable(), model(batch):totable())
  equal(#again:recommend{ user = 3, k = 2 }:of(3), 2)
  raises(function() mr.models.biased_mf{ users = 3 } end, "mr.models.biased_mf", "items")
end)
