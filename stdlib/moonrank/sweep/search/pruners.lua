-- Pruners decide whether a trial stops early. A decision depends only on the reports of the trial itself and of trials
-- in earlier generations. The results of a study then do not depend on the number of workers.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local generations = require "moonrank.sweep.search.generations"
local hyperband = require "moonrank.sweep.search.hyperband"

local M = {}

---@class mr.sweep.Progress
---@field number integer                              of the trial
---@field reports { step: integer, value: number }[]  in the order of their steps
---@field state? string                               of an ended trial: "done", "pruned" or "failed"

---@class mr.sweep.Pruner
---@field name string
local Pruner = check.class("mr.sweep.Pruner")

-- Returns a reported value on a scale on which higher is better. NaN is the worst value.
local function score(self, value) return value == value and self._sign * value or -math.huge end

local function last_report(trial) return trial.reports[#trial.reports] end

-- Returns a trial's last report up to a step; nil if the trial did not reach the step.
local function report_at(trial, step)
  local found
  for _, report in ipairs(trial.reports) do
    if report.step <= step then found = report end
  end
  return last_report(trial).step >= step and found or nil
end

---Returns true if a running trial should stop early. The sweep calls it after each report that has the metric.
---@param trial mr.sweep.Progress
---@param others mr.sweep.Progress[]  ended trials; numbers from generation_of(trial.number) on do not count
function Pruner:decide(trial, others)
  if #trial.reports == 0 then return false end
  local seen = {}
  for _, other in ipairs(generations.before(others, self:generation_of(trial.number))) do
    if #other.reports > 0 then seen[#seen + 1] = other end
  end
  return self._decide(self, trial, seen)
end

---Returns the number of the first trial in a trial's generation (consecutive trials that are compared with the same
---earlier trials). All trials with smaller numbers must have ended when the trial starts.
function Pruner:generation_of(number) return generations.first(number, self._options.generation) end

---Returns how many trials a study with this pruner has by default: nil, except for hyperband.
function Pruner.count() end

---Returns the pruner's name and options as text, such as "median(generation = 10, startup = 5)".
function Pruner:describe() return generations.described(self.name, self._options) end

function Pruner:__tostring() return self:describe() end

local function median(values)
  table.sort(values)
  local n = #values
  if n % 2 == 1 then return values[n // 2 + 1] end
  return values[n // 2] / 2 + values[n // 2 + 1] / 2
end

local deciders, declared = {}, {}

local generation_options = declare("mr.sweep.GenerationOptions", {
  { "generation", "integer", least = 1, shown = generations.default_shown,
    help = "number of trials that are compared with the same earlier trials" },
})

local function is_warmup(value) return value == "auto" or math.type(value) == "integer" and value >= 0 end

declared.median = declare("mr.sweep.MedianOptions", {
  { "warmup", 'integer|"auto"', accept = is_warmup, expected = 'an integer of at least 0, or "auto"', default = "auto",
    help = "no decision up to this step; auto: three steps, or a fifth of mr.fit's epochs if that is more" },
  { "startup", "integer", default = 5, least = 1, help = "no decision before this many trials have reached the step" },
}, generation_options)

-- The median pruner stops a trial whose best report is worse than the median at the same step (Golovin et al. 2017).
function deciders.median(self, trial, others)
  local o, step = self._options, last_report(trial).step
  local warmup = o.warmup == "auto" and math.max(3, math.ceil((trial.epochs or 0) / 5)) or o.warmup
  if step <= warmup then return false end
  local values = {}
  for _, other in ipairs(others) do
    local report = report_at(other, step)
    if report then values[#values + 1] = score(self, report.value) end
  end
  if #values < o.startup then return false end
  local best = -math.huge
  for _, report in ipairs(trial.reports) do best = math.max(best, score(self, report.value)) end
  return best < median(values)
end

declared.asha = declare("mr.sweep.AshaOptions", {
  { "factor", "integer", default = 3, least = 2, also = { "reduction_factor", "eta" },
    help = "one in `factor` trials is promoted from a rung to the next" },
  { "min_resource", "integer", default = 1, least = 1,
    help = "step of the first rung; later rungs are at factor times, factor^2 times, ... this step" },
}, generation_options)

-- The asha pruner: asynchronous successive halving (Li et al. 2020). At a rung (certain steps), n trials have reported:
-- this trial, and trials of earlier generations. The trial continues if it is the best, or among the best n / factor.
function deciders.asha(self, trial, others)
  local o, step, rung = self._options, last_report(trial).step, self._options.min_resource
  while rung * o.factor <= step do rung = rung * o.factor end
  if step < rung or generations.first_report(trial.reports, rung) ~= last_report(trial) then return false end
  local own, better, count = score(self, last_report(trial).value), 0, 1
  for _, other in ipairs(others) do
    local report = generations.first_report(other.reports, rung)
    if report then
      count = count + 1
      if score(self, report.value) > own then better = better + 1 end
    end
  end
  return better >= math.max(1, count // o.factor)
end

declared.wilcoxon = declare("mr.sweep.WilcoxonOptions", {
  { "p", "number", default = 0.1, above = 0, below = 1, also = { "p_threshold" },
    help = "a trial stops if the one-sided p is below this" },
  { "warmup", "integer", default = 4, least = 2, also = { "n_startup_steps" },
    help = "number of folds that both trials must have; with fewer than 4, p is never below 0.1" },
}, generation_options)

local function mean_score(self, trial)
  local sum = 0
  for _, report in ipairs(trial.reports) do sum = sum + score(self, report.value) end
  return sum / #trial.reports
end

-- The wilcoxon pruner, for trials that report the result of each fold (the step is the fold's number). It stops a trial
-- if its folds are significantly worse than the folds of the best completed trial by the signed-rank test.
function deciders.wilcoxon(self, trial, others)
  local o, best, best_mean = self._options, nil, nil
  for _, other in ipairs(others) do
    local mean = mean_score(self, other)
    if other.state == "done" and (not best or mean > best_mean) then best, best_mean = other, mean end
  end
  if not best then return false end
  local of_best, a, b = {}, {}, {}
  for _, report in ipairs(best.reports) do of_best[report.step] = report.value end
  for _, report in ipairs(trial.reports) do
    local other = of_best[report.step]
    if other then
      a[#a + 1], b[#b + 1] = self._sign * report.value, self._sign * other
    end
  end
  if #a < o.warmup then return false end
  local test = require("moonrank.stats").wilcoxon(a, b)
  return test.n > 0 and test.statistic < test.n * (test.n + 1) / 4 and test.p / 2 < o.p
end

---Returns the names of all pruners, e.g. "median".
function M.names()
  local names = check.names(deciders)
  return table.move({ "hyperband" }, 1, 1, #names + 1, names)
end

---Makes a pruner from its name, or from a table with the name and options: {"median", warmup = 5}.
---@param how string|table
---@param direction? string  "maximize" (default) or "minimize"
---@param defaults? table<string, any>  values of options that `how` leaves out
---Example: `require("moonrank.sweep.search.pruners").make{"hyperband", max_resource = 81}:count()   --> 143`
function M.make(how, direction, defaults)
  local name, options = generations.named(how)
  check.choice("pruner " .. tostring(name), "direction", direction or "maximize", { "maximize", "minimize" })
  local sign = direction == "minimize" and -1 or 1
  if name == "hyperband" then return hyperband.new(options, sign) end
  if not deciders[name] then check.unknown("pruner", name, M.names()) end
  for option in pairs(defaults and declared[name].by_name or {}) do
    if options[option] == nil then options[option] = defaults[option] end
  end
  local o = declared[name]:read("pruner " .. name, options)
  o.generation = o.generation or 10
  return setmetatable({ name = name, _sign = sign, _options = o, _decide = deciders[name] }, Pruner)
end

return M
