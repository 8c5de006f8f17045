-- Data-parallel training in all processes that mpirun or srun started. Each process has a share of the lists of every
-- batch. Gradients are summed in the order of ranks, so all processes keep the same model. Results have identical bits
-- for the same number of processes. For another number they agree up to rounding, because partial sums differ.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.Group
---@field rank integer  rank of this process, from 0
---@field size integer  number of processes
local Group = check.class("mr.Group")

---Returns the group of processes that train together, or nil if there is only one process.
---@param parameters mr.Tensor[]  parameters of the model; all processes start with those of rank 0
---@return mr.Group?
function M.join(parameters)
  local _, launched = core.launched()
  if launched == 1 then return nil end
  local rank, size = core.cluster_join "training"
  core.share_parameters(parameters)
  return setmetatable({ rank = rank, size = size, _parameters = parameters, _stop = false }, Group)
end

---Updates the parameters with the summed gradients of all processes. Returns the sum of their losses, and the number of
---their lists that count. Ctrl-C in one process ends training in all.
---@param optimizer mr.Optimizer
---@param loss number      sum of the losses of this process's lists
---@param counted integer  number of this process's lists that count
---@param mean boolean     whether the gradient is that of the mean loss
---@param clip? mr.Clip     clipping of the summed gradients
---@return number loss, integer counted
function Group:step(optimizer, loss, counted, mean, clip)
  self._stop = self._stop or core.interrupted()
  local total, all, stop = core.sum_gradients(self._parameters, loss, counted, self._stop, mean)
  if all > 0 then
    if clip then clip(self._parameters) end
    optimizer:step()
  end
  if stop then error("interrupted", 0) end
  return total, math.tointeger(all)
end

---Calls `find` in rank 0 only, and returns its numbers in all processes.
---@param find fun(): number[]
---@param count integer  number of these numbers
---@return number[]
function Group:of_first(find, count)
  local numbers = {}
  for i = 1, count do numbers[i] = 0 end
  return core.of_first(self.rank == 0 and find() or numbers)
end

---Raises an error if the processes' parameters differ.
function Group:check()
  if not core.same_parameters(self._parameters) then
    check.fail("mr.fit: the processes no longer have the same parameters. Run the same program on the same kind of "
      .. "processor in all")
  end
end

return M
