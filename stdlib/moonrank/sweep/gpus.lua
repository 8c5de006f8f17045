-- The GPU of each worker. Workers share GPUs in rotation if there are more workers than GPUs.
local core = require "moonrank.core"

local M = {}

-- The names of the GPUs that this process may use: those in CUDA_VISIBLE_DEVICES, else the numbers of all GPUs.
local function names()
  local given, found = os.getenv "CUDA_VISIBLE_DEVICES", {}
  for name in (given or ""):gmatch "[^,%s]+" do found[#found + 1] = name end
  if given then return found end
  for i = 1, core.cuda_count() do found[i] = ("%d"):format(i - 1) end
  return found
end

---Returns the default number of workers: one per GPU if GPUs compute, else one per core.
function M.workers() return core.device() == "cuda" and math.max(1, #names()) or core.cores() end

---Returns variables for a worker's environment.
---@param worker integer  its number on this machine, from 1
function M.variables(worker)
  if core.device() ~= "cuda" then return {} end
  local found = names()
  return found[1] and { "CUDA_VISIBLE_DEVICES=" .. found[(worker - 1) % #found + 1] } or {}
end

return M
