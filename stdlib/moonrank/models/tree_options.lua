-- Options of mr.models.trees: XGBoost's parameters, what they may be, and what goes with each of its objectives.
local core = require "moonrank.core"
local check = require "moonrank.check"

local none = check.none

local M = {}

local where = "mr.models.trees"

---@class mr.models.TreeOptions
---@field objective? string   XGBoost's: "rank:ndcg", "rank:map", "rank:pairwise", "reg:squarederror", "binary:logistic",
---   "multi:softprob"; default "loss": the loss that mr.fit is given
---@field rounds? integer     of boosting: mr.fit's epochs (XGBoost: num_boost_round; default 100)
---@field depth? integer      largest depth of a tree (max_depth; default 6)
---@field eta? number         share of a tree's values that is taken (learning_rate; default 0.3)
---@field subsample? number   share of the rows that each tree is grown on (default 1)
---@field colsample_bytree? number  share of the features that each tree may use (default 1)
---@field colsample_bynode? number  share of them that each split may use (default 1)
---@field lambda? number      L2 penalty of leaves (default 1)
---@field alpha? number       L1 penalty of leaves (default 0)
---@field gamma? number       least gain of a split (min_split_loss; default 0)
---@field min_child_weight? number  least sum of second derivatives in a leaf (default 1)
---@field method? "hist"|"approx"|"exact"  how splits are searched (tree_method; default "hist")
---@field bins? integer       of each feature, not with "exact" (max_bin; default 256)
---@field trees? integer      grown side by side in a round: a random forest (num_parallel_tree; default 1)
---@field classes? integer    grades 0 to classes - 1, of "multi:softprob" (default: found in train)
---@field features? integer   how many there are (default: found in train)
---@field threads? integer    1: the same bits each time; more may change last digits (nthread; default 1)
---@field seed? integer       of the rows and features that are drawn (default 1)

M.defaults = { objective = "loss", rounds = 100, depth = 6, eta = 0.3, subsample = 1.0, colsample_bytree = 1.0, colsample_bynode = 1.0,
  lambda = 1.0, alpha = 0.0, gamma = 0.0, min_child_weight = 1.0, method = "hist", bins = none, trees = 1, classes = none, features = none,
  threads = 1, seed = 1 }

-- XGBoost's names of those that are called otherwise here, or need no word.
local their_names = { depth = "max_depth", method = "tree_method", bins = "max_bin", trees = "num_parallel_tree", classes = "num_class",
  threads = "nthread" }
local passed = { "depth", "eta", "subsample", "colsample_bytree", "colsample_bynode", "lambda", "alpha", "gamma", "min_child_weight",
  "method", "bins", "trees", "classes", "threads", "seed" }
local theirs = { max_depth = "depth", learning_rate = "eta", n_estimators = "rounds", num_boost_round = "rounds", reg_lambda = "lambda",
  reg_alpha = "alpha", min_split_loss = "gamma", tree_method = "method", max_bin = "bins", num_parallel_tree = "trees",
  num_class = "classes", nthread = "threads", n_jobs = "threads", random_state = "seed" }

local most_integer = 2 ^ 31 - 1
local integers = { rounds = { 1, most_integer }, depth = { 1, 30 }, bins = { 2, 65536 }, trees = { 1, 1000000 }, classes = { 2, 1024 },
  features = { 1, most_integer }, threads = { 1, 1024 }, seed = { 0, most_integer } }
local shares = { "eta", "subsample", "colsample_bytree", "colsample_bynode" }
local amounts = { "lambda", "alpha", "gamma", "min_child_weight" }

local function wanted(name, value, expected)
  check.fail("%s: %s is %s, expected %s", where, name, type(value) == "string" and ("'%s'"):format(value) or tostring(value), expected)
end

---@class mr.trees.Objective
---@field grades string            which grades it takes, in words
---@field fits fun(grades: mr.Tensor, classes?: integer): boolean  whether these are such
---@field shown fun(): mr.Loss     what the history of mr.fit has as its loss

local function per_list(name, value_of)
  local metric = require("moonrank.metrics.registry").parse(name)
  local loss = { name = "1 - " .. name, pointwise = false }
  function loss.count(_, lists) return require("moonrank.bounds.list_stats").count(metric, lists) end
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
local function within(x, low, high) return x:ge(low):sum():item() == x:numel() and x:le(high):sum():item() == x:numel() end
local function loss_named(name) return function() return require("moonrank.losses")[name]{} end end
local function any() return true end

---@type table<string, mr.trees.Objective>
M.objectives = {
  ["rank:ndcg"] = { grades = "whole grades from 0 to 31", shown = missed "ndcg",
    fits = function(grades) return whole(grades) and within(grades, 0, 31) end },
  ["rank:map"] = { grades = "grades of 0 or more", shown = missed "ap", fits = function(grades) return within(grades, 0, math.huge) end },
  ["rank:pairwise"] = { grades = "any grades", shown = loss_named "ranknet", fits = any },
  ["reg:squarederror"] = { grades = "any grades", shown = loss_named "mse", fits = any },
  ["binary:logistic"] = { grades = "grades from 0 to 1 (dataset:binarize)", shown = loss_named "bce",
    fits = function(grades) return within(grades, 0, 1) end },
  ["multi:softprob"] = { grades = "whole grades from 0 to classes - 1", shown = loss_named "mse",
    fits = function(grades, classes) return whole(grades) and within(grades, 0, classes - 1) end },
}

-- XGBoost's other names for options are said.
local function check_names(options)
  for name in pairs(type(options) == "table" and options or {}) do
    if theirs[name] then check.fail("%s: no option '%s', it is called '%s' here", where, name, theirs[name]) end
  end
end

local function check_numbers(o)
  for name, range in pairs(integers) do
    local value = o[name]
    if value ~= nil and (math.type(value) ~= "integer" or value < range[1] or value > range[2]) then
      wanted(name, value, ("an integer from %d to %d"):format(range[1], range[2]))
    end
  end
  for _, name in ipairs(shares) do
    if not (o[name] > 0 and o[name] <= 1) then wanted(name, o[name], "a number above 0 and up to 1") end
  end
  for _, name in ipairs(amounts) do
    if not (o[name] >= 0 and o[name] <= 1e30) then wanted(name, o[name], "a finite number of 0 or more") end
  end
end

---The options with defaults, checked.
---@param options? mr.models.TreeOptions
---@return table
function M.checked(options)
  check_names(options)
  local o = check.options(where, options, M.defaults)
  check_numbers(o)
  local known = check.names(M.objectives)
  known[#known + 1] = "loss"
  check.choice(where, "objective", o.objective, known)
  check.choice(where, "method", o.method, { "hist", "approx", "exact" })
  if o.bins and o.method == "exact" then check.fail("%s: bins is %d, but method 'exact' has none", where, o.bins) end
  if o.classes and o.objective ~= "multi:softprob" then
    check.fail("%s: classes is %d, but objective is '%s'; they belong to 'multi:softprob'", where, o.classes, o.objective)
  end
  return o
end

---XGBoost's parameters.
---@param o table
---@return string[] names, string[] values
function M.parameters(o)
  local own = o.objective == "loss"
  local names = { "objective", "seed_per_iteration", "booster", "validate_parameters" }
  local values = { own and "reg:squarederror" or o.objective, "true", "gbtree", "false" }
  if own then names[#names + 1], values[#values + 1] = "base_score", "0" end
  for _, name in ipairs(passed) do
    if o[name] ~= nil then names[#names + 1], values[#values + 1] = their_names[name] or name, M.written(o[name]) end
  end
  return names, values
end

---An option's shortest text that is read back as the same value.
function M.written(value)
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.14g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

---Options from the texts of a file.
---@param texts table<string, string>
---@return table
function M.read(texts)
  local options = {}
  for name, text in pairs(texts) do
    if name ~= "kind" then
      local default = M.defaults[name]
      if default == nil then check.fail("'%s' is no option of trees", core.safe_text(name)) end
      options[name] = type(default) == "string" and text or math.type(default) == "float" and (tonumber(text) or 0 / 0)
        or math.tointeger(tonumber(text)) or text
    end
  end
  local o = M.checked(options)
  if not o.features then check.fail "the number of features is missing" end
  if o.objective == "multi:softprob" and not o.classes then check.fail "the number of classes is missing" end
  return o
end

return M
