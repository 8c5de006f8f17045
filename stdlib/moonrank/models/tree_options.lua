-- Declares the options of mr.models.trees and the XGBoost parameters that these options set. Also says, for each
-- objective of XGBoost, which grades it accepts and which loss the history of mr.fit shows.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local model_options = require "moonrank.models.options"
local models = require "moonrank.models.model"

local M = {}

local where = "mr.models.trees"

local most_integer = 2 ^ 31 - 1

---Properties of an objective of XGBoost that mr.fit must know.
---@class mr.trees.Objective
---@field grades string            description of the grades that the objective takes
---@field fits fun(grades: mr.Tensor, classes?: integer): boolean  whether the objective takes these grades
---@field shown fun(): mr.Loss     loss that the history of mr.fit shows

local function per_list(name, value_of)
  local metric = require("moonrank.metrics.registry").parse(name)
  local loss = { name = "1 - " .. name, pointwise = false }
  function loss.count(_, lists)
    local stats = require "moonrank.bounds.list_stats"
    if not lists:has_weights() then return stats.count(metric, lists) end
    return (stats.weights(metric, lists, "float64", "cpu") * lists:mass(false)):sum():item()
  end
  return setmetatable(loss, { __name = "mr.trees.Shown", __tostring = function(self) return self.name end,
    __call = function(_, scores, lists) return value_of(metric, scores, lists) end })
end

local function missed(name)
  return function()
    return per_list(name, function(metric, scores, lists)
      local counts = require("moonrank.bounds.list_stats").weights(metric, lists, scores.dtype, scores.device)
      return counts:gt(0):where(1 - metric(scores, lists), 0)
    end)
  end
end

local function whole(x)
  for _, grade in ipairs(x:totable()) do
    if grade % 1 ~= 0 then return false end
  end
  return true
end
local function within(x, low, high)
  return x:ge(low):sum():item() == x:numel() and x:le(high):sum():item() == x:numel()
end
local function loss_named(name) return function() return require("moonrank.losses")[name]{} end end
local function any() return true end

---Objectives of XGBoost that mr.models.trees accepts, by the value of its option `objective`.
---@type table<string, mr.trees.Objective>
M.objectives = {
  ["rank:ndcg"] = { grades = "whole grades from 0 to 31", shown = missed "ndcg",
    fits = function(grades) return whole(grades) and within(grades, 0, 31) end },
  ["rank:map"] = { grades = "grades of 0 or more", shown = missed "ap",
    fits = function(grades) return within(grades, 0, math.huge) end },
  ["rank:pairwise"] = { grades = "any grades", shown = loss_named "ranknet", fits = any },
  ["reg:squarederror"] = { grades = "any grades", shown = loss_named "mse", fits = any },
  ["binary:logistic"] = { grades = "grades from 0 to 1 (dataset:binarize)", shown = loss_named "bce",
    fits = function(grades) return within(grades, 0, 1) end },
  ["multi:softprob"] = { grades = "whole grades from 0 to classes - 1", shown = loss_named "mse",
    fits = function(grades, classes) return whole(grades) and within(grades, 0, classes - 1) end },
}

local function share(name, default, help, also)
  return { name, "number", default = default, above = 0, most = 1, help = help, also = also }
end

local function amount(name, default, help, also)
  return { name, "number", default = default, least = 0, most = 1e30, help = help, also = also }
end

local tree_options = declare("mr.models.TreeOptions", {
  "Boosting",
  { "objective", "string", default = "loss", choices = { "loss", table.unpack(check.names(M.objectives)) },
    help = "loss: the loss that mr.fit is given; others are objectives of XGBoost" },
  { "rounds", "integer", default = 100, least = 1, most = most_integer, also = { "n_estimators", "num_boost_round" },
    help = "number of rounds: mr.fit's epochs" },
  share("eta", 0.3, "share of a tree's values that is added", { "learning_rate", "lr" }),
  { "trees", "integer", default = 1, least = 1, most = 1000000, also = { "num_parallel_tree" },
    help = "trees that a round grows side by side, as in a random forest" },
  { "classes", "integer", least = 2, most = 1024, shown = "found in train", also = { "num_class" },
    only_with = { objective = "multi:softprob" }, help = "number of grades, 0 to classes - 1" },
  "Trees",
  { "depth", "integer", default = 6, least = 1, most = 30, also = { "max_depth" }, help = "largest depth of a tree" },
  amount("lambda", 1.0, "L2 penalty of leaves", { "reg_lambda" }),
  amount("alpha", 0.0, "L1 penalty of leaves", { "reg_alpha" }),
  amount("gamma", 0.0, "least gain of a split", { "min_split_loss" }),
  amount("min_child_weight", 1.0, "least sum of second derivatives in a leaf"),
  "Rows and features",
  share("subsample", 1.0, "share of the rows that each tree is grown on"),
  share("colsample_bytree", 1.0, "share of the features that each tree may use"),
  share("colsample_bynode", 1.0, "share of a tree's features that each split may use"),
  { "features", "integer", least = 1, most = most_integer, shown = "found in train", help = "number of features" },
  { "seed", "integer", default = 1, least = 0, most = most_integer, also = { "random_state" },
    help = "seed of the rows and features that are drawn" },
  "Search of splits",
  { "method", "string", default = "hist", choices = { "hist", "approx", "exact" }, also = { "tree_method" },
    help = "how splits are searched" },
  { "bins", "integer", least = 2, most = 65536, shown = "256", only_with = { method = { "hist", "approx" } },
    also = { "max_bin" }, help = "bins of each feature" },
  { "threads", "integer", default = 1, least = 1, most = 1024, also = { "nthread", "n_jobs" },
    help = "number of threads; 1 gives the same bits each time, more may change last digits" },
})

-- XGBoost's names of the options that have another name in mr.models.trees.
local their_names = {
  depth = "max_depth",
  method = "tree_method",
  bins = "max_bin",
  trees = "num_parallel_tree",
  classes = "num_class",
  threads = "nthread",
}
local passed = { "depth", "eta", "subsample", "colsample_bytree", "colsample_bynode", "lambda", "alpha", "gamma",
  "min_child_weight", "method", "bins", "trees", "classes", "threads", "seed" }

---Checks the options of mr.models.trees and returns them with defaults filled in.
function M.checked(options) return tree_options:read(where, options) end

---Returns the names and values (as texts) of XGBoost's parameters for the options of mr.models.trees.
function M.parameters(o)
  local own = o.objective == "loss"
  local names = { "objective", "seed_per_iteration", "booster", "validate_parameters" }
  local values = { own and "reg:squarederror" or o.objective, "true", "gbtree", "false" }
  if own then names[#names + 1], values[#values + 1] = "base_score", "0" end
  for _, name in ipairs(passed) do
    if o[name] ~= nil then
      names[#names + 1], values[#values + 1] = their_names[name] or name, models.written(o[name])
    end
  end
  return names, values
end

---Returns the options of trees from the texts in their saved file, after checking them.
function M.read(texts)
  local options = {}
  for name, text in pairs(texts) do
    if name ~= "kind" then options[name] = model_options.from_text(text, tree_options.by_name[name]) end
  end
  local o = M.checked(options)
  check.expect(o.features, "the file", "the number of features", nil, "an integer")
  check.expect(o.classes or o.objective ~= "multi:softprob", "the file", "the number of classes", nil, "an integer")
  return o
end

return M
