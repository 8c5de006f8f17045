-- The protocol of Yang et al. (2025), scripts/ir_benchmark/protocol.lua, on made-up interactions, and the script of
-- Table 2. Answers are worked out beside each test.
local mr = require "moonrank"
local interactions = require "moonrank.data.interactions"
local test = require "moonrank.test"
local scripts, sweeps = dofile "tests/support/scripts.lua", dofile "tests/support/sweeps.lua"
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

-- A batch of all interactions of train, in training step `step`.
local function batch_of(step, data, of_fold)
  data = data or set
  local of = interactions.of((of_fold or fold).train, { users = data.users, items = data.items, negatives = 30,
    shared = false, seed = 1 })
  local batch = of:pass{ size = 10000, shuffle = false, seed = 1, epoch = 1, device = "cpu" }()
  batch.step, batch.training = step, true
  return batch
end

it("models of all losses but BPR score by cosines", function()
  local batch = batch_of(1)
  for _, loss in ipairs{ "SL", "LLPAUC", "BPR" } do
    local model = protocol.model(set, loss, {}, 1, 1)
    local scores, items, user = model(batch):totable(), batch.items:totable(), batch.users:totable()[1]
    local expected = cosines(model, user)
    for k = 1, 31 do
      if loss ~= "BPR" then near(scores[k], expected[items[k]], 1e-6) end
    end
    if loss == "BPR" then check(math.abs(scores[1] - expected[items[1]]) > 1e-4) end
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

-- Checks the quantiles of the users after a step: of each, `most` items in train at most and the negatives count.
local function check_quantiles(data, of, most)
  protocol.prepare(data, of.train)
  local model, batch = protocol.model(data, "SL@20", { every = 3 }, 1, 1), batch_of(3, data, of)
  model(batch)
  local found, rows, at = model:buffers().quantiles:totable(), batch.items:totable(), {}
  -- The last list of a user in the batch is the one that counts.
  for l, user in ipairs(batch.users:totable()) do at[user] = 31 * (l - 1) end
  local items, first = of.train.items:totable(), 0
  for l, user in ipairs(of.train.users:totable()) do
    local size, scores, all = math.tointeger(of.train.lists.sizes:totable()[l]), cosines(model, user), {}
    for i = first + 1, first + math.min(size, most) do all[#all + 1] = scores[items[i]] end
    for k = at[user] + 2, at[user] + 31 do all[#all + 1] = scores[rows[k]] end
    first = first + size
    table.sort(all, function(a, b) return a > b end)
    near(found[user], all[20], 1e-6)
  end
end

it("SL@20 estimates the 20th largest score of each user, of as many items as 90 % of the users have", function()
  local sizes = fold.train.lists.sizes:totable()
  table.sort(sizes)
  equal({ #sizes, sizes[35], sizes[36] }, { 39, 14, 15 })
  check_quantiles(set, fold, 14)  -- 14 + 0.2 (15 - 14), rounded down
  local data = of_folder({ 2, 2, 2, 2, 2, 2, 2, 2, 28 }, 300, true)  -- 1 (eight times), 2 and 26 are in train
  check_quantiles(data, data.fold(1), 4)  -- 2 + 0.1 (26 - 2), rounded down
end)

it("SL@20 estimates quantiles in the steps of every `every`-th epoch", function()
  protocol.prepare(set, fold.train)
  local renewed = {}
  for step = 1, 10 do
    local model = protocol.model(set, "SL@20", { every = 2 }, 1, 2)
    model(batch_of(step))
    renewed[step] = model:buffers().quantiles:abs():sum():item() > 0
  end
  equal(renewed, { false, false, true, true, false, false, true, true, false, false })
end)

it("SL@20 is SL with the weight of the relevant item above the user's quantile", function()
  protocol.prepare(set, fold.train)
  local how = { tau = 0.5, tau_beta = 2, every = 1 }
  local model, batch = protocol.model(set, "SL@20", how, 1, 1), batch_of(1)
  model(batch)
  local quantiles = model:buffers().quantiles:rows(batch.users)
  batch.step, batch.training = 2, true
  local scores = model(batch)
  local plain = mr.losses.sl{ tau = 0.5 }(scores, batch.lists)
  local own = scores:reshape(batch.size, 31):narrow(2, 1, 1):reshape(batch.size)
  local values = protocol.loss("SL@20", how)(scores, batch.lists)
  near(values:totable(), (((own - quantiles) / 2):sigmoid() * plain):totable(), 1e-6)
end)

it("test leaves out the items that the model was trained on, and validation items only on demand", function()
  local model = protocol.model(set, "SL", {}, 1, 1)
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

-- Standard deviation of the numbers of a tensor around 0.
local function deviation(x) return (x:double() * x:double()):mean():sqrt():item() end

it("models have 64 factors, whose standard deviation at the start is that of the loss", function()
  local large = { users = 400, items = 300 }
  local function start(loss, seed)
    return table.unpack(protocol.model(large, loss, { every = 5 }, seed or 1, 1):parameters())
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
-- Also returns the number of steps by size, the rows of a list, and what the model was made with.
local function trained(data, loss, how, o)
  local steps, rows, made_with, prepared = {}, nil, nil, nil
  local loss_of, model_of, prepare = protocol.loss, protocol.model, protocol.prepare
  protocol.loss = function(...)
    local inner = loss_of(...)
    return mr.losses.define("counted", { direction = "minimize", metric = "ap", smooth = function(scores, lists)
      steps[lists.count], rows = (steps[lists.count] or 0) + 1, lists.rows // lists.count
      return inner(scores, lists)
    end })()
  end
  protocol.model = function(...)
    made_with = { ... }
    return model_of(...)
  end
  protocol.prepare = function(...)
    prepared = select(2, ...)
    prepare(...)
  end
  local run, model, of = protocol.train(data, { loss = loss, how = how, seed = o.seed or 1, epochs = o.epochs,
    batch = o.batch or protocol.batch, negatives = o.negatives or protocol.negatives })
  protocol.loss, protocol.model, protocol.prepare = loss_of, model_of, prepare
  return { run = run, model = model, fold = of, steps = steps, rows = rows, made_with = made_with,
    prepared = prepared }
end

it("train takes 1,024 interactions a step, with 1,000 negatives each, and BPR with one", function()
  local counts = {}
  for user = 1, 58 do counts[user] = 19 end
  local data = of_folder(counts, 24)  -- 58 times 18 and 22 interactions are in train
  for loss, rows in pairs{ SL = 1001, BPR = 2 } do
    local found = trained(data, loss, { rate = 0.1, tau = 0.2 }, { epochs = 1 })
    equal({ found.rows, found.steps }, { rows, { [1024] = 1, [42] = 1 } })
    equal({ found.made_with[5], found.prepared ~= nil }, { 2, false })  -- steps of an epoch
  end
  local of_quantiles = trained(data, "SL@20", { rate = 0.1, tau = 0.2, tau_beta = 2, every = 1 }, { epochs = 1 })
  equal(of_quantiles.prepared.fingerprint, of_quantiles.fold.train.fingerprint)
end)

it("train moves factors by Adam at the published rate, and BPR's also by weight decay", function()
  local data = of_folder({ 3, 3 }, 40, true)
  local function moved(loss, how)
    local found = trained(data, loss, how, { epochs = 1, negatives = 2, seed = 3 })
    local parts, largest = {}, 0
    for i, before in ipairs(protocol.model(data, loss, how, 3, 1):parameters()) do
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
    -- The model is that of the best epoch. A user has one item in validation, but the last one, who has six.
    local train, of = {}, found.fold
    local function each_user(part, body)
      local items, first = part.items:totable(), 0
      for l, size in ipairs(part.lists.sizes:totable()) do
        body(part.users:totable()[l], table.move(items, first + 1, first + size, 1, {}))
        first = first + size
      end
    end
    each_user(of.train, function(user, items)
      train[user] = {}
      for _, item in ipairs(items) do train[user][item] = true end
    end)
    local sum, count = 0, 0
    each_user(of.valid, function(user, items)
      local scores, ideal, own = cosines(found.model, user), 0, 0
      for k, item in ipairs(items) do
        local rank = 1
        for other = 1, data.items do
          if not train[user][other] and scores[other] > scores[item] then rank = rank + 1 end
        end
        own, ideal = own + (rank <= 20 and 1 / math.log(1 + rank) or 0), ideal + 1 / math.log(1 + k)
      end
      sum, count = sum + own / ideal, count + 1
    end)
    equal(count, 5)
    near(best, sum / count, 1e-6)
  end)

it("every loss has published hyperparameters and numbers on every data set", function()
  for name, of in pairs(published) do
    for _, loss in ipairs(protocol.losses) do
      equal(#of[loss].printed, 2, name)
      check(protocol.loss(loss, of[loss]).name and of[loss].rate > 0, name)
    end
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
    ["without --sets folder"] = "--folder own", ["train.tsv"] = "--sets folder --folder ." } do
    local status, _, err = sweeps.run(folder, scripts.root .. "/scripts/ir_benchmark/table_2.lua", case)
    check(status == 2 and err:find("--folder", 1, true) and err:find(option, 1, true), case .. err)
  end
end)
