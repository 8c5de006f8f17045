-- Data sets: readers of the usual formats, made-up data, folds and batches.
local core = require "moonrank.core"
local check = require "moonrank.check"
local find = require "moonrank.data.find"
local dataset = require "moonrank.data.dataset"
local fold = require "moonrank.data.fold"
local join = require "moonrank.data.join"
local ratings = require "moonrank.data.ratings"
local scored = require "moonrank.data.scored"

require "moonrank.data.features"

local M = { dataset = dataset.checked }

for _, readers in ipairs{ require "moonrank.data.comparisons", (require "moonrank.data.images") } do
  for name, read in pairs(readers) do M[name] = read end
end

-- The path of file `name` (`path` itself, or in this folder or its subfolder `own`), and its folder.
local function file_in(path, own, name)
  if not find.is_folder(path) then return path, path:match "^(.*)/[^/]*$" or "." end
  for _, folder in ipairs{ path, path .. "/" .. own } do
    local file = find.file(folder, { name })
    if file then return file, folder end
  end
  check.fail("%s: no %s or %s.gz in this folder or in its %s", path, name, name, own)
end

-- What a reader of the core returns; where the file has no column of a name, the error says which options name others.
local function read_columns(hint, read, ...)
  local results = table.pack(pcall(read, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local message = results[2]
  if type(message) == "string" and (message:find ", expected one named '" or message:find ", expected a column number, ") then
    message = ("%s; %s"):format(message, hint)
  end
  error(message, 0)
end

local function columns_hint(example)
  return ('where the file is made otherwise, say so: columns = {%s}, delimiter = "\\t", header = false'):format(example)
end

---MovieLens: `ratings.csv` (userId, movieId, rating, and timestamp where it has one), plain or .gz, the file itself or the folder that contains it (or contains it in its
---subfolder ml-latest-small). Users and movies are numbered from 1 in the order of their ids; `:titles()` gives the movies' names by number.
---@param path? string  default: ml-latest-small, in MOONRANK_DATA, ../shared/data or the user's data folder
---@return mr.Ratings
function M.movielens(path)
  local name = (path == nil or path == "movielens") and "ml-latest-small" or path
  local file, folder = file_in(find.path(name, "`moonrank data get movielens` fetches it"), "ml-latest-small", "ratings.csv")
  local read = ratings.new("MovieLens", read_columns("mr.data.interactions reads tables with other columns", core.read_ratings, { file },
    "userId", "movieId", "rating", true, "timestamp", false, true, ",", "error"))
  function read:titles()
    local movies = find.file(folder, { "movies.csv" })
    if not movies then check.fail("%s: no movies.csv beside the ratings", folder) end
    local ids, names = core.read_pairs(movies, "movieId", "title")
    local by_id = {}
    for i, id in ipairs(ids) do by_id[id] = names[i] end
    local titles = {}
    for i, id in ipairs(self.item_ids) do titles[i] = by_id[id] or "" end
    return titles
  end
  return read
end

---CiteULike-a (Wang, Chen, Li 2013): which user has which article in his library, from `users.dat`, plain or .gz, the file itself or the folder
---that contains it (or contains it in its subfolder citeulike-a). Line u is user u: how many articles, then their numbers, blanks between. All
---ratings are 1, so `binarize(1)` says what is relevant. An article twice in a line, or a count that is not theirs, is an error.
---@param path? string  default: citeulike-a, in MOONRANK_DATA, ../shared/data or the user's data folder
---@return mr.Ratings
function M.citeulike(path)
  return ratings.new("CiteULike-a", core.read_libraries((file_in(find.path(path or "citeulike-a"), "citeulike-a", "users.dat"))))
end

---@class mr.data.InteractionsOptions
---@field columns? { user?: string|integer, item?: string|integer, rating?: string|integer|false, timestamp?: string|integer|false }|(string|false)[]  by name or by number; or what each column of the file holds, in its order
---@field header? boolean    whether the first line names the columns (default true)
---@field delimiter? string  one character (default ",")
---@field duplicates? "error"|"last"|"first"|"max"|"sum"  what a pair that occurs again is (default "error")

-- The files of an argument: one, or those of train, valid and test.
local function interaction_files(path)
  if type(path) ~= "table" then return { find.path(path) } end
  local o = check.options("mr.data.interactions", path, { train = check.none, valid = check.none, test = check.none })
  if not o.train or not o.test then check.fail("mr.data.interactions: %s is missing", o.train and "test" or "train") end
  local files = {}
  for _, name in ipairs{ "train", "valid", "test" } do
    if o[name] then files[#files + 1] = find.path(o[name]) end
  end
  return files
end

-- Columns by what they hold, from a list of what each column of the file holds; how many columns that are.
local function listed_columns(list)
  local where, at = "mr.data.interactions columns", {}
  for name in pairs(list) do
    if math.type(name) ~= "integer" then
      check.fail("%s: a list of what each column holds has the name '%s', too. Pass names and numbers, or a list", where, tostring(name))
    end
  end
  for i = 1, #list do
    if list[i] ~= false then
      check.choice(where, "entry", list[i], { "user", "item", "rating", "timestamp" })
      if at[list[i]] then check.fail("%s: '%s' is in the list twice", where, list[i]) end
      at[list[i]] = i
    end
  end
  for _, name in ipairs{ "user", "item" } do
    if not at[name] then check.fail("%s: the list has no '%s', as in {\"user\", \"item\", \"rating\", \"timestamp\"}", where, name) end
  end
  at.rating, at.timestamp = at.rating or false, at.timestamp or false
  return at, #list
end

-- Whether the first line has names: yes unless said otherwise. Where columns finds all that it needs by number, this has
-- to be said, because the first line would be lost if it was data. `needed`: what a reader finds by name by default.
local function has_header(where, header, columns, needed)
  if header ~= nil and type(header) ~= "boolean" then check.fail("%s: header is a %s, expected true or false", where, type(header)) end
  if header ~= nil then return header end
  local by_number = true
  for _, name in ipairs(needed) do by_number = by_number and columns[name] ~= nil end
  for _, column in pairs(columns) do by_number = by_number and type(column) ~= "string" end
  if by_number then
    check.fail("%s: columns has no name, so that it is not known whether the first line is data. Pass header = false where it is data, or "
      .. "header = true where it has names", where)
  end
  return true
end

-- A column as the core reads it: a name; or a number, which is added to those that are `placed`.
local function column_text(where, name, given, header, placed)
  if math.type(given) == "integer" then
    placed[#placed + 1] = name
  elseif type(given) ~= "string" then
    check.fail("%s: column %s is %s, expected a name or a number", where, name, tostring(given))
  elseif not header then
    check.fail("%s: column %s is the name '%s', but header is false, so that columns have no names. Pass its number: columns = {%s = 3}",
      where, name, given, name)
  end
  return tostring(given)
end

---Interactions of users and items from a table, plain or .gz. Columns are called user, item, rating and timestamp unless said otherwise:
---`columns = {user = "uid", rating = 4}`, where a text is a name and a number the place of a column, or `columns = {"user", "item", false,
---"timestamp"}` in the order of the file, where false stands for a column that is not read. Without header user and item are columns 1 and 2.
---Beside a list, or numbers alone, `header` has to be given: true where the first line has names, false where it is data.
---A file without a known rating column, and with further columns than user, item and timestamp, is an error: one of them may be the rating. Name
---it, or pass `rating = false`. Then all ratings are 1, as in a file of nothing but users, items and timestamps, and print(ratings) says so.
---Timestamps are whole numbers of 64 bits, kept exactly; `timestamp = false` leaves them out. Ids may be any text: numbered from 1 by
---value where all are whole numbers, else in order of appearance. A pair that occurs again is an error, or becomes one row: the "last" or "first"
---by timestamp (of equal or no times by line), the one with the "max" rating (of equal ones the last), or the "sum" of the ratings at the last
---time. `{train = path, test = path}`, and `valid`: files of one split, for `folds{by = "given"}`; duplicates are settled within each, and
---a pair in two of them is an error.
---@param path string|{ train: string, valid?: string, test: string }
---@param options? mr.data.InteractionsOptions
---@return mr.Ratings
---Example:
---```lua
---local path = os.tmpname()
---local file = io.open(path, "w")
---file:write("user,item,rating\n7,1,5\n7,2,3\n9,1,4\n")
---file:close()
---local ratings = mr.data.interactions(path)
---os.remove(path)
---ratings.users, ratings.items   --> 2, 2
---```
function M.interactions(path, options)
  local o = check.options("mr.data.interactions", options, { columns = {}, header = check.none, delimiter = ",", duplicates = "error" })
  check.choice("mr.data.interactions", "duplicates", o.duplicates, { "error", "last", "first", "max", "sum" })
  local columns, width = o.columns, 0
  if type(columns) == "table" and #columns > 0 then columns, width = listed_columns(columns) end
  columns = check.options("mr.data.interactions columns", columns,
    { user = check.none, item = check.none, rating = check.none, timestamp = check.none })
  o.header = has_header("mr.data.interactions", o.header, columns, { "user", "item" })
  local defaults = o.header and { user = "user", item = "item", rating = "rating", timestamp = "timestamp" }
    or { user = "1", item = "2", rating = "", timestamp = "" }
  local placed = {}
  local function column(name)
    local given = columns[name]
    if given == nil then return defaults[name] end
    if given == false and (name == "rating" or name == "timestamp") then return "" end
    return column_text("mr.data.interactions", name, given, o.header, placed)
  end
  local files = interaction_files(path)
  local read = read_columns(columns_hint 'user = "uid", item = 2', core.read_ratings, files, column "user", column "item", column "rating",
    columns.rating ~= nil, column "timestamp", columns.timestamp ~= nil, o.header, o.delimiter, o.duplicates, width, placed)
  return ratings.new(type(path) == "string" and path or table.concat(files, ", "), read)
end

---@class mr.data.LetorOptions
---@field features? integer  number of features (default: the largest id in the file)
---@field order? string      "ascending" (default): feature ids must ascend; "any"
---@field null? 0|"missing"  0 reads "NULL" as 0, "missing" as a missing value, NaN (mr.Dataset:fill); by default it is an error
---@field qid? string        "required" (default), or "optional": a file without is one list
---@field cache? boolean|string  keeps the data in a binary file, for the next time: true: in the user's cache folder; or a folder

local letor_defaults = { features = 0, order = "ascending", null = check.none, qid = "required", cache = check.none }

-- The folder of the option `cache`, or nil.
local function cache_folder(where, cache)
  if not cache then return nil end
  if cache == true then return core.cache_folder() .. "/letor" end
  if type(cache) ~= "string" or cache == "" then
    check.fail("%s: cache is %s, expected true, false or a folder", where, cache == "" and "empty" or "a " .. type(cache))
  end
  return cache
end

-- The options of letor, with those of `more` (name -> default).
local function letor_options(where, options, more)
  local defaults = {}
  for _, each in ipairs{ letor_defaults, more or {} } do
    for name, default in pairs(each) do defaults[name] = default end
  end
  local o = check.options(where, options, defaults)
  check.choice(where, "order", o.order, { "ascending", "any" })
  check.choice(where, "qid", o.qid, { "required", "optional" })
  if math.type(o.features) ~= "integer" or o.features < 0 then
    check.fail("%s: features is %s, expected an integer of at least 1", where, tostring(o.features))
  end
  if o.null ~= nil and o.null ~= 0 and o.null ~= "missing" then
    check.fail("%s: null is %s, expected 0 or 'missing'", where, tostring(o.null))
  end
  o.cache = cache_folder(where, o.cache)
  return o
end

local function letor_file(path, o, name)
  local any_order, null, optional = o.order == "any", o.null == 0 and "zero" or o.null or "refused", o.qid == "optional"
  local lists, features, problem
  if o.cache then
    lists, features, problem = core.read_letor_cached(path, o.features, any_order, null, optional, o.cache)
  else
    lists, features = core.read_letor(path, o.features, any_order, null, optional)
  end
  if problem then check.warn("mr.data.letor: cache " .. problem) end
  return dataset.new{ lists = lists, features = features, name = name }
end

---Judged queries with features in LETOR, SVMlight or RankLib format, plain or .gz. Features that a line does not name are 0. A cache is for
---this path and these options, and made anew where the file has changed since, or the cache is damaged or of another version (with a warning).
---A file of that name that is no cache is reported, too, and not changed.
---@param path string
---@param options? mr.data.LetorOptions
---@return mr.Dataset
---Example:
---```lua
---local path = os.tmpname()
---local file = io.open(path, "w")
---file:write("2 qid:1 1:0.5 2:1\n0 qid:1 1:0.1 2:0\n1 qid:2 1:0.3 2:1\n")
---file:close()
---local queries = mr.data.letor(path, {cache = false})
---os.remove(path)
---queries.count, queries.lists.rows, queries.features:size(2)   --> 2, 3, 2
---```
function M.letor(path, options)
  local o = letor_options("mr.data.letor", options)
  local set = letor_file(find.path(path), o, path)
  return set
end

local function read_parts(paths, o, name)
  local parts = {}
  for path in paths:gmatch("[^\n]+") do parts[#parts + 1] = letor_file(path, o, name) end
  return join(parts, name)
end

local function read_fold(files, o, number, count)
  local train = read_parts(files.train[number], o, "train")
  local valid
  if files.valid[number] ~= "" then
    valid = read_parts(files.valid[number], o, "valid")
  else
    train, valid = train:split{ share = o.valid, seed = o.seed }
    train.name, valid.name = "train", "valid"
  end
  return fold.new{ train = train, valid = valid, test = read_parts(files.test[number], o, "test"), number = number, k = count,
    title = ("Fold %d of %d"):format(number, count) }
end

---@class mr.data.LetorFoldOptions: mr.data.LetorOptions
---@field valid? number   share of the training lists that becomes the validation part where the folder has none (default 0.1)
---@field seed? integer   of that choice (default 1)

---The folds of a LETOR folder: by folds.tsv; by Fold1, Fold2, ... with train, vali and test; by these files in the folder itself; by rotation
---of S1 ... S5 as LETOR does it; or of P1 ... P5, where P1 is the test of fold 1 and the others train. Each fold is read when it is first used.
---@param folder string
---@param options? mr.data.LetorFoldOptions
---@return mr.Fold[]
function M.letor_folds(folder, options)
  local o = letor_options("mr.data.letor_folds", options, { valid = 0.1, seed = 1 })
  local files = {}
  files.train, files.valid, files.test = core.letor_folds(find.path(folder))
  return fold.sequence(#files.train, function(number) return read_fold(files, o, number, #files.train) end)
end

---@class mr.data.ScoresOptions
---@field columns? { qid?: string|integer, docid?: string|integer, score?: string|integer }  a text is a name, a number a place
---@field header? boolean    whether the first line names the columns (default true)
---@field delimiter? string  one character (default ",")

---Scores of documents that any program made, from a table, plain or .gz. Columns are called qid, docid and score unless said otherwise; without
---header they are 1, 2 and 3. Where `columns` has all three as numbers, `header` has to be given. Rows of a query need not be together; a document that is in it twice is an error.
---@param path string
---@param options? mr.data.ScoresOptions
---@return mr.ScoredLists
---Example:
---```lua
---local path = os.tmpname()
---local file = io.open(path, "w")
---file:write("qid,docid,score\n1,a,0.5\n1,b,0.25\n")
---file:close()
---local x = mr.data.scores(path)
---os.remove(path)
---x.lists.rows, x.scores:totable()[1]   --> 2, 0.5
---```
function M.scores(path, options)
  local o = check.options("mr.data.scores", options, { columns = {}, header = check.none, delimiter = "," })
  local known, placed = { qid = check.none, docid = check.none, score = check.none }, {}
  local columns = check.options("mr.data.scores columns", o.columns, known)
  o.header = has_header("mr.data.scores", o.header, columns, { "qid", "docid", "score" })
  local defaults = o.header and { qid = "qid", docid = "docid", score = "score" } or { qid = 1, docid = 2, score = 3 }
  for name, default in pairs(defaults) do
    local given = columns[name]
    if given == nil then given = default end
    columns[name] = column_text("mr.data.scores", name, given, o.header, placed)
  end
  local lists, scores = read_columns(columns_hint 'qid = "query", docid = 2', core.read_scores, find.path(path), columns.qid,
    columns.docid, columns.score, o.header, o.delimiter, placed)
  return scored.new(lists, scores, path)
end

---A run file as TREC has them, plain or .gz: lines "query Q0 document rank score tag". What counts is the score; the rank is not read.
---@param path string
---@return mr.ScoredLists
---Example:
---```lua
---local path = os.tmpname()
---local file = io.open(path, "w")
---file:write("q1 Q0 d1 1 0.9 a\nq1 Q0 d2 2 0.4 a\n")
---file:close()
---local run = mr.data.trec_run(path)
---os.remove(path)
---run.lists.rows   --> 2
---```
function M.trec_run(path)
  local lists, scores = core.read_trec_run(find.path(path))
  return scored.new(lists, scores, path)
end

---Judgments as TREC has them, plain or .gz: lines "query iteration document grade" with whole grades. Those below 0 count as not judged, as in
---trec_eval. Each query is a list; `.ids` are the queries, `.documents` the documents.
---@param path string
---@return mr.Lists
---Example:
---```lua
---local path = os.tmpname()
---local file = io.open(path, "w")
---file:write("q1 0 d1 1\nq1 0 d2 0\n")
---file:close()
---local qrels = mr.data.trec_qrels(path)
---os.remove(path)
---qrels   --> mr.Lists: 1 lists, 2 rows
---```
function M.trec_qrels(path) return core.read_trec_qrels(find.path(path)) end

---Scores of the rows of a dataset or of lists, to be written as a run file, or compared. Lists and rows without names are called as the file of
---the ratings calls users and items, or by their numbers.
---@param scores mr.Tensor|mr.Model  [rows], or the model that makes them
---@param set mr.Dataset|mr.Lists
---@param options? { name?: string }
---@return mr.ScoredLists
---Example: `mr.data.scored(mr.tensor{0.5, 2}, mr.lists{{0, 1}}).lists.documents[1]   --> 1`
function M.scored(scores, set, options)
  local o = check.options("mr.data.scored", options, { name = "scores" })
  if not check.is_tensor(scores) then
    if not dataset.is(set) then check.fail("mr.data.scored: scores is a %s, expected a tensor, or a model and a dataset", type(scores)) end
    scores = require("moonrank.fit").scores(scores, set)
  end
  if not dataset.is(set) and not check.is_lists(set) then
    check.fail("mr.data.scored: set is %s, expected a dataset or lists", set == nil and "missing" or "a " .. type(set))
  end
  local lists = scored.named(set)
  if #scores ~= lists.rows then check.fail("mr.data.scored: scores has %d entries but the lists have %d rows", #scores, lists.rows) end
  return scored.new(lists, scores, o.name)
end

---Made-up data: ratings with power-law activity (at most half of the items) and popularity and latent factors, or queries with features.
---@param options { kind?: "ratings"|"queries", seed?: integer, noise?: number, users?: integer, items?: integer, factors?: integer, mean_activity?: integer, queries?: integer, features?: integer, mean_size?: integer }
---@return mr.Ratings|mr.Dataset
---Example: `mr.data.synthetic{kind = "queries", queries = 10}.count   --> 10`
function M.synthetic(options)
  check.options("mr.data.synthetic", type(options) ~= "table" and options or nil, {})
  local kind = options and options.kind or "ratings"
  check.choice("mr.data.synthetic", "kind", kind, { "ratings", "queries" })
  local noise = options and options.noise
  if type(noise) == "number" and not (noise >= 0 and noise < math.huge) then
    check.fail("mr.data.synthetic: noise is %s, expected a number of at least 0", tostring(noise))
  end
  if kind == "ratings" then
    local o = check.options("mr.data.synthetic", options,
      { kind = kind, users = 400, items = 4000, factors = 8, mean_activity = 120, noise = 0.7, seed = 1 })
    return ratings.new("made-up ratings", core.make_ratings(o.users, o.items, o.factors, o.mean_activity, o.noise, o.seed))
  end
  local o = check.options("mr.data.synthetic", options,
    { kind = kind, queries = 200, features = 20, mean_size = 20, noise = 0.5, seed = 1 })
  local lists, features = core.make_queries(o.queries, o.features, o.mean_size, o.noise, o.seed)
  return dataset.new{ lists = lists, features = features, name = "made-up queries" }
end

return M
