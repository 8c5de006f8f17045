-- Li, Urbano & Hanjalic (2021), section 5.2: the listwise nRBP loss has no parameter p, so RBP(0.8), RBP(0.9) and
-- RBP(0.95) each choose an epoch of the same training. Do these epochs agree, and how much is lost if only one of
-- the metrics chooses?
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local models, experiment = dofile(here .. "models.lua"), mr.experiment
local protocol = models.protocol

local args = models.args({}, { without = { kinds = { "listwise" }, losses = { "nrbp" } } })
local metrics = protocol.own_metrics "nrbp"

-- Returns, by split, the three models that RBP(0.8), RBP(0.9) and RBP(0.95) choose in one training run, by the name
-- of the metric. The run has the learning rate at which RBP(0.95) is highest on the part that chooses epochs.
local function models_of(set, nsr)
  local best = {}
  for _, o in ipairs(models.training.trainings(args, set)) do
    local of_split = {}
    for _, model in ipairs(o.nsr == nsr and models.of(args, set, o) or {}) do
      of_split[model.split] = of_split[model.split] or { rate = o.rate }
      of_split[model.split][model.by] = model
    end
    for split, found in pairs(of_split) do
      if not best[split] or found["rbp(0.95)"].chosen_by > best[split]["rbp(0.95)"].chosen_by then
        best[split] = found
      end
    end
  end
  return best
end

local lines, same, most = {}, 0, 0
for _, name in ipairs(args.sets) do
  local set = models.set(args, name)
  for _, nsr in ipairs(args.nsr) do
    local best = models_of(set, nsr)
    for _, split in ipairs(set.splits) do
      local of = best[split]
      if of then
        local line, last = { set.title, nsr, split, of.rate }, of["rbp(0.95)"]
        for _, metric in ipairs(metrics) do line[#line + 1] = of[metric].epoch end
        for _, metric in ipairs(metrics) do
          line[#line + 1] = of[metric].scores[metric]
          local lost = of[metric].scores[metric] - last.scores[metric]
          if metric ~= "rbp(0.95)" then line[#line + 1] = lost end
          most = math.max(most, math.abs(lost))
        end
        lines[#lines + 1] = line
        same = same + (of["rbp(0.8)"].epoch == last.epoch and of["rbp(0.9)"].epoch == last.epoch and 1 or 0)
      end
    end
  end
end

if #lines == 0 then models.lack(args, "runs of this kind") end
local text = ([[
Every line is one training of the listwise nRBP loss, %s, at the learning rate that RBP(0.95) chose. In %d of %d
trainings the three values of p choose the same epoch. With the model of RBP(0.95) in place of its own, the test score
of another p changes by %.4f at most.]]):format(models.training.recipes[args.recipe].title, same, #lines, most)
return experiment.finish(args, nil, text, experiment.named("", mr.table{
  columns = { "data", "NSR", "split", "rate", "epoch by RBP(0.8)", "by RBP(0.9)", "by RBP(0.95)", "RBP(0.8)",
    "RBP(0.8), less", "RBP(0.9)", "RBP(0.9), less", "RBP(0.95)" }, rows = lines,
  formats = { ["RBP(0.8)"] = "%.4f", ["RBP(0.9)"] = "%.4f", ["RBP(0.95)"] = "%.4f", ["RBP(0.8), less"] = "%+.4f",
    ["RBP(0.9), less"] = "%+.4f" } }, experiment.cells(nil, 1), [[
NSR: negative sampling ratio; rate: learning rate; epoch by, by: chosen by this metric; RBP(p): on test, of the model
of its own epoch; less: this number less that of the model of RBP(0.95).]]))
