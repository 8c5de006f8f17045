-- The class mr.Model: a model has named parameters, buffers, and a forward pass, a function that computes the scores of
-- a batch.
local core = require "moonrank.core"
local check = require "moonrank.check"
local arguments = require("moonrank.options").arguments
local gradcheck = require "moonrank.gradcheck"
local phase = require "moonrank.system.phase"
local recommend = require "moonrank.models.recommend"
local tensors = require "moonrank.tensor"
local vectors = require "moonrank.models.vectors"

local M = {}

---A model: called with a batch, it returns one score per row.
---@class mr.Model
---@field kind string
---@field config table     options that the model was made with
---@field repeats boolean  whether scores depend only on the batch and the parameters
local Model = check.class("mr.Model")

local function described(x)
  return check.is_tensor(x) and ("{%s} %s"):format(table.concat(x:shape(), ", "), x.dtype) or "a " .. type(x)
end

-- Returns the object that a model's function `forward` gets as self. Its fields are the parameters and buffers by name,
-- and `options`. Only fields that are buffers may be assigned.
local function view_of(model)
  local fixed, buffers = { options = model.config }, model._buffers
  for i, name in ipairs(model._names) do fixed[name] = model._parameters[i] end
  local function unknown(_, name)
    local known = check.names(fixed)
    table.move(check.names(buffers), 1, #check.names(buffers), #known + 1, known)
    check.unknown(("parameter or buffer of model '%s'"):format(model.kind), name, known)
  end
  local function assign(_, name, value)
    local buffer = buffers[name]
    if not buffer then
      check.fail("model %s: '%s' is not a buffer, and forward may assign only buffers", model.kind, tostring(name))
    end
    if described(value) ~= described(buffer) then
      check.fail("model %s: buffer '%s' was set to %s, expected %s", model.kind, name, described(value),
        described(buffer))
    end
    buffers[name] = value:detach()
  end
  local function buffer_of(view, name) return buffers[name] or unknown(view, name) end
  return setmetatable({}, { __index = setmetatable(fixed, { __index = buffer_of }), __newindex = assign })
end

-- Returns the fields that a model needs in a batch. Of a script's model, only `features` can be known.
local function reads(definition, config)
  if config.inputs then return { "features" } end
  if not definition.forward then return { "lists", "users", "items" } end
  return definition.built_in and config.users and { "lists", "users", "items" } or {}
end

---Makes a model from its definition (functions such as forward), its options, parameters and buffers.
---@param definition table  an mr.models.Definition that was checked
---@param names string[]    names of the parameters, in order
function M.new(definition, config, names, parameters, buffers)
  for i, parameter in ipairs(parameters) do parameters[i] = parameter:requires_grad() end
  local repeats = definition.repeats
  local model = setmetatable({
    kind = definition.name,
    config = config,
    repeats = type(repeats) == "function" and repeats(config) or repeats == true,
    _definition = definition,
    _forward = vectors.forward(definition),
    _names = names,
    _parameters = parameters,
    _buffers = buffers,
    _view = false,
    _reads = reads(definition, config),
  }, Model)
  model._view = view_of(model)
  return model
end

---Returns true if the method `penalty` or `constrain` of an mr.Model does nothing because the model's
---definition has no function of this name.
---@param method "penalty"|"constrain"
---Example: `require("moonrank.models.model").does_nothing(mr.models.linear{inputs = 2}, "penalty")   --> true`
function M.does_nothing(model, method)
  return getmetatable(model) == Model and rawget(model, method) == nil and not model._definition[method]
end

---Raises an error if `batch` is not a table, or lacks a field that the model needs, such as `features`.
---@param kind string        kind of the model, for messages
---@param needed string[]    among "lists", "features", "users", "items"
---@param device? string     device of the model's parameters, where the batch's tensors must be
function M.check_batch(kind, batch, needed, device)
  if type(batch) ~= "table" then
    check.expect(false, "model " .. kind, "batch", batch, "a batch with %s, as data:batches() gives it",
      table.concat(needed, ", "))
  end
  for _, name in ipairs(needed) do
    local is_there = name == "lists" and check.is_lists or check.is_tensor
    local found = is_there(rawget(batch, name)) and rawget(batch, name) or check.field(batch, name)
    if not is_there(found) then
      check.fail("model %s: batch.%s is %s, expected %s. Pass a batch of a dataset with %s", kind, name,
        check.found(found), name == "lists" and "lists (mr.lists)" or "a tensor", name)
    elseif device and name ~= "lists" and found.device ~= device then
      check.fail("model %s: batch.%s is on %s, but the model is on %s. Pass data:to('%s'), or a batch of "
        .. "data:batches{device = '%s'}", kind, name, found.device, device, device, device)
    end
  end
end

-- Raises an error unless a script's `forward` returned one score per row, with the parameters' dtype.
local function check_scores(self, scores, batch)
  local where, rows = "model " .. self.kind, batch.lists.rows
  if not check.is_tensor(scores) or scores.dims ~= 1 or #scores ~= rows then
    check.expect(false, where, "the result of forward", scores, "a tensor of shape {%d}, one score per row%s", rows,
      check.is_tensor(scores) and scores:numel() == rows and (": scores:reshape(%d)"):format(rows) or "")
  end
  local found, expected = scores.dtype, self._parameters[1].dtype
  check.expect(found == expected, where, "the type of the scores by forward", found,
    "'%s' like the model's parameters. Convert them: scores:to('%s')", expected, expected)
  if batch.training and not scores.tracked then
    check.fail("%s: the scores do not depend on the model's parameters, so training would change nothing", where)
  end
end

---Returns one score per row of the batch, differentiable in the parameters. If a script defined the
---model, the number and type of the scores are checked.
---@param batch mr.Batch
---@return mr.Tensor  [rows]
function Model:__call(batch)
  M.check_batch(self.kind, batch, self._reads, self._definition.built_in and self._parameters[1].device)
  local _ <close> = phase.begin("forward", true)
  local scores = self._forward(self._view, batch)
  if not self._definition.built_in then check_scores(self, scores, batch) end
  return scores
end

local function is_numbers(value) return check.is_tensor(value) and value.dtype == "int64" and value.dims == 1 end

local check_users = arguments({ "users", "mr.Tensor", accept = is_numbers,
  expected = "a tensor of users' numbers: mr.tensor({1, 2}, {dtype = \"int64\"})" },
  { "tau", "number", above = 0, required = false })

---Computes the logarithm of the sum of e^(score / tau) over all items of the catalogue, for each of
---these users. The sum is the normalizer of the softmax over the catalogue (mr.losses.full_softmax).
---The items are scored in blocks, so no matrix of users by items is stored; the derivative scores them
---again. The model must have vectors, as mr.models.mf and models with `vectors` in mr.models.define.
---@param users mr.Tensor  [n] int64
---@param tau? number      temperature (default 1)
---@return mr.Tensor       [n]
---Example:
---local model = mr.models.mf{users = 2, items = 8, factors = 1, init = 1e-9}
---model:catalogue_log_sums(mr.tensor({2}, {dtype = "int64"})):exp():item()   --> 8.0
function Model:catalogue_log_sums(users, tau)
  local where = "model:catalogue_log_sums"
  if not vectors.has(self) then
    check.fail("%s: a model of the kind '%s' has no vectors of users and items. Use mr.models.mf, or define the model "
      .. "with `vectors`", where, self.kind)
  end
  check_users(where, users, tau)
  local p, q = vectors.recorded(self)
  return core.catalogue_log_sums(p:rows(users), q, tau or 1)
end

---Returns true if `model` is an mr.Model, of a built-in kind or of one that a script defined with
---mr.models.define. Baselines and trees are other classes.
function M.is(model) return getmetatable(model) == Model end

---Returns a function that scores batches like the model, but does not check the batch, to save
---time. A model that a script defined is returned unchanged, because its scores must be checked.
---@return fun(batch: mr.Batch): mr.Tensor
function M.unchecked(model)
  local forward = model._forward
  if not model._definition.built_in then return model end
  return function(batch) return forward(model._view, batch) end
end

---Returns the model's parameters: a table of the tensors that training updates.
---@return mr.Tensor[]
---Example: `#mr.models.mlp{inputs = 3, hidden = {2}}:parameters()   --> 4`
function Model:parameters() return { table.unpack(self._parameters) } end

---Applies the model's constraint to its parameters; mr.models.cml moves points back into a ball,
---for example. mr.fit calls this method after every step. A model without a constraint does not
---change.
---@return mr.Model  the model
---Example: `mr.models.cml{users = 1, items = 1}:constrain().kind   --> cml`
function Model:constrain()
  local constrain = self._definition.constrain
  if not constrain then return self end
  local changed = tensors.no_grad(function() return constrain(self._view) end)
  for i, name in ipairs(self._names) do
    if changed[name] then core.restore(self._parameters[i], changed[name]) end
  end
  return self
end

---Returns the penalty that mr.fit adds to the loss of a batch, such as the covariance penalty of
---mr.models.cml; nil for a model without a penalty.
---@param batch mr.Batch
---@return mr.Tensor?
---Example: `mr.models.linear{inputs = 2}:penalty{}   --> nil`
function Model:penalty(batch)
  local penalty = self._definition.penalty
  if not penalty then return nil end
  M.check_batch(self.kind, batch, self._reads)
  return penalty(self._view, batch) or nil
end

---Returns the model's buffers by name: tensors that are not trained, but that forward changes from
---batch to batch, such as running means.
---@return table<string, mr.Tensor>
---Example: `next(mr.models.linear{inputs = 2}:buffers())   --> nil`
function Model:buffers()
  local copy = {}
  for name, buffer in pairs(self._buffers) do copy[name] = buffer end
  return copy
end

-- Replaces the model's buffers by tensors with the same names and sizes, such as model:buffers() returned before.
function Model:_put_buffers(buffers)
  for name, buffer in pairs(buffers) do self._buffers[name] = buffer end
end

---Returns the names and the tensors of all parameters and buffers, in the order of a saved file.
---@return string[] names
---@return mr.Tensor[] values
---Example:
---```lua
---local names = mr.models.mf{users = 2, items = 3}:state()
---table.concat(names, " ")   --> users items
---```
function Model:state()
  local names, values = { table.unpack(self._names) }, self:parameters()
  for _, name in ipairs(check.names(self._buffers)) do
    names[#names + 1], values[#values + 1] = name, self._buffers[name]
  end
  return names, values
end

local check_snapshot = arguments{ "into", "table", required = false, expected = "an earlier snapshot" }

---Returns copies of the current parameters and buffers, which model:restore accepts.
---@param into? table  an earlier snapshot, which is overwritten
---@return table
function Model:snapshot(into)
  if type(into) ~= "table" then check_snapshot("model:snapshot", into) end  -- training calls this in every epoch
  local copies = { buffers = {} }
  for i, parameter in ipairs(self._parameters) do copies[i] = core.snapshot(parameter, into and into[i]) end
  for name, buffer in pairs(self._buffers) do copies.buffers[name] = buffer end
  return copies
end

local check_restore = arguments{ "snapshot", "table", accept = function(value) return value.buffers ~= nil end,
  expected = "what model:snapshot returned" }

---Sets the parameters and buffers to the values that model:snapshot copied.
---@param snapshot table
function Model:restore(snapshot)
  check_restore("model:restore", snapshot)
  for i, parameter in ipairs(self._parameters) do core.restore(parameter, snapshot[i]) end
  self:_put_buffers(snapshot.buffers)
end

-- Replaces every parameter and every buffer of the model by the tensor that `change` returns for it.
local function converted(self, change)
  for i, parameter in ipairs(self._parameters) do self._parameters[i] = change(parameter:detach()):requires_grad() end
  for name, buffer in pairs(self._buffers) do self._buffers[name] = change(buffer) end
  self.config.dtype = self._parameters[1].dtype
  self._view = view_of(self)
  return self
end

local check_put = arguments{ "by_name", "table", expected = "a table of tensors by name, as model:state() names them" }

---Sets all parameters and buffers of the model to the numbers of other tensors, which are copied. A
---tensor of another shape or type is an error, and then nothing changes. The model stays on its
---device, and optimizers of its parameters remain valid.
---@param by_name table<string, mr.Tensor>  a tensor for each parameter and buffer
---@return mr.Model  the model
---Example:
---```lua
---local model = mr.models.linear{inputs = 2}
---model:put{["layer1.weight"] = mr.ones(2, 1), ["layer1.bias"] = mr.zeros(1, 1)}
---model:parameters()[1]:sum():item()   --> 2.0
---```
function Model:put(by_name)
  check_put("model:put", by_name)
  local names, values = self:state()
  for i, name in ipairs(names) do
    local what = ("by_name['%s']"):format(name)
    local value, expected = by_name[name], described(values[i])
    check.expect(described(value) == expected, "model:put", what, value, expected)
  end
  for i, name in ipairs(self._names) do
    core.restore(self._parameters[i], by_name[name]:to(self._parameters[i].device))
  end
  for name, buffer in pairs(self._buffers) do self._buffers[name] = core.snapshot(by_name[name]:to(buffer.device)) end
  return self
end

---Moves the model's parameters and buffers to a device. An optimizer that was bound to the parameters
---before this call still updates the old ones.
---@param device string  "cpu" or "cuda"
---@return mr.Model  the model
---Example: `mr.models.linear{inputs = 2}:to("cpu"):size()   --> 3`
function Model:to(device) return converted(self, function(x) return x:to(device) end) end

---Converts the model's parameters and buffers to float64, except int64 buffers. An optimizer that was
---bound to the parameters before this call still updates the old ones.
---@return mr.Model  the model
---Example: `mr.models.linear{inputs = 2}:double():parameters()[1].dtype   --> float64`
function Model:double() return converted(self, function(x) return x.dtype == "int64" and x or x:double() end) end

---Compares the gradient of every parameter with central differences (mr.gradcheck) on a batch. An
---error of a derivative above the option `tolerance` raises an error that names the parameter.
---Parameters must be float64 (call model:double() before).
---@param batch mr.Batch
---@param options? mr.GradcheckOptions
---@return number  the largest error of a derivative, relative to 1 + |derivative|
---Example:
---```lua
---local model = mr.models.linear{inputs = 2, dtype = "float64"}
---local features = mr.normal({2, 2}, {dtype = "float64"})
---model:gradcheck{lists = mr.lists{{1, 0}}, features = features} < 1e-6   --> true
---```
function Model:gradcheck(batch, options)
  M.check_batch(self.kind, batch, self._reads)
  local worst = 0
  for i, name in ipairs(self._names) do
    local dtype = self._parameters[i].dtype
    check.expect(dtype == "float64", "gradcheck", ("the type of parameter '%s'"):format(name), dtype,
      "'float64'. Call model:double() before")
    local function at(x)
      local view = setmetatable({ [name] = x }, { __index = self._view, __newindex = function() end })
      return self._forward(view, batch)
    end
    local ok, found = pcall(gradcheck.gradcheck, at, self._parameters[i], options)
    if not ok then error(tostring(found):gsub("gradcheck:", ("gradcheck: '%s':"):format(name), 1), 0) end
    worst = math.max(worst, found)
  end
  return worst
end

---Returns the k items with the highest scores for a user, or for all users. The model must score
---users and items. With equal scores, the item with the lower number comes first. `seen` has the
---items that users already know: ratings, a part of a fold, a fold (its training part), or a table
---of these. `known` says which items of `seen` are left out: "rated" all rated items,
---"relevant" only relevant items, "none" no items. `names`, one for each item, are printed beside the
---recommended items.
---@param options? mr.RecommendOptions
---@return mr.Recommendations
---Example: `#mr.models.mf{users = 2, items = 30, factors = 4}:recommend{user = 1, k = 3}:of(1)   --> 3`
function Model:recommend(options) return recommend.recommend(self, options) end

---Returns the total number of entries (numbers) in all parameters of the model.
---Example: `mr.models.mlp{inputs = 3, hidden = {2}}:size()   --> 11`
function Model:size()
  local n = 0
  for _, parameter in ipairs(self._parameters) do n = n + parameter:numel() end
  return n
end

---Returns the text of an option's value in a saved file. A float is written with 14 digits if they
---give the same number again, else with 17. A list has commas between its elements.
function M.written(value)
  if type(value) == "table" then return table.concat(value, ",") end
  if math.type(value) ~= "float" then return tostring(value) end
  local short = ("%.14g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

---Returns the options of a model as text, sorted by name: "k = 100, users = 30".
function M.options_text(config)
  local parts = {}
  for _, name in ipairs(check.names(config)) do
    local value = config[name]
    parts[#parts + 1] = ("%s = %s"):format(name,
      type(value) == "table" and "{" .. table.concat(value, ", ") .. "}" or tostring(value))
  end
  return core.safe_text(table.concat(parts, ", "))
end

-- Options of mr.models.mlp by which an mlp without hidden layers is the model that mr.models.linear makes. The option
-- `activation` has no effect on it.
local of_linear = { inputs = true, seed = true, dtype = true, hidden = true, activation = true }

-- Returns the name and the options of the constructor that makes a model.
local function constructor_of(model)
  local config = model.config
  if model.kind ~= "mlp" or #config.hidden > 0 then return model.kind, config end
  for name in pairs(config) do
    if not of_linear[name] then return model.kind, config end
  end
  return "linear", { inputs = config.inputs, seed = config.seed, dtype = config.dtype }
end

-- Returns the model as text: its options, and a line for each parameter and buffer.
function Model:__tostring()
  local kind, options = constructor_of(self)
  local lines = { ("%s{%s}, %d parameters"):format(kind, M.options_text(options), self:size()) }
  local names, values = self:state()
  local widths, rows = { 0, 0, 0 }, {}
  for i, name in ipairs(names) do
    rows[i] = { name, ("{%s}"):format(table.concat(values[i]:shape(), ", ")), tostring(values[i]:numel()) }
    for c, text in ipairs(rows[i]) do widths[c] = math.max(widths[c], #text) end
  end
  for i, row in ipairs(rows) do
    local mark = i > #self._names and "  buffer" or ""
    lines[#lines + 1] = ("  %-" .. widths[1] .. "s  %-" .. widths[2] .. "s  %" .. widths[3] .. "s%s"):format(row[1],
      row[2], row[3], mark)
  end
  return table.concat(lines, "\n")
end

---Writes a file of a model: its kind, its options, and its tensors with their names.
function M.write(path, kind, config, names, values)
  local keys, texts = { "kind" }, { kind }
  for _, name in ipairs(check.names(config)) do keys[#keys + 1], texts[#texts + 1] = name, M.written(config[name]) end
  core.make_folder(path)
  core.save_tensors(path, "moonrank model 1", names, values, keys, texts)
end

---Saves the model's parameters, buffers and options to a safetensors file, completely or not at
---all. The folder of the file is created if necessary. An existing file is replaced if it is a
---saved model or empty; any other existing file is an error and is not changed. If `path` is a
---symbolic link, the file that the link leads to is replaced.
---@param path string
function Model:save(path) M.write(path, self.kind, self.config, self:state()) end

return M
