-- Comparisons of the values of one parameter: trials that agree in all others are pairs, every two values are tested, p values are corrected.
local check = require "moonrank.check"
local choose = require "moonrank.results.choose"
local frame = require "moonrank.sweep.frame"
local pivot = require "moonrank.results.pivot"
local make_table = require("moonrank.table").new

local M = {}

-- p values corrected for their number.
local corrections = {}

function corrections.none(p) return p end

function corrections.bonferroni(p)
  local out, tests_made = {}, 0
  for _, each in ipairs(p) do tests_made = tests_made + (each == each and 1 or 0) end
  for i, each in ipairs(p) do out[i] = each == each and math.min(1, each * tests_made) or each end
  return out
end

function corrections.holm(p) return require("moonrank.stats").holm(p) end

local tests = {
  wilcoxon = function(a, b) return require("moonrank.stats").wilcoxon(a, b).p end,
  paired_t = function(a, b) return require("moonrank.stats").paired_t(a, b).p end,
}

-- Rows by the values of the other parameters; or, of the combination that is best over some parameters, by these.
local function by_others(results, data, o, rows)
  local found, names = {}, data.params
  if o.over then
    names = pivot.names_of("results:compare", "over", o.over)
    rows = choose.rows(data, { o.by }, names, rows, "value", results:sign "value") or {}
  end
  for _, row in ipairs(rows) do
    local others = {}
    for _, name in ipairs(names) do
      if name ~= o.by then others[name] = data:column("results:compare", name)[row] end
    end
    found[frame.to_json(others)] = row
  end
  return found
end

-- The values of two groups, pair by pair: one per trial, or, with `lists`, one per list of each.
local function pairs_of(results, data, o, a, b)
  local x, y, keys = {}, {}, {}
  for key in pairs(a) do
    if b[key] then keys[#keys + 1] = key end
  end
  table.sort(keys)
  local column, number = data:column("results:compare", o.value), data:column("results:compare", "number")
  for _, key in ipairs(keys) do
    local p, q = a[key], b[key]
    if o.lists then
      local metric = o.value ~= "value" and o.value or nil
      local first, second = results:per_list(number[p], metric):totable(), results:per_list(number[q], metric):totable()
      if #first ~= #second then
        check.fail("results:compare: trial %d has %d lists and trial %d has %d", number[p], #first, number[q], #second)
      end
      table.move(first, 1, #first, #x + 1, x)
      table.move(second, 1, #second, #y + 1, y)
    elseif column[p] and column[q] then
      x[#x + 1], y[#y + 1] = column[p], column[q]
    end
  end
  return x, y
end

local function mean(values)
  local sum, count = 0, 0
  for _, value in ipairs(values) do
    if value == value then sum, count = sum + value, count + 1 end
  end
  return sum / count
end

---The table of comparisons; `o` has by, value, test, correction, lists, over and where.
---@return mr.Table
function M.make(results, o)
  local where = "results:compare"
  local data = results:columns()
  if not o.by then check.fail("%s: by is missing, the parameter whose values are compared", where) end
  check.choice(where, "by", o.by, data.params)
  check.choice(where, "test", o.test, check.names(tests))
  check.choice(where, "correction", o.correction, check.names(corrections))
  local groups = data:groups(where, { o.by }, data:rows(where, o.where))
  if #groups < 2 then check.fail("%s: %s has %d value in the trials, expected two or more", where, o.by, #groups) end
  local rows, p, levels = {}, {}, {}
  for i, group in ipairs(groups) do levels[i] = by_others(results, data, o, group.rows) end
  for i = 1, #groups - 1 do
    for j = i + 1, #groups do
      local x, y = pairs_of(results, data, o, levels[i], levels[j])
      local a, b = groups[i].key[1], groups[j].key[1]
      if #x < 2 then
        check.fail("%s: %s = %s and %s have %d pair of trials that agree in all else, expected two or more", where, o.by, tostring(a),
          tostring(b), #x)
      end
      p[#p + 1] = tests[o.test](x, y)
      rows[#rows + 1] = { a, b, #x, mean(x), mean(y), mean(x) - mean(y), p[#p] }
    end
  end
  local corrected = corrections[o.correction](p)
  for i, row in ipairs(rows) do row[8] = corrected[i] end
  return make_table{ columns = { o.by, "other", "pairs", "mean", "mean of other", "difference", "p", "p corrected" }, rows = rows,
    formats = { ["mean"] = "%.4f", ["mean of other"] = "%.4f", difference = "%+.4f" } }
end

return M
