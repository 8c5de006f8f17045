-- Datasets (mr.Dataset): lists of rows with grades, and the inputs of a model: features, or users and items. Also makes
-- batches of a dataset.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local fingerprint = require "moonrank.data.fingerprint"
local phase = require "moonrank.system.phase"
local record = require("moonrank.record").new
local seen = require "moonrank.data.seen"
local weights = require "moonrank.data.weights"

local M = {}

---Lists of rows with grades, and the inputs of a model: features, or users and items.
---@class mr.Dataset
---@field lists mr.Lists
---@field count integer            number of lists
---@field features? mr.Tensor      [rows, width] float32
---@field users? mr.Tensor         [lists] int64
---@field items? mr.Tensor         [rows] int64
---@field categories? mr.Tensor    [rows, columns] int64: numbers from 1, for embeddings
---@field ids? { users: string[], items: string[] }  names of users and items, by number
---@field levels? mr.Tensor[]       per column of categories, the values of numbers 1, 2, ...; one more means others
---@field fingerprint string        data fingerprint of lists, features, users, items and categories
local Dataset = check.class("mr.Dataset")
M.class = Dataset

-- Names of the model inputs that a dataset can have in addition to its lists. A batch has the same inputs for its own
-- rows and lists.
local inputs = { "features", "users", "items", "categories" }
M.inputs = inputs

local function absent_as_false(t, names)
  for _, name in ipairs(names) do t[name] = t[name] or false end
  return t
end

-- Accepts false as the value of an input, because a field such as `set.users` is false if the dataset has no users, and
-- scripts pass this field on, as in `users = set.users`.
local function is_tensor_or_false(value) return value == false or check.is_tensor(value) end
local function is_table_or_false(value) return value == false or type(value) == "table" end

local function tensor_row(name, help)
  return { name, "mr.Tensor", accept = is_tensor_or_false, expected = "a tensor, or false", help = help }
end

local function is_vector_or_false(value) return value == false or check.is_tensor(value) and value.dims == 1 end

local function vector_row(name, help)
  return { name, "mr.Tensor", accept = is_vector_or_false, expected = "a tensor with one dimension, or false",
    help = help }
end

local dataset_options = declare("mr.data.DatasetOptions", {
  { "lists", "mr.Lists", required = true, class = "mr.Lists", help = "the judged lists" },
  tensor_row("features", "[rows, width] features of each row"),
  vector_row("users", "[lists] int64, the user of each list"),
  vector_row("items", "[rows] int64, the item of each row"),
  tensor_row("categories", "[rows, columns] int64, numbers from 1 for embeddings"),
  { "levels", "mr.Tensor[]|false", accept = is_table_or_false, expected = "a table of tensors, or false",
    help = "for each column of categories, the values that its numbers stand for" },
  { "ids", "{ users: string[], items: string[] }", accept = is_table_or_false,
    expected = "a table {users = names, items = names}, or false",
    help = "names of users and items, by number" },
  { "name", "string", default = "dataset", help = "name of the dataset in tables and messages" },
  { "missing", "boolean", default = false, help = "whether NaN features stand for missing values (mr.Dataset:fill)" },
}, weights.options)

local function made_of(o)
  if o.weights ~= nil or o.list_weights ~= nil then o.lists = weights.with(o.lists, o) end
  o.weights, o.list_weights = nil, nil
  for _, name in ipairs{ "features", "items", "categories" } do
    if o[name] then check.length("mr.data.dataset", name, #o[name], o.lists.rows, "one for each row of lists") end
  end
  if o.users then check.length("mr.data.dataset", "users", #o.users, o.lists.count, "one for each list") end
  o.count, o.missing = o.lists.count, nil
  return setmetatable(absent_as_false(o,
    { "features", "users", "items", "categories", "levels", "ids", "_rated", "_binary" }), Dataset)
end

---Makes a dataset like mr.data.dataset, but without the check for NaN and infinite features. Use it
---for parts of a dataset that was checked before.
---@param parts mr.data.DatasetOptions
function M.new(parts) return made_of(dataset_options:read("mr.data.dataset", parts)) end

-- Copies to a dataset of the same users and items the record of which items each user rated (mr.data.Rated), and
-- whether a threshold already turned the grades into 0 and 1.
local function with_origin(made, of)
  made._rated, made._binary = of._rated, of._binary
  return made
end

---Raises an error about a second threshold that would give all grades 0 and 1 the same value. Nothing is raised for a
---threshold above 0 and up to 1, which leaves these grades as they are.
---@param where string       function name for the message
---@param threshold number
---@param things string      what has the grades: "rows" or "ratings"
function M.check_second_threshold(where, threshold, things)
  if threshold > 0 and threshold <= 1 then return end
  check.fail("%s: threshold is %.14g, but an earlier call of binarize already turned the grades into 0 and 1, so that "
    .. "%s of the %s would be relevant. Call binarize once, with the original %s", where, threshold,
    threshold > 1 and "none" or "all", things, things == "rows" and "grades" or things)
end

---Makes a dataset of lists with features, or with users (one per list) and items (one per row). NaN
---and infinite features are errors that name row and column. With `missing = true`, NaN stands for
---a missing value (mr.Dataset:fill). Weights of rows and of lists replace those of `lists`
---(lists:weighted); batches, splits and folds keep them.
---@param parts mr.data.DatasetOptions
---@return mr.Dataset
---Example:
---```lua
---local features = mr.tensor{{1, 2, 3}, {4, 5, 6}}
---mr.data.dataset{lists = mr.lists{{0, 1}}, features = features}   --> dataset: 1 lists, 2 rows, 3 features
---```
function M.checked(parts)
  local o = dataset_options:read("mr.data.dataset", parts)
  local missing, set = o.missing, made_of(o)
  local row, column, value
  if set.features then row, column, value = core.first_not_finite(set.features, missing) end
  if not row then return set end
  check.expect(false, "mr.data.dataset", ("the value of features in row %d, column %d"):format(row, column), value,
    "a finite number" .. (value ~= value and "; missing = true reads NaN as missing" or ""))
end

function Dataset:get_fingerprint()
  if not self.categories then
    return fingerprint.combined("dataset", self.lists, self.features, self.users, self.items)
  end
  return fingerprint.combined("dataset", self.lists, self.features, self.users, self.items, self.categories)
end

---Returns a copy of the dataset `set` in which the fields of the table `changes` replace lists or
---inputs (features, users, ...). An input that is false in `changes` is removed.
function M.with(set, changes)
  local parts = { lists = set.lists, name = set.name, levels = set.levels or nil, ids = set.ids or nil }
  for _, name in ipairs(inputs) do parts[name] = set[name] or nil end
  for name, value in pairs(changes) do parts[name] = value or nil end
  local made = with_origin(M.new(parts), set)
  if changes.users ~= nil or changes.items ~= nil then made._rated = false end
  return made
end

---Returns true if the value is an mr.Dataset, whose batches depend only on the options of the iteration. It is false
---for an object of a script's own dataset class.
function M.is(dataset) return getmetatable(dataset) == Dataset end

---Raises an error unless a value is a dataset that has all the named parts. Users and items must be those of an
---mr.Dataset; features and rows may be those of an object of a script's own dataset class.
---@param name string  name of the argument, or "the dataset"
---@param ... string   "features", "users", "items" or "rows"
function M.need(where, name, value, ...)
  for _, part in ipairs{ ... } do
    local found = check.field(value, part)
    if part == "rows" then found = value.lists.rows > 0 elseif part ~= "features" then found = found and M.is(value) end
    if not found then
      check.fail("%s: %s %s, expected a dataset with %s", where, name,
        M.is(value) and "has no " .. part or "is " .. check.found(value), table.concat({ ... }, " and "))
    end
  end
end

---Some lists of a dataset with their inputs, as a model gets them in one call.
---@class mr.Batch
---@field lists mr.Lists
---@field size integer         number of lists
---@field features? mr.Tensor  [rows of the batch, width]
---@field users? mr.Tensor     [lists of the batch]
---@field items? mr.Tensor     [rows of the batch]
---@field categories? mr.Tensor  [rows of the batch, columns] int64
---@field row_users? mr.Tensor [rows of the batch] the user of each row, made when first asked for
---@field interactions? mr.data.Interactions  in a training on interactions: those of which the batch has some
---@field epoch? integer       in a training on interactions: the number of the epoch
---@field rows_before? integer with the option `share`: number of rows of the whole batch before this share

local function on_demand(self, name)
  if name ~= "row_users" or not self.users then return nil end
  local made = self.lists:spread(self.users)
  rawset(self, name, made)
  return made
end

---Makes a batch from its lists and its input tensors. The batch's field `row_users`, the user of
---each row, is computed when it is first read.
---@param parts table  fields of mr.Batch: lists, size, and optionally features, users, items, categories,
---   interactions and epoch
function M.batch(parts) return record("batch", parts, on_demand) end

-- Makes a batch of `count` lists of a dataset: those with the numbers order[first] to order[first + count - 1].
local function batch_of(self, order, first, count, device)
  local lists, features, items, users = self.lists:batch(order, first, count, self.features or nil, self.items or nil,
    self.users or nil, device)
  if weights.are_noted(self.lists) then weights.keep(self.lists, lists, order:narrow(1, first, count)) end
  local batch = { lists = lists, size = count, features = features, items = items, users = users }
  if self.categories then
    batch.categories = self.lists:take_rows(self.categories, order:narrow(1, first, count)):to(device)
  end
  return M.batch(batch)
end

local function whole(self, device)
  local batch = { lists = self.lists, size = self.count }
  for _, name in ipairs(inputs) do batch[name] = self[name] and self[name]:to(device) or nil end
  return M.batch(batch)
end

---Returns all lists of a dataset as one batch on the default device. The dataset may be of a class that a script
---defines; its method `batches` then makes the batch, and the result is nil if that method gives no batch. An
---mr.Dataset without lists gives a batch without lists.
function M.whole_batch(dataset)
  if not M.is(dataset) then return dataset:batches{ size = math.max(1, dataset.count) }() end
  seen.note("other", dataset)
  local _ <close> = phase.begin "batches"
  return whole(dataset, core.device())
end

-- Returns the lists that one of several processes takes out of the batch order[first] to order[first + count - 1]:
-- those whose middle is in the process's share of the batch's rows. The results are the index of the first of them in
-- `order`, their number, and the number of the batch's rows before them.
local function share_of(sizes, order, first, count, share)
  local rows, before = 0, 0
  for i = first, first + count - 1 do rows = rows + sizes[order[i]] end
  local from, to, rows_before = first, first - 1, 0
  for i = first, first + count - 1 do
    local piece = math.min(share[2], (2 * before + sizes[order[i]]) * share[2] // math.max(1, 2 * rows) + 1)
    before = before + sizes[order[i]]
    if piece < share[1] then from, rows_before = i + 1, before end
    if piece <= share[1] then to = i end
  end
  return from, to - from + 1, rows_before
end

---Returns the largest number of batches that one pass over the dataset can have: its number of lists
---divided by `size`, or with `rows` its number of rows divided by `rows`, rounded up.
---@param size integer   lists per batch
---@param rows? integer  rows per batch; replaces `size`
function M.most_batches(dataset, size, rows)
  if rows then return -(-dataset.lists.rows // rows) end
  return -(-dataset.count // size)
end

-- Returns a function that computes the number of lists of a batch from the index `at` of its first list in `order`.
-- With `o.rows`, the rows of all lists in this order are divided into stretches of `o.rows` rows, and a batch has the
-- lists that begin in one stretch.
local function length_of(self, o, order)
  if not o.rows then
    return function(at) return math.min(o.size, self.count - at + 1) end
  end
  local sizes, numbers, before, last =
    self.lists.sizes:totable(), order:totable(), 0, M.most_batches(self, 1, o.rows) - 1
  -- Returns the number (counted from 0) of the stretch of `o.rows` rows in which the next list begins. Lists without
  -- rows at the end of the order belong to the last stretch.
  local function stretch() return math.min(before // o.rows, last) end
  return function(at)
    local n, this = 0, stretch()
    repeat
      before, n = before + sizes[numbers[at + n]], n + 1
    until at + n > self.count or stretch() ~= this
    return n
  end
end

local batches_options = declare("mr.data.BatchesOptions", {
  { "size", "integer", least = 1, shown = "32", excludes = { rows = true }, also = { "batch_size", "batch" },
    help = "number of lists of a batch; alternative to rows" },
  { "rows", "integer", least = 1, shown = "by size",
    help = "approximate number of rows of a batch, which has whole lists; alternative to size" },
  { "shuffle", "boolean", default = false, help = "whether the order of the lists is random" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random order" },
  { "epoch", "integer", default = 1, help = "number of the epoch; each has a random order of its own" },
  { "device", "string", default_of = core.device, shown = "mr.device()",
    help = "device of the batches, wherever the dataset is" },
  { "share", "integer[]", shown = "all", expected = "two integers {i, n} with 1 <= i <= n, such as {2, 3}",
    accept = function(share)
      local number, count = share[1], share[2]
      local integers = math.type(number) == "integer" and math.type(count) == "integer"
      return #share == 2 and integers and number >= 1 and number <= count
    end,
    help = "{2, 3} gives the second of three shares of each batch, which have about as many rows each" },
})

---Iterates over the dataset in batches of `size` lists; the last batch may be smaller. With the
---option `rows` instead of `size`, a batch has whole lists with about `rows` rows: the dataset's
---rows are divided into stretches of `rows` rows, and a batch has the lists that begin in one
---stretch. The last list of a batch may extend beyond the stretch. A batch has fewer rows than
---`rows` plus the rows of its last list. With `shuffle = true`, the random order depends only on
---`seed`, `epoch` and the number of lists. If `shuffle` is not given, `seed` and `epoch` are
---errors. Batches are on `device`, wherever the dataset is. `share = {2, 3}` returns only the
---second of three shares of each batch. Shares have about equally many rows, and may be empty.
---@param options? mr.data.BatchesOptions
---@return fun(): mr.Batch?
---Example:
---```lua
---local set, sizes = mr.data.synthetic{kind = "queries", queries = 70}, {}
---for batch in set:batches{size = 32} do sizes[#sizes + 1] = batch.size end
---table.concat(sizes, " ")   --> 32 32 6
---```
---Example:
---```lua
---local set, rows = mr.data.dataset{lists = mr.lists{{0, 1}, {1, 0, 0}, {0, 1}, {1, 0}}}, {}
---for batch in set:batches{rows = 3} do rows[#rows + 1] = batch.lists.rows end
---table.concat(rows, " ")   --> 5 2 2
---```
function Dataset:batches(options)
  local o = batches_options:read("dataset:batches", options)
  o.size = o.size or 32
  for _, name in ipairs(o.shuffle == false and options and options.shuffle == nil and { "seed", "epoch" } or {}) do
    check.leave_out("dataset:batches", name, options[name], "it has no effect without shuffle = true")
  end
  seen.note("other", self)
  return M.pass(self, o)
end

---Iterates over a dataset like mr.Dataset:batches, but does not check the options. All options
---except `rows` and `share` must be given.
---@param self mr.Dataset
---@return fun(): mr.Batch?
function M.pass(self, o)
  if M.most_batches(self, o.size, o.rows) <= 1 and (not o.shuffle or self.count == 1) and not o.share then
    local once = true
    return function()
      if not once then return nil end
      once = false
      local _ <close> = phase.begin "batches"
      return whole(self, o.device)
    end
  end
  local order, length, sizes, numbers
  do
    local _ <close> = phase.begin "batches"
    order = o.shuffle and core.permutation(self.count, o.seed, "batches", o.epoch)
      or core.arange(1, self.count, 1, "int64", "cpu")
    length = length_of(self, o, order)
    if o.share then sizes, numbers = self.lists.sizes:totable(), order:totable() end
  end
  local at = 1
  return function()
    if at > self.count then return nil end
    local _ <close> = phase.begin "batches"
    local from, n = at, length(at)
    at = at + n
    if not o.share then return batch_of(self, order, from, n, o.device) end
    local first, own, rows_before = share_of(sizes, numbers, from, n, o.share)
    local batch = batch_of(self, order, first, own, o.device)
    batch.rows_before = rows_before
    return batch
  end
end

---Returns a copy of the dataset with its tensors on `device`. Making batches on this device then
---needs no transfer between CPU and GPU.
---@param device string  "cpu" or "cuda"
---@return mr.Dataset
---Example: `mr.data.synthetic{kind = "queries", queries = 40, features = 5}:to("cpu").count   --> 40`
function Dataset:to(device)
  local parts = whole(self, device)
  parts.size, parts.name, parts.levels, parts.ids = nil, self.name, self.levels or nil, self.ids or nil
  return with_origin(M.new(parts), self)
end

local check_threshold = arguments{ "threshold", "string|number", choices = { "top", "top_of_list" }, infinite = true }

---Returns a copy of the dataset with grades 1 and 0: 1 where the grade is at least `threshold`. The
---threshold "top" is the highest grade of the dataset. "top_of_list" is the highest grade of each
---list; if all rows of a list have the same grade, all of them become 1. A second call with a number
---above 1, or with 0 or less, is an error, because the grades are 0 and 1 by then.
---@param threshold number|"top"|"top_of_list"
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{2, 0, 1}}}
---set:binarize(2).lists.relevance   --> {1, 0, 0}  mr.Tensor {3} float32
---```
function Dataset:binarize(threshold)
  check_threshold("dataset:binarize", threshold)
  local lists = self.lists
  if threshold == "top" then
    threshold = lists.rows > 0 and lists.relevance:max():item() or 1
  elseif threshold == "top_of_list" then
    threshold = lists:spread(lists:max(lists.relevance))
  elseif self._binary then
    M.check_second_threshold("dataset:binarize", threshold, "rows")
  end
  local binary = M.with(self, { lists = lists:with_relevance(lists.relevance:ge(threshold)) })
  binary._binary = true
  return binary
end

---Returns a copy of the dataset with other grades, for example with the profit of each item as its
---grade.
---@param relevance mr.Tensor  [rows], the grade of each row
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{2, 0, 1}}}
---set:with_relevance(set.lists.relevance * 10).lists.relevance   --> {20, 0, 10}  mr.Tensor {3} float32
---```
function Dataset:with_relevance(relevance)
  local graded = M.with(self, { lists = self.lists:with_relevance(relevance) })
  graded._binary = false
  return graded
end

---Returns the mean and the standard deviation of every feature, in float64, over the rows where the
---feature is not missing (NaN). A feature that is constant, or missing in all rows, gets deviation
---1. A dataset without features or without rows is an error.
---@return { mean: mr.Tensor, sd: mr.Tensor }
---Example: `mr.data.synthetic{kind = "queries", queries = 40, features = 5}:scaling().mean:size(1)   --> 5`
function Dataset:scaling()
  M.need("dataset:scaling", "the dataset", self, "features", "rows")
  local x = self.features:double()
  local known = x:eq(x)
  local share = 1 / known:double():sum(1):maximum(1)
  local mean = known:where(x, 0):sum(1) * share
  local variance = known:where((x - mean) ^ 2, 0):sum(1) * share
  -- A feature is constant if its maximum equals its minimum. The variance does not show this, because rounding may make
  -- it nonzero.
  local most, least = known:where(x, -math.huge):max(1), -(known:where(-x, -math.huge):max(1))
  return record("scaling", { mean = mean, sd = most:gt(least):where(variance:sqrt(), 1) })
end

---Returns a copy of the dataset with features standardised to mean 0 and standard deviation 1. The
---means and deviations are those of this dataset, or `scaling`, such as `train:scaling()` for test.
---Missing values (NaN) stay missing; float64 features stay float64.
---@param scaling? { mean: mr.Tensor, sd: mr.Tensor }  default: this dataset's own
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.synthetic{kind = "queries", queries = 40, features = 5}
---math.abs(set:standardize().features:mean():item()) < 1e-6   --> true
---```
function Dataset:standardize(scaling)
  M.need("dataset:standardize", "the dataset", self, "features")
  scaling = scaling or self:scaling()
  check.expect(check.is_tensor(check.field(scaling, "mean")) and check.is_tensor(check.field(scaling, "sd")),
    "dataset:standardize", "scaling", scaling, "what dataset:scaling returned")
  check.length("dataset:standardize", "scaling.mean", #scaling.mean, self.features:size(2), "one for each feature")
  local device = self.features.device
  local x = (self.features:double() - scaling.mean:to(device)) / scaling.sd:to(device)
  return M.with(self, { features = self.features.dtype == "float64" and x or x:float() })
end

---Returns a copy of the dataset in which each row is a list of its own, so that shuffled batches
---mix rows of all original lists. Use the copy to train with a pointwise loss; the option `batch` of
---mr.fit is then a number of rows. Pairwise and listwise losses ignore lists of one row. The weight of a
---row, times the weight of its list, becomes the weight of the row's new list.
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{0, 1}, {1, 0, 0}}, features = mr.ones(5, 2)}
---set:pointwise()   --> dataset: 5 lists, 5 rows, 2 features
---```
function Dataset:pointwise()
  local lists = self.lists
  local weights_of_rows, weights_of_lists = lists.weights, lists.list_weights
  local spread = weights_of_lists and lists:spread(weights_of_lists)
  local both = weights_of_rows and spread and weights_of_rows * spread or weights_of_rows or spread
  return M.with(self, {
    lists = lists:single_rows():with_weights(nil, both),
    users = self.users and lists:spread(self.users),
  })
end

---Returns a dataset, named `name`, of the lists of the dataset `self` whose numbers are in `numbers`, in the order of
---`numbers`. The tensors of the result are on the CPU.
---@param self mr.Dataset
---@param numbers integer[]  from 1
function M.chosen(self, numbers, name)
  local batch = batch_of(self, core.tensor(numbers, "int64", "cpu"), 1, #numbers, "cpu")
  batch.size, batch.name, batch.levels, batch.ids = nil, name, self.levels or nil, self.ids or nil
  local set = M.new(batch)
  set._binary = self._binary
  return set
end

local function in_order(self, numbers, name)
  table.sort(numbers)
  return M.chosen(self, numbers, name)
end

local split_options = declare("mr.data.SplitOptions", {
  { "share", "number", default = 0.1, least = 0, below = 1, also = { "valid", "test", "test_size" },
    help = "share of the lists in the second dataset" },
  { "seed", "integer", default = 1, also = { "random_state" }, help = "seed of the random choice" },
})

---Splits the dataset into two datasets of whole lists: `part` has a random share of the lists, and
---`others` the remaining lists. The share is rounded to whole lists. If the dataset has two or more
---lists and the share is above 0, both results have at least one list. The lists of both results
---are in the order of this dataset, and their tensors are on the CPU.
---@param options? mr.data.SplitOptions
---@return mr.Dataset others
---@return mr.Dataset part
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 5}
---local parts = queries:split{share = 0.5, seed = 1}
---parts   --> others: 20 lists, 435 rows, 5 features
---```
function Dataset:split(options)
  local o = split_options:read("dataset:split", options)
  local order = core.integers(core.permutation(self.count, o.seed, "split", 0))
  local n = 0
  if o.share > 0 and self.count >= 2 then
    n = math.max(1, math.min(math.floor(o.share * self.count + 0.5), self.count - 1))
  end
  return in_order(self, table.move(order, n + 1, #order, 1, {}), "others"),
    in_order(self, table.move(order, 1, n, 1, {}), "part")
end

---Writes the grades of the rows as TREC judgments, like lists:to_qrels. If the lists or rows have no
---names, the ids of users and items in the ratings file are written, or else numbers: of users and
---items, or of the lists and of the rows within a list.
---@param path string
---@param options? mr.data.QrelsOptions
---Example:
---```lua
---local path, number = os.tmpname(), mr.tensor({7}, {dtype = "int64"})
---mr.data.dataset{lists = mr.lists{{1}}, users = number, items = number}:to_qrels(path)
---io.lines(path)()   --> 7 0 7 1
---```
function Dataset:to_qrels(path, options)
  require("moonrank.data.qrels").write("dataset:to_qrels", self, path, options)
end

---Returns the number of lists of the dataset: `#dataset`.
function Dataset:__len() return self.count end

function Dataset:__tostring()
  local what = self.features and ("%d features"):format(self.features:size(2))
    or self.items and "users and items" or "no features"
  return ("%s: %d lists, %d rows, %s"):format(core.safe_text(self.name), self.count, self.lists.rows, what)
end

return M
