-- Chooses which settings (learning rates, penalties or depths) of a system are tried. Three are tried first, then
-- further ones while validation chooses the smallest or the largest setting tried.
local M = {}

local function is_fixed(grid, rate) return rate ~= nil and grid.name == "rate" end

---Returns the learning rate, penalty or depth of a setting number: the grid's value, or `rate` if an
---option of the script fixes the learning rate.
---@param grid { name: string, extends: boolean, value: fun(setting: integer): number }
---@param setting integer
---@param rate? number
---@return number
function M.value(grid, setting, rate) return is_fixed(grid, rate) and rate or grid.value(setting) end

---Returns the setting numbers of a grid that are tried first: 1 to 3, or only 1 if data are made up or
---`rate` (an option of the script) fixes the learning rate. A setting number stands for a learning
---rate, penalty or depth.
---@return integer[]
function M.first(grid, made_up, rate) return (made_up or is_fixed(grid, rate)) and { 1 } or { 1, 2, 3 } end

-- Returns the setting numbers just below the smallest and just above the largest tried setting, each only if the
-- validation choices include that smallest or largest setting.
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

---Extends the grids of systems. If validation chose the smallest or largest tried setting (learning
---rate or penalty) for some seed, the setting beyond that edge will be tried with all seeds. New
---setting numbers are appended to `tried`.
---@param systems { name: string, grid: table }[]
---@param tried table<string, integer[]>  setting numbers by system
---@param rate? number  learning rate fixed by an option; grids of rates are then not extended
---@param chosen fun(name: string, seed: integer): integer  the setting that validation chose
---@param seeds integer  number of seeds
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
