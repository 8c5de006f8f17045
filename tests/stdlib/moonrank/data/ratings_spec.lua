-- The protocol on ratings, seen from a script.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 400, mean_activity = 80, seed = 3 }
local binary = ratings:binarize(4):min_relevant(10)

-- Relevant and other items per user of a part.
local function by_user(part)
  local out, row = {}, 0
  local sizes, users = part.lists.sizes:totable(), part.users:totable()
  local items, relevance = part.items:totable(), part.lists.relevance:totable()
  for l, user in ipairs(users) do
    local here = { relevant = {}, negative = {} }
    for _ = 1, sizes[l] do
      row = row + 1
      here[relevance[row] == 1 and "relevant" or "negative"][items[row]] = true
    end
    out[user] = here
  end
  return out
end

local function count(set)
  local n = 0
  for _ in pairs(set) do n = n + 1 end
  return n
end

it("binarize and min_relevant leave the original as it is", function()
  local before = ratings.value:totable()
  equal(ratings:binarize(4).value:totable()[1], before[1] >= 4 and 1.0 or 0.0)
  equal(ratings.value:totable(), before)
  equal({ binary.users, binary.items, binary.rows }, { ratings.users, ratings.items, ratings.rows })
  raises(function() ratings:binarize "top" end, "threshold", "top")
  raises(function() ratings:min_relevant(2.5) end, "min_relevant", "2.5")
  raises(function() ratings:folds{} end, "ratings:binarize", "4")
  raises(function() return ratings.ratings end, "ratings", "mr.Ratings")
end)

it("folds cover what users like, and negatives are what they do not", function()
  local relevant = {}
  local user, item, value = ratings.user:totable(), ratings.item:totable(), ratings.value:totable()
  for i = 1, ratings.rows do
    if value[i] >= 4 then
      relevant[user[i]] = relevant[user[i]] or {}
      relevant[user[i]][item[i]] = true
    end
  end
  local tested, kept = {}, 0
  for u, items in pairs(relevant) do
    if count(items) >= 10 then
      kept = kept + 1
    else
      relevant[u] = nil
    end
  end
  check(kept > 5)
  local folds = binary:folds{ k = 4, by = "user", seed = 5, nsr = 2, valid = 0.25 }
  equal(#folds, 4)
  for _, fold in ipairs(folds) do
    local parts = { by_user(fold.train), by_user(fold.valid), by_user(fold.test) }
    equal({ fold.train.count, fold.valid.count, fold.test.count, fold.short_users }, { kept, kept, kept, 0 })
    for u, items in pairs(relevant) do
      local all, negatives = {}, {}
      for p, part in ipairs(parts) do
        for i in pairs(part[u].relevant) do
          check(items[i] and not all[i])
          all[i] = true
          if p == 3 then
            tested[u] = tested[u] or {}
            check(not tested[u][i])
            tested[u][i] = true
          end
        end
        for i in pairs(part[u].negative) do
          check(not items[i] and not negatives[i] and i >= 1 and i <= ratings.items)
          negatives[i] = true
        end
        equal(count(part[u].negative), 2 * count(part[u].relevant))
      end
      equal(count(all), count(items))
      local rest = count(items) - count(parts[3][u].relevant)
      equal(count(parts[2][u].relevant), math.max(1, math.floor(rest * 0.25 + 0.5)))
    end
  end
  for u, items in pairs(relevant) do equal(count(tested[u]), count(items)) end
end)

it("folds are the same for the same seed and others for another", function()
  local function items(options) return binary:folds(options)[2].test.items:totable() end
  equal(items{ k = 3, seed = 9 }, items{ k = 3, seed = 9 })
  check(not pcall(equal, items{ k = 3, seed = 9 }, items{ k = 3, seed = 10 }))
  check(not pcall(equal, items{ k = 3, nsr = 1 }, items{ k = 3, nsr = 2 }))
  local folds = binary:folds{ k = 3 }
  check(rawequal(folds[1], folds[1]), "a fold is made once")
end)

it("what is changed after folds were made makes other folds", function()
  local function users(r) return r:folds{ k = 2 }[1].test.count end
  local some = binary:min_relevant(10)
  local many = users(some)
  check(users(some:min_relevant(40)) < many)
  check(users(some:min_relevant(1)) > many)
  check(users(some:binarize(1)) == many, "grades of 0 and 1 stay what they are")
  equal(users(some), many)
end)

it("options of folds are checked before a fold is made", function()
  local bad = {
    { { k = 1 }, "folds: k is 1" }, { { k = 2.5 }, "folds: k is 2.5" },
    { { nsr = -1 }, "folds: nsr is -1" }, { { nsr = 1.5 }, "folds: nsr is 1.5" },
    { { valid = 1 }, "folds: valid is 1" }, { { valid = 0 / 0 }, "folds: valid is" }, { { by = "row" }, "folds: by is 'row'" },
    { { seeds = 1 }, "did you mean 'seed'?" }, { { seed = 1.5 }, "folds: seed is 1.5" },
  }
  for _, case in ipairs(bad) do raises(function() binary:folds(case[1]) end, case[2]) end
  raises(function() ratings:binarize(0 / 0) end, "threshold", "nan")
  raises(function() mr.data.synthetic{ kind = "queries", queries = 3 }:binarize(0 / 0) end, "threshold", "nan")
  for _, noise in ipairs{ 0 / 0, math.huge, -1 } do
    raises(function() mr.data.synthetic{ noise = noise } end, "noise is ")
    raises(function() mr.data.synthetic{ kind = "queries", noise = noise } end, "noise is ")
  end
  raises(function() ratings:binarize(4):min_relevant(100000):folds{} end, "folds", "100000")
  raises(function() return binary:folds{ k = 3 }[5] end, "fold 5")
end)

-- Ratings with one field replaced by hand.
local function with(field, value)
  local changed = ratings:binarize(4)
  changed[field] = value
  return changed
end

it("ratings that a script made say which part is of the wrong type", function()
  local expected = { user = "int64", item = "int64", value = "float32" }
  for field, right in pairs(expected) do
    for _, type in ipairs{ "float32", "float64", "int64" } do
      local changed = with(field, binary[field]:to(type))
      if type == right then
        check(changed:folds{ k = 2 }[1].train.count > 0)
      else
        local message = ("bad argument '%s' to 'folds' (%s is %s, expected %s)"):format(field, field, type, right)
        raises(function() changed:folds{ k = 2 } end, message)
      end
    end
  end
end)

it("a pair that is there twice is refused by name", function()
  local user, item = ratings.user:totable(), ratings.item:totable()
  user[2], item[2] = user[1], item[1]
  local twice = with("user", mr.tensor(user, { dtype = "int64" }))
  twice.item = mr.tensor(item, { dtype = "int64" })
  raises(function() twice:folds{ k = 2 } end, ("user %d has item %d more than once, expected each pair once"):format(user[1], item[1]))
end)

it("a summary counts lists, rows and users without enough items", function()
  local path = os.tmpname()
  local file <close> = assert(io.open(path, "w"))
  file:write "user,item,rating\n"
  for i = 1, 15 do file:write("1,", i, ",5\n") end
  for i = 16, 20 do file:write("2,", i, ",5\n") end
  file:flush()
  local fold = mr.data.interactions(path):binarize(4):folds{ k = 2, nsr = 1, valid = 0.1, seed = 2 }[1]
  os.remove(path)
  equal(fold.short_users, 1)
  local text = fold:summary()
  check(text:find("Fold 1 of 2, 1 negative", 1, true) and text:find("seed 2; 1 user had too few unseen items", 1, true), text)
  -- user 1: 8 of 15 in test, 3 of 5 unseen items; user 2: 3 of 5 and 3 negatives
  check(text:find("11 relevant rows     0 lists without a relevant row, 0 lists of relevant rows only", 1, true), text)
  -- user 1: 1 relevant item and no negative is left for it
  check(text:find("2 relevant rows     0 lists without a relevant row, 1 lists of relevant rows only", 1, true), text)
  equal(tostring(fold), text)
end)
