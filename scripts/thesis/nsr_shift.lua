-- Future work of Westerborg (2022): does it help to train with more negatives than the test lists have?

-- Matrix factorisation on MovieLens is trained at 1, 2 and 3 negatives per relevant item (NSR); each model is tested
-- at NSR 1, 2 and 3. Negatives are nested: those of a smaller NSR are among those of a larger one. Data, learning
-- rates and protocol are otherwise as in Table 5.1.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")
local experiment, protocol = mr.experiment, runs.protocol
local thinning = dofile(here .. "thinning.lua")

local args = runs.args{ seed = { default = 1, help = "seed of splits, negatives and models" } }
local levels, study = thinning.levels(args), thinning.study(args)
local most = levels[#levels]

-- The table has a row for each loss, bound and test NSR (negatives per relevant item): the mean test metric for every
-- training NSR, and the change from training at the test's NSR to training at the largest NSR.
local rows, better, worse, ps = {}, 0, 0, {}
local folds = runs.set(args, "movielens").folds
local cells = experiment.cells("bootstrap over users",
  function(_, column) return folds * (column:find "^trained at" and 1 or 2) end)
for _, loss in ipairs(runs.losses) do
  for _, bound in ipairs(thinning.bounds) do
    for _, tested in ipairs(levels) do
      local row, of = { runs.title_of[loss], bound, tested }, {}
      for i, trained in ipairs(levels) do
        of[i] = experiment.by_list({ study }, { nsr = trained, loss = loss, bound = bound }, "test_" .. tested)
        row[#row + 1] = mr.stats.mean(of[i])
        cells:note(#rows + 1, "trained at " .. trained, experiment.over_lists(of[i]))
      end
      if tested < most then
        local test = runs.change_of(of[#levels], of[tested])
        row[#levels + 4], row[#levels + 5] = test.change, test.p
        ps[#rows + 1] = test.p
        cells:note(#rows + 1, "change", experiment.over_lists{ of[#levels], of[tested] })
      end
      rows[#rows + 1] = row
    end
  end
end
local compared = 0
for i, p in pairs(runs.correct(ps)) do
  rows[i][#levels + 6], compared = p, compared + 1
  local side = runs.side(rows[i][#levels + 4], p)
  better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
end
local columns, formats = { "loss", "bound", "test NSR" }, { change = "%+.4f", p = "%.2g", ["p, Holm"] = "%.2g" }
for _, nsr in ipairs(levels) do
  columns[#columns + 1] = "trained at " .. nsr
  formats[columns[#columns]] = "%.4f"
end
table.move({ "change", "p", "p, Holm" }, 1, 3, #columns + 1, columns)
return experiment.finish(args, nil, ([[
Training at NSR %d in place of the test's own NSR is significantly for the better in %d and for the worse in %d of %d
cases.]]):format(most,
    better, worse, compared),
  experiment.named("", mr.table{ columns = columns, rows = rows, formats = formats,
  mark = { ["p, Holm"] = protocol.level } },
    cells, ([[
NSR: negative sampling ratio; trained at: test metric of the matching loss, trained at this NSR; change: of training
at NSR %d in place of the test's own, paired by user; p: of a permutation test; p, Holm: corrected over the
table.]]):format(most)))
