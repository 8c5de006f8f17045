-- How long the trials of a sweep that are left will take, from those that ended: a factor for each value of each parameter, all together a
-- product; 1 for a value with which no trial has ended. Beside it what a trial makes that later ones find ready (distributions): of what
-- one made, those that differ from it in one parameter alone make a share again, which the parameter decides.
local M = {}

local rounds = 10      -- of fitting one parameter after the other
local growth = 1.01    -- of the number of ended trials from one fit to the next
local shortest = 1e-4  -- seconds, for logarithms
local most_near_ended = 1000  -- trials whose neighbours are looked at
local needless = 0.1   -- of what a trial makes: another that made less before it needed nothing
local unknown_share = 0.5  -- of what a trial made, by one that differs in a parameter of which nothing is known yet

---@class mr.sweep.Forecast
---@field ended { params: table<string, any>, seconds: number }[]
---@field near table<string, table[]>  what trials made that differ in one parameter alone, by a text of the others
---@field idle table<string, table<any, true>>  by parameter the values for which nothing is made
---@field again table<string, { made: number, of: number }>  by parameter: what was made again, of what was there
local Forecast = {}
Forecast.__index = Forecast

---@return mr.sweep.Forecast
function M.new()
  return setmetatable({ ended = {}, total = 0.0, fitted = 0, names = {}, effects = {}, base = 0.0, near = {}, idle = {}, again = {},
    makes = false }, Forecast)
end

-- By parameter a text of all others and their values.
local function texts_without_one(params)
  local names, parts, texts = {}, {}, {}
  for name in pairs(params) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = name .. "=" .. tostring(params[name]) end
  for i, name in ipairs(names) do
    local own = parts[i]
    parts[i] = name
    texts[name] = table.concat(parts, "\0")
    parts[i] = own
  end
  return texts
end

-- The trials that differ from this one in one parameter alone and made most, by that parameter; none that made nothing.
local function most_near(near, texts)
  local most = {}
  for name, text in pairs(texts) do
    for _, each in ipairs(near[text] or {}) do
      if each.once > (most[name] and most[name].once or 0) then most[name] = each end
    end
  end
  return most
end

local function keep(near, texts, entry)
  for _, text in pairs(texts) do
    near[text] = near[text] or {}
    table.insert(near[text], entry)
  end
end

-- Of a trial that ended what it made again, where one parameter alone tells it from trials that made something before it began; and the
-- values of which it is known now that nothing needs to be made for them, since trials before it that had them made nothing.
function Forecast:_learn(params, texts, entry, began)
  local most = most_near(self.near, texts)
  local name, other = next(most)
  if name and not next(most, name) and other.at <= began then
    local sums = self.again[name] or { made = 0.0, of = 0.0 }
    sums.made, sums.of = sums.made + math.min(entry.once, other.once), sums.of + other.once
    self.again[name] = sums
  end
  entry.first = name == nil
  for of, text in pairs(texts) do
    for _, each in ipairs(self.near[text] or {}) do
      if each.first and each.once < needless * entry.once then
        self.idle[of] = self.idle[of] or {}
        self.idle[of][each.params[of]] = true
      end
    end
  end
  entry.params = params
end

function Forecast:_needs(params)
  for name, values in pairs(self.idle) do
    if values[params[name]] then return false end
  end
  return true
end

---A trial ended after so many seconds, `once` of them for what later ones find ready; it began when `began` trials had ended.
---@param params table<string, any>
---@param seconds number
---@param once? number
---@param began? integer
---@return boolean new whether most of it went into that, and no trial near it had made any
function Forecast:add(params, seconds, once, began)
  once = once or 0
  local usual = seconds - once
  if not (usual >= 0 and once >= 0 and seconds < math.huge) then return false end  -- a store may hold any number
  self.ended[#self.ended + 1] = { params = params, seconds = usual }
  self.total = self.total + usual
  self.makes = self.makes or once > 0
  if #self.ended > most_near_ended then return false end
  local texts, entry = texts_without_one(params), { once = once, at = #self.ended }
  self:_learn(params, texts, entry, began or entry.at)
  keep(self.near, texts, entry)
  return once > usual and entry.first
end

---Seconds that a trial will need for what later ones find ready. `before`: what those foreseen before it make; it is added to that.
---@param params table<string, any>
---@param before table<string, { once: number }[]>
---@return number
function Forecast:once(params, before)
  if not self.makes or not self:_needs(params) then return 0.0 end
  local texts, least = texts_without_one(params), math.huge
  for _, near in ipairs{ self.near, before } do
    for name, other in pairs(most_near(near, texts)) do
      local sums = self.again[name]
      least = math.min(least, other.once * (sums and sums.made / sums.of or unknown_share))
    end
  end
  if least == math.huge then return 0.0 end
  keep(before, texts, { once = least })
  return least
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

---Seconds that a trial will take, without what later ones find ready.
---@param params? table<string, any>  nil where they are not known yet
---@return number
function Forecast:of(params)
  return params and self.base * math.exp(self:_effect(params)) or self.total / #self.ended
end

---Seconds until all is done. `waiting`: the seconds of the trials that have not begun; `once`: what a running one makes that later ones find
---ready.
---@param waiting number
---@param running { params: table<string, any>, spent: number, once?: number }[]
---@param workers integer
---@return number
function Forecast:left(waiting, running, workers)
  local work, longest = waiting, 0.0
  for _, each in ipairs(running) do
    local rest = math.max(0, self:of(each.params) + (each.once or 0) - each.spent)
    work, longest = work + rest, math.max(longest, rest)
  end
  return math.max(longest, work / math.max(1, workers))
end

return M
