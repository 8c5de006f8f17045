-- Phases of the work that a profile (profile.lua) tells apart: what the library is about while operations run.
local core = require "moonrank.core"

local M = {}

local profiling = false

---Begins a phase, which ends when the value returned is closed; nil where no profile runs. Time belongs to the innermost phase.
---@param name string
---@param outermost? boolean  only where no phase is open: a model that is called in an evaluation is part of that
function M.begin(name, outermost)
  if not profiling then return nil end
  return core.begin_phase(name, outermost)
end

---Measures until the value returned is closed; `note` follows.
---@param profiler mr.Profiler
---@return mr.RunningProfile
function M.measure(profiler)
  local running = profiler:start()
  profiling = true
  return running
end

---Takes note of whether a profile runs.
function M.note() profiling = core.profiling() end

---Ends all profiles that run.
function M.stop()
  core.stop_profiles()
  profiling = false
end

return M
