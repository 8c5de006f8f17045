-- Tests batches of interactions: mr.fit{unit = "interaction"}.
local mr = require "moonrank"
local core = require "moonrank.core"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

-- Three users of a catalogue of 8 items: user 1 has items 1, 2 and 8; user 2 has item 5; user 3 has all items but 4.
-- The rows of grade 0 are not interactions.
local set = mr.data.dataset{ lists = mr.lists{ { 1, 0, 1, 2 }, { 1 }, { 1, 1, 1, 1, 1, 1, 1, 0 } },
  users = mr.tensor({ 1, 2, 3 }, { dtype = "int64" }),
  items = mr.tensor({ 1, 3, 2, 8, 5, 1, 2, 3, 5, 6, 7, 8, 4 }, { dtype = "int64" }) }
local owned = { { [1] = true, [2] = true, [8] = true }, { [5] = true },
  { true, true, true, nil, true, true, true, true } }

local function made(how)
  local o = { users = 3, items = 8, negatives = 5, shared = false, seed = 1 }
  for name, value in pairs(how or {}) do o[name] = value end
  return interactions.of(set, o)
end

local function pass(of, how)
  local o = { size = 4, shuffle = true, seed = 1, epoch = 1, device = "cpu" }
  for name, value in pairs(how or {}) do o[name] = value end
  local batches = {}
  for batch in of:pass(o) do batches[#batches + 1] = batch end
  return batches
end

local function items_of(batches)
  local found = {}
  for i, batch in ipairs(batches) do found[i] = batch.items:totable() end
  return found
end

describe("batches of interactions", function()
  it("have each relevant row of the dataset once per epoch, as the first row of a list", function()
    local of, seen = made(), {}
    equal(of.count, 11)
    for _, batch in ipairs(pass(of)) do
      equal(batch.lists.rows, 6 * batch.size)
      equal(core.integers(batch.lists.relevant), core.integers(mr.ones(batch.size):long()))
      local rows = batch.items:totable()
      for l, user in ipairs(batch.users:totable()) do
        local key = ("%d %d"):format(user, rows[6 * l - 5])
        check(owned[user][rows[6 * l - 5]] and not seen[key], key)
        seen[key] = true
        equal(batch.lists.relevance:totable()[6 * l - 5], 1)
        for k = 6 * l - 4, 6 * l do check(not owned[user][rows[k]] and rows[k] <= 8, user, rows[k]) end
      end
    end
  end)

  it("draw each item that the user does not have equally often", function()
    local batch = pass(made{ negatives = 20000 }, { size = 11 })[1]
    local rows, users, counts = batch.items:totable(), batch.users:totable(), {}
    for l, user in ipairs(users) do
      for k = 20001 * (l - 1) + 2, 20001 * l do
        counts[user] = counts[user] or {}
        counts[user][rows[k]] = (counts[user][rows[k]] or 0) + 1
      end
    end
    equal(counts[3], { [4] = 7 * 20000 })
    for user, free in ipairs{ 5, 7 } do
      local all, kinds = user == 1 and 3 * 20000 or 20000, 0
      for _, n in pairs(counts[user]) do
        kinds = kinds + 1
        near(n, all / free, 4.5 * math.sqrt(all / free))
      end
      equal(kinds, free)
    end
  end)

  it("never draw an item of a user with very many items", function()
    local grades, numbers, own = {}, {}, {}
    for i = 1, 150 do grades[i], numbers[i], own[2 * i] = 1, 2 * i, true end
    local many = mr.data.dataset{ lists = mr.lists{ grades }, users = mr.tensor({ 1 }, { dtype = "int64" }),
      items = mr.tensor(numbers, { dtype = "int64" }) }
    local of = interactions.of(many, { users = 1, items = 301, negatives = 400, shared = false, seed = 1 })
    local seen, kinds = {}, 0
    for k, item in ipairs(pass(of, { size = 20 })[1].items:totable()) do
      equal(own[item] or false, k % 401 == 1)
      if not own[item] and not seen[item] then seen[item], kinds = true, kinds + 1 end
    end
    equal(kinds, 151)
  end)

  it("draw few negatives as they draw many", function()
    -- Test data: user 1 has evenly spread items, user 2 the first items, user 3 the last ones, user 4 two groups, user
    -- 5 one item.
    local spread = { function(i) return 10 * i end, function(i) return i end, function(i) return 1000 - i end,
      function(i) return i <= 40 and i or 900 + i end, function(i) return i == 1 and 500 or nil end }
    local sizes, users, numbers = {}, {}, {}
    for user, item in ipairs(spread) do
      for i = 1, 80 do numbers[#numbers + 1] = item(i) end
      sizes[user], users[user] = #numbers - (user > 1 and 80 * (user - 1) or 0), user
    end
    local skewed = mr.data.dataset{ lists = mr.lists{ relevance = mr.ones(#numbers), sizes = sizes },
      users = mr.tensor(users, { dtype = "int64" }), items = mr.tensor(numbers, { dtype = "int64" }) }
    local function rows_of(negatives)
      local of = interactions.of(skewed, { users = 5, items = 1000, negatives = negatives, shared = false, seed = 1 })
      return pass(of, { size = 321 })[1].items:totable()
    end
    local many = rows_of(300)
    for _, few in ipairs{ 1, 2, 31, 32, 33 } do
      local rows = rows_of(few)
      for l = 0, 320 do
        equal(table.move(rows, l * (few + 1) + 1, (l + 1) * (few + 1), 1, {}),
          table.move(many, l * 301 + 1, l * 301 + few + 1, 1, {}))
      end
    end
  end)

  it("draw by seed, step and place alone", function()
    local first = items_of(pass(made()))
    equal(items_of(pass(made())), first)
    check(not pcall(equal, items_of(pass(made{ seed = 2 })), first))
    check(not pcall(equal, items_of(pass(made(), { shuffle = false })),
      items_of(pass(made(), { shuffle = false, epoch = 2 }))))
    -- The first negatives of an interaction are the same if more are drawn, or if the batch is shared by several
    -- processes.
    local more = items_of(pass(made{ negatives = 8 }))
    for k = 1, 6 do equal(more[1][9 + k], first[1][6 + k]) end
    local shares = {}
    for number = 1, 3 do
      for i, batch in ipairs(pass(made(), { share = { number, 3 } })) do
        shares[i] = shares[i] or {}
        equal(batch.rows_before, #shares[i])
        table.move(batch.items:totable(), 1, batch.lists.rows, #shares[i] + 1, shares[i])
      end
    end
    equal(shares, first)
  end)

  -- Negatives of several batches are drawn together. With `share = { 1, 1 }`, each batch is drawn alone, and must be
  -- equal.
  for _, how in ipairs{ { negatives = 1 }, { negatives = 40 }, { negatives = 4000 }, { negatives = 9000 },
    { negatives = 40, shared = true }, { negatives = 4000, shared = true } } do
    it(("are drawn one by one as several at a time: %d %snegatives"):format(how.negatives,
      how.shared and "shared " or ""), function()
      local of = made(how)
      for _, size in ipairs{ 1, 3, 4, 11, 20 } do
        for _, epoch in ipairs{ 1, 3 } do
          local several, alone = pass(of, { size = size, epoch = epoch }),
            pass(of, { size = size, epoch = epoch, share = { 1, 1 } })
          equal(items_of(several), items_of(alone))
          for i, batch in ipairs(several) do equal(batch.users:totable(), alone[i].users:totable()) end
        end
      end
    end)
  end

  it("share negatives of all items with shared = true", function()
    for _, batch in ipairs(pass(made{ shared = true })) do
      local rows = batch.items:totable()
      for k = 1, #rows do
        if k % 6 ~= 1 then equal(rows[k], rows[(k - 1) % 6 + 1]) end
      end
    end
  end)

  it("leave out users who have every item", function()
    local all = mr.data.dataset{ lists = mr.lists{ { 1, 1 }, { 1 } }, users = mr.tensor({ 1, 2 }, { dtype = "int64" }),
      items = mr.tensor({ 1, 2, 2 }, { dtype = "int64" }) }
    local of = interactions.of(all, { users = 2, items = 2, negatives = 3, shared = false, seed = 1 })
    equal(of.count, 1)
    equal(items_of(pass(of)), { { 2, 1, 1, 1 } })
  end)
end)

describe("a bound of interactions", function()
  -- Returns the values of a loss for the interactions of one batch, under a bound and without it.
  local function bounded(make)
    local batch = pass(made(), { size = 11 })[1]
    local scores = mr.normal({ batch.lists.rows }, { seed = 3, dtype = "float64" })
    return make("none")(scores, batch.lists):totable(), batch.users:totable(), function(bound)
      return make(bound)(scores, batch.lists):totable()
    end
  end
  local relevant = { 3, 1, 7 }

  it("multiplies losses by the slope of the user's catalogue and training items", function()
    local plain, users, under = bounded(function(bound)
      return mr.losses.sl{ bound = bound, metric = "ap", slope_at = "expectation" }
    end)
    for _, bound in ipairs{ "minmax", "zscore", "distribution_logit" } do
      for l, value in ipairs(under(bound)) do
        local grades = {}
        for i = 1, 8 do grades[i] = i <= relevant[users[l]] and 1 or 0 end
        near(value, plain[l] * mr.bounds.slopes(bound, "ap", mr.lists{ grades }):item(), 1e-9)
      end
    end
  end)

  it("is that of the user in losses that a loss of a script calls", function()
    local batch = pass(made(), { size = 11 })[1]
    local scores = mr.normal({ batch.lists.rows }, { seed = 3, dtype = "float64" })
    local inner = mr.losses.sl{ bound = "minmax", metric = "ap" }
    local outer = mr.losses.define("calls_another", { direction = "minimize", metric = "ap",
      smooth = function(x, lists) return inner(x, lists) end })()
    equal(outer(scores, batch.lists):totable(), inner(scores, batch.lists):totable())
    local weights = mr.tensor{ 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1 }
    local some = batch.lists:weighted{ list_weights = weights }
    equal(outer(scores, some):totable(), inner(scores, some):totable())
  end)

  it("is that of the user for lists that a script makes of a batch's lists", function()
    local lists = pass(made(), { size = 11 })[1].lists
    local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    local loss, corrected = mr.losses.sl{ bound = "minmax", metric = "ap" },
      mr.losses.sampled_softmax{ bound = "minmax", metric = "ndcg", correction = "both" }
    local with = lists:drawn(mr.uniform({ lists.rows }, { seed = 4 }) + 0.1)
    local turned = mr.tensor({ 11, 3, 2, 7, 4, 4 }, { dtype = "int64" })
    local some, rows = with:select(turned), scores:rows(with:rows_of(turned))
    for i, of in ipairs{ loss, corrected } do
      local expected = of(scores, i == 1 and lists or with)
      for _, other in ipairs{ with, with:to "float64", with:with_relevance(lists.relevance), with:with_weights() } do
        equal(of(scores, other):totable(), expected:totable())
      end
      equal(of(rows, some):totable(), expected:rows(turned):totable())
    end
  end)

  it("has the slopes of the user's whole list in a script's own loss", function()
    local lists = pass(made(), { size = 11 })[1].lists
    local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    local plain, slopes = mr.losses.sl()(scores, lists), mr.bounds.slopes("minmax", "ap", lists)
    near(plain * slopes, mr.losses.sl{ bound = "minmax", metric = "ap" }(scores, lists):totable(), 1e-12)
    check(slopes:max():item() > slopes:min():item())
    raises(function() mr.bounds.slopes("distribution", "ap", lists, { at = slopes }) end, "at", "interactions")
    raises(function() mr.losses.sl{ bound = "distribution", metric = "ap" }(scores, lists) end, "interactions",
      "slope_at")
  end)

  it("is applied to smooth metrics with the user's catalogue and training items", function()
    local plain, users, under = bounded(function(bound) return mr.losses.ap{ bound = bound } end)
    for _, bound in ipairs{ "minmax", "expectation_max", "distribution" } do
      for l, value in ipairs(under(bound)) do
        local grades = {}
        for i = 1, 8 do grades[i] = i <= relevant[users[l]] and 1 or 0 end
        local score = mr.tensor({ -plain[l] }, { dtype = "float64" })
        near(-value, mr.bounds.resolve(bound).apply(score, "ap", mr.lists{ grades }):item(), 1e-9)
      end
    end
  end)

  it("is not needed by gBCE, which takes the catalogue from mr.fit", function()
    local lists = pass(made(), { size = 11 })[1].lists
    local scores = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    local function loss_of(o) return mr.losses.gbce(o)(scores, lists):totable() end
    equal(loss_of{ t = 0.6 }, loss_of{ t = 0.6, catalogue = 8 })
    check(math.abs(loss_of{ t = 0.6 }[1] - loss_of{ t = 0 }[1]) > 1e-3)
  end)

  it("is applied to random rankings with the user's catalogue and training items", function()
    for _, name in ipairs{ "pl_rank", "policy_gradient" } do
      local function make(bound)
        return function(scores, lists)
          mr.seed(5)
          return mr.losses[name]{ bound = bound, metric = "ndcg", samples = 9 }(scores, lists)
        end
      end
      local plain, users, under = bounded(make)
      for _, bound in ipairs{ "minmax", "expectation" } do
        for l, value in ipairs(under(bound)) do
          local grades = {}
          for i = 1, 8 do grades[i] = i <= relevant[users[l]] and 1 or 0 end
          local score = mr.tensor({ -plain[l] }, { dtype = "float64" })
          near(-value, mr.bounds.resolve(bound).apply(score, "ndcg", mr.lists{ grades }):item(), 1e-9, name)
        end
      end
    end
  end)

  it("stays that of the user if the lists get weights", function()
    local batch = pass(made(), { size = 11 })[1]
    local scores = mr.normal({ batch.lists.rows }, { seed = 3, dtype = "float64" })
    local loss = mr.losses.ap{ bound = "minmax" }
    local weights = mr.ones(batch.size)
    near(loss(scores, batch.lists, { list_weights = weights }), loss(scores, batch.lists), 1e-12)
  end)
end)

local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 60, seed = 1 }:binarize(4)
local fold = ratings:folds{ by = "share", k = 1, nsr = 0, valid = 0, seed = 1 }[1]

local function fit(options)
  local all = { model = mr.models.mf{ users = 30, items = 60, factors = 8, init = 0.1 }, loss = mr.losses.sl{ tau = 1 },
    train = fold.train, unit = "interaction", negatives = 20, batch = 64, epochs = 12, progress = false,
    optimizer = mr.optim.adam{ lr = 0.02 } }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all), all.model
end

describe("mr.fit of interactions", function()
  it("trains with losses of every family", function()
    for _, name in ipairs{ "sl", "bpr", "bce", "ndcg", "ranknet", "softmax_cross_entropy" } do
      local run = fit{ loss = mr.losses[name]{ bound = "minmax" } }
      local history = run.history
      check(history[#history].loss < history[1].loss, name)
    end
    local run, model = fit{ loss = mr.losses.sl{ tau = 1 } + 0.1 * mr.losses.bpr{} }
    check(run.history[12].loss < run.history[1].loss)
    check(fold:evaluate(model, { "ndcg@20" }).mean["ndcg@20"]
      > fold:evaluate(mr.models.mf{ users = 30, items = 60, factors = 8, init = 0.1 }, { "ndcg@20" }).mean["ndcg@20"])
  end)

  it("gives the same model from the same seed, and another with shared negatives", function()
    local _, one = fit()
    local _, two = fit()
    local _, three = fit{ shared_negatives = true }
    local function items(model) return model:parameters()[2]:totable() end
    equal(items(one), items(two))
    check(not pcall(equal, items(one), items(three)))
  end)

  it("draws the same negatives on a GPU as on the CPU", function()
    if not mr.has_cuda() then return test.skip "no CUDA device" end
    local lists = mr.lists{ { 1, 1, 1 }, { 1 } }
    local items = mr.tensor({ 2, 9, 40, 7 }, { dtype = "int64" })
    local table_of = core.user_items(lists, mr.tensor({ 1, 2 }, { dtype = "int64" }), items, 2, 41)
    for _, count in ipairs{ 1, 31, 32, 33, 1000 } do
      for _, shared in ipairs{ false, true } do
        local function drawn(device)
          local all = core.arange(1, 4, 1, "int64", "cpu")
          local found = table_of:with_negatives(all:narrow(1, 1, 2), all, count, shared, 5, 3, 0, 2, device)
          return { found.rows:totable(), found.users:totable(), found.shapes:totable() }
        end
        equal(drawn("cuda"), drawn("cpu"))
      end
    end
  end)

  it("draws the same first negatives, however many are drawn", function()
    local distinct, items, ones = {}, {}, {}
    for item = 1, 200 do
      if item * item % 7 < 4 then items[#items + 1], distinct[item], ones[#items + 1] = item, true, 1 end
    end
    local users, tensor = mr.tensor({ 1 }, { dtype = "int64" }), mr.tensor(items, { dtype = "int64" })
    local lists = mr.lists{ ones }
    -- among so many items, a third of the random integers are drawn again
    for _, all in ipairs{ 200, 2 ^ 32 // 3 + 2 } do
      local known = core.user_items(lists, users, tensor, 1, math.tointeger(all))
      local function drawn(count)
        return known:with_negatives(users, users, count, false, 5, 3, 0, 1, "cpu").rows:totable()
      end
      local few, many = drawn(32), drawn(1000)
      equal(table.move(many, 1, 33, 1, {}), few)
      for d = 2, 1001 do check(not distinct[many[d]] and many[d] >= 1 and many[d] <= all) end
    end
  end)

  it("names an order of interactions that was changed before its rows were drawn", function()
    local items = mr.tensor({ 2, 9 }, { dtype = "int64" })
    local known = core.user_items(mr.lists{ { 1, 1 } }, mr.tensor({ 1 }, { dtype = "int64" }), items, 1, 41)
    local order = mr.tensor({ 1, 2 }, { dtype = "int64" })
    local threads = core.threads()
    core.threads(1)
    local found = known:with_negatives(mr.tensor({ 1 }, { dtype = "int64" }), order, 3, false, 5, 1, 0, 2, "cpu")
    core.snapshot(mr.tensor({ 1 << 40, -5 }, { dtype = "int64" }), order)
    local ok, message = pcall(found.rows.totable, found.rows)
    core.threads(threads)
    check(not ok and message:find "order" and message:find "changed", message)
  end)

  it("trains on a GPU as on the CPU", function()
    if not mr.has_cuda() then return test.skip "no CUDA device" end
    local was, losses = mr.device(), {}
    for _, device in ipairs{ "cpu", "cuda" } do
      mr.device(device)
      local ok, message = pcall(function()
        for _, bound in ipairs{ "minmax", "zscore" } do
          for _, entry in ipairs(fit{ epochs = 3, loss = mr.losses.ap{ bound = bound } }.history) do
            losses[device] = losses[device] or {}
            table.insert(losses[device], entry.loss)
          end
        end
      end)
      mr.device(was)
      if not ok then error(message, 0) end
    end
    near(losses.cuda, losses.cpu, 1e-3)
  end)

  it("resumes from a checkpoint, and refuses one with another number of negatives", function()
    local path = os.tmpname()
    os.remove(path)
    fit{ epochs = 3, checkpoint = path }
    local run, model = fit{ epochs = 6, checkpoint = path }
    local _, straight = fit{ epochs = 6 }
    equal(run.resumed, 3)
    equal(model:parameters()[1]:totable(), straight:parameters()[1]:totable())
    raises(function() fit{ epochs = 6, negatives = 10, checkpoint = path } end, "batch", "20", "10")
    os.remove(path)
  end)

  it("refuses options that do not fit, with the argument's name", function()
    local function refused(words, options) raises(function() fit(options) end, table.unpack(words)) end
    refused({ "negatives", "20", "unit" }, { unit = "list" })
    refused({ "unit", "'pair'" }, { unit = "pair" })
    refused({ "negatives", "0" }, { negatives = 0 })
    refused({ "catalogue", "3" }, { catalogue = 3 })
    refused({ "catalogue", "61", "60" }, { catalogue = 61 })
    refused({ "distribution", "pl_rank" }, { loss = mr.losses.mse{} + mr.losses.pl_rank{ bound = "distribution" } })
    refused({ "train", "users and items" }, { train = mr.data.synthetic{ kind = "queries", queries = 5 },
      model = mr.models.linear{ inputs = 46 } })
    refused({ "slope_at", "distribution" }, { loss = mr.losses.sl{ bound = "distribution" } })
    for _, of in ipairs{ mr.losses.soft_precision{ k = 20 }, mr.losses.soft_top_k{ k = 11 },
      mr.losses.policy_gradient{ metric = "hit@20", samples = 2 } } do
      refused({ "loss", "10 negatives" }, { loss = of, negatives = 10 })
    end
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp", "approx_ndcg" } do
      refused({ "distribution_logit", name, "sample" }, { loss = mr.losses[name]{ bound = "distribution_logit" } })
      fit{ loss = mr.losses[name](), epochs = 1 }
      fit{ loss = mr.losses[name]{ bound = "minmax" }, epochs = 1 }
    end
    refused({ "interactions", "0" }, { train = fold.train:with_relevance(fold.train.lists.relevance * 0) })
    raises(function()
      mr.fit{ model = mr.models.mf{ users = 30, items = 60 }, loss = mr.losses.sl(), train = fold.train,
        unit = "interaction", batch_rows = 64 }
    end, "batch_rows")
  end)
end)
