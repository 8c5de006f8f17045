-- Estimates statistics over all rankings of a list, for metrics without closed forms, such as metrics of scripts.
-- The metric is computed for all orders of the rows if there are few, else for random orders. Bounds, losses and
-- evaluations call the functions of this module that mr.bounds.Source declares.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local metrics = require "moonrank.metrics.registry"

local M = {
  kind = "estimate",
  words = "estimated from orders of each list (mr.bounds.of)",
  -- numbers of relevant rows that mr.bounds.check tries; not more than 20, because every order of a list costs a pass
  -- over its rows
  relevant = { 1, 2, 5, 20 },
}

local most_enumerated = 20000  -- largest number of orders that are all computed; beyond it, random orders are drawn
local block = 1 << 20  -- orders of a list are computed together, in one call of the metric, up to this many ranks
local most_rows = 1000000  -- limit of the option `n`, for a list that is given by n and p instead of grades
local nan = 0 / 0

---Statistics of a metric over all or random orders of one list's rows.
---@class mr.Estimate
---@field min number           least value; all numbers are NaN if the metric is undefined
---@field max number
---@field best number
---@field expectation number
---@field sd number
---@field error number         standard error of the expectation; 0 if all orders were computed
---@field method string        "enumerated" or "sampled"
---@field orders integer       number of orders computed
---@field degenerate boolean   whether all computed orders have the same value, up to rounding
---@field distribution? mr.Distribution  nil if the metric is undefined

-- Returns the metric as a function of ranks and lists, which moves ranks to the default device.
local function ranked(metric)
  local exact = metrics.on_ranks(metric)
  return function(ranks, lists) return exact(ranks:to(core.device()), lists) end
end

-- Returns a function of (first, count) that gives the ranks of `count` random orders of the rows, beginning with
-- order number `first`. If beta is not 0, rows are drawn without replacement with weights e^(beta * grade).
local function random_orders(grades, seed, beta)
  if beta == 0 then return function(first, count) return core.random_ranks(#grades, first, count, seed) end end
  local pulls = {}
  for i, y in ipairs(grades) do pulls[i] = beta * y end
  return function(first, count) return core.drawn_ranks(pulls, first, count, seed) end
end

-- Computes the metric for orders of rows with these grades: all orders if there are few and beta is 0, else random
-- ones. Returns the values, "enumerated" or "sampled", and the number of orders.
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

-- Returns the metric's values for the orders by descending and by ascending grade, which random orders seldom
-- reach. The third result is the relative rounding error of such values.
local function sorted_ends(metric, grades)
  local exact, n = ranked(metric), #grades
  local both = {}
  for rank = 1, n do both[rank], both[n + rank] = rank, n + 1 - rank end
  local values = exact(core.tensor(both, "float64", "cpu"), core.list_copies(grades, 2))
  local first, last = table.unpack(values:totable())
  return first, last, values.dtype == "float64" and 1e-12 or 1e-6
end

local function differ(a, b, rounding) return math.abs(a - b) > rounding * math.max(math.abs(a), math.abs(b)) end

---Declares the options of random orders of a list's rows.
M.random_options = declare("mr.bounds.RandomOptions", {
  { "seed", "integer", default = 1, help = "seed of the random rankings" },
  { "beta", "number", default = 0,
    help = "how much better than random the rankings are: rows are drawn with probability proportional to "
      .. "e^(beta * grade)" },
})

local estimate_options = declare("mr.bounds.EstimateOptions", {
  { "samples", "number", default = 20000, least = 1, accept = math.tointeger, expected = "an integer of at least 1",
    help = "number of random orders, used if there are more than 20,000 orders or beta is not 0" },
}, M.random_options)

local defaults = estimate_options:read("estimate")
-- Cache of estimates: known[number of the metric][class of grades]. Lists with equal grades in any order have the same
-- class (a number). If an estimate has options, its key is the class followed by the options.
local known = {}
local ends = {}  -- ends[number of the metric][class of grades]: whether an order of the rows can change the metric

-- Returns statistics of a metric's values over orders of a list. Raises an error if the metric is finite
-- for some orders only.
local function summarised(metric, values, method, orders, first, last, rounding)
  local mean, _, counted, missing = core.summary(values:to("float64"):to("cpu"))
  if counted == 0 then
    return { min = nan, max = nan, best = nan, expectation = nan, sd = nan, error = nan, method = method,
      orders = orders, degenerate = true }
  end
  if missing > 0 or mean - mean ~= 0 or first - first ~= 0 or last - last ~= 0 then
    check.fail("metric '%s' is NaN or infinite for some orders of a list, expected a finite number for every order",
      metric.name)
  end
  local distribution = core.distribution_of(values:to("float64"):to("cpu"), method)
  local e = {
    min = math.min(distribution:min(), first, last), max = math.max(distribution:max(), first, last),
    expectation = distribution:mean(), sd = distribution:sd(), method = method, orders = orders,
    distribution = distribution, error = method == "enumerated" and 0 or distribution:sd() / math.sqrt(orders),
  }
  e.best = metric.minimize and e.min or e.max
  e.degenerate = not differ(e.min, e.max, rounding)
  return e
end

local function of_class(metric, class, options)
  local o = options and estimate_options:read("estimate", options) or defaults
  -- Estimates for a batch have no options. Their key in the cache is then the number of the class of grades alone,
  -- because looking up a number is faster than looking up a text.
  local key = options and ("%d %d %d %a"):format(class, o.samples, o.seed, o.beta) or class
  local found = known[metric.number] or {}
  known[metric.number] = found
  if not found[key] then
    local grades = core.grades_of_class(class)
    if #grades == 0 then check.fail("metric '%s' cannot be estimated for a list without rows", metric.name) end
    local values, method, orders = values_of(metric, grades, o)
    found[key] = summarised(metric, values, method, orders, sorted_ends(metric, grades))
  end
  return found[key]
end

---Estimates statistics of a metric over all rankings of one list whose rows have the given grades. No grade at all is
---an error. The result is cached.
---@param grades number[]  in any order
---@param options? mr.bounds.EstimateOptions
---@return mr.Estimate
function M.of(metric, grades, options) return of_class(metric, core.grade_class(grades), options) end

-- Returns true if the order of rows can change the metric for lists of this class of grades. The two orders sorted
-- by grade are compared first, because for nearly all lists they already differ.
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

-- Returns one estimate per list. Lists with equal grades in any order have the same class (a number) and share one
-- estimate. A list for which `wanted(class)` is false gets false instead.
local function per_list(metric, lists, wanted, options)
  local out, found = {}, {}
  for l, class in ipairs(core.grade_classes(lists)) do
    if found[class] == nil then found[class] = wanted(class) and of_class(metric, class, options) end
    out[l] = found[class]
  end
  return out
end

local function per_counted_list(metric, lists, options)
  return per_list(metric, lists, function(class) return matters(metric, class) end, options)
end

-- The functions below implement the interface mr.bounds.Source (list_stats.lua).

function M.weights(metric, lists, dtype, device)
  local weights = {}
  for l, class in ipairs(core.grade_classes(lists)) do weights[l] = matters(metric, class) and 1 or 0 end
  return core.tensor(weights, dtype, device)
end

function M.counted(metric, lists, device)
  local numbers = {}
  for l, class in ipairs(core.grade_classes(lists)) do
    if matters(metric, class) then numbers[#numbers + 1] = l end
  end
  return core.tensor(numbers, "int64", device)
end

function M.count(metric, lists) return #M.counted(metric, lists, "cpu") end

function M.table(metric, lists, dtype, device)
  local columns = {}
  local found = per_list(metric, lists, function(class) return #core.grades_of_class(class) > 0 end)
  for _, name in ipairs{ "min", "max", "best", "expectation", "sd" } do
    local column = {}
    for l, e in ipairs(found) do column[l] = e and e[name] or nan end
    columns[name] = core.tensor(column, dtype, device)
  end
  return columns
end

-- Returns the estimate of a metric's statistics unchanged. Raises an error if the metric had the same value for all
-- random orders, because bounds that divide by the spread of the values are then undefined.
local function with_spread(metric, estimate)
  if estimate.sd > 0 then return estimate end
  check.fail("metric '%s': its distribution cannot be estimated. All of %d random orders of a list gave %g, "
    .. "though other orders give other values", metric.name, estimate.orders, estimate.expectation)
end

function M.affine(metric, lists, line, dtype, device)
  if line.needs == "nothing" then
    return M.weights(metric, lists, dtype, device), core.full({ lists.count }, 0, dtype, device)
  end
  local slope, offset = {}, {}
  for l, e in ipairs(per_counted_list(metric, lists)) do
    slope[l], offset[l] = 0, 0
    if e then
      if line.needs ~= "range" then with_spread(metric, e) end
      slope[l], offset[l] = core.affine_numbers(line, e.min, e.max, e.best, e.expectation, e.sd)
    end
  end
  return core.tensor(slope, dtype, device), core.tensor(offset, dtype, device)
end

function M.bounded(metric, lists, line, score)
  local slope, offset = M.affine(metric, lists, line, score.dtype, score.device)
  return score * slope + offset
end

function M.distribution_bound(metric, lists, o, spec, score, numbers)
  -- Lists with equal grades share one estimate. `groups` maps an estimate to the positions of its scores in `score`;
  -- `order` has the estimates in order of first use.
  local groups, order = {}, {}
  local found = per_counted_list(metric, lists, o.beta ~= 0 and { beta = o.beta } or nil)
  local list_of = numbers and core.integers(numbers:to("cpu"))
  for l = 1, #score do
    local e = found[list_of and list_of[l] or l]
    if e then
      if not groups[e] then
        groups[e] = {}
        order[#order + 1] = with_spread(metric, e)
      end
      table.insert(groups[e], l)
    end
  end
  local value = score * 0
  for _, e in ipairs(order) do
    local rows = core.tensor(groups[e], "int64", "cpu"):to(score.device)
    local part = core.distribution_bound_of(core.distinct_rows(score, rows), e.distribution, spec, metric.minimize)
    value = value + core.put_rows(part, rows, #score)
  end
  return value
end

-- Returns the grades that the script gave, or p grades of 1 and n - p grades of 0.
local function grades_of(where, o)
  if #o.grades > 0 then return o.grades end
  check.expect(o.n and o.n <= most_rows, where, "n", o.n, "an integer from 1 to %d, or grades instead", most_rows)
  check.expect(o.p and o.p <= o.n, where, "p", o.p, "an integer from 0 to n, which is %d", o.n)
  local grades = {}
  for i = 1, o.n do grades[i] = i <= o.p and 1 or 0 end
  return grades
end

function M.numbers(metric, shape) return M.of(metric, grades_of("mr.bounds.of", shape)) end

function M.distribution(metric, o, given)
  local where = "mr.bounds.distribution"
  local found = M.of(metric, grades_of(where, o), { samples = given.samples, seed = o.seed, beta = o.beta })
  if not found.distribution then
    check.fail("%s: metric '%s' is undefined for every order of a list with these grades. Pass another n (number of "
      .. "rows), another p (number of relevant rows) or other grades", where, metric.name)
  end
  check.expect(o.method ~= "exact" or found.method == "enumerated", where, "method", o.method, "'auto' or 'sampled', "
    .. "because the grades have more than 20,000 orders, or beta is not 0, and metric '%s' has no closed form",
    metric.name)
  return found.distribution
end

return M
