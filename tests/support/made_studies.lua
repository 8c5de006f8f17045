-- Made-up studies (stored training runs) for tests of scripts/thesis: twelve users in two folds. The changes under a
-- bound have p-values that can be worked out by hand.
local mr = require "moonrank"

local M = {}

M.losses = { "ndcg", "ap", "nrbp" }
M.bounds = { "none", "minmax", "expectation", "expectation_max", "distribution", "distribution_log",
  "distribution_logit" }

---p-values of twelve users by permutation of signs: all changes alike (2 of 4096 choices of signs), and ten against
---two.
M.all_alike, M.ten_of_twelve = 2 / 4096, 2 * (1 + 12 + 66) / 4096

---Changes by user: all users gain, all lose, ten gain and two lose (p = 0.039 before Holm's correction), or none
---changes.
M.kinds = {
  gain = function() return 1 / 8 end,
  lose = function() return -1 / 8 end,
  mixed = function(user) return user <= 10 and 1 / 16 or -1 / 16 end,
  same = function() return 0 end,
}

---A set of data that has such studies.
M.set = { title = "made", setting = "nsr", head = "NSR", unit = "user", units = "users", legend = "", values = { 1 },
  folds = 2, epochs = 5, size = 8 }

---A study with twelve users in each of two folds.
---@param folder string
---@param name string
---@param space table                        parameters beside the fold
---@param values fun(trial, user): table     a user's values by name
---@param more? fun(trial): table            the trial's own values by name
---@return mr.Results
function M.study_of(folder, name, space, values, more)
  space.split = mr.range(1, 2)
  return mr.sweep{ name = name, store = folder .. "/r.db", workers = 0, metric = "valid", progress = false,
    direction = "maximize", space = space, run = function(trial)
      local result = { valid = 0, per_list = { list = {} } }
      for i = 1, 12 do
        local user = trial.split == 1 and i or 13 - i
        result.per_list.list[i] = user
        for key, value in pairs(values(trial, user)) do
          result.per_list[key] = result.per_list[key] or {}
          result.per_list[key][i] = value
        end
      end
      for key, value in pairs(more and more(trial) or {}) do result[key] = value end
      return result
    end }
end

---Records by the text of some of their columns, with spaces between.
---@param records table<string, any>[]
---@param ... string  names of columns
---@return table<string, table<string, any>>
function M.by_key(records, ...)
  local found = {}
  for _, row in ipairs(records) do
    local parts = {}
    for i, name in ipairs{ ... } do parts[i] = tostring(row[name]) end
    found[table.concat(parts, " ")] = row
  end
  return found
end

return M
