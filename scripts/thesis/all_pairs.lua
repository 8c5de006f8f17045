-- Future work of Westerborg (2022): which loss ranks best by which metric? Models trained on each loss under each bound
-- are measured by every metric on the test lists; the training runs are those of Table 5.1 (MovieLens). Brackets in the
-- table have the difference from the model that was trained on the loss of the measured metric, under the same bound.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol

local args = runs.args{ seed = { default = 1, help = "seed of splits, negatives and models" },
  recipe = runs.recipe, samples = runs.samples }
local set, results = runs.set(args, "movielens"), runs.of(args, "movielens", args.seed)

local rows, wins, cells = {}, 0, 0
local about = experiment.cells("bootstrap over users",
  function(_, column) return set.folds * (column:find ", change$" and 2 or 1) end)
local column_of = { ndcg = "nDCG", ap = "AP", nrbp = "nRBP(0.95)" }
for _, nsr in ipairs(set.values) do
  for _, bound in ipairs(runs.bounds) do
    local own = {}
    local function by_list(loss, metric)
      return experiment.by_list({ results }, { nsr = nsr, loss = loss, bound = bound }, metric)
    end
    local function mean(loss, metric)
      return mr.stats.mean(experiment.lists(results, { nsr = nsr, loss = loss, bound = bound }, metric))
    end
    for _, loss in ipairs(runs.losses) do own[loss] = mean(loss, protocol.metric_of[loss]) end
    for _, loss in ipairs(runs.losses) do
      local row = { nsr, bound, runs.title_of[loss] }
      for _, measured in ipairs(runs.losses) do
        local found = mean(loss, protocol.metric_of[measured])
        row[#row + 1] = loss == measured and ("%.4f"):format(found)
          or ("%.4f (%+.4f)"):format(found, found - own[measured])
        local metric = protocol.metric_of[measured]
        about:note(#rows + 1, column_of[measured], experiment.over_lists(by_list(loss, metric)))
        if loss ~= measured then
          about:note(#rows + 1, column_of[measured] .. ", change",
            experiment.over_lists{ by_list(loss, metric), by_list(measured, metric) })
        end
        if loss ~= measured then cells, wins = cells + 1, wins + (found > own[measured] and 1 or 0) end
      end
      row[#row + 1] = mean(loss, "rr")
      about:note(#rows + 1, "RR", experiment.over_lists(by_list(loss, "rr")))
      rows[#rows + 1] = row
    end
  end
end
return experiment.finish(args, nil, ([[
In %d of %d pairs a loss ranks better by another loss's metric than that loss itself, under the
same bound.]]):format(wins, cells),
  experiment.named("", mr.table{ rows = rows,
    columns = { "NSR", "bound", "trained on", "nDCG", "AP", "nRBP(0.95)", "RR" },
    formats = { RR = "%.4f" }, mark = { RR = "max" }, within = { "NSR" } }, about, [[
NSR: negative sampling ratio; nDCG, AP, nRBP(0.95), RR: on test, of models that were trained on one of the losses;
change (in brackets): how far the model is above the one that was trained on the metric's own loss.]]))
