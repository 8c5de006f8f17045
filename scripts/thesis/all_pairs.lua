-- Westerborg (2022), future work: which loss ranks best by which metric? Every loss under every bound is measured by
-- every metric, from the runs of Table 5.1 (MovieLens). The change against the loss that optimises the metric itself,
-- under the same bound, stands in brackets.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, scores, figure = dofile(here .. "runs.lua"), dofile(here .. "scores.lua"), dofile(here .. "figure.lua")

local args = runs.args{ seed = { default = 1, help = "seed of splits, negatives and models" } }
local set, results = runs.set(args, "movielens"), runs.of(args, "movielens", args.seed)

local rows, wins, cells = {}, 0, 0
for _, nsr in ipairs(set.values) do
  for _, bound in ipairs(runs.bounds) do
    local own = {}
    local function mean(loss, metric)
      return mr.stats.mean(scores.lists(results, { nsr = nsr, loss = loss, bound = bound }, metric))
    end
    for _, loss in ipairs(runs.losses) do own[loss] = mean(loss, runs.metric_of[loss]) end
    for _, loss in ipairs(runs.losses) do
      local row = { nsr, bound, runs.title_of[loss] }
      for _, measured in ipairs(runs.losses) do
        local found = mean(loss, runs.metric_of[measured])
        row[#row + 1] = loss == measured and ("%.4f"):format(found) or ("%.4f (%+.4f)"):format(found, found - own[measured])
        if loss ~= measured then cells, wins = cells + 1, wins + (found > own[measured] and 1 or 0) end
      end
      row[#row + 1] = mean(loss, "rr")
      rows[#rows + 1] = row
    end
  end
end
return figure.finish(args, nil, ([[
The table has the test metrics of models that were trained on one of the losses, in brackets how far they are above the models that were
trained on the metric's own loss. In %d of %d pairs a loss ranks better by another loss's metric than that loss itself, under the
same bound.]]):format(wins, cells),
  mr.table{ columns = { "NSR", "bound", "trained on", "nDCG", "AP", "nRBP(0.95)", "RR" }, rows = rows,
    formats = { RR = "%.4f" }, mark = { RR = "max" }, within = { "NSR" } })
