-- Tests feature transforms of datasets against plain loops.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local nan = 0 / 0
local sizes = { 1, 0, 2, 31, 32, 33, 127, 128, 129 }

-- Returns lists of these sizes with three features per row: a random number, a number that is equal within a list, and
-- an integer that may be missing.
local function made(missing)
  local rows, relevance = {}, {}
  local noise = mr.normal({ 1000 }, { seed = 3 }):totable()
  for l, n in ipairs(sizes) do
    for i = 1, n do
      local r = #rows + 1
      rows[r] = { 100 * noise[r], l / 3, missing and i % 4 == 2 and nan or (r * 7919) % 13 - 6 }
      relevance[r] = i % 2
    end
  end
  local lists = mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }
  local set = mr.data.dataset{ lists = lists, features = mr.tensor(rows), missing = missing, name = "made" }
  return set, mr.tensor(rows):totable()
end

-- Replaces each value by f(all present values of its column in its list, value). Missing values (NaN) stay missing.
local function by_lists(rows, f)
  local out, at = {}, 0
  for _, n in ipairs(sizes) do
    for i = 1, n do out[at + i] = {} end
    for c = 1, 3 do
      local there = {}
      for i = 1, n do
        local v = rows[at + i][c]
        if v == v then there[#there + 1] = v end
      end
      for i = 1, n do
        local v = rows[at + i][c]
        out[at + i][c] = v == v and f(there, v) or nan
      end
    end
    at = at + n
  end
  return out
end

local function spread_of(values)
  local sum, squares, low, high = 0, 0, math.huge, -math.huge
  for _, v in ipairs(values) do sum, low, high = sum + v, math.min(low, v), math.max(high, v) end
  for _, v in ipairs(values) do squares = squares + (v - sum / #values) ^ 2 end
  return sum / #values, math.sqrt(squares / #values), low, high
end

local function rows_near(found, expected, tolerance)
  found = found:totable()
  equal(#found, #expected)
  for r, row in ipairs(expected) do near(found[r], row, tolerance, "row " .. r) end
end

it("min_max_lists and standardize_lists scale within lists, set constants to 0 and ignore missing values", function()
  for _, missing in ipairs{ false, true } do
    local set, rows = made(missing)
    rows_near(set:min_max_lists().features, by_lists(rows, function(values, v)
      local _, _, low, high = spread_of(values)
      return high > low and (v - low) / (high - low) or 0
    end), 1e-6)
    rows_near(set:standardize_lists().features, by_lists(rows, function(values, v)
      local mean, sd, low, high = spread_of(values)
      return high > low and (v - mean) / sd or 0
    end), 2e-6)
    local some = set:min_max_lists{ 3 }
    rows_near(some:select{ columns = { 2, 1 } }.features, set:select{ columns = { 2, 1 } }.features:totable(), 0)
    local third = set:min_max_lists():select{ columns = { 3 } }
    rows_near(some:select{ columns = { 3 } }.features, third.features:totable(), 0)
  end
end)

it("clip and log1p transform features and keep missing values", function()
  local set, rows = made(true)
  local logs, clipped = {}, {}
  for r, row in ipairs(rows) do
    logs[r], clipped[r] = {}, { table.unpack(row) }
    for c, v in ipairs(row) do logs[r][c] = v == v and (v < 0 and -1 or 1) * math.log(1 + math.abs(v)) or nan end
    if row[1] > 50 then clipped[r][1] = 50 end
    if row[1] < -20 then clipped[r][1] = -20 end
  end
  rows_near(set:log1p().features, logs, 1e-6)
  rows_near(set:clip{ min = -20, max = 50, columns = { 1 } }.features, clipped, 0)
  near(set:clip{ min = 3 }.features[2]:totable()[2], 3, 0)
  raises(function() set:clip{ min = 2, max = 1 } end, "min", "2", "max", "1")
  raises(function() set:clip{ max = "a" } end, "max", "'a'")
  raises(function() set:log1p{ 4 } end, "log1p", "columns", "4")
  raises(function() set:log1p{ 1, 1 } end, "log1p", "1")
  raises(function() set:log1p(1) end, "columns", "1")
end)

it("dataset:fill replaces missing values by a number, the mean, the median or another dataset's values", function()
  local set, rows = made(true)
  local there = {}
  for _, row in ipairs(rows) do there[#there + 1] = row[3] == row[3] and row[3] or nil end
  table.sort(there)
  local n, sum = #there, 0
  for _, v in ipairs(there) do sum = sum + v end
  local median = n % 2 == 1 and there[n // 2 + 1] or (there[n // 2] + there[n // 2 + 1]) / 2
  for with, expected in pairs{ mean = sum / n, median = median, [7] = 7 } do
    local filled = {}
    for r, row in ipairs(rows) do filled[r] = { row[1], row[2], row[3] == row[3] and row[3] or expected } end
    rows_near(set:fill(with).features, filled, 1e-6)
    rows_near(set:fill(with, { 3 }).features, filled, 1e-6)
  end
  local other = mr.data.dataset{ lists = mr.lists{ { 1, 0 } }, missing = true,
    features = mr.tensor{ { nan, 1, 1 }, { 1, nan, nan } } }
  local means = set:typical "mean"
  rows_near(other:fill(means).features, { { means[1]:item(), 1, 1 }, { 1, means[2]:item(), sum / n } }, 1e-6)
  local nothing = mr.data.dataset{ lists = mr.lists{ { 1 } }, features = mr.tensor{ { nan } }, missing = true }
  equal(nothing:fill("mean").features:totable(), { { 0.0 } })
  raises(function() set:fill("mode") end, "mode")
  raises(function() set:fill(nan) end, "with", "NaN")
  raises(function() set:fill(mr.ones(2)) end, "with", "2 entries", "3 columns")
end)

it("mr.data.dataset names row and column of NaN and infinite features", function()
  local lists = mr.lists{ { 1, 0 }, { 1 } }
  local function refuses(features, words, missing)
    raises(function() mr.data.dataset{ lists = lists, features = features, missing = missing } end, table.unpack(words))
  end
  refuses(mr.tensor{ { 1, 2 }, { 3, nan }, { nan, 1 } }, { "features", "NaN", "2" })
  refuses(mr.tensor{ { 1, 2 }, { 3, 4 }, { -1 / 0, 1 } }, { "features", "-inf", "3", "1" })
  refuses(mr.tensor{ { 1, nan }, { 3, 4 }, { 1 / 0, 1 } }, { "features", "inf", "3", "1" }, true)
  refuses(mr.tensor({ { 1 }, { nan }, { 1 } }, { dtype = "float64" }), { "NaN", "2", "1" })
  refuses(mr.ones(2, 2), { "features", "2", "lists", "3" })
end)

it("dataset:select takes lists by id or number, with all their fields, and columns by number", function()
  local int64 = { dtype = "int64" }
  local lists = mr.lists{ relevance = mr.tensor{ 1, 0, 2, 0, 1 }, ids = { "a", "a", "b", "c", "c" },
    documents = { "1", "2", "3", "4", "5" } }
  local set = mr.data.dataset{ lists = lists, name = "set",
    features = mr.tensor{ { 1, 10 }, { 2, 20 }, { 3, 30 }, { 4, 40 }, { 5, 50 } },
    users = mr.tensor({ 7, 8, 9 }, int64), items = mr.tensor({ 1, 2, 3, 4, 5 }, int64) }
  local part = set:select{ ids = { "c", "a" }, columns = { 2 } }
  equal({ part.lists.ids, part.lists.documents, part.name }, { { "c", "a" }, { "4", "5", "1", "2" }, "set" })
  equal(part.features:totable(), { { 40 }, { 50 }, { 10 }, { 20 } })
  equal({ part.users:totable(), part.items:totable() }, { { 9, 7 }, { 4, 5, 1, 2 } })
  equal(set:select{ lists = { 3, 1 } }.fingerprint, set:select{ ids = { "c", "a" } }.fingerprint)
  equal(set:select{ lists = {} }.count, 0)
  raises(function() set:select{ ids = { "d" } } end, "list", "'d'")
  raises(function() set:select{ lists = { 4 } } end, "select", "lists", "4")
  raises(function() set:select{ lists = { 1 }, ids = { "a" } } end, "select", "ids")
  -- lists that are selected and then concatenated in the original order give an equal data set
  local whole = set:select{ ids = { "a" } }:concat(set:select{ lists = { 2 } }, set:select{ lists = { 3 } })
  equal(whole.fingerprint, set.fingerprint)
  local wide = set:select{ columns = { 1 } }:with_features(set:select{ columns = { 2 } })
  equal(wide.fingerprint, set.fingerprint)
  raises(function() set:with_features(mr.ones(4, 1)) end, "4", "5", "row")
  raises(function() set:concat(3) end, "argument 1", "3")
  raises(function() set:concat(set:select{ columns = { 1 } }) end, "features", "2 columns")
  raises(function() set:concat(mr.data.dataset{ lists = lists, features = mr.ones(5, 2) }) end,
    "'set'", "'dataset'", "users")
end)

it("dataset:categorical maps columns to training levels, which batches and selections keep", function()
  local lists = mr.lists{ { 1, 0 }, { 0, 1, 0 } }
  local function set(rows) return mr.data.dataset{ lists = lists, features = mr.tensor(rows), missing = true } end
  local of_both = { 3, 1 }
  local train = set{ { 5, 1, -2 }, { 3, 2, 4 }, { 5, 3, 4 }, { 9, 4, nan }, { 3, 5, -2 } }
    :categorical{ columns = of_both }
  equal(train.categories:totable(), { { 1, 2 }, { 2, 1 }, { 2, 2 }, { 3, 3 }, { 1, 1 } })
  equal({ train.levels[1]:totable(), train.levels[2]:totable() }, { { -2, 4 }, { 3, 5, 9 } })
  equal(train.features:totable(), { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } })
  local test_set = set{ { 4, 1, 4 }, { 3, 2, 9 }, { 9, 3, -2 }, { 1, 4, -2 }, { 5, 5, 4 } }
    :categorical{ columns = of_both, like = train }
  equal(test_set.categories:totable(), { { 2, 4 }, { 3, 1 }, { 1, 3 }, { 1, 4 }, { 2, 2 } })
  equal(train:select{ lists = { 2 } }.categories:totable(), { { 2, 2 }, { 3, 3 }, { 1, 1 } })
  for batch in train:batches{ size = 1, shuffle = true } do
    local first = batch.features:totable()[1][1]
    equal(batch.categories:totable()[1], train.categories:totable()[first // 1 | 0])
  end
  equal(train:to("cpu"):binarize(1).categories:totable(), train.categories:totable())
  equal(#train:concat(test_set).categories, 10)
  check(train.fingerprint ~= mr.data.dataset{ lists = lists, features = train.features }.fingerprint)
  local other = set{ { 5, 1, -2 }, { 3, 2, 4 }, { 5, 3, 4 }, { 9, 4, nan }, { 3, 5, 6 } }
    :categorical{ columns = of_both }
  raises(function() train:concat(other) end, "levels", "column 1")
  raises(function() set{ { 1 }, { 2 }, { 3 }, { 4 }, { 5 } }:categorical{ columns = { 1 }, like = train } end,
    "like", "2 entries", "1")
  raises(function() train:categorical{ columns = { 1 } } end, "categorical", "categories")
  raises(function() train:categorical{} end, "columns")
end)

it("script models can embed the categories of a batch", function()
  local rows, relevance, lengths = {}, {}, {}
  for l = 1, 60 do
    lengths[l] = 8
    for i = 1, 8 do
      local c = (3 * i + l) % 5
      rows[#rows + 1], relevance[#relevance + 1] = { 10 * c, i % 2 }, c % 2 == 0 and c > 0 and 1 or 0
    end
  end
  local lists = mr.lists{ relevance = mr.tensor(relevance), sizes = lengths }
  local set = mr.data.dataset{ lists = lists, features = mr.tensor(rows) }
  set = set:categorical{ columns = { 1 } }
  mr.models.define("of_categories", {
    parameters = function() return { embedding = mr.zeros(#set.levels[1] + 1, 1) } end,
    forward = function(self, batch)
      local count = #batch.categories
      return self.embedding:rows(batch.categories:reshape(count)):reshape(count)
    end,
  })
  local run = mr.fit{ model = mr.models.of_categories{}, loss = mr.losses.ndcg{}, train = set, test = set, epochs = 20,
    optimizer = mr.optim.adam{ lr = 0.1 }, progress = false, metrics = { "ndcg" } }
  near(run.test.mean.ndcg, 1, 1e-6)
end)

it("feature transforms keep float64, and concat rejects mixed dtypes", function()
  local lists = mr.lists{ { 0, 1, 1 }, { 1, 0 } }
  local rows = { { 1, 1 / 3 }, { 4, 0 / 0 }, { 2, 0.1 }, { 5, 7 }, { 1e300, 3 } }
  local function set_of(dtype, of)
    return mr.data.dataset{ lists = lists, features = mr.tensor(of or rows, { dtype = dtype }), missing = true }
  end
  local set = set_of "float64"
  for _, made_of in ipairs{ set:min_max_lists(), set:standardize_lists(), set:log1p(), set:clip{ max = 3 },
    set:fill(0.1), set:fill "median", set:select{ columns = { 2 } }, set:with_features(mr.ones(5, 1)),
    set:concat(set), set:categorical{ columns = { 1 } } } do
    equal(made_of.features.dtype, "float64")
  end
  equal(set:min_max_lists().features[1]:totable(), { 0, 1 })
  near(set:min_max_lists().features[3]:totable()[1], 1 / 3, 1e-15)
  equal(set:fill(0.1).features[2]:totable(), { 4, 0.1 })
  near(set:typical("mean", { 1 }):item(), 2e299, 1e-12)
  equal({ set:concat(set).features[7]:totable()[1], set:concat(set).features[10]:totable()[1] }, { 4, 1e300 })
  raises(function() set:concat(set_of("float32", { { 1, 2 }, { 1, 2 }, { 1, 2 }, { 1, 2 }, { 1, 2 } })) end,
    "float64", "float32")
end)

it("feature transforms raise an error on a dataset without features", function()
  local set = mr.data.dataset{ lists = mr.lists{ { 1 } } }
  for _, name in ipairs{ "min_max_lists", "standardize_lists", "log1p", "typical" } do
    raises(function() set[name](set) end, name, "features")
  end
  raises(function() set:fill(0) end, "dataset", "features")
  raises(function() set:select{ columns = { 1 } } end, "dataset", "features")
end)
