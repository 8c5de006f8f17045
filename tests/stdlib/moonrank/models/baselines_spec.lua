-- Tests saving and loading of models without training: equal scores, and one error for each damage of a file. Scores of
-- item_mean and pure_svd are compared with those of plain Lua.
local mr = require "moonrank"
local core = require "moonrank.core"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, near, raises = test.it, test.equal, test.near, test.raises

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 90, mean_activity = 20, seed = 5 }:binarize(4)
local fold = ratings:folds{ k = 4, nsr = 1, seed = 2 }[2]

local models = {
  popularity = mr.models.popularity{ fold = fold },
  item_knn = mr.models.item_knn{ fold = fold, k = 7, shrink = 2.5 },
  item_mean = mr.models.item_mean{ fold = fold },
  pure_svd = mr.models.pure_svd{ fold = fold, factors = 3, iterations = 5, seed = 8 },
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

it("mr.models.load checks every field of item_mean and pure_svd files", function()
  local path, x64 = files.new_path(), { dtype = "float64" }
  local means = { kind = "item_mean", users = "2", items = "2" }
  local svd = { kind = "pure_svd", users = "2", items = "3", factors = "5", iterations = "1", seed = "1" }
  local vectors = { users = mr.ones({ 2, 2 }, x64), items = mr.ones({ 3, 2 }, x64) }
  equal(mr.models.load(file_of(path, vectors, svd)):recommend{ user = 2, k = 1 }:of(2), { 1 })
  for _, case in ipairs{
    { { means = mr.ones{ 2 } }, means, "'means'", "float32", "float64" },
    { { means = mr.ones({ 3 }, x64) }, means, "'means'", "{3}" },
    { {}, means, "'means'" },
    { changed(vectors, { users = mr.ones({ 2, 3 }, x64) }), svd, "'users'", "{2, 3}", "{2, 2}" },
    { changed(vectors, { items = mr.ones({ 2, 2 }, x64) }), svd, "'items'", "{2, 2}", "{3, 2}" },
    { vectors, changed(svd, { factors = false }), "factors" },
    { vectors, changed(svd, { factors = "1" }), "'users'", "{2, 1}" },
  } do raises(function() mr.models.load(file_of(path, case[1], case[2])) end, path, table.unpack(case, 3)) end
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

-- A fold of graded ratings. `rows` has { user, item, grade }, in the order of users.
local function graded(users, items, rows)
  local lists, of_users, of_items = {}, {}, {}
  for _, row in ipairs(rows) do
    if of_users[#of_users] ~= row[1] then lists[#lists + 1], of_users[#of_users + 1] = {}, row[1] end
    table.insert(lists[#lists], row[3])
    of_items[#of_items + 1] = row[2]
  end
  local train = mr.data.dataset{ lists = mr.lists(lists), users = int64(of_users), items = int64(of_items) }
  return mr.data.fold{ train = train, valid = train, test = train, users = users, items = items }
end

-- The scores of all items for all users, user by user.
local function matrix_of(model, users, items)
  local lists, of_users, of_items = {}, {}, {}
  for user = 1, users do
    lists[user], of_users[user] = {}, user
    for item = 1, items do lists[user][item], of_items[#of_items + 1] = 0, item end
  end
  local all = mr.data.dataset{ lists = mr.lists(lists), users = int64(of_users), items = int64(of_items) }
  return model(all):totable()
end

it("item_mean has an item's mean grade, and the mean of all grades for an item without rows", function()
  local small = graded(2, 4, { { 1, 1, 5 }, { 1, 2, 2 }, { 2, 1, 4 }, { 2, 3, 0 } })
  local model = mr.models.item_mean{ fold = small }
  equal(matrix_of(model, 2, 4), { 4.5, 2, 0, 2.75, 4.5, 2, 0, 2.75 })
  equal(model(small.test).dtype, "float64")
end)

-- Plain Lua: projects a matrix onto its `factors` largest singular vectors, by rotations that make pairs of columns
-- orthogonal (one-sided Jacobi). Returns the entries row by row.
local function projected(matrix, factors)
  local m, n, columns, turned = #matrix, #matrix[1], {}, {}
  for j = 1, n do
    columns[j], turned[j] = {}, {}
    for i = 1, m do columns[j][i] = matrix[i][j] end
    for i = 1, n do turned[j][i] = i == j and 1 or 0 end
  end
  local function dot(a, b)
    local sum = 0
    for i = 1, #a do sum = sum + a[i] * b[i] end
    return sum
  end
  for _ = 1, 60 do
    for p = 1, n do
      for q = p + 1, n do
        local angle = 0.5 * math.atan(2 * dot(columns[p], columns[q]),
          dot(columns[p], columns[p]) - dot(columns[q], columns[q]))
        local c, s = math.cos(angle), math.sin(angle)
        for _, each in ipairs{ columns, turned } do
          for i, a in ipairs(each[p]) do
            local b = each[q][i]
            each[p][i], each[q][i] = c * a + s * b, c * b - s * a
          end
        end
      end
    end
  end
  local order, found = {}, {}
  for j = 1, n do order[j] = j end
  table.sort(order, function(a, b) return dot(columns[a], columns[a]) > dot(columns[b], columns[b]) end)
  for i = 1, m do
    for j = 1, n do
      local sum = 0
      for k = 1, factors do sum = sum + columns[order[k]][i] * turned[order[k]][j] end
      found[#found + 1] = sum
    end
  end
  return found
end

it("pure_svd projects the grades onto their largest singular vectors, of more or fewer users than items", function()
  for _, size in ipairs{ { 5, 8 }, { 8, 5 } } do
    local users, items = table.unpack(size)
    local matrix, rows = {}, {}
    for user = 1, users do
      matrix[user] = {}
      for item = 1, items do
        local grade = (user * 7 + item * item * 3 + user * item * 5) % 11
        matrix[user][item] = grade <= 5 and grade or 0
        if grade <= 5 then rows[#rows + 1] = { user, item, grade } end
      end
    end
    local of = graded(users, items, rows)
    for factors = 1, 5 do
      for seed = 1, 2 do
        local model = mr.models.pure_svd{ fold = of, factors = factors, iterations = 3000, seed = seed }
        near(matrix_of(model, users, items), projected(matrix, factors), 1e-8, ("%d factors"):format(factors))
      end
    end
  end
end)

it("pure_svd's part of a smaller singular value falls by its ratio, squared, in each iteration", function()
  -- Singular values are 5 and 4.5. User 2 has a share of item 1 through the second one alone.
  local of = graded(2, 2, { { 1, 1, 5 }, { 2, 2, 4.5 } })
  local function share(iterations)
    local scores = matrix_of(mr.models.pure_svd{ fold = of, factors = 1, iterations = iterations }, 2, 2)
    return scores[3] / scores[1]
  end
  near(share(12) / share(2), (4.5 / 5) ^ 20, 1e-9)
end)

it("pure_svd keeps all grades with more factors than users or than the rank; a fold needs items", function()
  local of = graded(3, 4, { { 1, 1, 2 }, { 1, 2, 4 }, { 2, 1, 1 }, { 2, 2, 2 } })  -- rank 1; user 3 has no ratings
  for _, factors in ipairs{ 2, 3, 50 } do
    near(matrix_of(mr.models.pure_svd{ fold = of, factors = factors }, 3, 4),
      { 2, 4, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0 }, { atol = 1e-9 })
  end
  local no_items = { train = mr.data.synthetic{ kind = "queries", queries = 10 } }
  for _, kind in ipairs{ "pure_svd", "item_mean", "popularity" } do
    raises(function() mr.models[kind]{ fold = no_items } end, kind, "fold", "items")
  end
end)

it("pure_svd with more factors than the rank reproduces the grades, also if items have no ratings", function()
  for seed = 1, 3 do
    local few = mr.data.synthetic{ kind = "ratings", users = 60, items = 40 + 10 * seed, mean_activity = 8,
      seed = seed }
    local of = few:folds{ k = 3, by = "user", grades = true }[1]
    for _, factors in ipairs{ 60, 200 } do
      near(mr.models.pure_svd{ fold = of, factors = factors }(of.train), of.train.lists.relevance:double(), 1e-10)
    end
  end
end)
