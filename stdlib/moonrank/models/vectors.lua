-- Models whose scores are inner products: the function `vectors` of a model's definition returns the vectors of all
-- users and of all items. One product of matrices then scores a catalogue (mr.Model:recommend, fold:evaluate,
-- mr.losses.full_softmax), instead of a call of the model per block of rows.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local tensors = require "moonrank.tensor"

local M = {}

-- Largest allowed difference between a score and the inner product of user vector and item vector, as a share of the
-- product of the vectors' norms. It is larger than rounding errors of single precision.
local tolerance = 1e-4

local function described(x)
  return check.is_tensor(x) and ("{%s} %s on %s"):format(table.concat(x:shape(), ", "), x.dtype, x.device)
    or check.kind(x)
end

-- Raises an error unless `x` is a tensor with the dtype and the device of the model's parameters, `dims` dimensions,
-- `count` rows (false: any number) and, if given, `width` columns.
local function check_tensor(model, what, x, dims, count, width)
  local first = model:parameters()[1]
  local fits = check.is_tensor(x) and x.dims == dims and x.dtype == first.dtype and x.device == first.device
    and (not count or #x == count) and (not width or x:size(2) == width)
  if fits then return end
  local shape = dims == 1 and ("{%s}"):format(count) or ("{%s, %s}"):format(count or what, width or "width")
  check.fail("model %s: vectors returned %s as %s, expected %s %s on %s", model.kind, described(x), what, shape,
    first.dtype, first.device)
end

-- Returns the vectors of users and of items from the model's function `vectors`, differentiable. Those of a script's
-- model are checked. Biases of items become a further entry of their vectors, beside a 1 in those of users.
local function joined(model)
  local users, items, biases = model._definition.vectors(model._view)
  if model._definition.built_in then return users, items end
  check_tensor(model, "users", users, 2, model.config.users)
  check_tensor(model, "items", items, 2, model.config.items, users:size(2))
  if biases == nil then return users, items end
  check_tensor(model, "biases", biases, 1, #items)
  local ones = core.full({ #users, 1 }, 1, users.dtype, users.device)
  return core.cat({ users, ones }, 2), core.cat({ items, core.reshape(biases, { #items, 1 }) }, 2)
end

-- Returns at most four numbers from 1 to n, evenly spaced, as a table.
local function few(n)
  local numbers = {}
  for i = 0, math.min(n, 4) - 1 do numbers[i + 1] = 1 + i * (n - 1) // math.max(1, math.min(n, 4) - 1) end
  return numbers
end

-- Returns a batch by which a model is tested: a list for each of a few users. All lists have the same few items.
local function sample(users, items, device)
  local of_list, of_items, sizes, of_row = few(#users), few(#items), {}, {}
  for l = 1, #of_list do
    sizes[l] = #of_items
    table.move(of_items, 1, #of_items, #of_row + 1, of_row)
  end
  local grades = core.full({ #of_row }, 0, "float32", "cpu")
  return dataset.batch{ lists = core.lists(sizes, grades, {}, {}), size = #of_list,
    users = core.tensor(of_list, "int64", device), items = core.tensor(of_row, "int64", device) }
end

-- Raises an error unless a script's `forward` returns the inner products of its vectors, for a few rows.
local function check_products(model, users, items)
  local batch = sample(users, items, users.device)
  local failed = "model %s: vectors needs a function forward that scores users and items, but forward failed"
  local scores = check.within(failed:format(model.kind), model, batch)
  local products = batch.lists:factor_scores(users, items, batch.users, batch.items):double():totable()
  local of_user, of_item = batch.row_users:to("cpu"):totable(), batch.items:to("cpu"):totable()
  local size_of_user, size_of_item = users:row_dot(users):sqrt(), items:row_dot(items):sqrt()
  for i, score in ipairs(scores:double():totable()) do
    local u, j = of_user[i], of_item[i]
    local most = tolerance * size_of_user[u]:item() * size_of_item[j]:item()
    -- If the model's score is NaN, the comparison is false and no error is raised here. The checks of scores raise an
    -- error for NaN later.
    if math.abs(score - products[i]) > most then
      check.fail("model %s: forward and vectors differ: user %d and item %d have the score %.9g and the inner product "
        .. "%.9g. Return vectors whose inner products (plus the biases of items) are the scores, or leave out vectors",
        model.kind, u, j, score, products[i])
    end
  end
end

---Returns true if the model's definition has the function `vectors`.
function M.has(model)
  local definition = type(model) == "table" and rawget(model, "_definition")
  return definition and definition.vectors ~= nil or false
end

---Returns two matrices, users and items, whose rows have the model's scores as inner products; they
---are differentiable. Returns nil for a model without vectors.
function M.recorded(model)
  if M.has(model) then return joined(model) end
end

---Returns two matrices, users and items, whose rows have the model's scores as inner products. Returns nil for a model
---without vectors and for a function. If a script defined the model with both `vectors` and `forward`, the scores of a
---few rows are compared with the inner products, and a difference is an error.
function M.of(model)
  if not M.has(model) then return nil end
  return tensors.no_grad(function()
    local users, items = joined(model)
    local definition = model._definition
    if not definition.built_in and definition.forward and #users > 0 and #items > 0 then
      check_products(model, users, items)
    end
    return users, items
  end)
end

---Returns a function that scores batches by inner products of vectors that `of` returned; nil without vectors.
---@param users mr.Tensor?
---@param items mr.Tensor?
---@return (fun(batch: mr.Batch): mr.Tensor)?
function M.scorer(users, items)
  if not users then return nil end
  return function(batch) return batch.lists:factor_scores(users, items, batch.users, batch.items) end
end

---Returns the function that scores a batch: `forward` of a definition, or else inner products of the
---definition's vectors, plus biases of items if `vectors` returns them.
---@param definition table  an mr.models.Definition that was checked
---@return fun(self: table, batch: mr.Batch): mr.Tensor
function M.forward(definition)
  return definition.forward or function(self, batch)
    local users, items, biases = definition.vectors(self)
    local scores = batch.lists:factor_scores(users, items, batch.users, batch.items)
    return biases and scores + biases:rows(batch.items) or scores
  end
end

return M
