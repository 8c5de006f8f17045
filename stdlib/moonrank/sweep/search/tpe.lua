-- The sampler tpe: tree-structured Parzen estimators (Bergstra, Bardenet, Bengio and Kegl 2011). It suggests parameters
-- that are likely among the good results and unlikely among all other results, one parameter at a time.
local core = require "moonrank.core"

local M = {}

-- Smallest and largest probability for which the quantile of the normal distribution is finite.
local least_share, most_share = 2.0 ^ -1022, 1 - 2.0 ^ -53

-- Returns the width of each kernel: the distance to the farther of its two neighbours, within limits.
local function widths(centres, range)
  local order = {}
  for i = 1, #centres do order[i] = i end
  table.sort(order, function(a, b)
    if centres[a] ~= centres[b] then return centres[a] < centres[b] end
    return a < b
  end)
  local least, found = range / math.min(100, #centres + 1), {}
  for k, i in ipairs(order) do
    local left = k > 1 and centres[i] - centres[order[k - 1]] or 0
    local right = k < #order and centres[order[k + 1]] - centres[i] or 0
    found[i] = math.min(range, math.max(least, left, right))
  end
  return found
end

-- Returns normal kernels on a parameter's axis, truncated at its ends: a prior as wide as the axis, then one kernel for
-- each value.
local function kernels(part, values)
  local low, high = part:axis()
  local centres = { (low + high) / 2 }
  for i, value in ipairs(values) do centres[i + 1] = part:to_axis(value) end
  local width = widths(centres, high - low)
  width[1] = high - low
  local all = {}
  for i, centre in ipairs(centres) do
    local first, last = core.normal_cdf((low - centre) / width[i]), core.normal_cdf((high - centre) / width[i])
    all[i] = { centre = centre, width = width[i], first = first, mass = last - first }
  end
  return all
end

local function draw_number(part, all, u, v)
  local kernel = all[math.min(#all, math.floor(u * #all) + 1)]
  local share = math.max(least_share, math.min(most_share, kernel.first + v * kernel.mass))
  return part:from_axis(kernel.centre + kernel.width * core.normal_quantile(share))
end

-- Returns the mean of the kernels at a value: a density (up to a constant factor), or for integers the probability of
-- their interval.
local function density(part, all, value)
  local sum = 0
  local from, to = part:to_axis(value, -0.5), part:to_axis(value, 0.5)
  for _, kernel in ipairs(all) do
    local z = (from - kernel.centre) / kernel.width
    if part.step then
      sum = sum + math.max(0, core.normal_cdf((to - kernel.centre) / kernel.width) - core.normal_cdf(z)) / kernel.mass
    else
      sum = sum + core.number_exp(-z * z / 2) / (kernel.width * kernel.mass)
    end
  end
  return sum / #all
end

local function suggest_number(part, good, bad, random, candidates)
  local l, g = kernels(part, good), kernels(part, bad)
  local best, best_ratio
  for i = 1, candidates do
    local value = draw_number(part, l, random[2 * i - 1], random[2 * i])
    local ratio = density(part, l, value) / density(part, g, value)
    if not best or ratio > best_ratio then best, best_ratio = value, ratio end
  end
  return best
end

-- Returns the relative frequency of each value of a choice; counts are increased by one, so that none is 0.
local function shares(part, values)
  local counts = {}
  for i = 1, #part.keys do counts[i] = 1 end
  for _, value in ipairs(values) do counts[part.index[value]] = counts[part.index[value]] + 1 end
  for i = 1, #counts do counts[i] = counts[i] / (#values + #part.keys) end
  return counts
end

local function suggest_choice(part, good, bad, random, candidates)
  local l, g = shares(part, good), shares(part, bad)
  local best
  for i = 1, candidates do
    local u, k = random[i], 1
    while k < #l and u >= l[k] do
      u = u - l[k]
      k = k + 1
    end
    if not best or l[k] / g[k] > l[best] / g[best] then best = k end
  end
  return part.keys[best]
end

-- Divides trials into the best ones (a share of the completed trials) and all others, also failed and pruned ones.
local function split(history, share, direction)
  local sign = direction == "maximize" and 1 or -1
  local done, good, bad = {}, {}, {}
  for _, trial in ipairs(history) do
    local whole = trial.state == "done" and trial.value and trial.value == trial.value
    table.insert(whole and done or bad, trial)
  end
  table.sort(done, function(a, b)
    if a.value ~= b.value then return sign * a.value > sign * b.value end
    return a.number < b.number
  end)
  local count = math.ceil(share * #done)
  for i, trial in ipairs(done) do table.insert(i <= count and good or bad, trial) end
  return good, bad
end

-- Returns the values that each parameter has in some trials, by the parameter's slot (its index in the space).
local function observed(space, trials)
  local values = {}
  for _, entry in ipairs(space:entries()) do values[entry.slot] = {} end
  for _, trial in ipairs(trials) do
    space:draw(function(entry)
      local value = trial.params[entry.name]
      if entry.part:contains(value) then table.insert(values[entry.slot], value) end
      return value
    end)
  end
  return values
end

---Returns, by name, the most promising parameters for the next trial, given the results of earlier trials.
---@param history mr.sweep.Trial[]  earlier trials; those without a result count as bad ones
---@param options mr.sweep.TpeOptions
---@param direction string  "maximize" or "minimize"
---@param random fun(entry: mr.sweep.Entry, count: integer): number[]  numbers in [0, 1) for a parameter
---@return table<string, any>
function M.suggest(space, history, options, direction, random)
  local good_trials, bad_trials = split(history, options.good, direction)
  local good, bad = observed(space, good_trials), observed(space, bad_trials)
  return space:draw(function(entry)
    local suggest = entry.part.kind == "choice" and suggest_choice or suggest_number
    return suggest(entry.part, good[entry.slot], bad[entry.slot], random(entry, 2 * options.candidates),
      options.candidates)
  end)
end

return M
