-- Tables 3.1 to 3.3 of Westerborg (2022): the expectation of DCG, of the nRBP loss without its constant, and of AP over
-- all orders of X(2,1) and X(3,2), lists of two and three rows with one and two relevant. Every order is evaluated; the
-- closed forms (Eqs. 3.8 to 3.10) are shown beside the means. No data.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published, figure = dofile(here .. "published.lua"), dofile(here .. "figure.lua")

local args = mr.args{ smoke = { default = false, help = "no effect: the numbers need no data" } }

-- All permutations of the numbers 1 to n; the first one is in rising order.
local function orders(n)
  if n == 0 then return { {} } end
  local found = {}
  for _, rest in ipairs(orders(n - 1)) do
    for place = #rest + 1, 1, -1 do
      local one = table.move(rest, 1, #rest, 1, {})
      table.insert(one, place, n)
      found[#found + 1] = one
    end
  end
  return found
end

-- The grades of a list in every order of its rows, sorted as in the thesis: orders with relevant rows on top come
-- first.
local function ranked(instance)
  local lists = {}
  for i, order in ipairs(orders(instance.n)) do
    lists[i] = {}
    for rank, row in ipairs(order) do lists[i][rank] = instance.grades[row] end
  end
  table.sort(lists, function(a, b) return table.concat(a) > table.concat(b) end)
  return lists
end

-- Returns the metric of every order of a list's rows, the expectation of the metric over all orders in closed form, and
-- the orders, as arrays of grades.
local function values(metric, instance)
  local lists, scores = ranked(instance), {}
  for _ = 1, #lists do
    for rank = 1, instance.n do scores[#scores + 1] = -rank end
  end
  local found = mr.metrics.parse(metric)(mr.tensor(scores, { dtype = "float64" }), mr.lists(lists)):totable()
  return found, mr.bounds.of(metric, instance.shape).expectation, lists
end

-- Returns the constant that the nRBP loss of Eq. 2.12 subtracts: the sum of the integers from 0 to P - 1, for P
-- relevant rows.
local function constant(instance) return instance.p * (instance.p - 1) / 2 end

local measures = {
  { "3.1", "DCG", "dcg", published.table_3_1, add = function() return 0 end },
  { "3.2", "nRBP loss, first part", "nrbp_loss", published.table_3_2, add = constant },
  { "3.3", "AP", "ap", published.table_3_3, add = function() return 0 end },
}

-- Returns the values that the thesis prints for a metric, one per order of a list's rows. They are sorted from the best
-- to the worst, which is the order in which `ranked` lists the orders of rows.
local function printed_values(printed, metric)
  local sorted = table.move(printed, 1, #printed, 1, {})
  table.sort(sorted, function(a, b) if metric == "nrbp_loss" then return a < b end return a > b end)
  return sorted
end

local rows, count, same = {}, 0, 0
local function row(measure, instance, what, computed, printed)
  local equal = printed and math.abs(computed - printed) < 1e-9
  rows[#rows + 1] = { measure[1], measure[2], instance.name, what, computed, printed or "",
    equal == nil and "" or equal and "yes" or "no" }
  count, same = count + (printed and 1 or 0), same + (equal and 1 or 0)
end
for _, measure in ipairs(measures) do
  for _, instance in ipairs{ figure.instance(2, 1), figure.instance(3, 2) } do
    local found, expectation, lists = values(measure[3], instance)
    local printed, add = measure[4][instance.name], measure.add(instance)
    local of_orders = printed_values(printed, measure[3])
    for i, one in ipairs(found) do row(measure, instance, table.concat(lists[i], " "), one + add, of_orders[i]) end
    row(measure, instance, "mean", mr.stats.mean(found) + add, printed.mean)
    row(measure, instance, "closed form", expectation + add, printed.mean)
  end
end

local section = mr.experiment.finish(args, nil, ([[
Of %d printed numbers %d are the computed ones. Of DCG the thesis prints no values, but the formula of the mean.
Its text calls the second instance of DCG X(3,1), with the numbers of X(3,2).]]):format(count, same),
  mr.experiment.named("", mr.table{ rows = rows, formats = { computed = "%.6f", printed = "%.6g" },
    columns = { "Table", "of", "instance", "order", "computed", "printed", "equal" } }, nil, [[
X(N,P): N rows, P of them relevant. Numbers are the value of every order of the rows (1: relevant), the mean over
these, and the expectation in closed form. equal: whether the printed number is the computed one.]]))
section.agreement = { of = count, within = same, tolerance = "1e-9" }
return section
