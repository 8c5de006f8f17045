-- Ratings of items by users, and the protocol by which judged lists are made from them.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local fingerprint = require "moonrank.data.fingerprint"
local folds = require "moonrank.data.fold"

local M = {}

---@class mr.Ratings
---@field users integer        number of users
---@field items integer        number of items
---@field rows integer         number of ratings
---@field user mr.Tensor       [rows] int64
---@field item mr.Tensor       [rows] int64
---@field value mr.Tensor      [rows] float32
---@field user_ids string[]    what the file calls user 1, 2, ...
---@field item_ids string[]    what the file calls item 1, 2, ...
---@field fingerprint string    of the content, and of which users count
local Ratings = check.class("mr.Ratings")

-- Of what a reader of the core returned.
function M.new(name, read)
  return setmetatable({ name = name, user = read.user, item = read.item, value = read.value, user_ids = read.user_ids,
    item_ids = read.item_ids, users = #read.user_ids, items = #read.item_ids, rows = #read.user, binary = false, least = 0,
    _kept = false }, Ratings)
end

function Ratings:get_fingerprint()
  return fingerprint.combined("ratings", self.user, self.item, self.value, self.user_ids, self.item_ids, self.least)
end

local function changed(self, fields)
  local copy = {}
  for name, value in pairs(self) do copy[name] = value end
  for name, value in pairs(fields) do copy[name] = value end
  copy._kept = false
  return setmetatable(copy, Ratings)
end

---The same with relevance 1 where the rating is at least `threshold`, else 0.
---@param threshold number
---@return mr.Ratings
function Ratings:binarize(threshold)
  if type(threshold) ~= "number" then check.fail("binarize: threshold is %s, expected a number", tostring(threshold)) end
  return changed(self, { value = self.value:ge(threshold), binary = true })
end

---The same for users with at least `n` relevant items; users keep their numbers.
---@param n integer
---@return mr.Ratings
function Ratings:min_relevant(n)
  if math.type(n) ~= "integer" or n < 0 then check.fail("min_relevant: %s, expected an integer of 0 or more", tostring(n)) end
  return changed(self, { least = n })
end

-- The users whose items form the folds.
function Ratings:kept()
  if not self.binary then check.fail("folds: ratings are not relevance; say what is relevant first, e.g. ratings:binarize(4)") end
  if not self._kept then
    self._kept = core.positives(self.user, self.item, self.value, self.users, self.items, 1, self.least)
  end
  return self._kept
end

local function part(name, made) return dataset.new{ lists = made.lists, users = made.users, items = made.items, name = name } end

local function make_fold(kept, o, number)
  local made = core.make_fold(kept, o.k, number, o.nsr, o.valid, o.seed)
  return folds.new{
    train = part("train", made.train), valid = part("valid", made.valid), test = part("test", made.test),
    short_users = made.short_users, number = number, k = o.k, nsr = o.nsr, seed = o.seed,
    title = ("Fold %d of %d, %d negatives per relevant item, seed %d; %d users had too few unseen items and took all"):format(
      number, o.k, o.nsr, o.seed, made.short_users),
  }
end

-- Folds are made when they are first used, but errors in their options are raised at once.
local function fold_options(options)
  local o = check.options("folds", options, { k = 5, by = "user", seed = 1, nsr = 1, valid = 0.1 })
  check.choice("folds", "by", o.by, { "user" })
  for name, range in pairs{ k = { 2, math.maxinteger }, nsr = { 0, 4095 }, seed = { math.mininteger, math.maxinteger } } do
    local value = o[name]
    if math.type(value) ~= "integer" or value < range[1] or value > range[2] then
      local expected = name == "k" and "of at least 2" or name == "nsr" and "from 0 to 4095" or ""
      check.fail("folds: %s is %s, expected an integer %s", name, tostring(value), expected)
    end
  end
  if not (o.valid >= 0 and o.valid < 1) then check.fail("folds: valid is %s, expected a share from 0 to below 1", tostring(o.valid)) end
  return o
end

---k folds, made when they are first used. Each user's relevant items are shuffled and assigned to the folds in rotation; of those that are not
---test a share becomes validation (rounded, at least 1 of 2 or more). Each part gets `nsr` negatives per relevant item, drawn once without
---replacement from the items that are not relevant to the user in any part (low ratings may be among them). A user with too few such items has
---all of them, divided in proportion; the summary counts these users.
---@param options? { k?: integer, by?: "user", seed?: integer, nsr?: integer, valid?: number }  defaults 5, "user", 1, 1, 0.1
---@return mr.Fold[]
---Example: `#mr.data.synthetic{kind = "ratings", users = 20, items = 200}:binarize(4):folds{k = 3}   --> 3`
function Ratings:folds(options)
  local o = fold_options(options)
  local kept = self:kept()
  if kept.count == 0 then check.fail("folds: no user has %d relevant items", math.max(1, self.least)) end
  return folds.sequence(o.k, function(number) return make_fold(kept, o, number) end)
end

function Ratings:__tostring()
  return ("%s: %d users, %d items, %d ratings"):format(self.name, self.users, self.items, self.rows)
end

return M
