-- Users of validation and test that training never saw: counted, reported, and left out where `users` is "known".
local core = require "moonrank.core"
local candidates = require "moonrank.data.candidates"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local novelty = require "moonrank.data.novelty"

local M = {}

-- The lists of users that have something relevant in train.
local function known_lists(o, role)
  local data, train = o[role], o.train
  if not dataset.is(data) or not data.users or not dataset.is(train) or not train.users then
    check.fail("mr.fit: users is 'known', but train or %s is not a dataset with users. Leave users out, or pass parts of a fold", role)
  end
  local seen, numbers = {}, {}
  local relevant = core.integers(train.lists.relevant)
  for l, user in ipairs(core.integers(train.users)) do seen[user] = seen[user] or relevant[l] > 0 end
  for l, user in ipairs(core.integers(data.users)) do numbers[#numbers + 1] = seen[user] and l or nil end
  if #numbers == data.count then return data end
  if #numbers == 0 then check.fail("mr.fit: users is 'known', but training saw none of the %d users of %s", data.count, role) end
  return dataset.chosen(data, numbers, data.name)
end

---Applies the option `users`: replaces the datasets of the options. It raises an error if
---candidates have another value of `users`.
---@param o table  the options of mr.fit
function M.apply(o)
  o.whole_parts = {}
  for _, role in ipairs(o.users == "known" and { "valid", "test" } or {}) do
    if candidates.is(o[role]) then
      if o[role].ranked_users ~= "known" then
        check.fail("mr.fit: users is 'known', but %s ranks for all users: fold:candidates{part = '%s', users = 'known'}", role, role)
      end
    elseif o[role] then
      local known = known_lists(o, role)
      o.whole_parts[known] = o[role]
      o[role] = known
    end
  end
end

---Returns facts about an evaluated part beside its metrics: what is ranked and, if it is known, how
---much of it training never saw.
---@param o table    the options of mr.fit, after `apply`
---@param part any   valid or test
---@return { candidates: string|false, new_to_training: string|false, novelty: mr.data.Novelty|false }
function M.facts(o, part)
  if candidates.is(part) then
    local new = part:tables().novelty
    return { candidates = part:words(), new_to_training = tostring(new), novelty = new }
  end
  local whole = o.whole_parts[part]  -- with the lists that `apply` left out
  local new = type(part) == "table" and novelty.between(o.train, whole or part, whole ~= nil) or false
  return { candidates = false, new_to_training = new and tostring(new), novelty = new }
end

---Warns if the part that chooses the epoch has users that training never saw.
---@param o table
---@param new? mr.data.Novelty|false  of that part
function M.warn(o, new)
  if not new or not new.users or new.users == 0 or new.left_out then return end
  local text = "mr.fit: %s chooses the epoch, and training saw nothing relevant of %d of its %d users. users = 'known' leaves them out"
  check.warn(text:format(o.choose_on, new.users, new.all_users))
end

return M
