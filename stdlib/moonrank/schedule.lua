-- Schedules of the learning rate in mr.fit. A schedule multiplies the optimizer's lr by a factor in each step.
-- Factors have identical bits on all processors.
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local record = require "moonrank.record"

local M = {}

---How the learning rate changes during training, for the option `schedule` of mr.fit. mr.schedule has
---functions that make one.
---@class mr.Schedule
---@field name string
---@field options table
local Schedule = check.class("mr.Schedule")

-- Smallest learning rate that a schedule makes by repeated multiplication: the smallest normal float32. Smaller
-- rates would lose digits and end at 0.
local least_rate = 0x1p-126

---@class mr.schedule.Plan
---@field lr? number         the optimizer's own learning rate (default 1)
---@field steps integer      number of steps of the whole training
---@field per_epoch integer  number of steps of an epoch
---@field metric? mr.Metric|false  metric that selects the epoch; false if there is no validation

-- Makes a schedule object. `by_total` says whether its factors depend on the number of steps of the whole training.
local function schedule(name, options, begin, by_total)
  return setmetatable({ name = name, options = options, _begin = begin, _by_total = by_total }, Schedule)
end

function Schedule:__tostring() return ("%s{%s}"):format(self.name, record.fields(self.options)) end

---Starts the schedule for one training. Returns a table with two functions: `factor(step)` returns
---the factor by which the optimizer's lr is multiplied in a step, counted from 1. `see(entry)` has
---to be called after every epoch, with the epoch's results.
---@param plan mr.schedule.Plan
---@return { factor: fun(step: integer): number, see: fun(entry: mr.Epoch) }
function Schedule:begin(plan)
  local made = self._begin(self.options, plan)
  made.see = made.see or function() end
  return made
end

local rates_options = declare("mr.schedule.RatesOptions", {
  { "steps", "integer", required = true, least = 1, help = "number of steps of the whole training" },
  { "per_epoch", "integer", required = true, least = 1, help = "number of steps of an epoch" },
})

local check_rates = arguments{ "lr", "number" }

---Returns the learning rate of each step of a training, for an optimizer with the learning rate
---`lr`. Changes that depend on validation results are not included.
---@param lr number
---@param plan mr.schedule.RatesOptions
---@return number[]
---Example: `mr.schedule.step{every = 1, factor = 0.5}:rates(8, {steps = 6, per_epoch = 2})[5]   --> 2.0`
function Schedule:rates(lr, plan)
  check_rates("schedule:rates", lr)
  local o = rates_options:read("schedule:rates", plan)
  local made, rates = self:begin{ lr = lr, steps = o.steps, per_epoch = o.per_epoch }, {}
  for step = 1, o.steps do rates[step] = lr * made.factor(step) end
  return rates
end

-- Computes cos(pi x) for x from 0 to 1 by arithmetic only, because the C library's cosine differs between systems.
local function cos_pi(x)
  if x > 0.5 then return -cos_pi(1 - x) end
  local square, sum, term = (math.pi * x) * (math.pi * x), 1.0, 1.0
  for k = 1, 12 do
    term = -term * square / ((2 * k - 1) * (2 * k))
    sum = sum + term
  end
  return sum
end

-- Returns true if lr times the factor is still large enough for optimizer steps.
local function is_usable(plan, factor) return (plan.lr or 1) * factor >= least_rate end

local cosine_options = declare("mr.schedule.CosineOptions", {
  { "low", "number", default = 0, least = 0, most = 1, help = "factor of lr at the end" },
  { "epochs", "integer", least = 1, shown = "the whole training", help = "epochs until lr has its lowest value" },
})

---Makes a cosine annealing schedule (Loshchilov & Hutter 2017, eq. 5, without restarts). After t of
---T steps, lr is multiplied by low + (1 - low) (1 + cos(pi t / T)) / 2. T is the number of steps in
---`epochs` epochs, or in the whole training if `epochs` is left out. After `epochs`, the factor
---stays at `low`; if `low` is 0, a longer training is an error.
---@param options? mr.schedule.CosineOptions
---@return mr.Schedule
---Example: `mr.schedule.cosine{low = 0.1}:rates(1, {steps = 4, per_epoch = 2})[3]   --> 0.55`
function M.cosine(options)
  local where = "mr.schedule.cosine"
  local o = cosine_options:read(where, options)
  return schedule("cosine", o, function(at, plan)
    local whole = at.epochs and at.epochs * plan.per_epoch or plan.steps
    if at.low == 0 and whole < plan.steps then
      check.fail("%s: low (the last factor of the learning rate) is 0, but training is longer than epochs. "
        .. "Pass low above 0, or leave out epochs", where)
    end
    return { factor = function(step)
      if step > whole then return at.low end
      return at.low + (1 - at.low) * 0.5 * (1 + cos_pi((step - 1) / whole))
    end }
  end, o.epochs == nil)
end

local step_options = declare("mr.schedule.StepOptions", {
  { "every", "integer", least = 1, required = true, also = { "step_size" },
    help = "number of epochs between changes" },
  { "factor", "number", default = 0.1, above = 0, most = 1, also = { "gamma" }, help = "factor of each change" },
})

---Makes a schedule that multiplies the learning rate (lr) by `factor` after every `every` epochs.
---It stops before lr would fall below 2^-126, the smallest normal float32.
---@param options mr.schedule.StepOptions
---@return mr.Schedule
---Example: `mr.schedule.step{every = 10}   --> step{every = 10, factor = 0.1}`
function M.step(options)
  local o = step_options:read("mr.schedule.step", options)
  return schedule("step", o, function(at, plan)
    return { factor = function(step)
      local factor = 1.0
      for _ = 1, (step - 1) // (plan.per_epoch * at.every) do
        if at.factor == 1 or not is_usable(plan, factor * at.factor) then break end
        factor = factor * at.factor
      end
      return factor
    end }
  end, false)
end

local warmup_options = declare("mr.schedule.WarmupOptions", {
  { "steps", "integer", least = 1, excludes = { epochs = true }, required_without = "epochs",
    help = "length of the warmup in steps" },
  { "epochs", "integer", least = 1, help = "length of the warmup in epochs" },
  { "after", "mr.Schedule", class = "mr.Schedule", expected = "a schedule, such as mr.schedule.cosine{}",
    shown = "lr stays constant", help = "schedule that follows the warmup" },
})

---Makes a warmup schedule: lr rises linearly from lr / n in the first step to lr in step n, for a
---warmup of n steps. Then lr stays constant, or the schedule `after` begins: step n + 1 is its
---first step.
---@param options mr.schedule.WarmupOptions
---@return mr.Schedule
---Example:
---local warmup = mr.schedule.warmup{steps = 4, after = mr.schedule.step{every = 1}}
---warmup:rates(1, {steps = 9, per_epoch = 3})[8]   --> 0.1
function M.warmup(options)
  local where = "mr.schedule.warmup"
  local o = warmup_options:read(where, options)
  return schedule("warmup", o, function(at, plan)
    local n = at.steps or at.epochs * plan.per_epoch
    local rest = { lr = plan.lr, steps = math.max(1, plan.steps - n), per_epoch = plan.per_epoch, metric = plan.metric }
    local after = at.after and at.after:begin(rest) or { factor = function() return 1.0 end }
    return { factor = function(step) return step <= n and step / n or after.factor(step - n) end, see = after.see }
  end, o.after ~= nil and o.after._by_total)
end

local plateau_options = declare("mr.schedule.PlateauOptions", {
  { "factor", "number", default = 0.1, above = 0, most = 1, help = "factor of each change" },
  { "patience", "integer", default = 10, least = 0,
    help = "number of validations without improvement that are allowed before a change" },
  { "low", "number", default = 0, least = 0, most = 1, help = "smallest factor of lr" },
})

---Makes a schedule that multiplies the learning rate (lr) by `factor` on a plateau: when the first
---metric of mr.fit's option `select` has not improved on validation for more than `patience`
---validated epochs. The count of epochs then begins again. lr does not fall below `low` times its
---first value, and does not change if it would fall below 2^-126, the smallest normal float32.
---Training without validation data is an error.
---@param options? mr.schedule.PlateauOptions
---@return mr.Schedule
---Example: `mr.schedule.plateau{patience = 3}   --> plateau{factor = 0.1, low = 0, patience = 3}`
function M.plateau(options)
  local where = "mr.schedule.plateau"
  local o = plateau_options:read(where, options)
  return schedule("plateau", o, function(at, plan)
    if plan.metric == false then check.fail("%s: the training has no validation. Pass valid to mr.fit", where) end
    local factor, best, bad = 1.0, nil, 0
    return {
      factor = function() return factor end,
      see = function(entry)
        local value = entry.metrics[plan.metric.name]
        if value == nil then return end
        if plan.metric:better(value, best) then
          best, bad = value, 0
        else
          bad = bad + 1
        end
        if bad > at.patience then
          local lowered = math.max(at.low, factor * at.factor)
          factor, bad = is_usable(plan, lowered) and lowered or factor, 0
        end
      end,
    }
  end, false)
end

return M
