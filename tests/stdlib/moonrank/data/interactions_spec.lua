-- Tests mr.data.interactions: timestamps, repeated pairs, columns and files of one split.
local mr = require "moonrank"
local files = require "tests.support.files"
local numbers = require "tests.support.numbers"
local test = require "moonrank.test"
local says = require "tests.support.says"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local function with_files(texts, body)
  local paths = {}
  for i, text in ipairs(texts) do paths[i] = files.written(text) end
  body(table.unpack(paths))
end

test.describe("timestamps in mr.data.interactions", function()
  it("are read exactly as int64", function()
    local times = { 9007199254740993, 0, -5, math.maxinteger, math.mininteger }
    local text = "user,item,rating,timestamp\n"
    for i, time in ipairs(times) do text = text .. ("1,%d,4,%d\n"):format(i, time) end
    with_files({ text }, function(path)
      local r = mr.data.interactions(path)
      equal({ r.timestamp.dtype, r.timestamp:totable() }, { "int64", times })
      equal(r:binarize(4):min_relevant(2).timestamp:totable(), times)
      equal(mr.data.interactions(path, { columns = { timestamp = false } }).timestamp, false)
      equal(mr.data.interactions(path, { columns = { timestamp = "item" } }).timestamp:totable(), { 1, 2, 3, 4, 5 })
      check(r.fingerprint ~= mr.data.interactions(path, { columns = { timestamp = false } }).fingerprint)
      raises(function() mr.data.interactions(path, { columns = { timestamp = "when" } }) end, "timestamp", "when")
    end)
    with_files({ "1\t2\t881250949\n" }, function(path)
      local r = mr.data.interactions(path, { header = false, delimiter = "\t", columns = { timestamp = 3 } })
      equal(r.timestamp:totable(), { 881250949 })
      local unrated = { header = false, delimiter = "\t", columns = { rating = false } }
      equal(mr.data.interactions(path, unrated).timestamp, false)
    end)
  end)

  for _, word in ipairs{ "1.5", "", "today", "9223372036854775808", "1e9", " 7" } do
    it(("raise an error with line and column for '%s'"):format(word), function()
      with_files({ "user,item,timestamp\n1,2,3\n1,3," .. word .. "\n" }, function(path)
        raises(function() mr.data.interactions(path) end, ":3:5", ("'%s'"):format(word), "timestamp")
      end)
    end)
  end
end)

-- Applies a rule for repeated pairs of user and item to rows {user, item, value, time}, by plain loops.
local function settled(rows, rule, timed)
  local order, of = {}, {}
  for _, row in ipairs(rows) do
    local key = row[1] .. " " .. row[2]
    if not of[key] then
      of[key] = {}
      order[#order + 1] = key
    end
    table.insert(of[key], row)
  end
  local out = {}
  for _, key in ipairs(order) do
    local best, sum = nil, 0
    for at, row in ipairs(of[key]) do
      local time = timed and row[4] or at
      sum = sum + row[3]
      local better = not best
        or rule == "first" and time < best.time
        or rule == "max" and (row[3] > best.row[3] or row[3] == best.row[3] and time >= best.time)
        or (rule == "last" or rule == "sum") and time >= best.time
      if better then best = { row = row, time = time } end
    end
    out[#out + 1] = { best.row[1], best.row[2], rule == "sum" and sum or best.row[3], best.row[4] }
  end
  return out
end

test.describe("repeated pairs of interactions", function()
  local rows, below = {}, numbers.integers_below(7)
  for i = 1, 400 do rows[i] = { below(8) + 1, below(9) + 1, below(10) / 2, below(6) } end
  local function text(timed)
    local lines = { timed and "user,item,rating,timestamp" or "user,item,rating" }
    for _, row in ipairs(rows) do lines[#lines + 1] = table.concat(row, ",", 1, timed and 4 or 3) end
    return table.concat(lines, "\n")
  end
  for _, timed in ipairs{ true, false } do
    for _, rule in ipairs{ "last", "first", "max", "sum" } do
      it(("follow duplicates = '%s', %s"):format(rule, timed and "by time" or "by line"), function()
        with_files({ text(timed) }, function(path)
          local r, expected = mr.data.interactions(path, { duplicates = rule }), settled(rows, rule, timed)
          equal(r.rows, #expected)
          for i, row in ipairs(expected) do
            equal({ r.user[i]:item(), r.item[i]:item(), r.value[i]:item() }, { row[1], row[2], row[3] + 0.0 })
            if timed then equal(r.timestamp[i]:item(), row[4]) end
          end
          equal(#r:binarize(1):folds{ k = 2 }, 2)
        end)
      end)
    end
  end

  it("raise an error by default, for an unknown rule or for a sum out of range", function()
    with_files({ text(true) }, function(path)
      raises(function() mr.data.interactions(path) end, ":10:1", "'3'", "'9'")
      raises(function() mr.data.interactions(path, { duplicates = "mean" }) end, "duplicates", "'mean'")
    end)
    with_files({ "user,item,rating\n1,1,3e38\n1,1,3e38\n" }, function(path)
      raises(function() mr.data.interactions(path, { duplicates = "sum" }) end, ":2:1:", "sum")
    end)
  end)
end)

test.describe("part files in mr.data.interactions", function()
  it("share ids, and folds{by = 'given'} uses them as parts", function()
    local texts = { "user,item\n7,a\n7,b\n9,b\n", "user,item\n7,c\n", "user,item\n9,a\n8,d\n" }
    with_files(texts, function(train, valid, tested)
      local r = mr.data.interactions{ train = train, valid = valid, test = tested }
      equal({ r.user_ids, r.item_ids }, { { "7", "8", "9" }, { "a", "b", "c", "d" } })
      equal(r.part:totable(), { 0, 0, 0, 1, 2, 2 })
      local fold = r:binarize(1):folds{ by = "given", nsr = 0 }[1]
      local train_users, valid_users = fold.train.users:totable(), fold.valid.users:totable()
      equal({ train_users, valid_users, fold.test.users:totable() }, { { 1, 3 }, { 1 }, { 2, 3 } })
      equal({ fold.valid.items:totable(), fold.test.items:totable() }, { { 3 }, { 4, 1 } })
      equal({ fold.new_users, fold.new_items }, { 1, 1 })
      says(fold, "1 users", "1 items")
      local pair = mr.data.interactions{ train = train, test = tested }
      equal(pair.part:totable(), { 0, 0, 0, 2, 2 })
      equal(pair:binarize(1):folds{ by = "given", nsr = 0, valid = 0 }[1].train.lists.rows, 3)
      equal(pair:binarize(1):folds{ by = "given", nsr = 0, valid = 0.5 }[1].valid.lists.rows, 1)
    end)
  end)

  it("are rejected if they share a pair or if one is missing", function()
    with_files({ "user,item\n1,1\n", "user,item\n1,2\n1,1\n" }, function(train, tested)
      for _, rule in ipairs{ "error", "last" } do
        raises(function() mr.data.interactions({ train = train, test = tested }, { duplicates = rule }) end,
          tested .. ":3:1", "user", "item", "'1'", train .. ":2")
      end
      raises(function() mr.data.interactions{ train = train } end, "mr.data.interactions", "test")
      raises(function() mr.data.interactions{ train = train, tets = tested } end, "'tets'", "'test'")
    end)
    with_files({ "user,item,timestamp\n1,1,5\n", "user,item\n1,2\n" }, function(train, tested)
      raises(function() mr.data.interactions{ train = train, test = tested } end, "interactions", "timestamps")
    end)
  end)
end)

test.describe("the columns option of mr.data.interactions", function()
  local columns = { user = 1, item = 2, rating = 3, timestamp = 4 }

  it("reads numbers as positions and strings as names", function()
    with_files({ "2,1,4,3\n10,20,5,100\n" }, function(path)
      local by_name = { columns = { user = "2", item = "1", rating = "4", timestamp = "3" } }
      for _, options in ipairs{ { header = true, columns = columns }, by_name } do
        local r = mr.data.interactions(path, options)
        equal({ r.user_ids, r.item_ids, r.value:totable(), r.timestamp:totable() },
          { { "10" }, { "20" }, { 5.0 }, { 100 } }, "column " .. options.columns.user)
      end
      local r = mr.data.interactions(path, { header = false, columns = columns })
      equal({ r.user_ids, r.value:totable() }, { { "2", "10" }, { 4.0, 5.0 } })
      raises(function() mr.data.interactions(path, { header = false, columns = { user = "2", item = "1" } }) end,
        "user", "'2'", "header")
      raises(function() mr.data.interactions(path, { columns = { user = "9", item = "1" } }) end, "columns", "'9'")
    end)
    with_files({ "2,1,3\n10,20,5\n" }, function(path)
      local scores = mr.data.scores(path, { header = true, columns = { qid = 1, docid = 2, score = 3 } })
      equal({ scores.lists.ids, scores.lists.documents, scores.scores:totable() }, { { "10" }, { "20" }, { 5.0 } })
    end)
    for _, number in ipairs{ "0.25", "1e400", "1e-400" } do
      with_files({ "q1,d1," .. number .. "\nq1,d2,0.5\n" }, function(path)
        raises(function() mr.data.scores(path, { header = true, columns = { qid = 1, docid = 2, score = 3 } }) end,
          "'" .. number .. "'", "name", "header = false")
      end)
    end
  end)

  it("needs the header option if all columns are numbers", function()
    with_files({ "1,1,5,10\n1,2,3,11\n2,1,4,12\n2,3,2,13\n" }, function(path)
      equal(#mr.data.interactions(path, { header = false, columns = columns }).value, 4)
      for _, form in ipairs{ "header = true", "header = false" } do
        raises(function() mr.data.interactions(path, { columns = columns }) end, form)
        raises(function() mr.data.scores(path, { columns = { qid = 1, docid = 2, score = 3 } }) end, form)
      end
    end)
    -- a column given by name implies that the first line has the names of columns
    with_files({ "uid,item,stars\n7,3,5\n" }, function(path)
      equal(mr.data.interactions(path, { columns = { user = "uid", item = 2, rating = 3 } }).value:totable(), { 5.0 })
    end)
  end)
end)

test.describe("mr.data.interactions", function()
  it("asks for columns if a file without header may have ratings", function()
    with_files({ "7\t3\t4.5\t100\n8\t3\t2\t160\n" }, function(path)
      local function read(columns)
        return mr.data.interactions(path, { header = false, delimiter = "\t", columns = columns })
      end
      for _, columns in ipairs{ {}, { timestamp = 4 }, { user = 2, item = 1 } } do
        raises(function() read(columns) end, "4 columns", "without")
      end
      local by_place = { user = 1, item = 2, rating = 3, timestamp = 4 }
      for _, columns in ipairs{ { "user", "item", "rating", "timestamp" }, by_place } do
        local r = read(columns)
        equal({ r.value:totable(), r.timestamp:totable(), r.has_ratings }, { { 4.5, 2.0 }, { 100, 160 }, true })
      end
      local swapped = read{ "item", "user", false, "timestamp" }
      equal({ swapped.users, swapped.items, swapped.value:totable(), swapped.timestamp:totable() },
        { 1, 2, { 1.0, 1.0 }, { 100, 160 } })
      equal({ read{ rating = false }.has_ratings, read{ rating = 3 }.value:totable() }, { false, { 4.5, 2.0 } })
      raises(function() read{ "user", "item", "rating" } end, "3", "4 columns")
      raises(function() read{ "user", "item", "ratng", "timestamp" } end, "ratng", "rating")
      raises(function() read{ "user", "rating", false, "timestamp" } end, "mr.data.interactions", "'item'")
      raises(function() read{ "user", "item", "item", "timestamp" } end, "'item'")
      raises(function() read{ "user", "item", rating = 3 } end, "rating")
    end)
    -- if `columns` is a list of names, the names in the file's first line are ignored
    with_files({ "2,rating,1,4\n7,3,4.5,100\n" }, function(path)
      local names = { "user", "item", "rating", "timestamp" }
      local r = mr.data.interactions(path, { header = true, columns = names })
      equal({ r.user_ids, r.item_ids, r.value:totable(), r.timestamp:totable() },
        { { "7" }, { "3" }, { 4.5 }, { 100 } })
      raises(function() mr.data.interactions(path, { columns = names }) end, "header")
      raises(function() mr.data.interactions(path, { header = "no" }) end, "header", "'no'")
    end)
    with_files({ "7,3\n8,3\n" }, function(path)
      equal(mr.data.interactions(path, { header = false }).value:totable(), { 1.0, 1.0 })
    end)
    -- A first line of data would be lost as the names of columns. An id in it occurs again in one of the files.
    local numbered = { header = true, columns = { user = 1, item = 2, rating = false } }
    for _, texts in ipairs{ { "7,3\n7,4\n", "user,item\n8,3\n" }, { "u,i\n7,3\n", "9,3\n8,2\n" },
      { "ann,x\nbob,y\n", "bob,z\nann,y\n" } } do
      with_files(texts, function(train, tested)
        raises(function() mr.data.interactions({ train = train, test = tested }, numbered) end, "ids", "names",
          "header = false", texts[1]:sub(1, 1) == "u" and "'9'" or ("'%s'"):format(texts[1]:match "^%w+"))
      end)
    end
    with_files({ "0,1\n0,1\n1,0\n" }, function(path)
      equal(mr.data.interactions(path, numbered).rows, 2)
    end)
    with_files({ "user,item\n7,3\n", "user,item\n8,3\n7,3\n" }, function(train, tested)
      for _, duplicates in ipairs{ "error", "first" } do
        local _, message = pcall(mr.data.interactions, { train = train, test = tested }, { duplicates = duplicates })
        check(message:find("'7'", 1, true) and message:find "one file" and not message:find "merges", message)
      end
    end)
    with_files({ "user,item,rating\n7,3,5\n", "user,item\n8,3\n" }, function(train, tested)
      raises(function() mr.data.interactions{ train = train, test = tested } end, "interactions", "ratings", "files")
    end)
  end)

  it("asks for the rating column if the header has an unknown name", function()
    with_files({ "user,item,stars,when\n7,3,4.5,100\n8,3,2,160\n" }, function(path)
      local function read(columns) return mr.data.interactions(path, { columns = columns }) end
      for _, columns in ipairs{ {}, { timestamp = "when" } } do
        for _, part in ipairs{ "'stars'", "columns = {rating = 'stars'}", "rating = false" } do
          raises(function() read(columns) end, part)
        end
      end
      equal(read{ rating = "stars" }.value:totable(), { 4.5, 2.0 })
      local unrated = read{ rating = false, timestamp = "when" }
      equal({ unrated.value:totable(), unrated.has_ratings, unrated.timestamp:totable() },
        { { 1.0, 1.0 }, false, { 100, 160 } })
    end)
    with_files({ "user,item,timestamp\n7,3,100\n" }, function(path)
      equal(mr.data.interactions(path).has_ratings, false)
      equal(mr.data.interactions(path, { columns = { timestamp = false } }).has_ratings, false)
    end)
    with_files({ "item,rating,comment,user\n3,4,good,7\n" }, function(path)
      equal(mr.data.interactions(path).value:totable(), { 4.0 })
    end)
  end)

  it("prints counts, rating range and time range", function()
    local function shown(text, change)
      local printed
      with_files({ text }, function(path) printed = tostring(change(mr.data.interactions(path))) end)
      return printed
    end
    local full = "user,item,rating,timestamp\n" ..
      "1,1,5,1000000000\n1,2,1.5,1000086400\n2,1,4,1000000000\n3,3,2,1000000000\n"
    local text = shown(full, function(r) return r end)
    says(text, "3 users, 3 items, 4 ratings", "from 1.5 to 5", "1000000000 to 1000086400",
      "2001-09-09 to 2001-09-10")
    text = shown(full, function(r) return r:binarize(4) end)
    says(text, "rating >= 4", "2 ratings", "2 users", "1 items", "1.5", "5")
    text = shown(full, function(r) return r:binarize(1.5):binarize(1):min_relevant(2) end)
    says(text, "rating >= 1.5", "2 ratings", "1 users", "2 items")
    text = shown("user,item\n1,1\n", function(r) return r end)
    says(text, "ratings", "timestamps")
  end)
end)

it("mr.data.interactions finds a file that is there as .gz only, by its name without the ending", function()
  with_files({ "user,item,rating\n1,10,5\n2,11,2\n" }, function(path)
    local plain = mr.data.interactions(path).fingerprint
    os.execute("gzip " .. path)
    local ok, found = pcall(mr.data.interactions, path)
    os.execute("gunzip " .. path)
    equal({ ok, found.fingerprint }, { true, plain })
  end)
end)
