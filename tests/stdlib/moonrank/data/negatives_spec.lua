-- Tests mr.data.sample_negatives: which items are drawn, and from which stream of random numbers.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, check, equal, raises = test.it, test.check, test.equal, test.raises

-- Returns a part in which list l belongs to one user and has these relevant items.
local function part(users, items)
  local grades, rows = {}, {}
  for l, own in ipairs(items) do
    grades[l] = {}
    for i, item in ipairs(own) do grades[l][i], rows[#rows + 1] = 1, item end
  end
  return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }),
    items = mr.tensor(rows, { dtype = "int64" }) }
end

-- Returns the items of lists whose negatives are drawn one after the other from one stream of random numbers. A number
-- u gives item floor(u items) + 1, which is skipped if the list has it or `known` contains it. `lists` has {relevant
-- items, known items} of each list.
local function by_hand(lists, nsr, items, seed)
  local stream, at, rows = {}, 0, {}
  for block = 1, 3 do
    local some = mr.uniform({ 100000 }, { seed = seed * 1000003 + block, dtype = "float64" }):totable()
    table.move(some, 1, #some, #stream + 1, stream)
  end
  for _, list in ipairs(lists) do
    local taken = {}
    for _, item in ipairs(list[2]) do taken[item] = true end
    table.move(list[1], 1, #list[1], #rows + 1, rows)
    local wanted = #rows + nsr * #list[1]
    while #rows < wanted do
      at = at + 1
      local item = math.floor(stream[at] * items) + 1
      if not taken[item] then rows[#rows + 1], taken[item] = item, true end
    end
  end
  return rows
end

-- Returns the items of all rows of all parts after sampling negatives.
local function rows_of(parts, nsr, items, seed)
  local rows = {}
  for _, each in ipairs(mr.data.sample_negatives(parts, { nsr = nsr, items = items, seed = seed })) do
    table.move(each.items:totable(), 1, each.lists.rows, #rows + 1, rows)
  end
  return rows
end

it("mr.data.sample_negatives avoids a part's own relevant items, and those of the parts before it", function()
  local parts = { part({ 3, 1 }, { { 1, 2 }, { 5 } }), part({ 1, 3 }, { { 6 }, { 3 } }) }
  for seed = 1, 20 do  -- there are seven items, of which few may be drawn, so that each rule excludes some draws
    local expected =
      by_hand({ { { 1, 2 }, { 1, 2 } }, { { 5 }, { 5 } }, { { 6 }, { 5, 6 } }, { { 3 }, { 1, 2, 3 } } }, 2, 7, seed)
    equal(rows_of(parts, 2, 7, seed), expected)
  end
end)

it("mr.data.sample_negatives does not repeat its stream after 100,000 numbers", function()
  local parts = { part({ 1, 2 }, { { 7 }, { 8 } }), part({ 1, 2 }, { { 9 }, { 10 } }) }
  local expected = by_hand({ { { 7 }, { 7 } }, { { 8 }, { 8 } }, { { 9 }, { 7, 9 } }, { { 10 }, { 8, 10 } } },
    60000, 1000000, 5)
  local found = rows_of(parts, 60000, 1000000, 5)
  local different = #found == #expected and 0 or 1
  for i, item in ipairs(expected) do different = different + (found[i] == item and 0 or 1) end
  equal(different, 0)
end)

local function as_sets(of)
  local sets, users, items, grades, at = {}, of.users:totable(), of.items:totable(), of.lists.relevance:totable(), 0
  for l, n in ipairs(of.lists.sizes:totable()) do
    local own = { relevant = {}, negative = {} }
    for i = at + 1, at + n do
      check(not own.relevant[items[i]] and not own.negative[items[i]], "an item twice in a list")
      own[grades[i] > 0 and "relevant" or "negative"][items[i]] = true
    end
    sets[users[l]], at = own, at + n
  end
  return sets
end

it("negatives of train may be relevant in test, and those of test may have been train's", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, seed = 3 }:binarize(4)
  local both, overlap = ratings:folds{ by = "share", test = 0.2, nsr = 0, valid = 0 }[1], { 0, 0 }
  for seed = 1, 3 do
    local train, test_part = table.unpack(mr.data.sample_negatives({ both.train, both.test },
      { nsr = 2, items = ratings.items, seed = seed }))
    local of_train = as_sets(train)
    for user, of in pairs(as_sets(test_part)) do
      for item in pairs(of.negative) do
        check(not of_train[user].relevant[item], "a negative of test is relevant in train")
        overlap[1] = overlap[1] + (of_train[user].negative[item] and 1 or 0)
      end
      for item in pairs(of_train[user].negative) do overlap[2] = overlap[2] + (of.relevant[item] and 1 or 0) end
    end
  end
  check(overlap[1] > 0 and overlap[2] > 0, table.concat(overlap, " "))
  local o = { items = ratings.items, seed = 7 }
  equal(mr.data.sample_negatives({ both.train }, o)[1].fingerprint,
    mr.data.sample_negatives({ both.train }, o)[1].fingerprint)
end)

it("mr.data.sample_negatives takes all other items of a user if they are few", function()
  local parts = { part({ 1 }, { { 1, 2, 3 } }), part({ 1 }, { { 4 } }) }
  equal(#rows_of(parts, 5, 6, 1), 6 + 3)
end)

it("mr.data.sample_negatives keeps the names of users and items", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }:binarize(4)
  local train = ratings:folds{ by = "share", nsr = 0 }[1].train
  check(train.ids)
  equal(mr.data.sample_negatives({ train }, { items = 90 })[1].ids, train.ids)
  equal(mr.data.sample_negatives({ part({ 1 }, { { 4 } }) }, { items = 6 })[1].ids, false)
end)

it("mr.data.sample_negatives keeps weights of lists and refuses weights of rows", function()
  local plain = part({ 1, 2 }, { { 1, 2 }, { 3 } })
  local function sampled(weights)
    local lists = plain.lists:weighted(weights)
    local weighted = mr.data.dataset{ lists = lists, users = plain.users, items = plain.items }
    return mr.data.sample_negatives({ weighted }, { items = 9 })[1].lists
  end
  equal(sampled{ list_weights = { 3, 0.5 } }.list_weights:totable(), { 3.0, 0.5 })
  equal(sampled{}.list_weights, nil)
  raises(function() sampled{ weights = { 1, 2, 3 } } end, "parts[1]", "weights")
end)

it("mr.data.sample_negatives refuses parts with negatives or without users, naming the part", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 30, items = 90 }:binarize(4)
  local fold = ratings:folds{ by = "share", nsr = 0 }[1]
  raises(function() mr.data.sample_negatives({ fold.train, ratings:folds{ by = "share" }[1].test }, { items = 90 }) end,
    "parts[2]", "nsr = 0")
  local queries = mr.data.synthetic{ kind = "queries", queries = 3 }
  raises(function() mr.data.sample_negatives({ queries }, { items = 90 }) end, "parts[1]")
  raises(function() mr.data.sample_negatives({ fold.train }, {}) end, "items")
end)
