-- Makes the training runs of better_reference.lua. A distribution bound rescales a list's metric to the probability
-- that a reference ranker gets no higher metric. The reference usually ranks at random; here it draws rows one by one
-- with weights e^(beta grade), so that it is better than random. MovieLens is ranked by matrix factorisation, MQ2008
-- (labels 1 and 2 are relevant) by the thesis' network. The learning rate depends on a bound's form (distribution
-- function or its logit) and not on its beta.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")

local M = { forms = { "distribution", "distribution_logit" }, betas = { 0, 0.5, 1, 2 } }

---The name of a bound in training runs, e.g. "distribution (beta 0.5)".
---@param form "distribution"|"distribution_logit"  the distribution function, or its logit
---@param beta number  how much better than random the reference ranker of the bound is; 0: random
function M.bound(form, beta) return ("%s (beta %g)"):format(form, beta) end

---The bounds of a better reference ranker, by name.
M.made = {}
local bounds, form_of = { "none" }, { none = "none" }
for _, form in ipairs(M.forms) do
  for _, beta in ipairs(M.betas) do
    local name = M.bound(form, beta)
    bounds[#bounds + 1], form_of[name] = name, form
    M.made[name] = mr.bounds.distribution_bound{ form = form:match "logit" or "cdf", beta = beta }
  end
end

-- Training runs make each bound by protocol.bound, from the name that their results keep.
local usual = runs.protocol.bound
function runs.protocol.bound(name, samples) return M.made[name] or usual(name, samples) end

---Trains the models whose results are not yet stored, and returns all results: one entry for each data set and `value`
---of its setting (MovieLens: negatives per relevant item; MQ2008: least relevant label).
---@param args table  parsed command line (training.args), with a `seed`
---@return { set: table, value: integer, results: mr.Results }[]
function M.studies(args)
  local found = {}
  local function add(name, value)
    local set, rates = runs.set(args, name), runs.rates[name]
    found[#found + 1] = { set = set, value = value, results = runs.sweep(args, set, {
      name = ("better reference, %s %s, seed %d"):format(name, runs.setting_text(set, value), args.seed),
      seed = args.seed, space = { bound = mr.choice(bounds), [set.setting] = mr.choice{ value } },
      rate = function(trial) return rates[trial.loss][form_of[trial.bound]] end,
    }) }
  end
  for _, nsr in ipairs(runs.set(args, "movielens").values) do add("movielens", nsr) end
  add("mq2008", runs.beside.value)
  return found
end

return M
