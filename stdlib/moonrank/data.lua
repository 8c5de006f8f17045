-- Data sets: readers of the usual formats, made-up data, folds and batches.
local core = require "moonrank.core"
local check = require "moonrank.check"
local find = require "moonrank.data.find"
local dataset = require "moonrank.data.dataset"
local ratings = require "moonrank.data.ratings"

local M = { dataset = dataset.new }

---MovieLens: `ratings.csv` (userId, movieId, rating), plain or .gz, in the folder `path` or the file itself.
---@param path? string  default: ml-latest-small, in MOONRANK_DATA, ../shared/data or the user's data folder
---@return mr.Ratings   with :titles(), the movies' names by item
function M.movielens(path)
  local place = find.path((path == nil or path == "movielens") and "ml-latest-small" or path)
  local file = find.file(place, { "ratings.csv" }) or place
  local read = ratings.new("MovieLens", core.read_ratings(file, "userId", "movieId", "rating", true, ","))
  function read:titles()
    local movies = find.file(place, { "movies.csv" })
    if not movies then check.fail("%s: no movies.csv beside the ratings", place) end
    local ids, names = core.read_pairs(movies, "movieId", "title")
    local by_id = {}
    for i, id in ipairs(ids) do by_id[id] = names[i] end
    local titles = {}
    for i, id in ipairs(self.item_ids) do titles[i] = by_id[id] or "" end
    return titles
  end
  return read
end

---Interactions of users and items from a table, plain or .gz.
---@param path string
---@param options? { columns?: { user?: string, item?: string, rating?: string }, header?: boolean, delimiter?: string }  columns by name, or by number where there is no header; without a rating column all count 1
---@return mr.Ratings
function M.interactions(path, options)
  local o = check.options("mr.data.interactions", options, { columns = {}, header = true, delimiter = "," })
  local columns = check.options("mr.data.interactions columns", o.columns, { user = check.none, item = check.none, rating = check.none })
  local defaults = o.header and { user = "user", item = "item" } or { user = "1", item = "2" }
  local function column(name) return tostring(columns[name] or defaults[name] or "") end
  return ratings.new(path, core.read_ratings(find.path(path), column("user"), column("item"), column("rating"), o.header, o.delimiter))
end

---@class mr.data.LetorOptions
---@field features? integer  number of features (default: the largest id in the file)
---@field order? string      "ascending" (default): feature ids must ascend; "any"
---@field null? number       0 reads "NULL" as 0; by default it is an error
---@field qid? string        "required" (default), or "optional": a file without is one list

---Judged queries with features in LETOR or SVMlight format, plain or .gz.
---@param path string
---@param options? mr.data.LetorOptions
---@return mr.Dataset
function M.letor(path, options)
  local o = check.options("mr.data.letor", options, { features = 0, order = "ascending", null = check.none, qid = "required" })
  check.choice("mr.data.letor", "order", o.order, { "ascending", "any" })
  check.choice("mr.data.letor", "qid", o.qid, { "required", "optional" })
  if o.null ~= nil and o.null ~= 0 then check.fail("mr.data.letor: null is %s, expected 0", tostring(o.null)) end
  local lists, features = core.read_letor(find.path(path), o.features, o.order == "any", o.null == 0, o.qid == "optional")
  return dataset.new{ lists = lists, features = features, name = path }
end

local function read_parts(paths, options, name)
  local parts = {}
  for path in paths:gmatch("[^\n]+") do parts[#parts + 1] = M.letor(path, options) end
  return dataset.join(parts, name)
end

---The folds of a LETOR folder: by folds.tsv, by Fold1, Fold2, ... with train, vali and test, or by rotation of P1 ... P5 or S1 ... S5.
---Each fold is read when it is first looked at.
---@param folder string
---@param options? mr.data.LetorOptions
---@return { train: mr.Dataset, valid: mr.Dataset, test: mr.Dataset }[]
function M.letor_folds(folder, options)
  local train, valid, test = core.letor_folds(find.path(folder))
  return setmetatable({}, {
    __len = function() return #train end,
    __index = function(made, number)
      if not train[number] then return nil end
      local fold = {
        train = read_parts(train[number], options, "train"), valid = read_parts(valid[number], options, "valid"),
        test = read_parts(test[number], options, "test"),
      }
      rawset(made, number, fold)
      return fold
    end,
  })
end

---Made-up data: ratings with power-law activity and popularity and latent factors, or queries with features.
---@param options { kind?: "ratings"|"queries", seed?: integer, noise?: number, users?: integer, items?: integer, factors?: integer, mean_activity?: integer, queries?: integer, features?: integer, mean_size?: integer }
---@return mr.Ratings|mr.Dataset
---Example: `mr.data.synthetic{kind = "queries", queries = 10}.count   --> 10`
function M.synthetic(options)
  local kind = options and options.kind or "ratings"
  check.choice("mr.data.synthetic", "kind", kind, { "ratings", "queries" })
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
