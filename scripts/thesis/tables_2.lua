-- Tables 2.2 to 2.4 of Westerborg (2022): DCG, RBP and AP rank by rank, for the best and the worst ranking of nine
-- documents, three of them relevant. Do the library's metrics give the printed numbers? No data.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local published = dofile(here .. "published.lua")

local args = mr.args{ smoke = { default = false, help = "no effect: the numbers need no data" } }
local persistence = 0.7
local rankings = { { "ideal", { 1, 1, 1, 0, 0, 0, 0, 0, 0 } }, { "worst", { 0, 0, 0, 0, 0, 0, 1, 1, 1 } } }

-- Returns a metric of a ranking that is cut off after `count` rows; 0 if `count` is 0.
local function value(metric, grades, count)
  if count == 0 then return 0.0 end
  local first = mr.lists{ table.move(grades, 1, count, 1, {}) }
  local found = mr.metrics.parse(metric)(-mr.arange(1, count):double(), first):item()
  return found == found and found or 0.0  -- a metric of a list without relevant rows is NaN
end

-- Returns how much the row at rank r adds to a metric that is a sum over ranks.
local function added(metric, grades, r) return value(metric, grades, r) - value(metric, grades, r - 1) end

local measures = {
  { "2.2", "DCG", published.table_2_2, gain = function(grades, r) return added("dcg", grades, r) end },
  { "2.3", "RBP", published.table_2_3, value = ("rbp(%g)"):format(persistence),
    gain = function(grades, r) return added(("rbp(%g)"):format(persistence), grades, r) / (1 - persistence) end },
  { "2.4", "AP", published.table_2_4, value = "ap",
    gain = function(grades, r) return grades[r] * value("precision@" .. r, grades, r) end },
}

local rows, count, same = {}, 0, 0
local function row(measure, ranking, what, computed, printed)
  local equal = printed and math.abs(computed - printed) <= 0.005
  rows[#rows + 1] = { measure[1], measure[2], ranking, what, computed, printed or "",
    equal == nil and "" or equal and "yes" or "no" }
  count, same = count + (printed and 1 or 0), same + (equal and 1 or 0)
end
for _, measure in ipairs(measures) do
  for _, each in ipairs(rankings) do
    local name, grades, printed, sum = each[1], each[2], measure[3][each[1]], 0.0
    for r = 1, #grades do
      local gain = measure.gain(grades, r)
      row(measure, name, "rank " .. r, gain, printed[r])
      sum = sum + gain
    end
    row(measure, name, "sum", sum, printed.sum)
    if measure.value then row(measure, name, measure[2], value(measure.value, grades, #grades), printed.value) end
  end
end

local section = mr.experiment.finish(args, nil, ([[
Of %d printed numbers %d are the computed ones, rounded to two digits.]]):format(count, same),
  mr.experiment.named("", mr.table{ rows = rows, formats = { computed = "%.4f", printed = "%.4g" },
    columns = { "Table", "metric", "ranking", "of", "computed", "printed", "equal" } }, nil, ([[
Numbers are what a rank adds to DCG, to RBP with p = %g (before the factor 1 - p), and the precision that AP takes the
mean of. The ideal ranking has the relevant documents first, the worst one has them last. equal: whether the printed
number is the computed one.]]):format(persistence)))
section.agreement = { of = count, within = same, tolerance = "0.005" }
return section
