-- Marks phases of work, such as "forward" and "backward", in a running profile (profile.lua).
local core = require "moonrank.core"

local M = {}

local profiling = false

---Begins a phase of the running profile. Assign the returned value to a `<close>` variable: the phase ends when that
---variable is closed. Returns nil if no profile runs. Time counts for the innermost open phase.
---@param name string  "forward", "backward", ...
---@param outermost? boolean  begin the phase only if no phase is open: an evaluation includes its calls of the model
---@return any
function M.begin(name, outermost)
  if not profiling then return nil end
  return core.begin_phase(name, outermost)
end

---Starts a profile, which ends when the returned value, a `<close>` variable, is closed. Call `note` after its end.
---@return mr.RunningProfile
function M.measure(profiler)
  local running = profiler:start()
  profiling = true
  return running
end

---Updates whether a profile runs, after one has ended. Without a profile, `begin` does nothing.
function M.note() profiling = core.profiling() end

---Ends all running profiles.
function M.stop()
  core.stop_profiles()
  profiling = false
end

return M
