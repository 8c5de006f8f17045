-- Reads the values that trials returned for each list: the metric's values, and the numbers of the lists' users or
-- queries. These numbers are stored under the name "list".
local core = require "moonrank.core"
local check = require "moonrank.check"
local metrics = require "moonrank.metrics.registry"

local M = {}

---Returns a trial's values of a metric, one for each list. It is an error if the trial did not
---return them.
---@param results mr.Results
---@param number integer       of the trial
---@param name string|false    of the metric; false: the only metric with values per list, or else `default`
---@param default string       of a metric
---@return mr.Tensor
function M.scores(results, number, name, default)
  local found = results._store:columns([[SELECT l.name, l.scores FROM lists l JOIN trials t ON t.id = l.trial
    WHERE t.study = ?1 AND t.number = ?2 ORDER BY l.name]], results.study.id, number)
  if #found.name == 0 then check.fail("results:per_list: trial %s returned no scores per list", tostring(number)) end
  local own = {}
  for _, each in ipairs(found.name) do own[#own + 1] = each ~= "list" and each or nil end
  name = name or #own == 1 and own[1] or default
  for i, each in ipairs(found.name) do
    if each == name or each == metrics.our_name(name) then return core.float64_tensor(found.scores[i]) end
  end
  check.unknown(("scores per list of trial %d"):format(number), name, found.name)
end

---Returns the number of the user or query of each list of a trial; nil if the trial did not return
---these numbers.
---@param results mr.Results
---@param number integer  of the trial
---@return number[]?
function M.ids(results, number)
  local found = results._store:columns([[SELECT l.scores FROM lists l JOIN trials t ON t.id = l.trial
    WHERE t.study = ?1 AND t.number = ?2 AND l.name = 'list']], results.study.id, number).scores
  return found[1] and core.float64_tensor(found[1]):totable() or nil
end

return M
