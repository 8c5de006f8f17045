-- Tests which items count as known to a user under each protocol, and users that are not in training.
local mr = require "moonrank"
local files = require "tests.support.files"
local numbers = require "tests.support.numbers"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local function written(lines)
  return files.written("user,item,rating,timestamp\n" .. table.concat(lines, "\n") .. "\n")
end

-- Made-up rows {user, item, value, time}: user u has about 3 u items, and many rows have equal times.
local rows, lines = {}, {}
do
  local below = numbers.integers_below(5)
  for user = 1, 12 do
    for item = 1, 70 do
      if below(70) < 3 * user then
        rows[#rows + 1] = { user, item, 1 + below(9) / 2, 1000 + 30 * user + below(60) }
        lines[#lines + 1] = ("%d,%d,%g,%d"):format(table.unpack(rows[#rows]))
      end
    end
  end
end
local ratings = mr.data.interactions(written(lines))
-- item numbers change if an item has no rating, so the items are read back from the ratings
local rated = {}  -- keys are "user item"
for i, item in ipairs(ratings.item:totable()) do
  rows[i][2] = item
  rated[rows[i][1] .. " " .. item] = true
end
local binary, items = ratings:binarize(3), ratings.items

-- Calls f(user, item, grade) for each row of a part.
local function each_row(part, f)
  local users, item, grade, at = part.users:totable(), part.items:totable(), part.lists.relevance:totable(), 0
  for l, n in ipairs(part.lists.sizes:totable()) do
    for r = at + 1, at + n do f(users[l], item[r], grade[r]) end
    at = at + n
  end
end

-- Returns the part of each relevant item of a fold, by "user item".
local function parts_of(fold)
  local of = {}
  for number, name in ipairs{ "train", "valid", "test" } do
    each_row(fold[name], function(user, item, grade)
      if grade > 0 then of[user .. " " .. item] = number end
    end)
  end
  return of
end

-- Returns the items that a part gives a model to score for a user.
local function offered(fold, options)
  local of = {}
  local found = fold:evaluate(function(batch)
    local users, item = batch.row_users:totable(), batch.items:totable()
    for r, user in ipairs(users) do
      of[user] = of[user] or {}
      of[user][item[r]] = true
    end
    return mr.zeros(#item)
  end, { "rr" }, options)
  return of, found
end

-- For each protocol, a function that returns true if row i belongs to the data before part `number`, so its item is
-- known.
local before = {
  time = function(i, number, parts)
    local cut = math.huge
    for k, row in ipairs(rows) do
      if (parts[row[1] .. " " .. row[2]] or 0) >= number then cut = math.min(cut, rows[k][4]) end
    end
    return rows[i][4] < cut
  end,
  last = function(i, number, parts)
    for k, row in ipairs(rows) do
      local later = row[4] < rows[i][4] or row[4] == rows[i][4] and k <= i
      if row[1] == rows[i][1] and (parts[row[1] .. " " .. row[2]] or 0) >= number and later then return false end
    end
    return true
  end,
  cold_user = function(i, number, parts)
    for _, row in ipairs(rows) do
      local part = row[1] == rows[i][1] and parts[row[1] .. " " .. row[2]]
      if part then return part < number end
    end
    return true
  end,
  user = function() return true end,
}
before.user_time, before.share, before.one = before.last, before.user, before.user

for by, is_before in pairs(before) do
  it("known = 'rated' leaves out items rated before the part, with by = '" .. by .. "'", function()
    local fold = binary:folds{ by = by, nsr = 0, valid = 0.2 }[1]
    local parts = parts_of(fold)
    for number, part in pairs{ [2] = "valid", [3] = "test" } do
      local of, found = offered(fold, { part = part })
      local count, low = 0, 0
      for i, row in ipairs(rows) do
        local user, item = row[1], row[2]
        local own = parts[user .. " " .. item]
        local known
        if own then known = own < number else known = is_before(i, number, parts) end
        if of[user] then
          equal(of[user][item] == nil, known, ("%s %d %d %s"):format(part, user, item, own))
          count, low = count + (known and 1 or 0), low + (known and row[3] < 3 and 1 or 0)
        end
      end
      local left_out, not_relevant = found.candidates:match "leaves out (%d+) .- (%d+) of them not relevant"
      equal({ left_out, not_relevant }, { tostring(count), tostring(low) })
    end
  end)
end

it("known = 'rated' leaves out low ratings of the train file if the parts are given files", function()
  local train, tested = written{ "1,1,5,1", "1,2,1,2", "2,1,5,3" }, written{ "1,3,5,4", "1,4,1,5", "2,2,5,6" }
  local given = mr.data.interactions{ train = train, test = tested }
  local of = offered(given:binarize(4):folds{ by = "given", nsr = 0, valid = 0 }[1])
  equal({ of[1], of[2] }, { { [3] = true, [4] = true }, { [2] = true, [3] = true, [4] = true } })
end)

it("known = 'rated' leaves out items of earlier parts with any grade in folds with grades = true", function()
  local fold = ratings:folds{ by = "user", grades = true, nsr = 1 }[1]:binarize(4)
  local part = {}
  for _, name in ipairs{ "train", "valid", "test" } do
    each_row(fold[name], function(user, item) part[user .. " " .. item] = rated[user .. " " .. item] and name end)
  end
  for user, own in pairs((offered(fold))) do
    for item = 1, items do equal(own[item] == nil, (part[user .. " " .. item] or "test") ~= "test") end
  end
end)

it("fingerprints of folds and candidates change with ratings below the threshold", function()
  local function made(low)
    local own = ("1,%d,1,4"):format(low)
    local file = written{ "1,1,5,1", "1,2,5,2", "1,3,5,3", "2,1,5,1", "2,2,5,1", own, "2,4,1,5", "2,5,1,6" }
    local fold = mr.data.interactions(file):binarize(4):folds{ k = 2, nsr = 0 }[1]
    return fold
  end
  local a, same, b = made(4), made(4), made(5)
  equal({ a.train.fingerprint, a.test.fingerprint }, { b.train.fingerprint, b.test.fingerprint })
  equal({ a.fingerprint, a:candidates().fingerprint }, { same.fingerprint, same:candidates().fingerprint })
  check(a.fingerprint ~= b.fingerprint and a:candidates().fingerprint ~= b:candidates().fingerprint)
  local seen = require "moonrank.data.seen"
  local function noted(fold, options)
    seen.begin()
    fold:evaluate(mr.models.random{}, { "rr" }, options)
    return seen.finish()[1].fingerprint
  end
  equal(noted(a), noted(same))
  check(noted(a) ~= noted(b) and noted(a) ~= noted(a, { known = "none" }))
end)

it("model:recommend leaves out rated items of users that min_relevant removed", function()
  local fold = binary:min_relevant(20):folds{ by = "user" }[1]
  local few
  for _, row in ipairs(rows) do
    if not offered(fold)[row[1]] then few = row end
  end
  local best = mr.models.popularity{ fold = fold }:recommend{ user = few[1], k = items, seen = fold }:of(few[1])
  for _, item in ipairs(best) do check(item ~= few[2]) end
end)

it("sampled candidates leave out items that the user rated", function()
  local fold = binary:folds{ by = "user", nsr = 0 }[1]
  for _, by in ipairs{ "uniform", "popularity" } do
    local of = offered(fold, { candidates = "sampled", negatives = 70, by = by })
    local parts, low = parts_of(fold), 0
    for user, own in pairs(of) do
      for item in pairs(own) do check(not rated[user .. " " .. item] or parts[user .. " " .. item] == 3, by) end
    end
    for user, own in pairs((offered(fold, { candidates = "sampled", negatives = 70, by = by, known = "relevant" }))) do
      for item in pairs(own) do
        low = low + (rated[user .. " " .. item] and not parts[user .. " " .. item] and 1 or 0)
      end
    end
    check(low > 0, "low ratings are drawn where known is 'relevant'")
  end
end)

it("negatives = 'unrated' never draws rated items, and the default may draw low ratings", function()
  for _, by in ipairs{ "user", "last", "cold_item" } do
    for negatives, expected in pairs{ unrated = false, not_relevant = true } do
      local fold, met = binary:folds{ by = by, nsr = 3, negatives = negatives }[1], false
      for _, name in ipairs{ "train", "valid", "test" } do
        each_row(fold[name], function(user, item, grade)
          met = met or grade == 0 and rated[user .. " " .. item] == true
        end)
      end
      equal(met, expected, negatives)
      check(tostring(fold):find(negatives, 1, true), tostring(fold))
    end
  end
  local default, named = binary:folds{}[1], binary:folds{ negatives = "not_relevant" }[1]
  equal(default.fingerprint, named.fingerprint)
  check(default.fingerprint ~= binary:folds{ negatives = "unrated" }[1].fingerprint)
  raises(function() binary:folds{ negatives = "low" } end, "negatives", "'low'")
end)

it("folds{by = 'user_time'} tests the latest share of each user's items, at least n", function()
  local fold = binary:folds{ by = "user_time", test = 0.25, n = 2, valid = 0.2, nsr = 0 }[1]
  local parts, own, whole = parts_of(fold), {}, 0
  for i, row in ipairs(rows) do
    if row[3] >= 3 then
      own[row[1]] = own[row[1]] or {}
      table.insert(own[row[1]], { row[4], i, parts[row[1] .. " " .. row[2]] })
    end
  end
  local function rounded(x, n) return n < 2 and 0 or math.max(1, math.min(n - 1, math.floor(x * n + 0.5))) end
  for _, list in pairs(own) do
    table.sort(list, function(a, b) return a[1] > b[1] or a[1] == b[1] and a[2] > b[2] end)
    local tested = math.max(2, rounded(0.25, #list))
    local valid = rounded(0.2, #list - tested)
    if tested >= #list then tested, valid, whole = 0, 0, whole + 1 end
    for i, each in ipairs(list) do equal(each[3], i <= tested and 3 or i <= tested + valid and 2 or 1) end
  end
  equal(fold.whole_users, whole)
  raises(function() binary:folds{ by = "user_time", n = 1000 } end, "n", "1000")
  raises(function() mr.data.synthetic{ users = 9, items = 40 }:binarize(3):folds{ by = "user_time" } end, "timestamps")
end)

-- Training has users 1 to 3 only. Item 5 is in validation and test, but not in training.
local function cold()
  local seen, new = {}, {}
  for user = 1, 3 do
    for item = 1, 4 do seen[#seen + 1] = ("%d,%d,5,%d"):format(user, item, item) end
    new[user] = ("%d,5,5,9"):format(user)
  end
  for user = 4, 8 do new[#new + 1] = ("%d,%d,5,9"):format(user, user % 4 + 1) end
  local train, tested, rest = written(seen), written(new), written{ "1,6,5,10", "4,5,5,10", "9,1,5,10" }
  local given = mr.data.interactions{ train = train, valid = tested, test = rest }
  return given:binarize(4):folds{ by = "given", nsr = 1 }[1]
end

it("evaluations count users that are not in training, and users = 'known' leaves them out", function()
  local fold = cold()
  local model = mr.models.popularity{ fold = fold }
  local all, known = fold:evaluate(model, { "rr" }), fold:evaluate(model, { "rr" }, { users = "known" })
  equal({ all.users:totable(), known.users:totable() }, { { 1, 4, 9 }, { 1 } })
  local of_all = tostring(all)
  check(of_all:find("2 of 3 users", 1, true) and of_all:find("2 of 3 relevant items", 1, true), of_all)
  local said = tostring(known)
  check(said:find("2 of 3 users", 1, true) and said:find("1 of 1 relevant items", 1, true), said)
  check(tostring(fold:candidates()):find("5 of 8 users", 1, true), tostring(fold:candidates()))
  local prints = { fold:candidates(), fold:candidates{ users = "known" }, fold:candidates{ known = "relevant" },
    fold:candidates{ known = "none" } }
  for i = 1, #prints do
    for j = 1, i - 1 do check(prints[i].fingerprint ~= prints[j].fingerprint) end
  end
  raises(function() fold:evaluate(model, { "rr" }, { users = "none" }) end, "users", "'none'")
  local both = mr.compare{ a = all, b = fold:evaluate(mr.models.random{}, { "rr" }) }
  for _, text in ipairs{ tostring(both), both:to_latex(), all:to_latex() } do
    check(text:find("2 of 3 users", 1, true), text)
  end
end)

-- Returns what a function writes to standard error.
local function warnings(f)
  local text, real = {}, io.stderr
  local function write(_, ...)
    for _, each in ipairs{ ... } do text[#text + 1] = each end
  end
  io.stderr = { write = write }  -- luacheck: ignore
  local ok, message = pcall(f)
  io.stderr = real  -- luacheck: ignore
  if not ok then error(message, 0) end
  return table.concat(text)
end

it("mr.fit counts test queries that are not in training", function()
  local function queries(ids)
    local lists = mr.lists{ relevance = mr.tensor{ 1, 0, 0, 1 }, ids = ids }
    return mr.data.dataset{ lists = lists, features = mr.normal({ 4, 3 }) }
  end
  local run = mr.fit{ model = mr.models.linear{ inputs = 3 }, loss = mr.losses.ndcg{},
    train = queries{ "a", "a", "b", "b" }, test = queries{ "b", "b", "c", "c" },
    metrics = { "rr" }, epochs = 1, progress = false }
  for _, text in ipairs{ tostring(run), run.test:to_latex() } do check(text:find("1 of 2 queries", 1, true), text) end
end)

it("no line says that all test queries are not in training, as usual", function()
  local novelty = require "moonrank.data.novelty"
  local train, rest = mr.data.synthetic{ kind = "queries", queries = 30, features = 3 }:split{ share = 0.3 }
  local run = mr.fit{ model = mr.models.linear{ inputs = 3 }, loss = mr.losses.ndcg{}, train = train, test = rest,
    valid = rest, metrics = { "ndcg" }, epochs = 1, progress = false }
  for _, text in ipairs{ tostring(run), tostring(run.test), run.test:to_latex(), tostring(run.history) } do
    check(not text:find "queries" and text:find "ndcg", text)
  end
  equal(run.test.new_to_training, false)
  local none, all, some = novelty.kept "queries=0;all_queries=9", novelty.kept "queries=9;all_queries=9",
    novelty.kept "queries=3;all_queries=9"
  equal({ #novelty.lines{ all, all }, #novelty.lines{ none }, #novelty.lines{} }, { 0, 1, 0 })
  says(novelty.lines{ all, some }[1], "3 to 9 of 9 queries")
  says(tostring(all), "9 queries")
  says(novelty.lines{ novelty.kept "users=4;all_users=4;items=1;all_items=1" }[1], "4 of 4 users")
end)

it("mr.fit warns if validation chooses the epoch on users that are not in training", function()
  local fold = cold()
  local run
  local function fit(o)
    return warnings(function()
      run = mr.fit{ model = mr.models.mf{ users = 9, items = 6, factors = 2 }, loss = mr.losses.ndcg{},
        train = fold.train, valid = o.valid, test = o.test, users = o.users,
        metrics = { "rr" }, epochs = 1, progress = false }
    end)
  end
  check(fit{ valid = fold:candidates() }:find("5 of its 8 users", 1, true))
  check(fit{ valid = fold.valid, test = fold.test }:find("5 of its 8 users", 1, true))
  check(tostring(run):find("2 of 3 users", 1, true), tostring(run))
  equal(fit{ valid = fold.valid, test = fold.test, users = "known" }, "")
  equal(run.test.count, 1)
  check(tostring(run.test):find("2 of 3 users", 1, true) and tostring(run.test):find("1 of 1 relevant items", 1, true),
    tostring(run.test))
  for _, text in ipairs{ tostring(run.history), run:to_latex(), tostring(run) } do
    check(text:find("5 of 8 users", 1, true), text)
  end
  equal(fit{ valid = fold:candidates{ users = "known" }, users = "known" }, "")
  equal(fit{}, "")
  fit{ valid = fold:candidates{ known = "none" } }
  for _, text in ipairs{ tostring(run.history), run:to_latex(), tostring(run) } do
    says(text, "new to training: 5 of 8 users", "known = none", "ties mean")
  end
  raises(function() fit{ valid = fold:candidates(), users = "known" } end, "users", "'known'")
  local queries = mr.data.synthetic{ kind = "queries", queries = 20, features = 3 }
  equal(warnings(function()
    mr.fit{ model = mr.models.linear{ inputs = 3 }, loss = mr.losses.ndcg{}, train = queries, valid = queries,
      metrics = { "rr" }, epochs = 1, progress = false }
  end), "")
end)

it("MovieLens folds by time count unknown test users, and recommendations leave out low ratings", function()
  local found, whole = pcall(mr.data.movielens)
  if not found then return test.skip "no MovieLens" end
  local movies = whole:binarize(4)
  local fold = movies:folds{ by = "time" }[1]
  local e = fold:evaluate(mr.models.popularity{ fold = fold }, { "ndcg@10" })
  check(fold.new_users > e.count // 2)
  check(tostring(e):find(("%d of %d users"):format(fold.new_users, e.count), 1, true), tostring(e))
  local best, low = mr.models.item_knn{ fold = fold }:recommend{ k = 10, seen = movies }, {}
  local user, item, grade = movies.user:totable(), movies.item:totable(), movies.value:totable()
  for i = 1, movies.rows do low[user[i] .. " " .. item[i]] = grade[i] end
  for number = 1, 60 do
    for _, each in ipairs((best:of(number))) do equal(low[number .. " " .. each], nil) end
  end
end)
