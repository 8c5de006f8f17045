-- Li, Urbano & Hanjalic (2021), section 4.2: does the number of factors of matrix factorisation change which
-- listwise loss ranks best? One split, one sampled negative per relevant item (NSR 1). Each loss has the learning
-- rate that the authors tried with every number of factors. Published nDCG is shown beside ours where it exists.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, published = dofile(here .. "runs.lua"), dofile(here .. "published.lua").factors
local figure = dofile(here .. "../thesis/figure.lua")

local args = runs.args({
  factors = { default = runs.protocol.all_factors, least = 1, distinct = true, help = "numbers of factors" },
  losses = { default = runs.losses.listwise, choices = runs.losses.listwise, help = "listwise losses" },
}, {
  sets = { "citeulike" },
  smoke = { factors = { 4, 8 } },
  without = { nsr = { 1 }, kinds = { "listwise" }, rates = runs.all_rates } })

-- Returns a loss's test nDCG on the first split of a data set, at the epoch that nDCG chose. Returns nil if no
-- training run with these options has finished.
local function ndcg_of(set, loss, factors)
  local results = runs.of(args, {
    set = set,
    nsr = 1,
    kind = "listwise",
    loss = loss,
    rate = published.rate[loss],
    factors = factors })
  if not results or (results:counts().done or 0) == 0 then return nil end
  local columns = results:columns()
  local row = columns:rows("runs", { split = runs.set(args, set).splits[1] })[1]
  local score = row and columns:column("runs", "ndcg")[row]
  return score == score and score or nil
end

local lines, orders = {}, {}
for _, set in ipairs(args.sets) do
  for _, factors in ipairs(args.factors) do
    local found, names = {}, {}
    for _, loss in ipairs(args.losses) do
      found[loss] = ndcg_of(set, loss, factors)
      if found[loss] then names[#names + 1] = loss end
    end
    table.sort(names, function(a, b) return found[a] > found[b] end)
    for i, loss in ipairs(names) do
      local line = { runs.set(args, set).title, factors, runs.title_of[loss], published.rate[loss], found[loss], i }
      if set == "citeulike" and not args.made_up then line[7] = published[loss][factors] or "" end
      lines[#lines + 1] = line
      names[i] = runs.title_of[loss]
    end
    if #names > 1 then orders[#orders + 1] = ("%d factors: %s"):format(factors, table.concat(names, ", ")) end
  end
end

runs.check_found(args, lines)
if #orders == 0 and args.kept then runs.lack(args, "runs of two losses with one number of factors") end
local order, planned = " The losses from the best to the worst are, with %s.", #args.sets * #args.factors * #args.losses
local columns, formats = { "data", "factors", "loss", "rate", "nDCG", "place" }, { nDCG = "%.4f" }
if not args.made_up then columns[7], formats.published = "published", "%.4f" end
return figure.finish(args, nil, ([[
The table has the test nDCG at the epoch that nDCG chose, on one split at NSR 1, %s.%s]]):format(
    runs.recipes[args.recipe].title, #orders > 0 and order:format(table.concat(orders, "; ")) or "")
    .. (args.kept and #lines < planned and "\n\n" .. runs.so_far(#lines, planned,
      "run is of one loss and number of factors") or ""),
  figure.named("", mr.table{ columns = columns, rows = lines, formats = formats, mark = { nDCG = "max" },
    within = { "data", "factors" } }, nil,
    "rate: learning rate; nDCG: on test; place: of the loss, among those with as many factors."))
