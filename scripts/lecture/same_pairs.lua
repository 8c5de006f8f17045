-- "Same pair-level error but different list-level error" (Seguí's lecture, slide "RankNet"): how different can
-- rankings be that have equally many pairs in the wrong order?

-- The script ranks the slide's five documents in every order. The figure plots nDCG, RR and AP of each order
-- against its number of wrongly ordered pairs. RR and AP count only the highest rating as relevant.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published = dofile(here .. "published.lua")

local args = mr.args(mr.experiment.figure_options({
  ratings = { default = published.ratings, least = 0, most = 100, count = { 2, 7 },
    help = "ratings of the documents, at least two different ones" },
  smoke = { default = false, sets = { ratings = { 2, 4, 3 } }, help = "test the script with three documents" },
}, "results/lecture/same_pairs.svg"))
local n = #args.ratings
if math.min(table.unpack(args.ratings)) == math.max(table.unpack(args.ratings)) then
  mr.exit(2, ("--ratings: expected at least two different ratings, got only %d"):format(args.ratings[1]))
end

-- Makes every distinct order of the documents' ratings.
local orders = {}
local function arrange(order, left)
  if #left == 0 then
    orders[#orders + 1] = { table.unpack(order) }
    return
  end
  local tried = {}
  for i, rating in ipairs(left) do
    if not tried[rating] then
      tried[rating] = true
      local rest = { table.unpack(left) }
      table.remove(rest, i)
      order[#order + 1] = rating
      arrange(order, rest)
      order[#order] = nil
    end
  end
end
arrange({}, args.ratings)

local function inversions(order)
  local count = 0
  for i = 1, n do
    for j = i + 1, n do count = count + (order[i] < order[j] and 1 or 0) end
  end
  return count
end

local top = math.max(table.unpack(args.ratings))
local lists = mr.lists(orders)
local scores = -lists:rank(mr.zeros(lists.rows), { ties = "stable" }):double()
local ndcg = mr.metrics.ndcg(scores, lists):totable()
local measures = { { "nDCG", ndcg }, { "RR", mr.metrics.rr(scores, lists, { relevant = top }) },
  { "AP", mr.metrics.ap(scores, lists, { relevant = top }) } }

local wrong = {}
for i, order in ipairs(orders) do wrong[i] = inversions(order) end
local panels = { columns = 3, width = 1000, height = 340, legend = "none" }
for i, measure in ipairs(measures) do
  panels[i] = mr.plot.scatter{
    x = wrong,
    y = measure[2],
    title = measure[1],
    xlabel = "pairs in the wrong order",
    ylabel = measure[1],
    yrange = { 0, 1.05 },
  }
end

-- One table row for each number of wrongly ordered pairs: how many orders have it, their lowest and highest nDCG,
-- and an order with each.
local rows = {}
for count = 0, math.max(table.unpack(wrong)) do
  local low, high, found = nil, nil, 0
  for i = 1, #orders do
    if wrong[i] == count then
      found = found + 1
      if not low or ndcg[i] < ndcg[low] then low = i end
      if not high or ndcg[i] > ndcg[high] then high = i end
    end
  end
  if found > 0 then
    rows[#rows + 1] = { count, found, ndcg[low], table.concat(orders[low], " "), ndcg[high],
      table.concat(orders[high], " "), ndcg[high] - ndcg[low] }
  end
end
local widest = rows[1]
for _, row in ipairs(rows) do
  if row[7] > widest[7] then widest = row end
end
return mr.experiment.finish(args, mr.plot.facets(panels), ([[
The figure shows the %d different orders of documents with ratings %s. A loss that counts pairs in the wrong order
cannot tell orders in one column of points apart, but metrics of the list can: with %d inverted pairs nDCG is between
%.4f (%s) and %.4f (%s). RR and AP count the rating %g as relevant.]]):format(#orders,
    table.concat(args.ratings, ", "), widest[1], widest[3], widest[4], widest[5], widest[6], top),
  mr.experiment.named("", mr.table{ rows = rows,
    columns = { "inverted pairs", "orders", "lowest nDCG", "lowest order", "highest nDCG", "highest order",
    "difference" },
    formats = { ["lowest nDCG"] = "%.4f", ["highest nDCG"] = "%.4f", difference = "%.4f" } }, nil, [[
orders: how many have so many inverted pairs; lowest nDCG, highest nDCG: among these; lowest order, highest order:
ratings of an order that has it, first rank first; difference: of both nDCG.]]))
