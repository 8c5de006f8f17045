-- Figure 3.7 of Westerborg (2022): what does distribution based bounding (Eq. 3.12: the smooth distribution function of
-- Algorithm 2, with the steepness of Eq. 3.13) do to a loss? Draws bounded against unbounded nDCG, AP and nRBP loss,
-- for three sizes of list at NSR 2 (top) and three NSR at one size (bottom), and marks where an untrained model starts.
-- NSR is the number of negatives per relevant item. Sampled rankings as in the thesis; no data.
local mr = require "moonrank"
local figure = dofile((arg[0]:match("^(.*/)") or "./") .. "figure.lua")

local args = figure.args("3_7", {
  relevant = { default = { 5, 10, 20 }, least = 1,
    help = "relevant items in the instances on top; those below have the last" },
  start = { default = { 5, 20, 50, 100 }, least = 1,
    help = "relevant items in the instances of the second table, at NSR 1" },
  samples = { default = 300000, least = 2, most = 100000000, help = "random rankings of an instance" },
  points = { default = 200, least = 2, help = "points of a curve" },
  seed = { default = 1, help = "seed of the random rankings" },
}, { samples = 2000, points = 40, start = { 5, 20 } })
local rows = figure.rows(args.relevant)
local bound = mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = args.samples,
  seed = args.seed }

-- A vertical line marks the loss of the largest list in the top row before training, when all scores are equal.
local largest = rows[1].instances[#rows[1].instances]
local fig = figure.bounded_losses(rows, bound, { title = "Distribution based bounding", points = args.points,
  mark = function(base)
    return { figure.smooth_loss(base, "none", largest), largest.name .. ", untrained" }
  end })

-- Table of the loss of the best, a random (in expectation) and the worst ranking of each list, unbounded and bounded.
local lines = {}
figure.each(rows, function(base, instance)
  local best, worst = figure.ends(base, instance)
  local random = base.sign * mr.bounds.of(base.metric, instance.shape).expectation
  local bounded = figure.bounded(bound, base, instance, { best, random, worst })
  lines[#lines + 1] = { base.title, instance.name, best, random, worst, table.unpack(bounded) }
end)
local columns = { "loss", "instance", "best", "random", "worst", "bounded best", "bounded random", "bounded worst" }
local formats = {}
for i = 3, #columns do formats[columns[i]] = "%.4f" end
local ends = mr.table{ columns = columns, rows = lines, formats = formats }

-- Table of the loss of an untrained model, whose scores are all equal, compared with the expected loss of random
-- rankings.
lines = {}
for _, base in ipairs(figure.losses) do
  for _, instance in ipairs(figure.instances(args.start, 1)) do
    local loss, stats = figure.smooth_loss(base, "none", instance), mr.bounds.of(base.metric, instance.shape)
    lines[#lines + 1] = { base.title, instance.name, loss, base.sign * stats.expectation,
      (loss - base.sign * stats.expectation) / stats.sd, figure.smooth_loss(base, bound, instance) }
  end
end
local starts = mr.table{ columns = { "all scores equal", "instance", "loss", "random", "in sd above it", "bounded" },
  rows = lines, formats = { loss = "%.4f", random = "%.4f", ["in sd above it"] = "%.2f", bounded = "%.4g" } }

return mr.experiment.finish(args, fig, [[
Distribution based bounding is an S: flat at both ends, steep around what a random ranking gets. All instances share
its range. Before training, with all scores equal (vertical line; second table), AP and nRBP stand near the middle of
the S, but smooth nDCG stands on its flat end at 0, by more standard deviations the larger the instance: its gradient
vanishes where training begins. The vertical lines are ours; the thesis' "constant upper and lower bounds" hold for
large instances only (second table of figure_3_6.lua). The thesis' text does not name its three instances; these are
ours (--relevant).]],
  mr.experiment.named("", ends, nil, [[
X(N,P): N rows, P of them relevant; best, random, worst: loss of the best, an average random and the worst ranking;
bounded: the same under the bound.]]),
  mr.experiment.named("", starts, nil, [[
loss: with all scores equal; random: expected loss of a random ranking; in sd above it: loss less that, in standard
deviations of random rankings; bounded: the loss under the bound.]]))
