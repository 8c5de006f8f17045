-- Li, Urbano & Hanjalic (2021), section 4.2: does the number of factors of matrix factorisation change which
-- listwise loss ranks best? One split, one sampled negative per relevant item (NSR 1). Each loss has the learning
-- rate that the authors tried with every number of factors. Published nDCG is shown beside ours where it exists.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local models, published = dofile(here .. "models.lua"), dofile(here .. "published.lua").factors
local experiment, training = mr.experiment, models.training

local listwise = training.losses.listwise
local args = models.args({
  factors = { default = { 8, 16, 32, 64, 128 }, least = 1, distinct = true, help = "numbers of factors" },
  losses = { default = listwise, choices = listwise, help = "listwise losses" },
  sets = { default = { "citeulike" }, choices = models.data.names, help = "which data sets" },
}, { smoke = { factors = { 4, 8 } }, without = { nsr = { 1 }, kinds = { "listwise" }, rates = {} } })

-- Returns a loss's test nDCG on the first split of a data set, at the epoch that nDCG chose. Returns nil if no
-- training run with these options has finished.
local function ndcg_of(set, loss, factors)
  local results = training.study(args, set, { recipe = args.recipe, nsr = 1, kind = "listwise", loss = loss,
    rate = published.rate[loss], factors = factors })
  return results and experiment.folds(results, { split = set.splits[1] }, "ndcg")[1]
end

local lines, orders = {}, {}
for _, name in ipairs(args.sets) do
  local set = models.set(args, name)
  for _, factors in ipairs(args.factors) do
    local found, names = {}, {}
    for _, loss in ipairs(args.losses) do
      found[loss] = ndcg_of(set, loss, factors)
      if found[loss] then names[#names + 1] = loss end
    end
    table.sort(names, function(a, b) return found[a] > found[b] end)
    for i, loss in ipairs(names) do
      local line = { set.title, factors, training.title(loss), published.rate[loss], found[loss], i }
      if name == "citeulike" and not args.made_up then line[7] = published[loss][factors] or "" end
      lines[#lines + 1] = line
      names[i] = training.title(loss)
    end
    if #names > 1 then orders[#orders + 1] = ("%d factors: %s"):format(factors, table.concat(names, ", ")) end
  end
end

if #lines == 0 then models.lack(args, "runs of this kind") end
if #orders == 0 and args.kept then models.lack(args, "runs of two losses with one number of factors") end
local order, so_far = " The losses from the best to the worst are, with %s.", experiment.so_far(args)
local columns, formats = { "data", "factors", "loss", "rate", "nDCG", "place" }, { nDCG = "%.4f" }
if not args.made_up then columns[7], formats.published = "published", "%.4f" end
return experiment.finish(args, nil, ([[
The table has the test nDCG at the epoch that nDCG chose, on one split at NSR 1, %s.%s]]):format(
    training.recipes[args.recipe].title, #orders > 0 and order:format(table.concat(orders, "; ")) or "")
    .. (so_far and "\n\n" .. so_far or ""),
  experiment.named("", mr.table{ columns = columns, rows = lines, formats = formats, mark = { nDCG = "max" },
    within = { "data", "factors" } }, nil,
    "rate: learning rate; nDCG: on test; place: of the loss, among those with as many factors."))
