-- Reads datasets, ratings and folds from files in common formats, and makes synthetic data.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"
local dataset = require "moonrank.data.dataset"
local fold = require "moonrank.data.fold"
local join = require "moonrank.data.join"
local ratings = require "moonrank.data.ratings"
local scored = require "moonrank.data.scored"

require "moonrank.data.features"
require "moonrank.data.minibatches"

local M = { dataset = dataset.checked, fold = fold.fold }

for _, part in ipairs{ require "moonrank.data.comparisons", require "moonrank.data.images",
  require "moonrank.data.negatives", { csv = require("moonrank.data.csv").csv } } do
  for name, of_part in pairs(part) do M[name] = of_part end
end

-- Returns the path of a data file and the path of its folder. `path` is the file, or a folder that contains the file
-- `name` itself or in its subfolder `own`.
local function file_in(path, own, name)
  if not find.is_folder(path) then return path, path:match "^(.*)/[^/]*$" or "." end
  for _, folder in ipairs{ path, path .. "/" .. own } do
    local file = find.file(folder, { name })
    if file then return file, folder end
  end
  check.fail("%s: found no %s or %s.gz in this folder or its subfolder %s", path, name, name, own)
end

-- Returns what `read`, a file reader of the core, returns. An error about a missing column also shows `hint`.
local function read_columns(hint, read, ...)
  local results = table.pack(pcall(read, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local message = results[2]
  if type(message) == "string"
    and (message:find ", expected one named '" or message:find ", expected a column number") then
    message = ("%s. %s"):format(message, hint)
  end
  error(message, 0)
end

local function columns_hint(example)
  return ('Pass options for files of another form, such as columns = {%s}, delimiter = "\\t" or header = false'):format(
    example)
end

---Reads MovieLens: `ratings.csv` (userId, movieId, rating and an optional timestamp), plain or .gz.
---`path` is the file, the folder that has the file, or a folder whose subfolder ml-latest-small has
---the file. Users and movies are numbered from 1 in the order of their ids. `ratings:titles()`
---returns the movies' titles by movie number, from the file movies.csv in the same folder.
---@param path? string  default: ml-latest-small, in MOONRANK_DATA or the user's data folder
---@return mr.Ratings
function M.movielens(path)
  local name = (path == nil or path == "movielens") and "ml-latest-small" or path
  local file, folder = file_in(find.path(name, "`moonrank data get movielens` fetches it"), "ml-latest-small",
    "ratings.csv")
  local read = ratings.new("MovieLens", read_columns("mr.data.interactions reads tables with other columns",
    core.read_ratings, { file }, "userId", "movieId", "rating", true, "timestamp", false, true, ",", "error"))
  read._titles = { folder = folder, name = "movies.csv", item = "movieId" }
  return read
end

---Reads CiteULike-a (Wang, Chen, Li 2013): the articles in each user's library, from `users.dat`,
---plain or .gz. `path` is the file, the folder that has the file, or a folder whose subfolder
---citeulike-a has the file. Line u of the file is user u: the number of articles, then the
---articles' numbers, separated by blanks. All ratings are 1, so `binarize(1)` makes every article
---of a library relevant. An article that occurs twice in a line, or a wrong number of articles, is
---an error.
---@param path? string  default: citeulike-a, in MOONRANK_DATA or the user's data folder
---@return mr.Ratings
function M.citeulike(path)
  return ratings.new("CiteULike-a",
    core.read_libraries((file_in(find.path(path or "citeulike-a"), "citeulike-a", "users.dat"))))
end

-- Returns the declaration of a function's option whose value is the name or the number of a column. `shown` is the
-- default in words, for the documentation. With `or_false`, the option may also be false: the file has no such column.
local function column_row(name, shown, help, or_false)
  local function accept(value)
    return type(value) == "string" or math.type(value) == "integer" or (or_false and value == false)
  end
  return { name, "string|integer" .. (or_false and "|false" or ""), shown = shown, accept = accept, help = help,
    expected = "the name or the number of a column" .. (or_false and ", or false" or "") }
end

local table_options = declare("mr.data.TableOptions", {
  { "header", "boolean", shown = "true", help = "whether the first line of the file names the columns" },
  { "delimiter", "string", default = ",", accept = function(text) return #text == 1 end,
    expected = "one ASCII character such as ','", also = { "sep", "separator" },
    help = "the character between columns" },
})

local interaction_columns = declare("mr.data.InteractionColumns", {
  column_row("user", '"user", or 1 without header', "column of the user's id"),
  column_row("item", '"item", or 2 without header', "column of the item's id"),
  column_row("rating", '"rating", or none without header', "column of the rating; false means none", true),
  column_row("timestamp", '"timestamp", or none without header', "column of the time; false means none", true),
})

local interactions_options = declare("mr.data.InteractionsOptions", {
  { "columns", "mr.data.InteractionColumns|(string|false)[]", shown = "user, item, rating and timestamp",
    expected = 'a table, such as {user = "uid", item = 2} or {"user", "item", "rating"}',
    accept = function(value) return type(value) == "table" end,
    help = "columns by name or number, or a list that says what each column of the file holds" },
  { "duplicates", "string", default = "error", choices = { "error", "last", "first", "max", "sum" },
    help = "what to do with a repeated pair of user and item" },
}, table_options)

local interaction_parts = declare("mr.data.InteractionFiles", {
  { "train", "string", required = true, help = "path of the file for training" },
  { "valid", "string", shown = "none", help = "path of the file for validation" },
  { "test", "string", required = true, help = "path of the file for test" },
})

-- Returns the paths of the files to read: of one file, or of a table with the parts train, valid and test.
local function interaction_files(path)
  if type(path) ~= "table" then return { find.path(path) } end
  local o, files = interaction_parts:read("mr.data.interactions", path), {}
  for _, name in ipairs{ "train", "valid", "test" } do
    if o[name] then files[#files + 1] = find.path(o[name]) end
  end
  return files
end

-- Turns a list of columns, such as {"user", "item", false}, into numbers by name. Also returns their count.
local function listed_columns(list)
  local where, at = "mr.data.interactions columns", {}
  check.sequence(where, "the table", list, 'expected either {"user", "item"} or {user = ..., item = ...}')
  for i = 1, #list do
    if list[i] ~= false then
      check.choice(where, ("entry %d"):format(i), list[i], { "user", "item", "rating", "timestamp" },
        "false for a column that is not read")
      check.expect(not at[list[i]], where, ("entry %d"):format(i), list[i], "each column once")
      at[list[i]] = i
    end
  end
  for _, name in ipairs{ "user", "item" } do
    if not at[name] then check.fail("%s: the table lacks '%s', expected at least {\"user\", \"item\"}", where, name) end
  end
  at.rating, at.timestamp = at.rating or false, at.timestamp or false
  return at, #list
end

-- Returns the option `header`, by default true: whether the first line has column names. It is required if `columns`
-- gives every column in `needed` by number, because a first line of data would be lost otherwise.
local function has_header(where, header, columns, needed)
  if header ~= nil then return header end
  local by_number = true
  for _, name in ipairs(needed) do by_number = by_number and columns[name] ~= nil end
  for _, column in pairs(columns) do by_number = by_number and type(column) ~= "string" end
  if by_number then
    check.fail("%s: `columns` gives the place of every column, so it is not known whether the first line of the file "
      .. "is data. Pass header = false if it is data, or header = true if it has the names of columns", where)
  end
  return true
end

-- Returns the columns of a file as texts by name, as the C++ reader expects them, and the names of those that the user
-- gave by number. A column of `defaults` that the user set to false is "".
local function column_texts(where, declaration, columns, header, defaults)
  local texts, placed = {}, {}
  for _, row in ipairs(declaration.rows) do
    local name = row[1]
    local given = columns[name]
    if math.type(given) == "integer" then
      placed[#placed + 1] = name
    elseif given and not header then
      check.expect(false, where, "columns." .. name, given, "the number of a column, such as {%s = %d}, because header "
        .. "is false", name, math.tointeger(tonumber(given)) or 1)
    end
    texts[name] = given == nil and defaults[name] or tostring(given or "")
  end
  return texts, placed
end

---Reads interactions of users and items from a table, plain or .gz. By default the columns are
---called user, item, rating and timestamp. `columns = {user = "uid", rating = 4}` gives a column by
---its name (a text) or by its number in the file. `columns = {"user", "item", false, "timestamp"}`
---lists the columns in the order of the file; false marks a column that is not read. Without a
---header, user and item are columns 1 and 2. `header` is required if `columns` is a list, or gives
---user and item and all other columns in it by number. It is true if the first line has names, and
---false if the first line is data. If user and item are given by number and `header` is true, a first
---line with an id that occurs in a later line is an error.
---
---A file without a known rating column, but with columns besides user, item and timestamp, is an
---error, because one of these columns may be the rating. Name the rating column, or pass
---`columns = {rating = false}`: then all ratings are 1. If the file has only users, items and
---timestamps, all ratings are 1, and print(ratings) says so. Timestamps are read exactly, as 64-bit
---integers; `columns = {timestamp = false}` leaves out timestamps. Ids may be any text. Users are
---numbered from 1, by value if all their ids are whole numbers, else in order of appearance; so are
---items.
---
---A repeated pair of user and item is an error, unless the option `duplicates` says which row of
---the pair is used: the "last" or "first" by timestamp (ties, or no timestamps: by line), the row
---with the "max" rating (ties: the last), or the "sum" of the pair's ratings at the last time.
---`{train = path, test = path}`, with an optional `valid`, reads the files of one split, for
---`folds{by = "given"}`. Duplicates are then resolved within each file, and a pair in two files is
---an error.
---@param path string|mr.data.InteractionFiles
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
  local o = interactions_options:read("mr.data.interactions", options)
  local columns, width = o.columns or {}, 0
  if #columns > 0 then columns, width = listed_columns(columns) end
  columns = interaction_columns:read("mr.data.interactions columns", columns)
  o.header = has_header("mr.data.interactions", o.header, columns, { "user", "item" })
  local defaults = o.header and { user = "user", item = "item", rating = "rating", timestamp = "timestamp" }
    or { user = "1", item = "2", rating = "", timestamp = "" }
  local texts, placed = column_texts("mr.data.interactions", interaction_columns, columns, o.header, defaults)
  local files = interaction_files(path)
  local read = read_columns(columns_hint 'user = "uid", item = 2', core.read_ratings, files,
    texts.user, texts.item, texts.rating, columns.rating ~= nil, texts.timestamp, columns.timestamp ~= nil,
    o.header, o.delimiter, o.duplicates, width, placed)
  return ratings.new(type(path) == "string" and path or table.concat(files, ", "), read)
end

local letor_options = declare("mr.data.LetorOptions", {
  { "features", "integer", default = 0, least = 0, also = { "n_features" },
    help = "number of features; 0 means the largest id in the file" },
  { "order", "string", default = "ascending", choices = { "ascending", "any" },
    help = 'order of the feature ids in a line; under "ascending", another order is an error' },
  { "null", "integer|string", choices = { 0, "missing" }, shown = "an error",
    help = 'what the text "NULL" becomes: 0, or a missing value, which is NaN (mr.Dataset:fill)' },
  { "qid", "string", default = "required", choices = { "required", "optional" },
    help = 'whether a line needs a qid; under "optional" a file without qids is one list' },
  { "cache", "boolean|string", default = false, expected = "true, false or the name of a folder",
    accept = function(value) return type(value) == "boolean" or type(value) == "string" and value ~= "" end,
    help = "keep a binary copy for later reads: true means in the user's cache folder; a text names another folder" },
})

-- Returns the folder of cache files for a value of the option `cache`; false for no cache.
local function cache_folder(cache) return cache == true and core.cache_folder() .. "/letor" or cache end

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

---Reads judged queries with features in LETOR, SVMlight or RankLib format, plain or .gz. Features
---that a line does not name are 0. The lines of a query must be adjacent, and a negative grade is
---an error. A feature that is NaN or infinite is an error, and so is the text "NULL", unless the
---option `null` says what "NULL" becomes. With `cache`, a binary copy of the file is saved, for later
---reads with the same path and options. The copy is rebuilt if the file has changed, and, with a
---warning, if the copy is damaged or of another version. A file that has the copy's name but is not a
---cache file is reported and not changed.
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
  local o = letor_options:read("mr.data.letor", options)
  o.cache = cache_folder(o.cache)
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
  return fold.new{
    train = train,
    valid = valid,
    test = read_parts(files.test[number], o, "test"),
    number = number,
    k = count,
    title = ("Fold %d of %d"):format(number, count),
  }
end

local letor_fold_options = declare("mr.data.LetorFoldOptions", {
  { "valid", "number", default = 0.1, least = 0, below = 1,
    help = "share of the training lists that becomes the validation part if the folder has none" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the choice of validation lists" },
}, letor_options)

---Reads the cross-validation folds of a LETOR folder, such as MQ2008 of LETOR 4.0. A relative path,
---such as "mq2008", is looked for in the working folder, MOONRANK_DATA and the user's data
---folder. The first of these forms that the folder has is used:
---
---- a table folds.tsv, which lists the files of each fold.
---- subfolders Fold1, Fold2, ... with the files train, vali and test.
---- files train, vali and test in the folder itself, as one fold.
---- files S1, S2, ..., which LETOR's rotation assigns to parts: of five, fold 1 trains on S1 to S3,
---  validates on S4 and tests on S5.
---- files P1, P2, ...: fold 1 tests on P1 and trains on the others.
---
---If a fold has no validation file, the share `valid` of its training lists becomes the validation
---part. A fold's files are read when a script first uses the fold. A folder of another form is an error.
---@param folder string
---@param options? mr.data.LetorFoldOptions
---@return mr.Fold[]
function M.letor_folds(folder, options)
  local o = letor_fold_options:read("mr.data.letor_folds", options)
  o.cache = cache_folder(o.cache)
  local files = {}
  files.train, files.valid, files.test = core.letor_folds(find.path(folder))
  return fold.sequence(#files.train, function(number) return read_fold(files, o, number, #files.train) end)
end

local score_columns = declare("mr.data.ScoreColumns", {
  column_row("qid", '"qid", or 1 without header', "column of the query's id"),
  column_row("docid", '"docid", or 2 without header', "column of the document's id"),
  column_row("score", '"score", or 3 without header', "column of the score"),
})

local scores_options = declare("mr.data.ScoresOptions", {
  { "columns", "mr.data.ScoreColumns", shown = "qid, docid and score", help = "columns by name or number" },
}, table_options)

---Reads scores of documents from a table that any program wrote, plain or .gz. By default the
---columns are called qid, docid and score; without a header, qid is column 1, docid 2 and score 3.
---If `columns` gives all three columns as numbers, `header` is required. Rows of a query need not
---be adjacent. A document that occurs twice in a query is an error.
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
  local o = scores_options:read("mr.data.scores", options)
  local columns = score_columns:read("mr.data.scores columns", o.columns)
  o.header = has_header("mr.data.scores", o.header, columns, { "qid", "docid", "score" })
  local defaults = o.header and { qid = "qid", docid = "docid", score = "score" }
    or { qid = "1", docid = "2", score = "3" }
  local texts, placed = column_texts("mr.data.scores", score_columns, columns, o.header, defaults)
  local lists, scores = read_columns(columns_hint 'qid = "query", docid = 2', core.read_scores, find.path(path),
    texts.qid, texts.docid, texts.score, o.header, o.delimiter, placed)
  return scored.new(lists, scores, path)
end

---Reads a TREC run file, plain or .gz: lines "query Q0 document rank score tag". Documents are
---ranked by the score in the file; the file's rank is not read. Lines of a query need not be
---adjacent. A document that occurs twice in a query is an error.
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

---Reads TREC judgments, plain or .gz: lines "query iteration document grade" with integer grades.
---Lines with a negative grade are left out, as not judged; their query stays a list, even if it is
---empty. A document that occurs twice in a query is an error. In the returned lists, one for each
---query, `ids` has the queries' names and `documents` the documents' names.
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

local scored_options = declare("mr.data.ScoredOptions", {
  { "name", "string", default = "scores", help = "name of the scores in messages" },
})

local check_set = arguments{ "set", "mr.Dataset|mr.Lists", expected = "a dataset or lists",
  accept = function(set) return dataset.is(set) or check.is_lists(set) end }

---Combines scores with the rows of a dataset or of lists, to write a run file or to compare
---systems. Another number of scores than of rows is an error. Lists and rows without names get the
---ids of users and items in the ratings file, or else numbers: of users and items, or of the lists
---and of the rows within a list.
---@param scores mr.Tensor|mr.Model  [rows], or the model that makes them
---@param set mr.Dataset|mr.Lists
---@param options? mr.data.ScoredOptions
---@return mr.ScoredLists
---Example: `mr.data.scored(mr.tensor{0.5, 2}, mr.lists{{0, 1}}).lists.documents[1]   --> 1`
function M.scored(scores, set, options)
  local o = scored_options:read("mr.data.scored", options)
  if not check.is_tensor(scores) then
    check.expect(dataset.is(set), "mr.data.scored", "scores", scores,
      "a tensor, or a model if set is a dataset")
    scores = require("moonrank.fit").scores(scores, set)
  end
  check_set("mr.data.scored", set)
  local lists = scored.named(set)
  check.length("mr.data.scored", "scores", #scores, lists.rows, "one for each row of the lists")
  return scored.new(lists, scores, o.name)
end

local function count_row(name, kind, default, help)
  return { name, "integer", default = default, least = 1, only_with = { kind = kind }, help = help }
end

local synthetic_options = declare("mr.data.SyntheticOptions", {
  { "kind", "string", default = "ratings", choices = { "ratings", "queries" },
    help = "kind of data: ratings (mr.Ratings), or queries with features (mr.Dataset)" },
  { "noise", "number", least = 0, shown = "0.7 for ratings, 0.5 for queries",
    help = "standard deviation of the random part of a rating, or of the merit that a document's grade comes from" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random numbers" },
  'kind = "ratings"',
  count_row("users", "ratings", 400, "number of users"),
  count_row("items", "ratings", 4000, "number of items"),
  count_row("factors", "ratings", 8, "number of latent factors of each user and item"),
  count_row("mean_activity", "ratings", 120, "mean number of ratings of a user"),
  'kind = "queries"',
  count_row("queries", "queries", 200, "number of queries"),
  count_row("features", "queries", 20, "number of features of a document"),
  count_row("mean_size", "queries", 20, "mean number of documents of a query"),
})

---Makes synthetic data. `kind = "ratings"` returns mr.Ratings, `kind = "queries"` an
---mr.Dataset of queries with features. Ratings come from latent factors of users and items.
---The popularity of items has a power-law distribution. The numbers of ratings of users have a
---log-normal one, and are at least 1 and otherwise at most half of the number of items.
---@param options? mr.data.SyntheticOptions
---@return mr.Ratings|mr.Dataset
---Example: `mr.data.synthetic{kind = "queries", queries = 10}.count   --> 10`
function M.synthetic(options)
  local where = "mr.data.synthetic"
  local o = synthetic_options:read(where, options)
  if o.kind == "ratings" then
    return ratings.new("made-up ratings",
      core.make_ratings(o.users, o.items, o.factors, o.mean_activity, o.noise or 0.7, o.seed))
  end
  local lists, features = core.make_queries(o.queries, o.features, o.mean_size, o.noise or 0.5, o.seed)
  return dataset.new{ lists = lists, features = features, name = "made-up queries" }
end

return M
