-- Measures time and memory of a part of an experiment.
local core = require "moonrank.core"
local given = require "moonrank.experiment.given"

local M = {}

---Calls a function without arguments and returns what it cost: seconds of wall-clock time, seconds of
---processor time (of all threads), and the largest memory of the process meanwhile, in bytes.
---@param run fun()
---@return { seconds: number, processor: number, bytes: integer }
---Example: `mr.experiment.cost(function() return mr.zeros{1000} end).bytes > 0   --> true`
function M.cost(run)
  given.need("cost", "run", run, "function", "a function without arguments")
  core.reset_peak_memory()
  local began, processor = core.clock(), os.clock()
  run()
  return { seconds = core.clock() - began, processor = os.clock() - processor, bytes = core.peak_memory() }
end

return M
