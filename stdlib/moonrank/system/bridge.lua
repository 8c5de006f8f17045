-- The C interface (runtime/embed/moonrank.h) calls these functions. Each takes a value from another program and returns
-- one. Values are texts, numbers, booleans and tables of these. Tensors are passed separately, in an array. In a value,
-- the table {["\0array"] = i} stands for tensor i of that array.
local mr = require "moonrank"
local core = require "moonrank.core"
local bounds = require "moonrank.bounds"
local check = require "moonrank.check"
local evaluate = require "moonrank.evaluate"
local frame = require "moonrank.sweep.frame"
local losses = require "moonrank.losses.loss"
local metric_names = require "moonrank.metrics.registry"
local newton = require "moonrank.losses.newton"
local only_fit = require("moonrank.losses.options").only_fit
local operations = require "moonrank.tensor.operations"
local random = require "moonrank.tensor.random"
local show = require "moonrank.prompt.show"

local M = {}

-- a script must not end the program that uses the library
os.exit = function()  -- luacheck: ignore 122
  check.fail("os.exit: the script runs inside another program, which it cannot end. Return from the script instead")
end

local array_key <const> = "\0array"
local deepest <const>, most <const> = 60, 1000000  -- limits of nesting and of the number of tables in a result

-- Returns a value of the calling program with tensor i of `arrays` in place of each table {["\0array"] = i}.
local function received(value, arrays)
  if type(value) ~= "table" then return value end
  if value[array_key] then return arrays[value[array_key]] end
  for key, each in next, value do value[key] = received(each, arrays) end
  return value
end

-- Returns the columns and rows of a table of results, or of the table that an object's method `table` returns; nil for
-- other values.
local function columns_and_rows(value)
  local has_class = type(debug.getmetatable(value)) == "table"
  local to_table = has_class and check.field(value, "table")
  local found = to_table and to_table(value) or value
  local columns, rows = rawget(found, "columns"), rawget(found, "rows")
  return has_class and columns and rows and { columns = columns, rows = rows } or nil
end

local function refuse(value, why)
  check.fail("the result has a %s%s, expected tables, tensors, texts, numbers or booleans", check.kind(value),
    why or "")
end

local plain = { ["nil"] = true, boolean = true, number = true, string = true }

-- Converts a value to the form in which it is sent to the calling program. Appends the tensors in it to `arrays`.
local function sent(value, arrays, depth)
  if plain[type(value)] then return value end
  arrays.count = (arrays.count or 0) + 1
  if arrays.count > most then refuse(value, (" beside more than %d others"):format(most)) end
  if check.is_tensor(value) then
    arrays[#arrays + 1] = value:detach()
    return { [array_key] = #arrays }
  end
  if type(value) ~= "table" then refuse(value) end
  if depth > deepest then refuse(value, " nested too deep") end
  local meta = debug.getmetatable(value)
  local plain_table = columns_and_rows(value) or not (meta and rawget(meta, "__name")) and value
  if not plain_table then refuse(value) end
  local out = {}
  for key, each in next, plain_table do
    if type(key) ~= "string" and type(key) ~= "number" or key == array_key then
      check.fail("the result has a table with a key of type %s, expected texts and numbers", type(key))
    end
    out[key] = sent(each, arrays, depth + 1)
  end
  return out
end

---Functions by name, which another program calls by `call`. Each gets the received value and all arrays. The second
---result, if any, is a list of arrays that are sent back; tensors within the first result are appended to it.
---@type table<string, fun(value: any, arrays: mr.Tensor[]): any, mr.Tensor[]?>
M.functions = {}

---Calls one of `functions` with a value in the format of moonrank.sweep.frame.
---@param name string
---@param bytes string        the value
---@param arrays mr.Tensor[]  arrays that the value names
---@return string bytes       the result
---@return mr.Tensor[] arrays
function M.call(name, bytes, arrays)
  local f = M.functions[name] or check.choice("moonrank_call", "the function", name, check.names(M.functions))
  local value, out = f(received(#bytes > 0 and frame.unpack(bytes) or nil, arrays), arrays)
  out = out or {}
  return frame.pack(sent(value, out, 0)), out
end

-- Objects that the calling program uses again in later calls, by the number that it got for the object.
local kept, last_number = {}, 0

local function keep(value)
  last_number = last_number + 1
  kept[last_number] = value
  return last_number
end

-- Returns the judged lists of a call: lists that an earlier call made and kept, or new lists from the grades of all
-- rows and the number of rows of each list. If the call passes weights, they replace the weights of kept lists.
local function lists_of(t)
  local lists = t.lists and kept[t.lists] or mr.lists{ relevance = t.grades, sizes = t.sizes }
  if not t.row_weights and not t.list_weights then return lists end
  return lists:weighted{ weights = t.row_weights, list_weights = t.list_weights }
end

-- Calls f with the further arguments and returns its result. An error of f says that the argument `name` is wrong.
local function of_argument(name, f, ...)
  local ok, found = check.attempt(f, ...)
  if ok then return found end
  local reason = check.reason(found)
  local part, text = reason:match "^bad argument '(%w+)' to '[^']*' (%b())$"
  if part then reason = part == "metric" and text:sub(2, -2) or ("%s is %s"):format(part, text:sub(2, -2)) end
  check.fail("bad argument '%s' to 'moonrank' (%s)", name, reason)
end

-- Returns the metrics of a call under the names that the caller wrote; a name that was written twice counts once.
local function metrics_of(t)
  local ok, found = check.attempt(evaluate.metrics_of, t.metrics, t.options)
  if not ok then
    for _, name in ipairs(t.metrics) do of_argument("metrics", evaluate.metrics_of, { name }) end
    error(found, 0)
  end
  local metrics, seen = {}, {}
  for i, each in ipairs(found) do
    local name = t.metrics[i]
    if not seen[name] then seen[name], metrics[#metrics + 1] = true, evaluate.named(each, name) end
  end
  return metrics
end

local function evaluation_of(t, scores, lists) return mr.evaluate(scores, lists, metrics_of(t)) end

-- Returns the mean of each metric over the lists. It is computed in float64, because `found.mean` has means of values
-- in the dtype of the scores, which may be rounded to float32. For lists with weights, it is the weighted mean in
-- `found.mean`.
local function exact_means(found)
  local means = {}
  for i, name in ipairs(found.names) do
    local mean, _, _, skipped = core.summary(evaluate.exact(found, name))
    if rawget(found, "_weights") then mean = found.mean[name] end
    means[name] = found.metrics[i].empty == "nan" and skipped > 0 and 0 / 0 or mean
  end
  return means
end

-- Returns the loss that a text describes: a name, a name with a bound ("ndcg:expectation"), or a Lua expression. If
-- `learns` is false, a loss given by name has constant parameters.
local function loss_of(text, options, learns)
  local name, bound = text:match "^([%w_]+):([%w_]+)$"
  name = name or text:match "^[%w_]+$"
  if name then
    options = options or {}
    options.bound = bound or options.bound
    if options.bound then of_argument("bound", bounds.resolve, options.bound) end
    if type(options.metric) == "string" then of_argument("metric", metric_names.parse, options.metric) end
    for option, why in next, only_fit do
      if not (learns and option == "learn") then
        check.leave_out("mr.losses." .. name, option, options[option] or nil, why)
      end
    end
    local loss = check.choice("loss", "name", name, mr.losses.names()) and mr.losses[name](options)
    if learns or #loss:parameters() == 0 then return loss end
    options.learn = false
    return mr.losses[name](options)
  end
  local chunk, why = load("local mr = require 'moonrank' return " .. text, "=loss", "t")
  if not chunk then check.fail("loss: '%s' is neither a name nor a Lua expression (%s)", core.safe_text(text), why) end
  local loss = chunk()
  local is_loss = type(loss) == "table" and check.field(loss, "mean") and check.field(loss, "bound_name")
  return check.expect(is_loss, "loss", ("'%s'"):format(core.safe_text(text)), loss, "a loss such as mr.losses.ndcg{}")
end

-- Runs a Lua script, in which the table `mr` and the given variables are defined. Globals that the script sets remain
-- for later scripts. Returns a list of all values that the script returned, with their number in the field `n`.
function M.functions.script(t)
  local variables = setmetatable(t.variables or {}, { __index = _G, __newindex = _G })
  if rawget(variables, "mr") == nil then rawset(variables, "mr", mr) end
  local chunk, why = load(t[1], "=" .. (t[2] or "script"), "t", variables)
  if not chunk then check.fail("%s", why) end
  local found = table.pack(pcall(chunk))
  if found[1] then return table.pack(table.unpack(found, 2, found.n)) end
  local problem = found[2]
  -- the calling program gets only a text, so the fields of a raised table would be lost
  if show.is_plain(problem) then problem = "the error is a table: " .. show.text(problem):gsub("%s*\n%s*", " ") end
  error(problem, 0)
end

-- Frees tensors that no script uses any more. This also releases arrays of the calling program that such tensors use.
function M.functions.collect() collectgarbage() end

function M.functions.release(t) kept[t.object] = nil end

function M.functions.lists(t) return keep(lists_of(t)) end

-- Computes a loss: its "mean" over the lists that count, or its "sum", in which weights of lists count, or for "none" a
-- value per list.
local function reduced(loss, scores, lists, reduction)
  if reduction == "mean" then return loss:mean(scores, lists) end
  local values = loss(scores, lists)
  return reduction == "sum" and losses.times_list_weights(values, lists):sum() or values
end

-- Computes a loss and, if wanted, its gradient by scores; `seed` multiplies the loss's values in the gradient.
local function differentiated(loss, scores, lists, reduction, wants_gradient, seed)
  if not wants_gradient then return reduced(loss, scores, lists, reduction) end
  scores:requires_grad()
  local values = reduced(loss, scores, lists, reduction)
  if values.tracked then values:backward(seed) end
  local gradient = scores.grad
  -- removes the gradient from `scores`, so that only the caller holds it and its memory can be freed
  core.set_grad(scores, nil)
  return values, gradient
end

-- Joins the parameters of a loss into one float64 tensor. If the function `of` is given, joins the tensors that it
-- returns for the parameters instead. Returns nil if the loss has no parameters.
local function all_parameters(loss, of)
  local parts = loss:parameters()
  for i, parameter in ipairs(parts) do parts[i] = (of and of(parameter) or parameter:detach()):double():to("cpu") end
  return #parts > 0 and operations.cat(parts) or nil
end

local function gradient_of(parameter) return parameter.grad or parameter:detach() * 0 end

local function set_parameters(loss, numbers)
  local at = 1
  for _, parameter in ipairs(loss:parameters()) do
    local part = numbers:narrow(1, at, #parameter)
    core.restore(parameter, part:to(parameter.dtype):to(parameter.device))
    parameter:zero_grad()
    at = at + #parameter
  end
end

---Computes a loss that an earlier call made and kept, for a training loop of another program (moonrank_loss_step).
---@param loss integer               number under which the loss is kept
---@param lists mr.Lists|integer     judged lists, or the number under which lists are kept
---@param scores mr.Tensor           [rows], without a graph
---@param reduction "mean"|"sum"|"none"
---@param wants_gradient boolean
---@param seed? mr.Tensor            [lists] what multiplies the values in the gradient of "none"
---@param draw_again? integer        `drawn` of an earlier call, whose random numbers the loss draws again
---@param row_weights? mr.Tensor     [rows] replace the weights of kept lists, as do `list_weights` [lists]
---@param list_weights? mr.Tensor
---@param parameters? mr.Tensor      [entries] numbers of the loss's own parameters
---@return mr.Tensor values
---@return mr.Tensor? gradient
---@return integer drawn
---@return mr.Tensor? parameters     the loss's own parameters after the call, which may have changed them
---@return mr.Tensor? parameter_gradient
function M.step(loss, lists, scores, reduction, wants_gradient, seed, draw_again, row_weights, list_weights, parameters)
  check.expect(kept[loss], "moonrank_loss_step", "loss", loss, "the number of a kept loss")
  loss, lists = kept[loss], kept[lists] or lists
  if row_weights or list_weights then lists = lists:weighted{ weights = row_weights, list_weights = list_weights } end
  if parameters then set_parameters(loss, parameters) end
  local drawn = random.calls()
  if draw_again then random.go_back(draw_again) end
  local values, gradient = differentiated(loss, scores, lists, reduction, wants_gradient, seed)
  if draw_again then random.go_back(drawn) end
  if not parameters then return values, gradient, drawn end
  return values, gradient, drawn, all_parameters(loss), wants_gradient and all_parameters(loss, gradient_of) or nil
end

-- Makes and keeps a loss. Returns its number and, if it learns and has parameters, their initial values.
function M.functions.loss(t)
  local loss = loss_of(t.loss, t.options, t.learns)
  return { object = keep(loss), parameters = all_parameters(loss) }
end

-- Computes the first and second derivatives of a loss, which an earlier call made and kept, with respect to each score,
-- for Newton steps of trees. Also returns the loss of each list.
function M.functions.derivatives(t)
  local lists = lists_of(t)
  local first, second, values = newton.derivatives(kept[t.loss], t.scores:double(), lists)
  return { first = first, second = second, values = values }
end

function M.functions.evaluate(t)
  local found = evaluation_of(t, t.scores, lists_of(t))
  local values = {}
  for _, name in ipairs(found.names) do values[name] = evaluate.exact(found, name) end
  return { names = found.names, mean = exact_means(found), values = values, counted = found.counted,
    skipped = found.skipped, text = tostring(found) }
end

-- Returns the names of the metrics that a call names, and for each metric whether larger values are better.
function M.functions.metrics(t)
  local metrics, names, maximize = metrics_of(t), {}, {}
  for i, each in ipairs(metrics) do names[i], maximize[i] = each.name, not each.minimize end
  return { names = names, maximize = maximize }
end

-- Evaluates scores by metrics and returns each metric's mean over the lists.
function M.functions.means(t) return exact_means(evaluation_of(t, t.scores, lists_of(t))) end

function M.functions.bounds_of(t)
  local out = {}
  local metric = of_argument("metric", metric_names.parse, t.metric)
  for name, value in next, mr.bounds.of(metric, t.shape) do out[name] = plain[type(value)] and value or nil end
  return out
end

function M.functions.distribution(t)
  local metric = of_argument("metric", metric_names.parse, t.metric)
  local found = mr.bounds.distribution(metric, t.options)
  return { object = keep(found), mean = found:mean(), sd = found:sd(), min = found:min(), max = found:max(),
    method = found:method(), text = tostring(found) }
end

function M.functions.pmf(t) return { kept[t.object]:pmf() } end

function M.functions.cdf(t) return kept[t.object]:cdf(t.at) end

function M.functions.quantile(t) return kept[t.object]:quantile(t.at) end

-- Compares systems, each with scores of all rows. Every system is first evaluated as by the function `evaluate`. If
-- mr.compare got the scores themselves, it would read them as a run of documents, whose ids decide ties. `conventions`
-- are the options of mr.evaluate.
function M.functions.compare(t)
  local options, lists, systems = t.options or {}, lists_of(t), {}
  local by = { metrics = t.metrics, options = t.conventions }
  for name, scores in next, t.systems do systems[name] = evaluation_of(by, scores, lists) end
  options.systems, options.order = systems, t.order
  local found = mr.compare(options)
  local means = found:table()
  return { systems = found.systems, means = means, tests = found:tests(), notes = means.notes,
    text = tostring(found), latex = found:to_latex(), markdown = found:to_markdown(), html = found:to_html() }
end

-- Returns the names of all losses, metrics and bounds.
function M.functions.names()
  return { losses = mr.losses.names(), metrics = mr.metrics.names(), bounds = mr.bounds.names() }
end

-- Returns the documentation of all losses and of the options of evaluations.
function M.functions.declared()
  local declared = require "moonrank.help.declared"
  return { losses = declared.losses(), evaluate = declared.options "mr.EvaluateOptions" }
end

function M.functions.threads(t) return mr.threads(t.n) end

function M.functions.about(t) return require("moonrank.help").about(t.name) end

-- Adds functions that the Jupyter kernel (python/moonrank/kernel.py) calls. moonrank.prompt.notebook documents them.
for _, name in ipairs{ "begin", "cell", "complete", "inspect", "state_of" } do
  M.functions["notebook_" .. name] = function(t) return require("moonrank.prompt.notebook")[name](t) end
end

-- Called by the C interface: returns the mean over lists of the metric named `t[1]`, and its value for each list.
function M.functions.evaluate_one(t, arrays)
  local lists = mr.lists{ relevance = arrays[2], sizes = arrays[3] }
  local found = mr.evaluate(arrays[1], lists, { t[1] })
  local name = found.names[1]
  return nil, { mr.tensor(exact_means(found)[name], { dtype = "float64" }), evaluate.exact(found, name) }
end

-- Called by the C interface: returns the mean over lists of the loss that the text `t[1]` describes. If `t[2]` is
-- "all", also returns the gradient with respect to the scores.
function M.functions.loss_mean(t, arrays)
  local lists, wants_gradient = mr.lists{ relevance = arrays[2], sizes = arrays[3] }, t[2] == "all"
  local value, gradient = differentiated(loss_of(t[1]), arrays[1], lists, "mean", wants_gradient)
  return nil, { value:double():detach(), wants_gradient and (gradient or arrays[1]:detach() * 0) or nil }
end

return M
