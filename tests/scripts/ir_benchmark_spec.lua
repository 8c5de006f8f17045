-- The protocol of Yang et al. (2025), scripts/ir_benchmark/protocol.lua, on made-up interactions, and the script of
-- Table 2. Answers are worked out beside each test.
local mr = require "moonrank"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local scripts, sweeps = dofile "tests/support/scripts.lua", dofile "tests/support/sweeps.lua"
local in_process = dofile "tests/support/in_process.lua"
local protocol, published = dofile "scripts/ir_benchmark/protocol.lua", dofile "scripts/ir_benchmark/published.lua"
local it, equal, near, check = test.it, test.equal, test.near, test.check

local set = protocol.made_up "health"
local fold = set.fold(1)

-- Cosines of a user with all items, in Lua's own numbers.
local function cosines(model, user)
  local users, items = table.unpack(model:parameters())
  local p, found = users:totable()[user], {}
  local function norm(x)
    local sum = 0
    for _, value in ipairs(x) do sum = sum + value * value end
    return math.sqrt(sum)
  end
  for i, q in ipairs(items:totable()) do
    local product = 0
    for c in ipairs(q) do product = product + p[c] * q[c] end
    found[i] = product / norm(p) / norm(q)
  end
  return found
end

-- A batch of all interactions of train.
local function whole_batch()
  local of = interactions.of(fold.train, { users = set.users, items = set.items, negatives = 30, shared = false,
    seed = 1 })
  return of:pass{ size = 10000, shuffle = false, seed = 1, epoch = 1, device = "cpu" }()
end

it("models of all losses but BPR score by cosines", function()
  local batch = whole_batch()
  for _, loss in ipairs{ "SL", "LLPAUC", "BPR" } do
    local model = protocol.model(set, loss, 1)
    local scores, items, user = model(batch):totable(), batch.items:totable(), batch.users:totable()[1]
    local expected = cosines(model, user)
    for k = 1, 31 do
      if loss ~= "BPR" then near(scores[k], expected[items[k]], 1e-6) end
    end
    if loss == "BPR" then check(math.abs(scores[1] - expected[items[1]]) > 1e-4) end
  end
end)

it("the cosine with a vector of zeros is 0, and that with a short vector is that of its direction", function()
  local model, batch = protocol.model(set, "SL", 1), whole_batch()
  local user, before = batch.users:totable()[1], model(batch):totable()
  local users, items = table.unpack(model:parameters())
  local function scores_with(factor)
    local rows, sum = users:totable(), 0
    for _, x in ipairs(rows[user]) do sum = sum + x * x end
    for c, x in ipairs(rows[user]) do rows[user][c] = factor * x / math.sqrt(sum) end
    local changed = protocol.model(set, "SL", 1)
    changed:restore{ mr.tensor(rows), items:detach(), buffers = {} }
    return changed(batch):totable()
  end
  local zero, short = scores_with(0), scores_with(1.2e-12)  -- the code has a least length of 1e-12
  for k = 1, 31 do
    equal(zero[k], 0.0)
    near(short[k], before[k], 1e-5)
  end
end)

-- A data set of a folder, in which user u has the first counts[u] items in train and the next two in test. One more
-- user has all `items`, in train unless `tested`; then only the first three.
local function of_folder(counts, items, tested)
  local folder = sweeps.new_folder()
  local train, of_test = { "user\titem" }, { "user\titem" }
  for user, count in ipairs(counts) do
    for item = 1, count do train[#train + 1] = ("%d\t%d"):format(user, item) end
    for item = count + 1, count + 2 do of_test[#of_test + 1] = ("%d\t%d"):format(user, item) end
  end
  for item = 1, items do
    local part = tested and item > 3 and of_test or train
    part[#part + 1] = ("%d\t%d"):format(#counts + 1, item)
  end
  sweeps.write(folder .. "/train.tsv", table.concat(train, "\n") .. "\n")
  sweeps.write(folder .. "/test.tsv", table.concat(of_test, "\n") .. "\n")
  return protocol.open("own", folder)
end

it("open reads folders with more columns and other line ends, and refuses files without names of columns", function()
  local function opened(names, more, line_end)
    local folder, shapes = sweeps.new_folder(), {}
    for part, items in pairs{ train = { 1, 9 }, test = { 10, 11 } } do
      local lines = { names }
      for user = 1, 3 do
        for item = items[1], items[2] do lines[#lines + 1] = ("u%d\ti%d%s"):format(user, item, more) end
      end
      sweeps.write(("%s/%s.tsv"):format(folder, part), table.concat(lines, line_end) .. line_end)
    end
    local of = protocol.open("own", folder).fold(1)
    for i, part in ipairs{ "train", "valid", "test" } do shapes[i] = of[part].lists.sizes:totable() end
    return shapes
  end
  local expected = { { 8.0, 8.0, 8.0 }, { 1.0, 1.0, 1.0 }, { 2.0, 2.0, 2.0 } }
  equal(opened("user_procid\titem_procid", "", "\n"), expected)
  equal(opened("user_procid\titem_procid\trating", "\t3.5", "\r\n"), expected)
  test.raises(function() opened(nil, "", "\n") end, "train.tsv", "'u1'", "names")
end)

-- Items of each user in a dataset, in its order.
local function items_of(data)
  local items, first, found = data.items:totable(), 0, {}
  for l, size in ipairs(data.lists.sizes:totable()) do
    size = math.tointeger(size)
    found[data.users:totable()[l]] = table.move(items, first + 1, first + size, 1, {})
    first = first + size
  end
  return found
end

-- The mean NDCG@20 of a model on validation, among all items but those in train, in plain Lua.
local function ndcg_on_validation(data, of, model)
  local owned, sum, count = items_of(of.train), 0, 0
  for user, items in pairs(items_of(of.valid)) do
    local scores, is_known, ideal, own = cosines(model, user), {}, 0, 0
    for _, item in ipairs(owned[user] or {}) do is_known[item] = true end
    for k, item in ipairs(items) do
      local rank = 1
      for other = 1, data.items do
        if not is_known[other] and scores[other] > scores[item] then rank = rank + 1 end
      end
      own, ideal = own + (rank <= 20 and 1 / math.log(1 + rank) or 0), ideal + 1 / math.log(1 + k)
    end
    sum, count = sum + (#items > 0 and own / ideal or 0), count + (#items > 0 and 1 or 0)
  end
  return sum / count
end

-- The losses of the epochs of SL@20 in plain Lua, for a model that does not change. `most`: items of a user in train
-- that quantiles are estimated from.
local function losses_by_hand(data, of, model, how, most, seed)
  local batches = interactions.of(of.train, { users = data.users, items = data.items, negatives = 30, shared = false,
    seed = seed })
  local owned, scores, quantile, losses = items_of(of.train), {}, {}, {}
  for user in pairs(owned) do scores[user], quantile[user] = cosines(model, user), 0 end
  for epoch = 1, 5 do
    local sum, count = 0, 0
    for batch in batches:pass{ size = 50, shuffle = true, seed = seed, epoch = epoch, device = "cpu" } do
      local rows, renewed = batch.items:totable(), {}
      for l, user in ipairs(batch.users:totable()) do
        local f, exponentials, all = scores[user][rows[31 * l - 30]], 0, {}
        for k = 31 * l - 29, 31 * l do
          all[#all + 1] = scores[user][rows[k]]
          exponentials = exponentials + math.exp(scores[user][rows[k]] / how.tau)
        end
        local weight = 1 / (1 + math.exp((quantile[user] - f) / how.tau_beta))
        sum, count = sum + weight * (math.log(exponentials) - f / how.tau), count + 1
        for i = 1, math.min(most, #owned[user]) do all[#all + 1] = scores[user][owned[user][i]] end
        table.sort(all, function(a, b) return a > b end)
        renewed[user] = all[20]
      end
      -- The last interaction of a user in the batch is the one that counts.
      for user, value in pairs(epoch % how.every == 0 and renewed or {}) do quantile[user] = value end
    end
    losses[epoch] = sum / count
  end
  return losses
end

it("SL@20 weighs SL by the item's score above the user's 20th largest, of as many items as 90 % of the users have",
  function()
    local sizes = fold.train.lists.sizes:totable()
    table.sort(sizes)
    equal({ #sizes, sizes[35], sizes[36] }, { 39, 14, 15 })
    local heavy = of_folder({ 2, 2, 2, 2, 2, 2, 2, 2, 28 }, 300, true)  -- 1 (eight times), 2 and 26 are in train
    -- The third number is the seed, chosen such that one item less and one more change the losses.
    for _, case in ipairs{ { set, 14, 1 },  -- 14 + 0.2 (15 - 14), rounded down
      { heavy, 4, 2 } } do  -- 2 + 0.1 (26 - 2), rounded down
      local how = { rate = 1e-30, tau = 0.5, tau_beta = 0.02, every = 2 }
      local run, model, of = protocol.train(case[1], { loss = "SL@20", how = how, seed = case[3], epochs = 5,
        batch = 50, negatives = 30 })
      local losses = {}
      for epoch, entry in ipairs(run.history) do losses[epoch] = entry.loss end
      near(losses, losses_by_hand(case[1], of, model, how, case[2], case[3]), 1e-5)
      for _, other in ipairs{ -1, 1 } do
        local change = losses_by_hand(case[1], of, model, how, case[2] + other, case[3])[5] - losses[5]
        check(math.abs(change) > 1e-3, ("%d items: %g"):format(case[2] + other, change))
      end
    end
  end)

it("test leaves out the items that the model was trained on, and validation items only on demand", function()
  local model = protocol.model(set, "SL", 1)
  local coded, without = protocol.test(fold, model)
  local train, valid = {}, {}
  for part, into in pairs{ train = train, valid = valid } do
    local items, first = fold[part].items:totable(), 0
    for l, size in ipairs(fold[part].lists.sizes:totable()) do
      local user = fold[part].users:totable()[l]
      into[user] = {}
      for i = first + 1, first + size do into[user][items[i]] = true end
      first = first + size
    end
  end
  local items, first, means, count = fold.test.items:totable(), 0, { 0, 0 }, 0
  for l, size in ipairs(fold.test.lists.sizes:totable()) do
    local user, wanted = fold.test.users:totable()[l], {}
    for i = first + 1, first + size do wanted[items[i]] = true end
    first, count = first + size, count + (size > 0 and 1 or 0)
    local scores = cosines(model, user)
    for kind = 1, 2 do
      local ranked, hits = {}, 0
      for item = 1, set.items do
        local known = (train[user] or {})[item] or kind == 2 and (valid[user] or {})[item]
        if not known then ranked[#ranked + 1] = item end
      end
      table.sort(ranked, function(a, b) return scores[a] > scores[b] end)
      for r = 1, 20 do hits = hits + (wanted[ranked[r]] and 1 or 0) end
      means[kind] = means[kind] + (size > 0 and hits / size or 0)
    end
  end
  near(coded.mean["recall@20"], means[1] / count, 1e-6)
  near(without.mean["recall@20"], means[2] / count, 1e-6)
end)

it("outcome keeps the chosen epoch, and test as the code evaluates it beside that without validation items", function()
  local run, model, of = protocol.train(set, { loss = "SL", how = { rate = 0.1, tau = 0.2 }, seed = 1, epochs = 15,
    batch = 64, negatives = 20 })
  local found, coded, without = protocol.outcome(run, model, of), protocol.test(of, model)
  local best, values = 0, {}
  for epoch, entry in ipairs(run.history) do
    values[epoch] = entry.metrics and entry.metrics["ndcg@20"]
    best = values[epoch] and (best == 0 or values[epoch] > values[best]) and epoch or best
  end
  equal({ found.epoch, found.valid }, { best, values[best] })
  near(found.valid, ndcg_on_validation(set, of, model), 1e-6)
  for _, metric in ipairs{ "recall@20", "ndcg@20" } do
    equal(found[metric], coded.mean[metric])
    equal(found[metric .. ", without validation"], without.mean[metric])
    check(found[metric] < without.mean[metric], "fewer items are ranked without validation")
    equal(found.per_list[metric]:totable(), coded[metric]:totable())
  end
end)

-- Standard deviation of the numbers of a tensor around 0.
local function deviation(x) return (x:double() * x:double()):mean():sqrt():item() end

it("models have 64 factors, whose standard deviation at the start is that of the loss", function()
  local large = { users = 400, items = 300 }
  local function start(loss, seed)
    return table.unpack(protocol.model(large, loss, seed or 1):parameters())
  end
  for loss, sd in pairs{ SL = { 1, 1 }, BSL = { 1, 1 }, ["SL@20"] = { 1, 1 }, LLPAUC = { 0.01, 0.01 },
    BPR = { math.sqrt(2 / (400 + 64)), math.sqrt(2 / (300 + 64)) } } do
    local users, items = start(loss)
    equal({ users:size(1), users:size(2), items:size(1), items:size(2) }, { 400, 64, 300, 64 })
    near({ deviation(users), deviation(items) }, sd, { rtol = 0.02 }, loss)
  end
  check(deviation(start "SL" - start "SL") == 0 and deviation(start "SL" - start("SL", 2)) > 1, "by seed")
end)

-- A relevant row of score 0.5 beside others of scores -0.25 and 0.75.
it("losses are those of D.4, with the published hyperparameters in their places", function()
  local scores, lists = mr.tensor({ 0.5, -0.25, 0.75 }, { dtype = "float64" }), mr.lists{ { 1, 0, 0 } }
  local function log_sum(f, power) return math.log(f(-0.75) ^ power + f(0.25) ^ power) end
  local function of(name, how) return protocol.loss(name, how)(scores, lists):item() end
  near(of("SL", { tau = 0.2 }), log_sum(math.exp, 1 / 0.2), 1e-9)
  near(of("BSL", { tau1 = 0.5, tau2 = 0.2 }), 0.2 / 0.5 * math.log(math.exp(-0.25 / 0.2) + math.exp(0.75 / 0.2))
    - 0.5 / 0.5, 1e-9)
  local function surrogate(d) return 2 / (1 + math.exp(-d)) end  -- tanh(d / 2) + 1
  near(of("PSL", { tau_star = 0.1 }), log_sum(surrogate, 1 / 0.1), 1e-9)
  near(protocol.loss("BPR", {})(scores:narrow(1, 1, 2), mr.lists{ { 1, 0 } }):item(), math.log(1 + math.exp(-0.75)),
    1e-9)
  local coded = mr.losses.llpauc_as_coded{ alpha = 0.7, beta = 0.01 }
  equal(of("LLPAUC", { alpha = 0.7, beta = 0.01 }), coded(scores, lists):item())
  check(of("LLPAUC", { alpha = 0.01, beta = 0.7 }) ~= coded(scores, lists):item(), "alpha and beta")
end)

-- Trains a loss for some epochs at the batch size and the number of negatives of the protocol unless `o` has others.
-- Also returns the number of steps by size, and the rows of a list.
local function trained(data, loss, how, o)
  local steps, rows, loss_of = {}, nil, protocol.loss
  protocol.loss = function(...)
    local inner = loss_of(...)
    return mr.losses.define("counted", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
      steps[lists.count], rows = (steps[lists.count] or 0) + 1, lists.rows // lists.count
      return inner(scores, lists)
    end })()
  end
  local run, model, of = protocol.train(data, { loss = loss, how = how, seed = o.seed or 1, epochs = o.epochs,
    batch = o.batch or protocol.batch, negatives = o.negatives or protocol.negatives })
  protocol.loss = loss_of
  return { run = run, model = model, fold = of, steps = steps, rows = rows }
end

it("train takes 1,024 interactions a step, with 1,000 negatives each, and BPR with one", function()
  local counts = {}
  for user = 1, 58 do counts[user] = 19 end
  local data = of_folder(counts, 24)  -- 58 times 18 and 22 interactions are in train
  for loss, rows in pairs{ SL = 1001, BPR = 2 } do
    local found = trained(data, loss, { rate = 0.1, tau = 0.2 }, { epochs = 1 })
    equal({ found.rows, found.steps }, { rows, { [1024] = 1, [42] = 1 } })
  end
end)

it("train moves factors by Adam at the published rate, and BPR's also by weight decay", function()
  local data = of_folder({ 3, 3 }, 40, true)
  local function moved(loss, how)
    local found = trained(data, loss, how, { epochs = 1, negatives = 2, seed = 3 })
    local parts, largest = {}, 0
    for i, before in ipairs(protocol.model(data, loss, 3):parameters()) do
      local change = (found.model:parameters()[i] - before):detach():abs()
      largest = math.max(largest, change:max():item())
      parts[i] = change:gt(0.5 * how.rate):double():mean():item()
    end
    return largest, table.unpack(parts)
  end
  near(moved("SL", { rate = 0.125, tau = 0.2 }), 0.125, 1e-5)  -- Adam's first step
  local _, _, plain = moved("BPR", { rate = 0.001 })
  local largest, users, items = moved("BPR", { rate = 0.001, decay = 0.5 })
  near(largest, 0.001, 1e-6)
  check(plain < 1 and users > 0.95 and items > 0.95, "items without a gradient move by weight decay alone")
end)

it("train runs 200 epochs, and NDCG@20 of every fifth on validation, among all items but those in train, chooses",
  function()
    local data = of_folder({ 5, 7, 9, 11 }, 60)
    local found = trained(data, "SL", { rate = 0.1, tau = 0.2 }, { epochs = protocol.epochs, negatives = 5 })
    local best, validated = nil, 0
    equal(#found.run.history, 200)
    for epoch, entry in ipairs(found.run.history) do
      local value = entry.metrics and entry.metrics["ndcg@20"]
      equal(value ~= nil, epoch % 5 == 0, "epoch " .. epoch)
      if value then validated = validated + 1 end
      if value and (not best or value > best) then best = value end
    end
    equal({ validated, found.run.best.metrics["ndcg@20"] }, { 40, best })
    -- The model is that of the best epoch.
    near(best, ndcg_on_validation(data, found.fold, found.model), 1e-6)
  end)

it("train continues a trial that was stopped after its last epoch", function()
  local how = { rate = 0.1, tau = 0.2, tau_beta = 2, every = 3 }
  local results = mr.sweep{ name = "stopped", store = sweeps.new_folder() .. "/runs.db", workers = 0, metric = "valid",
    direction = "maximize", space = { loss = mr.choice{ "SL", "SL@20" } },
    run = function(trial)
      local function train(epochs, of)
        return protocol.train(set, { loss = trial.loss, how = how, seed = 1, epochs = epochs, batch = 64,
          negatives = 20, trial = of })
      end
      -- A training of five epochs stands for the one that was stopped. It reports to nobody.
      train(5, setmetatable({ report = function() end, _state = {} }, { __index = trial }))
      local run, whole = train(10, trial), train(10)
      local same = 0
      for epoch = 1, 10 do same = same + (run.history[epoch].loss == whole.history[epoch].loss and 1 or 0) end
      return { valid = run.resumed, same = same }
    end }
  for _, name in ipairs{ "SL", "SL@20" } do
    equal(mr.experiment.folds(results, { loss = name }, "valid"), { 5.0 }, name)
    equal(mr.experiment.folds(results, { loss = name }, "same"), { 10.0 }, name)
  end
end)

local golden_path = "../shared/golden/ir_benchmark.json"
-- names of hyperparameters in this library, by their names in the reference file
local names_of = { BPR = { lr = "rate", wd = "decay" }, LLPAUC = { lr = "rate", alpha = "alpha", beta = "beta" },
  SL = { lr = "rate", tau = "tau" }, BSL = { lr = "rate", tau1 = "tau1", tau2 = "tau2" },
  PSL = { lr = "rate", tau = "tau_star" },
  ["SL@20"] = { lr = "rate", tau_d = "tau", tau_w = "tau_beta", T_beta = "every" } }

it("hyperparameters and printed numbers of Health and Gowalla are those of the reference file", function()
  local file = io.open(golden_path)
  if not file then return test.skip(golden_path .. " is not there") end
  file:close()
  local golden = dofile("tests/support/json.lua").read(golden_path)
  for data, of in pairs(golden.hyperparameters) do
    for _, loss in ipairs(protocol.losses) do
      local printed, own = golden.recall_ndcg_at_20[data].MF[loss], published[data][loss]
      equal(own.printed, printed, data .. ", " .. loss)
      for name, value in pairs(of.MF[loss]) do
        equal(own[names_of[loss][name]], value, ("%s of %s, %s"):format(name, loss, data))
      end
    end
  end
end)

it("every loss has published hyperparameters and numbers on every data set", function()
  for name, of in pairs(published) do
    for _, loss in ipairs(protocol.losses) do
      equal(#of[loss].printed, 2, name)
      check(protocol.loss(loss, of[loss]).name and of[loss].rate > 0, name)
    end
  end
end)

-- Returns the section of table_2.lua for BPR and SL on Amazon Health or `sets`, and the options of its trainings. These
-- are made up: their metrics are `times` those printed for Health, with 0.0001 more or less by seed. BPR chooses the
-- epoch 10 times the seed.
local function table_of_trainings(words, times, sets)
  local of, asked = published.health, {}
  local function patch(module)
    function module.open(title) return { title = title } end
    function module.train(_, o)
      asked[#asked + 1] = o
      return o
    end
    function module.outcome(o)
      local found = { valid = 0.5, epoch = o.loss == "BPR" and 10 * o.seed or 5, per_list = {} }
      for i, metric in ipairs(protocol.metrics) do
        found[metric] = of[o.loss].printed[i] * times[o.loss][i] + (o.seed == 2 and -1e-4 or 1e-4)
        found[metric .. ", without validation"] = 0.001 * o.seed
      end
      return found
    end
  end
  return in_process.section("scripts/ir_benchmark/table_2.lua", { "--sets", sets or "health", "--losses", "BPR,SL",
    "--workers", "0", "--store", sweeps.new_folder() .. "/runs.db", table.unpack(words) },
    { protocol = patch }), asked
end

it("table_2.lua shows the mean over its seeds beside the printed number, which is met within 3 %", function()
  local of, times = published.health, { BPR = { 1.029, 1.031 }, SL = { 0.971, 0.969 } }
  local section, asked = table_of_trainings({ "--seeds", "2,5" }, times)
  equal({ asked[1].seed, asked[2].seed, asked[1].how, asked[3].how }, { 2, 5, of.BPR, of.SL })
  equal({ section.agreement.of, section.agreement.within }, { 4, 2 })  -- off by 2.9 and 3.1 % each
  local rows = section.tables[1]:records()
  equal({ rows[1].epoch, rows[2].epoch }, { 35, 5 })
  for r, loss in ipairs{ "BPR", "SL" } do
    for i, title in ipairs(protocol.titles) do
      local row, printed = rows[r], of[loss].printed[i]
      near({ row[title], row[title .. ", sd"], row[title .. ", printed"], row[title .. ", ratio"],
        row[title .. " without validation"] },
        { printed * times[loss][i], math.sqrt(2) * 1e-4, printed, times[loss][i], 0.0035 }, 1e-9, loss .. title)
    end
  end
end)

it("table_2.lua has seed 1, 200 epochs, 1,000 negatives and steps of 1,024 interactions unless it is told", function()
  local function settings(words)
    local _, asked = table_of_trainings(words, { BPR = { 1, 1 }, SL = { 1, 1 } })
    equal(#asked, 2)
    return { asked[1].seed, asked[1].epochs, asked[1].negatives, asked[1].batch }
  end
  equal(settings{}, { 1, 200, 1000, 1024 })
  equal(settings{ "--seeds", "3", "--epochs", "4", "--negatives", "5", "--batch", "6" }, { 3, 4, 5, 6 })
end)

it("table_2.lua trains a folder with the hyperparameters of Health, or of the data set that --like names", function()
  for like, words in pairs{ health = {}, gowalla = { "--like", "gowalla" } } do
    local all = { "--folder", sweeps.new_folder(), table.unpack(words) }
    local _, asked = table_of_trainings(all, { BPR = { 1, 1 }, SL = { 1, 1 } }, "folder")
    equal({ asked[1].how, asked[2].how }, { published[like].BPR, published[like].SL }, like)
  end
end)

scripts.it("table_2.lua reads a folder of the format, keeps its runs and shows them again", {}, function(folder)
  os.execute(("mkdir -p '%s/own'"):format(folder))
  local train, test_part = { "user_procid\titem_procid" }, { "user_procid\titem_procid" }
  for user = 0, 19 do
    for k = 0, 9 do train[#train + 1] = ("%d\t%d"):format(user, (7 * user + 3 * k) % 50) end
    for k = 10, 11 do test_part[#test_part + 1] = ("%d\t%d"):format(user, (7 * user + 3 * k) % 50) end
  end
  sweeps.write(folder .. "/own/train.tsv", table.concat(train, "\n") .. "\n")
  sweeps.write(folder .. "/own/test.tsv", table.concat(test_part, "\n") .. "\n")
  local words = "--sets folder --folder own --like gowalla --epochs 5 --negatives 10 --batch 64 --store runs.db"
  local text = scripts.run(folder, "ir_benchmark/table_2.lua", words .. " --workers 0")
  for _, loss in ipairs(protocol.losses) do check(text:find("own +" .. loss:gsub("%p", "%%%0") .. " "), text) end
  check(not text:find("nan", 1, true), text)
  equal(scripts.run(folder, "ir_benchmark/table_2.lua", words .. " --kept"):match "data.*", text:match "data.*")
  for option, case in pairs{ ["--sets folder"] = "--sets folder", ["--smoke"] = "--smoke --folder own",
    ["with --sets folder"] = "--folder own --sets health", } do
    local status, _, err = sweeps.run(folder, scripts.root .. "/scripts/ir_benchmark/table_2.lua", case)
    check(status == 2 and err:find("--folder", 1, true) and err:find(option, 1, true), case .. err)
  end
  local status, _, err = sweeps.run(folder, scripts.root .. "/scripts/ir_benchmark/table_2.lua",
    "--sets folder --folder . --store other.db")
  check(status ~= 0 and err:find("train.tsv", 1, true), err)
end)
