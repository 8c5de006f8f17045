-- Known items: items that a user has rated before and that are therefore not ranked for the user. Implements the option
-- `known` of evaluations and recommendations.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local M = {}

---Values of the option `known`, which says which items a user already knows.
M.names = { "rated", "relevant", "none" }

-- Returns true if the value is an mr.Ratings, and false for a dataset, for example.
local function is_ratings(thing)
  local meta = getmetatable(thing)
  return type(meta) == "table" and rawget(meta, "__name") == "mr.Ratings"
end
M.is_ratings = is_ratings

---Returns an mr.UserItems (a table of the items of each user) in which no user has an item.
---@param users integer  number of users
---@param items integer  number of items
---@return any  mr.UserItems
function M.nothing(users, items)
  local none = core.tensor({}, "int64", "cpu")
  return core.user_items(core.lists({}, core.tensor({}, "float32", "cpu"), {}, {}), none, none, users, items)
end

local function relevant_items(where, part, users, items)
  if is_ratings(part) then
    check.expect(part.binary, where, "known", "relevant", "'rated', because the ratings '%s' have no threshold, as "
      .. "ratings:binarize(4) sets", part.name)
    return core.items_of_ratings(part.user, part.item, part.value, false, users, items)
  end
  dataset.need(where, "the dataset", part, "users", "items")
  return core.user_items(part.lists, part.users, part.items, users, items)
end

-- Returns the items that each user rated in `part`. For a dataset that was not made from ratings, rows of grade 0 are
-- an error, because they may be low ratings or sampled negatives.
local function rated_items(where, part, users, items)
  if is_ratings(part) then return core.items_of_ratings(part.user, part.item, part.value, true, users, items) end
  local rated = check.field(part, "_rated")
  if rated then return rated.items():sized(users, items) end
  local lists = part.lists
  local unrated = lists.rows - (lists.rows > 0 and math.tointeger(lists.relevance:double():gt(0):sum():item()) or 0)
  check.expect(unrated == 0, where, "known", "rated", "'relevant' or 'none', because %s was not made from ratings and "
    .. "has %d rows of grade 0, which may be sampled negatives", part.name or "a dataset", unrated)
  return relevant_items(where, part, users, items)
end

---Returns the items that each user knows: all that the user rated in `parts`, only the relevant ones, or none. Raises
---an error if `parts` do not tell which items were rated or relevant.
---@param where string   function name for error messages
---@param parts (mr.Dataset|mr.Ratings)[]
---@param known "rated"|"relevant"|"none"
---@param users integer  number of users
---@param items integer  number of items
---@return any           mr.UserItems
function M.of(where, parts, known, users, items)
  local out
  for _, part in ipairs(known == "none" and {} or parts) do
    local own = (known == "rated" and rated_items or relevant_items)(where, part, users, items)
    out = out and out:with(own) or own
  end
  return out or M.nothing(users, items)
end

return M
