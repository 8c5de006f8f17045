-- Makes the lists of many sizes on which mr.bounds.check and mr.bounds.plot evaluate bounds.
local core = require "moonrank.core"
local check = require "moonrank.check"
local scope = require "moonrank.system.scope"
local tensor = require "moonrank.tensor"

local M = {}

local most_rows = 1000000  -- largest number of relevant rows, and of other rows, of a list on which bounds are checked

---Size of a list: n rows, of which p are relevant.
---@class mr.bounds.Size
---@field n integer
---@field p integer
---@field nsr? number  ratio of other rows to relevant rows by which `n` was chosen

---Makes one list per size, with n rows of which the first p have grade 1 and the others grade 0.
---@param sizes mr.bounds.Size[]
---@return mr.Lists
function M.lists(sizes)
  local lists = {}
  for l, size in ipairs(sizes) do
    lists[l] = {}
    for i = 1, size.n do lists[l][i] = i <= size.p and 1 or 0 end
  end
  return tensor.lists(lists)
end

---Returns a list size (numbers of rows and of relevant rows) for every combination of a number in
---`relevant` and a ratio in `nsr` of other rows to relevant rows. The number of other rows is rounded,
---and is at least 1, also at ratio 0.
---@param relevant integer[]  numbers of relevant rows, from 1
---@param nsr number[]        ratios, from 0
---@return mr.bounds.Size[]  all sizes of the first ratio, then of the second, and so on
function M.sizes(relevant, nsr)
  local sizes = {}
  for _, p in ipairs(relevant) do
    check.expect(math.type(p) == "integer" and p > 0 and p <= most_rows, "bounds of lists",
      "a number of relevant rows in the option relevant", p, "an integer from 1 to %d", most_rows)
  end
  for _, ratio in ipairs(nsr) do
    for _, p in ipairs(relevant) do
      check.expect(type(ratio) == "number" and ratio >= 0 and p * ratio <= most_rows, "bounds of lists",
        "a ratio in the option nsr", ratio, "a number from 0 to %d for %d relevant rows", most_rows // p, p)
      sizes[#sizes + 1] = { n = p + math.max(1, math.floor(p * ratio + 0.5)), p = p, nsr = ratio }
    end
  end
  return sizes
end

---Returns the bounded value of every list, and its derivative with respect to the metric's value (0
---if the bounded value does not depend on it).
---@param score number[]  the metric's value of each list, which the bound rescales
---@return number[] values
---@return number[] derivatives
function M.evaluated(bound, metric, lists, score)
  local _ <close> = scope.recording("a bound", true)
  local leaf = core.tensor(score, "float64", "cpu"):requires_grad()
  local bounded = bound.apply(leaf, metric, lists)
  if bounded.tracked then bounded:sum():backward() end
  local none = {}
  for l = 1, #score do none[l] = 0.0 end
  return bounded:totable(), leaf.grad and leaf.grad:totable() or none
end

---Returns a size as text: "(60, 20)" for 60 rows of which 20 are relevant.
function M.name(size) return ("(%d, %d)"):format(size.n, size.p) end

return M
