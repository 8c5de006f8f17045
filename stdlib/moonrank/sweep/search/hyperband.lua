-- Hyperband (Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar 2018, Algorithm 1): brackets of successive halving. A
-- trial pauses at certain steps of training, the rungs. When all trials of a bracket have reached a rung, the best
-- trials continue to the next rung and the remaining trials are pruned.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local generations = require "moonrank.sweep.search.generations"

local M = {}

local hyperband_options = declare("mr.sweep.HyperbandOptions", {
  { "max_resource", "integer", required = true, least = 1, most = 2 ^ 31,
    help = "step at which a trial is complete (R in the paper)" },
  { "factor", "integer", default = 3, least = 2, help = "one in `factor` continues, to `factor` times the step (eta)" },
  { "min_resource", "integer", default = 1, least = 1, not_above = "max_resource",
    help = "smallest step of a first rung" },
})

---@class mr.sweep.Bracket
---@field trials integer[]      number of trials at each rung
---@field resources integer[]   step of each rung; the last one is max_resource

---Returns the brackets of one pass of hyperband. A bracket says how many trials reach each rung (a step at which trials
---pause or, at the last rung, end), and the step of each rung. The bracket with the most trials is first. The arguments
---are the options of the pruner.
---@param max_resource integer
---@param factor integer
---@param min_resource integer
---Example: `table.concat(require("moonrank.sweep.search.hyperband").brackets(81, 3, 1)[2].trials, " ")   --> 34 11 3 1`
function M.brackets(max_resource, factor, min_resource)
  local power, most = 1, 0
  while min_resource * power <= max_resource // factor do power, most = power * factor, most + 1 end
  local brackets = {}
  for s = most, 0, -1 do
    local bracket, below = { trials = {}, resources = {} }, power
    local first = ((most + 1) * power + s) // (s + 1)
    for i = 1, s + 1 do
      bracket.trials[i], bracket.resources[i] = first // (power // below), max_resource // below
      below = below // factor
    end
    brackets[#brackets + 1] = bracket
    power = power // factor
  end
  return brackets
end

---@class mr.sweep.Hyperband: mr.sweep.Pruner
---@field brackets mr.sweep.Bracket[]
local Hyperband = check.class("mr.sweep.Hyperband")

---Makes a hyperband pruner.
---@param options mr.sweep.HyperbandOptions
---@param sign integer  1 if higher reported values are better, else -1
function M.new(options, sign)
  local where = "pruner hyperband"
  local o = hyperband_options:read(where, options)
  return setmetatable({ name = "hyperband", _options = o, _sign = sign,
    brackets = M.brackets(o.max_resource, o.factor, o.min_resource) }, Hyperband)
end

function Hyperband:describe() return generations.described(self.name, self._options) end
Hyperband.__tostring = Hyperband.describe

-- Hyperband prunes trials only while they are paused at a rung, never a running trial.
function Hyperband.decide() return false end
function Hyperband.generation_of() return 1 end

---Returns the number of trials in one pass over all brackets of hyperband.
function Hyperband:count()
  local sum = 0
  for _, bracket in ipairs(self.brackets) do sum = sum + bracket.trials[1] end
  return sum
end

---Returns the bracket of a trial (the group of trials of which the worst are pruned together). It depends only on the
---trial's number. Trials fill one bracket after another, and after the last bracket the first bracket comes again.
---@return mr.sweep.Bracket bracket, integer first  first: number of the bracket's first trial
function Hyperband:bracket_of(number)
  local pass = self:count()
  local first = (number - 1) // pass * pass + 1
  for _, bracket in ipairs(self.brackets) do
    if number < first + bracket.trials[1] then return bracket, first end
    first = first + bracket.trials[1]
  end
end

local function report_at(trial, step) return generations.first_report(trial.so_far or {}, step) end

---Returns how many rungs (steps at which trials pause) a trial has reached. The last step of its bracket, at which a
---trial ends, does not count.
---@param trial { number: integer, so_far?: { step: integer, value: number }[] }  so_far: its reports
function Hyperband:passed(trial)
  local bracket = self:bracket_of(trial.number)
  local count = 0
  while count < #bracket.resources - 1 and report_at(trial, bracket.resources[count + 1]) do count = count + 1 end
  return count
end

---Returns the training step at which a trial pauses next; nil if the trial runs to its end.
---@param trial { number: integer, so_far?: { step: integer, value: number }[] }  so_far: its reports
function Hyperband:pause_at(trial)
  local bracket, passed = self:bracket_of(trial.number), self:passed(trial)
  return passed + 1 < #bracket.resources and bracket.resources[passed + 1] or nil
end

-- Returns how many trials of a bracket with `size` trials continue beyond a rung.
local function going_on(self, size, rung) return math.max(1, size // self._options.factor ^ rung // 1) end

-- Returns the score of a trial at a rung; higher is better. The score is nil if the trial failed before the rung, or
-- reported NaN there. A trial that ended by itself before the rung has the score of its last report or, if it reported
-- nothing, of its result.
local function score(self, trial, resource)
  local report = report_at(trial, resource)
  local reports = trial.so_far or {}
  local value = report and report.value
    or trial.state == "done" and (#reports > 0 and reports[#reports].value or trial.value)
  return value and value == value and self._sign * value or nil
end

-- Returns the best `count` trials at a rung; nil while trials of the bracket have not reached it or ended.
local function best_at(self, members, rung, resource, count, is_final)
  local ranked = {}
  for _, trial in ipairs(members) do
    local passed = self:passed(trial)
    if passed < rung and not is_final(trial) then return nil end
    local worth = not (trial.state == "pruned" and passed == rung) and score(self, trial, resource)
    if worth then ranked[#ranked + 1] = { trial = trial, worth = worth } end
  end
  table.sort(ranked, function(a, b)
    if a.worth ~= b.worth then return a.worth > b.worth end
    return a.trial.number < b.trial.number
  end)
  local best = {}
  for i = 1, math.min(count, #ranked) do best[i] = ranked[i].trial end
  return best
end

---Decides which paused trials of a bracket continue (the returned `promoted`) and which are pruned. Paused trials about
---which nothing can be decided yet are in neither list. The bracket is that of trial `number`. The decision depends
---only on the trials' reports, states and numbers, so a later call gives the same decisions.
---@param trials table<integer, table>  all trials of the study, by number
---@param planned integer  number of the study's last trial, which may be within the bracket
---@param is_final fun(trial: table): boolean  whether a trial has ended and will not be retried
---@return table[] promoted, table[] pruned
function Hyperband:decided(trials, number, planned, is_final)
  local bracket, first = self:bracket_of(number)
  local size = math.min(bracket.trials[1], planned - first + 1)
  local members, promoted, pruned = {}, {}, {}
  for i = 1, size do
    members[i] = trials[first + i - 1]
    if not members[i] then return promoted, pruned end
  end
  for rung = 1, #bracket.resources - 1 do
    local best = best_at(self, members, rung, bracket.resources[rung], going_on(self, size, rung), is_final)
    if not best then break end
    local goes_on = {}
    for _, trial in ipairs(best) do
      goes_on[trial.number] = true
      if trial.state == "paused" and self:passed(trial) == rung then promoted[#promoted + 1] = trial end
    end
    for _, trial in ipairs(members) do
      if trial.state == "paused" and not goes_on[trial.number] then pruned[#pruned + 1] = trial end
    end
    members = best
  end
  return promoted, pruned
end

return M
