-- How long the trials of a sweep that are left will take, from those that ended: a factor for each value of each parameter, all together a
-- product; 1 for a value with which no trial has ended.
local M = {}

local rounds = 10      -- of fitting one parameter after the other
local growth = 1.01    -- of the number of ended trials from one fit to the next
local shortest = 1e-4  -- seconds, for logarithms

---@class mr.sweep.Forecast
---@field ended { params: table<string, any>, seconds: number }[]
local Forecast = {}
Forecast.__index = Forecast

---@return mr.sweep.Forecast
function M.new() return setmetatable({ ended = {}, total = 0.0, fitted = 0, names = {}, effects = {}, base = 0.0 }, Forecast) end

---A trial ended after so many seconds, without what later ones find ready.
---@param params table<string, any>
---@param seconds number
function Forecast:add(params, seconds)
  if not (seconds >= 0 and seconds < math.huge) then return end  -- a store may hold any number
  self.ended[#self.ended + 1] = { params = params, seconds = seconds }
  self.total = self.total + seconds
end

-- Parameters with at most half as many values as trials ended: of others the trials that are left have other values.
local function parameters_of(ended)
  local seen, kinds, names = {}, {}, {}
  for _, each in ipairs(ended) do
    for name, value in pairs(each.params) do
      seen[name] = seen[name] or {}
      if not seen[name][value] then kinds[name] = (kinds[name] or 0) + 1 end
      seen[name][value] = true
    end
  end
  for name, count in pairs(kinds) do
    if count > 1 and count * 2 <= #ended then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

-- The logarithm of the product of the factors.
function Forecast:_effect(params)
  local sum = 0.0
  for _, name in ipairs(self.names) do sum = sum + (self.effects[name][params[name]] or 0) end
  return sum
end

-- The factors of one parameter: the means of what the others leave of the logarithms.
function Forecast:_refit(name, logs)
  local sums, counts, effects = {}, {}, self.effects[name]
  for i, each in ipairs(self.ended) do
    local value = each.params[name]
    if value ~= nil then
      sums[value] = (sums[value] or 0) + logs[i] - self:_effect(each.params) + (effects[value] or 0)
      counts[value] = (counts[value] or 0) + 1
    end
  end
  for value, sum in pairs(sums) do effects[value] = sum / counts[value] end
end

function Forecast:_fit()
  local logs, mean, fitted = {}, 0.0, 0.0
  self.names, self.effects, self.fitted = parameters_of(self.ended), {}, #self.ended
  for i, each in ipairs(self.ended) do
    logs[i] = math.log(math.max(each.seconds, shortest))
    mean = mean + logs[i] / #self.ended
  end
  for i in ipairs(logs) do logs[i] = logs[i] - mean end
  for _, name in ipairs(self.names) do self.effects[name] = {} end
  for _ = 1, rounds do
    for _, name in ipairs(self.names) do self:_refit(name, logs) end
  end
  for _, each in ipairs(self.ended) do fitted = fitted + math.exp(self:_effect(each.params)) end
  -- so that the trials that ended add up to what they took
  self.base = self.total / fitted
end

---Whether any trial has ended, so that the others can be foreseen.
---@return boolean
function Forecast:is_known()
  if #self.ended > 0 and #self.ended >= self.fitted * growth then self:_fit() end
  return #self.ended > 0
end

---Seconds that a trial will take.
---@param params? table<string, any>  nil where they are not known yet
---@return number
function Forecast:of(params)
  return params and self.base * math.exp(self:_effect(params)) or self.total / #self.ended
end

---Seconds until all is done. `waiting`: the seconds of the trials that have not begun.
---@param waiting number
---@param running { params: table<string, any>, spent: number }[]
---@param workers integer
---@return number
function Forecast:left(waiting, running, workers)
  local work, longest = waiting, 0.0
  for _, each in ipairs(running) do
    local rest = math.max(0, self:of(each.params) - each.spent)
    work, longest = work + rest, math.max(longest, rest)
  end
  return math.max(longest, work / math.max(1, workers))
end

return M
