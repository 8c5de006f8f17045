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
local records, pairs_of = {}, {}
for _, at in ipairs(experiment.combinations{ { "loss", runs.losses }, { "bound", thinning.bounds },
  { "tested", levels } }) do
  local record, of = { loss = runs.title_of[at.loss], bound = at.bound, ["test NSR"] = at.tested }, {}
  for _, trained in ipairs(levels) do
    of[trained] = experiment.by_list(study, { nsr = trained, loss = at.loss, bound = at.bound }, "test_" .. at.tested)
    record["trained at " .. trained] = experiment.mean(of[trained])
  end
  records[#records + 1] = record
  pairs_of[#pairs_of + 1] = at.tested < most and { of[most], of[at.tested], record = record } or nil
end
local better, worse = 0, 0
for _, each in ipairs(experiment.paired(pairs_of)) do
  local record, side = each.record, runs.side(each.change, each.holm)
  record.change, record.p, record["p, Holm"] = { each.change, each.low, each.high }, each.p, each.holm
  better, worse = better + (side > 0 and 1 or 0), worse + (side < 0 and 1 or 0)
end

local columns, folds = { { "loss" }, { "bound" }, { "test NSR" } }, runs.set(args, "movielens").folds
for _, nsr in ipairs(levels) do columns[#columns + 1] = { "trained at " .. nsr, format = "%.4f" } end
table.move({ { "change", format = "%+.4f" }, { "p", format = "%.2g" },
  { "p, Holm", format = "%.2g", mark = protocol.level } }, 1, 3, #columns + 1, columns)
return experiment.finish(args, nil, ([[
Training at NSR %d in place of the test's own NSR is significantly for the better in %d and for the worse in %d of %d
cases.]]):format(most, better, worse, #pairs_of),
  experiment.table{ records = records, columns = columns, by = "bootstrap over users",
    runs = function(_, column) return folds * (column:find "^trained at" and 1 or 2) end, legend = ([[
NSR: negative sampling ratio; trained at: test metric of the matching loss, trained at this NSR; change: of training
at NSR %d in place of the test's own, paired by user; p: of a permutation test; p, Holm: corrected over the
table.]]):format(most) })
