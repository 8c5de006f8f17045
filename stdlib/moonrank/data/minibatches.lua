-- Methods of mr.Dataset for training whose steps take fixed groups of lists, such as lists of equal length.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare

---@class mr.Dataset
local Dataset = dataset.class

local length_options = declare("mr.data.EqualLengthsOptions", {
  { "size", "integer", least = 1, shown = "all", help = "largest number of lists of a group" },
  { "least", "integer", default = 1, least = 1, help = "a length that fewer lists have is left out" },
})

---Divides the lists into groups of at most `size` lists, all with the same number of rows (length).
---Returns the numbers of the lists of each group, for `mr.Dataset:minibatches`. Lengths are in the order
---in which they first occur, and only the last group of a length has fewer than `size` lists. Lists of
---a length that fewer than `least` lists have are in no group.
---@param options? mr.data.EqualLengthsOptions
---@return integer[][]
---Example:
---```lua
---local set = mr.data.dataset{lists = mr.lists{{1, 0}, {0, 1, 0}, {0, 1}, {0, 0}, {1, 1}}}
---set:equal_lengths{size = 3, least = 2}   --> {{1, 3, 4}, {5}}
---```
function Dataset:equal_lengths(options)
  local o = length_options:read("dataset:equal_lengths", options)
  local by_length, order, groups = {}, {}, {}
  for i, n in ipairs(self.lists.sizes:totable()) do
    if not by_length[n] then by_length[n], order[#order + 1] = {}, n end
    table.insert(by_length[n], i)
  end
  for _, n in ipairs(order) do
    local all = by_length[n]
    local size = o.size or #all
    for from = 1, #all >= o.least and #all or 0, size do
      groups[#groups + 1] = table.move(all, from, math.min(from + size - 1, #all), 1, {})
    end
  end
  return groups
end

---Training data whose minibatches are fixed, for the option `train` of mr.fit. It has the lists and inputs
---(features, users, items, categories) of the whole dataset.
---@class mr.data.Minibatches
---@field lists mr.Lists
---@field count integer         number of minibatches
---@field fingerprint string    that of the dataset

local check_groups = arguments{ "groups", "table", expected = "tables of list numbers, such as {{1, 3}, {2}}" }

---Returns training data for mr.fit whose steps take fixed groups of lists. `groups` has the numbers of
---the lists of each step, and every epoch has the steps in this order. Lists that are in no group are
---not trained on. Pass the result to mr.fit with `batch = 1`, so that a step takes one group. The second
---result is the number of lists in all groups.
---@param groups integer[][]
---@return mr.data.Minibatches
---@return integer
---Example:
---```lua
---local queries = mr.data.synthetic{kind = "queries", queries = 20}
---local train, count = queries:minibatches(queries:equal_lengths{size = 8})
---local run = mr.fit{model = mr.models.mlp{inputs = 20}, loss = mr.losses.ndcg(), train = train, batch = 1,
---  epochs = 1, progress = false}
---count   --> 20
---```
function Dataset:minibatches(groups)
  check_groups("dataset:minibatches", groups)
  local batches, count = {}, 0
  for i, numbers in ipairs(groups) do
    local name = ("groups[%d]"):format(i)
    check.indices("dataset:minibatches", name, numbers, self.count, "list number")
    local part = dataset.chosen(self, numbers, self.name)
    local batch = { lists = part.lists, size = #numbers }
    for _, input in ipairs(dataset.inputs) do batch[input] = part[input] and part[input]:to(core.device()) or nil end
    batches[i], count = dataset.batch(batch), count + #numbers
  end
  local function each()
    local at = 0
    return function()
      at = at + 1
      return batches[at]
    end
  end
  local train = { lists = self.lists, fingerprint = self.fingerprint, count = #batches, batches = each }
  for _, input in ipairs(dataset.inputs) do train[input] = self[input] or nil end
  return train, count
end

return Dataset
