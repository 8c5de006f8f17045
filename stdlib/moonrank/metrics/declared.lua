-- Metrics that a script declares by a gain of the grade and a discount of the rank. Computes their values, and the
-- gains, discounts and norms that LambdaRank needs.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

local declared_options = declare("mr.metrics.Declared", {
  { "gain", "fun(grade: number): number", required = true, help = "gain of a row of this grade" },
  { "discount", "fun(rank: number): number", required = true,
    help = "factor of the gain at a rank, from 1; tied rows also need it at ranks halfway between integers" },
  { "ideal", "boolean", default = false, help = "whether the sum is divided by the sum for the ranking by gain" },
})

local function number_of(name, what, f, x)
  local value = f(x)
  if check.is_finite(value) then return value end
  check.expect(false, "metric " .. name, ("%s(%g)"):format(what, x), value, "a finite number")
end

---Makes the functions of a declared metric. `values(ranks, lists)` gives one value per list. `tables(lists)` gives what
---LambdaRank needs, in float64: gains of rows, discounts of the ranks 1, 3/2, 2, ..., and norms of lists.
---@return { values: function, tables: fun(lists: mr.Lists): mr.Tensor, mr.Tensor, mr.Tensor }
function M.made(name, definition)
  local o = declared_options:read("mr.metrics.define", definition)
  local known = {}  -- discounts computed so far; known[k] is the discount of rank (k + 1) / 2

  local function discounts(longest)
    for k = #known + 1, math.max(1, 2 * longest - 1) do
      known[k] = number_of(name, "discount", o.discount, (k + 1) / 2)
    end
    return core.tensor(known, "float64", "cpu")
  end
  local function gains(lists)
    local grades = core.grades(lists)
    for i, grade in ipairs(grades) do grades[i] = number_of(name, "gain", o.gain, grade) end
    return core.values_of_grades(lists, grades)
  end
  local function sums(gain, discount, ranks, lists)
    return lists:sum(gain * discount:rows((ranks * 2 - 1):to("int64")))
  end
  local function tables(lists)
    local longest = lists.count > 0 and math.tointeger(lists.sizes:double():max():item()) or 0
    local gain, discount = gains(lists), discounts(longest)
    if not o.ideal then return gain, discount, core.full({ lists.count }, 1, "float64", "cpu") end
    local best = sums(gain, discount, core.ranks(core.ranking(gain, lists, "stable", 1)), lists)
    return gain, discount, best + best:eq(0)  -- a list whose gains are all 0 gets the norm 1, to avoid 0/0
  end

  local function values(ranks, lists)
    local gain, discount, norm = tables(lists)
    local function on(x) return x:to(ranks.device) end
    return (sums(on(gain), on(discount), ranks:double(), lists) / on(norm)):to(ranks.dtype)
  end
  return { values = values, tables = tables }
end

return M
