-- Searches for a learning rate in half decades (0.001, 0.003, 0.01). The search begins with a few rates and continues
-- beyond an edge while the best rate lies at that edge.
local M = {}

-- The next higher or lower learning rate of the series 0.001, 0.003, 0.01, ...
local function beside(rate, step)
  local power = math.floor(2 * math.log(rate, 10) + 0.5) + step
  return tonumber(("%.0e"):format(10 ^ (power / 2)))
end

---The learning rates that are the keys of the table `found`, in rising order.
---@param found table<number, number>  validation metric by learning rate
---@return number[]
function M.rising(found)
  local rates = {}
  for rate in pairs(found) do rates[#rates + 1] = rate end
  table.sort(rates)
  return rates
end

---The learning rate with the highest validation metric; the middle one of several with equal values; nil if the table
---is empty.
---@param found table<number, number>  validation metric by learning rate
---@return number?
function M.best(found)
  local best = {}
  for _, rate in ipairs(M.rising(found)) do
    if #best > 0 and found[rate] > found[best[1]] then best = {} end
    if #best == 0 or found[rate] == found[best[1]] then best[#best + 1] = rate end
  end
  return best[(#best + 1) // 2]
end

---The next learning rate to try if the best one is the lowest or highest tried. Otherwise nil, and true if the best
---rate is the last that the search allows.
---@param set { least: number, most: number }  limits of the search
---@param found table<number, number>  validation metric by learning rate
---@return number? rate
---@return boolean? ended
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

-- Returns the learning rates to try next, in rising order, and for each rate the losses to train with it. `names` are
-- losses, `means` has their validation metrics by rate, and `tried` has the combinations of loss and rate that were
-- tried.
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

---Searches the learning rate of each loss. Returns, by loss, the validation metric at every rate that was tried.
---`means_at(rate, losses, round)` trains losses at one rate and returns their metrics by loss; a loss that is missing
---there failed and is not tried at that rate again.
---@param set { rates: number[], least: number, most: number }  rates to begin with, and the limits of the search
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
