-- Experiments in two steps: validation chooses the settings of every method, such as learning rates, and every method
-- is then run at its settings, for example on all folds.
local check = require "moonrank.check"
local exit = require("moonrank.system.exit").exit
local declare = require("moonrank.options").declare
local parts_of = require "moonrank.sweep.search.parts"
local studies = require "moonrank.experiment.studies"
local values = require "moonrank.experiment.values"

local M = {}

local tuned_options = declare("mr.experiment.TunedOptions", {
  { "name", "string", required = true, help = 'name of the study; the one that chooses is "NAME, settings"' },
  { "by", "string", required = true, help = 'parameter whose values are the methods: "loss"' },
  { "space", "table<string, table>", required = true,
    help = "by name of the method, the parameters to choose, as in mr.sweep; {} for none" },
  { "beside", "table", default = {}, shown = "none", help = "further parameters of the runs, such as folds" },
  { "settings", "table", default = {}, shown = "none",
    help = "values outside of the code on which results depend; other values are an error" },
  { "choose", "fun(trial: mr.Trial): any", required = true,
    help = "makes a run that chooses and returns valid, its validation result; larger is better" },
  { "accepts", "fun(reason: string): boolean", shown = "no failure",
    help = "whether a run that chooses may fail for this reason, such as mr.experiment.diverged" },
  { "run", "fun(trial: mr.Trial, at: table): any", required = true,
    help = "makes a run at the chosen parameters and returns its numbers by name" },
  { "metric", "string", default = "valid", help = "number by which the runs at chosen parameters are compared" },
})

-- Returns the values that `at` has for the parameters in `space` as text: "epochs 10, rate 0.01".
local function text_of(space, at)
  local parts = {}
  for _, name in ipairs(check.names(space)) do parts[#parts + 1] = ("%s %s"):format(name, at[name]) end
  return table.concat(parts, ", ")
end

-- Returns, for each method, the training run with the best validation result, which chooses the method's parameters. A
-- method without parameters to choose gets an empty table.
local function chosen(args, o, names)
  local space, tuned, best = {}, {}, {}
  for _, name in ipairs(names) do
    best[name] = {}
    if next(o.space[name]) ~= nil then
      tuned[#tuned + 1], space[#space + 1] = name, parts_of.when(o.by, name, o.space[name])
    end
  end
  if #tuned == 0 then return best end
  space[o.by] = parts_of.choice(tuned)
  local found = values.best(studies.study(args, { name = o.name .. ", settings", settings = o.settings, space = space,
    run = o.choose, accepts = o.accepts }), o.by)
  for _, name in ipairs(tuned) do
    best[name] = found[name]
    if not found[name] then
      exit(1, ("'%s, settings' in %s has no result for %s = %s, because all of its runs failed"):format(
        o.name, args.store, o.by, name))
    end
  end
  return best
end

---Chooses the settings of every method on validation, then runs every method at its settings. `choose`
---makes one run at some settings, which are parameters of its trial; `run` makes a run of a method at
---the chosen settings `at`. Runs that are not in the store yet are made.
---
---Returns two values: the study of the runs at chosen settings; and for each method the run that was
---best on validation, with its parameters and numbers by name ({} for a method without parameters). It
---is an error if the store has the second study with other chosen settings, or if all validation runs
---of a method failed.
---@param args table  option values, as from `mr.experiment.args`
---@param o mr.experiment.TunedOptions
---@return mr.Results
---@return table<string, table<string, any>>
---Example:
---```lua
---local store = os.tmpname()
---local args = mr.experiment.args({}, {document = "example"}, {"--store", store, "--workers", "0"})
---local results, best = mr.experiment.tuned(args, {name = "losses", by = "loss",
---  space = {ap = {rate = mr.choice{0.1, 0.2}}, random = {}},
---  choose = function(trial) return {valid = trial.rate} end,
---  beside = {fold = mr.range(1, 3)},
---  run = function(trial, at) return {valid = (at.rate or 0) * trial.fold} end})
---os.remove(store)
---best.ap.rate, mr.experiment.folds(results, {loss = "ap"}, "valid")[3]   --> 0.2, 0.6
---```
function M.tuned(args, o)
  o = tuned_options:read("mr.experiment.tuned", o)
  local names, parts, space, settings = check.names(o.space), {}, {}, {}
  local best = chosen(args, o, names)
  for i, name in ipairs(names) do parts[i] = ("%s: %s"):format(name, text_of(o.space[name], best[name])) end
  for name, value in pairs(o.settings) do settings[name] = value end
  for name, values_of in pairs(o.beside) do space[name] = values_of end
  settings.chosen, space[o.by] = table.concat(parts, "; "), parts_of.choice(names)
  local by, run = o.by, o.run
  return studies.study(args, { name = o.name, settings = settings, space = space, metric = o.metric,
    run = function(trial) return run(trial, best[trial[by]]) end }), best
end

return M
