-- Data parallel training by all the processes that mpirun or srun started: each has its share of the lists of every batch. Gradients are added
-- up in the order of ranks, so the model stays the same in all of them. Another number of processes adds up other partial sums: results are
-- the same bits for the same number of processes, and the same to rounding for another.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.Group
---@field rank integer  of this process, from 0
---@field size integer  how many there are
local Group = check.class("mr.Group")

---The processes that train together, or nil where this one is alone.
---@param parameters mr.Tensor[]  of the model; all begin with those of rank 0
---@return mr.Group?
function M.join(parameters)
  local _, launched = core.launched()
  if launched == 1 then return nil end
  local rank, size = core.cluster_join "training"
  core.share_parameters(parameters)
  return setmetatable({ rank = rank, size = size, _parameters = parameters, _stop = false }, Group)
end

---Updates the parameters with the gradients of all; returns the sum of losses and the number of lists that count. Ctrl-C in one ends it in all.
---@param optimizer mr.Optimizer
---@param loss number      the sum over this process's lists
---@param counted integer  how many of them count
---@param mean boolean     whether the gradient is that of the mean
---@param clip? mr.Clip     of the gradients of all
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

---The numbers that `find` returns in rank 0, returned in all.
---@param find fun(): number[]
---@param count integer  how many they are
---@return number[]
function Group:of_first(find, count)
  local numbers = {}
  for i = 1, count do numbers[i] = 0 end
  return core.of_first(self.rank == 0 and find() or numbers)
end

---Raises where the processes' parameters differ.
function Group:check()
  if not core.same_parameters(self._parameters) then
    check.fail("mr.fit: the processes do not have the same parameters any more; are they the same program on the same kind of processor?")
  end
end

return M
