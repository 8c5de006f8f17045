-- Tests loaders of data: file formats, search paths, and errors about bad files.
local mr = require "moonrank"
local files = require "tests.support.files"
local program = require "tests.support.program"
local test = require "moonrank.test"
local says = require "tests.support.says"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local write = files.write
local function quoted(word) return "'" .. word:gsub("'", [['\'']]) .. "'" end

-- Returns the output of the program when it runs `code` in `folder` with these environment variables.
local function run(variables, folder, code)
  return files.output(("cd %s && env %s %s -e %s 2>&1"):format(quoted(folder), variables, quoted(program.moonrank),
    quoted(code)))
end

local function data_folder(name)
  local folder = program.data_folder(name)
  if not folder then test.skip("no data at MOONRANK_DATA or ../shared/data: " .. name) end
  return folder
end

local ratings_csv = "userId,movieId,rating,timestamp\r\n2,10,4.0,7\r\n2,30,1.5,8\r\n5,10,5.0,9\r\n"

test.describe("mr.data.interactions", function()
  it("reads columns by name or number, and all ratings as 1 with rating = false", function()
    local path = files.written("item,rating,user\n30,4.5,b\n10,1,a\n30,2,a\n", ".csv")
    local r = mr.data.interactions(path)
    equal({ r.users, r.items, r.rows }, { 2, 2, 3 })
    equal(r.user:totable(), { 1, 2, 2 })
    equal(r.item:totable(), { 2, 1, 2 })
    equal(r.value:totable(), { 4.5, 1.0, 2.0 })
    equal(r.user_ids, { "b", "a" })
    equal(r.item_ids, { "10", "30" })
    equal({ r.user.dtype, r.item.dtype, r.value.dtype }, { "int64", "int64", "float32" })
    local named = { header = true, columns = { user = 3, item = 1, rating = 2 } }
    equal(mr.data.interactions(path, named).value:totable(), { 4.5, 1.0, 2.0 })
    equal(mr.data.interactions(path, { columns = { rating = false } }).value:totable(), { 1.0, 1.0, 1.0 })
    raises(function() mr.data.interactions(path, { columns = { rating = "stars" } }) end,
      "csv:1:1", "'item'", "'rating'", "'user'", "','")
    raises(function() mr.data.interactions(path, { columns = { user = {} } }) end, "user", "table")
    raises(function() mr.data.interactions(path, { columns = { usr = "a" } }) end, "'usr'", "'user'")
    raises(function() mr.data.interactions(path, { delimeter = ";" }) end, "'delimeter'", "'delimiter'")
    raises(function() mr.data.interactions(path, { delimiter = "::" }) end, "delimiter", "'::'")
  end)

  it("shows how to pass other columns and delimiters if a column is missing", function()
    local form = '{user = "uid", item = 2}'
    local path = files.written("uid;iid\n1;2\n", ".csv")
    raises(function() mr.data.interactions(path) end, "'uid;iid'", "','", "'user'")
    raises(function() mr.data.interactions(path) end, form)
    raises(function() mr.data.interactions({ train = path, test = path }, { delimiter = ";" }) end, form)
    local by_place = { delimiter = ";", header = false, columns = { rating = 3 } }
    raises(function() mr.data.interactions(path, by_place) end, form)
    raises(function() mr.data.scores(path, { delimiter = ";" }) end, "'uid'", "'iid'", "';'")
    raises(function() mr.data.scores(path, { delimiter = ";" }) end, '{qid = "query", docid = 2}')
    raises(function() mr.data.movielens(path) end, "mr.data.interactions")
    local _, message = pcall(mr.data.interactions, path, { delimiter = "::" })
    check(not message:find("columns =", 1, true), message)
  end)

  it("reads files without a header and without ratings", function()
    local path = files.written("7\t8\t3\n9\t8\t4\n", ".tsv")
    local r = mr.data.interactions(path, { header = false, delimiter = "\t", columns = { rating = 3 } })
    equal(r.value:totable(), { 3.0, 4.0 })
    local unrated = { header = false, delimiter = "\t", columns = { rating = false } }
    equal(mr.data.interactions(path, unrated).value:totable(), { 1.0, 1.0 })
    equal(mr.data.interactions(files.written "user,item\n1,2\n").value:totable(), { 1.0 })
  end)

  it("names the file and line of an error, and refuses a nil path", function()
    raises(function() mr.data.interactions(files.written("", ".csv")) end, "csv:1:1", "file")
    raises(function() mr.data.interactions(nil) end, "path", "nil")
  end)
end)

test.describe("mr.data.movielens", function()
  it("reads a file, its folder or the folder above, and titles from movies.csv", function()
    local folder = files.new_folder()
    assert(os.execute("mkdir " .. quoted(folder .. "/ml-latest-small")))
    write(folder .. "/ml-latest-small/ratings.csv", ratings_csv)
    for _, place in ipairs{ "", "/ml-latest-small", "/ml-latest-small/ratings.csv" } do
      local r = mr.data.movielens(folder .. place)
      equal({ r.users, r.items, r.rows }, { 2, 2, 3 })
      equal(r.value:totable(), { 4.0, 1.5, 5.0 })
      raises(function() r:titles() end, "movies.csv")
    end
    write(folder .. "/ml-latest-small/movies.csv",
      'movieId,title,genres\r\n10,"Monsters, Inc. (2001)",x\r\n20,"A ""B""",y\r\n')
    equal(mr.data.movielens(folder):titles(), { "Monsters, Inc. (2001)", "" })
    os.remove(folder .. "/ml-latest-small/ratings.csv")
    raises(function() mr.data.movielens(folder) end, "ratings.csv", "ratings.csv.gz")
  end)

  it("searches MOONRANK_DATA, ../shared/data and the user's data folder, in this order", function()
    local folder = files.new_folder()
    local code = "print(require('moonrank').data.movielens().rows)"
    local function put(place, rows)
      assert(os.execute("mkdir -p " .. quoted(folder .. place .. "/ml-latest-small")))
      local text = "userId,movieId,rating\n"
      for i = 1, rows do text = text .. "1," .. i .. ",4\n" end
      write(folder .. place .. "/ml-latest-small/ratings.csv", text)
    end
    put("/desk/here", 1) put("/own/other", 1)  -- `desk` is the working folder, and `own` has other data sets only
    local variables = ("MOONRANK_DATA=%s XDG_DATA_HOME=%s"):format(quoted(folder .. "/own"), quoted(folder .. "/xdg"))
    local here = folder .. "/desk"
    local none = run(variables, here, code)
    local places = { "ml-latest-small", folder .. "/own/ml-latest-small", "../shared/data/ml-latest-small",
      folder .. "/xdg/moonrank/ml-latest-small" }
    says(none, "'ml-latest-small'", table.concat(places, ", "), "moonrank data get movielens")
    put("/xdg/moonrank", 2)
    equal(run(variables, here, code), "2\n")
    equal(run("MOONRANK_DATA= XDG_DATA_HOME=" .. quoted(folder .. "/xdg"), here, code), "2\n")
    for _, place in ipairs{ { "/shared/data", 3 }, { "/own", 4 }, { "/desk", 5 } } do
      put(place[1], place[2])
      equal(run(variables, here, code), place[2] .. "\n", place[1])
    end
  end)

  it("refuses a truncated gzip file with an error that can be caught", function()
    local folder = files.new_folder()
    write(folder .. "/ratings.csv", ratings_csv)
    local cut = "cd %s && gzip ratings.csv && head -c 40 ratings.csv.gz > cut.gz && mv cut.gz ratings.csv.gz"
    assert(os.execute(cut:format(quoted(folder))))
    raises(function() mr.data.movielens(folder) end, "ratings.csv.gz", "truncated", "gzip")
    equal(mr.tensor{ 1, 2 }:sum():item(), 3.0)
  end)

  it("reads the known counts of ml-latest-small", function()
    local folder = data_folder "ml-latest-small/ratings.csv.gz"
    if not folder then return end
    local r = mr.data.movielens(folder)
    equal({ r.users, r.items, r.rows }, { 610, 9724, 100836 })
    equal(r.item_ids[1], "1")
    local titles = r:titles()
    equal({ #titles, titles[1] }, { 9724, "Toy Story (1995)" })
    equal(r:binarize(4).value:sum():item(), 48580.0)
    local fold = r:binarize(4):min_relevant(25):folds{ k = 5, seed = 1, nsr = 1 }[1]
    equal({ fold.train.count, fold.valid.count, fold.test.count, fold.short_users }, { 412, 412, 412, 0 })
  end)
end)

test.describe("mr.data.citeulike", function()
  it("reads a line per user: the number of items, then the items", function()
    local folder = files.new_folder()
    assert(os.execute("mkdir " .. quoted(folder .. "/citeulike-a")))
    local path = folder .. "/citeulike-a/users.dat"
    write(path, "2 30 7\r\n0\n3  7\t900 8 ")  -- the last line has no line end
    for _, place in ipairs{ folder, folder .. "/citeulike-a", path } do
      local r = mr.data.citeulike(place)
      equal({ r.users, r.items, r.rows }, { 3, 4, 5 })
      equal(r.user:totable(), { 1, 1, 3, 3, 3 })
      equal(r.item:totable(), { 3, 1, 1, 4, 2 })
      equal({ r.user_ids, r.item_ids }, { { "0", "1", "2" }, { "7", "8", "30", "900" } })
      equal(r.value:totable(), { 1.0, 1.0, 1.0, 1.0, 1.0 })
      equal({ r.user.dtype, r.item.dtype, r.value.dtype }, { "int64", "int64", "float32" })
    end
    assert(os.execute("gzip " .. quoted(path)))
    equal(mr.data.citeulike(folder).rows, 5)
    os.remove(path .. ".gz")
    raises(function() mr.data.citeulike(folder) end, "users.dat", "users.dat.gz")
  end)

  local bad = {
    { "too few items", "1 5\n3 1 2\n", ":2:1", "2", "3" },
    { "too many items", "1 5 6\n", ":1:1", "2", "1" },
    { "a word for an item", "1 5\n2 5 six\n", ":2:5", "'six'" },
    { "a number that is not whole", "1 5.5\n", ":1:3", "'5.5'" },
    { "a negative item", "1 -5\n", ":1:3", "'-5'" },
    { "a number too large", "1 99999999999999999999\n", ":1:3", "'99999999999999999999'" },
    { "an item twice", "3 5 4 5\n", ":1:7", "'5'" },
    { "an empty line", "1 5\n\n1 5\n", ":2:1", "''" },
    { "an empty file", "", ":1:1", "items" },
    { "users without items only", "0\n0\n", ":1:1", "items" },
  }
  for _, case in ipairs(bad) do
    it("names line and column of " .. case[1], function()
      local path = files.written(case[2], ".dat")
      raises(function() mr.data.citeulike(path) end, path .. case[3], table.unpack(case, 4))
    end)
  end

  it("reads the known counts, and folds draw negatives from items that the user does not have", function()
    local folder = data_folder "citeulike-a/users.dat.gz"
    if not folder then return end
    local r = mr.data.citeulike(folder .. "/citeulike-a")
    equal({ r.users, r.items, r.rows }, { 5551, 16980, 204986 })
    local fold = r:binarize(1):min_relevant(25):folds{ k = 5, seed = 1, nsr = 2 }[1]
    equal({ fold.test.count, fold.short_users }, { 2465, 0 })
    local users, items, owned, drawn, relevant = r.user:totable(), r.item:totable(), {}, {}, 0
    for i, u in ipairs(users) do owned[u * r.items + items[i]] = true end
    for _, part in ipairs{ fold.train, fold.valid, fold.test } do
      local at, rows, grades, of = 0, part.items:totable(), part.lists.relevance:totable(), part.users:totable()
      for list, n in ipairs(part.lists.sizes:totable()) do
        for i = at + 1, at + n do
          local pair = of[list] * r.items + rows[i]
          if (grades[i] == 1) ~= (owned[pair] == true) then error("item " .. rows[i] .. " of user " .. of[list]) end
          if drawn[pair] then error "an item twice" end
          drawn[pair], relevant = true, relevant + grades[i]
        end
        at = at + n
      end
      equal(part.lists.rows, 3 * math.tointeger(part.lists.relevance:sum():item()))
    end
    equal(relevant, 157527.0)
  end)
end)

test.describe("mr.data.letor", function()
  it("reads judged queries with features, ids and documents, and checks its options", function()
    local path = files.written("2 qid:7 1:0.5 3:2 #docid = A\r\n0 qid:7 2:1 #docid = B\r\n1 qid:9\t1:4\r\n", ".txt")
    local set = mr.data.letor(path)
    equal({ set.count, #set, set.lists.rows }, { 2, 2, 3 })
    equal(set.features:totable(), { { 0.5, 0.0, 2.0 }, { 0.0, 1.0, 0.0 }, { 4.0, 0.0, 0.0 } })
    equal(set.lists.relevance:totable(), { 2.0, 0.0, 1.0 })
    equal(set.lists.ids, { "7", "9" })
    equal(set.lists.documents, { "A", "B", "" })
    equal(mr.data.letor(path, { features = 5 }).features:size(2), 5)
    raises(function() mr.data.letor(path, { features = 2 }) end, "txt:1:15", "3", "2")
    raises(function() mr.data.letor(path, { features = -1 }) end, "features", "-1")
    raises(function() mr.data.letor(path, { feature = 2 }) end, "'feature'", "'features'")
    raises(function() mr.data.letor(path, { order = "up" }) end, "order", "'up'")
    raises(function() mr.data.letor(path, { null = 1 }) end, "null", "1")
  end)

  it("names the script's line and the place in the file of a NULL, and suggests null = 0", function()
    local path = files.written("1 qid:1 1:NULL\n", ".txt")
    raises(function() mr.data.letor(path) end, "data_spec.lua", path .. ":1:11", "'NULL'", "null = 0")
  end)

  it("reads NULL, unsorted features and rows without qid with the options null, order and qid", function()
    local unsorted = files.written("1 2:NULL 1:3 2:5\n0 1:1\n", ".txt")
    local set = mr.data.letor(unsorted, { null = 0, order = "any", qid = "optional" })
    equal(set.features:totable(), { { 3.0, 5.0 }, { 1.0, 0.0 } })
    equal(set.count, 1)
    set = mr.data.letor(files.written("1 qid:1 1:NULL 2:5\n0 qid:1 1:1\n", ".txt"), { null = "missing" })
    equal(set.features:totable(), { { 0 / 0, 5.0 }, { 1.0, 0.0 } })
    equal(set:fill(7).features:totable(), { { 7.0, 5.0 }, { 1.0, 0.0 } })
  end)

  it("reads its cache, and reads the file again if either is damaged, removed or changed", function()
    local folder = files.new_folder()
    local path, cache = folder .. "/q.txt", folder .. "/cache"
    write(path, "2 qid:7 1:0.5 3:2 #docid = A\n0 qid:7 2:1\n1 qid:9 1:4\n")
    local plain = mr.data.letor(path)
    for _ = 1, 2 do
      local set = mr.data.letor(path, { cache = cache })
      equal({ set.count, set.features:totable(), set.lists.relevance:totable() },
        { 2, plain.features:totable(), plain.lists.relevance:totable() })
      equal({ set.lists.ids, set.lists.documents }, { plain.lists.ids, plain.lists.documents })
    end
    local code = ("local set = mr.data.letor(%q, { cache = true }); print(set.lists.rows)"):format(path)
    local function again() return run("XDG_CACHE_HOME=" .. quoted(folder .. "/user"), ".", code) end
    equal(again(), "3\n")
    local name = files.output("ls " .. quoted(folder .. "/user/moonrank/letor")):match "^(letor%-%x+)\n$"
    check(name, "one cache")
    local own = folder .. "/user/moonrank/letor/" .. name
    local bytes = files.read(own)
    write(own, bytes:sub(1, 200))
    local told = again()
    says(told, "mr.data.letor", own, "\n3\n")
    equal(again(), "3\n")
    write(own, "a thesis")
    for _ = 1, 2 do
      told = again()
      says(told, own, "\n3\n")
    end
    os.remove(own)
    equal(again(), "3\n")
    write(path, "1 qid:7 1:1\n")
    equal(again(), "1\n")
    raises(function() mr.data.letor(path, { cache = 3 }) end, "cache", "3")
    raises(function() mr.data.letor(path, { cache = "" }) end, "cache", "''")
    equal(mr.data.letor(path, { cache = false }).count, 1)
  end)

  it("refuses a missing file, and a folder in place of a file", function()
    raises(function() mr.data.letor "no-such-file.txt" end, "'no-such-file.txt'")
    raises(function() mr.data.letor "tests" end, "folder", "file")
  end)
end)

test.describe("mr.data.letor_folds", function()
  local function lines(query, grade)
    return ("%d qid:%s 1:%s 2:1\n0 qid:%s 1:0 2:1\n"):format(grade, query, query, query)
  end

  it("makes a validation part of whole lists if the folder has none", function()
    local folder = files.new_folder()
    for p = 1, 3 do
      local text = ""
      for q = 1, 10 do text = text .. lines(10 * p + q, p) end
      write(("%s/P%d.txt"):format(folder, p), text)
    end
    local folds = mr.data.letor_folds(folder, { valid = 0.2, seed = 3 })
    equal(#folds, 3)
    local fold = folds[2]
    equal({ fold.train.count, fold.valid.count, fold.test.count }, { 16, 4, 10 })
    local seen = {}
    for _, part in ipairs{ fold.train, fold.valid } do
      for i, id in ipairs(part.lists.ids) do
        check(not seen[id], "query " .. id .. " once")
        seen[id] = true
        -- features are moved with their lists: feature 1 of the relevant row is the query's number
        equal(part.features[2 * i - 1]:totable()[1], tonumber(id) + 0.0)
      end
    end
    for q = 21, 30 do check(not seen[tostring(q)], "test queries stay out") end
    equal(folds[2], fold)
    equal(mr.data.letor_folds(folder, { valid = 0.2, seed = 3 })[2].valid.lists.ids, fold.valid.lists.ids)
    raises(function() return folds[0] end, "0", "1", "3", "fold")
    raises(function() return folds[5] end, "5", "fold")
    local n = 0
    for _ in ipairs(folds) do n = n + 1 end
    equal(n, 3)
    -- the grade "top" is one threshold for the whole fold: only P3 has grade 3, so other parts have no relevant rows
    local binary = folds[3]:binarize "top"
    equal({ binary.test.lists.relevance:sum():item(), binary.train.lists.relevance:sum():item() }, { 10.0, 0.0 })
    local first = folds[1]:binarize "top"
    equal(first.test.lists.relevance:sum():item(), 0.0)
    equal(first.train.lists.relevance:sum():item() + first.valid.lists.relevance:sum():item(), 10.0)
    local third = folds[3]:binarize(2)
    equal(third.train.lists.relevance:sum():item() + third.valid.lists.relevance:sum():item(), 10.0)
    check(fold:summary():find("32 rows +16 relevant rows\n"), fold:summary())
  end)

  it("standardises a fold by its training part", function()
    local folder = files.new_folder()
    write(folder .. "/train.txt", "1 qid:1 1:1 2:7\n0 qid:1 1:3 2:7\n")
    write(folder .. "/vali.txt", "1 qid:2 1:2 2:8\n")
    write(folder .. "/test.txt", "1 qid:3 1:5 2:7\n")
    local fold = mr.data.letor_folds(folder)[1]:standardize()
    equal(fold.train.features:totable(), { { -1.0, 0.0 }, { 1.0, 0.0 } })
    equal(fold.valid.features:totable(), { { 0.0, 1.0 } })
    equal(fold.test.features:totable(), { { 3.0, 0.0 } })
  end)

  it("reads the known counts of MQ2008", function()
    local folder = data_folder "mq2008/folds.tsv"
    if not folder then return end
    local folds = mr.data.letor_folds(folder .. "/mq2008")
    equal(#folds, 5)
    local fold = folds[1]
    equal({ fold.train.count, fold.valid.count, fold.test.count }, { 471, 157, 156 })
    equal({ fold.train.lists.rows, fold.valid.lists.rows, fold.test.lists.rows }, { 2933 + 3635 + 3062, 2707, 2874 })
    equal(fold:binarize("top").test.lists.relevance:sum():item(), 177.0)
    local x = fold:standardize().train.features:double()
    near(x:mean(1):abs():max():item(), 0, { atol = 1e-6 })
    local sd = (x ^ 2):mean(1):sqrt():totable()
    for _, column in ipairs{ 6, 7, 8, 9, 10, 43 } do equal(sd[column], 0.0) end
    near(sd[1], 1, 1e-6)
  end)
end)

it("mr.data.synthetic makes ratings and queries", function()
  local r = mr.data.synthetic{ kind = "ratings", users = 30, items = 200, seed = 2 }
  equal({ r.users, r.items, r.rows }, { 30, 200, #r.value })
  equal(r.value:totable(), mr.data.synthetic{ users = 30, items = 200, seed = 2 }.value:totable())
  local q = mr.data.synthetic{ kind = "queries", queries = 12, features = 5 }
  equal({ q.count, q.features:size(2) }, { 12, 5 })
  raises(function() mr.data.synthetic{ kind = "queries", users = 3 } end, "users", "'queries'")
end)
