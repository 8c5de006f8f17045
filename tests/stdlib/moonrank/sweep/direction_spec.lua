-- Tests the direction of a sweep: whether it minimizes or maximizes its metric.
local mr = require "moonrank"
local registry = require "moonrank.metrics.registry"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, equal, check, raises = test.describe, test.it, test.equal, test.check, test.raises

local function sweep(folder, metric, options)
  local o = { name = metric or "unnamed", space = { a = mr.choice{ 3, 1, 2 } }, metric = metric,
    store = folder .. "/r.db", workers = 0, progress = false,
    run = function(trial) return { [metric or options.number] = trial.a } end }
  for name, value in pairs(options or {}) do
    if name ~= "number" then o[name] = value end
  end
  return mr.sweep(o)
end

describe("mr.sweep", function()
  it("minimizes errors and maximizes qualities by metric name", function()
    local folder = sweeps.new_folder()
    for _, metric in ipairs{ "rmse", "mae", "mse", "valid_rmse", "test_mae", "valid_loss", "train_loss", "log_loss",
      "wall" } do
      equal(sweep(folder, metric):best().value, 1.0, metric)
    end
    for _, metric in ipairs{ "ndcg@10", "valid_map", "mrr", "accuracy", "ndcg[minmax]" } do
      equal(sweep(folder, metric):best().value, 3.0, metric)
    end
  end)

  it("raises an error before the first trial if the metric has no known direction", function()
    local folder = sweeps.new_folder()
    for _, metric in ipairs{ "profit", "my_rmse_of", "valid_profit", "p", "rmse2" } do
      local function never() error "it ran" end
      local message = raises(function() sweep(folder, metric, { run = never }) end, "direction")
      check(message:find(metric, 1, true), message)
    end
    equal(sweep(folder, "profit", { direction = "maximize" }):best().value, 3.0)
    equal(sweep(folder, "regret", { direction = "minimize" }):best().value, 1.0)
  end)

  it("finds the direction of a metric that only the trial names", function()
    local folder = sweeps.new_folder()
    local function reason(name)
      return mr.results(folder .. "/r.db", name):trials{ columns = { "reason" } }.rows[1][1]
    end
    for _, number in ipairs{ "rmse", "profit" } do
      equal(sweep(folder, nil, { name = number, number = number }):counts(), { failed = 3 })
      check(reason(number):find(number, 1, true) and reason(number):find("direction", 1, true), reason(number))
    end
    equal(sweep(folder, nil, { name = "plain", run = function(trial) return trial.a end }):best().value, 3.0)
    equal(sweep(folder, nil, { name = "least", number = "profit", direction = "minimize" }):best().value, 1.0)
  end)
end)

it("mr.results reads an error metric in the direction of the study or of the option", function()
  local folder = sweeps.new_folder()
  sweep(folder, "rmse")
  local opened <close> = require("moonrank.sweep.store").open(folder .. "/r.db", "write")
  opened:columns "UPDATE studies SET direction = 'maximize'"
  local r = mr.results(folder .. "/r.db", "rmse")
  equal({ r:best().value, r:best(nil, { direction = "minimize" }).value }, { 3.0, 1.0 })
end)

it("the metric registry gives the direction of every metric under every name and prefix", function()
  for _, name in ipairs(registry.names()) do
    local metric = registry.parse(name, registry.takes(name, "k") and { k = 10 } or nil)
    local wanted = metric.minimize and "minimize" or "maximize"
    for _, text in ipairs{ metric.name, "valid_" .. metric.name, "test_" .. metric.name, metric.name .. "[minmax]" } do
      equal({ text, registry.direction(text), registry.usual_direction(text) }, { text, wanted, wanted })
    end
    equal({ name, registry.usual_direction("train_" .. metric.name) }, { name, wanted })
  end
end)
