-- Trains one model by all processes that mpirun or srun started. Each process takes its share of the lists of every
-- batch. Gradients are summed in the order of ranks, so the model stays identical in all processes. Results are
-- identical bits for the same number of processes. Results of different numbers of processes agree up to rounding,
-- because partial sums differ.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---The processes that train one model together, seen from one of them.
---@class mr.Group
---@field rank integer  number of this process, from 0
---@field size integer  number of processes
local Group = check.class("mr.Group")

---Connects the processes of a parallel training and gives all processes the parameters of rank 0.
---Returns nil if there is only one process.
function M.join(parameters)
  local _, launched = core.launched()
  if launched == 1 then return nil end
  local rank, size = core.cluster_join "training"
  core.share_parameters(parameters)
  return setmetatable({ rank = rank, size = size, _parameters = parameters, _stop = false }, Group)
end

---Takes an optimizer step in every process with the sum of the gradients of all processes. If one
---process was interrupted by Ctrl-C, all processes end the training.
---@param loss number      sum over the lists of this process
---@param counted number  number of these lists that count, or the sum of their weights
---@param mean boolean     whether the summed gradient is divided by the number of lists that count
---@param clip? mr.Clip    clips the summed gradients
---@return number loss      sum over the lists of all processes
---@return number counted   number of lists of all processes that count, or the sum of their weights
function Group:step(optimizer, loss, counted, mean, clip)
  self._stop = self._stop or core.interrupted()
  local total, all, stop = core.sum_gradients(self._parameters, loss, counted, self._stop, mean)
  if all > 0 then
    if clip then clip(self._parameters) end
    optimizer:step()
  end
  if stop then error("interrupted", 0) end
  return total, math.tointeger(all) or all
end

---Calls `find` only in the process of rank 0, sends its numbers to all processes, and returns them in every process.
---@param find fun(): number[]
---@param count integer  how many numbers `find` returns
function Group:of_first(find, count)
  local numbers = {}
  for i = 1, count do numbers[i] = 0 end
  return core.of_first(self.rank == 0 and find() or numbers)
end

---Raises an error if the model's parameters are not identical in all processes.
function Group:check()
  if not core.same_parameters(self._parameters) then
    check.fail("mr.fit: parameters differ between processes. Start the same program on processors of the same kind")
  end
end

return M
