-- What a metric without closed forms can be over all rankings of a list, e.g. one that a script defined: from all orders where they are few,
-- else from random ones, seeded, with the error that this leaves. The metric is called for some thousand orders at a time.
local core = require "moonrank.core"
local check = require "moonrank.check"
local metric = require "moonrank.metric"

local M = {}

local most_enumerated = 20000  -- orders
local block = 1 << 20          -- ranks per call of the metric

---Whether a metric's values over all rankings have to be estimated: it is known, and has no closed forms.
---@param name string
---@return boolean
function M.handles(name)
  local base = type(name) == "string" and name:match("^[%a_][%w_]*")
  return base and not core.has_closed_forms(base) and metric.known(base) or false
end

---@class mr.Estimate
---@field min number
---@field max number
---@field best number
---@field expectation number
---@field sd number
---@field error number         standard error of the expectation; 0 where all orders were seen
---@field method string        "enumerated" or "sampled"
---@field orders integer       how many were seen
---@field distribution mr.Distribution

-- Where a list's own tensors are, which the metric's function may mix with the ranks.
local function on_default_device(f)
  return function(ranks, lists) return f(ranks:to(core.device()), lists) end
end

-- Ranks of random orders: f(first, count). With beta, rows are drawn without replacement with weights e^(beta * grade).
local function random_orders(grades, seed, beta)
  if beta == 0 then return function(first, count) return core.random_ranks(#grades, first, count, seed) end end
  local pulls = {}
  for i, y in ipairs(grades) do pulls[i] = beta * y end
  return function(first, count) return core.drawn_ranks(pulls, first, count, seed) end
end

-- The metric's values for all or many orders of rows with these grades, as one tensor, and how they were found.
local function values_of(name, grades, samples, seed, beta)
  local exact = on_default_device(metric.on_ranks(name))
  local ranks = beta == 0 and core.arrangement_ranks(grades, most_enumerated)
  if ranks then
    local count = #ranks // math.max(1, #grades)
    return exact(ranks, core.list_copies(grades, count)), "enumerated", count
  end
  local all, done = {}, 0
  local at_once, orders = math.max(1, block // #grades), random_orders(grades, seed, beta)
  while done < samples do
    core.check_interrupt()
    local count = math.min(at_once, samples - done)
    local values = exact(orders(done, count), core.list_copies(grades, count)):totable()
    table.move(values, 1, count, done + 1, all)
    done = done + count
  end
  return core.tensor(all, "float64", "cpu"), "sampled", samples
end

-- The best and the worst that sorting by grade gives: what few random orders come near.
local function sorted_ends(name, grades)
  local exact, n = on_default_device(metric.on_ranks(name)), #grades
  local order = {}
  for i = 1, n do order[i] = i end
  table.sort(order, function(a, b)
    if grades[a] ~= grades[b] then return grades[a] > grades[b] end
    return a < b
  end)
  local down, up = {}, {}
  for rank, i in ipairs(order) do down[i], up[i] = rank, n + 1 - rank end
  local function value(ranks) return exact(core.tensor(ranks, "float64", "cpu"), core.list_copies(grades, 1)):item() end
  return value(down), value(up)
end

local known = {}  -- estimates by metric, grades, samples and seed

---Forgets what is known of a metric that is defined anew.
---@param name string
function M.forget(name) known[name] = nil end

---@param name string
---@param grades number[]
---@param options? { samples?: integer, seed?: integer, beta?: number }  random orders where there are more than 20,000, or beta is not 0 (default
---   20000), their seed (1), and beta of mr.bounds.distribution (0)
---@return mr.Estimate
function M.of(name, grades, options)
  local o = check.options("estimate", options, { samples = 20000, seed = 1, beta = 0 })
  local sorted = { table.unpack(grades) }
  table.sort(sorted, function(a, b) return a > b end)
  local key = ("%s %d %d %a"):format(table.concat(sorted, " "), o.samples, o.seed, o.beta)
  known[name] = known[name] or {}
  if known[name][key] then return known[name][key] end
  local values, method, orders = values_of(name, sorted, o.samples, o.seed, o.beta)
  local distribution = core.distribution_of(values:to("float64"):to("cpu"))
  local best, worst = sorted_ends(name, sorted)
  local estimate = {
    min = math.min(distribution:min(), best, worst), max = math.max(distribution:max(), best, worst), expectation = distribution:mean(),
    sd = distribution:sd(), method = method, orders = orders, distribution = distribution,
    error = method == "enumerated" and 0 or distribution:sd() / math.sqrt(orders),
  }
  estimate.best = metric.minimizes(name) and estimate.min or estimate.max
  known[name][key] = estimate
  return estimate
end

-- Grades of every list, and whether an ordering can matter.
local function grades_of(lists)
  local all, sizes, at, out = lists.relevance:to("cpu"):totable(), lists.sizes:totable(), 0, {}
  for l, n in ipairs(sizes) do
    local grades, differ = {}, false
    for i = 1, math.tointeger(n) do
      grades[i] = all[at + i]
      differ = differ or grades[i] ~= grades[1]
    end
    at = at + math.tointeger(n)
    out[l] = { grades = grades, counts = differ }
  end
  return out
end

---Estimates for all lists that count; false for the others.
---@param name string
---@param lists mr.Lists
---@param options? { samples?: integer, seed?: integer, beta?: number }
---@return (mr.Estimate|false)[]
function M.per_list(name, lists, options)
  local out = {}
  for l, list in ipairs(grades_of(lists)) do out[l] = list.counts and M.of(name, list.grades, options) end
  return out
end

---The bounded value of every list under its estimated distribution, as mr.bounds.distribution_bound.
---@param score mr.Tensor
---@param name string
---@param lists mr.Lists
---@param form string
---@param gain string
---@param amount number
---@param options? { samples?: integer, seed?: integer, beta?: number }
---@return mr.Tensor
function M.distribution_bound(score, name, lists, form, gain, amount, options)
  local groups, order = {}, {}
  for l, estimate in ipairs(M.per_list(name, lists, options)) do
    if estimate then
      if not groups[estimate] then
        groups[estimate] = {}
        order[#order + 1] = estimate
      end
      table.insert(groups[estimate], l)
    end
  end
  local value = core.full({ #score }, 0, score.dtype, score.device)
  for _, estimate in ipairs(order) do
    local rows = core.tensor(groups[estimate], "int64", "cpu"):to(score.device)
    local part = core.distribution_bound_of(score:rows(rows), estimate.distribution, form, metric.minimizes(name), gain, amount)
    value = value + core.put_rows(part, rows, #score)
  end
  return value
end

return M
