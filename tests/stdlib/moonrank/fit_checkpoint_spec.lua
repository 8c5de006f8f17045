-- Tests checkpoints of mr.fit: training that resumes from a checkpoint file at any moment gives the same bits as
-- uninterrupted training, and files of another training run are rejected.
local mr = require "moonrank"
local core = require "moonrank.core"
local earlier = dofile "tests/support/earlier.lua"
local on_cpu = dofile "tests/support/on_cpu.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 120, mean_activity = 30, seed = 3 }
local fold = ratings:binarize(4):min_relevant(4):folds{ k = 5, seed = 3 }[1]
local queries = mr.data.synthetic{ kind = "queries", queries = 24, features = 6, seed = 2 }

local folder = files.new_folder()
local function path_of(name) return ("%s/%s.safetensors"):format(folder, name) end
local bytes_of = files.read

local function mf()
  return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 6, init = 0.3, seed = 2 }
end
local function attention()
  return mr.models.self_attention{ inputs = 6, width = 8, heads = 2, blocks = 1, dropout = 0.3, seed = 4 }
end
local function item_data() return { train = fold.train, valid = fold.valid, test = fold.test } end
local function weighted_data()
  local lists = queries.lists
  local weights = mr.uniform({ lists.rows }, { seed = 5, dtype = "float64", device = "cpu" })
  local train = mr.data.dataset{ lists = lists, features = queries.features, weights = weights,
    list_weights = lists:sum(weights) }
  return { train = train, valid = queries, test = queries }
end
local function query_data() return { train = queries, valid = queries, test = queries } end

-- A script's model with a buffer, a running mean that every batch changes, and with random numbers drawn without a seed
-- of its own.
mr.models.define("spec_centred", {
  parameters = function() return { weights = mr.uniform({ 6, 1 }, { low = -1, high = 1, seed = 3 }) } end,
  buffers = function() return { mean = mr.zeros(6) } end,
  forward = function(self, batch)
    local x = batch.features
    if batch.training then
      self.mean = self.mean * 0.9 + x:mean(1) * 0.1
      x = x + mr.normal(x:shape()) * 0.1
    end
    return (x - self.mean):matmul(self.weights):tanh():reshape(batch.lists.rows)
  end,
})

local cases = {
  { "a model with buffers and random numbers", function() return mr.models.spec_centred{} end, query_data,
    function() return mr.optim.adam{ lr = 0.05 } end },
  { "adam of items", mf, item_data, function() return mr.optim.adam{ lr = 0.05 } end },
  { "adam of items, deferred", mf, item_data, function() return mr.optim.adam{ lr = 0.05 } end, put_off = 0 },
  { "momentum of items, deferred", mf, item_data, function() return mr.optim.sgd{ lr = 1, momentum = 0.9 } end,
    put_off = 0 },
  { "adamw of items, deferred", mf, item_data, function() return mr.optim.adamw{ lr = 0.05, weight_decay = 0.1 } end,
    put_off = 0 },
  { "weight decay of items, deferred", mf, item_data,
    function() return mr.optim.sgd{ lr = 1, momentum = 0.5, weight_decay = 0.01 } end, put_off = 0 },
  { "rmsprop of items, deferred", mf, item_data, function() return mr.optim.rmsprop{ lr = 0.01 } end, put_off = 0 },
  { "momentum of items", mf, item_data, function() return mr.optim.sgd{ lr = 1, momentum = 0.9 } end },
  { "sparse adam of items", mf, item_data, function() return mr.optim.adam{ lr = 0.05, sparse = true } end },
  { "adam of a network with dropout", attention, query_data,
    function() return mr.optim.adam{ lr = 0.01, weight_decay = 1e-4 } end },
  { "weights of rows and of lists", attention, weighted_data, function() return mr.optim.adam{ lr = 0.01 } end },
  { "adamw with a plateau", attention, query_data, function() return mr.optim.adamw{ lr = 0.1 } end,
    options = { schedule = mr.schedule.plateau{ patience = 0, factor = 0.5 }, clip = 0.1 } },
  { "adagrad with warm-up", mf, item_data, function() return mr.optim.adagrad{ lr = 0.1 } end,
    options = { schedule = mr.schedule.warmup{ steps = 20, after = mr.schedule.cosine() } } },
  { "rmsprop with momentum", mf, item_data, function() return mr.optim.rmsprop{ momentum = 0.5 } end },
  { "batches by rows, rates of a schedule", mf, item_data, function() return mr.optim.adam{ lr = 0.05 } end,
    options = { batch_rows = 60, schedule = mr.schedule.cosine() } },
  { "rates of a schedule, deferred", mf, item_data, function() return mr.optim.adam{ lr = 0.05 } end, put_off = 0,
    options = { schedule = mr.schedule.step{ every = 2 } } },
}

local function fit(case, options)
  local all = { model = case[2](), loss = mr.losses.ap{ bound = "minmax" }, optimizer = case[4](), batch = 4,
    epochs = 5, metrics = { "ap", "ndcg", "rr" }, select = { "ndcg", "rr" }, progress = false, name = "spec" }
  for name, value in pairs(case[3]()) do all[name] = value end
  for name, value in pairs(case.options or {}) do all[name] = value end
  for name, value in pairs(options or {}) do all[name] = value end
  if all.batch_rows then all.batch = nil end
  return mr.fit(all), all.model
end

local function numbers_of(run, model)
  local numbers = { chosen = run.best.epoch, history = run:to_csv(), test = {}, parameters = {} }
  for i, parameter in ipairs(model:parameters()) do numbers.parameters[i] = parameter:totable() end
  for name, scores in pairs(run.scores) do numbers.test[name] = scores:totable() end
  return numbers
end

describe("mr.fit with checkpoint", function()
  local before = core.put_off_from()
  for _, case in ipairs(cases) do
    it("resumes to the same bits after any epoch: " .. case[1], function()
      core.put_off_from(case.put_off or before)
      local plain = numbers_of(fit(case))
      local whole_path, path = path_of "whole", path_of "parts"
      os.remove(whole_path)
      equal(numbers_of(fit(case, { checkpoint = whole_path })), plain, "keeping it changes nothing")
      for cut = 0, 5 do
        os.remove(path)
        local stopped = not pcall(fit, case, { checkpoint = path, each_epoch = function(epoch)
          if epoch == cut then error("stopped here", 0) end
        end })
        check(stopped)
        local run, model = fit(case, { checkpoint = path })
        equal(run.resumed, math.max(0, cut - 1), "the epoch that was cut is done again")
        equal(numbers_of(run, model), plain, ("cut in epoch %d"):format(cut))
        equal(bytes_of(path), bytes_of(whole_path), "the file")
      end
      local again, model = fit(case, { checkpoint = path })
      equal({ again.resumed, numbers_of(again, model) }, { 5, plain }, "an ended one only reads")
      core.put_off_from(before)
    end)
  end

  it("resumes to the same file after kills at random moments", function()
    local moonrank = dofile("tests/support/program.lua").moonrank
    if not moonrank then return test.skip "MOONRANK does not name the program" end
    local script = path_of "script.lua"
    core.write_file(script, [[
      local mr = require "moonrank"
      require("moonrank.core").put_off_from(0)
      local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 300, mean_activity = 30, seed = 3 }
      local fold = ratings:binarize(4):min_relevant(4):folds{ k = 5, seed = 3 }[1]
      local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, init = 0.3 }
      mr.fit{ model = model, loss = mr.losses.ndcg{ bound = "minmax" }, train = fold.train, valid = fold.valid,
        batch = 2, epochs = 60, optimizer = mr.optim.adam{ lr = 0.02 }, metrics = { "ndcg", "ap" },
        select = { "ndcg", "ap" }, checkpoint = arg[1], progress = false }
    ]])
    local function run_for(path, seconds)
      local limit = seconds and ("timeout -s KILL %.3f "):format(seconds) or ""
      return os.execute(("%s'%s' --threads 1 '%s' '%s' 2>/dev/null"):format(limit, moonrank, script, path))
    end
    local whole, parts = path_of "uninterrupted", path_of "killed"
    local began = core.clock()
    check(run_for(whole))
    local took = core.clock() - began
    local kills, ended = 0, 0
    math.randomseed(11)
    while kills < 20 do
      if run_for(parts, 0.05 + math.random() * took) then
        ended = ended + 1
        check(core.sha256(bytes_of(parts)) == core.sha256(bytes_of(whole)), "another file after kills")
        os.remove(parts)
      else
        kills = kills + 1
      end
    end
    check(run_for(parts))
    equal(core.sha256(bytes_of(parts)), core.sha256(bytes_of(whole)))
  end)

  it("writes after the given number of epochs or minutes, and at the end", function()
    local path, epochs = path_of "seldom", {}
    local function written(options)
      os.remove(path)
      options.path, epochs = path, {}
      local was
      fit(cases[2], { checkpoint = options, each_epoch = function(epoch)
        local now = core.is_file(path) and bytes_of(path) or ""
        if epoch > 1 and now ~= was then epochs[#epochs + 1] = epoch - 1 end
        was = now
      end })
      if bytes_of(path) ~= was then epochs[#epochs + 1] = 5 end
      return epochs
    end
    equal(written{ every = 2 }, { 2, 4, 5 })
    equal(written{ minutes = 10 }, { 5 })
    equal(written{ minutes = 0 }, { 1, 2, 3, 4, 5 })
  end)

  it("refuses the file of another training, and leaves the file unchanged", function()
    local path = path_of "other"
    fit(cases[2], { checkpoint = path })
    local was = bytes_of(path)
    raises(function() fit(cases[2], { checkpoint = path, seed = 2 }) end, "seed", "1", "2")
    raises(function() fit(cases[2], { checkpoint = path, clip = 1 }) end, "clip", "nil", "mr.Clip", "{norm = 1}")
    raises(function() fit(cases[2], { checkpoint = path, epochs = 4 }) end, "epochs", "5", "4")
    raises(function() fit(cases[2], { checkpoint = path, epochs = 4, seed = 2, clip = 0.1 }) end, "epochs", "5", "4",
      "seed", "2", "clip", "{norm = 0.1}")
    raises(function() fit(cases[2], { checkpoint = path, optimizer = mr.optim.adam{ lr = 0.050000001 } }) end,
      "optimizer.lr", "0.05", "0.050000001")
    raises(function() fit(cases[2], { checkpoint = path, loss = mr.losses.ndcg{} }) end,
      "loss", "ap", "ndcg")
    raises(function() fit(cases[2], { checkpoint = path, train = fold.valid }) end, "train")
    raises(function() fit(cases[2], { checkpoint = path, model = mr.models.mf{ users = 99, items = 400,
      factors = 2 } }) end,
      "model.factors", "6", "2")
    local all = { checkpoint = path, optimizer = mr.optim.adam{ lr = 0.5 }, batch = 3, epochs = 9, seed = 2, clip = 1 }
    for _, each in ipairs{ { "loss", mr.losses.ndcg{} }, { "valid", fold.test }, { "train", fold.valid },
      { "model", mr.models.mf{ users = 99, items = 400, factors = 2 } } } do
      all[each[1]] = each[2]
      raises(function() fit(cases[2], all) end, each[1], "optimizer.lr", "batch", "seed", "clip")
    end
    equal(bytes_of(path), was)
    local model = path_of "model"
    mf():save(model)
    raises(function() fit(cases[2], { checkpoint = model }) end, "'moonrank model 1'", "'moonrank fit'")
    core.write_file(path_of "text", "no tensors")
    raises(function() fit(cases[2], { checkpoint = path_of "text" }) end, "text.safetensors")
    raises(function() fit(cases[2], { checkpoint = 7 }) end, "checkpoint", "7")
    raises(function() fit(cases[2], { checkpoint = "" }) end, "path", "''")
    -- these paths are rejected before training begins
    for _, bad in ipairs{ { "folder/", "folder" }, { ("n"):rep(300), "File name too long" } } do
      raises(function() fit(cases[2], { checkpoint = path .. bad[1] }) end, "checkpoint", path .. bad[1], bad[2])
    end
    raises(function() fit(cases[2], { checkpoint = { path = path, evry = 2 } }) end, "'evry'", "'every'")
    raises(function() fit(cases[2], { checkpoint = true }) end, "checkpoint", "true", "trial")
  end)

  it("resumes from a file of an earlier version with former names of options", function()
    local path = path_of "earlier"
    local function go(steepness)
      local loss = mr.losses.ap{ steepness = steepness, bound = function(score) return score * 2 end }
      return fit(cases[2], { checkpoint = path, loss = loss, epochs = 1 })
    end
    go(2)
    earlier.rewrite(path, "moonrank fit", function(key, value)
      return key == "setting loss" and value:gsub("steepness", "gain") or value
    end)
    raises(function() go(3) end, "gain", "2", "3")
    equal(go(2).resumed, 1)
  end)

  it("resumes from files of versions between two renamings of options, each with its own names", function()
    for _, former in ipairs{ { "n", "steepness" }, { "n", "gain" } } do
      local path = path_of("earlier_" .. former[2])
      local function go(k)
        local loss = mr.losses.top_n_rank{ k = k } + mr.losses.ap{ steepness = 2 } + mr.losses.soft_precision{ k = 4 }
        return fit(cases[2], { checkpoint = path, loss = loss, epochs = 1 })
      end
      go(3)
      earlier.rewrite(path, "moonrank fit", function(key, value)
        return key == "setting loss" and value:gsub("k = 3", "n = 3"):gsub("steepness", former[2]) or value
      end)
      raises(function() go(5) end, "n", "3", "5")
      equal(go(3).resumed, 1)
      earlier.rewrite(path, "moonrank fit", function(key, value)
        return key == "setting loss" and value:gsub("k = 4", "n = 4") or value
      end)
      raises(function() go(3) end, "terms[3].options.n", "4")
    end
  end)

  it("refuses losses and metrics that differ in an option only", function()
    local path = path_of "options"
    local bounds, losses, metrics = mr.bounds, mr.losses, mr.metrics
    local function ap_under(bound) return losses.ap{ bound = bound } end
    for _, two in ipairs{
      { losses.lambdarank{ metric = "ndcg" }, losses.lambdarank{ metric = "ap" } },
      { losses.lambdarank{ metric = "ndcg" }, losses.lambdarank{ metric = metrics.ndcg{ gain = "linear" } } },
      { losses.ndcg{}, losses.ndcg{ steepness = 5 } }, { losses.ranknet{}, losses.ranknet{ steepness = 2 } },
      { ap_under(bounds.distribution_bound{ kappa = 4 }), ap_under(bounds.distribution_bound{ kappa = 5 }) },
      { ap_under(bounds.weighted("minmax", { cap = 3 })), ap_under(bounds.weighted("none", { cap = 3 })) },
    } do
      for i = 1, 2 do
        os.remove(path)
        fit(cases[2], { checkpoint = path, loss = two[i], epochs = 1 })
        fit(cases[2], { checkpoint = path, loss = two[i], epochs = 1 })
        raises(function() fit(cases[2], { checkpoint = path, loss = two[3 - i], epochs = 1 }) end, "loss")
      end
    end
    os.remove(path)
    fit(cases[2], { checkpoint = path, epochs = 1, metrics = { "ndcg" }, select = "rr" })
    local changed = { metrics.ndcg{ gain = "linear" } }
    raises(function() fit(cases[2], { checkpoint = path, epochs = 1, metrics = changed, select = "rr" }) end,
      "metrics[2].gain", "exp2", "linear")
  end)

  it("refuses other starting parameters, also after mr.models.load", function()
    local path, saved = path_of "start", path_of "start_model"
    local function go(model, more)
      local options = { checkpoint = path, epochs = 2, model = model }
      for name, value in pairs(more or {}) do options[name] = value end
      return fit(cases[2], options)
    end
    local first = mf()
    go(first)
    first:save(saved)
    equal(go(mf()).resumed, 2, "the same start goes on")
    raises(function() go(mr.models.load(saved)) end, "parameters")
    equal(go(first).resumed, 2, "a model that this file trained goes on in the same process")
    local other = fit(cases[2], { model = first, epochs = 1 })
    check(not other.interrupted)
    raises(function() go(first) end, "parameters")
  end)

  it("refuses changed functions of the script, and names what changed", function()
    local path = path_of "functions"
    -- Returns a script's function for a loss: `how` chooses its code, and `x` is a value that it captures.
    local function smooth(how, x)
      if how == 1 then return function(scores, lists) return lists:sum(scores * lists.relevance) * x end end
      return function(scores, lists) return lists:sum(scores * lists.relevance) + x end
    end
    local parts = {
      loss = function(how, x)
        return { loss = mr.losses.define("spec_changing", { direction = "maximize", smooth = smooth(how, x) }){} }
      end,
      bound = function(how, x)
        local function plain(score) return score * x end
        local function other(score) return score + x end
        return { loss = mr.losses.ap{ bound = how == 1 and plain or other } }
      end,
      named_bound = function(how, x)
        mr.bounds.define("spec_changing", how == 1 and function(score) return score * x end
          or function(score) return score + x end)
        return { loss = mr.losses.ap{ bound = "spec_changing" } }
      end,
      metric = function(how, x)
        mr.metrics.define("spec_changing_too", how == 1 and function(ranks, lists) return lists:mean(ranks) * x end
          or function(ranks, lists) return lists:mean(ranks) + x end)
        return { metrics = { "ndcg", "spec_changing_too" }, select = "ndcg" }
      end,
      model = function(how, x)
        local function product(self, batch) return batch.features:matmul(self.weights):reshape(batch.lists.rows) end
        local forward = how == 1 and function(self, batch) return product(self, batch) * x end
          or function(self, batch) return product(self, batch) + x end
        mr.models.define("spec_changing", { forward = forward,
          parameters = function() return { weights = mr.uniform({ 6, 1 }, { low = -1, high = 1, seed = 3 }) } end })
        return { model = mr.models.spec_changing{} }
      end,
    }
    for name, made in pairs(parts) do
      local function go(how, x, more)
        local options = { checkpoint = path, epochs = 1, loss = mr.losses.ndcg{}, select = "ndcg" }
        for _, each in ipairs{ made(how, x), more or {} } do
          for key, value in pairs(each) do options[key] = value end
        end
        local function linear() return mr.models.linear{ inputs = 6, seed = 1 } end
        return fit({ "", linear, query_data, function() return mr.optim.sgd{} end }, options)
      end
      os.remove(path)
      go(1, 2)
      local was = bytes_of(path)
      equal(go(1, 2, { each_epoch = function() end }).resumed, 1, name)
      local word = name == "bound" and "loss" or name == "metric" and "metric spec_changing_too" or name:match "%l+$"
      raises(function() go(2, 2) end, word)
      raises(function() go(2, 2) end, "function")
      raises(function() go(1, 3) end, "2", "3")
      equal(bytes_of(path), was)
    end
  end)

  it("refuses a changed tensor or constant that a function of the script captured", function()
    local path = path_of "captured_values"
    local function go(bound)
      return fit(cases[2], { checkpoint = path, epochs = 1, loss = mr.losses.ap{ bound = bound } })
    end
    local function with_tensor(x)
      local w = { mr.tensor{ x } }
      return function(score) return score * w[1] end
    end
    local function with_constant(x)
      return load(("local scale <const> = %d\nreturn function(score) return score * scale end"):format(x))()
    end
    for _, bound in ipairs{ with_tensor, with_constant } do
      os.remove(path)
      go(bound(1))
      equal(go(bound(1)).resumed, 1)
      raises(function() go(bound(100)) end, "loss")
    end
  end)

  it("resumes in the same process if the script's functions count their calls", function()
    local path, calls = path_of "counting", 0
    mr.metrics.define("spec_counting", function(_, lists)
      calls = calls + 1
      return mr.zeros(lists.count, { dtype = "float64" }) + calls
    end)
    local function go(each_epoch)
      return fit(cases[2], { checkpoint = path, metrics = { "spec_counting" }, select = "spec_counting",
        each_epoch = each_epoch })
    end
    raises(function() go(function(epoch) if epoch == 3 then error("stopped here", 0) end end) end, "stopped here")
    check(calls == 3)
    equal({ go().resumed, go().resumed }, { 2, 5 })
    calls = 100
    raises(go, "spec_counting")
  end)

  it("ignores the progress of a trial that a function of the script captured", function()
    local found
    mr.sweep{ name = "captured", store = path_of "captured" .. ".db", workers = 0, progress = false, metric = "ndcg",
      space = { x = mr.choice{ 1 } }, run = function(trial)
        local function smooth(scores, lists) return lists:sum(scores * lists.relevance) * trial.x end
        local loss = mr.losses.define("spec_of_trial", { direction = "maximize", smooth = smooth }){}
        local o = { loss = loss, selection = {} }
        local code = require "moonrank.fit.script_code"
        local first = code.of(o, {})
        trial:report(1, { ndcg = 0.25 })
        found = { first:find "smooth" ~= nil, code.of(o, {}) == first }
        return { ndcg = 0.5 }
      end }
    equal(found, { true, true })
  end)

  it("ignores functions of the script that the training does not use", function()
    local path = path_of "unused"
    for x = 1, 2 do
      mr.metrics.define("spec_unused", function(ranks, lists) return lists:mean(ranks) * x end)
      equal(fit(cases[2], { checkpoint = path, epochs = 1 }).resumed, x - 1)
    end
  end)

  it("refuses data that an optimizer changed through a detached tensor", function()
    local path = path_of "detached"
    local weights = mr.uniform({ queries.lists.rows, 6 }, { seed = 5 }):requires_grad()
    local data = mr.data.dataset{ lists = queries.lists, features = weights:detach() }
    local function go()
      local function parts() return { train = data, valid = queries } end
      return fit({ "", function() return mr.models.linear{ inputs = 6 } end, parts,
        function() return mr.optim.sgd{} end }, { checkpoint = path, epochs = 1 })
    end
    go()
    equal(go().resumed, 1)
    local was, total = data.fingerprint, queries.lists.relevance:sum():item()
    -- a copy, because the relevance of lists cannot be changed
    local grades = data.lists.relevance:detach():requires_grad()
    grades:sum():backward()
    mr.optim.sgd{ lr = 1 }:bind{ grades }:step()
    equal({ data.fingerprint, data.lists.relevance:sum():item() }, { was, total })
    weights:sum():backward()
    mr.optim.sgd{ lr = 1 }:bind{ weights }:step()
    check(data.fingerprint ~= was)
    raises(go, "train")
  end)

  it("refuses candidates of a catalogue with more items", function()
    local path = path_of "catalogue"
    local model = mr.models.mf{ users = fold.users, items = fold.items + 1, factors = 2 }
    local more = setmetatable({}, getmetatable(fold))
    for name, value in pairs(fold) do more[name] = value end
    rawset(more, "items", fold.items + 1)
    local function go(of)
      return fit(cases[2], { checkpoint = path, epochs = 1, model = model, valid = of:candidates() })
    end
    go(fold)
    equal(go(fold).resumed, 1)
    raises(function() go(more) end, "valid")
  end)

  it("resumes to more epochs, unless the schedule or the validation depends on their number", function()
    local path = path_of "longer"
    local function go(epochs, more)
      local options = { checkpoint = path, epochs = epochs }
      for name, value in pairs(more or {}) do options[name] = value end
      return fit(cases[2], options)
    end
    local made = mr.schedule
    for _, more in ipairs{
      {}, { every = 2 },
      { schedule = made.step{ every = 2, factor = 0.5 } },
      { schedule = made.plateau{ patience = 0, factor = 0.5 } },
      { schedule = made.cosine{ low = 0.1, epochs = 5 } },
      { schedule = made.warmup{ steps = 9 } },
      { schedule = made.warmup{ steps = 9, after = made.step{ every = 3 } } },
    } do
      os.remove(path)
      go(4, more)
      local longer, model = go(6, more)
      equal(longer.resumed, 4)
      os.remove(path)
      local whole, same = go(6, more)
      equal({ longer:to_csv(), longer.best.epoch }, { whole:to_csv(), whole.best.epoch })
      equal(model:parameters()[1]:totable(), same:parameters()[1]:totable())
      raises(function() go(5, more) end, "epochs", "6", "5")
    end
    os.remove(path)
    go(3, { every = 2 })  -- epoch 3 was validated only because it was the last one
    raises(function() go(6, { every = 2 }) end, "epochs", "3", "6")
    local by_total = made.cosine{ low = 0.1 }
    for _, schedule in ipairs{ by_total, made.warmup{ steps = 3, after = by_total },
      made.warmup{ steps = 3, after = made.warmup{ epochs = 1, after = by_total } } } do
      os.remove(path)
      go(4, { schedule = schedule })
      raises(function() go(6, { schedule = schedule }) end, "epochs", "4", "6")
    end
  end)

  it("compares the options of models, also in nested tables", function()
    mr.models.define("spec_tabled", {
      options = { sizes = { 1, 2 } }, parameters = function() return { w = mr.ones(6, 1) } end,
      forward = function(self, batch) return batch.features:matmul(self.w):reshape(batch.lists.rows) end,
    })
    local path = path_of "tabled"
    local function go(sizes)
      local model = mr.models.spec_tabled{ sizes = sizes }
      model.config.nested = { { 1, mr.metrics.rr{} }, a = { b = sizes } }
      return fit({ "", function() return model end, query_data, function() return mr.optim.sgd{} end },
        { checkpoint = path, epochs = 1 })
    end
    go{ 1, 2 }
    equal(go{ 1, 2 }.resumed, 1)
    raises(function() go{ 1, 3 } end, "model.nested.a.b[2]", "model.sizes[2]", "2", "3")
  end)

  -- Writes a copy of the checkpoint file with one change.
  local function changed(path, change)
    local names, tensors, keys, values = core.load_tensors(path, "moonrank fit")
    local by_name, texts = {}, {}
    for i, name in ipairs(names) do by_name[name] = tensors[i] end
    for i, key in ipairs(keys) do texts[key] = values[i] end
    texts.numerics = nil
    change(by_name, texts)
    names, tensors, keys, values = {}, {}, {}, {}
    for name, x in pairs(by_name) do names[#names + 1], tensors[#tensors + 1] = name, x end
    for key, text in pairs(texts) do keys[#keys + 1], values[#values + 1] = key, text end
    local to = path_of "changed"
    core.save_tensors(to, "moonrank fit 1", names, tensors, keys, values)
    return to
  end

  it("refuses a file whose parts contradict each other", on_cpu(function()
    core.put_off_from(0)
    local path = path_of "hostile"
    fit(cases[3], { checkpoint = path })
    local function refused(message, change)
      raises(function() fit(cases[3], { checkpoint = changed(path, change) }) end, table.unpack(message))
    end
    local function ints(t) return mr.tensor(t, { dtype = "int64" }) end
    refused({ "epoch", "'99'" }, function(_, texts) texts.epoch = "99" end)
    refused({ "epoch", "'-1'" }, function(_, texts) texts.epoch = "-1" end)
    refused({ "epoch", "nil" }, function(_, texts) texts.epoch = nil end)
    refused({ "1", "'7'" }, function(_, texts) texts["best 1"] = "7" end)
    refused({ "'history'" }, function(x) x.history = mr.zeros(5, 2) end)
    refused({ "'model.2'", "tensor" }, function(x) x["model.2"] = nil end)
    refused({ "'model.1'", "{2, 2}" }, function(x) x["model.1"] = mr.zeros(2, 2) end)
    refused({ "'1.nonsense'", "parameter" }, function(x) x["optimizer.1.nonsense"] = mr.zeros(1) end)
    refused({ "'1.counts'" }, function(x) x["optimizer.1.counts"] = nil end)
    refused({ "'1.counts'", "-1", "0" }, function(x) x["optimizer.1.counts"] = ints{ -1, 0 } end)
    refused({ "deferred", "rates" }, function(x) x["optimizer.1.rates"] = nil end)
    refused({ "'stored'", "step" }, function(x)
      local steps = x["optimizer.1.stored"]:totable()
      steps[1] = 9999
      x["optimizer.1.stored"] = ints(steps)
    end)
    refused({ "rows" }, function(x) x["optimizer.1.rows"] = mr.zeros(3, 3) end)
    refused({ "rate", "positive" }, function(x) x["optimizer.1.rates"] = x["optimizer.1.rates"] * -1 end)
    refused({ "settings" }, function(x) x["optimizer.1.settings"] = mr.tensor({ 2, 2, 0, 1 },
      { dtype = "float64" }) end)
    -- when a later part of the file is wrong, nothing may have been restored
    local model, start = mf(), mf():parameters()
    for _, change in ipairs{ function(x) x["optimizer.2.rates"] = x["optimizer.2.rates"] * -1 end,
      function(x) x["optimizer.2.counts"] = nil end, function(_, texts) texts["best 2"] = "7" end } do
      local case = { "", function() return model end, cases[3][3], cases[3][4] }
      raises(function() fit(case, { checkpoint = changed(path, change) }) end, "changed")
      for i, parameter in ipairs(model:parameters()) do equal(parameter:totable(), start[i]:totable()) end
    end
    refused({ "rates" }, function(x) x["optimizer.1.counts"] = ints{ 1, 0 } end)
    check(pcall(fit, cases[3], { checkpoint = { path = changed(path, function() end) } }), "unchanged it goes on")
    core.put_off_from(before)
  end))
end)

it("an optimizer continues from a saved state to the same values, and refuses the state of another", function()
  local path = path_of "optimizer"
  for _, case in ipairs{ { "adam", { lr = 0.1 } }, { "sgd", { lr = 0.1, momentum = 0.9 } } } do
    local p, q = mr.tensor({ 4, -3 }):requires_grad(), mr.tensor({ 4, -3 }):requires_grad()
    local a, b = mr.optim[case[1]](case[2]):bind{ p }, mr.optim[case[1]](case[2]):bind{ q }
    for step = 1, 9 do
      for _, each in ipairs{ { p, a }, { q, b } } do
        each[2]:zero_grad();
        ((each[1] - 1) ^ 2):sum():backward()
        each[2]:step()
      end
      if step == 4 then
        b:save(path)
        b = mr.optim[case[1]](case[2]):bind{ q }:load(path)
      end
    end
    equal(p:totable(), q:totable())
  end
  local p = mr.ones(3):requires_grad()
  raises(function() mr.optim.adam{}:bind{ p }:load(path) end, "'sgd'", "adam")
  raises(function() mr.optim.sgd{}:bind{ p }:load(path) end, "'1.mean'", "parameters")
  raises(function() mr.optim.sgd{}:load(path) end, "parameters")
  raises(function() mr.optim.sgd{}:save(path) end, "optimizer", "bind")
end)
