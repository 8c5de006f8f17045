-- Tests splitting of ratings into folds as scripts do it.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 400, mean_activity = 80, seed = 3 }
local binary = ratings:binarize(4):min_relevant(10)

it("binarize and min_relevant do not change the original ratings", function()
  local before = ratings.value:totable()
  equal(ratings:binarize(4).value:totable()[1], before[1] >= 4 and 1.0 or 0.0)
  equal(ratings.value:totable(), before)
  equal({ binary.users, binary.items, binary.rows }, { ratings.users, ratings.items, ratings.rows })
  raises(function() ratings:binarize "top" end, "threshold", "top")
  raises(function() ratings:min_relevant(2.5) end, "min_relevant", "2.5")
  raises(function() ratings:folds{} end, "ratings:binarize", "4")
  raises(function() return ratings.ratings end, "ratings", "mr.Ratings")
end)

it("ratings:folds puts every user with enough relevant items in each part", function()
  local liked, kept = {}, 0
  for i, user in ipairs(ratings.user:totable()) do
    liked[user] = (liked[user] or 0) + (ratings.value[i]:item() >= 4 and 1 or 0)
  end
  for _, count in pairs(liked) do kept = kept + (count >= 10 and 1 or 0) end
  check(kept > 5)
  local folds = binary:folds{ k = 4, by = "user", seed = 5, nsr = 2, valid = 0.25 }
  equal(#folds, 4)
  for _, fold in ipairs(folds) do
    equal({ fold.train.count, fold.valid.count, fold.test.count, fold.short_users }, { kept, kept, kept, 0 })
  end
end)

it("ratings:folds is reproducible for a seed and differs between seeds and options", function()
  local function items(options) return binary:folds(options)[2].test.items:totable() end
  equal(items{ k = 3, seed = 9 }, items{ k = 3, seed = 9 })
  check(not pcall(equal, items{ k = 3, seed = 9 }, items{ k = 3, seed = 10 }))
  check(not pcall(equal, items{ k = 3, nsr = 1 }, items{ k = 3, nsr = 2 }))
  local folds = binary:folds{ k = 3 }
  check(rawequal(folds[1], folds[1]), "a fold is made once")
end)

it("errors and the summary propose a threshold that makes some ratings relevant", function()
  for rated, threshold in pairs{ ["user,item\n1,2\n1,3\n2,3\n2,4\n"] = 1,
    ["user,item,rating\n1,2,3\n1,3,2\n2,3,3\n"] = 3, ["user,item,rating\n1,2,5\n1,3,2\n2,3,4\n"] = 4 } do
    local some, proposed = mr.data.interactions(files.written(rated)), ("binarize(%d)"):format(threshold)
    check(tostring(some):find(proposed, 1, true), tostring(some))
    raises(function() some:folds{ k = 2 } end, "folds", proposed)
    raises(function() some:binarize(6):folds{ k = 2 } end, "folds", "6", proposed)
    check(some:binarize(threshold):kept(false).count > 0, proposed)
  end
end)
it("min_relevant and binarize called after folds give new folds", function()
  local function users(r) return r:folds{ k = 2 }[1].test.count end
  local some = binary:min_relevant(10)
  local many = users(some)
  check(users(some:min_relevant(40)) < many)
  check(users(some:min_relevant(1)) > many)
  check(users(some:binarize(1)) == many, "grades of 0 and 1 stay what they are")
  equal(users(some), many)
end)

it("ratings:folds checks its options before it makes a fold", function()
  local bad = {
    { { k = 1 }, "k", "1" }, { { k = 2.5 }, "k", "2.5" },
    { { nsr = -1 }, "nsr", "-1" }, { { nsr = 1.5 }, "nsr", "1.5" },
    { { valid = 1 }, "valid", "1" }, { { valid = 0 / 0 }, "folds", "valid" }, { { by = "row" }, "by", "'row'" },
    { { seeds = 1 }, "'seeds'", "'seed'" }, { { seed = 1.5 }, "seed", "1.5" },
  }
  for _, case in ipairs(bad) do raises(function() binary:folds(case[1]) end, table.unpack(case, 2)) end
  raises(function() ratings:binarize(0 / 0) end, "threshold", "NaN")
  raises(function() mr.data.synthetic{ kind = "queries", queries = 3 }:binarize(0 / 0) end, "threshold", "NaN")
  raises(function() ratings:binarize(4):min_relevant(100000):folds{} end, "folds", "100000")
  raises(function() return binary:folds{ k = 3 }[5] end, "fold", "5")
end)

it("ratings:folds names the field with a wrong dtype in ratings that a script changed", function()
  local expected = { user = "int64", item = "int64", value = "float32" }
  for field, right in pairs(expected) do
    for _, type in ipairs{ "float32", "float64", "int64" } do
      local changed = ratings:binarize(4)
      changed[field] = binary[field]:to(type)
      if type == right then
        check(changed:folds{ k = 2 }[1].train.count > 0)
      else
        raises(function() changed:folds{ k = 2 } end, field, type, right)
      end
    end
  end
end)

it("ratings:binarize gives the same grades and folds whether or not a script reads `value` before", function()
  for _, thresholds in ipairs{ { 4 }, { 3.5, 1 }, { 3.5, 0.5, 1 }, { 3.7 } } do
    local unread, read, values = ratings, ratings, ratings.value
    for _, threshold in ipairs(thresholds) do
      unread, read = unread:binarize(threshold), read:binarize(threshold)
      values = values:ge(threshold)
      equal(read.value:totable(), values:totable())
    end
    equal({ unread.fingerprint, unread.threshold, unread:range() }, { read.fingerprint, read.threshold, read:range() })
    local a, b = unread:folds{ k = 2 }[1].train, read:folds{ k = 2 }[1].train
    equal({ a.items:totable(), a.users:totable() }, { b.items:totable(), b.users:totable() })
    equal(unread.value:totable(), values:totable())
  end
end)

it("a second threshold that would give all grades 0 and 1 the same value is an error", function()
  local fold = binary:folds{ k = 2 }[1]
  local queries = mr.data.synthetic{ kind = "queries", queries = 20 }
  for _, threshold in ipairs{ 4, 5, 1.5, 0, -1, math.huge } do
    for _, twice in ipairs{ binary, fold, fold.test, fold.train:concat(fold.test), fold.train:split{ share = 0.5 },
      fold.test:to "cpu", queries:binarize(2), queries:binarize "top" } do
      raises(function() twice:binarize(threshold) end, "binarize", "threshold", ("%.14g"):format(threshold),
        threshold > 1 and "none" or "all", "once")
    end
  end
  equal(fold:binarize(1).test.lists.relevance:totable(), fold.test.lists.relevance:totable())
  local graded = queries:binarize(2):with_relevance(queries.lists.relevance):binarize(2)
  equal(graded.lists.relevance:totable(), queries:binarize(2).lists.relevance:totable())
  local rated = ratings:folds{ k = 2, grades = true }[1].train
  check(rated:binarize(4).lists.relevance:sum():item() > 0, "folds with grades have the ratings")
end)

it("fold:summary counts lists, rows and users with too few items", function()
  local lines = { "user,item,rating\n" }
  for i = 1, 20 do lines[i + 1] = ("%d,%d,5\n"):format(i <= 15 and 1 or 2, i) end
  local path = files.written(table.concat(lines))
  local fold = mr.data.interactions(path):binarize(4):folds{ k = 2, nsr = 1, valid = 0.1, seed = 2 }[1]
  equal(fold.short_users, 1)
  local text = fold:summary()
  check(text:find("Fold 1 of 2, 1 negative", 1, true) and text:find("seed 2; 1 user", 1, true), text)
  -- relevant rows in test: user 1 has 8 of 15 there, with 3 of 5 unseen items as negatives; user 2 has 3 of 5, and 3
  -- negatives
  check(text:find("11 relevant rows\n"), text)
  -- validation: user 1 has 1 relevant item, and no negative is left
  check(text:find("2 relevant rows; 1 list"), text)
  equal(tostring(fold), text)
end)

it("hold_out moves a share of each user's rows of train to validation: rounded down, and at least one", function()
  local train, tested = { "user,item\n" }, { "user,item\n" }
  for user, count in ipairs{ 1, 2, 19, 20, 35 } do
    for item = 1, count do train[#train + 1] = ("%d,%d\n"):format(user, item) end
    tested[#tested + 1] = ("%d,%d\n"):format(user, 40)
  end
  tested[#tested + 1] = "6,40\n"  -- a user without rows of train
  local given = mr.data.interactions{ train = files.written(table.concat(train)),
    test = files.written(table.concat(tested)) }:binarize(1)
  -- Counts of the parts train (0), validation (1) and test (2) by user, and the items held out of user 5.
  local function counts(held)
    local found, items, item = {}, {}, held.item:totable()
    for row, user in ipairs(held.user:totable()) do
      local part = held.part:totable()[row]
      found[user] = found[user] or { 0, 0, 0 }
      found[user][part + 1] = found[user][part + 1] + 1
      items[#items + 1] = part == 1 and user == 5 and item[row] or nil
    end
    return found, table.concat(items, " ")
  end
  local found, first = counts(given:hold_out())
  equal(found, { { 0, 1, 1 }, { 1, 1, 1 }, { 18, 1, 1 }, { 18, 2, 1 }, { 32, 3, 1 }, { 0, 0, 1 } })
  equal((counts(given:hold_out{ valid = 0.3 })),
    { { 0, 1, 1 }, { 1, 1, 1 }, { 14, 5, 1 }, { 14, 6, 1 }, { 25, 10, 1 }, { 0, 0, 1 } })
  local _, again = counts(given:hold_out{ seed = 1 })
  local _, other = counts(given:hold_out{ seed = 2 })
  check(again == first and other ~= first, "the seed chooses")
  check((counts(given))[3][2] == 0, "the ratings themselves do not change")
  local fold = given:hold_out():folds{ by = "given", nsr = 0 }[1]
  equal({ fold.train.lists.rows, fold.valid.lists.rows, fold.test.lists.rows }, { 69, 8, 6 })
  raises(function() binary:hold_out() end, "hold_out", "parts")
  for _, share in ipairs{ 0, 1 } do
    raises(function() given:hold_out{ valid = share } end, "ratings:hold_out", "valid", tostring(share))
  end
end)
