-- Which learning rate suits which loss in each setting of the grid (grid.lua)? Every loss without a bound, under min-max bounding and, where it
-- applies, under the logit of the distribution, on the first fold; chosen by the loss's metric on validation, mean over these bounds. Rates go by
-- half decades; where the best one is at the edge of those that were tried, the next one is tried, too. The test parts are not used.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, search, figure = dofile(here .. "runs.lua"), dofile(here .. "search.lua"), dofile(here .. "../thesis/figure.lua")

local args = runs.args{}

-- The mean over bounds of the metric on validation, by loss; a loss of which a run failed has none.
local function means_at(set)
  return function(rate, losses, round)
    local columns, sums, counts = runs.at_rate(args, set, rate, losses, round):columns(), {}, {}
    local loss, valid = columns:column("rates", "loss"), columns:column("rates", "valid")
    for row = 1, columns.count do
      local name = loss[row]
      sums[name], counts[name] = (sums[name] or 0) + valid[row], (counts[name] or 0) + 1
    end
    for name, sum in pairs(sums) do sums[name] = counts[name] == #runs.tuned(name) and sum / counts[name] or nil end
    return sums
  end
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
  local means, chosen = search.run(set, runs.losses(args), means_at(set)), {}
  for _, loss in ipairs(runs.losses(args)) do
    local found, tried = means[loss] or {}, {}
    chosen[loss] = search.best(found)
    for i, rate in ipairs(search.rising(found)) do tried[i] = ("%g: %.4f"):format(rate, found[rate]) end
    rows[#rows + 1] = { set.title, loss, runs.metric_of(loss), chosen[loss] or "-", table.concat(tried, ", ") }
    local next_one, ended = search.beyond(set, found)
    if not args.made_up and (next_one or ended) then ends[#ends + 1] = ("%s in %s"):format(loss, set.title) end
  end
  texts[#texts + 1] = written(name, chosen)
end
print((args.made_up and "Made-up data, not for rates.lua:\n" or "For rates.lua:\n") .. table.concat(texts, "\n") .. "\n")
return figure.finish(args, nil, ([[
Learning rates of Adam, and of trees their share of each round, by the loss's metric on validation: the first fold, the mean over %s
(as far as these bounds apply).%s]]):format(table.concat(runs.tuning, ", "), args.made_up and ""
    or #ends == 0 and " No chosen rate is at the edge of those that were tried."
    or " At the edge of those that were tried, where runs beyond it are not tried or fail: " .. table.concat(ends, "; ") .. "."),
  mr.table{ columns = { "setting", "loss", "metric", "chosen", "mean on validation by rate" }, rows = rows })
