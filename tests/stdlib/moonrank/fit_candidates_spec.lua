-- Tests mr.fit with validation on all items (candidates) and with metrics under bounds, against fold:evaluate and
-- mr.evaluate of each epoch's model.
local mr = require "moonrank"
local fit = require "moonrank.fit"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, mean_activity = 40, seed = 5 }:binarize(4)
local fold = ratings:folds{ k = 4, nsr = 1, seed = 2 }[2]

local function trained(options)
  local o = { model = mr.models.mf{ users = 40, items = 120, factors = 6, init = 0.3 }, loss = mr.losses.ndcg{},
    train = fold.train, valid = fold:candidates(), metrics = { "ndcg@10", "rr" }, epochs = 6, batch = 8,
    optimizer = mr.optim.adam{ lr = 0.05 }, progress = false }
  for name, value in pairs(options) do o[name] = value or nil end
  return mr.fit(o), o.model
end

local function with(options, more)
  local copy = {}
  for _, from in ipairs{ options, more } do
    for name, value in pairs(from) do copy[name] = value end
  end
  return copy
end

local kinds = {
  { {}, "" }, { { candidates = "sampled", negatives = 15, by = "popularity", seed = 4 }, "" },
  { { candidates = "one", negatives = 9 }, "" },
  { { known = "none" }, "" }, { { known = "relevant", users = "known" }, "" },
  { { candidates = "one", negatives = 9, correct = true }, "[corrected]" },
  { { candidates = "one", negatives = 9, correct = "trade_off", gamma = 0.3 }, "[trade_off]" },
}

for _, kind in ipairs(kinds) do
  local options, suffix = table.unpack(kind)
  local title = require("moonrank.record").fields(options) .. suffix
  it("mr.fit on candidates records fold:evaluate of each epoch's model: " ..
    (title == "" and "default" or title), function()
    local expected = {}
    local run, model = trained{
      valid = fold:candidates(options), test = fold:candidates(with(options, { part = "test" })),
      each_epoch = function(epoch, now, entry)
        if epoch == 0 then return end
        expected[epoch] = fold:evaluate(now, { "ndcg@10", "rr" }, with(options, { part = "valid" })).mean
        for name, value in pairs(entry.metrics) do equal(value, expected[epoch][name], name) end
        equal(#require("moonrank.check").names(entry.metrics), 2)
      end }
    local name, best = "ndcg@10" .. suffix, 1
    for epoch = 2, 6 do if expected[epoch][name] > expected[best][name] then best = epoch end end
    equal({ run.best.epoch, run.choices[1].metric.name, #expected }, { best, name, 6 })
    local tested = fold:evaluate(model, { "ndcg@10", "rr" }, options)
    for _, each in ipairs(tested.names) do equal(run.scores[each]:totable(), tested[each]:totable(), each) end
    equal(run.test.candidates, tested.candidates)
    equal(run.test.users:totable(), tested.users:totable())
    check(tostring(run):find(("epoch %d [^\n]*%s on valid"):format(best, name:gsub("%p", "%%%0"))), tostring(run))
    check(run:to_csv():find(name, 1, true) and run:to_latex():find("ndcg@10", 1, true))
  end)
end

it("mr.fit on candidates ranks relevant items worse if known leaves out fewer items", function()
  local function first_rr(known)
    local still = mr.optim.sgd{ lr = 1e-30 }
    local run = trained{ epochs = 1, valid = fold:candidates{ known = known }, optimizer = still }
    return run.history[1].metrics.rr
  end
  check(first_rr "rated" > first_rr "relevant" and first_rr "relevant" > first_rr "none")
end)

it("mr.fit on candidates has the same losses as on the part's own lists", function()
  local a, first = trained{ epochs = 3 }
  local b, second = trained{ epochs = 3, valid = fold.valid }
  for epoch = 1, 3 do
    local one, other = a.history[epoch], b.history[epoch]
    equal({ one.loss, one.valid_loss }, { other.loss, other.valid_loss })
  end
  a:restore "ndcg@10"
  check(#first:parameters() == #second:parameters())
end)

it("mr.fit on candidates applies patience, select, every and choose_on to candidate metrics", function()
  local run = trained{ epochs = 40, patience = 2, select = { "rr", "ndcg@10" }, optimizer = mr.optim.adam{ lr = 0.3 } }
  equal(run.stopped, "patience")
  local last = #run.history
  check(last < 40 and run.choices[1].best.epoch <= last - 2 and run.choices[2].best.epoch <= last - 2)
  run = trained{ every = 2, test = fold:candidates{ part = "test" }, choose_on = "test" }
  local first, second = run.history[1].metrics, run.history[2].metrics
  equal({ next(first) == nil, second.rr ~= nil, run.chosen_on }, { true, true, "test" })
end)

it("mr.fit selects on corrected samples and tests on the full catalogue, each metric at its epoch", function()
  local function both(more)
    return trained(with({ valid = fold:candidates{ candidates = "one", negatives = 9, correct = "trade_off" },
      test = fold:candidates{ part = "test" }, select = { "rr[trade_off]", "ndcg@10" },
      optimizer = mr.optim.adam{ lr = 0.2 }, epochs = 12 }, more))
  end
  local run, model = both{}
  equal({ run.choices[1].metric.name, run.choices[2].metric.name }, { "rr[trade_off]", "ndcg@10[trade_off]" })
  equal(run.test.names, { "ndcg@10", "rr" })
  equal(run.test.rr:totable(), fold:evaluate(model, { "rr" }).rr:totable())
  run:restore "ndcg@10[trade_off]"
  equal(run.test["ndcg@10"]:totable(), fold:evaluate(model, { "ndcg@10" })["ndcg@10"]:totable())
  check(run.metrics["rr[trade_off]"] and run.metrics.rr)
end)

it("mr.fit on candidates resumes from a checkpoint to the same bits, and refuses other candidates", function()
  local path = files.new_path()
  local chosen = "ap[expectation_max]"
  local whole, model = trained{ metrics = { "rr", { "ap", bound = "expectation_max" } }, select = chosen }
  local function part(more)
    return trained(with({ metrics = { "rr", chosen }, select = chosen, checkpoint = path }, more))
  end
  raises(function() part{ each_epoch = function(epoch) if epoch == 3 then error("killed", 0) end end } end, "killed")
  raises(function() part{ valid = fold:candidates{ candidates = "sampled" } } end, "valid")
  raises(function() part{ select = "ap[minmax]", metrics = { "rr", "ap[minmax]" } } end,
    "metrics", "[expectation_max]", "[minmax]")
  local run, again = part{}
  check(run.resumed >= 2)
  equal(tostring(run.history), tostring(whole.history))
  equal(run.best.epoch, whole.best.epoch)
  for i, x in ipairs(model:parameters()) do equal(again:parameters()[i]:totable(), x:totable()) end
end)

it("mr.fit gives metrics under bounds the values and names of mr.evaluate", function()
  local wanted = { "ndcg", { "ap", bound = "expectation_max" }, "nrbp_loss[minmax]" }
  local expected = {}
  local chosen = "ap[expectation_max]"
  local run, model = trained{ valid = fold.valid, test = fold.test, metrics = wanted,
    select = { "ap", bound = "expectation_max" },
    each_epoch = function(epoch, now)
      if epoch > 0 then expected[epoch] = fit.test(now, fold.valid, wanted).mean end
    end }
  for epoch, entry in ipairs(run.history) do
    for _, name in ipairs{ "ndcg", chosen, "nrbp_loss[minmax]" } do
      equal(entry.metrics[name], expected[epoch][name], name)
    end
  end
  equal({ run.choices[1].metric.name, run.test.names[2] }, { chosen, chosen })
  local batch = fold.test:batches{ size = fold.test.count }()
  equal(run.test[chosen]:totable(), mr.evaluate(model(batch):detach(), batch.lists, wanted)[chosen]:totable())
  run = trained{ valid = fold.valid, metrics = wanted, select = { "nrbp_loss[minmax]", "map[expectation_max]" } }
  local least = run.history[1]
  for _, entry in ipairs(run.history) do
    if entry.metrics["nrbp_loss[minmax]"] < least.metrics["nrbp_loss[minmax]"] then least = entry end
  end
  equal(run.best.epoch, least.epoch)
  equal(run.choices[2].metric.name, "ap[expectation_max]")
end)

it("mr.sweep of mr.fit on candidates shows metrics by their names, and refuses other data", function()
  local folder = files.new_path()
  local function study(of)
    return mr.sweep{ name = "bounded", metric = "valid_ap[minmax]", space = { lr = mr.choice{ 0.01, 0.1 } },
      sampler = "grid", workers = 0, store = folder .. "/here.db", progress = false, run = function(trial)
        return (trained{ optimizer = mr.optim.adam{ lr = trial.lr }, metrics = { "ap[minmax]", "rr" }, epochs = 2,
          trial = trial, valid = of:candidates(), test = of:candidates{ part = "test" } })
      end }
  end
  local first = study(fold)
  local numbers = first:best().numbers
  check(numbers["valid_ap[minmax]"] and numbers["ap[minmax]"] and numbers.rr, "all numbers")
  check(tostring(first:pivot{ rows = "lr", value = "ap[minmax]" }):find "%d", "a table")
  equal(study(fold):best().numbers, numbers)
  raises(function() study(ratings:folds{ k = 4, nsr = 1, seed = 3 }[2]) end, "'bounded'", "fit_candidates_spec.lua")
  equal(require("moonrank.metrics.registry").direction "valid_nrbp_loss[minmax]", "minimize")
end)

it("mr.fit on candidates refuses wrong metrics, parts and models before the first step", function()
  local function attempt(options)
    return function()
      return trained(with({ each_epoch = function() error "a step was taken" end }, options))
    end
  end
  raises(attempt{ metrics = { { "ap", bound = "minmx" } } }, "'minmx'", "'minmax'")
  raises(attempt{ metrics = { "ap[minmx]" } }, "'minmx'", "'minmax'")
  raises(attempt{ metrics = { { "ndgc", bound = "minmax" } } }, "'ndgc'", "'ndcg'")
  raises(attempt{ metrics = { { "ap" } } }, "mr.fit", "metrics", "{name, bound = name}", "bound")
  raises(attempt{ metrics = { { "ap", bound = "minmax", k = 5 } } }, "'k'", "metric", "bound")
  raises(attempt{ metrics = { "ap[minmax]", { "ap", bound = "minmax" } } }, "metrics", "'ap[minmax]'")
  raises(attempt{ select = { "ap", bound = "nothing" } }, "'nothing'", "bound")
  raises(attempt{ select = "rr[corrected]" }, "'rr[corrected]'", "test")
  local corrected = fold:candidates{ candidates = "one", correct = true }
  raises(attempt{ valid = corrected, metrics = { "err" } }, "fold:candidates", "'err'")
  raises(attempt{ valid = corrected, metrics = { "rr[minmax]" } }, "fold:candidates", "'rr[minmax]'")
  raises(attempt{ valid = fold }, "valid", "mr.Fold")
  raises(attempt{ test = fold:candidates() }, "mr.fit", "test")
  raises(attempt{ valid = fold:candidates{ part = "test" } }, "mr.fit", "valid")
  raises(attempt{ train = fold:candidates() }, "train", "mr.data.Candidates")
  raises(attempt{ model = mr.models.mf{ users = 40, items = 119, factors = 2 } }, "model", "119")
  raises(function() fold:candidates{ part = "train" } end, "fold:candidates", "part", "'train'")
  raises(function() fold:candidates{ ties = "worst" } end, "fold:candidates", "'ties'")
  raises(function() fold:candidates{ negatives = 3 } end, "candidates", "'catalogue'")
  local empty = ratings:folds{ k = 4, nsr = 1, seed = 2, valid = 0 }[2]
  raises(attempt{ train = empty.train, valid = empty:candidates() }, "users", "relevant", "item")
end)
