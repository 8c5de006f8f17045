-- Training runs of the thesis' experiments (training.lua), and functions that only scripts beside Table 5.1 use.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local M = dofile(here .. "training.lua")

---@class thesis.Data         a data set, how models are trained on it, and the model that ranks its lists
---@field title string        name of the data; for made-up data it says so
---@field features? integer   number of features of a query's documents; nil for ratings
---@field setting string      "nsr" (negatives per relevant item) or "label" (least relevant label)
---@field values (integer|string)[]  values of the setting that experiments use, e.g. {1, 2, 3}
---@field folds integer       number of folds
---@field epochs integer      largest number of epochs
---@field patience? integer   epochs without a better validation metric after which training ends
---@field batch? integer      lists per step (default 32)
---@field sizes integer[]     model sizes (factors or hidden units) that the search of section 4.1.1 tries
---@field size integer        model size that the thesis uses
---@field rates number[]      learning rates to choose from
---@field tuning integer      number of folds on which rates and sizes are chosen
---@field tuning_values? (integer|string)[]  settings for which learning rates are chosen (default: all of `values`)
---@field fold fun(value: integer|string, number: integer, seed: integer): mr.Fold  parts of one fold, for a setting
---@field model fun(size: integer, seed: integer): mr.Model  a new, untrained model

-- Stops if a metric is minimised, because the scripts of this folder take a larger metric as the better one.
for _, name in pairs(M.metric_of) do assert(not mr.metrics.parse(name).minimize, name) end

M.study, M.cache = mr.experiment.study, mr.experiment.cache

---Turns the options of `M.args` into command line words with which one script runs another. Options at their defaults
---are left out, and so are options in `without`, which the other script does not have.
---@param args table  parsed command line (`M.args`)
---@param without? string[]  names of options
---@return string[]  e.g. {"--recipe", "published"}
function M.words(args, without)
  local protocol = M.protocol
  local more = { recipe = args.recipe ~= protocol.recipes[1] and args.recipe or nil,
    samples = not args.smoke and args.samples ~= protocol.samples and args.samples or nil }
  for _, name in ipairs(without or {}) do more[name] = nil end
  return mr.experiment.words(args, more)
end

---A value of a data set's setting as text: "NSR 2" (negatives per relevant item), "label 1" (least relevant label), or
---"the highest label" for MQ2008 if each query's highest label is the relevant one.
---@param set thesis.Data
---@param value integer|"top_of_list"
function M.setting_text(set, value)
  if value == "top_of_list" then return "the highest label" end
  return ("%s %s"):format(set.setting == "nsr" and "NSR" or set.setting, value)
end

---Returns "users" if the lists of a data set belong to users (ratings), or "queries".
---@param set thesis.Data
---@return string
function M.lists_of(set) return set.setting == "nsr" and "users" or "queries" end

---Returns what pairs the values of two models in a test: "user" or "query".
---@param set thesis.Data
---@return string
function M.unit_of(set) return set.setting == "nsr" and "user" or "query" end

---Returns the text that explains the setting in a legend; "" for data with labels, which need none.
---@param set thesis.Data
---@return string
function M.legend_of_setting(set) return set.setting == "nsr" and "NSR: negative sampling ratio; " or "" end

---The training runs of section 4.1.1 of the thesis: models of several sizes, for losses without a bound and under three
---bounds, on the folds on which learning rates are chosen. Missing runs are made.
---@return mr.Results
function M.sizes(args, name)
  local set, rates = M.set(args, name), M.rates
  return M.sweep(args, name, {
    name = "sizes of " .. name, folds = set.tuning, values = name == "mq2008" and { 2 } or nil,
    bounds = { "none", "minmax", "expectation_max", "distribution_logit" }, settings = { rates = M.rates_text(name) },
    space = { size = mr.choice(set.sizes) }, size = function(trial) return trial.size end,
    rate = function(trial) return rates[name][trial.loss][trial.bound] end })
end

return M
