-- Functions that samplers and pruners share. Trials are grouped into generations of consecutive numbers, and use the
-- results of earlier generations only. The results of a study then do not depend on the number of workers.
local check = require "moonrank.check"

local M = {}

---The default length of a generation, in words for the help.
M.default_shown = "the number of workers, or a sixth of all trials up to 10 where that is more"

---Returns the number of the first trial in the generation of trial `number`. A generation is
---`length` consecutive trials that use the same earlier results.
---@param length integer  number of trials in a generation
---Example: `require "moonrank.sweep.search.generations".first(25, 10)   --> 21`
function M.first(number, length) return (number - 1) // length * length + 1 end

---Returns the trials whose number is below `first`, sorted by number.
---@param trials { number: integer }[]
function M.before(trials, first)
  local seen = {}
  for _, trial in ipairs(trials) do
    if trial.number < first then seen[#seen + 1] = trial end
  end
  table.sort(seen, function(a, b) return a.number < b.number end)
  return seen
end

---Returns the first of a trial's reports at or after a step; nil if there is none.
---@param reports { step: integer }[]  in the order of their steps
function M.first_report(reports, step)
  for _, report in ipairs(reports) do
    if report.step >= step then return report end
  end
end

---Splits "tpe" or {"tpe", generation = 20} for a sampler or pruner into its name and a table of its options.
---@param how string|table
---@return string name, table<string, any> options
---Example: `require "moonrank.sweep.search.generations".named{"tpe", generation = 20}   --> tpe, {generation = 20}`
function M.named(how)
  if type(how) ~= "table" then return how, {} end
  local options = {}
  for key, value in pairs(how) do
    if key ~= 1 then options[key] = value end
  end
  return how[1], options
end

---Returns the name of a sampler or pruner and its options as one text. Equal options give equal texts.
function M.described(name, options)
  local parts = {}
  for _, key in ipairs(check.names(options)) do parts[#parts + 1] = ("%s = %s"):format(key, tostring(options[key])) end
  return #parts > 0 and ("%s(%s)"):format(name, table.concat(parts, ", ")) or name
end

return M
