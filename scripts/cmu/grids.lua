-- The settings of a system that are tried: three at first, then more where validation chose the least or the largest
-- value.
local M = {}

local function is_fixed(grid, rate) return rate ~= nil and grid.name == "rate" end

---The value of a setting: the grid's value, or the rate that the script's option fixes.
---@param grid { name: string, extends: boolean, value: fun(setting: integer): number }
---@param setting integer
---@param rate? number
---@return number
function M.value(grid, setting, rate) return is_fixed(grid, rate) and rate or grid.value(setting) end

---The settings that are tried first: 1 to 3; only setting 1 for made-up data, or if the rate is fixed.
---@return integer[]
function M.first(grid, made_up, rate) return (made_up or is_fixed(grid, rate)) and { 1 } or { 1, 2, 3 } end

-- The settings next to those that were tried, on the sides where a choice lies.
local function beyond(settings, choices)
  local low, high, found = math.min(table.unpack(settings)), math.max(table.unpack(settings)), {}
  local function add(edge, next_one)
    for _, setting in ipairs(choices) do
      if setting == edge then
        found[#found + 1] = next_one
        return
      end
    end
  end
  add(low, low - 1)
  add(high, high + 1)
  return found
end

---The rule by which grids are extended: where a seed's choice is the least or the largest setting that was tried, the
---next one beyond it is tried, with all seeds. It is added to `tried`.
---@param systems { name: string, grid: table }[]
---@param tried table<string, integer[]>
---@param rate? number  fixed by an option; such grids are not extended
---@param chosen fun(name: string, seed: integer): integer  the setting that validation chose
---@param seeds integer
---@return table<string, integer[]>?  settings to try, by system; nil where no choice is at an edge
function M.more(systems, tried, rate, chosen, seeds)
  local more = {}
  for _, system in ipairs(systems) do
    if system.grid.extends and not is_fixed(system.grid, rate) then
      local choices, settings = {}, tried[system.name]
      for seed = 1, seeds do choices[seed] = chosen(system.name, seed) end
      local found = beyond(settings, choices)
      if #found > 0 then more[system.name] = found end
      table.move(found, 1, #found, #settings + 1, settings)
    end
  end
  return next(more) and more or nil
end

return M
