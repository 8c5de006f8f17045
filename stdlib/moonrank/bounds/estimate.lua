-- Estimates the values that a metric without closed forms has over all rankings of a list, e.g. a
-- metric that a script defined. It tries all orders if they are few, else random orders with a
-- seed, and gives the standard error. The metric is called for some thousand orders at a time.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local metrics = require "moonrank.metrics.registry"

local M = {}

local most_enumerated = 20000  -- orders
local block = 1 << 20          -- ranks per call of the metric
local nan = 0 / 0

---@class mr.Estimate
---@field min number           least value; all numbers are NaN if the metric is undefined
---@field max number
---@field best number
---@field expectation number
---@field sd number
---@field error number         standard error of the expectation; 0 if all orders were computed
---@field method string        "enumerated" or "sampled"
---@field orders integer       number of orders computed
---@field degenerate boolean   whether the metric has the same value for all of them, up to rounding
---@field distribution? mr.Distribution  nil if the metric is undefined

-- The metric of ranks, where a list's own tensors are.
local function ranked(metric)
  local exact = metrics.on_ranks(metric)
  return function(ranks, lists) return exact(ranks:to(core.device()), lists) end
end

-- Ranks of random orders: f(first, count). With beta, rows are drawn without replacement with weights e^(beta * grade).
local function random_orders(grades, seed, beta)
  if beta == 0 then return function(first, count) return core.random_ranks(#grades, first, count, seed) end end
  local pulls = {}
  for i, y in ipairs(grades) do pulls[i] = beta * y end
  return function(first, count) return core.drawn_ranks(pulls, first, count, seed) end
end

-- The metric's values for all or many orders of rows with these grades, as one tensor, and how they were found.
local function values_of(metric, grades, o)
  local exact = ranked(metric)
  local ranks = o.beta == 0 and core.arrangement_ranks(grades, most_enumerated)
  if ranks then
    local count = #ranks // #grades
    return exact(ranks, core.list_copies(grades, count)), "enumerated", count
  end
  local all, done = {}, 0
  local at_once, orders = math.max(1, block // #grades), random_orders(grades, o.seed, o.beta)
  while done < o.samples do
    core.check_interrupt()
    local count = math.min(at_once, o.samples - done)
    local values = exact(orders(done, count), core.list_copies(grades, count)):totable()
    table.move(values, 1, count, done + 1, all)
    done = done + count
  end
  return core.tensor(all, "float64", "cpu"), "sampled", o.samples
end

-- The values that sorting by grade gives, downwards and upwards: what few random orders come near. And what share of a value may be rounding.
local function sorted_ends(metric, grades)
  local exact, n = ranked(metric), #grades
  local both = {}
  for rank = 1, n do both[rank], both[n + rank] = rank, n + 1 - rank end
  local values = exact(core.tensor(both, "float64", "cpu"), core.list_copies(grades, 2))
  local first, last = table.unpack(values:totable())
  return first, last, values.dtype == "float64" and 1e-12 or 1e-6
end

local function differ(a, b, rounding) return math.abs(a - b) > rounding * math.max(math.abs(a), math.abs(b)) end

---Options of how random orders are drawn.
M.random_options = declare("mr.bounds.RandomOptions", {
  { "seed", "integer", default = 1, help = "seed of the random rankings" },
  { "beta", "number", default = 0,
    help = "how much better than random the rankings are: rows are drawn with probability proportional to e^(beta * grade)" },
})

local estimate_options = declare("mr.bounds.EstimateOptions", {
  { "samples", "number", default = 20000, least = 1, accept = math.tointeger, expected = "an integer of at least 1",
    help = "number of random orders, used if there are more than 20,000 orders or beta is not 0" },
}, M.random_options)

local defaults = estimate_options:read("estimate")
local known = {}  -- estimates by the metric's number, class of grades, and options
local ends = {}   -- whether the values at the sorted ends differ, by the metric's number and class of grades

-- Statistics of a metric's values over orders. Raises if the metric is finite for some orders only.
local function summarised(metric, values, method, orders, first, last, rounding)
  local mean, _, counted, missing = core.summary(values:to("float64"):to("cpu"))
  if counted == 0 then
    return { min = nan, max = nan, best = nan, expectation = nan, sd = nan, error = nan, method = method, orders = orders,
      degenerate = true }
  end
  if missing > 0 or mean - mean ~= 0 or first - first ~= 0 or last - last ~= 0 then
    check.fail("metric '%s' is NaN or infinite for some orders of a list, expected a finite number for each", metric.name)
  end
  local distribution = core.distribution_of(values:to("float64"):to("cpu"), method)
  local e = {
    min = math.min(distribution:min(), first, last), max = math.max(distribution:max(), first, last), expectation = distribution:mean(),
    sd = distribution:sd(), method = method, orders = orders, distribution = distribution,
    error = method == "enumerated" and 0 or distribution:sd() / math.sqrt(orders),
  }
  e.best = metric.minimize and e.min or e.max
  e.degenerate = not differ(e.min, e.max, rounding)
  return e
end

local function of_class(metric, class, options)
  local o = options and estimate_options:read("estimate", options) or defaults
  -- batches come without options: their estimates are found by a number
  local key = options and ("%d %d %d %a"):format(class, o.samples, o.seed, o.beta) or class
  local found = known[metric.number] or {}
  known[metric.number] = found
  if not found[key] then
    local grades = core.grades_of_class(class)
    if #grades == 0 then check.fail("metric '%s': a list without rows has no orders", metric.name) end
    local values, method, orders = values_of(metric, grades, o)
    found[key] = summarised(metric, values, method, orders, sorted_ends(metric, grades))
  end
  return found[key]
end

---@param metric mr.Metric
---@param grades number[]
---@param options? mr.bounds.EstimateOptions
---@return mr.Estimate
function M.of(metric, grades, options) return of_class(metric, core.grade_class(grades), options) end

-- True if the order of rows can change the metric's value for a list with these grades. The two
-- sorted orders decide this for nearly all lists, so they are tried first.
local function matters(metric, class)
  local found = ends[metric.number] or {}
  ends[metric.number] = found
  if found[class] == nil then
    local grades = core.grades_of_class(class)
    local first, last = grades[1], grades[#grades]
    found[class] = first ~= last and (differ(sorted_ends(metric, grades)) or not of_class(metric, class).degenerate)
  end
  return found[class]
end

---Returns for each list true if the order of its rows can change the metric's value.
---@param metric mr.Metric
---@param lists mr.Lists
---@return boolean[]
function M.counts(metric, lists)
  local out = {}
  for l, class in ipairs(core.grade_classes(lists)) do out[l] = matters(metric, class) end
  return out
end

---Returns an estimate for each list with rows, or with `counting` for each list that counts, and false for
---the others.
---@param metric mr.Metric
---@param lists mr.Lists
---@param counting? boolean
---@param options? mr.bounds.EstimateOptions
---@return (mr.Estimate|false)[]
function M.per_list(metric, lists, counting, options)
  local out, found = {}, {}
  for l, class in ipairs(core.grade_classes(lists)) do
    if found[class] == nil then
      local wanted = counting and matters(metric, class) or not counting and #core.grades_of_class(class) > 0
      found[class] = wanted and of_class(metric, class, options)
    end
    out[l] = found[class]
  end
  return out
end

-- A bound that divides by what random orders did not show has no value.
local function seen_spread(metric, estimate)
  if estimate.sd > 0 then return estimate end
  check.fail("metric '%s': %d random orders of a list all gave %g, though not all orders do; too few to learn its distribution from",
    metric.name, estimate.orders, estimate.expectation)
end

---Returns slope and offset of an affine bound that needs statistics, for a list that counts.
---@param metric mr.Metric
---@param line mr.AffineBound
---@param estimate mr.Estimate
---@return number slope, number offset
function M.affine(metric, line, estimate)
  local e = line.needs == "range" and estimate or seen_spread(metric, estimate)
  return core.affine_numbers(line, e.min, e.max, e.best, e.expectation, e.sd)
end

---Computes the bounded value of every list under its estimated distribution, like
---mr.bounds.distribution_bound.
---@param score mr.Tensor
---@param metric mr.Metric
---@param lists mr.Lists
---@param spec mr.DistributionSpec
---@param options? mr.bounds.EstimateOptions
---@return mr.Tensor
function M.distribution_bound(score, metric, lists, spec, options)
  local groups, order = {}, {}
  for l, estimate in ipairs(M.per_list(metric, lists, true, options)) do
    if estimate then
      if not groups[estimate] then
        groups[estimate] = {}
        order[#order + 1] = seen_spread(metric, estimate)
      end
      table.insert(groups[estimate], l)
    end
  end
  local value = score * 0
  for _, estimate in ipairs(order) do
    local rows = core.tensor(groups[estimate], "int64", "cpu"):to(score.device)
    local part = core.distribution_bound_of(score:rows(rows), estimate.distribution, spec, metric.minimize)
    value = value + core.put_rows(part, rows, #score)
  end
  return value
end

return M
