-- Tests saving and loading of popularity, item_knn and random models: equal scores, and one error for each damage of a
-- file.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, raises = test.it, test.equal, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 90, mean_activity = 20, seed = 5 }:binarize(4)
local fold = ratings:folds{ k = 4, nsr = 1, seed = 2 }[2]

local models = {
  popularity = mr.models.popularity{ fold = fold },
  item_knn = mr.models.item_knn{ fold = fold, k = 7, shrink = 2.5 },
  random = mr.models.random{ seed = -9, users = 40, items = 90 },
  unsized = mr.models.random{ seed = 1 << 60 },
}

local names = { "ap", "ndcg@10" }

for name, model in pairs(models) do
  it("mr.models.load restores a saved model: " .. name, function()
    local path = files.new_path()
    model:save(path)
    local again = mr.models.load(path)
    equal(tostring(again), tostring(model))
    equal({ again.kind, #again:parameters() }, { model.kind, 0 })
    local a, b = fold:evaluate(model, names), fold:evaluate(again, names)
    for _, each in ipairs(names) do equal(b[each]:totable(), a[each]:totable(), each) end
    if model.config.items then
      equal(again:recommend{ user = 3, seen = fold }:of(3), model:recommend{ user = 3, seen = fold.train }:of(3))
    end
    again:save(path)  -- overwrites a model file by the same model
    equal(tostring(mr.models.load(path)), tostring(model))
  end)
end

it("mr.models.load reads an item_knn model without ratings", function()
  local path = files.new_path()
  local known = core.user_items(mr.lists{}, core.tensor({}, "int64", "cpu"), core.tensor({}, "int64", "cpu"), 3, 4)
  local state = core.item_neighbours(known, 2, 0.0):state()
  local tensors = { state.known_counts, state.known_items, state.counts, state.items, state.cosines }
  local keys = { "known_counts", "known_items", "counts", "items", "cosines" }
  core.save_tensors(path, "moonrank model 1", keys, tensors,
    { "kind", "users", "items", "k", "shrink" }, { "item_knn", "3", "4", "2", "0" })
  equal(mr.models.load(path):recommend{ user = 2, k = 2 }:of(2), { 1, 2 })
end)

local function int64(t) return mr.tensor(t, { dtype = "int64" }) end

-- Returns the tensors of an item_knn model with two users and three items. Items 1 and 2 are each other's nearest
-- neighbours.
local function state()
  return { known_counts = int64{ 2, 1 }, known_items = int64{ 1, 2, 2 }, counts = int64{ 1, 1, 0 },
    items = int64{ 2, 1 }, cosines = mr.tensor{ 0.5, 0.5 } }
end
local texts = { kind = "item_knn", users = "2", items = "3", k = "1", shrink = "0" }

local function file_of(path, tensors, said)
  local found, values, keys, lines = {}, {}, {}, {}
  for key, x in pairs(tensors) do found[#found + 1], values[#values + 1] = key, x end
  for key, text in pairs(said) do keys[#keys + 1], lines[#lines + 1] = key, text end
  os.remove(path)
  core.save_tensors(path, "moonrank model 1", found, values, keys, lines)
  return path
end

local function changed(of, with)
  local copy = {}
  for name, value in pairs(of) do copy[name] = value end
  for name, value in pairs(with) do copy[name] = value or nil end
  return copy
end

it("mr.models.load checks every field of item_knn files", function()
  local path = files.new_path()
  equal(mr.models.load(file_of(path, state(), texts)):recommend{ user = 2, k = 3 }:of(2), { 1, 2, 3 })
  for _, case in ipairs{
    { { counts = int64{ 1, 1 } }, {}, "'counts'", "{2}", "int64" },
    { { counts = mr.tensor{ 1, 1, 0 } }, {}, "'counts'", "{3}", "float32" },
    { { counts = int64{ 1, 2, 0 } }, {}, "'counts'", "2" },
    { { counts = int64{ 1, 0, 0 } }, {}, "'counts'", "1" },
    { { counts = int64{ -1, 3, 0 } }, {}, "'counts'", "-1" },
    { { counts = int64{ 1 << 53, 1 << 53, 4 } }, {}, "0", "2" },
    { { known_counts = int64{ 3, 1 } }, {}, "'known_counts'", "1" },
    { { known_counts = int64{ 3 } }, {}, "'known_counts'", "{1}", "{2}" },
    { { items = int64{ 4, 1 } }, {}, "'items'", "4" },
    { { items = int64{ 0, 1 } }, {}, "'items'", "0" },
    { { items = int64{ { 2, 1 } } }, {}, "'items'", "int64" },
    { { known_items = int64{ 2, 2, 2 } }, {}, "'known_items'", "2" },
    { { known_items = int64{ 1, -(1 << 53), 2 } }, {}, "'known_items'", "-9007199254740992" },
    { { cosines = mr.tensor{ 0.5 } }, {}, "'cosines'", "2", "float32" },
    { { cosines = mr.tensor{ 0.5, 0 / 0 } }, {}, "'cosines'", "tensor" },
    { { cosines = mr.tensor{ 0.5, 7 } }, {}, "'cosines'", "7", "0" },
    { { cosines = false }, {}, "'cosines'", "tensor", "file" },
    { {}, { users = "9999999999999" }, "{9999999999999}", "int64" },
    { {}, { users = "-1" }, "users", "-1" },
    { {}, { users = false }, "users" },
    { {}, { items = "x" }, "items", "'x'" },
    { {}, { k = "0" }, "k", "0" },
    { {}, { k = false }, "k" },
    { {}, { shrink = "nan" }, "shrink", "'nan'" },
    { {}, { seed = "1" }, "'seed'", "option", "file" },
  } do
    raises(function()
      mr.models.load(file_of(path, changed(state(), case[1]), changed(texts, case[2])))
    end, path, table.unpack(case, 3))
  end
end)

it("mr.models.load checks every field of popularity and random files", function()
  local path = files.new_path()
  local popularity = { kind = "popularity", users = "2", items = "2" }
  equal(mr.models.load(file_of(path, { counts = int64{ 0, 2 } }, popularity)).config, { users = 2, items = 2 })
  for _, case in ipairs{
    { { counts = int64{ 0, 3 } }, popularity, "'counts'", "0", "2" },
    { { counts = int64{ -1, 1 } }, popularity, "0", "2" },
    { { counts = int64{ 1 } }, popularity, "'counts'", "{1}", "int64" },
    { {}, popularity, "'counts'", "tensor", "file" },
    { {}, { kind = "random" }, "seed" },
    { {}, { kind = "random", seed = "1.5" }, "seed", "1.5" },
    { {}, { kind = "random", seed = "1", users = "many" }, "users", "'many'" },
    { {}, { kind = "random", seed = "1", depth = "2" }, "'depth'", "option", "file" },
  } do raises(function() mr.models.load(file_of(path, case[1], case[2])) end, table.unpack(case, 3)) end
end)

it("recommendations convert to tables, with no rows for users without items left", function()
  local drawn = mr.data.synthetic{ kind = "ratings", users = 12, items = 40, seed = 3 }:binarize(3):folds{ k = 3 }[1]
  local found = mr.models.popularity{ fold = drawn }:recommend{ k = 3, seen = drawn }
  local rows, called, expected = found:table().rows, {}, {}
  for user = 1, 12 do
    local items, scores = found:of(user)
    for rank, item in ipairs(items) do expected[#expected + 1] = { user, rank, item, scores[rank] } end
  end
  equal(rows, expected)
  for i = 1, 40 do called[i] = "item " .. i end
  local one = mr.models.popularity{ fold = drawn }:recommend{ user = 2, k = 1, names = called }
  local items, scores = one:of(2)
  equal(one:to_csv(), ("user,rank,item,score,name\n2,1,%d,%d,item %d\n"):format(items[1], scores[1], items[1]))
  local all = mr.data.dataset{ lists = mr.lists{ { 1, 1 } }, users = mr.tensor({ 1 }, { dtype = "int64" }),
    items = mr.tensor({ 1, 2 }, { dtype = "int64" }) }
  local none = mr.models.random{}:recommend{ users = 1, items = 2, user = 1, seen = all }
  equal({ none:table().rows, none:to_json() }, { {}, "[]" })
end)
