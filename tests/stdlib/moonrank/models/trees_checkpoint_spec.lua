-- Tests checkpoints of trees: resumed training gives the same bits, and files of other trainings are rejected.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local trees = dofile "tests/support/trees.lua"
local describe, equal, check, raises = test.describe, test.equal, test.check, test.raises

local folder = files.new_folder()
local function path_of(name) return ("%s/%s.safetensors"):format(folder, name) end

local it_grows = trees.it

local cases = {
  { "a loss", {}, mr.losses.lambdarank{} },
  { "a sampling loss", { eta = 1.0, seed = 3 }, mr.losses.bpr{} },
  { "a loss with method approx", { method = "approx", bins = 8, depth = 4 }, mr.losses.lambdarank{} },
  { "a sampling loss with method approx", { method = "approx", bins = 8 }, mr.losses.bpr{} },
  { "objective rank:ndcg", { objective = "rank:ndcg" } },
  { "objective rank:map", { objective = "rank:map", method = "approx", bins = 16 } },
  { "pruned trees", { objective = "rank:pairwise", gamma = 0.5, depth = 4, method = "exact" } },
  { "objective multi:softprob", { objective = "multi:softprob" } },
  { "several trees per round", { objective = "reg:squarederror", trees = 3 } },
  { "objective binary:logistic", { objective = "binary:logistic" }, threshold = 1 },
}

local function fit(case, options)
  local settings = { rounds = 6 }
  for name, value in pairs(case[2]) do settings[name] = value end
  local train, valid = trees.part("train", case.threshold), trees.part("valid", case.threshold)
  local all = { model = mr.models.trees(settings), loss = case[3], train = train, valid = valid, test = valid,
    metrics = { "ndcg", "ap" }, select = { "ndcg", "ap" }, progress = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all), all.model
end

local function numbers_of(run, model)
  return { chosen = run.best.epoch, history = run:to_csv(),
    rounds = model.rounds, worth = model:importances():to_csv(),
    scores = trees.scores(model, trees.part "valid"):totable(),
    test = run.scores.ndcg:totable(), other = run.scores.ap:totable() }
end

describe("mr.fit with trees and a checkpoint", function()
  for _, case in ipairs(cases) do
    it_grows("resumes to the same bits: " .. case[1], function()
      local plain, path = numbers_of(fit(case)), path_of "parts"
      for _, cut in ipairs{ 0, 1, 4, 6 } do
        os.remove(path)
        check(not pcall(fit, case, { checkpoint = path, each_epoch = function(epoch)
          if epoch == cut then error("stopped here", 0) end
        end }))
        local run, model = fit(case, { checkpoint = path })
        equal(run.resumed, math.max(0, cut - 1), "the round that was cut is grown again")
        equal(numbers_of(run, model), plain, ("cut in round %d"):format(cut))
      end
      local again, model = fit(case, { checkpoint = path })
      equal({ again.resumed, numbers_of(again, model) }, { 6, plain }, "an ended one only reads")
    end)
  end

  it_grows("writes every n epochs and keeps a run that patience stopped", function()
    local path = path_of "every"
    check(not pcall(fit, cases[1], { checkpoint = { path = path, every = 2 }, each_epoch = function(epoch)
      if epoch == 4 then error("stopped here", 0) end
    end }))
    equal(fit(cases[1], { checkpoint = { path = path, every = 2 } }).resumed, 2)
    path = path_of "patience"
    local run = fit(cases[1], { checkpoint = path, patience = 1 })
    equal(run.stopped, "patience")
    equal(fit(cases[1], { checkpoint = path, patience = 1 }).stopped, "patience")
  end)

  it_grows("raises an error with random row or column sampling", function()
    for name, share in pairs{ subsample = 0.5, colsample_bytree = 0.7, colsample_bynode = 0.25 } do
      raises(function() fit({ "", { [name] = share }, mr.losses.ap{} }, { checkpoint = path_of "drawn" }) end,
        "checkpoint", name, tostring(share))
    end
  end)

  it_grows("rejects a file of another loss, other options or damaged trees", function()
    local path = path_of "hostile"
    local run = fit(cases[1], { checkpoint = path })
    equal(#run.history, 6)
    raises(function() fit(cases[1], { checkpoint = path, loss = mr.losses.ap{} }) end, "lambdarank", "ap", "loss")
    for option, other in pairs{ depth = { rounds = 6, depth = 2 }, rounds = { rounds = 7 } } do
      raises(function() fit(cases[1], { checkpoint = path, model = mr.models.trees(other) }) end, "model." .. option)
    end
    local function refused(message, change)
      local names, tensors, keys, values = core.load_tensors(path, "moonrank fit")
      local by_name, at, others, texts = {}, path_of "changed", {}, {}
      for i, name in ipairs(names) do by_name[name] = tensors[i] end
      change(by_name)
      for i, key in ipairs(keys) do
        if key ~= "numerics" then others[#others + 1], texts[#texts + 1] = key, values[i] end
      end
      names, tensors = {}, {}
      for name, x in pairs(by_name) do names[#names + 1], tensors[#tensors + 1] = name, x end
      core.save_tensors(at, "moonrank fit 1", names, tensors, others, texts)
      local model = mr.models.trees{ rounds = 6 }
      raises(function() fit(cases[1], { checkpoint = at, model = model }) end, table.unpack(message))
      equal(model.rounds, 0)
    end
    refused({ "'trees'", "tensor", "file" }, function(x) x.trees = nil end)
    refused({ "trees" }, function(x) x.trees = x.trees:narrow(1, 1, #x.trees - 1) end)
    refused({ "2", "rounds" }, function(x)
      local _, short = fit({ "", { rounds = 2 }, mr.losses.lambdarank{} })
      x.trees = short._booster:to_tensor(2)
    end)
  end)
end)
