-- What the scripts that train share: every fold once, kept in a file of its own, and the results over folds.
local mr = require "moonrank"

local M = {}

---Results of the first `args.folds` folds: computed by `run_fold(number)`, or read from `args.results` where an earlier run left them with the
---same settings.
function M.of(args, name, settings, run_fold)
  local folds = {}
  for number = 1, args.folds do
    local path = ("%s/%s_fold%d.safetensors"):format(args.results, name, number)
    folds[number] = mr.checkpoint(path, settings, function() return run_fold(number) end)
  end
  return folds
end

---The same for every NSR of `args.nsr`, from `run_fold(nsr, number)`.
function M.by_nsr(args, settings, run_fold)
  local folds = {}
  for _, nsr in ipairs(args.nsr) do
    folds[nsr] = M.of(args, "nsr" .. nsr, settings, function(number) return run_fold(nsr, number) end)
  end
  return folds
end

---All values of a key over some folds in one tensor, and a summary of their means by fold.
function M.over(folds, key)
  local all, means = {}, {}
  for number, results in ipairs(folds) do
    means[number] = mr.stats.mean(results[key])
    for _, value in ipairs(results[key]:totable()) do all[#all + 1] = value end
  end
  return mr.tensor(all, { dtype = "float64" }), mr.stats.summary(means)
end

return M
