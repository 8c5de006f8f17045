-- Tests the result of mr.fit: histories, several metrics that choose an epoch, printing, and exports.
local mr = require "moonrank"
local fit = require "moonrank.fit"
local help = require "moonrank.help"
local test = require "moonrank.test"
local says = require "tests.support.says"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local function queries(seed)
  return mr.data.synthetic{ kind = "queries", queries = 30, features = 6, seed = seed, noise = 2 }
end
local train, valid, held = queries(1), queries(2), queries(3)

local function trained(options)
  local all = { model = mr.models.mlp{ inputs = 6, hidden = { 5 }, seed = 3 }, train = train, valid = valid,
    test = held, loss = mr.losses.ndcg{ bound = "minmax" }, metrics = { "ndcg", "rr", "ap" },
    optimizer = mr.optim.adam{ lr = 0.1 }, epochs = 8, progress = false }
  for name, value in pairs(options or {}) do all[name] = value or nil end
  return mr.fit(all), all.model
end

describe("run.history of mr.fit", function()
  it("has the losses and every metric of every epoch", function()
    local seen = {}
    local run = trained{ each_epoch = function(epoch, model, entry)
      if epoch == 0 then return check(entry == nil) end
      local scores = {}
      for batch in valid:batches{ size = 1000 } do scores = model(batch):detach() end
      local evaluated = mr.evaluate(scores, valid.lists, { "ndcg", "rr", "ap" })
      for _, name in ipairs{ "ndcg", "rr", "ap" } do equal(entry.metrics[name], evaluated.mean[name]) end
      near(entry.valid_loss, mr.losses.ndcg{ bound = "minmax" }:mean(scores, valid.lists):item(), 1e-6)
      seen[epoch] = entry
    end }
    equal(#run.history, 8)
    for i, entry in ipairs(run.history) do check(rawequal(entry, seen[i])) end
  end)

  it("has metrics under their aliases too, like the run", function()
    local run = trained{ metrics = { "map", "mrr@5" }, select = { "mrr@5", "map" }, epochs = 3 }
    for i = 1, 3 do equal(run.history[i].metrics.map, run.history[i].metrics.ap) end
    equal({ run.best.metrics["mrr@5"], run.test.mean.map }, { run.best.metrics["rr@5"], run.test.mean.ap })
    check(run.scores.map == run.scores.ap and run.metrics.map == run.metrics.ap and run.scores.map ~= nil)
    check(run:restore "map" == run:restore "ap")
    raises(function() return run.best.metrics.ndcg end, "ndcg")
    raises(function() return run.scores.nosuch end, "nosuch")
    raises(function() run:restore(3) end, "'3'", "metric", "epoch")
  end)

  it("ends if each_epoch returns false or patience is exhausted", function()
    local run = trained{ each_epoch = function(epoch) return epoch < 3 end }
    equal({ #run.history, run.stopped }, { 3, "each_epoch" })
    equal(trained{ patience = 2, optimizer = mr.optim.adam{ lr = 2.0 }, epochs = 200 }.stopped, "patience")
    equal(trained().stopped, false)
  end)

  it("has validation values at every k-th epoch and the last", function()
    local run, validated = trained{ every = 3 }, {}
    for _, entry in ipairs(run.history) do
      if entry.valid_loss then validated[#validated + 1] = entry.epoch end
      equal(entry.valid_loss == nil, next(entry.metrics) == nil)
    end
    equal(validated, { 3, 6, 8 })
  end)
end)

it("mr.fit with several metrics in select chooses an epoch for each metric and tests there", function()
  local at = { a = 0, b = 0 }
  for name, values in pairs{ a = { 1, 5, 2, 3 }, b = { 9, 7, 8, 3 } } do
    mr.metrics.define("spec_" .. name, function(_, lists)
      at[name] = at[name] + 1
      return mr.zeros({ lists.count }, { dtype = "float64" }) + (values[at[name]] or 0)
    end, { direction = name == "b" and "minimize" or "maximize" })
  end
  local run, model = trained{ metrics = { "ndcg", "rr" }, select = { "spec_a", "spec_b", "ndcg" }, epochs = 4 }
  equal({ run.choices[1].best.epoch, run.choices[2].best.epoch }, { 2, 4 })
  local best = 0
  for i, entry in ipairs(run.history) do
    if entry.metrics.ndcg > run.history[math.max(best, 1)].metrics.ndcg or best == 0 then best = i end
  end
  equal(run.choices[3].best.epoch, best)
  equal(run.best.epoch, 2)
  -- a second training that ends at the chosen epoch gives the same model
  local function until_epoch(n, metric)
    local _, same = trained{ valid = false, metrics = {}, epochs = n }
    return fit.test(same, held, { metric }).mean[metric]
  end
  equal(run.test.mean.ndcg, until_epoch(best, "ndcg"))
  equal(run.test.mean.rr, until_epoch(2, "rr"))
  equal(run.scores.ndcg:totable(), run.test.ndcg:totable())
  equal(fit.test(model, held, { "rr" }).mean.rr, run.test.mean.rr, "the model is the first one's")
  equal(fit.test(run:restore "ndcg", held, { "ndcg" }).mean.ndcg, run.test.mean.ndcg)
  raises(function() run:restore "ndgc" end, "'ndgc'", "'ndcg'")
end)

-- Reduces JSON text to "v" if it consists of nested objects, lists, texts and numbers.
local function reduced(text)
  text = text:gsub('"[^"\\]*"', "s"):gsub("%-?%d+%.?%d*[eE]?[+-]?%d*", "n")
  repeat
    local before = text
    text = text:gsub("s:[snv]", "p"):gsub("p,p", "p"):gsub("{p?}", "v"):gsub("v,%s*v", "v"):gsub("%[v?%]", "v")
  until text == before
  return text
end

describe("mr.Run", function()
  local run = trained{ name = "the spec's" }
  it("prints its epochs, metrics and parts", function()
    local text = tostring(run)
    says(text, "8 epochs", "ndcg", "valid", "test")
    check(tostring(run.history):find "^epoch +loss +valid_loss +ap +ndcg +rr\n")
    check(tostring(run.best):find "^epoch{epoch = %d, loss = %-?0%.%d+, metrics = {ap = ")
    says(run.choices[1], "ndcg", "valid")
    says(trained{ valid = false, epochs = 2 }, "epoch 2", "loss")
    says(trained{ epochs = 30 }.history, "30 epochs", "10")
    raises(function() return run.scorse end, "mr.Run", "'scorse'", "'scores'")
    equal(trained{ test = false }.scores, nil)
  end)

  it("says for each metric in select which epoch was chosen; the last one if all values are NaN", function()
    mr.metrics.define("spec_bad", function(_, lists) return mr.zeros(lists.count, { dtype = "float64" }) / 0 * 0 end)
    for _, names in ipairs{ { "spec_bad", "ap" }, { "ap", "spec_bad" } } do
      local both, model = trained{ select = names, metrics = { "ap" }, epochs = 6 }
      local by = { [names[1]] = both.choices[1], [names[2]] = both.choices[2] }
      equal({ by.ap.chosen_on, by.spec_bad.chosen_on, by.spec_bad.best.epoch }, { "valid", "last epoch", 6 })
      equal(both.chosen_on, both.choices[1].chosen_on)
      local text = tostring(both)
      says(text, "ap", "valid")
      check(text:find "epoch 6 [^\n]*spec_bad[^\n]*NaN" and not text:find "by spec_bad", text)
      local function ap() return mr.evaluate(fit.scores(model, valid), valid.lists, { "ap" }).mean.ap end
      -- restores the parameters of the epoch that this metric chose
      for _, name in ipairs{ "ap", "spec_bad", "ap", "spec_bad" } do
        both:restore(name)
        equal(ap(), by[name].best.metrics.ap)
      end
    end
    says(trained{ every = 9, each_epoch = function(epoch) return epoch < 2 end }, "epoch 2", "ndcg")
  end)

  it("exports CSV, LaTeX and JSON", function()
    local lines = {}
    for line in run:to_csv():gmatch "[^\n]+" do lines[#lines + 1] = line end
    equal(lines[1], "epoch,loss,valid_loss,ap,ndcg,rr")
    equal(#lines, 9)
    local numbers = {}
    for number in lines[4]:gmatch "[^,]+" do numbers[#numbers + 1] = tonumber(number) end
    local third = run.history[3]
    equal(numbers, { 3, third.loss, third.valid_loss, third.metrics.ap, third.metrics.ndcg, third.metrics.rr })
    check(run:to_latex():find("valid\\_loss", 1, true))
    equal(reduced(run:to_json():gsub('"interrupted":false', '"interrupted":0')), "v", "it is JSON")
    equal(reduced(run.history:to_json()), "v")
    check(run:to_json():find('"best_epoch":' .. run.best.epoch, 1, true))
    check(run.history:to_json():find '"metrics":{"ap":0%.')
  end)

  it("plots learning curves", function()
    check(tostring(run:plot{ title = "Curves" }):find "facets: 2 panels, 'Curves'")
    check(tostring(trained{ valid = false }:plot()):find "^mr.Figure facets: 1")
    raises(function() run:plot{ titel = "x" } end, "'titel'", "'title'")
    raises(function() trained{ epochs = 0 }:plot() end, "history:plot", "epoch")
  end)

  it("has documentation of its fields and methods", function()
    local text = help.text "mr.Run"
    says(text, "Fields", "choices", "chosen_on", "Methods", ":to_csv", ":plot", ":restore")
    check(help.of(run):find("chosen_on", 1, true))
  end)
end)

it("batches, results of mr.stats, bounds and folds print their contents", function()
  local batch = tostring(train:batches{ size = 4 }()):gsub("%d+ rows", "N rows"):gsub("{%d+, 6}", "{N, 6}")
  equal(batch, "batch{features = {N, 6} float32, lists = 4 lists, N rows, size = 4}")
  local test_text = tostring(mr.stats.paired_t({ 1, 2, 4 }, { 1, 1, 2 }))
  check(test_text:find "^paired_t{df = 2.*mean_difference = 1, n = 3, p = 0%.%d+, skipped = 0")
  check(tostring(mr.stats.ecdf{ 1, 2 }):find("ecdf{n = 2, p = {2} float64, skipped = 0, x = {2} float64}", 1, true))
  check(tostring(mr.bounds.of("ap", { n = 9, p = 3 })):find "^bounds of ap{best = 1, expectation = 0%.48")
  check(tostring(mr.bounds.stats("ap", train.lists)):find "20 more")
  local ratings = mr.data.synthetic{ kind = "ratings", users = 20, items = 50, seed = 1 }
  says(ratings:binarize(4):folds{ k = 5 }, "5 folds")
end)
