-- Implements results:compare, which compares the values of one parameter. Trials that agree in all other parameters
-- form a pair. Every two values are tested, and the p-values are corrected for the number of tests.
local better = require "moonrank.results.better"
local check = require "moonrank.check"
local columns = require "moonrank.results.columns"
local choose = require "moonrank.results.choose"
local conventions = require "moonrank.results.conventions"
local frame = require "moonrank.sweep.frame"
local left_out = require "moonrank.results.left_out"
local pivot = require "moonrank.results.pivot"
local repeated = require "moonrank.compare.repeated"
local stats = require "moonrank.stats"
local tested = require "moonrank.compare.tested"
local make_table = require("moonrank.table").new

local M = {}

---Corrections of p-values for the number of tests, by name. Each takes a list of p-values and returns the corrected
---list. A NaN is a test that was not made: it stays NaN and does not count.
local corrections = {}
M.corrections = corrections

function corrections.none(p) return p end

function corrections.bonferroni(p)
  local out, count = {}, 0
  for _, each in ipairs(p) do count = count + (each == each and 1 or 0) end
  for i, each in ipairs(p) do out[i] = each == each and math.min(1, each * count) or each end
  return out
end

function corrections.holm(p) return stats.holm(p) end

---Tests of paired values, by name: fun(a, b) returns the two-sided p-value.
M.tests = {
  wilcoxon = function(a, b) return stats.wilcoxon(a, b).p end,
  paired_t = function(a, b) return stats.paired_t(a, b).p end,
}

-- Groups rows of trials into cells: the trials of a cell agree in all parameters except `o.by`. With `over`, only rows
-- of the best combination of the other parameters for each value of `o.by` are used, and the trials of a cell agree in
-- the parameters of `over` (e.g. fold).
local function by_others(results, data, o, rows, said)
  local found, names = {}, data.params
  if o.over then
    names = pivot.names_of("results:compare", "over", o.over)
    rows = choose.rows(data, { o.by }, names, rows, "value", results:sign "value", said) or {}
  end
  for _, row in ipairs(rows) do
    local others = {}
    for _, name in ipairs(names) do
      if name ~= o.by then others[name] = data:_column("results:compare", name)[row] end
    end
    local key = frame.to_json(others)
    found[key] = found[key] or {}
    table.insert(found[key], row)
  end
  return found
end

-- Returns the sorted keys of the cells (trials with equal other parameters) that two groups of trials share.
local function shared(a, b)
  local keys = {}
  for key in pairs(a) do
    if b[key] then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

-- Returns the mean of a number over a cell (trials with equal parameters); nil if no trial returned the number.
local function value_of_cell(name, column, cell)
  local values = pivot.values_at("results:compare", name, column, cell)
  return #values > 0 and pivot.aggregates.mean(values) or nil
end

-- Returns paired samples of two groups of trials: means of the cells that agree in the other parameters.
local function pairs_of_trials(name, column, a, b)
  local x, y = {}, {}
  for _, key in ipairs(shared(a, b)) do
    local p, q = value_of_cell(name, column, a[key]), value_of_cell(name, column, b[key])
    if p and q then x[#x + 1], y[#y + 1] = p, q end
  end
  return x, y
end

-- Returns the fingerprints of a trial's test data as one text; nil if the trial did not record its test data.
local function test_data(results, number)
  local found = {}
  for _, each in ipairs(results:data(number)) do
    if each.role == "test" then found[#found + 1] = each.fingerprint end
  end
  table.sort(found)
  return #found > 0 and table.concat(found, " ") or nil
end

-- Returns true if lists at equal positions belong to the same user or query in all trials. This is so if all trials
-- have the same test data. It is assumed if the test data is unknown and only one pair of cells is compared.
local function same_positions(results, numbers, cells)
  local first, unknown = nil, false
  for _, number in ipairs(numbers) do
    local own = test_data(results, number)
    first, unknown = first or own, unknown or not own
    if own and own ~= first then return false end
  end
  return not unknown or cells == 2
end

-- Returns a trial's values per list, named by the lists' users or queries, or by position in the trial.
local function part_of(results, number, metric, by_position)
  local values, ids = results:per_list(number, metric):totable(), not by_position and results:list_ids(number) or nil
  if ids then
    local name = ("the list numbers of trial %d"):format(number)
    check.length("results:compare", name, #ids, #values, "one for each value per list")
  end
  local units = {}
  for i = 1, #values do units[i] = ids and ("%.17g"):format(ids[i]) or ("%d"):format(i) end
  return { units = units, values = { values = values } }
end

-- Averages the values per list over trials with equal parameters (a cell) and over the lists of the same user or query.
-- Returns the users or queries, their means, and the number of lists.
local function units_of(results, numbers, metric, by_position)
  local parts = {}
  for i, number in ipairs(numbers) do parts[i] = part_of(results, number, metric, by_position) end
  return repeated.averaged(parts, { "values" })
end

-- Pairs the values of two cells by user or query, for a test. A cell is a group of trials with equal parameters; its
-- value for a user or query is the mean over these trials and their lists. Raises an error if the cells have different
-- users or queries.
local function paired(results, p, q, metric, by_position)
  local units, x, lists = units_of(results, p, metric, by_position)
  local others, y = units_of(results, q, metric, by_position)
  local place, values = {}, { a = x.values:totable(), b = {} }
  for i, unit in ipairs(units) do place[unit] = i end
  for i, value in ipairs(y.values:totable()) do
    if place[others[i]] then values.b[place[others[i]]] = value end
  end
  if #others ~= #units or #values.b ~= #units then
    check.fail("results:compare: trials %d and %d returned values of %d and %d users or queries, which are not the "
      .. "same. Compare trials with the same test data", p[1], q[1], #units, #others)
  end
  return { units = units, values = values }, lists
end

-- Returns the values of two groups of trials, paired by user or query. A value is a mean over trials and lists. Also
-- returns how many lists there are, and a note if users or queries have several lists (otherwise nil).
local function pairs_of_units(results, data, o, a, b)
  local keys, number = shared(a, b), data:_column("results:compare", "number")
  local metric = o.value ~= "value" and o.value or nil
  local numbers, known, cells = {}, true, { {}, {} }
  for i, key in ipairs(keys) do
    for g, group in ipairs{ a, b } do
      cells[g][i] = {}
      for n, row in ipairs(group[key]) do
        cells[g][i][n], numbers[#numbers + 1] = number[row], number[row]
        known = known and results:list_ids(number[row]) ~= nil
      end
    end
  end
  if not known and not same_positions(results, numbers, 2 * #keys) then
    check.fail("results:compare: trials did not return which user or query each list belongs to. Return the values per "
      .. "list of mr.fit or mr.evaluate unchanged, or per_list = {%s = values, list = numbers}, where numbers has the "
      .. "number of each list's user or query", metric or "ndcg")
  end
  local parts, lists = {}, 0
  for i in ipairs(keys) do
    local count
    parts[i], count = paired(results, cells[1][i], cells[2][i], metric, not known)
    lists = lists + count
  end
  local units, values = repeated.averaged(parts, { "a", "b" })
  return values.a:totable(), values.b:totable(), repeated.note(lists, #units)
end

-- Returns the p-value of a paired test, NaN if a value is NaN.
local function p_of(name, x, y)
  if pivot.has_nan(x) or pivot.has_nan(y) then return 0 / 0 end
  return M.tests[name](x, y)
end

-- Returns the pairs without NaN of two arrays, as two arrays. Unlike core.complete_pairs, it takes infinite values.
local function without_nan(x, y)
  local a, b = {}, {}
  for i = 1, #x do
    if x[i] == x[i] and y[i] == y[i] then a[#a + 1], b[#b + 1] = x[i], y[i] end
  end
  return a, b
end

-- Returns a note that says how many of `units` users or queries lack a value; nil for none.
local function without_value(count, units)
  return count > 0 and ("%d of %d users or queries are left out: a value is NaN"):format(count, units) or nil
end

-- Adds a text to a list of notes, unless the list has it or the text is nil.
local function add_note(notes, text)
  for _, note in ipairs(notes) do
    if note == text then return end
  end
  notes[#notes + 1] = text
end

-- Returns the end of a note that says which parameters were chosen for each value of `o.by`, and by which number.
-- Returns "" without `over`, and if there was nothing to choose.
local function choice_text(data, o, said, count)
  if not o.over or said.combinations <= count then return "" end
  local over = pivot.names_of("results:compare", "over", o.over)
  return ("; %s of each %s: best mean %s over %s"):format(table.concat(choose.others(data, { o.by }, over), ", "), o.by,
    data:metric() or "value", table.concat(over, ", "))
end

-- Returns the table of results:compare, with a row for each pair of values of `o.by`; `o` has the options.
function M.make(results, o)
  local where = "results:compare"
  local data = results:columns()
  check.choice(where, "by", o.by, data.params)
  local groups = data:groups(where, { o.by }, data:_wanted_rows(where, o.where))
  local absent = left_out.without_done(results, where, o.by, o.where)
  check.expect(#groups >= 2, where, ("the number of values of '%s' with finished trials"):format(o.by), #groups,
    "two or more" .. (#absent > 0 and (" (%s). results:trials() has the reasons"):format(table.concat(absent, "; "))
    or ""))
  local rows, p, levels, notes, left = {}, {}, {}, {}, left_out.note(results, where, o.where)
  local number, numbers, compared, cells = data:_column(where, "number"), {}, {}, 0
  local column, said = data:shown(where, o.value), choose.said()
  for i, group in ipairs(groups) do
    levels[i] = by_others(results, data, o, group.rows, said)
    for _, cell in pairs(levels[i]) do
      table.move(cell, 1, #cell, #compared + 1, compared)
      cells = cells + 1
    end
  end
  table.sort(compared)
  for i, row in ipairs(compared) do numbers[i] = number[row] end
  conventions.check(where, results, numbers, o.value)
  if o.over then notes = choose.notes(said, pivot.names_of(where, "over", o.over)) end
  notes[#notes + 1] = left_out.repeated(#compared, cells)
  for i = 1, #groups - 1 do
    for j = i + 1, #groups do
      local x, y, note
      if o.lists then
        x, y, note = pairs_of_units(results, data, o, levels[i], levels[j])
      else
        x, y = pairs_of_trials(o.value, column, levels[i], levels[j])
      end
      add_note(notes, note)
      local a, b = groups[i].key[1], groups[j].key[1]
      check.expect(#x >= 2, where,
        ("the number of pairs of trials with %s = %s and %s that agree in all other parameters"):format(o.by,
          tostring(a), tostring(b)), #x, "two or more%s", left and (" (%s)"):format(left) or "")
      if o.lists then
        local units = #x
        x, y = without_nan(x, y)
        add_note(notes, without_value(units - #x, units))
      end
      p[#p + 1] = p_of(o.test, x, y)
      local first, second = pivot.aggregates.mean(x), pivot.aggregates.mean(y)
      rows[#rows + 1] = { a, b, #x, first, second, first - second, p[#p] }
    end
  end
  table.insert(notes, 1, tested.line(o.test, o.correction) .. choice_text(data, o, said, #groups))
  table.move(absent, 1, #absent, #notes + 1, notes)
  notes = table.move(notes, 1, #notes, left and 2 or 1, { left })
  for _, note in ipairs(conventions.notes(results, data, compared, { o.value })) do notes[#notes + 1] = note end
  for i, each in ipairs(corrections[o.correction](p)) do rows[i][8] = each end
  local direction, means = better.direction(results, o.value), { "mean", "mean of other" }
  local heads = { "other", "pairs", "mean", "mean of other", "difference", "p", "p corrected" }
  return make_table{ columns = { columns.heads({ o.by }, heads)[1], table.unpack(heads) }, rows = rows,
    across = means, direction = { mean = direction, ["mean of other"] = direction },
    formats = { ["mean"] = "%.4f", ["mean of other"] = "%.4f", difference = "%+.4f" }, notes = notes }
end

return M
