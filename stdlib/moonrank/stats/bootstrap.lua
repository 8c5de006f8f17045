-- mr.stats.bootstrap computes bootstrap intervals of a mean, a median, or a statistic that a function computes.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local record = require("moonrank.record").new
local input = require "moonrank.stats.input"

local where = "mr.stats.bootstrap"

local bootstrap_options = declare("mr.stats.BootstrapOptions", {
  { "statistic", "string|fun(x: mr.Tensor, b?: mr.Tensor): number", default = "mean", choices = { "mean", "median" },
    help = "estimated statistic; for pairs, mean and median are those of a - b, and a function gets both tensors" },
  { "samples", "integer", default = 10000, least = 2, most = input.most_draws, help = "samples with replacement" },
  { "method", "string", default = "percentile", choices = { "percentile", "bca" },
    help = "percentiles of the samples, or percentiles corrected for bias and acceleration (bca)" },
  { "seed", "integer", default = 1, help = "seed of the samples" },
}, input.level_options)

-- Returns the values as one tensor, or pairs as two, without NaN, and how many values or pairs were left out.
local function values_of(x)
  if type(x) ~= "table" or type(x[1]) == "number" or #x == 0 then
    local values, skipped = core.without_nan(input.moderate(where, "x", x))
    return { values }, skipped
  end
  check.expect(#x == 2, where, "x", x, "a table of numbers, a tensor, or a pair {a, b} of such tables or tensors")
  local a, b, skipped = core.complete_pairs(input.moderate(where, "a", x[1]), input.moderate(where, "b", x[2]))
  return { a, b }, skipped
end

-- Returns the number that the script's function f computes from the values (one tensor, or two for pairs). With `draw`,
-- f gets the tensors that `draw` returns for them.
local function value_of(f, columns, draw)
  local drawn = {}
  for i, column in ipairs(columns) do drawn[i] = draw and draw(column) or column end
  local value = f(table.unpack(drawn))
  if type(value) == "userdata" then
    local entries = core.numbers(value)
    check.length(where, "the result of statistic", #entries, 1, "a number")
    value = entries[1]
  end
  return check.expect(type(value) == "number", where, "the result of statistic", value, "a number")
end

-- Returns the script's statistic of all rows, of each sample, and (for "bca") of all rows but one, for each row.
local function by_function(f, columns, o)
  local samples, without = {}, {}
  local estimate = value_of(f, columns)
  for s = 1, o.samples do
    samples[s] = value_of(f, columns, function(x) return core.bootstrap_sample(x, s - 1, o.seed) end)
  end
  if o.method == "bca" then
    for i = 1, #columns[1] do without[i] = value_of(f, columns, function(x) return core.leave_out(x, i) end) end
  end
  return estimate, core.tensor(samples, "float64", "cpu"), core.tensor(without, "float64", "cpu")
end

return function(x, options)
  local o = bootstrap_options:read(where, options)
  local columns, skipped = values_of(x)
  local n, estimate, samples, without = #columns[1]
  if n == 0 then
    local nan = 0 / 0
    return record("bootstrap", { estimate = nan, low = nan, high = nan, error = nan, n = 0, skipped = skipped })
  end
  if type(o.statistic) == "function" then
    estimate, samples, without = by_function(o.statistic, columns, o)
  else
    local values = #columns == 2 and columns[1] - columns[2] or columns[1]
    estimate, samples, without = core.bootstrap(values, o.statistic, o.samples, o.seed)
  end
  if o.method == "percentile" then without = core.tensor({}, "float64", "cpu") end
  local low, high, err = core.bootstrap_interval(samples, estimate, without, o.level)
  -- if the script's statistic is NaN when one of the values is left out, the acceleration is not known
  if type(o.statistic) == "function" and without:isnan():double():sum():item() > 0 then low, high = 0 / 0, 0 / 0 end
  return record("bootstrap", { estimate = estimate, low = low, high = high, error = err, n = n, skipped = skipped })
end
