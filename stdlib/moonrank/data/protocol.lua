-- Checks the options of ratings:folds and writes the titles of its folds. ratings:folds divides interactions into
-- train, validation and test.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

---Defaults of the options `test` (share of the data in the test part) and `n` (number of test items of each user).
M.defaults = { test = 0.2, n = 1 }

-- Maps each value of the option `by` to the further options that it accepts, with their defaults. The value false
-- stands for an option without a default.
local ways = {
  user = { k = 5 },
  share = { k = 1, test = M.defaults.test },
  one = { k = 1, n = M.defaults.n },
  last = { n = M.defaults.n },
  time = { at = false, test = M.defaults.test },
  user_time = { n = M.defaults.n, test = M.defaults.test },
  cold_user = { k = 5 },
  cold_item = { k = 5 },
  given = {},
}

-- Largest number of folds: the fold's number has only 12 bits in the key of the random number generator.
local most_folds = 4095

-- Returns the values of `by` that accept the option `name`, sorted.
local function ways_with(name)
  local found = {}
  for _, by in ipairs(check.names(ways)) do
    if ways[by][name] ~= nil then found[#found + 1] = by end
  end
  return { by = found }
end

local fold_options = declare("mr.FoldOptions", {
  { "by", "string", default = "user", choices = check.names(ways), help = "how the parts are divided" },
  { "k", "integer", least = 1, shown = '5 for "user", "cold_user" and "cold_item", else 1', only_with = ways_with "k",
    also = { "folds", "n_folds", "n_splits" }, help = "number of folds" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the parts and of the negatives" },
  { "nsr", "integer", least = 0, most = 4095, shown = "1; 0 with grades",
    help = "negative sampling ratio: sampled items per relevant item" },
  { "negatives", "string", default = "not_relevant", choices = { "not_relevant", "unrated" },
    help = "items from which the negatives of a user are drawn" },
  { "valid", "number", default = 0.1, least = 0, below = 1,
    help = "share of the data outside test that becomes validation" },
  { "test", "number", above = 0, below = 1, shown = "0.2", only_with = ways_with "test", also = { "test_size" },
    help = "share of test" },
  { "n", "integer", least = 1, shown = "1", only_with = ways_with "n",
    help = 'number of test items of each user; their smallest number under by = "user_time"' },
  { "at", "integer", shown = "from the share test", only_with = ways_with "at", help = "time at which test begins" },
  { "grades", "boolean", default = false, help = "whether ratings are kept as grades" },
})

local function check_folds(by, k)
  local least = (by == "share" or by == "one") and 1 or 2
  check.expect(k >= least and (by == "user" or k <= most_folds), "ratings:folds", "k", k,
    "an integer of at least %d%s", least, by ~= "user" and (" and at most %d"):format(most_folds) or "")
end

---Checks the options of ratings:folds and returns them with defaults filled in. A wrong option
---raises an error before any fold is made.
function M.options(ratings, options)
  local o = fold_options:read("ratings:folds", options)
  local by, own = o.by, ways[o.by]
  for name, default in pairs(own) do o[name] = o[name] or default or nil end
  if own.k then check_folds(by, o.k) end
  local is_timed = by == "time" or by == "user_time" or by == "last"
  check.expect(not is_timed or ratings.timestamp, "ratings:folds", "by", by, "a way without timestamps, because these "
    .. "ratings have none (mr.data.interactions reads a column 'timestamp')")
  check.expect(by ~= "given" or ratings.part, "ratings:folds", "by", by, "another way, because these ratings are not "
    .. "of several files, as mr.data.interactions{train = path, test = path} reads")
  o.nsr = o.nsr or (o.grades and 0 or 1)
  o.k = o.k or 1
  return o
end

local function percent(share) return ("%.4g %%"):format(100 * share) end

local words = {
  user = function(o, number) return ("Fold %d of %d"):format(number, o.k) end,
  share = function(o, number)
    return ("Random %s of each user's items, %d of %d"):format(percent(o.test), number, o.k)
  end,
  one = function(o, number) return ("%d random of each user's items, %d of %d"):format(o.n, number, o.k) end,
  last = function(o)
    return o.n == 1 and "The last of each user's items" or ("The last %d of each user's items"):format(o.n)
  end,
  time = function(o) return o.at and ("From time %d on"):format(o.at) or ("The latest %s"):format(percent(o.test)) end,
  user_time = function(o) return ("The latest %s of each user's items, at least %d"):format(percent(o.test), o.n) end,
  cold_user = function(o, number) return ("Fold %d of %d of users"):format(number, o.k) end,
  cold_item = function(o, number) return ("Fold %d of %d of items"):format(number, o.k) end,
  given = function() return "As the files say" end,
}

---Returns the first line of a fold's summary: how the parts were divided, the number of negatives and the seed.
---@param o table            options that M.options returned
---@param number integer     number of the fold
---@param short_users integer  number of users with fewer unseen items than the requested negatives
function M.title(o, number, short_users)
  local short = short_users > 0 and ("; %s had too few unseen items, all of which were used"):format(
    short_users == 1 and "1 user" or short_users .. " users") or ""
  local negatives = o.nsr == 1 and "1 negative" or o.nsr .. " negatives"
  return ("%s, %s per relevant item (%s), seed %d%s"):format(words[o.by](o, number), negatives, o.negatives, o.seed,
    short)
end

return M
