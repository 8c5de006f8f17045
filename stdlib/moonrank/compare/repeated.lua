-- Averages repeated measurements for significance tests. The values of a user or query from several folds, seeds or
-- lists are averaged to one value. Tests assume independent pairs: if every measurement counted, p would be too small.
local core = require "moonrank.core"

local M = {}

---@class mr.compare.Part
---@field units string[]  the user or query of each list
---@field values table<string, number[]>  by system: one value per list

local function no_sums(systems)
  local sums = {}
  for _, name in ipairs(systems) do sums[name] = 0.0 end
  return sums
end

-- Adds a list's values to its user or query (`unit`), unless a system has NaN: all systems count the same lists.
local function add(unit, part, systems, list)
  for _, name in ipairs(systems) do
    if part.values[name][list] ~= part.values[name][list] then return end
  end
  unit.count = unit.count + 1
  for _, name in ipairs(systems) do unit.sums[name] = unit.sums[name] + part.values[name][list] end
end

---Returns one value per unit (user or query) and system: the mean over the unit's lists in all folds or runs (`parts`).
---A list with a NaN of any system does not count. The mean is NaN if no list of the unit counts. Units are in the order
---of their first list.
---@param parts mr.compare.Part[]
---@param systems string[]  names
---@return string[] units
---@return table<string, mr.Tensor> values  by system
---@return integer lists  number of lists of all parts together
function M.averaged(parts, systems)
  local by_name, units, names, lists = {}, {}, {}, 0
  for _, part in ipairs(parts) do
    for list, name in ipairs(part.units) do
      if not by_name[name] then
        by_name[name] = { count = 0, sums = no_sums(systems) }
        units[#units + 1], names[#names + 1] = by_name[name], name
      end
      add(by_name[name], part, systems, list)
    end
    lists = lists + #part.units
  end
  local values = {}
  for _, system in ipairs(systems) do
    local means = {}
    for i, unit in ipairs(units) do means[i] = unit.sums[system] / unit.count end
    values[system] = core.tensor(means, "float64", "cpu")
  end
  return names, values, lists
end

---Converts names of users or queries to integers. A name that is a positive integer of up to 15 digits, such as "12",
---becomes this integer; another name becomes an integer from its checksum. Equal names become equal integers.
---@return mr.Tensor  float64, in the order of the names
---Example: `require("moonrank.compare.repeated").numbers{"7", "12"}   --> {7, 12}  mr.Tensor {2} float64`
function M.numbers(names)
  local numbers = {}
  for i, name in ipairs(names) do
    local written = name:find "^[1-9]%d*$" and #name <= 15
    numbers[i] = written and tonumber(name) or tonumber(core.sha256(name):sub(1, 13), 16)
  end
  return core.tensor(numbers, "float64", "cpu")
end

---Returns a line that says that lists of the same user or query were averaged; nil if each has one list.
---@param lists integer  number of lists
---@param units integer  number of users or queries
function M.note(lists, units)
  if lists == units then return nil end
  return ("%d lists are of %d users or queries: lists of the same one were averaged first"):format(lists, units)
end

return M
