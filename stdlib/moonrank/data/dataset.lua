-- Judged lists with what a model sees of their rows: features, or users and items.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

---@class mr.Dataset
---@field lists mr.Lists
---@field count integer            number of lists
---@field features? mr.Tensor      [rows, width] float32
---@field users? mr.Tensor         [lists] int64
---@field items? mr.Tensor         [rows] int64
local Dataset = check.class("mr.Dataset")

local function absent_as_false(t, names)
  for _, name in ipairs(names) do t[name] = t[name] or false end
  return t
end

---A dataset of lists with features, or with users (one per list) and items (one per row).
---@param parts { lists: mr.Lists, features?: mr.Tensor, users?: mr.Tensor, items?: mr.Tensor, name?: string }
---@return mr.Dataset
function M.new(parts)
  local o = check.options("mr.data.dataset", parts,
    { lists = check.none, features = check.none, users = check.none, items = check.none, name = "dataset" })
  if not o.lists then check.fail("mr.data.dataset: lists is missing") end
  if o.features and #o.features ~= o.lists.rows then
    check.fail("mr.data.dataset: features have %d rows but lists have %d", #o.features, o.lists.rows)
  end
  o.count = o.lists.count
  return setmetatable(absent_as_false(o, { "features", "users", "items" }), Dataset)
end

---@class mr.Batch
---@field lists mr.Lists
---@field size integer         number of lists
---@field features? mr.Tensor  [rows of the batch, width]
---@field users? mr.Tensor     [lists of the batch]
---@field items? mr.Tensor     [rows of the batch]

-- These rows of a tensor, gathered where it is, on a device.
local function taken(x, index, device) return x and x:rows(index:to(x.device)):to(device) or nil end

local function batch_of(self, index, device)
  local rows = self.lists:rows_of(index)
  return {
    lists = self.lists:select(index), size = #index,
    features = taken(self.features, rows, device), users = taken(self.users, index, device),
    items = taken(self.items, rows, device),
  }
end

local function whole(self, device)
  local batch = { lists = self.lists, size = self.count }
  for _, name in ipairs{ "features", "users", "items" } do batch[name] = self[name] and self[name]:to(device) or nil end
  return batch
end

---Iterates over the lists in batches; the last one may be smaller. Shuffling depends on (seed, epoch) only. A batch is on `device`,
---wherever the dataset is.
---@param options? { size?: integer, shuffle?: boolean, seed?: integer, epoch?: integer, device?: string }  defaults 32, false, 1, 1, mr.device()
---@return fun(): mr.Batch?
function Dataset:batches(options)
  local o = check.options("batches", options, { size = 32, shuffle = false, seed = 1, epoch = 1, device = core.device() })
  if math.type(o.size) ~= "integer" or o.size < 1 then
    check.fail("batches: size is %s, expected an integer of at least 1", tostring(o.size))
  end
  if o.size >= self.count and not o.shuffle then
    local once = whole(self, o.device)
    return function()
      local batch = once
      once = nil
      return batch
    end
  end
  local order = o.shuffle and core.permutation(self.count, o.seed, "batches", o.epoch)
    or core.arange(1, self.count, 1, "int64", "cpu")
  local at = 1
  return function()
    if at > self.count then return nil end
    local n = math.min(o.size, self.count - at + 1)
    local batch = batch_of(self, order:narrow(1, at, n), o.device)
    at = at + n
    return batch
  end
end

---The same dataset with its tensors on a device, so that batches there need no copies.
---@param device string  "cpu" or "cuda"
---@return mr.Dataset
function Dataset:to(device)
  local parts = whole(self, device)
  parts.size, parts.name = nil, self.name
  return M.new(parts)
end

---The same lists with binary relevance: 1 where the grade is at least `threshold` ("top": the highest grade of the dataset).
---@param threshold number|"top"
---@return mr.Dataset
function Dataset:binarize(threshold)
  if threshold == "top" then threshold = self.lists.rows > 0 and self.lists.relevance:max():item() or 1 end
  if type(threshold) ~= "number" then check.fail("binarize: threshold is %s, expected a number or 'top'", tostring(threshold)) end
  local parts = { lists = self.lists:with_relevance(self.lists.relevance:ge(threshold)), name = self.name }
  for _, name in ipairs{ "features", "users", "items" } do parts[name] = self[name] or nil end
  return M.new(parts)
end

---Mean and standard deviation of every feature; constant features get deviation 1.
---@return { mean: mr.Tensor, sd: mr.Tensor }
function Dataset:scaling()
  if not self.features then check.fail("scaling: the dataset has no features") end
  local x = self.features:double()
  local mean = x:mean(1)
  local variance = ((x - mean) ^ 2):mean(1)
  local sd = variance:gt(0):where(variance:sqrt(), 1)
  return { mean = mean:float(), sd = sd:float() }
end

---The same lists with features moved to mean 0 and standard deviation 1, by the statistics of this dataset or of another (train's for test).
---@param scaling? { mean: mr.Tensor, sd: mr.Tensor }  default: this dataset's own
---@return mr.Dataset
function Dataset:standardize(scaling)
  scaling = scaling or self:scaling()
  return M.new{ lists = self.lists, features = (self.features - scaling.mean) / scaling.sd, name = self.name }
end

function Dataset:__tostring()
  local what = self.features and ("%d features"):format(self.features:size(2)) or self.items and "users and items" or "no features"
  return ("%s: %d lists, %d rows, %s"):format(self.name, self.count, self.lists.rows, what)
end

---Datasets one after the other.
---@param parts mr.Dataset[]
---@param name string
---@return mr.Dataset
function M.join(parts, name)
  if #parts == 1 then return parts[1] end
  local lists, features = {}, {}
  for i, part in ipairs(parts) do lists[i], features[i] = part.lists, part.features end
  return M.new{ lists = core.join_lists(lists), features = core.join_rows(features), name = name }
end

return M
