-- Ways to divide interactions into train, validation and test: their options, and how a fold says which it is.
local check = require "moonrank.check"

local M = {}

---Test's share and number of items, of the ways that have them.
M.defaults = { test = 0.2, n = 1 }

-- What each takes beside by, nsr, negatives, seed, valid and grades, with defaults.
local ways = {
  user = { k = 5 },
  share = { k = 1, test = M.defaults.test },
  one = { k = 1, n = M.defaults.n },
  last = { n = M.defaults.n },
  time = { at = check.none, test = M.defaults.test },
  user_time = { n = M.defaults.n, test = M.defaults.test },
  cold_user = { k = 5 },
  cold_item = { k = 5 },
  given = {},
}

local most_folds = 4095  -- 12 bits of the keys of random numbers

local function check_integers(o)
  local least_k = (o.by == "share" or o.by == "one") and 1 or 2
  local ranges = { nsr = { 0, 4095 }, n = { 1, math.maxinteger }, at = { math.mininteger, math.maxinteger } }
  if ways[o.by].k then ranges.k = { least_k, o.by == "user" and math.maxinteger or most_folds } end
  for name, range in pairs(ranges) do
    local value = o[name]
    if value ~= nil and (math.type(value) ~= "integer" or value < range[1] or value > range[2]) then
      local expected = name == "nsr" and " from 0 to 4095" or name ~= "at" and (" of at least %d"):format(range[1]) or ""
      check.fail("folds: %s is %s, expected an integer%s", name, tostring(value), expected)
    end
  end
end

---The options of ratings:folds with defaults filled in. Errors in them are raised here, before a fold is made.
---@param ratings mr.Ratings
---@param options? table
---@return table
function M.options(ratings, options)
  local by = type(options) == "table" and options.by or "user"
  check.choice("folds", "by", by, check.names(ways))
  local defaults = { by = by, seed = 1, nsr = 1, negatives = "not_relevant", valid = 0.1, grades = false }
  for name, default in pairs(ways[by]) do defaults[name] = default end
  for name in pairs(type(options) == "table" and options or {}) do
    for _, other in pairs(ways) do
      if defaults[name] == nil and other[name] then check.fail("folds: by = '%s' takes no %s", by, name) end
    end
  end
  local o = check.options("folds", options, defaults)
  check.choice("folds", "negatives", o.negatives, { "not_relevant", "unrated" })
  check_integers(o)
  for _, name in ipairs{ "valid", "test" } do
    local value, least = o[name], name == "valid" and "0" or "above 0"
    if value and not (value < 1 and (value > 0 or name == "valid" and value == 0)) then
      check.fail("folds: %s is %s, expected a share from %s to below 1", name, tostring(value), least)
    end
  end
  if (by == "time" or by == "user_time" or by == "last") and not ratings.timestamp then
    check.fail("folds: by = '%s' needs timestamps, and these ratings have none (mr.data.interactions reads a column 'timestamp')", by)
  end
  if by == "given" and not ratings.part then
    check.fail("folds: by = 'given' needs ratings of several files, as mr.data.interactions{train = path, test = path} reads")
  end
  if o.grades and not (options and options.nsr) then o.nsr = 0 end
  o.k = o.k or 1
  return o
end

local function percent(share) return ("%.4g %%"):format(100 * share) end

local words = {
  user = function(o, number) return ("Fold %d of %d"):format(number, o.k) end,
  share = function(o, number) return ("Random %s of each user's items, %d of %d"):format(percent(o.test), number, o.k) end,
  one = function(o, number) return ("%d random of each user's items, %d of %d"):format(o.n, number, o.k) end,
  last = function(o) return o.n == 1 and "The last of each user's items" or ("The last %d of each user's items"):format(o.n) end,
  time = function(o) return o.at and ("From time %d on"):format(o.at) or ("The latest %s"):format(percent(o.test)) end,
  user_time = function(o) return ("The latest %s of each user's items, at least %d"):format(percent(o.test), o.n) end,
  cold_user = function(o, number) return ("Fold %d of %d of users"):format(number, o.k) end,
  cold_item = function(o, number) return ("Fold %d of %d of items"):format(number, o.k) end,
  given = function() return "As the files say" end,
}

---The first line of a fold's summary.
---@param o table            checked options
---@param number integer     which fold
---@param short_users integer
---@return string
function M.title(o, number, short_users)
  local short = short_users > 0 and ("; %s had too few unseen items and took all"):format(
    short_users == 1 and "1 user" or short_users .. " users") or ""
  local negatives = o.nsr == 1 and "1 negative" or o.nsr .. " negatives"
  return ("%s, %s per relevant item (%s), seed %d%s"):format(words[o.by](o, number), negatives, o.negatives, o.seed, short)
end

return M
