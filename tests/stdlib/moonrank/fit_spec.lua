-- Tests training by mr.fit on made-up ratings and queries: it learns, chooses an epoch, stops, resumes, and is
-- reproducible.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 150, mean_activity = 40, seed = 3 }
local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, seed = 3 }[1]

local function fit(options)
  local all = { model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 2 },
    loss = mr.losses.ap(), train = fold.train, valid = fold.valid, test = fold.test,
    optimizer = mr.optim.adam{ lr = 0.05 }, batch = 16, epochs = 6, metrics = { "ap", "ndcg" }, progress = false }
  for name, value in pairs(options or {}) do all[name] = value end
  if all.valid == false then all.valid = nil end
  return mr.fit(all), all.model
end

describe("mr.fit", function()
  it("reduces the loss and ranks training lists better than at random", function()
    local run, model = fit{ epochs = 20 }
    check(run.history[#run.history].loss < run.history[1].loss - 0.1, "the loss falls")
    local batch
    for each in fold.train:batches{ size = 1000 } do batch = each end
    local trained = mr.evaluate(model(batch), batch.lists, { "ap" })
    local random = mr.bounds.stats("ap", batch.lists).expectation
    check(trained.mean.ap > mr.stats.mean(random) + 0.1, "better than random")
  end)

  it("keeps the best epoch on validation, with its parameters", function()
    local run, model = fit()
    equal(run.chosen_on, "valid")
    local best = 0
    for _, entry in ipairs(run.history) do best = math.max(best, entry.metrics.ap) end
    equal(run.best.metrics.ap, best)
    local batch
    for each in fold.valid:batches{ size = 1000 } do batch = each end
    near(mr.evaluate(model(batch), batch.lists, { "ap" }).mean.ap, best, 1e-12)
    equal(#run.scores.ndcg, fold.test.count)
  end)

  -- Defines a metric that has the given values, one for each epoch. It is measured once per epoch.
  local function with_values(name, values, options)
    local at = 0
    mr.metrics.define(name, function(_, lists)
      at = at + 1
      return mr.zeros({ lists.count }, { dtype = "float64" }) + values[at]
    end, options)
    return { metrics = {}, select = name, epochs = #values, test = fold.test }
  end

  it("prints the best value on the last line of progress once", function()
    local rising, lines, real = with_values("spec_rising", { 1, 2, 3 }), {}, io.stderr
    rising.progress = true
    local function write(_, ...)
      for _, each in ipairs{ ... } do lines[#lines + 1] = each end
    end
    io.stderr = { write = write }  -- luacheck: ignore
    local ok, message = pcall(fit, rising)
    io.stderr = real  -- luacheck: ignore
    check(ok, message)
    local text = table.concat(lines)
    check(text:find "best spec_rising 3%.0000[^\n]*\n$", text)
    equal(select(2, text:gsub("best spec_rising 3", "")), 1, "once")
  end)

  it("keeps the lowest epoch by a minimised metric, also with patience", function()
    local falling = with_values("spec_falling", { 9, 7, 8, 3, 5, 5, 4 }, { direction = "minimize" })
    local run = fit(falling)
    equal({ run.best.epoch, run.best.metrics.spec_falling }, { 4, 3.0 })
    local patient = with_values("spec_patient", { 9, 7, 8, 8, 3, 5, 5 }, { direction = "minimize" })
    patient.patience = 2
    run = fit(patient)
    equal({ run.best.epoch, #run.history }, { 2, 4 })
    local renamed, least = mr.metrics.parse("nrbp_loss", { name = "pairs" }), math.huge
    local loss = fit{ metrics = { "nrbp_loss" }, select = renamed }
    for _, entry in ipairs(loss.history) do least = math.min(least, entry.metrics.pairs) end
    equal(loss.best.metrics.pairs, least)
    check(loss.history[1].metrics.pairs > least and #loss.scores.nrbp_loss == fold.test.count)
  end)

  it("never chooses an epoch with a NaN value, and keeps the last one if all values are NaN", function()
    local nan = 0 / 0
    local run = fit(with_values("spec_nan_first", { nan, nan, 2, 3, nan, 1 }))
    equal({ run.best.epoch, run.chosen_on }, { 4, "valid" })
    run = fit(with_values("spec_nan_between", { 5, nan, 4, nan }, { direction = "minimize" }))
    equal(run.best.epoch, 3)
    local all = with_values("spec_nan_always", { nan, nan, nan, nan, nan, nan })
    run = fit(all)
    equal({ run.best.epoch, run.chosen_on }, { 6, "last epoch" })
    local patient = with_values("spec_nan_patient", { nan, nan, nan, nan, nan, nan })
    patient.patience = 2
    equal(#fit(patient).history, 3)
  end)

  it("keeps the last epoch without validation, and chooses on test with choose_on = 'test'", function()
    local run = fit{ valid = false }
    equal({ run.chosen_on, run.best.epoch }, { "last epoch", 6 })
    equal(fit{ choose_on = "test" }.chosen_on, "test")
  end)

  it("gives the same values with the same seed, with one thread and with two", function()
    local before, losses = core.threads(), {}
    for threads = 1, 2 do
      core.threads(threads)
      local run = fit{ loss = mr.losses.ndcg{ bound = "minmax" }, epochs = 3 }
      losses[threads] = { run.history[1].loss, run.history[3].loss, run.scores.ap:totable() }
    end
    core.threads(before)
    equal(losses[1], losses[2])
    local other = fit{ seed = 9, epochs = 1 }.history[1].loss
    check(other ~= fit{ epochs = 1 }.history[1].loss, "another seed, another order")
  end)

  it("reuses the memory of earlier tensors", function()
    local function fresh(f)
      collectgarbage()
      local before = core.fresh_tensors()
      f()
      return core.fresh_tensors() - before
    end
    local function batches() fit{ batch = 4, epochs = 20, valid = false } end
    local first, again = fresh(batches), math.huge
    -- the smallest of several counts, because the garbage collector decides when old memory is reused
    for _ = 1, 4 do again = math.min(again, fresh(batches)) end
    local kept = fresh(function() mr.zeros(1000) end) + fresh(function() mr.zeros(1000) end) < 2
    if not kept then return equal(again, first) end  -- a sanitizer keeps freed memory, so that memory is never reused
    local counts = ("%d at first, %d later, of a training with thousands"):format(first, again)
    check(again < math.max(10, first / 20), counts)
  end)

  it("stops early with patience", function()
    local run = fit{ epochs = 200, patience = 2, optimizer = mr.optim.adam{ lr = 0.5 } }
    check(#run.history < 200, "patience ends it")
    equal(#run.history, run.best.epoch + 2)
  end)

  it("leaves degenerate lists out of the mean loss", function()
    local lists = mr.lists{ { 1, 0, 0 }, { 0, 0, 0 }, { 1, 1, 1 } }
    local data = mr.data.dataset{ lists = lists, features = mr.normal({ 9, 3 }, { seed = 1 }) }
    local first_list = lists:select(mr.tensor({ 1 }, { dtype = "int64" }))
    local one = mr.data.dataset{ lists = first_list, features = data.features:narrow(1, 1, 3) }
    local empty = mr.data.dataset{ lists = mr.lists{ { 0, 0 } }, features = mr.ones(2, 3) }
    local function first_loss(train)
      return mr.fit{ model = mr.models.linear{ inputs = 3, seed = 5 }, loss = mr.losses.ndcg(), train = train,
        epochs = 1, shuffle = false, progress = false }.history[1].loss
    end
    near(first_loss(data), first_loss(one), 1e-6)
    equal(first_loss(empty), 0)
  end)

  it("trains networks on queries", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 60, features = 10, noise = 0.2 }:standardize()
    local run = mr.fit{ model = mr.models.mlp{ inputs = 10, hidden = { 8 }, seed = 4 },
      loss = mr.losses.ndcg{ bound = "expectation_max" }, train = queries, test = queries,
      optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 30, batch = 20, metrics = { "ndcg" }, progress = false }
    local random = mr.stats.mean(mr.bounds.stats("ndcg", queries.lists).expectation)
    check(run.test.mean.ndcg > random + 0.15, ("trained %.3f, random %.3f"):format(run.test.mean.ndcg, random))
  end)

  it("refuses a missing model and unknown, duplicate or no metrics", function()
    raises(function() mr.fit{ loss = mr.losses.ap() } end, "mr.fit", "model")
    raises(function() fit{ metrics = { "ndgc" } } end, "'ndgc'", "'ndcg'")
    local function before_training(_) error "training began" end
    raises(function() fit{ metrics = { "ap", "ndcg", "ap" }, each_epoch = before_training } end, "metrics", "'ap'")
    raises(function() fit{ metrics = { "ap", "precision" }, each_epoch = before_training } end,
      "'precision'", "'precision@10'")
    raises(function() fit{ metrics = {} } end, "metrics", "empty")
  end)
end)

it("mr.checkpoint computes once, reads afterwards, and refuses other settings and wrong results", function()
  local path = os.tmpname() .. "_folder/part.safetensors"
  local calls = 0
  local function compute()
    calls = calls + 1
    return { scores = mr.tensor({ 1, 2 }, { dtype = "float64" }) }
  end
  local first, was_there = mr.checkpoint(path, { seed = 1 }, compute)
  equal({ first.scores:totable(), was_there }, { { 1.0, 2.0 }, false })
  local again, there = mr.checkpoint(path, { seed = 1 }, compute)
  equal({ again.scores:totable(), there, calls }, { { 1.0, 2.0 }, true, 1 })
  raises(function() mr.checkpoint(path, { seed = 2 }, compute) end, "seed", "1", "2")
  os.remove(path)
  local settings = { seed = 1, data = "a", rate = 0.5, zeta = "\27[2J" }
  mr.checkpoint(path, settings, compute)
  raises(function() mr.checkpoint(path, { seed = 2, data = "b", rate = 1, zeta = 0 }, compute) end, "data", "a")
  raises(function() mr.checkpoint(path, { data = "a", seed = 1, zeta = "\27[2J" }, compute) end, "rate", "0.5")
  local more = { data = "a", more = 1, seed = 1, rate = 0.5, zeta = settings.zeta }
  raises(function() mr.checkpoint(path, more, compute) end, "more", "1")
  raises(function() mr.checkpoint(path, { data = "a", seed = 1, rate = 0.5, zeta = 0 }, compute) end, "zeta")
  os.remove(path)
  raises(function() mr.checkpoint(path, { seed = 1 }, function() error("stopped", 0) end) end, "stopped")
  for _, bad in ipairs{ { 7, {}, compute, "path", "7" }, { "", {}, compute, "path", "''" },
    { path, 3, compute, "settings", "3" }, { path, { 1 }, compute, "setting", "1" },
    { path .. "/", {}, error, "mr.checkpoint", path .. "/", "folder" },
    { path, {}, 3, "compute", "3" },
    { path, {}, function() return 3 end, "3", "tensors" },
    { path, {}, function() return { a = 3 } end, "3", "results.a" },
    { path, {}, function() return { mr.ones(1) } end, "name", "1" },
    { path, { a = "\xff" }, compute, "mr.checkpoint", "xff", "UTF-8" },
    { path, {}, function() return { ["\xff"] = mr.ones(1) } end, "UTF-8", "names" } } do
    raises(function() mr.checkpoint(bad[1], bad[2], bad[3]) end, table.unpack(bad, 4))
  end
  check(not core.file_exists(path), "nothing is half written")
end)
