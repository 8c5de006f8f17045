-- Which learning rate suits which loss in each setting of the grid (grid.lua)? Every loss without a bound, under min-max bounding and, where it
-- applies, under the logit of the distribution, on the first fold; chosen by the loss's metric on validation, mean over these bounds. Rates go by
-- half decades; where the best one is at the edge of those that were tried, the next one is tried, too. The test parts are not used.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, figure = dofile(here .. "runs.lua"), dofile(here .. "../thesis/figure.lua")

local args = runs.args{}

-- The rate one step above or below: 0.001, 0.003, 0.01, ...
local function beside(rate, step)
  local power = math.floor(2 * math.log(rate, 10) + 0.5) + step
  return tonumber(("%.0e"):format(10 ^ (power / 2)))
end

-- Adds the mean over bounds of the metric on validation to `means`, by loss and rate; a loss of which a run failed has none.
local function add_means(means, rate, results)
  local columns, sums, counts = results:columns(), {}, {}
  local loss, valid = columns:column("rates", "loss"), columns:column("rates", "valid")
  for row = 1, columns.count do
    local name = loss[row]
    sums[name], counts[name] = (sums[name] or 0) + valid[row], (counts[name] or 0) + 1
  end
  for name, sum in pairs(sums) do
    means[name] = means[name] or {}
    if counts[name] == #runs.tuned(name) then means[name][rate] = sum / counts[name] end
  end
end

local function rising(found)
  local rates = {}
  for rate in pairs(found) do rates[#rates + 1] = rate end
  table.sort(rates)
  return rates
end

-- The best rate, of equal ones the middle one.
local function best_of(found)
  local best = {}
  for _, rate in ipairs(rising(found)) do
    if #best > 0 and found[rate] > found[best[1]] then best = {} end
    if #best == 0 or found[rate] == found[best[1]] then best[#best + 1] = rate end
  end
  return best[(#best + 1) // 2]
end

-- The rate beyond the edge at which the best one is; or nil, and whether that is because nothing more is tried.
local function beyond(set, found)
  local best, ended = best_of(found), false
  for _, step in ipairs(best and { 1, -1 } or {}) do
    local rate = beside(best, step)
    local inside = rate >= set.least and rate <= set.most
    if inside and not found[rate] then return rate end
    ended = ended or not inside
  end
  return nil, ended
end

-- Rates that are to be tried next, in rising order, each with its losses.
local function next_rates(set, means, tried)
  local losses, rates = {}, {}
  for _, loss in ipairs(runs.losses(args)) do
    local rate = means[loss] and beyond(set, means[loss])
    if rate and not tried[loss .. rate] then
      if not losses[rate] then losses[rate], rates[#rates + 1] = {}, rate end
      table.insert(losses[rate], loss)
    end
  end
  table.sort(rates)
  return rates, losses
end

-- The means of each loss by rate.
local function search(set)
  local means, tried, rates, losses, round = {}, {}, set.rates, {}, 1
  for _, rate in ipairs(rates) do losses[rate] = runs.losses(args) end
  while #rates > 0 do
    for _, rate in ipairs(rates) do
      add_means(means, rate, runs.at_rate(args, set, rate, losses[rate], round))
      for _, loss in ipairs(losses[rate]) do tried[loss .. rate] = true end
    end
    rates, losses = next_rates(set, means, tried)
    round = round + 1
  end
  return means
end

-- For rates.lua, five to a line.
local function written(name, chosen)
  local parts, lines = {}, { ("M.%s = {"):format(name) }
  for _, loss in ipairs(runs.losses(args)) do
    if chosen[loss] then parts[#parts + 1] = ("%s = %g"):format(loss, chosen[loss]) end
  end
  for i = 1, #parts, 5 do lines[#lines + 1] = "  " .. table.concat(parts, ", ", i, math.min(i + 4, #parts)) .. "," end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

local rows, texts, ends = {}, {}, {}
for _, name in ipairs(args.sets) do
  local set = runs.set(args, name)
  local means, chosen = search(set), {}
  for _, loss in ipairs(runs.losses(args)) do
    local found, tried = means[loss] or {}, {}
    chosen[loss] = best_of(found)
    for i, rate in ipairs(rising(found)) do tried[i] = ("%g: %.4f"):format(rate, found[rate]) end
    rows[#rows + 1] = { set.title, loss, runs.metric_of(loss), chosen[loss] or "-", table.concat(tried, ", ") }
    if not args.made_up and select(2, beyond(set, found)) then ends[#ends + 1] = ("%s in %s"):format(loss, set.title) end
  end
  texts[#texts + 1] = written(name, chosen)
end
print((args.made_up and "Made-up data, not for rates.lua:\n" or "For rates.lua:\n") .. table.concat(texts, "\n") .. "\n")
return figure.finish(args, nil, ([[
Learning rates of Adam, and of trees their share of each round, by the loss's metric on validation: the first fold, the mean over %s
(as far as these bounds apply).%s]]):format(table.concat(runs.tuning, ", "), args.made_up and ""
    or #ends == 0 and " No chosen rate is at the edge of those that were tried."
    or " At the edge of those that were tried, where nothing beyond it is: " .. table.concat(ends, "; ") .. "."),
  mr.table{ columns = { "setting", "loss", "metric", "chosen", "mean on validation by rate" }, rows = rows })
