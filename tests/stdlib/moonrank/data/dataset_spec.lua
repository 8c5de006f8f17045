-- Tests datasets: batches, standardising features, splitting.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- Returns a data set with lists of these sizes. Feature 1 of a row is its list's number, feature 2 its index in the
-- list, and its item is list * 1000 + index.
local function dataset(sizes)
  local relevance, features, items, users = {}, {}, {}, {}
  for l, n in ipairs(sizes) do
    users[l] = 10 * l
    for i = 1, n do
      relevance[#relevance + 1] = i % 3
      features[#features + 1] = { l, i }
      items[#items + 1] = l * 1000 + i
    end
  end
  local int64 = { dtype = "int64" }
  return mr.data.dataset{ lists = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes },
    features = mr.tensor(features), users = mr.tensor(users, int64), items = mr.tensor(items, int64), name = "made" }
end

local function sizes_of(n)
  local sizes = {}
  for l = 1, n do sizes[l] = l % 5 + 1 end
  return sizes
end

-- Checks the contents of batches row by row; returns the lists in their order and the batches' sizes.
local function walk(set, options)
  local order, batch_sizes = {}, {}
  for batch in set:batches(options) do
    batch_sizes[#batch_sizes + 1] = batch.size
    equal(batch.lists.count, batch.size)
    local users, sizes = batch.users:totable(), batch.lists.sizes:totable()
    local features, items, relevance = batch.features:totable(), batch.items:totable(), batch.lists.relevance:totable()
    local row, row_users = 0, batch.row_users:totable()
    equal(batch.row_users, rawget(batch, "row_users"))
    for l = 1, batch.size do
      local list = users[l] // 10
      order[#order + 1] = list
      equal(sizes[l], list % 5 + 1)
      for i = 1, sizes[l] do
        row = row + 1
        equal(features[row], { list + 0.0, i + 0.0 })
        equal({ items[row], relevance[row], row_users[row] }, { list * 1000 + i, i % 3 + 0.0, users[l] })
      end
    end
    equal(#items, row)
  end
  return order, batch_sizes
end

it("gives batches the probabilities of rows (lists:drawn)", function()
  local lists = mr.lists{ { 1, 0, 0 }, { 0, 1 }, { 1, 0, 0, 0 } }
    :drawn(mr.tensor{ 0.5, 0.25, 0.25, 0.5, 0.5, 0.1, 0.2, 0.3, 0.4 })
  local data, loss = mr.data.dataset{ lists = lists }, mr.losses.sampled_softmax{ correction = "both" }
  local function of(part) return loss(mr.zeros(part.rows), part):totable() end
  local whole = of(lists)
  for number = 1, 3 do near(of(lists:select(mr.tensor({ number }, { dtype = "int64" }))), { whole[number] }, 1e-6) end
  local found = {}
  for batch in data:batches{ size = 2, shuffle = true, seed = 2 } do
    for _, value in ipairs(of(batch.lists)) do found[#found + 1] = value end
  end
  table.sort(found)
  table.sort(whole)
  near(found, whole, 1e-6)
end)

it("dataset:batches yields every list once with its own rows and a short last batch", function()
  for _, n in ipairs{ 1, 31, 32, 33, 127, 128, 129 } do
    local set = dataset(sizes_of(n))
    for _, size in ipairs{ 1, 32, n, n + 1 } do
      for _, shuffle in ipairs{ false, true } do
        local order, batch_sizes = walk(set, { size = size, shuffle = shuffle, seed = 1 })
        equal(#batch_sizes, (n + size - 1) // size)
        equal(batch_sizes[#batch_sizes], (n - 1) % size + 1)
        local sorted = table.move(order, 1, #order, 1, {})
        table.sort(sorted)
        for l = 1, n do equal(sorted[l], l) end
        if not shuffle then equal(order, sorted) end
      end
    end
  end
end)

it("dataset:batches shuffles by seed and epoch only", function()
  local set = dataset(sizes_of(50))
  local function order(options)
    options.shuffle = true
    return table.concat(walk(set, options), " ")
  end
  equal(order{ seed = 1, epoch = 2, size = 7 }, order{ seed = 1, epoch = 2, size = 50 })
  local seen = {}
  for seed = 1, 3 do
    for epoch = 1, 3 do
      local text = order{ seed = seed, epoch = epoch }
      check(not seen[text], "another order for every seed and epoch")
      seen[text] = true
    end
  end
end)

-- Divides an epoch's lists into stretches of `rows` rows: each list belongs to the stretch in which its first row lies.
local function stretches(sizes, order, rows, total)
  local by_stretch, batches, before = {}, {}, 0
  for _, list in ipairs(order) do
    local stretch = math.min(before // rows, math.max(0, (total - 1) // rows))
    by_stretch[stretch] = by_stretch[stretch] or {}
    table.insert(by_stretch[stretch], list)
    before = before + sizes[list]
  end
  for stretch = 0, total do batches[#batches + 1] = by_stretch[stretch] end
  return batches
end

it("dataset:batches with rows = n yields whole lists, each once, grouped by the row where they begin", function()
  for _, sizes in ipairs{ { 1 }, { 5, 0, 1, 1 }, { 3, 3, 0, 0 }, { 1, 1, 40, 1, 1 }, { 40, 1, 40 }, sizes_of(50) } do
    local set, total, longest = dataset(sizes), 0, 0
    for _, size in ipairs(sizes) do total, longest = total + size, math.max(longest, size) end
    for _, rows in ipairs{ 1, 3, 10, 1000 } do
      for epoch = 0, 3 do
        local options, order, found = { shuffle = epoch > 0, seed = 2, epoch = epoch }, {}, {}
        options.size = 1
        for batch in set:batches(options) do order[#order + 1] = batch.users:totable()[1] // 10 end
        options.size, options.rows = nil, rows
        for batch in set:batches(options) do
          local lists = batch.users:totable()
          equal({ batch.lists.count, #lists }, { batch.size, batch.size })
          check(batch.lists.rows < rows + math.max(1, longest), batch.lists.rows)
          local row, items = 0, batch.items:totable()
          for i, user in ipairs(lists) do
            lists[i] = user // 10
            for index = 1, sizes[lists[i]] do equal(items[row + index], lists[i] * 1000 + index) end
            row = row + sizes[lists[i]]
          end
          equal(#items, row)
          found[#found + 1] = lists
        end
        equal(found, stretches(sizes, order, rows, total), ("%d lists by %d rows"):format(#sizes, rows))
        check(#found <= -(-total // rows), #found)
      end
    end
  end
end)

it("dataset:pointwise makes a list of each row and keeps its features, item and user", function()
  for _, sizes in ipairs{ { 1 }, { 3, 0, 2 }, sizes_of(40) } do
    local whole, found = dataset(sizes), {}
    local rows = whole:pointwise()
    equal({ rows.count, rows.lists.rows }, { whole.lists.rows, whole.lists.rows })
    for batch in rows:batches{ size = 7, shuffle = true, seed = 3 } do
      local relevance, features = batch.lists.relevance:totable(), batch.features:totable()
      local items, users = batch.items:totable(), batch.users:totable()
      for i = 1, batch.size do
        local list, index = items[i] // 1000, items[i] % 1000
        equal({ relevance[i], users[i], features[i] }, { index % 3 + 0.0, 10 * list, { list + 0.0, index + 0.0 } })
        found[#found + 1] = items[i]
      end
    end
    table.sort(found)
    equal(found, whole.items:totable())
  end
end)

it("mr.fit trains a pointwise loss on dataset:pointwise rows", function()
  local x, squares = mr.normal({ 60, 2 }, { seed = 1 }), { count = function(_, lists) return lists.count end }
  local grades = x:matmul(mr.tensor{ { 2 }, { -1 } }):reshape(60) + 20
  setmetatable(squares, { __call = function(_, scores, lists) return (scores - lists.relevance) ^ 2 end })
  local set = mr.data.dataset{ lists = mr.lists{ relevance = grades, sizes = { 10, 25, 25 } }, features = x }
  local model = mr.models.linear{ inputs = 2, seed = 1 }
  local run = mr.fit{ model = model, loss = squares, train = set:pointwise(), batch = 8, epochs = 60, progress = false,
    optimizer = mr.optim.sgd{ lr = 0.1 } }
  near(model:parameters()[1]:reshape(2), { 2, -1 }, 1e-3)
  check(run.history[60].loss < 1e-6, run.history[60].loss)
end)

it("dataset:batches checks its options", function()
  local set = dataset{ 1, 2 }
  raises(function() set:batches{ size = 0 } end, "size", "0")
  raises(function() set:batches{ size = 1.5 } end, "size", "1.5")
  raises(function() set:batches{ rows = 0 } end, "rows", "0")
  raises(function() set:batches{ rows = "3" } end, "rows", "'3'")
  raises(function() set:batches{ size = 2, rows = 2 } end, "batches", "rows")
  raises(function() set:batches{ sise = 2 } end, "sise", "size")
end)

it("mr.data.dataset rejects features, items and users that do not fit the lists", function()
  local lists, int64 = mr.lists{ { 1, 0 }, { 1 } }, { dtype = "int64" }
  raises(function() mr.data.dataset{ lists = lists, features = mr.ones(2, 4) } end, "features", "2", "lists", "3")
  raises(function() mr.data.dataset{ lists = lists, items = mr.tensor({ 1, 2 }, int64) } end,
    "items", "2 entries", "lists", "3")
  raises(function() mr.data.dataset{ lists = lists, users = mr.tensor({ 1, 2, 3 }, int64) } end, "users", "3 entries")
  raises(function() mr.data.dataset{ lists = lists, users = mr.zeros{ lists.count, 0 } } end, "users", "one dimension")
  raises(function() mr.data.dataset{ lists = lists, items = mr.zeros{ lists.rows, 2 } } end, "items", "one dimension")
  raises(function() return mr.data.dataset{ lists = lists }.feature end, "mr.Dataset", "feature")
end)

it("dataset:binarize changes the grades only", function()
  local set = dataset{ 3, 2 }
  equal(set:binarize "top".lists.relevance:totable(), { 0.0, 1.0, 0.0, 0.0, 1.0 })
  equal(set:binarize(1).lists.relevance:totable(), { 1.0, 1.0, 0.0, 1.0, 1.0 })
  local lists = mr.lists{ { 1, 2, 2 }, {}, { 0, 1 }, { 0, 0 }, { 3 } }
  local ranked = mr.data.dataset{ lists = lists, items = mr.arange(1, 8, { dtype = "int64" }) }
  equal(ranked:binarize "top_of_list".lists.relevance:totable(), { 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0 })
  equal(set.lists.relevance:totable(), { 1.0, 2.0, 0.0, 1.0, 2.0 })
  equal(set:binarize(1).items:totable(), set.items:totable())
  equal(#set, 2)
  raises(function() set:binarize "best" end, "threshold", "best")
end)

it("dataset:standardize gives mean 0 and deviation 1, or uses the scaling of another dataset", function()
  local set = mr.data.synthetic{ kind = "queries", queries = 60, features = 4, seed = 6 }
  local scaled = set:standardize().features:totable()
  for column = 1, 4 do
    local sum, squares = 0, 0
    for _, row in ipairs(scaled) do sum, squares = sum + row[column], squares + row[column] ^ 2 end
    near(sum / #scaled, 0, { atol = 1e-7 })
    near(squares / #scaled, 1, 1e-6)
  end
  local other = mr.data.synthetic{ kind = "queries", queries = 3, features = 4, seed = 7 }
  local s = set:scaling()
  local x, mean, sd = other.features:totable(), s.mean:totable(), s.sd:totable()
  local expected = {}
  for c = 1, 4 do expected[c] = (x[2][c] - mean[c]) / sd[c] end
  near(other:standardize(s).features[2], expected, 1e-6)
  raises(function() dataset{ 2 }:standardize(s) end, "scaling", "2", "feature", "4")
  raises(function() mr.data.dataset{ lists = mr.lists{ { 1 } } }:standardize() end, "dataset", "features")
end)

it("dataset:standardize ignores and keeps missing values, and keeps float64", function()
  local nan, infinity = 0 / 0, math.huge
  for _, dtype in ipairs{ "float32", "float64" } do
    local rows = { { 1, nan, 3, 5 }, { 4, nan, nan, 5 }, { nan, nan, 9, nan }, { 1e8 + 8, nan, 2.5, 5 } }
    local lists = mr.lists{ { 0, 1 }, { 1, 0 } }
    local set = mr.data.dataset{ lists = lists, features = mr.tensor(rows, { dtype = dtype }), missing = true }
    local scaled = set:standardize()
    equal(scaled.features.dtype, dtype)
    local found = scaled.features:totable()
    for c = 1, 4 do
      local sum, squares, n, low, high = 0, 0, 0, infinity, -infinity
      for r = 1, 4 do
        local v = rows[r][c]
        if v == v then sum, n, low, high = sum + v, n + 1, math.min(low, v), math.max(high, v) end
      end
      local mean = n > 0 and sum / n or 0
      for r = 1, 4 do squares = squares + (rows[r][c] == rows[r][c] and (rows[r][c] - mean) ^ 2 or 0) end
      local sd = high > low and math.sqrt(squares / n) or 1
      near({ set:scaling().mean:totable()[c], set:scaling().sd:totable()[c] }, { mean, sd }, 1e-12)
      for r = 1, 4 do
        if rows[r][c] == rows[r][c] then
          near(found[r][c], (rows[r][c] - mean) / sd, dtype == "float64" and 1e-12 or 1e-6)
        else
          equal(found[r][c] ~= found[r][c], true)
        end
      end
    end
  end
end)

it("dataset:standardize keeps constant, tiny and huge features finite", function()
  local rows = {}
  for i = 1, 1000 do rows[i] = { 0.1, 1e-30 * i, 1e8 + 8 * (i % 2), 7 } end
  local lists = mr.lists{ relevance = mr.ones(1000), sizes = { 1000 } }
  local set = mr.data.dataset{ lists = lists, features = mr.tensor(rows) }
  local x = set:standardize().features:double()
  local sd = (x ^ 2):mean(1):sqrt():totable()
  near(sd, { 0, 1, 1, 0 }, { atol = 1e-5 })
  near(x:mean(1), { 0, 0, 0, 0 }, { atol = 1e-6 })
end)

it("dataset:split takes a rounded share of whole lists and keeps their order", function()
  for _, n in ipairs{ 1, 2, 31, 100 } do
    local set = dataset(sizes_of(n))
    local others, part = set:split{ share = 0.1, seed = 4 }
    equal(part.count, n == 1 and 0 or math.max(1, math.floor(n * 0.1 + 0.5)))
    equal(others.count, n - part.count)
    local all = walk(others)
    for i = 2, #all do check(all[i - 1] < all[i]) end
    for _, list in ipairs(part.count > 0 and walk(part) or {}) do all[#all + 1] = list end
    table.sort(all)
    for l = 1, n do equal(all[l], l) end
  end
  local _, none = dataset{ 1, 2, 3 }:split{ share = 0 }
  equal(none.count, 0)
  raises(function() dataset{ 1 }:split{ share = 1 } end, "split", "share", "1")
end)

it("with_relevance changes grades alone, and mr.data.fold takes the numbers of users and items", function()
  local set = dataset{ 2, 3 }
  local other = set:with_relevance(set.lists.relevance * 10 + 1)
  equal(other.lists.relevance:totable(), { 11, 21, 11, 21, 1 })
  equal({ set.lists.relevance:totable()[1], other.name }, { 1, set.name })
  for _, name in ipairs{ "features", "users", "items" } do equal(other[name]:totable(), set[name]:totable(), name) end
  raises(function() set:with_relevance(mr.tensor{ 1, 2 }) end, "relevance")
  local fold = mr.data.fold{ train = set, valid = set, test = other, users = 20, items = 3000 }
  equal({ fold.users, fold.items, fold.number }, { 20, 3000, 1 })
  equal(mr.data.fold{ train = set, valid = set, test = other }.users, false)
  raises(function() mr.data.fold{ train = set, valid = set, test = other, users = 0 } end, "users", "0")
end)
