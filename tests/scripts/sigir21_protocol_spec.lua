-- The protocol of the SIGIR'21 scripts on small made-up data, against numbers worked by hand; linear models against R.
local mr = require "moonrank"
local test = require "moonrank.test"
local json = dofile "tests/support/json.lua"
local protocols = dofile "tests/support/protocols.lua"
local protocol = dofile "scripts/sigir21/protocol.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

-- Users with 25, 24 and 50 items of one value among 400, which have another.
local function three_users(value, other)
  return protocols.liking({ { relevant = 25, value = value, other = other }, { relevant = 24, value = value,
    other = other },
    { relevant = 50, value = value, other = other } }, 400)
end

-- Relevant rows of each user in all parts of a split, in falling order.
local function relevant_in(ratings)
  local fold, sums = protocol.split(ratings, 1, 1, 0), {}
  for _, part in ipairs{ fold.train, fold.test } do
    for l, n in ipairs((protocols.counts(part))) do sums[l] = (sums[l] or 0) + n end
  end
  table.sort(sums, function(a, b) return a > b end)
  return sums
end

it("protocol.relevant takes ratings of 4 and 5 of users with 25 relevant items or more (4.1)", function()
  equal(relevant_in(protocol.relevant.graded(three_users(4, 3.5))), { 50.0, 25.0 })
  equal(relevant_in(protocol.relevant.graded(three_users(5, 1))), { 50.0, 25.0 })
  equal(relevant_in(protocol.relevant.unary(three_users(1, 0.5))), { 50.0, 25.0 })
  equal(relevant_in(protocol.relevant.published(three_users(1, 0.5))), { 50.0, 25.0, 24.0 })
end)

it("protocol.split makes three splits with 80 % of each user's relevant items in train, at the NSR (4.2)", function()
  local ratings, seen = protocol.relevant.graded(three_users(4, 1)), {}
  for number = 1, protocol.splits do
    local fold = protocol.split(ratings, number, 2, 0)
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
    local relevant, others = protocols.counts(protocol.split(ratings, 1, nsr, 0).train)
    ratios[i] = others[1] / relevant[1]
  end
  equal(ratios, { 1.0, 2.0, 5.0 })  -- "as many negative items as positives, twice as many, or five times as many"
end)

-- A data set as data.lua has it, of few items: negatives meet the other parts' relevant items often.
local function few_items()
  local ratings = protocol.relevant.graded(protocols.liking({ { relevant = 25, value = 4, other = 1 } }, 60))
  return { users = ratings.users, items = ratings.items,
    fold = function(split, nsr, valid) return protocol.split(ratings, split, nsr, assert(valid,
      "the share of validation")) end }
end

it("protocol.fold draws train's negatives among test's relevant items in the code, not in the paper", function()
  local meet = {}
  for _, recipe in ipairs(protocol.recipe_names) do
    local fold = protocol.fold(recipe, few_items(), { split = 2, nsr = 1, seed = 1 })
    local relevant, negative = protocols.items(fold.test, true)[1], protocols.items(fold.train, false)[1]
    meet[recipe] = 0
    for item in pairs(negative) do meet[recipe] = meet[recipe] + (relevant[item] and 1 or 0) end
    local _, others = protocols.counts(fold.test)
    equal(others, { 5.0 })
  end
  equal(meet.paper, 0)
  check(meet.code > 0 and meet.published == meet.code, ("%d, %d"):format(meet.code, meet.published))
end)

it("protocol.fold makes the code's folds by split, ratio and seed", function()
  local set = few_items()
  local function of(split, nsr, seed)
    return protocol.fold("code", set, { split = split, nsr = nsr, seed = seed }).train
  end
  local _, others = protocols.counts(of(1, 1, 1))
  equal(others, { 20.0 })
  local first = of(1, 1, 1).fingerprint
  equal(of(1, 1, 1).fingerprint, first)
  for _, each in ipairs{ of(2, 1, 1), of(1, 2, 1), of(1, 1, 2) } do check(each.fingerprint ~= first, "another") end
  local paper = protocol.fold("paper", set, { split = 1, nsr = 1, seed = 1 })
  equal(paper.test.fingerprint, set.fold(1, 1, 0.1).test.fingerprint)
end)

it("protocol.fold validates on a tenth of train in the paper alone; protocol.positives counts both parts", function()
  local sizes = {}
  for i, recipe in ipairs(protocol.recipe_names) do
    local fold = protocol.fold(recipe, few_items(), { split = 1, nsr = 1, seed = 1 })
    sizes[i] = { (protocols.counts(fold.train))[1], (protocols.counts(fold.valid))[1] or 0 }
    equal(protocol.positives(fold), { 20.0 })
  end
  equal(sizes, { { 18.0, 2.0 }, { 20.0, 0 }, { 20.0, 0 } })
  local function part(users, grades)
    return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }),
      items = mr.arange(1, 2 * #grades):long() }
  end
  equal(protocol.positives{ train = part({ 3, 1 }, { { 1, 1 }, { 1, 0 } }), valid = part({ 1 }, { { 0, 1 } }),
    test = part({ 1, 2, 3 }, { { 1, 0 }, { 1, 0 }, { 1, 0 } }) }, { 2.0, 0.0, 2.0 })
end)

local losses = { listwise = { "ndcg", "ap", "rr", "nrbp" }, lambda = { "ndcg", "ap", "rr", "nrbp(0.8)", "nrbp(0.9)",
  "nrbp(0.95)" } }

local function train(recipe, o)
  local fold, model = protocols.fold(o)
  local run = protocol.train(recipe, { kind = o.kind, loss = o.loss or "ndcg", rate = o.rate or 0.1, seed = 1,
    fold = fold, model = model,
    epochs = o.epochs })
  return run, model
end

-- One list more than a batch holds makes a second step.
it("protocol.train takes the users per step of every recipe, kind and loss", function()
  local batch = { paper = { listwise = 2048, lambda = 16 }, code = { listwise = 256, lambda = 16 },
    published = { listwise = 2048, lambda = 16 } }
  for _, recipe in ipairs(protocol.recipe_names) do
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
  for _, recipe in ipairs(protocol.recipe_names) do
    for kind, expected in pairs(steps[recipe]) do
      local _, model = train(recipe, { kind = kind, lists = 2, epochs = 1 })
      near(model:values(), { expected, -expected }, 1e-6, recipe .. " " .. kind)
    end
  end
end)

it("protocol.train tells losses the length of train's longest list", function()
  local ratings, new, longest = protocol.relevant.graded(three_users(4, 1)), protocol.losses.new, nil
  rawset(protocol.losses, "new", function(recipe, kind, name, rows)
    longest = rows
    return new(recipe, kind, name, rows)
  end)
  local ok, problem = pcall(protocol.train, "code", { kind = "listwise", loss = "nrbp", rate = 0.1, seed = 1,
    epochs = 1,
    fold = protocol.split(ratings, 1, 1, 0), model = protocol.model(ratings, 4, 1) })
  rawset(protocol.losses, "new", new)
  equal({ ok, longest }, { true, 80 }, tostring(problem))
end)

it("protocol.train uses the losses of the recipe", function()
  for _, recipe in ipairs(protocol.recipe_names) do
    local _, model = train(recipe, { kind = "listwise", loss = "nrbp", rate = 1e-4, epochs = 1 })
    local leaf = mr.zeros({ 2 }, { dtype = "float64" }):requires_grad()
    protocol.losses.new(recipe, "listwise", "nrbp", 2)(leaf, mr.lists{ { 1, 0 } }):sum():backward()
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
  for _, recipe in ipairs(protocol.recipe_names) do
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
  equal({ found["epoch by rr"], found["chosen by ndcg"], found["chosen by rr"], found.valid, found.users }, { 5, 1.0,
    1.0, 1.0, 1 })
  local third, second = 1 / 3, 1 / 2  -- the place of the row that is relevant on test
  near({ found["rr, epoch by ndcg"], found["rr, epoch by rr"], found.rr }, { third, second, second }, 1e-6)
  near({ found["rbp(0.8), epoch by ndcg"], found.ndcg }, { 0.2 * 0.8 ^ 2, math.log(2) / math.log(4) }, 1e-6)
  local lists = found.per_list
  near({ lists["rr, epoch by ndcg"]:totable()[1], lists["ap, epoch by rr"]:totable()[1] }, { third, second }, 1e-6)
  -- the user of test has nothing in train
  equal({ lists.user.dtype, lists.user:totable(), lists.positives }, { "float64", { 5.0 }, { 0.0 } })
end)

it("runs.train takes the split, ratio and validation share of its recipe, and the epochs of the options", function()
  local runs, asked = dofile "scripts/sigir21/runs.lua", {}
  local made = few_items()
  local set = { users = made.users, items = made.items, fold = function(...)
    table.insert(asked, { ... })
    return made.fold(...)
  end }
  for _, recipe in ipairs{ "paper", "code" } do
    local found = runs.train({ recipe = recipe, epochs = 7, rates = {}, smoke = false },
      { set = set, split = 2, nsr = 1, kind = "lambda", loss = "nrbp(0.95)", rate = 0.01, factors = 4, seed = 3 })
    check(found["epoch by rbp(0.95)"] <= 7 and found["ap, epoch by rbp(0.95)"], recipe)
    equal({ found.users, found.per_list.positives }, { 1, { 20.0 } })
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
  for i, factors in ipairs(protocol.all_factors) do searched[i] = numbers(factors) end
  equal(searched, { 8.0, 16.0, 32.0, 64.0, 128.0 })
end)

-- Trainings at the rates of a recipe whose chosen number falls with the distance from a rate.
local function chosen_rate(recipe, kind, peak)
  local several = {}
  for i, rate in ipairs(protocol.training(recipe, kind, "ndcg").rates) do
    several[i] = { rate = rate, chosen_by = -math.abs(math.log(rate / peak)), score = math.log(rate / peak) ^ 2 }
  end
  return protocol.best(several).rate
end

it("protocol.best takes the learning rate (4.2) with the highest number on the part that chooses", function()
  for _, recipe in ipairs(protocol.recipe_names) do
    for kind, rates in pairs{ lambda = { 0.001, 0.01, 0.1 }, listwise = { 0.001, 0.01, 0.1, 1, 3, 10 } } do
      for _, rate in ipairs(rates) do equal(chosen_rate(recipe, kind, rate), rate) end
      equal({ chosen_rate(recipe, kind, 1e-9), chosen_rate(recipe, kind, 1e9) }, { rates[1], rates[#rates] })
    end
  end
  local first = { chosen_by = 0.5 }
  check(protocol.best{ { chosen_by = 0.25 }, first, { chosen_by = 0.5 } } == first, "the first of equal ones")
end)

it("protocol.recipes have titles that say which part chooses", function()
  local names = {}
  for i, recipe in ipairs(protocol.recipe_names) do
    names[i] = recipe
    local title, part = protocol.recipes[recipe].title, recipe == "paper" and "validation" or "test"
    check(title:find("chosen on " .. part, 1, true), title)
  end
  table.sort(names)
  equal(names, { "code", "paper", "published" })
end)

-- Rows of {loss, dataset, nsr, score}.
local function rows_of(list)
  local rows = {}
  for i, each in ipairs(list) do rows[i] = { loss = each[1], dataset = each[2], nsr = each[3], score = each[4] } end
  return rows
end

it("protocol.analysed leaves out the loss of RR (5.1)", function()
  local kept = protocol.analysed(rows_of{ { "rr", "a", 1, 0.1 }, { "ap", "a", 1, 0.2 }, { "nrbp(0.8)", "a", 1, 0.3 } })
  equal({ #kept, kept[1].loss, kept[2].loss }, { 2, "ap", "nrbp(0.8)" })
end)

it("protocol.linear_model has R's marginal means of scores standardised by data set and NSR (5.2)", function()
  local golden = json.read "tests/golden/linear_models.json"
  for _, name in ipairs{ "balanced", "unbalanced" } do
    local g, rows = golden[name], {}
    for i, loss in ipairs(g.loss) do
      rows[i] = { loss = loss, dataset = g.data[i], nsr = g.nsr[i], score = g.score[i] }
    end
    local model = protocol.linear_model(rows)
    for i, mean in ipairs(model:emmeans "loss") do
      near({ mean.mean, mean.low, mean.prediction_high },
        { g.loss_means.mean[i], g.loss_means.low[i], g.loss_means.prediction_high[i] }, { rtol = 1e-9 })
    end
  end
end)

-- Within a data set and NSR the scores 1, 3, 5, 7 have the mean 4 and the deviation sqrt(20 / 3); with one data set and
-- NSR there are two means of two scores each.
it("protocol.linear_model has no factor for a single data set or NSR (5.2)", function()
  local scores = { { "ap", "a", 1, 1 }, { "ap", "a", 1, 3 }, { "nrbp", "a", 1, 5 }, { "nrbp", "a", 1, 7 } }
  local one = protocol.linear_model(rows_of(scores))
  equal(one.df, 2)
  near(one:emmeans("loss")[2].mean, 2 / math.sqrt(20 / 3), 1e-12)
  for i = 1, 4 do scores[4 + i] = { scores[i][1], "a", 5, 100 + 10 * scores[i][4] } end
  local two = protocol.linear_model(rows_of(scores))
  equal(two.df, 4)  -- eight scores less mean, loss, NSR, and loss by NSR
  near(two:emmeans("loss")[2].mean, 2 / math.sqrt(20 / 3), 1e-12)  -- both NSR are alike once standardised
end)

-- Pooled over three losses of three runs each with deviation 1: the difference of two means has t = difference / sqrt(2
-- / 3) with 6 degrees of freedom. At 2 t is 2.449 and p = 0.0498; Holm's correction makes 2 or 3 times as much of it.
it("protocol.winner is significant if it is above every other one by t test and Holm's correction (5.2)", function()
  local function winner(a, b, c)
    local rows = {}
    for loss, mean in pairs{ ap = a, ndcg = b, nrbp = c } do
      for i = -1, 1 do rows[#rows + 1] = { loss = loss, dataset = "a", nsr = 1, score = mean + i } end
    end
    return { protocol.winner(protocol.linear_model(rows), "lambda") }
  end
  equal(winner(0, 0, 2.1), { "nrbp", false })    -- p = 0.042 twice, 0.13 corrected
  equal(winner(0, 0, 9), { "nrbp", true })       -- the other two are not apart
  equal(winner(0, 9, 9.5), { "nrbp", false })    -- above one of two
  equal(winner(9.5, 9, 0), { "ap", false })
  equal(winner(9, 0, 0), { "ap", true })
  equal({ protocol.significant(0.0499), protocol.significant(0.05), protocol.level }, { true, false, 0.05 })
end)

-- Compares three losses with means 0, 9 and 9.5, three runs each with deviation 1.
it("protocol.winner does not compare the three models of listwise nRBP, which are of one training", function()
  local function winner(kind, first, second)
    local rows = {}
    for loss, mean in pairs{ ap = 0, [first] = 9, [second] = 9.5 } do
      for i = -1, 1 do rows[#rows + 1] = { loss = loss, dataset = "a", nsr = 1, score = mean + i } end
    end
    return { protocol.winner(protocol.linear_model(rows), kind) }
  end
  equal(winner("listwise", "nrbp(0.8)", "nrbp(0.95)"), { "nrbp(0.95)", true })
  equal(winner("lambda", "nrbp(0.8)", "nrbp(0.95)"), { "nrbp(0.95)", false })
  equal(winner("listwise", "ndcg", "nrbp(0.95)"), { "nrbp(0.95)", false })
  equal(winner("listwise", "nrbp(0.95)", "ndcg"), { "ndcg", false })
  local same = protocol.same_training
  equal({ same("listwise", "nrbp(0.8)", "nrbp(0.9)"), same("listwise", "ap", "nrbp(0.8)"),
    same("listwise", "nrbp(0.8)", "ap"), same("lambda", "nrbp(0.8)", "nrbp(0.9)") }, { true, false, false, false })
  local names = {}
  for i, by in ipairs(protocol.own_metrics "nrbp") do names[i] = protocol.model_name("nrbp", by) end
  equal(names, { "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" })
  equal({ protocol.model_name("ap", "ap"), protocol.model_name("nrbp(0.8)", "rbp(0.8)") }, { "ap", "nrbp(0.8)" })
end)

it("protocol.compared pairs nRBP(0.95) with AP and nDCG if all three have runs (Figure 5)", function()
  local function compared(...)
    local rows, found = {}, {}
    for i, loss in ipairs{ ... } do rows[i] = { loss = loss } end
    for i, pair in ipairs(protocol.compared(rows)) do
      found[i] = ("%s: %d of %s, %d of %s"):format(pair.loss, #pair.rows, pair.rows[1].loss, #pair.others,
        pair.others[1].loss)
    end
    return found
  end
  equal(compared("ap", "nrbp(0.95)", "nrbp(0.95)", "ndcg", "nrbp(0.8)", "rr"),
    { "ap: 2 of nrbp(0.95), 1 of ap", "ndcg: 2 of nrbp(0.95), 1 of ndcg" })
  equal({ compared("ap", "nrbp(0.95)"), compared("nrbp(0.95)", "ndcg"), compared("ap", "ndcg", "nrbp(0.8)") }, { {},
    {}, {} })
end)

it("protocol.correct turns p-values 0.01, 0.04, 0.03 into 0.03, 0.06, 0.06 (Figure 5)", function()
  near(protocol.correct{ 0.01, 0.04, 0.03 }, { 0.03, 0.06, 0.06 },
    1e-12)  -- 3 times the least, 2 times the next, no less after it
end)

it("protocol.smoothed doubles the penalty until a spline has ten degrees of freedom at most (Figure 5)", function()
  local x, waves, line = {}, {}, {}
  for i = 1, 120 do x[i], waves[i], line[i] = i / 10, math.sin(2 * i / 10), i / 10 + (i * 7 % 5 - 2) / 10 end
  local range = { 1, 11 }
  local free, fit = mr.stats.spline(x, waves, { range = range }), protocol.smoothed(x, waves, range)
  check(free.df > 10 and fit.df <= 10, ("%g, %g"):format(free.df, fit.df))
  local doubled = math.log(fit.lambda / free.lambda, 2)
  near(doubled, math.floor(doubled + 0.5), 1e-6)
  check(mr.stats.spline(x, waves, { range = range, lambda = fit.lambda / 2 }).df > 10, "no more than needed")
  near({ fit.x[1]:item(), fit.x[#fit.x]:item() }, range, 1e-9)
  equal(protocol.most_df, 10)  -- the captions say so
  local usual = mr.stats.spline(x, line, { range = range })
  check(usual.df < 10 and usual.df > 1, tostring(usual.df))
  near(protocol.smoothed(x, line, range).lambda, usual.lambda, { rtol = 1e-12 })
end)

it("protocol.near accepts differences up to 0.003", function()
  equal({ protocol.near(0.003), protocol.near(-0.003), protocol.near(0.0031), protocol.near(-0.0031) }, { true, true,
    false, false })
end)
