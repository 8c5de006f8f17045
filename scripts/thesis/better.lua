-- The training runs of better_reference.lua. Losses are trained under distribution bounds whose reference ranker draws
-- rows with weights e^(beta grade), instead of at random. MovieLens is ranked by matrix factorisation, MQ2008 (labels 1
-- and 2 are relevant) by the thesis' network. The learning rate depends on a bound's form and not on its beta.
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "runs.lua")

local M = { forms = { "distribution", "distribution_logit" }, betas = { 0, 0.5, 1, 2 } }

---The name by which runs.lua knows the bound of a form ("distribution" or "distribution_logit") and a beta.
function M.bound(form, beta) return ("%s (beta %g)"):format(form, beta) end

local bounds, form_of = { "none" }, { none = "none" }
for _, form in ipairs(M.forms) do
  for _, beta in ipairs(M.betas) do
    bounds[#bounds + 1] = M.bound(form, beta)
    form_of[bounds[#bounds]] = form
  end
end

---Makes missing runs and returns their studies, one for each data set and value of its setting (NSR or label). `args`
---are the options of runs.args with a seed.
---@return { set: thesis.Data, value: integer, results: mr.Results }[]
function M.studies(args)
  local found = {}
  local function add(name, value)
    local set, rates = runs.set(args, name), runs.rates[name]
    found[#found + 1] = { set = set, value = value, results = runs.sweep(args, name, {
      name = ("better reference, %s %s, seed %d"):format(name, runs.setting_text(set, value), args.seed),
      seed = args.seed, values = { value }, bounds = bounds, settings = { rates = runs.rates_text(name) },
      rate = function(trial) return rates[trial.loss][form_of[trial.bound]] end,
    }) }
  end
  for _, nsr in ipairs(runs.set(args, "movielens").values) do add("movielens", nsr) end
  add("mq2008", runs.protocol.beside.value)
  return found
end

return M
