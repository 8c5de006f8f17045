-- Defines the training runs of seeds.lua: one study (a stored set of runs over learning rates and folds) for each
-- algorithm, kind of initial weights, seed and numerics version of the program. Other functions here measure how far
-- two trainings are apart.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local beside = dofile(here .. "beside.lua")
local training = beside.training
local protocol = training.protocol

local M = { beside = beside, training = training, distribution = mr.experiment.distribution }

---Changes a network's initial weights as little as possible: flips the last bit of the first weight of its output
---layer.
function M.change_last_bit(model)
  local names, values = model:state()
  local by_name = {}
  for i, name in ipairs(names) do by_name[name] = values[i]:detach() end
  local numbers = by_name["layer2.weight"]:reshape(by_name["layer2.weight"]:numel()):totable()
  numbers[1] = string.unpack("<f", string.pack("<I4", string.unpack("<I4", string.pack("<f", numbers[1])) ~ 1))
  by_name["layer2.weight"] = mr.tensor(numbers):reshape(by_name["layer2.weight"]:shape())
  model:put(by_name)
end

---@class objectives.Study
---@field algorithm string
---@field start "as drawn"|"last bit"  initial weights: of the seed, or with one that differs in its last bit
---@field seed integer
---@field version string  numerics version of the program
---@field name string     name of the data set
---@field short boolean   whether there are two epochs only

---Describes a study: the training runs of one algorithm with one seed, at every learning rate on every fold.
---@param set table  from training.set
---@param o objectives.Study
---@return table  the options of experiment.study, which makes the runs
function M.study(set, o)
  local change = o.start == "last bit" and M.change_last_bit or nil
  return {
    name = ("%s, recipe paper, %s, %s, seed %d, numerics %s"):format(o.name, o.algorithm, o.start, o.seed, o.version),
    settings = { recipe = "paper", filter = set.least }, metric = "valid",
    space = { algorithm = mr.choice{ o.algorithm }, rate = mr.choice(protocol.rates), split = mr.range(1, #set.folds) },
    run = function(trial)
      local run = protocol.train(set, trial, o.seed, o.short, change)
      local result, curve = training.curves(run), {}
      for i, entry in ipairs(run.history) do curve[i] = entry.metrics.ndcg end
      result.ndcg, result.per_list.ndcg, result.per_list.curve = run.test.mean.ndcg, run.scores.ndcg, curve
      return result
    end,
  }
end

---The first epoch at which two learning curves differ by more than `least`, or which only one of them has; nil if there
---is no such epoch. `a` and `b` have a value per epoch.
---@param a number[]
---@param b number[]
---@param least number
function M.parting(a, b, least)
  for i = 1, math.min(#a, #b) do
    if math.abs(a[i] - b[i]) > least then return i end
  end
  return #a ~= #b and math.min(#a, #b) + 1 or nil
end

---How far a result moves between two trainings with equal seed: root mean square (`rms`), largest (`most`) and mean
---change with its interval (`change`); and root mean square between two seeds (`of_seeds`, from the first trainings).
---@param numbers number[][][]  numbers[fold][seed] = {result of the first training, result of the second}
---@return { change: table, most: number, rms: number, of_seeds: number }
function M.moved(numbers)
  local squares, most, changes, between = 0, 0, {}, 0
  for _, of_fold in ipairs(numbers) do
    local one = {}
    for i, pair in ipairs(of_fold) do
      local change = pair[2] - pair[1]
      one[i], changes[#changes + 1] = pair[1], change
      squares, most = squares + change * change, math.max(most, math.abs(change))
    end
    between = between + mr.stats.summary(one).sd ^ 2 / #numbers
  end
  return { change = M.distribution(changes), most = most, rms = math.sqrt(squares / #changes),
    of_seeds = math.sqrt(2 * between) }
end

return M
