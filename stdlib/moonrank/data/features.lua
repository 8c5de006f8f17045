-- Methods of mr.Dataset that transform, select, fill in or append features, or turn features into categories. Each
-- method returns a new dataset.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local join = require "moonrank.data.join"

---@class mr.Dataset
local Dataset = dataset.class

-- Checks `columns`, a table of feature column numbers. Returns the numbers as a tensor, and a table from column number
-- to its position in `columns`. If `columns` is nil, returns a tensor of all columns and no table.
local function columns_of(where, self, columns)
  dataset.need(where, "the dataset", self, "features")
  local width = self.features:size(2)
  if columns == nil then return core.arange(1, width, 1, "int64", "cpu") end
  check.indices(where, "columns", columns, width, "column number")
  local known = check.distinct(where, "columns", columns)
  return core.tensor(columns, "int64", "cpu"), known
end

-- Returns a copy of the dataset with the function `f` applied to the feature columns with the numbers `columns`.
local function changed(where, self, columns, f)
  local _, known = columns_of(where, self, columns)
  local x = f(self.features)
  if known then
    local mask = {}
    for c = 1, self.features:size(2) do mask[c] = known[c] and 1 or 0 end
    x = core.tensor({ mask }, "float32", self.features.device):where(x, self.features)
  end
  return dataset.with(self, { features = x })
end

---Scales features to [0, 1] within each list, as LETOR's query-level normalisation does. A feature
---that has one value in all rows of a list becomes 0 in that list. Missing values stay missing.
---Returns a new dataset, on the CPU.
---@param columns? integer[]  numbers of features, from 1; default: all
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{0, 1, 0}}, features = mr.tensor{{2}, {4}, {3}}}
---set:min_max_lists().features:sum():item()   --> 1.5
---```
function Dataset:min_max_lists(columns)
  local numbers = columns_of("dataset:min_max_lists", self, columns)
  return dataset.with(self, { features = core.scale_lists(self.features, self.lists, numbers, "min_max") })
end

---Standardises features to mean 0 and standard deviation 1 within each list. A feature that has one
---value in all rows of a list becomes 0 in that list. Missing values stay missing. Returns a new
---dataset, on the CPU.
---@param columns? integer[]  numbers of features, from 1; default: all
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{0, 1}}, features = mr.tensor{{2}, {4}}}
---set:standardize_lists().features[2]:item()   --> 1.0
---```
function Dataset:standardize_lists(columns)
  local numbers = columns_of("dataset:standardize_lists", self, columns)
  return dataset.with(self, { features = core.scale_lists(self.features, self.lists, numbers, "standardize") })
end

---Transforms each feature value x to log(1 + |x|) with the sign of x (Qin et al. 2021), for
---features with heavy tails, such as counts. Returns a new dataset.
---@param columns? integer[]  numbers of features, from 1; default: all
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{1}}, features = mr.tensor{{math.exp(1) - 1}}}
---set:log1p().features[1]:item()   --> 1.0
---```
function Dataset:log1p(columns)
  return changed("dataset:log1p", self, columns, function(x)
    local size = (x:double():abs() + 1):log()
    if x.dtype == "float32" then size = size:float() end
    return x:lt(0):where(-size, size)
  end)
end

local clip_options = declare("mr.data.ClipOptions", {
  { "min", "number", infinite = true, not_above = "max", shown = "none", help = "smallest value" },
  { "max", "number", infinite = true, shown = "none", help = "largest value" },
  { "columns", "integer[]", shown = "all", help = "numbers of the columns that are limited" },
})

---Limits features to [min, max]: lower values become `min` and higher values `max`. Missing values
---stay missing. Returns a new dataset.
---@param options mr.data.ClipOptions
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{1}}, features = mr.tensor{{7, -7}}}
---set:clip{max = 5}.features:sum():item()   --> -2.0
---```
function Dataset:clip(options)
  local o = clip_options:read("dataset:clip", options)
  local function clipped(x) return x:eq(x):where(x:clamp{ min = o.min, max = o.max }, x) end
  return changed("dataset:clip", self, o.columns, clipped)
end

local kinds = { "mean", "median" }
local check_typical = arguments{ "what", "string", choices = kinds, required = false }

---Returns the mean or the median of each feature over the rows where the feature is not missing.
---Pass the result to mr.Dataset:fill. A feature that is missing in all rows gets the value 0.
---@param what? "mean"|"median"  default "median"
---@param columns? integer[]  numbers of features, from 1; default: all
---@return mr.Tensor  [columns] float64
---Example: `mr.data.dataset{lists = mr.lists{{1, 0}}, features = mr.tensor{{1}, {4}}}:typical()[1]:item()   --> 2.5`
function Dataset:typical(what, columns)
  check_typical("dataset:typical", what)
  return core.typical_values(self.features, columns_of("dataset:typical", self, columns), what or "median")
end

local check_fill = arguments{ "with", "string|number|mr.Tensor", choices = kinds,
  accept = function(value) return check.is_finite(value) or check.is_tensor(value) end,
  expected = "a finite number, 'mean', 'median' or a tensor" }

---Replaces missing features (NaN) by a number, by the mean or median of the column, or by one
---number per column, as in `test:fill(train:typical())`. Returns a new dataset.
---@param with number|"mean"|"median"|mr.Tensor  a tensor: one number for each of `columns`
---@param columns? integer[]  numbers of features, from 1; default: all
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{0, 1, 0}}, features = mr.tensor{{1}, {0/0}, {5}}, missing = true}
---set:fill("median").features[2]:item()   --> 3.0
---```
function Dataset:fill(with, columns)
  local numbers = columns_of("dataset:fill", self, columns)
  check_fill("dataset:fill", with)
  if type(with) == "number" then
    with = core.full({ #numbers }, with, "float64", "cpu")
  elseif type(with) == "string" then
    with = self:typical(with, columns)
  end
  return dataset.with(self, { features = core.fill_missing(self.features, numbers, with) })
end

local select_options = declare("mr.data.SelectOptions", {
  { "ids", "string[]", shown = "all", excludes = { lists = true }, help = "names of the lists; alternative to lists" },
  { "lists", "integer[]", shown = "all", help = "numbers of the lists; alternative to ids" },
  { "columns", "integer[]", shown = "all", help = "numbers of the columns of the features" },
})

---Returns a dataset with some of the lists, some of the feature columns, or both. The lists are
---given by names (option `ids`) or by numbers (option `lists`), and the result has them in this
---order, on the CPU. A name or number that the dataset does not have is an error.
---@param options mr.data.SelectOptions
---@return mr.Dataset
---Example: `mr.data.synthetic{kind = "queries"}:select{lists = {3, 1}, columns = {2}}.features:size(2)   --> 1`
function Dataset:select(options)
  local o = select_options:read("dataset:select", options)
  local set, numbers = self, o.lists
  if o.ids then
    local place = {}
    for i, id in ipairs(self.lists.ids) do place[id] = i end
    numbers = {}
    for i, id in ipairs(o.ids) do
      numbers[i] = place[tostring(id)]
      check.expect(numbers[i], "dataset:select", ("ids[%d]"):format(i), id, "the id of a list in the dataset")
    end
  end
  check.indices("dataset:select", "lists", numbers or {}, self.count, "list number")
  if numbers then set = dataset.chosen(self, numbers, self.name) end
  if not o.columns then return set end
  local columns = columns_of("dataset:select", set, o.columns)
  return dataset.with(set, { features = core.take_columns(set.features, columns) })
end

---Returns a dataset with the lists of this dataset, followed by the lists of the other datasets.
---All datasets must have the same inputs, the same number of features and the same category levels.
---@param ... mr.Dataset
---@return mr.Dataset
---Example:
---```lua
---local three = mr.data.synthetic{kind = "queries", queries = 3}
---three:concat(mr.data.synthetic{kind = "queries", queries = 2}).count   --> 5
---```
function Dataset:concat(...)
  local parts = table.pack(self, ...)
  for i = 1, parts.n do
    local part = parts[i]
    check.expect(dataset.is(part), "dataset:concat", ("argument %d"):format(i - 1), part, "a dataset")
    for c, levels in ipairs(self.levels or {}) do
      local own = part.levels and part.levels[c]
      if not own or #own ~= #levels or (#own > 0 and own:eq(levels):sum():item() < #own) then
        check.fail("dataset:concat: dataset '%s' has other category levels in column %d than '%s', the first dataset. "
          .. "Make its categories with those of the first dataset: other:categorical{columns = ..., like = first}",
          part.name, c, self.name)
      end
    end
  end
  return join(parts, self.name)
end

local check_features = arguments{ "features", "mr.Tensor", class = "mr.Tensor",
  expected = "a tensor or a dataset with features" }

---Returns a copy of the dataset with the columns of `features` appended to its features, if it has
---any. Another number of rows is an error.
---@param features mr.Tensor|mr.Dataset  [rows, columns], [rows] for one column, or a dataset of the same lists
---@return mr.Dataset
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{1}}, features = mr.tensor{{7}}}
---set:with_features(mr.tensor{{8, 9}}).features:size(2)   --> 3
---```
function Dataset:with_features(features)
  if dataset.is(features) then features = features.features end
  check_features("dataset:with_features", features)
  if features.dims == 1 then features = features:reshape(#features, 1) end
  local here = self.features
  if not here then
    return dataset.with(self, { features = features.dtype == "float64" and features or features:float() })
  end
  features = (here.dtype == "float64" and features:double() or features:float()):to(here.device)
  check.length("dataset:with_features", "features", #features, #here, "one for each row")
  return dataset.with(self, { features = core.cat({ here, features }, 2) })
end

local categorical_options = declare("mr.data.CategoricalOptions", {
  { "columns", "integer[]", required = true,
    help = "list of the numbers of the feature columns that become categories" },
  { "like", "mr.Dataset", class = "mr.Dataset", shown = "levels of this dataset",
    help = "dataset whose levels are used, for example train for test" },
})

---Turns feature columns into categories for embeddings, and removes these columns from the
---features. The new dataset's tensor `categories` [rows, columns] numbers the different values of a
---column from 1, in ascending order; `levels` has the values. One further number stands for missing
---values and for values that the dataset `like` does not have. An embedding of column c therefore
---needs `#set.levels[c] + 1` rows. A dataset that already has categories is an error.
---@param options mr.data.CategoricalOptions
---@return mr.Dataset
---Example:
---```lua
---local lists = mr.lists{{0, 1, 0}}
---local train = mr.data.dataset{lists = lists, features = mr.tensor{{20, 1}, {10, 2}, {20, 3}}}
---local test = mr.data.dataset{lists = lists, features = mr.tensor{{10, 4}, {15, 5}, {20, 6}}}
---train = train:categorical{columns = {1}}
---test = test:categorical{columns = {1}, like = train}
---test.categories:reshape(3)   --> {1, 3, 2}  mr.Tensor {3} int64
---```
function Dataset:categorical(options)
  local o = categorical_options:read("dataset:categorical", options)
  if self.categories then
    check.fail "dataset:categorical: the dataset already has categories. Pass all columns in one call"
  end
  local numbers, known = columns_of("dataset:categorical", self, o.columns)
  local levels, others = {}, {}
  if o.like then
    levels = o.like.levels or {}
    check.length("dataset:categorical", "the list of category columns of the dataset like", #levels, #o.columns,
      "one for each number in columns, as categorical{columns = ...} makes")
  else
    for i, c in ipairs(o.columns) do levels[i] = core.levels_of(self.features, c) end
  end
  for c = 1, self.features:size(2) do
    if not known[c] then others[#others + 1] = c end
  end
  return dataset.with(self, { categories = core.level_numbers(self.features, numbers, levels), levels = levels,
    features = #others > 0 and core.take_columns(self.features, core.tensor(others, "int64", "cpu")) })
end

return Dataset
