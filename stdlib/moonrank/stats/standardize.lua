-- mr.stats.standardize subtracts the mean of its group from each value, and divides by the group's deviation.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local input = require "moonrank.stats.input"

local where = "mr.stats.standardize"

local standardize_options = declare("mr.stats.StandardizeOptions", {
  { "within", "table<string, any[]>", default = {}, shown = "all rows are one group",
    help = "columns of names, by their own name: {data = {...}, nsr = {...}}" },
})

-- Returns the groups of rows with equal values in every column of `within`, without rows that have NaN there.
local function groups_of(within, count)
  local groups, by_key, columns = {}, {}, {}
  for i, name in ipairs(input.column_names(where, "within", within)) do
    columns[i] = select(2, input.levels(where, "column " .. name, within[name], count, "x"))
  end
  for i = 1, count do
    local parts, whole = {}, true
    for k, rows in ipairs(columns) do parts[k], whole = rows[i], whole and rows[i] == rows[i] end
    local key = table.concat(parts, " ")
    if whole and not by_key[key] then
      by_key[key] = {}
      groups[#groups + 1] = by_key[key]
    end
    if whole then table.insert(by_key[key], i) end
  end
  return groups
end

-- Returns the mean and the standard deviation of a group. The deviation is NaN if the smallest and the largest value
-- are equal.
local function spread_of(values)
  local low, high, sum = math.huge, -math.huge, 0.0
  for _, x in ipairs(values) do low, high, sum = math.min(low, x), math.max(high, x), sum + x end
  if low >= high then return low, 0 / 0 end
  local mean, squares = sum / #values, 0.0
  for _, x in ipairs(values) do squares = squares + (x - mean) ^ 2 end
  return mean, math.sqrt(squares / (#values - 1))
end

return function(x, options)
  local o = standardize_options:read(where, options)
  local given = input.numbers(where, "x", x)
  local found = {}
  for i = 1, #given do found[i] = 0 / 0 end
  for _, rows in ipairs(groups_of(o.within, #given)) do
    local values, kept = {}, {}
    for _, i in ipairs(rows) do
      if given[i] == given[i] then values[#values + 1], kept[#kept + 1] = given[i], i end
    end
    local mean, sd = spread_of(values)
    for k, i in ipairs(kept) do found[i] = (values[k] - mean) / sd end
  end
  return core.tensor(found, "float64", "cpu")
end
