-- The best combination of parameters when each was tried several times, e.g. on several folds: chosen by its mean, shown with its means.
local left_out = require "moonrank.results.left_out"
local make_table = require("moonrank.table").new
local mean = require("moonrank.results.pivot").aggregates.mean

local M = {}

local function mean_of(column, rows)
  local values = {}
  for _, row in ipairs(rows) do values[#values + 1] = column[row] end
  return #values == #rows and mean(values) or nil
end

local function set_of(names)
  local set = {}
  for _, name in ipairs(names) do set[name] = true end
  return set
end

-- The group of rows with the best mean, among those that were tried most often; the first of equals.
local function best_of(groups, column, sign)
  local most, best, best_mean = 0, nil, nil
  for _, group in ipairs(groups) do most = math.max(most, #group.rows) end
  for _, group in ipairs(groups) do
    local value = #group.rows == most and mean_of(column, group.rows)
    if value and (not best or sign * value > sign * best_mean) then best, best_mean = group, value end
  end
  return best
end

-- Combinations of parameters among some rows; parameters that do not apply to a trial are ignored.
local function combinations(data, names, rows)
  local by_key, groups = {}, {}
  for _, row in ipairs(rows) do
    local parts = {}
    for i, name in ipairs(names) do parts[i] = ("%q"):format(data:column("results:best", name)[row]) end
    local key = table.concat(parts, ",")
    if not by_key[key] then
      by_key[key] = { rows = {} }
      groups[#groups + 1] = by_key[key]
    end
    table.insert(by_key[key].rows, row)
  end
  return groups
end

-- Parameters that are neither grouped by nor averaged over.
local function others_of(data, by, over)
  local known, others = set_of(by), {}
  for _, name in ipairs(over) do
    data:column("results:best", name)  -- raises where there is none
    known[name] = true
  end
  for _, name in ipairs(data.params) do
    if not known[name] then others[#others + 1] = name end
  end
  return others
end

---The rows of the best combination among some, by its mean over some parameters.
---@return integer[]?
function M.rows(data, by, over, rows, on, sign)
  local best = best_of(combinations(data, others_of(data, by, over), rows), data:column("results:best", on), sign)
  return best and best.rows
end

---@param data mr.results.Columns
---@param by string[]     parameters to group by
---@param over string[]   parameters to take means over
---@param rows integer[]
---@param on string       the column that chooses
---@param sign integer    -1 where less is better
---@return mr.Table
function M.make(data, by, over, rows, on, sign)
  local others = others_of(data, by, over)
  local heads = { table.unpack(by) }
  table.move(others, 1, #others, #heads + 1, heads)
  heads[#heads + 1] = "trials"
  table.move(data:numbers(), 1, #data:numbers(), #heads + 1, heads)
  local lines = {}
  for _, group in ipairs(data:groups("results:best", by, rows)) do
    local chosen = M.rows(data, by, over, group.rows, on, sign)
    if chosen then
      local line = { table.unpack(group.key) }
      for i, name in ipairs(others) do line[#by + i] = data:column("results:best", name)[chosen[1]] end
      line[#by + #others + 1] = #chosen
      for i, name in ipairs(data:numbers()) do line[#by + #others + 1 + i] = mean_of(data:column("results:best", name), chosen) end
      lines[#lines + 1] = line
    end
  end
  return make_table{ columns = heads, rows = lines }
end

---A table with the best trial of each group, and all that it returned.
---@param data mr.results.Columns
---@param by string[]     parameters to group by
---@param rows integer[]
---@param best_of_rows fun(rows: integer[]): integer?  the row of the best trial among some
---@return mr.Table
function M.single(data, by, rows, best_of_rows)
  local heads, seen, lines, counts = { table.unpack(by) }, set_of(by), {}, {}
  for _, more in ipairs{ { "number" }, data.params, data:numbers() } do
    for _, name in ipairs(more) do
      if not seen[name] then heads[#heads + 1] = name end
    end
  end
  local columns = {}
  for c, name in ipairs(heads) do columns[c] = data:shown("results:best", name) end
  for _, group in ipairs(data:groups("results:best", by, rows)) do
    local row, line = best_of_rows(group.rows), {}
    for c in ipairs(heads) do line[c] = row and columns[c][row] end
    if row then lines[#lines + 1], counts[#counts + 1] = line, #group.rows end
  end
  return make_table{ columns = heads, rows = lines, notes = { left_out.spread("groups", counts) } }
end

return M
