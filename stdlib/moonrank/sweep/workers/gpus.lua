-- Assigns a GPU to each worker of a sweep. If there are more workers than GPUs, workers share the GPUs in rotation.
local core = require "moonrank.core"

local M = {}

-- Returns the names of the GPUs that this process may use: those in CUDA_VISIBLE_DEVICES, or else the numbers of all
-- GPUs.
local function names()
  local given, found = os.getenv "CUDA_VISIBLE_DEVICES", {}
  for name in (given or ""):gmatch "[^,%s]+" do found[#found + 1] = name end
  if given then return found end
  for i = 1, core.cuda_count() do found[i] = ("%d"):format(i - 1) end
  return found
end

---Returns a sweep's default number of workers: one per GPU (at least 1) on cuda, else one per CPU core.
function M.workers() return core.device() == "cuda" and math.max(1, #names()) or core.cores() end

---Returns {"CUDA_VISIBLE_DEVICES=GPU"} for a worker, so that it uses one GPU; empty without a GPU.
---@param worker integer  the worker's number on this machine, from 1
function M.variables(worker)
  if core.device() ~= "cuda" then return {} end
  local found = names()
  return found[1] and { "CUDA_VISIBLE_DEVICES=" .. found[(worker - 1) % #found + 1] } or {}
end

return M
