-- Which trials of a grid tell most about the time that the others take.
local M = {}

local most_scanned = 10000  -- points of a grid that are looked at before the first trial
local most_near = 2         -- trials near another one, for each parameter

---The numbers of the trials that have a value of a parameter first.
---@param space mr.sweep.Space
---@param count integer  of trials
---@return integer[]
function M.first_of_values(space, count)
  local seen, numbers = {}, {}
  for number = 1, math.min(count, most_scanned) do
    for name, value in pairs(space:grid(number)) do
      seen[name] = seen[name] or {}
      if not seen[name][value] and numbers[#numbers] ~= number then numbers[#numbers + 1] = number end
      seen[name][value] = true
    end
  end
  return numbers
end

---The numbers of some trials that differ from these parameters in one alone.
---@param space mr.sweep.Space
---@param count integer  of trials
---@param params table<string, any>
---@return integer[]
function M.near(space, count, params)
  local found, numbers = {}, {}
  for number = 1, math.min(count, most_scanned) do
    local differs, in_name = 0, nil
    for name, value in pairs(space:grid(number)) do
      if params[name] ~= value then differs, in_name = differs + 1, name end
    end
    if differs == 1 and (found[in_name] or 0) < most_near then
      found[in_name] = (found[in_name] or 0) + 1
      numbers[#numbers + 1] = number
    end
  end
  return numbers
end

return M
