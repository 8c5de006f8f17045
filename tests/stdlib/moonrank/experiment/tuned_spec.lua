-- Tests mr.experiment.best and mr.experiment.tuned: settings that validation chooses, and runs with these settings.
local mr = require "moonrank"
local test = require "moonrank.test"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, near, raises, check = test.it, test.equal, test.near, test.raises, test.check

it("mr.experiment.best takes the best run by the study's metric for each value, the first of equal ones", function()
  local folder = sweeps.new_folder()
  local args = { store = folder .. "/runs.db", workers = 0, retry = 0 }
  local results = mr.experiment.study(args, { name = "s", settings = {},
    space = { loss = mr.choice{ "ap", "rr" }, rate = mr.choice{ 0.1, 0.2, 0.3 }, fold = mr.range(1, 2) },
    run = function(trial)
      local is_ap = trial.loss == "ap"
      return { valid = is_ap and math.min(trial.rate, 0.2) or -trial.rate, test = trial.rate * trial.fold }
    end })
  local best = mr.experiment.best(results, "loss")
  equal({ best.ap.rate, best.ap.fold, best.ap.valid, best.rr.rate }, { 0.2, 1, 0.2, 0.1 })
  near(best.ap.test, 0.2, 1e-12)
  local by_both = mr.experiment.best(results, { "loss", "fold" })
  equal({ by_both["ap 2"].rate, by_both["rr 2"].rate, by_both["rr 2"].fold }, { 0.2, 0.1, 2 })
  raises(function() mr.experiment.best(results) end, "by", "nil")
  raises(function() mr.experiment.best(results, "nope") end, "nope")
  raises(function() mr.experiment.best({}, "loss") end, "results")
end)

it("mr.experiment.tuned runs every method at the settings that are best on validation", function()
  local folder = sweeps.new_folder()
  local args, chosen = { store = folder .. "/runs.db", workers = 0, retry = 0, studies = {} }, {}
  local o = { name = "losses", by = "loss", settings = { epochs = 3 }, beside = { fold = mr.range(1, 2) },
    space = { ap = { rate = mr.choice{ 0.1, 0.2 }, decay = mr.choice{ 0, 1 } }, random = {} },
    choose = function(trial) return { valid = trial.rate - trial.decay, test = -trial.rate } end,
    run = function(trial, at) return { valid = trial.fold, at_rate = at.rate or -1, at_decay = at.decay or -1 } end }
  local results, best = mr.experiment.tuned(args, o)
  equal({ best.ap.rate, best.ap.decay, next(best.random) }, { 0.2, 0, nil })
  for _, study in ipairs(args.studies) do chosen[study.name] = study:counts().done end
  equal(chosen, { ["losses, settings"] = 4, losses = 4 })
  equal(mr.experiment.folds(results, { loss = "ap" }, "at_rate"), { 0.2, 0.2 })
  equal(mr.experiment.folds(results, { loss = "random" }, "at_decay"), { -1, -1 })
  -- chosen hyperparameters are part of the settings of the second study, so other ones make it another study
  check(results.study.settings:find "ap: decay 0, rate 0.2")
  -- while hyperparameters are chosen, some runs may diverge (NaN), but not all runs of a method
  local function diverging(below)
    return function(trial)
      if trial.rate < below then error("mr.fit: the loss is NaN in epoch 1", 0) end
      return { valid = -trial.rate }
    end
  end
  o.accepts, o.name, o.choose = mr.experiment.diverged, "some", diverging(0.15)
  equal(select(2, mr.experiment.tuned(args, o)).ap.rate, 0.2)
  o.name, o.choose = "all", diverging(1)
  raises(function() mr.experiment.tuned(args, o) end, "all, settings", "loss = ap")
  o.name, o.space = "none", { random = {} }
  equal((mr.experiment.tuned(args, o)):counts().done, 2)
end)
