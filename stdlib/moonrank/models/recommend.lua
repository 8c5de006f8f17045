-- Recommends items: finds, for each user, the k items with the highest scores of a model among all items of the
-- catalogue.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local known_items = require "moonrank.data.known_items"
local tables = require "moonrank.table"
local vectors = require "moonrank.models.vectors"

local M = {}

---The items with the highest scores of a model, for each user.
---@class mr.Recommendations: mr.Exports
---@field users mr.Tensor   int64
---@field sizes mr.Tensor   [users] int64: number of items for each user; k, or fewer if fewer are left
---@field items mr.Tensor   int64: items of all users, user by user, the best first
---@field scores mr.Tensor  scores of `items`
---@field candidates string description of the ranked items and of those that were left out
local Recommendations = check.class("mr.Recommendations")

---Returns the items that are recommended to one user, best first, and their scores. A user without
---recommendations (not in the field `users`) is an error.
---@param user integer
---@return integer[] items
---@return number[] scores
---Example:
---```lua
---local fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---#mr.models.popularity{fold = fold}:recommend{k = 5}:of(2)   --> 5
---```
function Recommendations:of(user)
  local sizes, at = core.integers(self.sizes), 1
  for i, each in ipairs(core.integers(self.users)) do
    if each == user then
      return self.items:narrow(1, at, sizes[i]):totable(), self.scores:narrow(1, at, sizes[i]):totable()
    end
    at = at + sizes[i]
  end
  check.expect(false, "recommendations:of", "user", user, "a user for whom model:recommend was called")
end

-- Returns a table with one row for each item that is recommended to one of the first `count` users.
local function table_of(self, count)
  local users, sizes, at, rows = core.integers(self.users), core.integers(self.sizes), 0, {}
  local shown = 0
  for i = 1, count do shown = shown + sizes[i] end
  local items, scores = self.items:narrow(1, 1, shown):totable(), self.scores:narrow(1, 1, shown):totable()
  for i = 1, count do
    for rank = 1, sizes[i] do
      local item = items[at + rank]
      rows[at + rank] = { users[i], rank, item, scores[at + rank], self.names and tostring(self.names[item]) or nil }
    end
    at = at + sizes[i]
  end
  local columns = { "user", "rank", "item", "score", self.names and "name" or nil }
  return tables.new{ columns = columns, formats = { score = "%.4f" }, rows = rows }
end

---Returns a table with one row for each recommended item of each user: user, rank, item, score, and
---the item's name if names were given.
---@return mr.Table
---Example:
---```lua
---local fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---#mr.models.popularity{fold = fold}:recommend{k = 5}:table().rows   --> 150
---```
function Recommendations:table() return table_of(self, self.users:numel()) end

tables.add_exports(Recommendations)

---Plots the number of users to whom each item is recommended, with the most often recommended items
---first, and returns the figure. Items that no user gets are left out. A steep fall means that all
---users get the same few items.
---@param options? mr.plot.Axes
---@return mr.Figure
function Recommendations:plot(options)
  local times, counts = {}, {}
  for _, item in ipairs(core.integers(self.items)) do times[item] = (times[item] or 0) + 1 end
  for _, count in pairs(times) do counts[#counts + 1] = count end
  table.sort(counts, function(a, b) return a > b end)
  local o = { xlabel = "items by how often they are recommended", ylabel = "users", y = counts }
  for name, value in pairs(options or {}) do o[name] = value end
  return require("moonrank.plot").lines(o)
end

local most_shown = 10  -- largest number of users whose recommendations are printed by tostring

function Recommendations:__tostring()
  local count = self.users:numel()
  local text = tostring(table_of(self, math.min(most_shown, count)))
  if count > most_shown then text = ("%s\n... and %d more users"):format(text, count - most_shown) end
  return text .. "\n" .. self.candidates
end

-- Returns the number of "users" or "items": the option of recommend, or else that of the model's config.
local function number_of(model, o, name)
  local value = o[name] or model.config[name]
  return check.expect(math.type(value) == "integer" and value > 0, "model:recommend", name, value,
    "a positive integer, because the model does not state its number of %s", name)
end

-- Returns the ratings or the dataset with items that a user knows: `given`, or the training part of a fold.
local function part_of(given, what)
  if known_items.is_ratings(given) or type(given) == "table" and check.field(given, "lists") then return given end
  local train = type(given) == "table" and check.field(given, "train")
  if type(train) == "table" and check.field(train, "lists") then return train end
  check.expect(false, "model:recommend", what, given,
    "ratings, a dataset of users and items such as fold.train, a fold, or a table of these")
end

-- Returns the option `seen`, one dataset or a table of several, as a table.
local function parts_of(seen)
  if seen == nil then return {} end
  if type(seen) ~= "table" or getmetatable(seen) or check.field(seen, "lists") then return { part_of(seen, "seen") } end
  check.sequence("model:recommend", "seen", seen,
    "expected ratings, a dataset of users and items, a fold, or a table of these: {fold.train, fold.valid}")
  local parts = {}
  for i, each in ipairs(seen) do parts[i] = part_of(each, ("entry %d of seen"):format(i)) end
  return parts
end

-- Returns the names of users and items in the file from which data were read; nil if there are none.
local function ids_of(part)
  if known_items.is_ratings(part) then return { users = part.user_ids, items = part.item_ids } end
  return part and part.ids or nil
end

-- Returns the number of the user whose name is `o.user` in the first data of the option `seen`.
local function user_of(o)
  local part = parts_of(o.seen)[1]
  local ids = ids_of(part)
  if not ids then
    check.fail("model:recommend: user is '%s', but the names of users are not known. Pass the user's number, or seen = "
      .. "fold.train", o.user)
  end
  for number, name in ipairs(ids.users) do
    if name == o.user then return number end
  end
  check.fail("model:recommend: user is '%s', which is not among the %d users of %s; the first of these is '%s'",
    core.safe_text(o.user), #ids.users, tostring(part.name), core.safe_text(ids.users[1] or ""))
end

local function check_options(o, users, items)
  if o.known and o.known ~= "none" and o.seen == nil then
    check.fail("model:recommend: known is '%s', but seen is missing, which has the items that users know. Pass seen = "
      .. "fold.train, or leave out known", o.known)
  end
  o.known = o.known or "rated"
  if type(o.user) == "string" then o.user = user_of(o) end
  check.expect(o.user == nil or o.user <= users, "model:recommend", "user", o.user, "an integer from 1 to %d", users)
  if o.names and #o.names < items then
    check.length("model:recommend", "names", #o.names, items, "one for each item")
  end
end

-- Returns a sentence with the number of user-item pairs that were left out because the user knows the item.
local function left_out_words(o, known, chosen, items)
  if o.seen == nil then return ("candidates: all %d items; without seen no item is left out"):format(items) end
  return ("candidates: all %d items; known = %s leaves out %d user-item pairs that are in seen"):format(items, o.known,
    known:count_without(known_items.nothing(known.users, known.items), chosen))
end

-- Finds the k best items of each chosen user by a product of the matrices `users` and `items` (the model's vectors, nil
-- if it has none). Returns nil if scoring all items is the only way or as fast, e.g. for few users or on a GPU.
local function top_by_product(users, items, chosen, seen, k)
  if not users or users:size(1) < seen.users or items:size(1) < seen.items then return nil end
  return core.top_of_catalogue(users, items, chosen, seen, k)
end

-- Finds the k best items of each chosen user for models without vectors, too: the function `scored` computes the scores
-- of all items for a block of users at a time.
local function top_by_scores(model, scored, chosen, seen, k)
  local candidates = require "moonrank.data.candidates"
  local nothing = known_items.nothing(seen.users, seen.items)
  local device, found = candidates.device_of(model), { items = {}, scores = {}, sizes = {} }
  candidates.blocks(chosen, seen.items, device, function(block)
    local made = core.catalogue_lists(block, nothing, seen, device)
    local top = core.top_rows(candidates.scores(scored, made, device), made.lists, k)
    table.insert(found.items, made.items:rows(top.rows):to("cpu"))
    table.insert(found.scores, top.scores:to("cpu"))
    table.insert(found.sizes, top.sizes)
  end)
  for name, parts in pairs(found) do found[name] = core.cat(parts, 1) end
  return found
end

local recommend_options = declare("mr.RecommendOptions", {
  { "user", "integer|string", least = 1, shown = "all users",
    help = "the user's number, or with seen the user's name in the file" },
  { "k", "integer", default = 10, least = 1, also = { "n", "top_n", "top_k" }, help = "number of items" },
  { "seen", "mr.Ratings|mr.Dataset|mr.Fold|(mr.Ratings|mr.Dataset|mr.Fold)[]",
    help = "items that users had before; a fold stands for its training part" },
  { "known", "string", choices = known_items.names, shown = '"rated"', help = "items of seen that are left out" },
  { "users", "integer", least = 1, shown = "that of the model", help = "number of users" },
  { "items", "integer", least = 1, shown = "that of the model", help = "number of items" },
  { "names", "string[]", help = "names of the items, for printing" },
})

---Implements mr.Model:recommend for models and baselines.
---@param model mr.Model  a model that scores users and items
function M.recommend(model, options)
  local o = recommend_options:read("model:recommend", options)
  local users, items = number_of(model, o, "users"), number_of(model, o, "items")
  check_options(o, users, items)
  local seen = known_items.of("recommend", parts_of(o.seen), o.known, users, items)
  local chosen = o.user and core.tensor({ o.user }, "int64", "cpu") or core.arange(1, users, 1, "int64", "cpu")
  local of_users, of_items = vectors.of(model)
  local found = top_by_product(of_users, of_items, chosen, seen, o.k)
    or top_by_scores(model, vectors.scorer(of_users, of_items) or model, chosen, seen, o.k)
  found.users, found.names, found.candidates = chosen, o.names or false, left_out_words(o, seen, chosen, items)
  return setmetatable(found, Recommendations)
end

return M
