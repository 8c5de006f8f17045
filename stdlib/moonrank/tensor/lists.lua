-- Defines the constructor of judged lists (mr.lists), and those methods of lists that are written in Lua.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local probabilities = require "moonrank.losses.probabilities"
local weights = require "moonrank.data.weights"

local M = {}

---Lists of rows that are ranked together, such as the documents of a query or the items of a user.
---Each row has a grade. Rows and lists may have names and weights. The rows of all lists lie in one
---array, without padding. mr.lists makes lists from grades, and data sets have lists.
---@class mr.Lists

-- Returns sizes and names of lists from each row's list id. An id that occurs again later is an error.
local function sizes_of_ids(ids)
  local sizes, names, seen = {}, {}, {}
  for i, id in ipairs(ids) do
    if id ~= ids[i - 1] or i == 1 then
      check.expect(id == id, "mr.lists", ("entry %d of ids"):format(i), id, "an id other than NaN")
      if seen[id] then
        check.fail("mr.lists: id '%s' occurs again at row %d, expected all rows of a list together", tostring(id), i)
      end
      seen[id] = true
      sizes[#sizes + 1], names[#names + 1] = 0, tostring(id)
    end
    sizes[#sizes] = sizes[#sizes] + 1
  end
  return sizes, names
end

local function flat_numbers(values)
  return type(values) == "userdata" and values or core.tensor(values, "float32", "cpu")
end

local function is_list(value) return type(value) == "table" or check.is_tensor(value) end
local expected_list = "a tensor or a table"

local lists_options = declare("mr.ListsOptions", {
  { "relevance", "mr.Tensor|number[]", required = true, accept = is_list, expected = expected_list,
    help = "[rows] grade of each row, list after list", also = { "grades", "labels" } },
  { "sizes", "mr.Tensor|integer[]", accept = is_list, expected = expected_list, excludes = { ids = true },
    required_without = "ids", help = "[lists] number of rows of each list", also = { "group" } },
  { "ids", "mr.Tensor|any[]", accept = is_list, expected = expected_list,
    help = "[rows] id of each row's list, with the rows of a list together", also = { "qid", "qids" } },
  { "documents", "string[]", default = {}, help = "[rows] name of each row" },
}, weights.options)

---Makes judged lists: which rows belong to which user or query, and the grade of each row (0 and 1,
---or graded from 0 up; a negative or infinite grade or NaN is an error). Write `mr.lists{ {1, 0, 0,
---1}, {0, 1, 0} }`, or the flat forms `mr.lists{ relevance = t, sizes = {4, 3} }` and `mr.lists{
---relevance = t, ids = qids }`. The flat forms take weights of rows and of lists (see
---lists:weighted).
---@param t number[][]|mr.ListsOptions
---@return mr.Lists
---Example: `mr.lists{ {1, 0, 0, 1}, {0, 1, 0} }.rows   --> 7`
function M.lists(t)
  if type(t) ~= "table" then
    check.expect(false, "mr.lists", "the argument", t,
      "a table: mr.lists{{1, 0}, {0, 1, 0}} or mr.lists{relevance = t, sizes = {2, 3}}")
  end
  if t.relevance ~= nil or t[1] == nil and next(t) ~= nil then
    local options = lists_options:read("mr.lists", t)
    local sizes, names = options.sizes, {}
    if sizes == nil then
      local ids = type(options.ids) == "userdata" and options.ids:totable() or options.ids
      sizes, names = sizes_of_ids(ids)
    end
    if type(sizes) == "userdata" then sizes = core.integers(sizes) end
    local made = core.lists(sizes, flat_numbers(options.relevance), names, options.documents)
    return (options.weights or options.list_weights) and weights.with(made, options) or made
  end
  local sizes, relevance = {}, {}
  check.sequence("mr.lists", "the table of lists", t, "flat lists are mr.lists{relevance = t, sizes = {4, 3}}")
  for i, list in ipairs(t) do
    if type(list) ~= "table" then
      check.expect(false, "mr.lists", ("list %d"):format(i), list, "a table of relevances: mr.lists{{1, 0}, {0, 1, 0}}")
    end
    check.sequence("mr.lists", ("list %d"):format(i), list)
    sizes[i] = #list
    table.move(list, 1, #list, #relevance + 1, relevance)
  end
  return core.lists(sizes, flat_numbers(relevance), {}, {})
end

local lists_methods = core.classes["mr.Lists"].methods

---Computes the score <p_u, q_i> of every row: the inner product of the factors of the list's user u
---and of the row's item i.
---@param p mr.Tensor      [users, factors]
---@param q mr.Tensor      [items, factors]
---@param users mr.Tensor  [lists] int64, the user of each list
---@param items mr.Tensor  [rows] int64, the item of each row
---@return mr.Tensor       [rows]
---Example:
---```lua
---local one, both = mr.tensor({1}, {dtype = "int64"}), mr.tensor({2, 1}, {dtype = "int64"})
---local p, q = mr.tensor{{1, 2}}, mr.tensor{{1, 0}, {0, 3}}
---mr.lists{{0, 1}}:factor_scores(p, q, one, both)   --> {6, 1}  mr.Tensor {2} float32
---```
function lists_methods:factor_scores(p, q, users, items) return core.factor_scores(p, q, users, items, self) end

---Returns the same lists with the probabilities with which their rows were drawn as negatives. Losses
---that correct for these probabilities read them (mr.losses.sampled_softmax). Batches of a dataset
---have the probabilities of their rows.
---@param q mr.Tensor  [rows] numbers above 0
---@return mr.Lists
---Example:
---local lists = mr.lists{{1, 0, 0}}:drawn(mr.tensor{0.5, 0.25, 0.25})
---local loss = mr.losses.sampled_softmax{correction = "both"}
---loss(mr.tensor{0, 0, 0}, lists):exp():item()   --> 5.0
function lists_methods:drawn(q) return probabilities.with(self, q) end

---Returns the same lists with other weights. Losses, mr.fit and mr.evaluate use the weights that lists
---carry, and batches have the weights of their lists. Weights that are not given stay as they are;
---`false` removes them. `lists.weights` and `lists.list_weights` have the weights, or nil.
---
---A row's weight multiplies the row's term of a list's loss, or the terms of the pairs in which this
---row is the better one (see mr.Loss). A list's weight multiplies the list's loss in a mean over
---lists, which is divided by the sum of weights. A bound is applied before the list's weight. Relevant
---rows of weight 0 still count in P, the number of relevant rows. A list whose rows all have weight 0
---does not count. Losses and metrics without a rule for weights of rows raise an error.
---
---The slopes of a bound as list weights are a control of that bound in experiments: they train with
---its slopes, but without its curvature (last example).
---@param options mr.WeightOptions
---@return mr.Lists
---Example:
---local lists = mr.lists{{1, 0}, {0, 1}}:weighted{list_weights = {3, 1}}
---mr.losses.mse():mean(mr.tensor{1, 0, 0, 0}, lists):item()   --> 0.125
---Example: `mr.lists{{1, 0}}:weighted{weights = {2, 0.5}}.weights   --> {2, 0.5}  mr.Tensor {2} float64`
---Example:
---local lists = mr.lists{{1, 0, 0}, {1, 0}}
---lists = lists:weighted{list_weights = mr.bounds.slopes("minmax", "nrbp_loss", lists)}
---lists.list_weights   --> {0.5, 1}  mr.Tensor {2} float64
function lists_methods:weighted(options) return weights.with(self, weights.options:read("lists:weighted", options)) end

-- Methods of the C++ core that make lists from other lists. The methods below call them, and also copy what Lua stores
-- about lists (weights.keep): probabilities of rows, and the whole lists for which sampled lists stand.
local plain = { to = lists_methods.to, select = lists_methods.select, with_relevance = lists_methods.with_relevance,
  with_weights = lists_methods.with_weights }

---Returns the same lists with grades (the field `relevance`) of another type.
---@param dtype string  "float32" or "float64"
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:to("float64").relevance   --> {1, 0}  mr.Tensor {2} float64`
function lists_methods:to(dtype) return weights.keep(self, plain.to(self, dtype)) end

---Returns the lists whose numbers are in `index`, in this order. A number may occur several times.
---@param index mr.Tensor  int64, numbers of lists from 1
---@return mr.Lists
---Example: `mr.lists{{1, 0}, {0}}:select(mr.tensor({2}, {dtype = "int64"})).rows   --> 1`
function lists_methods:select(index) return weights.keep(self, plain.select(self, index), index) end

---Returns the same lists with other grades of their rows.
---@param relevance mr.Tensor  [rows] grades
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:with_relevance(mr.tensor{0, 2}).relevance   --> {0, 2}  mr.Tensor {2} float32`
function lists_methods:with_relevance(relevance)
  return weights.keep(self, plain.with_relevance(self, relevance))
end

---Returns the same lists with these weights of rows and of lists. A weight that is not given is removed; lists:weighted
---keeps it.
---@param of_rows? mr.Tensor   [rows]
---@param of_lists? mr.Tensor  [lists]
---@return mr.Lists
---Example: `mr.lists{{1, 0}}:with_weights(mr.tensor{2, 1}).weights   --> {2, 1}  mr.Tensor {2} float64`
function lists_methods:with_weights(of_rows, of_lists)
  return weights.keep(self, plain.with_weights(self, of_rows, of_lists))
end

local function ties(default)
  return { "ties", "string", default = default, choices = { "mean", "stable", "worst", "trec" },
    help = "rule for rows with equal scores" }
end

local rank_options = declare("mr.RankOptions", { ties "mean" })

---Returns the rank of every row in its list: the row with the largest entry of `x` has rank 1.
---Under ties = "mean", tied rows share the middle of their ranks. NaN is an error.
---@param x mr.Tensor  [rows]
---@param options? mr.RankOptions
---@return mr.Tensor   [rows]
---Example: `mr.lists{{0, 1, 0}}:rank(mr.tensor{5, 7, 5})   --> {2.5, 1, 2.5}  mr.Tensor {3} float32`
function lists_methods:rank(x, options)
  local o = rank_options:read("rank", options)
  return core.ranks(core.ranking(x, self, o.ties, 1))
end

local order_options = declare("mr.OrderOptions", { ties "stable" })

---Returns the row numbers of each list, sorted from the first rank (the largest entry of `x`) to
---the last. Row numbers count the rows of all lists, from 1. By default, tied rows are sorted by
---row number. NaN is an error.
---@param x mr.Tensor  [rows]
---@param options? mr.OrderOptions
---@return mr.Tensor   [rows] int64
---Example: `mr.lists{{0, 1, 0}}:order(mr.tensor{5, 7, 5})   --> {2, 1, 3}  mr.Tensor {3} int64`
function lists_methods:order(x, options)
  local o = order_options:read("order", options)
  return core.order(core.ranking(x, self, o.ties, 1))
end

local pairs_options = declare("mr.PairsOptions", {
  { "relevant", "number", above = 0, shown = "none",
    help = "pairs of a row with at least this grade and a row below it; default: all pairs with unequal grades" },
})

---Result of lists:pairs: pairs of rows of a list, of which one has a higher grade than the other.
---@class mr.Pairs
---@field better mr.Tensor  int64, the row with the higher grade of each pair
---@field worse mr.Tensor   int64, the row with the lower grade
---@field list mr.Tensor    int64, the list of each pair; computed when it is first read
---@field lists mr.Lists    the pairs of each list, for sums and means: pairs.lists:sum(x)
---@field count integer     number of pairs
local Pairs = check.class("mr.Pairs")

function Pairs:get_list()
  local numbers = self.lists:spread(core.arange(1, self.lists.count, 1, "int64"))
  rawset(self, "list", numbers)
  return numbers
end

function Pairs:__tostring() return ("mr.Pairs: %d pairs of rows of %d lists"):format(self.count, self.lists.count) end

---Returns the pairs of rows of each list with unequal grades, such as for a loss of pairs. Row numbers
---count the rows of all lists, from 1, so `scores:rows(pairs.better)` has the score of each pair's
---better row. Pairs are ordered by list, then by better row, then by worse row. A list of n rows has
---up to n (n - 1) / 2 pairs. Each pair takes 20 bytes, and 8 more after the field `list` is read.
---@param options? mr.PairsOptions
---@return mr.Pairs
---Example: `mr.lists{{0, 2, 1}}:pairs().better   --> {2, 2, 3}  mr.Tensor {3} int64`
---Example: `mr.lists{{0, 2, 1}, {1, 0}}:pairs{relevant = 2}.count   --> 2`
function lists_methods:pairs(options)
  local o = pairs_options:read("lists:pairs", options)
  local better, worse, lists = core.row_pairs(self, o.relevant)
  return setmetatable({ better = better, worse = worse, lists = lists, count = lists.rows }, Pairs)
end

---Writes the grades as TREC judgments, with lines "query 0 document grade". Lists without names are
---named by their numbers, and rows without names by their numbers within the list. An existing file is
---replaced only if it is empty or begins with a judgment. The folder of `path` is created if
---necessary. A list without rows has no line. Grades that are not integers, a document that occurs
---twice in a list, and empty names are errors. Names with blanks, or with %% at the beginning, are
---errors, too, unless `escape = true` writes them in an escaped form, which mr.data.trec_qrels reads
---back.
---@param path string
---@param options? mr.data.QrelsOptions
---Example:
---```lua
---local path = os.tmpname()
---mr.lists{{0, 2}, {1}}:to_qrels(path)
---mr.data.trec_qrels(path), io.lines(path)()   --> mr.Lists: 2 lists, 3 rows, 1 0 1 0
---```
function lists_methods:to_qrels(path, options)
  require("moonrank.data.qrels").write("lists:to_qrels", self, path, options)
end

return M
