-- Chooses the best combination of parameters by its mean over repeated trials, e.g. over the trials of several folds.
local columns = require "moonrank.results.columns"
local left_out = require "moonrank.results.left_out"
local make_table = require("moonrank.table").new
local mean = require("moonrank.results.pivot").aggregates.mean
local united = columns.united

local M = {}

-- Returns the mean of a column over rows; nil if any row has no number in that column.
local function mean_of_rows(column, rows)
  local values = {}
  for _, row in ipairs(rows) do values[#values + 1] = column[row] end
  return #values == #rows and mean(values) or nil
end

-- Returns the mean of a column over the cells of a parameter combination, such as its folds. The trials of a cell are
-- averaged first. The result is nil if a trial has no number in the column.
local function mean_of(column, combination)
  local values = {}
  for i, cell in ipairs(combination.cells) do
    local value = mean_of_rows(column, cell.rows)
    if not value then return nil end
    values[i] = value
  end
  return mean(values)
end

-- Returns groups of rows (fields `key` and `rows`). The rows of a group have equal values of the parameters in `names`.
local function by_values(data, names, rows)
  local by_key, groups = {}, {}
  for _, row in ipairs(rows) do
    local parts = {}
    for i, name in ipairs(names) do parts[i] = ("%q"):format(data:_column("results:best", name)[row]) end
    local key = table.concat(parts, ",")
    if not by_key[key] then
      by_key[key] = { key = key, rows = {} }
      groups[#groups + 1] = by_key[key]
    end
    table.insert(by_key[key].rows, row)
  end
  return groups
end

-- Groups rows by combination of the parameters in `names`. A combination has a cell for each value of `over` (e.g.
-- fold) on which it was tried. Also returns the largest number of cells of a combination, and the number of values of
-- `over`.
local function combinations(data, names, over, rows)
  local groups, most = by_values(data, names, rows), 0
  for _, group in ipairs(groups) do
    group.cells = by_values(data, over, group.rows)
    most = math.max(most, #group.cells)
  end
  return groups, most, #by_values(data, over, rows)
end

-- Returns the combination with the best mean. Only combinations tried on the largest number of values of `over` (e.g.
-- folds) are considered. The first combination wins a tie. The result is nil if no combination has a mean, or if all
-- means are NaN. The counts of combinations and trials are added to `said`.
local function best_of(data, others, over, rows, column, sign, said)
  local groups, most, all = combinations(data, others, over, rows)
  local best, best_mean
  for _, group in ipairs(groups) do
    local is_whole = #group.cells == most
    local value = is_whole and mean_of(column, group)
    said.combinations, said.lacking = said.combinations + 1, said.lacking + (is_whole and 0 or 1)
    said.trials, said.cells = said.trials + #group.rows, said.cells + #group.cells
    if value and value ~= value then
      said.nan = said.nan + 1
    elseif value and (not best or sign * value > sign * best_mean) then
      best, best_mean = group, value
    end
  end
  if most < all then said.most, said.all = most, all end
  return best
end

---Returns the parameters that are neither in `by` (one result for each value) nor in `over` (means over values).
---@return string[]
function M.others(data, by, over)
  local known, others = {}, {}
  for _, name in ipairs(over) do data:_column("results:best", name) end  -- raises an error about an unknown name
  for _, name in ipairs(united{ by, over }) do known[name] = true end
  for _, name in ipairs(data.params) do
    if not known[name] then others[#others + 1] = name end
  end
  return others
end

---@class mr.results.Said
---@field combinations integer
---@field lacking integer  combinations left out, because they lack values of `over` that others have
---@field nan integer      combinations not chosen, because their mean is NaN
---@field trials integer
---@field cells integer    groups of trials that agree in all parameters
---@field most? integer    most values of `over` that a combination has, if none has all
---@field all? integer     number of values of `over`, if no combination has all

---Returns new counters, all 0, for choosing the best parameter combination: how many combinations were considered, left
---out or NaN, and how many trials and cells they had. Lines below a table report the counters.
function M.said() return { combinations = 0, lacking = 0, nan = 0, trials = 0, cells = 0 } end

---Returns the lines below a table of the best parameter combinations. They say how many combinations were left out
---because they lack values of the parameters in `over`, or because their mean is NaN. A further line says if no
---combination has all values of these parameters.
---@param over string[]  names of parameters
function M.notes(said, over)
  local names, notes = table.concat(over, ", "), {}
  if said.lacking > 0 then
    notes[1] = ("%d of %d combinations are left out: they lack values of %s that others have"):format(said.lacking,
      said.combinations, names)
  end
  if said.most then
    notes[#notes + 1] = ("no combination has all %d values of %s: combinations with %d are compared"):format(said.all,
      names, said.most)
  end
  if said.nan > 0 then
    notes[#notes + 1] = ("%d of %d combinations are not chosen: their mean is NaN"):format(said.nan, said.combinations)
  end
  return notes
end

---Returns the rows of trials of the parameter combination with the best mean of column `on` over the values of the
---parameters in `over`; nil if no combination has a mean. It adds the counts of combinations, cells and trials to the
---counters in `said`.
---@param by string[]     parameters that have one value in all of `rows`
---@param over string[]   parameters to take means over
---@param rows integer[]  trials to choose from
---@param on string
---@param sign integer    1 if higher means are better, else -1
function M.rows(data, by, over, rows, on, sign, said)
  local best = best_of(data, M.others(data, by, over), over, rows, data:shown("results:best", on), sign, said)
  return best and best.rows
end

---Returns a table with a row for each group of trials with equal values of the parameters in `by`: the combination of
---the other parameters that has the best mean of the column `on` over the values of the parameters in `over`, and its
---mean of every returned number. A group in which no combination has a mean is left out.
---@param by string[]     parameters to group by
---@param over string[]   parameters to take means over
---@param rows integer[]  trials to choose from
---@param on string       the column that chooses
---@param sign integer    1 if higher values are better, else -1
function M.make(data, by, over, rows, on, sign)
  local others = M.others(data, by, over)
  local results = { "trials", table.unpack(data:numbers()) }
  local heads = columns.heads(table.move(others, 1, #others, #by + 1, { table.unpack(by) }), results)
  table.move(results, 1, #results, #heads + 1, heads)
  local lines, said, column = {}, M.said(), data:shown("results:best", on)
  local shown = {}
  for i, name in ipairs(data:numbers()) do shown[i] = data:shown("results:best", name) end
  for _, group in ipairs(data:groups("results:best", by, rows)) do
    local chosen = best_of(data, others, over, group.rows, column, sign, said)
    if chosen then
      local line = { table.unpack(group.key) }
      for i, name in ipairs(others) do line[#by + i] = data:_column("results:best", name)[chosen.rows[1]] end
      line[#by + #others + 1] = #chosen.rows
      for i, column_of_number in ipairs(shown) do line[#by + #others + 1 + i] = mean_of(column_of_number, chosen) end
      lines[#lines + 1] = line
    end
  end
  local notes = M.notes(said, over)
  notes[#notes + 1] = left_out.repeated(said.trials, said.cells)
  return make_table{ columns = heads, rows = lines, notes = notes }
end

---Returns a table with the best trial of each group of trials with equal values of `by`, and its returned numbers.
---@param by string[]                                  parameters to group by
---@param rows integer[]                               trials to choose from
---@param best_of_rows fun(rows: integer[]): integer?  the best trial among some; nil: the group is left out
function M.single(data, by, rows, best_of_rows)
  local heads, lines, counts = united{ by, { "number" }, data.params, data:numbers() }, {}, {}
  local values = {}
  for c, name in ipairs(heads) do values[c] = data:shown("results:best", name) end
  for _, group in ipairs(data:groups("results:best", by, rows)) do
    local row, line = best_of_rows(group.rows), {}
    for c in ipairs(heads) do line[c] = row and values[c][row] end
    if row then lines[#lines + 1], counts[#counts + 1] = line, #group.rows end
  end
  return make_table{ columns = heads, rows = lines, notes = { left_out.spread("groups", counts) } }
end

return M
