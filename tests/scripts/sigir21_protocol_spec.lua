-- The protocol of the SIGIR'21 scripts on small made-up data, against numbers worked by hand.
local mr = require "moonrank"
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local training, analysis = dofile "scripts/sigir21/recipes.lua", dofile "scripts/sigir21/analysis.lua"
local protocol, recipes, data = training.protocol, training.recipes, dofile "scripts/sigir21/data.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

-- A data set of random splits, of users with 25, 24 and 50 relevant items among 400.
local function three_users()
  local users = {}
  for i, count in ipairs{ 25, 24, 50 } do users[i] = { relevant = count, value = 4, other = 1 } end
  return data.random_splits("three users", protocols.liking(users, 400):binarize(4))
end

it("data.random_splits takes users with 25 relevant items or more (4.1)", function()
  local fold, sums = three_users().fold(1, 1, 0), {}
  for _, part in ipairs{ fold.train, fold.test } do
    for l, n in ipairs((protocols.counts(part))) do sums[l] = (sums[l] or 0) + n end
  end
  table.sort(sums, function(a, b) return a > b end)
  equal(sums, { 50.0, 25.0 })
end)

it("data.random_splits makes three splits, with 80 % of relevant items in train, at the NSR (4.2)", function()
  local set, seen = three_users(), {}
  equal(set.splits, { 1, 2, 3 })
  for _, number in ipairs(set.splits) do
    local fold = set.fold(number, 2, 0)
    equal(fold.number, number)
    local trained, others = protocols.counts(fold.train)
    equal({ trained, others }, { { 20.0, 40.0 }, { 40.0, 80.0 } })
    equal({ protocols.counts(fold.test) }, { { 5.0, 10.0 }, { 10.0, 20.0 } })
    seen[fold.test.fingerprint] = true
  end
  local different = 0
  for _ in pairs(seen) do different = different + 1 end
  equal(different, 3)
  local ratios = {}
  for i, nsr in ipairs(protocol.nsr) do
    local relevant, others = protocols.counts(set.fold(1, nsr, 0).train)
    ratios[i] = others[1] / relevant[1]
  end
  equal(ratios, { 1.0, 2.0, 5.0 })  -- "as many negative items as positives, twice as many, or five times as many"
end)

-- A data set of few items: negatives meet the other parts' relevant items often. `asked` collects arguments of `fold`.
local function few_items(asked)
  local ratings = protocols.liking({ { relevant = 25, value = 4, other = 1 } }, 60):binarize(4)
  local set = data.random_splits("few items", ratings, { 2 })
  local fold = set.fold
  function set.fold(...)
    if asked then table.insert(asked, { ... }) end
    assert(select(3, ...), "the share of validation")
    return fold(...)
  end
  return set
end

it("recipes: fold draws train's negatives among test's relevant items in the code, not in the paper", function()
  local meet = {}
  for _, recipe in ipairs(training.recipe_names) do
    local fold = recipes[recipe].listwise.fold(few_items(), { split = 2, nsr = 1, seed = 1 })
    local relevant, negative = protocols.items(fold.test, true)[1], protocols.items(fold.train, false)[1]
    meet[recipe] = 0
    for item in pairs(negative) do meet[recipe] = meet[recipe] + (relevant[item] and 1 or 0) end
    local _, others = protocols.counts(fold.test)
    equal(others, { 5.0 })
  end
  equal(meet.paper, 0)
  check(meet.code > 0 and meet.published == meet.code, ("%d, %d"):format(meet.code, meet.published))
end)

it("recipes: fold makes the code's folds by split, ratio and seed", function()
  local set = few_items()
  local function of(split, nsr, seed)
    return recipes.code.lambda.fold(set, { split = split, nsr = nsr, seed = seed }).train
  end
  local _, others = protocols.counts(of(1, 1, 1))
  equal(others, { 20.0 })
  local first = of(1, 1, 1).fingerprint
  equal(of(1, 1, 1).fingerprint, first)
  for _, each in ipairs{ of(2, 1, 1), of(1, 2, 1), of(1, 1, 2) } do check(each.fingerprint ~= first, "another") end
  local paper = recipes.paper.lambda.fold(set, { split = 1, nsr = 1, seed = 1 })
  equal(paper.test.fingerprint, set.fold(1, 1, 0.1).test.fingerprint)
end)

it("recipes: fold validates on a tenth of train in the paper alone; analysis.positives counts both parts", function()
  local sizes = {}
  for i, recipe in ipairs(training.recipe_names) do
    local fold = recipes[recipe].listwise.fold(few_items(), { split = 1, nsr = 1, seed = 1 })
    sizes[i] = { (protocols.counts(fold.train))[1], (protocols.counts(fold.valid))[1] or 0 }
    equal(analysis.positives(fold), { 20.0 })
  end
  equal(sizes, { { 18.0, 2.0 }, { 20.0, 0 }, { 20.0, 0 } })
end)

local losses = { listwise = { "ndcg", "ap", "rr", "nrbp" }, lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)",
  "nrbp(0.95)" } }

local function train(recipe, o)
  local fold, model = protocols.fold(o)
  local run = protocol.train(recipes[recipe][o.kind], { loss = o.loss or "ndcg", rate = o.rate or 0.1, seed = 1,
    fold = fold, model = model, epochs = o.epochs })
  return run, model
end

-- One list more than a batch holds makes a second step.
it("protocol.train takes the users per step of every recipe, kind and loss", function()
  local batch = { paper = { listwise = 2048, lambda = 16 }, code = { listwise = 256, lambda = 16 },
    published = { listwise = 2048, lambda = 16 } }
  for _, recipe in ipairs(training.recipe_names) do
    for kind, names in pairs(losses) do
      for _, loss in ipairs(names) do
        local size = batch[recipe][kind]
        if recipe == "published" and kind == "listwise" and (loss == "ap" or loss == "nrbp") then size = 256 end
        local _, model = train(recipe, { kind = kind, loss = loss, lists = size + 1, epochs = 1 })
        table.sort(model.steps)
        equal({ recipe, loss, model.steps }, { recipe, loss, { 1, size } })
      end
    end
  end
end)

-- Two lists whose first of two rows with equal scores is relevant. Listwise: R = 1 + sigma(f2 - f1), nDCG = log 2 /
-- log(1 + R). LambdaRank: the change of nDCG by the swap is 1 - log 2 / log 3; times log(1 + exp(f2 - f1)) in the
-- paper, sigma(f2 - f1) in the code. Adam's first step is the learning rate.
it("protocol.train steps with the optimizer of every recipe, on the sum over users", function()
  local listwise = math.log(2) / (4 * 2.5 * math.log(2.5) ^ 2)
  local swap = 1 - math.log(2) / math.log(3)
  local steps = {
    paper = { listwise = 0.1 * 2 * listwise, lambda = 0.1 * 2 * swap / 2 },
    code = { listwise = 0.1, lambda = 0.1 * 2 * swap / 4 },
    published = { listwise = 0.1 * 2 * listwise, lambda = 0.1 },
  }
  for _, recipe in ipairs(training.recipe_names) do
    for kind, expected in pairs(steps[recipe]) do
      local _, model = train(recipe, { kind = kind, lists = 2, epochs = 1 })
      near(model:values(), { expected, -expected }, 1e-6, recipe .. " " .. kind)
    end
  end
end)

it("protocol.train tells losses the length of train's longest list", function()
  local set, how, longest = three_users(), {}, nil
  for name, value in pairs(recipes.code.listwise) do how[name] = value end
  function how.loss(name, rows)
    longest = rows
    return recipes.code.listwise.loss(name, rows)
  end
  protocol.train(how, { loss = "nrbp", rate = 0.1, seed = 1, epochs = 1, fold = set.fold(1, 1, 0),
    model = protocol.model(set, 4, 1) })
  equal(longest, 80)
end)

it("protocol.train uses the losses of the recipe", function()
  for _, recipe in ipairs(training.recipe_names) do
    local _, model = train(recipe, { kind = "listwise", loss = "nrbp", rate = 1e-4, epochs = 1 })
    local leaf = mr.zeros({ 2 }, { dtype = "float64" }):requires_grad()
    recipes[recipe].listwise.loss("nrbp", 2)(leaf, mr.lists{ { 1, 0 } }):sum():backward()
    local gradient = leaf.grad:totable()
    local by_adam = { -1e-4 * gradient[1] / math.abs(gradient[1]), -1e-4 * gradient[2] / math.abs(gradient[2]) }
    near(model:values(), recipe == "code" and by_adam or { -1e-4 * gradient[1], -1e-4 * gradient[2] }, 1e-9, recipe)
  end
end)

it("protocol.train measures every fifth epoch and the last one", function()
  local measured = {}
  for epoch, entry in ipairs(train("paper", { kind = "listwise", epochs = 12 }).history) do
    measured[#measured + 1] = entry.valid_loss and epoch or nil
  end
  equal(measured, { 5, 10, 12 })
end)

-- The second row begins above; training lifts the first, by at most 0.05 a step. In the part that chooses early the
-- second row is relevant.
it("protocol.train chooses the epoch on validation in the paper, and on test in the code", function()
  for _, recipe in ipairs(training.recipe_names) do
    local o = { kind = "lambda", start = { 0, 0.6 }, rate = 0.05, epochs = 100 }
    o[recipe == "paper" and "valid" or "test"] = { 0, 1 }
    local early = train(recipe, o)
    equal({ recipe, early.best.epoch }, { recipe, 5 })
    o.valid, o.test = o.test, o.valid
    check(train(recipe, o).best.epoch > 5, recipe .. " would choose by the other part")
  end
end)

-- The second of three rows begins last; training lifts it over the third at once, so that RR, which has the first row,
-- does not change, while nDCG on validation is best later. On test the third row is relevant.
it("protocol.outcome keeps each metric's choice, and the own models' test scores by user", function()
  local o = { kind = "listwise", grades = { 1, 1, 0 }, test = { 0, 0, 1 }, start = { 5, 0, 1 }, rate = 1,
    epochs = 400, users = 1 }
  local fold = protocols.fold(o)
  fold.test = protocols.alike(o.test, 1, 5)
  local found = protocol.outcome(train("paper", o), fold, { "ndcg", "rr" })
  local late = found["epoch by ndcg"]
  check(late > 5, tostring(late))
  equal({ found["epoch by rr"], found["chosen by ndcg"], found["chosen by rr"], found.valid }, { 5, 1.0, 1.0, 1.0 })
  local third, second = 1 / 3, 1 / 2  -- the place of the row that is relevant on test
  near({ found["rr, epoch by ndcg"], found["rr, epoch by rr"], found.rr }, { third, second, second }, 1e-6)
  near({ found["rbp(0.8), epoch by ndcg"], found.ndcg }, { 0.2 * 0.8 ^ 2, math.log(2) / math.log(4) }, 1e-6)
  local lists = found.per_list
  near({ lists["rr, epoch by ndcg"]:totable()[1], lists["ap, epoch by rr"]:totable()[1] }, { third, second }, 1e-6)
  equal({ lists.list.dtype, lists.list:totable() }, { "float64", { 5.0 } })
end)

it("training.study takes the split, ratio and validation share of its recipe, and the epochs of the options", function()
  local folder = sweeps.new_folder()
  local asked = {}
  for _, recipe in ipairs{ "paper", "code" } do
    local results = training.study({ store = folder .. "/r.db", workers = 0, retry = 0, epochs = 7 },
      few_items(asked), { recipe = recipe, nsr = 1, kind = "lambda", loss = "nrbp(0.95)", rate = 0.01,
        factors = 4, seed = 3 })
    check(mr.experiment.folds(results, { split = 2 }, "epoch by rbp(0.95)")[1] <= 7, recipe)
    equal(#mr.experiment.lists(results, { split = 2 }, "ap, epoch by rbp(0.95)"), 1)
  end
  equal(asked, { { 2, 1, 0.1 }, { 2, 0, 0 } })
end)

-- The relevant rows stand on ranks 2 and 6 of 7.
it("protocol.metrics are those that judge in 4.2, and each of them chooses", function()
  local run = train("published", { kind = "listwise", grades = { 0, 1, 0, 0, 0, 1, 0 },
    start = { 7, 6, 5, 4, 3, 2, 1 }, rate = 1e-9, epochs = 1 })
  local function discount(r) return math.log(2) / math.log(1 + r) end
  local function rbp(p) return (1 - p) * (p + p ^ 5) end
  local ideal, found, chose = discount(1) + discount(2), {}, {}
  for i, name in ipairs(protocol.metrics) do
    found[i], chose[i] = run.test.mean[name], run.choices[i].metric.name == name
  end
  near(found, { 1 / 2, (1 / 2 + 2 / 6) / 2, (discount(2) + discount(6)) / ideal, discount(2) / ideal, rbp(0.8),
    rbp(0.9), rbp(0.95) },
    1e-12)
  equal(chose, { true, true, true, true, true, true, true })
end)

it("protocol.own_metrics gives a loss its own metric (4.2), and listwise nRBP three persistences of RBP", function()
  local run, own = train("paper", { kind = "listwise", epochs = 1 }), {}
  for i, loss in ipairs{ "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.95)", "nrbp" } do
    own[i] = table.concat(protocol.own_metrics(loss), " ")
  end
  equal(own, { "ndcg", "ap", "rr", "rbp(0.8)", "rbp(0.95)", "rbp(0.8) rbp(0.9) rbp(0.95)" })
  for _, name in ipairs(protocol.own_metrics "nrbp") do check(run.test.mean[name], name) end
end)

it("protocol.model has 32 factors, or 8 to 128, from within 0.01 of 0, by seed", function()
  local set = { users = 20, items = 30 }
  local function numbers(factors, seed)
    local count, most, sum = 0, 0, 0.0
    for _, parameter in ipairs(protocol.model(set, factors, seed or 1):parameters()) do
      local values = parameter:detach():double():reshape(-1)
      count, most, sum = count + #values, math.max(most, values:abs():max():item()), sum + values:sum():item()
    end
    return count / 50, most, sum
  end
  local usual, most, sum = numbers()
  equal(usual, 32.0)
  check(most <= 0.01 and most > 0.0099, tostring(most))
  check(select(3, numbers(nil, 2)) ~= sum and select(3, numbers(nil, 1)) == sum, "by seed")
  local searched = {}
  for i, factors in ipairs{ 8, 16, 32, 64, 128 } do searched[i] = numbers(factors) end
  equal(searched, { 8.0, 16.0, 32.0, 64.0, 128.0 })
end)

it("recipes have titles that say which part chooses", function()
  local names = {}
  for i, recipe in ipairs(training.recipe_names) do
    names[i] = recipe
    local title, part = recipes[recipe].title, recipe == "paper" and "validation" or "test"
    check(title:find("chosen on " .. part, 1, true), title)
  end
  table.sort(names)
  equal(names, { "code", "paper", "published" })
end)
