-- Tests ratings:folds: each protocol puts every interaction into the one part that it defines.
local mr = require "moonrank"
local files = require "tests.support.files"
local numbers = require "tests.support.numbers"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

-- Made-up ratings with timestamps, many of them equal. User u has about 3 u ratings.
local function made(users, items, seed)
  local lines, below = { "user,item,rating,timestamp\n" }, numbers.integers_below(seed)
  for user = 1, users do
    for item = 1, items do
      if below(items) < 3 * user then
        lines[#lines + 1] = ("%d,%d,%g,%d\n"):format(user, item, 1 + below(9) / 2, 1000 + below(40))
      end
    end
  end
  return mr.data.interactions(files.written(table.concat(lines)))
end

local ratings = made(12, 90, 3)
local binary = ratings:binarize(3)

-- Returns the interactions {user, item, grade, time, row} of all ratings that are at least `least`.
local function interactions(least)
  local out, user, item = {}, ratings.user:totable(), ratings.item:totable()
  local value, time = ratings.value:totable(), ratings.timestamp:totable()
  for i = 1, ratings.rows do
    if value[i] >= least then
      out[#out + 1] = { user = user[i], item = item[i], grade = value[i], time = time[i], row = i }
    end
  end
  return out
end

local names = { "train", "valid", "test" }

-- Returns the part and the grade of every row of a fold, by "user item".
local function rows_of(fold)
  local out = {}
  for _, name in ipairs(names) do
    local part, at = fold[name], 0
    local users, items, grades = part.users:totable(), part.items:totable(), part.lists.relevance:totable()
    for l, n in ipairs(part.lists.sizes:totable()) do
      for r = at + 1, at + n do
        local key = users[l] .. " " .. items[r]
        check(not out[key], "a row in two parts: " .. key)
        out[key] = { part = name, grade = grades[r], user = users[l], item = items[r] }
      end
      at = at + n
    end
  end
  return out
end

-- Checks that a fold has all interactions with their grades, and no other relevant rows. Adds its part to each
-- interaction.
local function divided(fold, all, grade)
  local rows, relevant = rows_of(fold), 0
  for _, each in ipairs(all) do
    local row = rows[each.user .. " " .. each.item]
    check(row and row.grade == (grade and each.grade or 1), each.user .. " " .. each.item)
    each.part = row.part
  end
  for _, row in pairs(rows) do relevant = relevant + (row.grade > 0 and 1 or 0) end
  equal(relevant, #all)
  return all, rows
end

local function by_user(all)
  local users = {}
  for _, each in ipairs(all) do
    users[each.user] = users[each.user] or { train = {}, valid = {}, test = {} }
    table.insert(users[each.user][each.part], each)
  end
  return users
end

local function rounded(share, n) return n < 2 and 0 or math.max(1, math.min(n - 1, math.floor(share * n + 0.5))) end

local liked = interactions(3)

it("folds{by = 'last'} tests the last n items of each user by time, later rows first if times are equal", function()
  for n = 1, 3 do
    local fold = binary:folds{ by = "last", n = n, nsr = 2 }[1]
    local whole = 0
    for _, own in pairs(by_user(divided(fold, interactions(3)))) do
      local all = {}
      for _, name in ipairs(names) do table.move(own[name], 1, #own[name], #all + 1, all) end
      table.sort(all, function(a, b)
        if a.time ~= b.time then return a.time > b.time end
        return a.row > b.row
      end)
      if #all <= 2 * n then
        whole = whole + 1
        equal(#own.train, #all)
      else
        for i, each in ipairs(all) do equal(each.part, i <= n and "test" or i <= 2 * n and "valid" or "train") end
      end
    end
    equal(fold.whole_users, whole)
    check(n == 1 or whole > 0)
    equal(tostring(fold):find("train only", 1, true) ~= nil, whole > 0)
  end
  local none = binary:folds{ by = "last", valid = 0 }[1]
  equal(none.valid.count, 0)
  local longest, of = 0, {}
  for _, row in ipairs(interactions(3)) do
    of[row.user] = (of[row.user] or 0) + 1
    longest = math.max(longest, of[row.user])
  end
  for _, n in ipairs{ longest, math.maxinteger } do
    for _, by in ipairs{ "last", "one" } do
      raises(function() binary:folds{ by = by, n = n }[1]:summary() end, "n", tostring(n), "test", "validation")
      raises(function() binary:folds{ by = by, n = n, valid = 0 }[1]:summary() end, "n", tostring(n), tostring(longest))
    end
  end
end)

it("folds{by = 'one'} tests one random item of each user, drawn again for each fold", function()
  local folds = binary:folds{ by = "one", k = 40, nsr = 1 }
  local times = {}
  for _, fold in ipairs(folds) do
    for user, own in pairs(by_user(divided(fold, interactions(3)))) do
      local n = #own.train + #own.valid + #own.test
      equal({ #own.valid, #own.test }, n > 2 and { 1, 1 } or { 0, 0 })
      for _, each in ipairs(own.test) do
        times[user .. " " .. each.item] = (times[user .. " " .. each.item] or 0) + 1
      end
    end
  end
  local tested, most = 0, 0
  for _, n in pairs(times) do tested, most = tested + 1, math.max(most, n) end
  check(tested > 0.8 * #liked and most < 40, "drawn anew each time")
  equal(folds[3].test.items:totable(), binary:folds{ by = "one", k = 3, nsr = 1 }[3].test.items:totable())
end)

it("folds{by = 'share'} tests a random share of each user's items and validates on a share of the rest", function()
  for _, fold in ipairs(binary:folds{ by = "share", test = 0.3, valid = 0.25, k = 3 }) do
    for _, own in pairs(by_user(divided(fold, interactions(3)))) do
      local n = #own.train + #own.valid + #own.test
      local tested = rounded(0.3, n)
      equal({ #own.test, #own.valid }, { tested, rounded(0.25, n - tested) })
    end
  end
end)

it("folds{by = 'time'} has no training item later than validation and no validation item later than test", function()
  for _, o in ipairs{ { by = "time" }, { by = "time", at = 1020 }, { by = "time", test = 0.5, valid = 0.3 } } do
    local bounds = { train = { 1e9, -1e9, 0 }, valid = { 1e9, -1e9, 0 }, test = { 1e9, -1e9, 0 } }
    for _, each in ipairs((divided(binary:folds(o)[1], interactions(3)))) do
      local b = bounds[each.part]
      b[1], b[2], b[3] = math.min(b[1], each.time), math.max(b[2], each.time), b[3] + 1
    end
    check(bounds.train[2] < bounds.valid[1] and bounds.valid[2] < bounds.test[1])
    if o.at then
      equal(bounds.test[1], 1020)
    else
      local share = o.test or 0.2
      check(bounds.test[3] >= share * #liked - 1 and bounds.test[3] < (share + 0.06) * #liked, bounds.test[3])
    end
  end
  raises(function() return binary:folds{ by = "time", at = 5000 }[1] end, "time", "5000", "1039")
  local longest = binary:kept(false).longest
  raises(function() binary:folds{ by = "last", n = 100000 } end, "n", "100000", tostring(longest), "train")
  local most = math.maxinteger
  raises(function() binary:folds{ by = "one", n = most } end, "n", tostring(most), tostring(longest))
  raises(function() binary:folds{ by = "one", n = longest, valid = 0 } end, "n", tostring(longest), "test")
  equal(binary:folds{ by = "one", n = longest - 1, valid = 0 }[1].test.lists.count > 0, true)
  raises(function() return binary:folds{ by = "time", at = 0 }[1] end, "time", "0")
end)

it("folds{by = 'cold_user' or 'cold_item'} keep each user or item in one part and test each once", function()
  for _, what in ipairs{ "user", "item" } do
    local tested = {}
    for _, fold in ipairs(binary:folds{ by = "cold_" .. what, k = 3, nsr = 2 }) do
      local all, rows = divided(fold, interactions(3))
      local part_of = {}
      for _, each in ipairs(all) do
        check(part_of[each[what]] == nil or part_of[each[what]] == each.part)
        part_of[each[what]] = each.part
        if each.part == "test" then tested[each[what]] = (tested[each[what]] or 0) + 1 end
      end
      local seen = {}
      for _, row in pairs(rows) do  -- negatives too
        check(seen[row[what]] == nil or seen[row[what]] == row.part, what .. " in two parts")
        seen[row[what]] = row.part
      end
      equal(what == "user" and fold.new_users > 0 or fold.new_items > 0, true)
    end
    for _, each in ipairs(liked) do check(tested[each[what]], "never tested") end
  end
end)

it("folds{grades = true} keep the grades and put every rated item in a part", function()
  for _, by in ipairs{ "user", "share", "one", "last", "time", "cold_user", "cold_item" } do
    local fold = ratings:folds{ by = by, grades = true }[1]
    local rated = 0
    for _, name in ipairs(names) do rated = rated + fold[name].lists.rows end
    equal(rated, ratings.rows)
    divided(fold, interactions(0), true)
  end
  equal(ratings:folds{ grades = true, nsr = 1 }[1].nsr, 1)
  raises(function() ratings:folds{} end, "ratings:binarize", "4", "grades = true")
end)

it("ratings:folds checks its options before it makes a fold", function()
  local bad = {
    { { by = "last", k = 3 }, "'last'", "k" }, { { n = 2 }, "'user'", "n" },
    { { by = "time", test = 0 }, "test", "0" }, { { by = "one", n = 0 }, "n", "0" },
    { { by = "cold_user", k = 1 }, "k", "1" }, { { by = "share", k = 0 }, "k", "0" },
    { { by = "tim" }, "'tim'", "'time'" }, { { by = "time", att = 3 }, "'att'" },
    { { by = "given" }, "'given'", "mr.data.interactions" },
    { { by = "time", at = 1.5 }, "at", "1.5" },
  }
  for _, case in ipairs(bad) do raises(function() binary:folds(case[1]) end, table.unpack(case, 2)) end
  local untimed = mr.data.synthetic{ kind = "ratings", users = 9, items = 40 }:binarize(3)
  raises(function() untimed:folds{ by = "last" } end, "'last'", "timestamps")
end)
