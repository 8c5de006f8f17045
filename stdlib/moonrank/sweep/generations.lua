-- Generations of trials, for samplers and pruners. Trials use the results of earlier generations
-- only, so that a study does not depend on the number of workers.
local check = require "moonrank.check"

local M = {}

---Returns the first trial of a trial's generation.
---@param number integer  of the trial
---@param length integer  trials of a generation
---@return integer
---Example: `require "moonrank.sweep.generations".first(25, 10)   --> 21`
function M.first(number, length) return (number - 1) // length * length + 1 end

---Returns the trials with a number below `first`, by number.
---@generic T: { number: integer }
---@param trials T[]
---@param first integer
---@return T[]
function M.before(trials, first)
  local seen = {}
  for _, trial in ipairs(trials) do
    if trial.number < first then seen[#seen + 1] = trial end
  end
  table.sort(seen, function(a, b) return a.number < b.number end)
  return seen
end

---Returns a name with its options as text, which is the same for equal ones.
---@param name string
---@param options table<string, any>
---@return string
---Example: `require "moonrank.sweep.generations".described("tpe", {startup = 8, good = 0.1})   --> tpe(good = 0.1, startup = 8)`
function M.described(name, options)
  local parts = {}
  for _, key in ipairs(check.names(options)) do parts[#parts + 1] = ("%s = %s"):format(key, tostring(options[key])) end
  return #parts > 0 and ("%s(%s)"):format(name, table.concat(parts, ", ")) or name
end

return M
