-- New users: users of validation or test without a relevant row in train. mr.fit counts and reports them, and leaves
-- out their lists if the option `users` is "known".
local core = require "moonrank.core"
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local novelty = require "moonrank.data.novelty"

local M = {}

-- Maps a dataset that M.kept made, without the lists of users who are not in train, to the original dataset.
local whole_of = setmetatable({}, { __mode = "k" })

-- Returns a dataset with the lists of `data` whose user has a relevant row in train.
local function known_lists(train, role, data)
  if not dataset.is(data) or not data.users or not dataset.is(train) or not train.users then
    check.leave_out("mr.fit", "users", "known", "train or %s is not a dataset with users", role)
  end
  local seen, numbers = {}, {}
  local relevant = core.integers(train.lists.relevant)
  for l, user in ipairs(core.integers(train.users)) do seen[user] = seen[user] or relevant[l] > 0 end
  for l, user in ipairs(core.integers(data.users)) do numbers[#numbers + 1] = seen[user] and l or nil end
  if #numbers == data.count then return data end
  if #numbers == 0 then
    check.leave_out("mr.fit", "users", "known", "none of the %d users of %s has a relevant row in train",
      data.count, role)
  end
  return dataset.chosen(data, numbers, data.name)
end

---Returns the valid or test data of mr.fit, without lists of users who have no relevant row in train if the option
---`users` is "known". Candidates that include such users are then an error.
---@param o table  the options of mr.fit
---@param role "valid"|"test"
---@return mr.Dataset|mr.data.Candidates|nil
function M.kept(o, role)
  local data = o[role]
  if not data or o.users ~= "known" then return data end
  if candidates.is(data) then
    if data.ranked_users == "known" then return data end
    check.fail("mr.fit: users is 'known', but %s ranks items for all users. Pass fold:candidates{part = '%s', users = "
      .. "'known'}, or leave out users", role, role)
  end
  local known = known_lists(o.train, role, data)
  if known ~= data then whole_of[known] = data end
  return known
end

---Returns texts about an evaluated part (valid or test) that are printed with its metrics: which
---items are ranked, and how many users, items or queries are not in train, if this can be counted.
---@param part any  valid or test
---@return { candidates: string|false, new_to_training: string|false, novelty: mr.data.Novelty|false }
function M.facts(plan, part)
  if candidates.is(part) then
    local new = part:tables().novelty
    return { candidates = part:words(), new_to_training = tostring(new), novelty = new }
  end
  local whole = whole_of[part] or part
  local new = type(part) == "table" and novelty.between(plan.train, whole, plan.users == "known") or false
  return { candidates = false, new_to_training = new and new:line(), novelty = new }
end

---Warns if the part that chooses the epoch (valid, or test) has users without a relevant row in train.
function M.warn(plan)
  local new = plan.facts and plan.facts.novelty
  if not new or not new.users or new.users == 0 or new.left_out then return end
  check.warn(("mr.fit: %s chooses the epoch, but %d of its %d users have no relevant row in train. users = 'known' "
    .. "leaves them out"):format(plan.selection.part, new.users, new.all_users))
end

return M
