-- Values less the mean of their group, in its standard deviations.
local core = require "moonrank.core"
local declare = require("moonrank.options").declare
local input = require "moonrank.stats.input"

local where = "mr.stats.standardize"

local standardize_options = declare("mr.stats.StandardizeOptions", {
  { "within", "table<string, any[]>", default = {}, shown = "all rows are one group",
    help = "columns of names, by their own name: {data = {...}, nsr = {...}}" },
})

-- Groups of rows that have the same level in every column; rows with a NaN are in none.
local function groups_of(within, count)
  local groups, numbers, n = {}, {}, 1
  for i = 1, count do numbers[i] = 1 end
  for _, name in ipairs(input.column_names(where, "within", within)) do
    local _, rows = input.levels(where, "column " .. name, within[name], count, "x")
    local seen = {}
    n = 0
    for i, before in pairs(numbers) do
      local level = rows[i]
      if level ~= level then
        numbers[i] = nil
      else
        seen[before] = seen[before] or {}
        if not seen[before][level] then
          n = n + 1
          seen[before][level] = n
        end
        numbers[i] = seen[before][level]
      end
    end
  end
  for k = 1, n do groups[k] = {} end
  for i = 1, count do
    if numbers[i] then table.insert(groups[numbers[i]], i) end
  end
  return groups
end

-- Mean and standard deviation of some values; it is NaN where all are alike, also if their mean is rounded.
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
