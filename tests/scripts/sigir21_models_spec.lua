-- Decisions of the SIGIR'21 scripts beside protocol.lua, on small made-up data: which data a set has, what a trial is
-- trained with, and which of the kept runs a row is made of.
local mr = require "moonrank"
local test = require "moonrank.test"
local in_process = dofile "tests/support/in_process.lua"
local protocols = dofile "tests/support/protocols.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local data, protocol = dofile "scripts/sigir21/data.lua", dofile "scripts/sigir21/protocol.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

-- Calls body with a function of a table replaced.
local function with(place, name, replacement, body)
  local was = rawget(place, name)
  rawset(place, name, replacement)
  local ok, problem = pcall(body)
  rawset(place, name, was)
  if not ok then error(problem, 0) end
end

-- Numbers of relevant rows of each user in train, valid and test of a split together, the largest first.
local function relevant_in(fold)
  local sums = {}
  for _, each in ipairs{ fold.train, fold.valid, fold.test } do
    for l, n in ipairs((protocols.counts(each))) do sums[l] = (sums[l] or 0) + n end
  end
  table.sort(sums, function(a, b) return a > b end)
  return sums
end

it("data.open takes MovieLens' ratings of 4 and more and all of CiteULike-a, of users with 25 (4.1)", function()
  local cases = { movielens = { "movielens", 4, 3.5, "ml-latest-small" },
    citeulike_splits = { "citeulike", 1, 0.5, "citeulike-a" } }
  for name, case in pairs(cases) do
    local users, asked = {}, nil
    for i, count in ipairs{ 25, 24, 50 } do users[i] = { relevant = count, value = case[2], other = case[3] } end
    local ratings = protocols.liking(users, 400)
    with(mr.data, case[1], function(path)
      asked = path
      return ratings
    end, function()
      local set = data.open({ data = "there", smoke = false }, name)
      equal({ asked, set.splits, set.users, set.items },
        { "there/" .. case[4], { 1, 2, 3 }, ratings.users, ratings.items })
      local fold = set.fold(2, 5, 0.1)
      equal({ fold.number, relevant_in(fold) }, { 2, { 50.0, 25.0 } })
      -- 20 of 25 relevant items are in train, a tenth of which validates; five negatives for each
      local relevant, others = protocols.counts(fold.train)
      table.sort(relevant)
      table.sort(others)
      equal({ relevant, others }, { { 18.0, 36.0 }, { 90.0, 180.0 } })
    end)
  end
end)

it("data.open of a folder has each split's own files, and the ratio and validation share asked for", function()
  local parent = sweeps.new_folder()
  local folder = parent .. "/citeulike-a"
  for split = 0, 1 do
    os.execute(("mkdir -p %s/fold_%d"):format(folder, split))
    for name, first in pairs{ train = 1, test = 31 } do
      local lines = { "user,item,rating,user_id,item_id" }
      for i = first, first + (name == "train" and 9 or 1 + split) do
        lines[#lines + 1] = ("0,%d,0.5,0,%d"):format(i, i)
      end
      for i = first + 40, name == "train" and 70 or 71 do lines[#lines + 1] = ("1,%d,0.5,1,%d"):format(i, i) end
      sweeps.write(("%s/fold_%d/%s.csv"):format(folder, split, name), table.concat(lines, "\n") .. "\n")
    end
  end
  for name, args in pairs{ folder = { folder = folder }, citeulike = { data = parent } } do
    local set = data.open(args, name)
    equal(set.splits, { 0, 1 })
    for split = 0, 1 do
      local fold, counts = set.fold(split, 0, 0.2), {}
      for i, each in ipairs{ fold.train, fold.valid, fold.test } do counts[i] = protocols.counts(each)[1] end
      equal(counts, { 8.0, 2.0, 2.0 + split })
    end
    local relevant, others = protocols.counts(set.fold(1, 2, 0).test)
    equal({ relevant[1], others[1] }, { 3.0, 6.0 })
  end
  local one = protocol.given_splits("one split", folder, { 1 })
  -- users 0 and 1; items 1 to 10, 31 to 33 and 41 to 71
  equal({ one.users, one.items, protocols.counts(one.fold(1, 0, 0).test)[1] }, { 2, 44, 3.0 })
end)

it("protocol.citeulike has the same made-up data as data.open", function()
  local own, opened = protocol.citeulike{ smoke = true }, data.open({ smoke = true }, "citeulike")
  local other = data.open({ smoke = true }, "movielens")
  equal({ own.splits, opened.splits, own.title }, { { 1 }, { 1 }, opened.title })
  local function content(set) return set.fold(1, 1, 0).test.fingerprint end
  equal(content(own), content(opened))
  check(content(own) ~= content(other), "each name has its own made-up data")
end)

-- models.lua with replaced trainings, its protocol, and the options of a script that uses it. User 7 has 20
-- relevant items in train on split 0, and 21 on split 1; user 8 has none.
local function made_runs(folder, train)
  local models = dofile "scripts/sigir21/models.lua"
  local replaced = models.protocol
  rawset(models.data, "open", function()
    return { title = "made", splits = { 0, 1 }, items = 1000, fold = function(split)
      local grades = {}
      for i = 1, 20 + split do grades[i] = 1 end
      return { train = protocols.alike(grades, 1, 7), valid = protocols.alike({ 0 }, 1, 7) }
    end }
  end)
  local function made_fold(set, o) return { set = set, split = o.split, nsr = o.nsr, seed = o.seed } end
  for _, recipe in pairs(models.training.recipes) do
    for kind in pairs(models.training.losses) do
      recipe[kind] = { kind = kind, epochs = recipe[kind].epochs, fold = made_fold }
    end
  end
  replaced.model = function(_, factors, seed) return { factors = factors, seed = seed } end
  replaced.train = function(how, o)
    o.kind = how.kind
    return o
  end
  replaced.outcome = function(o, fold, own)
    equal({ fold.seed, o.model.seed }, { o.seed, o.seed })
    return train{ split = fold.split, seed = o.seed, nsr = fold.nsr, kind = o.kind, loss = o.loss, rate = o.rate,
      factors = o.model.factors, set = fold.set, epochs = o.epochs, own = table.concat(own, " ") }
  end
  return models,
    { store = folder .. "/r.db", workers = 0, retry = 0, data = "", recipe = "code", epochs = 0, smoke = false,
    rates = replaced.rates, sets = { "movielens" }, nsr = { 1 }, kinds = { "listwise" },
    losses = { "nrbp" } }
end

it("training.study gives a trial the options of its study, and each split and seed a seed of its own", function()
  local folder = sweeps.new_folder()
  local asked = {}
  local models, args = made_runs(folder, function(o)
    asked[#asked + 1] = { o.split, o.seed, o.nsr, o.kind, o.loss, o.rate, o.factors, o.set.title, o.epochs, o.own }
    return { valid = 0.5 }
  end)
  local set = models.set(args, "movielens")
  models.training.study(args, set, { recipe = "code", nsr = 5, kind = "lambda", loss = "nrbp(0.9)", rate = 0.01 })
  models.training.study(args, set, { recipe = "code", nsr = 2, kind = "listwise", loss = "rr", rate = 3,
    factors = 8, seed = 3 })
  equal(asked, { { 0, 1, 5, "lambda", "nrbp(0.9)", 0.01, 32, "made", 120, "rbp(0.9)" },
    { 1, 2, 5, "lambda", "nrbp(0.9)", 0.01, 32, "made", 120, "rbp(0.9)" },
    { 0, 2001, 2, "listwise", "rr", 3, 8, "made", 3000, "rr" },
    { 1, 2002, 2, "listwise", "rr", 3, 8, "made", 3000, "rr" } })
  models.training.study(args, set, { recipe = "code", nsr = 2, kind = "listwise", loss = "nrbp", rate = 3 })
  equal({ #asked, table.remove(asked)[10], table.remove(asked)[10] },
    { 6, "rbp(0.8) rbp(0.9) rbp(0.95)", "rbp(0.8) rbp(0.9) rbp(0.95)" })
  -- a second seed has runs of its own; runs that are there are not made again
  args.epochs = 1
  for _, seed in ipairs{ 1, 2, 1 } do
    models.training.study(args, set, { recipe = "code", nsr = 1, kind = "lambda", loss = "ap", rate = 0.1,
      seed = seed })
  end
  local made = {}
  for i = 5, #asked do made[i - 4] = { asked[i][1], asked[i][2], asked[i][9] } end
  equal(made, { { 0, 1, 1 }, { 1, 2, 1 }, { 0, 1001, 1 }, { 1, 1002, 1 } })
end)

it("training.study has the recipe's epochs unless --epochs says otherwise", function()
  local folder, epochs = sweeps.new_folder(), {}
  local models = made_runs(folder, function(o)
    table.insert(epochs, o.epochs)
    return { valid = 0.5 }
  end)
  for seed, words in ipairs{ "", "--epochs 0", "--epochs 7", "--recipe code" } do
    local list = { "--store", folder .. "/r.db", "--workers", "0" }
    for word in words:gmatch "%S+" do list[#list + 1] = word end
    local args = in_process.with_words(list, function() return models.args{} end)
    models.training.study(args, models.set(args, "movielens"),
      { recipe = args.recipe, nsr = 1, kind = "lambda", loss = "ap", rate = 0.1, seed = seed })
  end
  equal(epochs, { 3000, 3000, 3000, 3000, 7, 7, 120, 120 })  -- two splits each
end)

-- A place for each metric, so that a score says which metric it is of and which one chose its epoch.
local place = {}
for i, metric in ipairs(protocol.metrics) do place[metric] = i end

local function score_of(rate, split, metric, by)
  return rate / 100 + split / 10 + place[metric] / 1000 + place[by] / 10000
end

-- The result that a study keeps of a training of listwise nRBP: RBP(0.8) chooses the rate 0.1 on split 0 and 3 on split
-- 1, and RBP(0.95) the other way round. To RBP(0.9) all rates are equal, so that the first one is taken.
local function kept_of(o)
  local result = { valid = 0.5, per_list = { list = mr.tensor{ 7.0, 8.0 } } }
  for metric in pairs(place) do
    result[metric], result["epoch by " .. metric], result["chosen by " .. metric] = 0.99, 5 * place[metric], 0.1
    for by in pairs(place) do
      local name = ("%s, epoch by %s"):format(metric, by)
      result[name] = score_of(o.rate, o.split, metric, by)
      result.per_list[name] = mr.tensor{ result[name], result[name] }
    end
  end
  result["chosen by rbp(0.8)"] = (o.rate == (o.split == 0 and 0.1 or 3)) and 0.9 or 0.2
  result["chosen by rbp(0.95)"] = (o.rate == (o.split == 0 and 3 or 0.1)) and 0.8 or 0.3
  return result
end

it("models.rows take the epoch and rate that the model's own metric chose for each split (4.2)", function()
  local folder = sweeps.new_folder()
  local models, args = made_runs(folder, kept_of)
  local seen = 0
  for _, row in ipairs(models.rows(args)) do
    local by = row.loss:gsub("^n", "")
    local rate = by == "rbp(0.9)" and 0.001 or (by == "rbp(0.8)") == (row.split == 0) and 0.1 or 3
    local score, lists = score_of(rate, row.split, row.metric, by), row.per_list()
    equal({ row.dataset, row.nsr, row.kind, row.lr, row.epoch, row.chosen_by }, { "made", 1, "listwise", rate,
      5 * place[by], by == "rbp(0.8)" and 0.9 or by == "rbp(0.9)" and 0.1 or 0.8 }, row.loss .. " " .. row.metric)
    near({ row.score, lists.scores[1] }, { score, score }, 1e-6)
    equal({ lists.positives, lists.users }, { { 20.0 + row.split, 0.0 }, { 7.0, 8.0 } })
    seen = seen + 1
  end
  equal(seen, 3 * 7 * 2)  -- models, metrics, splits
end)

it("models.rows choose a rate for each NSR, kind of loss and split", function()
  local models = dofile "scripts/sigir21/models.lua"
  local trainings, asked = {}, { { 1, "listwise" }, { 2, "listwise" }, { 2, "lambda" } }
  for _, each in ipairs(asked) do
    for _, rate in ipairs{ 0.1, 1 } do trainings[#trainings + 1] = { nsr = each[1], kind = each[2], rate = rate } end
  end
  with(models.training, "trainings", function() return trainings end, function()
    with(models, "set", function() return {} end, function()
      with(models, "rows_of", function(_, _, o)
        local rows = {}
        for split = 0, 1 do
          rows[split + 1] = { dataset = "made", split = split, nsr = o.nsr, kind = o.kind, loss = "ndcg",
            metric = "ndcg", lr = o.rate, chosen_by = o.rate == (split == 0 and 0.1 or 1) and 0.9 or 0.2, score = 0.5 }
        end
        return rows
      end, function()
        local found, expected = {}, {}
        for i, row in ipairs(models.rows{ sets = { "made" } }) do
          found[i] = { row.nsr, row.kind, row.split, row.lr }
        end
        for _, each in ipairs(asked) do
          for split = 0, 1 do expected[#expected + 1] = { each[1], each[2], split, split == 0 and 0.1 or 1 } end
        end
        equal(found, expected)
      end)
    end)
  end)
end)

it("models.rows_of has no rows of a training whose scores are NaN", function()
  local folder = sweeps.new_folder()
  local models, args = made_runs(folder, function(o)
    local result = kept_of(o)
    if o.rate == 3 then
      for name in pairs(result) do
        if name:find ", epoch by " then result[name] = 0 / 0 end
      end
    end
    return result
  end)
  local o = { recipe = "code", nsr = 1, kind = "listwise", loss = "nrbp" }
  o.rate = 3
  equal(#models.rows_of(args, models.set(args, "movielens"), o), 0)
  o.rate = 1
  equal(#models.rows_of(args, models.set(args, "movielens"), o), 3 * 7 * 2)
end)

it("training.study has no results if training diverged on every split, and those of the others if on one", function()
  local folder = sweeps.new_folder()
  local models, args = made_runs(folder, function(o)
    if o.rate == 3 or o.split == 1 then error("mr.fit: the loss is NaN in epoch 1", 0) end
    return kept_of(o)
  end)
  local set, o = models.set(args, "movielens"),
    { recipe = "code", nsr = 1, kind = "listwise", loss = "nrbp", rate = 3 }
  equal({ models.training.study(args, set, o), models.of(args, set, o) }, { nil, {} })
  o.rate = 1
  equal(models.training.study(args, set, o):counts(), { done = 1, failed = 1 })
  equal(#models.of(args, set, o), 3)
end)

it("models.of are in the order of splits and metrics, each with its epoch and scores", function()
  local folder = sweeps.new_folder()
  local models, args = made_runs(folder, kept_of)
  local found, order = models.of(args, models.set(args, "movielens"),
    { recipe = "code", nsr = 1, kind = "listwise", loss = "nrbp", rate = 3 }), {}
  for i, model in ipairs(found) do
    order[i] = ("%d %s %d"):format(model.split, model.by, model.epoch)
    near(model.scores.ap, score_of(3, model.split, "ap", model.by), 1e-6)
  end
  equal(order,
    { "0 rbp(0.8) 25", "0 rbp(0.9) 30", "0 rbp(0.95) 35", "1 rbp(0.8) 25", "1 rbp(0.9) 30", "1 rbp(0.95) 35" })
  near({ found[3].chosen_by, found[4].chosen_by }, { 0.8, 0.9 }, 1e-9)
end)

it("training.trainings takes losses and rates of the options, and two rates for made-up data", function()
  local training = dofile "scripts/sigir21/recipes.lua"
  local function trainings(o)
    local found = {}
    local args = { recipe = "code", smoke = o.smoke, nsr = o.nsr or { 2, 1 }, kinds = o.kinds,
      losses = o.losses or { "nrbp", "ap", "rr" }, rates = o.rates or training.protocol.rates }
    for i, each in ipairs(training.trainings(args, { title = "made", items = 9 })) do
      found[i] = ("%d %s %s %g"):format(each.nsr, each.kind, each.loss, each.rate)
    end
    return found
  end
  equal(trainings{ kinds = { "lambda" }, rates = { 0.1, 10, 0.01 } },
    { "2 lambda ap 0.01", "2 lambda ap 0.1", "2 lambda rr 0.01", "2 lambda rr 0.1",
    "1 lambda ap 0.01", "1 lambda ap 0.1", "1 lambda rr 0.01", "1 lambda rr 0.1" })
  equal(trainings{ kinds = { "lambda" }, rates = { 0.1 }, losses = { "ap" }, nsr = { 1 } }, { "1 lambda ap 0.1" })
  equal(#trainings{ kinds = { "listwise", "lambda" } }, 2 * (3 * 6 + 2 * 3))
  equal(#trainings{ kinds = { "listwise", "lambda" }, smoke = true }, 2 * (3 * 2 + 2 * 2))
end)
