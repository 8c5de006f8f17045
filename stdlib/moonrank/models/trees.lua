-- The class mr.Trees: models of boosted trees. mr.fit grows the trees with the XGBoost library, which is loaded when it
-- is first needed.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local models = require "moonrank.models.model"
local parameters = require "moonrank.models.parameters"
local tables = require "moonrank.table"
local tree_options = require "moonrank.models.tree_options"

local M = {}

---A model of boosted trees: called with a batch, it returns one score per row.
---@class mr.Trees
---@field kind string      "trees"
---@field config table     options that the model was made with; after mr.fit also features and classes
---@field rounds integer   number of boosting rounds so far
local Trees = check.class("mr.Trees")

---Makes a model that has no trees yet; mr.fit grows them. It is an error if the XGBoost library is missing.
function M.new(options)
  local o = tree_options.checked(options)
  check.within("mr.models.trees", core.xgboost_version)
  return setmetatable({ kind = "trees", config = o, repeats = false, _booster = false, _rounds = 0, _kept = {} }, Trees)
end

---Returns the module with which mr.fit trains trees, instead of optimizer steps.
function Trees.get_trainer() return require "moonrank.fit.trees" end

function Trees:get_rounds() return self._rounds end

-- Raises an error if the trees are not grown yet.
local function check_grown(where, self)
  if self._rounds == 0 then check.fail("%s: these trees are not grown yet. Call mr.fit{model = ...} before", where) end
end

---Converts features [rows, columns] to XGBoost's matrix format. A matrix that `_keep` cached for
---the same features is used again.
function Trees:_matrix(features)
  if self._kept[features] then return self._kept[features] end
  check.expect(check.is_tensor(features) and features.dims == 2, "model trees", "batch.features", features,
    "a tensor {rows, columns}")
  local width, expected = features:size(2), self.config.features
  check.expect(not expected or width == expected, "model trees", "the number of features", width,
    "%d, on which the trees were grown", expected)
  return core.tree_data(features, nil, self.config.threads)
end

---Converts features to XGBoost's matrix format and caches the matrix until `_forget` is called.
function Trees:_keep(features) self._kept[features] = self:_matrix(features) end
function Trees:_forget() self._kept = {} end

---Returns the score of each row of a matrix in XGBoost's format: the sum of the trees' values (log
---odds for "binary:logistic", plus 0.5 for ranking objectives and "reg:squarederror"), or the
---expected grade for "multi:softprob".
function Trees:_scores(matrix)
  local several = self.config.classes
  local scores = self._booster:scores(matrix, self._rounds, several ~= nil)
  if not several then return scores end
  return (scores:double() * core.arange(0, several - 1, 1, "float64", "cpu")):sum(2):float()
end

---Returns one float32 score per row of the batch: the sum of the trees' values, or the expected grade
---for the objective "multi:softprob". The sum is the log odds for "binary:logistic". XGBoost adds 0.5
---to it for its ranking objectives and "reg:squarederror". Trees that are not grown yet are an error.
---@param batch mr.Batch
---@return mr.Tensor  [rows]
function Trees:__call(batch)
  check_grown("trees", self)
  models.check_batch("trees", batch, { "features" })
  local features = batch.features
  return self:_scores(self:_matrix(features)):to(features.device)
end

---Returns an empty table, because trees have no parameters that optimizer steps train.
---@return mr.Tensor[]
function Trees.parameters() return {} end

---Returns the present trees and the number of rounds, as a table to pass to trees:restore.
---@return table
function Trees:snapshot(_) return { booster = self._booster, rounds = self._rounds } end

---Sets the trees and the number of rounds to the state that trees:snapshot returned.
---@param snapshot table
function Trees:restore(snapshot) self._booster, self._rounds = snapshot.booster, snapshot.rounds end

local importance_options = declare("mr.models.ImportanceOptions", {
  { "names", "string[]", default = {}, shown = "their numbers, from 1", help = "names of the features" },
})

---Returns a table with the importance of each feature that a split of the trees uses, the highest
---gain first. `gain` is the mean decrease of the objective over the feature's splits, `cover` the
---mean sum of second derivatives in these splits, and `weight` the number of splits. The option
---`names` has the names of the features.
---@param options? mr.models.ImportanceOptions
---@return mr.Table
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 40, features = 3, seed = 1}
---local model = mr.models.trees{objective = "rank:ndcg", rounds = 5}
---mr.fit{model = model, train = queries, progress = false}
---model:importances{names = {"bm25", "length", "pagerank"}}.columns[2]   --> gain
---```
function Trees:importances(options)
  local o = importance_options:read("model:importances", options)
  check_grown("model:importances", self)
  local count = self.config.features
  if #o.names > 0 then check.length("model:importances", "names", #o.names, count, "one for each feature") end
  local by_feature, rows = {}, {}
  for k, kind in ipairs{ "gain", "cover", "weight" } do
    local features, values = self._booster:importance(kind, self._rounds)
    for i, feature in ipairs(features) do
      by_feature[feature] = by_feature[feature] or { feature, 0, 0, 0 }
      by_feature[feature][k + 1] = kind == "weight" and math.tointeger(values[i]) or values[i]
    end
  end
  for _, row in pairs(by_feature) do rows[#rows + 1] = row end
  table.sort(rows, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  for _, row in ipairs(rows) do row[1] = o.names[row[1]] or row[1] end
  return tables.new{
    columns = { "feature", "gain", "cover", "weight" },
    formats = { gain = "%.4f", cover = "%.2f" },
    rows = rows,
  }
end

---Returns the options and the number of trees as text.
function Trees:__tostring()
  local many = self._rounds * self.config.trees * (self.config.classes or 1)
  local grown = self._rounds == 0 and "not grown yet" or ("%d trees in %d rounds"):format(many, self._rounds)
  return ("trees{%s}, %s"):format(models.options_text(self.config), grown)
end

---Saves the trees and the options to a safetensors file, completely or not at all. An existing file
---is replaced only if it is a saved model or empty; any other existing file is an error. Trees that
---are not grown yet are an error, too.
---@param path string
function Trees:save(path)
  check_grown("model:save", self)
  models.write(path, "trees", self.config, { "trees" }, { self._booster:to_tensor(self._rounds) })
end

-- Returns XGBoost's booster from the tensors of a file, after checks of all indices in it.
function Trees:_read(by_name)
  local o = self.config
  local objective = o.objective == "loss" and "reg:squarederror" or o.objective
  return core.read_booster(parameters.saved(by_name, "trees"), o.features, o.classes or 0, objective, o.threads)
end

---Makes a model of trees from the contents of its saved file. All contents are checked before XGBoost reads them.
function M.restore(texts, by_name)
  local model = M.new(tree_options.read(texts))
  model._booster = model:_read(by_name)
  model._rounds = model._booster.rounds
  if model._rounds == 0 then check.fail "the file has no trees" end
  return model
end

return M
