-- The search for a learning rate by half decades. It begins with a few rates, and goes on beyond an edge as long as the
-- best rate is there.
local M = {}

-- The rate one step above or below: 0.001, 0.003, 0.01, ...
local function beside(rate, step)
  local power = math.floor(2 * math.log(rate, 10) + 0.5) + step
  return tonumber(("%.0e"):format(10 ^ (power / 2)))
end

---The rates of a table by rate, in rising order.
---@param found table<number, number>
---@return number[]
function M.rising(found)
  local rates = {}
  for rate in pairs(found) do rates[#rates + 1] = rate end
  table.sort(rates)
  return rates
end

---The rate with the highest number; of several such rates the middle one; nil if there is no rate.
---@param found table<number, number>
---@return number?
function M.best(found)
  local best = {}
  for _, rate in ipairs(M.rising(found)) do
    if #best > 0 and found[rate] > found[best[1]] then best = {} end
    if #best == 0 or found[rate] == found[best[1]] then best[#best + 1] = rate end
  end
  return best[(#best + 1) // 2]
end

---The next rate beyond the edge at which the best rate lies. Otherwise nil, and true if the search has reached its end
---there.
---@param set { least: number, most: number }
---@param found table<number, number>
---@return number?
---@return boolean?
function M.beyond(set, found)
  local best, ended = M.best(found), false
  for _, step in ipairs(best and { 1, -1 } or {}) do
    local rate = beside(best, step)
    local inside = rate >= set.least and rate <= set.most
    if inside and not found[rate] then return rate end
    ended = ended or not inside
  end
  return nil, ended
end

-- Rates that are to be tried next, in rising order, and the losses of each.
local function next_rates(set, names, means, tried)
  local losses, rates = {}, {}
  for _, loss in ipairs(names) do
    local rate = means[loss] and M.beyond(set, means[loss])
    if rate and not tried[loss .. rate] then
      if not losses[rate] then losses[rate], rates[#rates + 1] = {}, rate end
      table.insert(losses[rate], loss)
    end
  end
  table.sort(rates)
  return rates, losses
end

---The numbers of each loss by rate, of all rates that were tried. `means_at(rate, losses, round)` has those at a rate
---by loss; a loss without one is not tried there again.
---@param set { rates: number[], least: number, most: number }
---@param names string[]  of the losses
---@param means_at fun(rate: number, losses: string[], round: integer): table<string, number>
---@return table<string, table<number, number>>
function M.run(set, names, means_at)
  local means, tried, rates, losses, round = {}, {}, set.rates, {}, 1
  for _, rate in ipairs(rates) do losses[rate] = names end
  while #rates > 0 do
    for _, rate in ipairs(rates) do
      for loss, mean in pairs(means_at(rate, losses[rate], round)) do
        means[loss] = means[loss] or {}
        means[loss][rate] = mean
      end
      for _, loss in ipairs(losses[rate]) do tried[loss .. rate] = true end
    end
    rates, losses = next_rates(set, names, means, tried)
    round = round + 1
  end
  return means
end

return M
