-- A fold (mr.Fold): three datasets, namely the training part, the validation part, which chooses the best epoch, and
-- the test part.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local fingerprint = require "moonrank.data.fingerprint"
local tables = require "moonrank.table"

local M = {}

---One division of a data set into a training, a validation and a test part.
---@class mr.Fold: mr.Exports
---@field train mr.Dataset
---@field valid mr.Dataset
---@field test mr.Dataset
---@field number integer       number of the fold, from 1
---@field k integer            number of folds
---@field fingerprint string   data fingerprint of the three parts and of the ratings that they were made from
---@field negatives string|false  items from which negatives are drawn: "not_relevant" or "unrated"
---@field short_users integer  number of users with fewer unseen items than the requested negatives
---@field whole_users integer  number of users in train only: too few items for by = "last", "one" or "user_time"
---@field new_users integer    number of users with relevant rows in test but none in train
---@field new_items integer    number of items with relevant rows in test but none in train
---@field users integer|false  number of users of the ratings, including users without a list in this fold
---@field items integer|false  number of items of the ratings: the full catalogue
local Fold = check.class("mr.Fold")

local names = { "train", "valid", "test" }

---Makes the table `parts` a fold of three datasets, and returns it. Its field `title` is the first line of the fold's
---summary.
---@param parts table  fields of mr.Fold: train, valid, test, number, k, title, and optionally the other fields
function M.new(parts)
  for _, name in ipairs{ "short_users", "whole_users", "new_users", "new_items" } do parts[name] = parts[name] or 0 end
  for _, name in ipairs{ "users", "items", "negatives" } do parts[name] = parts[name] or false end
  return setmetatable(parts, Fold)
end

local fold_options = declare("mr.data.FoldOptions", {
  { "train", "mr.Dataset", required = true, class = "mr.Dataset", help = "the training part" },
  { "valid", "mr.Dataset", required = true, class = "mr.Dataset", help = "the part that chooses the epoch" },
  { "test", "mr.Dataset", required = true, class = "mr.Dataset", help = "the part that is evaluated at the end" },
  { "number", "integer", default = 1, least = 1, help = "number of the fold" },
  { "k", "integer", default = 1, least = 1, help = "number of folds" },
  { "name", "string", default = "own data", formerly = "title", renamed = 2, help = "name of the data" },
  { "users", "integer", least = 1, shown = "none", help = "number of users of the ratings, for models of users" },
  { "items", "integer", least = 1, shown = "none", help = "number of items of the ratings: the full catalogue" },
})

---Makes a fold of three datasets of your own, e.g. of queries that were divided by `dataset:split`.
---@param options mr.data.FoldOptions
---@return mr.Fold
---Example:
---```lua
---local all = mr.data.synthetic{kind = "queries", queries = 20}
---local rest, test = all:split{share = 0.25}
---local train, valid = rest:split{share = 0.2}
---mr.data.fold{train = train, valid = valid, test = test}.test.count   --> 5
---```
function M.fold(options)
  local o = fold_options:read("mr.data.fold", options)
  o.title, o.name = o.name, nil
  return M.new(o)
end

function Fold:get_fingerprint()
  local rated = self.train._rated and self.train._rated.fingerprint()
  return fingerprint.combined("fold", self.train.fingerprint, self.valid.fingerprint, self.test.fingerprint,
    self.negatives, rated)
end

local function mapped(self, change)
  local copy = {}
  for name, value in pairs(self) do copy[name] = value end
  for _, name in ipairs(names) do copy[name] = change(self[name]) end
  return M.new(copy)
end

-- Returns the number of relevant rows, of lists without a relevant row, and of lists with only relevant rows.
local function degenerate(lists)
  local none, all, total = 0, 0, 0
  local sizes = core.integers(lists.sizes)
  for i, n in ipairs(core.integers(lists.relevant)) do
    total = total + n
    if n == 0 then none = none + 1 elseif n == sizes[i] then all = all + 1 end
  end
  return total, none, all
end

---Returns a table with one row for each part (train, valid, test): the number of lists, of rows, of
---relevant rows (grade at least 1), of lists without a relevant row, and of lists with only
---relevant rows.
---@return mr.Table
---Example: `mr.data.synthetic{users = 30, items = 90}:binarize(4):folds{k = 3}[1]:table().rows[1][1]   --> train`
function Fold:table()
  local rows = {}
  for i, name in ipairs(names) do
    local lists = self[name].lists
    rows[i] = { name, lists.count, lists.rows, degenerate(lists) }
  end
  local columns = { "part", "lists", "rows", "relevant", "lists without relevant", "lists of only relevant" }
  return tables.new{ columns = columns, rows = rows }
end

tables.add_exports(Fold)

---Returns the sizes of the fold's parts (mr.Fold:table) as text. For each part, it counts the lists
---that have no relevant row or only relevant rows, if there are any. Lines below the sizes count the users whose items
---are all in train, and the users and items of test that have no relevant row in train.
---@return string
---Example:
---```lua
---local fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---fold:summary():match "[^\n]+"   --> Fold 1 of 3, 1 negative per relevant item (not_relevant), seed 1
---```
function Fold:summary()
  local lines = { self.title }
  local function noted(count, what)
    return count > 0 and ("; %d list%s %s"):format(count, count == 1 and "" or "s", what) or ""
  end
  for _, row in ipairs(self:table().rows) do
    lines[#lines + 1] = ("  %-5s  %5d lists  %7d rows  %6d relevant rows"):format(table.unpack(row, 1, 4))
      .. noted(row[5], "without a relevant row") .. noted(row[6], "of relevant rows only")
  end
  if self.whole_users > 0 then
    lines[#lines + 1] = ("  %d users with too few items are in train only"):format(self.whole_users)
  end
  if self.new_users + self.new_items > 0 then
    lines[#lines + 1] = ("  %d users and %d items of test have no relevant row in train"):format(self.new_users,
      self.new_items)
  end
  return table.concat(lines, "\n")
end
Fold.__tostring = Fold.summary

---Evaluates a model by ranking all items, or sampled items, for each user with relevant items in a
---part of the fold ("test", or "valid"). Each of these users is a list. Metrics on sampled items
---may order models differently than metrics on all items (Cremonesi et al. 2010; Krichene & Rendle
---2020). The scores and metrics of a model on the GPU are computed on the GPU, in blocks of users;
---only the values per list are copied back. `candidates` says which items are ranked:
---
---- "catalogue": all items except the items that the user knows.
---- "sampled": the relevant items of the part, and `negatives` other items that the user does not
---  know, sampled without replacement. `by` is "uniform", or "popularity": by the number of users
---  to whom an item is relevant in train and, for test, in validation.
---- "one": one list for each relevant item, with its own sampled items.
---
---`known` says which items a user knows. Relevant items of the evaluated part are always ranked.
---
---- "rated": all items that the user rated before the part, also with ratings below the
---  threshold of relevance. Ratings that are in no list of the fold are included: in folds by time,
---  given files, cold users and cold items, if their time, file, user or item is before the part; in
---  folds whose parts are drawn at random, always. A fold of datasets that were not made from
---  ratings takes "rated" only if no row of earlier parts has grade 0.
---- "relevant": items that are relevant to the user in train and, for test, in validation. Items
---  that the user rated below the threshold are ranked.
---- "none": no items.
---
---`users = "known"` leaves out users without a relevant row in train; most models cannot rank items
---for a user without training data. A line below the printed table counts these users, and the
---relevant items of the part that are not relevant to any user in train.
---
---`correct` (Krichene & Rendle 2020, Section 5) estimates each metric f among all N items that the
---user does not know. The estimate uses k, the number of sampled items above the relevant item, out
---of m sampled items. The metric's name shows the correction:
---
---- true or "rank": f at the unbiased estimate of the rank, 1 + k N / m: "ndcg@10[corrected]". The
---  estimate has only m + 1 different ranks, so metrics with cutoffs far below N / m are coarse.
---- "minimal_bias": the g(k) with the least sum over all ranks r of (E[g(k) | r] - f(r))^2:
---  "ndcg@10[minimal_bias]". Its variance is large: values of single lists are far outside [0, 1].
---  If the cutoff is far below N / m, the mean over thousands of lists may also be outside [0, 1].
---- "trade_off": the g(k) with the least sum of (E[g(k) | r] - f(r))^2 + gamma Var[g(k) | r]:
---  "ndcg@10[trade_off]". With gamma = 1, g(k) is the mean of f given k.
---
---"minimal_bias" and "trade_off" take all ranks as equally likely, and p(k | r) for samples without
---replacement: g = [(1 - gamma) A'A + gamma diag(A'1)]^-1 A'f with A = (p(k | r)). Rounding can
---leave these equations underdetermined (gamma = 0 and m above 17 or so). The undetermined part of
---g is 0.
---@param model mr.Model|fun(batch: mr.Batch): mr.Tensor  a function returns one score per row, on mr.device()
---@param metrics (string|mr.Metric|table)[]
---@param options? mr.data.FoldEvaluateOptions
---@return mr.Evaluation
---Example:
---fold = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):folds{k = 3}[1]
---fold:evaluate(mr.models.popularity{fold = fold}, {"ndcg@10"}).candidates:match "[^;]*"   --> candidates: all 90 items
function Fold:evaluate(model, metrics, options)
  return require("moonrank.data.candidates").evaluate(self, model, metrics, options)
end

---Returns the candidates (items) that a model ranks for each user of a fold's part. Pass the result
---to mr.fit as `valid` or `test`: the metrics of each epoch and of test are then computed by
---ranking all items, or sampled items, like fold:evaluate. The validation loss still uses the lists
---of the part.
---@param options? mr.data.CandidateOptions
---@return mr.data.Candidates
---Example:
---```lua
---local ratings = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4)
---local fold = ratings:folds{k = 3}[1]
---local run = mr.fit{model = mr.models.mf{users = 30, items = 90, factors = 4}, loss = mr.losses.ndcg{},
---  train = fold.train, valid = fold:candidates(), test = fold:candidates{part = "test"},
---  metrics = {"ndcg@10"}, epochs = 2, progress = false}
---run.test.candidates:match "[^;]*"   --> candidates: all 90 items
---```
function Fold:candidates(options) return require("moonrank.data.candidates").of(self, options) end

---Returns a copy of the fold with grades 1 and 0: 1 where the grade is at least `threshold`. The
---threshold "top" is the highest grade in train, valid and test; "top_of_list" is the highest grade
---of each list.
---@param threshold number|"top"|"top_of_list"
---@return mr.Fold
function Fold:binarize(threshold)
  if threshold == "top" then
    threshold = 0
    for _, name in ipairs(names) do
      if self[name].lists.rows > 0 then threshold = math.max(threshold, self[name].lists.relevance:max():item()) end
    end
  end
  return mapped(self, function(part) return part:binarize(threshold) end)
end

---Returns a copy of the fold with features standardised by the means and standard deviations of the
---training part.
---@return mr.Fold
function Fold:standardize()
  local scaling = self.train:scaling()
  return mapped(self, function(part) return part:standardize(scaling) end)
end

---Returns a sequence of `count` folds. The fold at index `number` is made by `make(number)` when a
---script first reads this index, and is then kept. Index `count + 1` is nil, which ends ipairs; any
---other index is an error.
---@param make fun(number: integer): mr.Fold
---@return mr.Fold[]
function M.sequence(count, make)
  return setmetatable({}, {
    -- When a study compares two sequences of folds, it compares the code of this function. It does not compare the
    -- folds, because a fold does not exist before it is first used.
    __made_by = make,
    __len = function() return count end,
    __tostring = function() return ("%d folds, each made when it is first used"):format(count) end,
    __index = function(made, number)
      if number == count + 1 then return nil end  -- not an error, because ipairs reads one index past the last fold
      check.expect(math.type(number) == "integer" and number > 0 and number <= count, "ratings:folds", "fold", number,
        "the number of a fold, an integer from 1 to %d", count)
      local fold = make(number)
      rawset(made, number, fold)
      return fold
    end,
  })
end

---Raises an error if a fold has no users and items, because it is not made of ratings.
function M.check_items(where, fold)
  check.expect(fold.items, where, "fold", fold, "a fold with users and items, as ratings:folds makes them")
end

return M
