-- Tree-structured Parzen estimators (Bergstra, Bardenet, Bengio and Kegl 2011): parameters that are likely among the good results and unlikely
-- among the others, one parameter at a time.
local M = {}

-- The standard normal distribution function; Abramowitz and Stegun 26.2.17, absolute error below 7.5e-8.
local function normal_cdf(x)
  local t = 1 / (1 + 0.2316419 * math.abs(x))
  local poly = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  local upper = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * poly
  return x >= 0 and 1 - upper or upper
end

local function normal_quantile(p)
  local low, high = -8.5, 8.5
  for _ = 1, 50 do
    local middle = (low + high) / 2
    if normal_cdf(middle) < p then low = middle else high = middle end
  end
  return (low + high) / 2
end

-- How wide each kernel is: as far as the further of its neighbours, within reason.
local function widths(places, range)
  local order = {}
  for i = 1, #places do order[i] = i end
  table.sort(order, function(a, b)
    if places[a] ~= places[b] then return places[a] < places[b] end
    return a < b
  end)
  local least, found = range / math.min(100, #places + 1), {}
  for k, i in ipairs(order) do
    local left = k > 1 and places[i] - places[order[k - 1]] or 0
    local right = k < #order and places[order[k + 1]] - places[i] or 0
    found[i] = math.min(range, math.max(least, left, right))
  end
  return found
end

-- Normal kernels on an axis, cut off at its ends; the first is the prior, as wide as the axis.
local function kernels(part, values)
  local low, high = part:axis()
  local places = { (low + high) / 2 }
  for i, value in ipairs(values) do places[i + 1] = part:to_axis(value) end
  local width = widths(places, high - low)
  width[1] = high - low
  local all = {}
  for i, place in ipairs(places) do
    local first, last = normal_cdf((low - place) / width[i]), normal_cdf((high - place) / width[i])
    all[i] = { place = place, width = width[i], first = first, mass = last - first }
  end
  return all
end

local function draw_number(part, all, u, v)
  local kernel = all[math.min(#all, math.floor(u * #all) + 1)]
  return part:from_axis(kernel.place + kernel.width * normal_quantile(kernel.first + v * kernel.mass))
end

-- The mean of the kernels at a value: their density, or their mass over what rounds to it.
local function density(part, all, value)
  local sum = 0
  local from, to = part:to_axis(value, -0.5), part:to_axis(value, 0.5)
  for _, kernel in ipairs(all) do
    local z = (from - kernel.place) / kernel.width
    if part.step then
      sum = sum + math.max(0, normal_cdf((to - kernel.place) / kernel.width) - normal_cdf(z)) / kernel.mass
    else
      sum = sum + math.exp(-z * z / 2) / (kernel.width * kernel.mass)
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

-- How often each value of a choice stands among the results, and once more.
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

-- Good results and the others. A trial that failed or was given up is one of the others.
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

-- The values of every entry among some trials, by slot.
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

---The most promising parameters, given results.
---@param space mr.sweep.Space
---@param history mr.sweep.Trial[]
---@param options { candidates: integer, good: number }
---@param direction string
---@param random fun(entry: mr.sweep.Entry, count: integer): number[]
---@return table<string, any>
function M.suggest(space, history, options, direction, random)
  local good_trials, bad_trials = split(history, options.good, direction)
  local good, bad = observed(space, good_trials), observed(space, bad_trials)
  return space:draw(function(entry)
    local suggest = entry.part.kind == "choice" and suggest_choice or suggest_number
    return suggest(entry.part, good[entry.slot], bad[entry.slot], random(entry, 2 * options.candidates), options.candidates)
  end)
end

return M
