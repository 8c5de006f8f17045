-- Gives Lua the metrics of the core's registry. Each metric is a handle (mr.Metric) that metrics, bounds, losses
-- and evaluations share. Names of metrics, names of options and allowed values all come from the core.
local core = require "moonrank.core"
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local definitions = require "moonrank.system.definitions"

local M = {}

---The ranking of each list by scores. It is computed once, for several metrics.
---@class mr.Ranking

local registry = core.metric_registry()
local on_ranks = {}  -- maps the number `script` of a metric that a script defined to the script's function of ranks
-- metrics that scripts declared by gain and discount: maps the metric's number `script` to the function that computes
-- its gains, discounts and norms (the field `tables` of mr.Metric)
local declared = {}

---An exact metric: called with scores and lists, it returns one value per list.
---@class mr.Metric
---@field name string          e.g. "ndcg@10"
---@field options table        all options, with defaults filled in
---@field minimize boolean     whether lower values are better
---@field base string          its name without k and p
---@field closed_forms boolean whether bounds have closed forms; otherwise they are estimated
---@field swaps boolean        whether the effect of swapping two rows is known, as mr.losses.lambdarank needs
local class = core.classes["mr.Metric"]
local methods, getters = class.methods, class.getters

---Returns true if `x` is a metric, mr.Metric.
function M.is(x) return debug.getmetatable(x) == class.meta end

-- Declarations of options that are conventions of metrics. They have no defaults here: readers of other programs'
-- files use other defaults than mr.evaluate.
local conventions = {
  ties = { "ties", "string", choices = registry:choices "ties",
    help = "order of tied rows: mean takes the mean over all orders; stable puts the lower row number first, worst the "
      .. "less relevant row, trec the larger document id" },
  empty = { "empty", "string", choices = registry:choices "empty",
    help = "value of a list without relevant rows; skip leaves it out of means" },
  relevant = { "relevant", "number", infinite = true, help = "smallest grade of a relevant row" },
  gain = { "gain", "string", choices = registry:choices "gain",
    help = "gain of a grade y in dcg and ndcg: 2^y - 1, y, or 2^(y + 1) - 1" },
  denominator = { "denominator", "string", choices = registry:choices "denominator",
    help = "divisor of ap: P, the number of relevant rows, or min(P, k)" },
}

---Returns the declaration of a function's option that is a convention of metrics, such as `ties`.
---@param name "ties"|"empty"|"relevant"|"gain"|"denominator"
---@param shown string  the default in words, for the documentation
---@return mr.options.Row
function M.convention(name, shown)
  local row = { shown = shown }
  for key, value in pairs(conventions[name]) do row[key] = value end
  return row
end

---Declares the options of mr.evaluate: conventions that apply to all of its metrics.
M.conventions = declare("mr.EvaluateOptions", {
  M.convention("ties", '"mean"'), M.convention("empty", '"skip"; of letor_ndcg "zero"'), M.convention("relevant", "1"),
  M.convention("gain", '"exp2"'), M.convention("denominator", '"relevant"'),
})

local metric_rows = {
  { "k", "integer", least = 1, shown = "all", also = { "cutoff", "at", "topk", "top_k" },
    help = "cutoff: only the first k ranks count, if the metric takes k" },
  { "name", "string", shown = 'such as "ndcg@10"', help = "the metric's name in evaluations" },
  { "top", "number", least = 0, most = 1000, shown = "the largest grade there is",
    help = "largest possible grade, for err" },
}

-- Declarations of the numbers that follow the names of metrics in parentheses, such as p in "rbp(0.8)", by the number's
-- name. Several metrics can have a number with this name.
local parameters = {}
for _, name in ipairs(registry:names()) do
  local metric = registry:parse(name)
  local key = metric.parameter_name
  if key and parameters[key] then
    parameters[key].help = parameters[key].help .. " and " .. name
  elseif key then
    local low, high, help = metric:parameter_range()
    parameters[key] = { key, "number", above = low, below = high, shown = ("%.14g"):format(metric.parameter),
      help = help .. ", in " .. name }
    table.insert(metric_rows, parameters[key])
  end
end

local metric_options = declare("mr.metrics.Options", metric_rows, M.conventions)

local expected_metric = "a metric: its name, or an object such as mr.metrics.ndcg{k = 10}"

---Returns the declaration of a function's option `metric`, which takes a metric's name or a metric.
---@param shown? string  the default in words, for the documentation
---@return mr.options.Row
function M.option(default, help, shown)
  return { "metric", "string|mr.Metric", default = default, shown = shown, help = help, expected = expected_metric,
    accept = function(value) return type(value) == "string" or M.is(value) end }
end

-- Returns true if the metric needs only ranks of relevant rows. Under exp2_plus_one every row has a gain.
local function reads_few(metric)
  return metric.reads_relevant_only and metric.ties == "mean" and metric.options.gain ~= "exp2_plus_one"
end

-- Ranks the rows as the metric needs it; `ranking_key` is equal for metrics that can share a ranking. `few` says
-- that few of many rows are relevant: other rows are then not ranked if the metric does not need their ranks.
function methods:ranking(scores, lists, few)
  if few and reads_few(self) then return core.relevant_ranking(scores, lists, self.relevant) end
  return core.ranking(scores, lists, self.ties, self.relevant)
end
function methods:ranking_key(few)
  return ("%s %.17g%s"):format(self.ties, self.relevant, few and reads_few(self) and " few" or "")
end

---Returns true if the metric has a cutoff `k` and depends on nothing but the ranks of relevant rows,
---with the mean over all orders of tied rows. Rows other than relevant ones then need no rank.
function methods:reads_first() return self.k ~= nil and reads_few(self) end

-- Returns the rule by which a direct call treats lists without relevant rows. Under empty = "skip", DCG is computed by
-- its definition, because with gain = "exp2_plus_one" it is not 0.
local function own_rule(metric)
  if metric.empty ~= "skip" or not metric.zero then return metric.empty end
  return metric.base == "dcg" and "definition" or "zero"
end

-- Computes the metric from ranked rows. `empty` replaces the metric's rule for lists without relevant rows.
function methods:of_ranking(ranking, lists, empty)
  empty = empty or own_rule(self)
  if self.script == 0 then return self:values(ranking, empty) end
  local values = M.of_ranks(self.name, on_ranks[self.script], core.ranks(ranking:double()), lists)
  return core.with_empty(values:to(ranking.dtype), ranking, empty)
end

---Computes the metric of each list: the rows are ranked by score, the highest score first.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        [lists]
class.meta.__call = check.exact("mr.Metric", function(self, scores, lists)
  return self:of_ranking(self:ranking(scores, lists), lists)
end)

---Returns true if the value `a` is better than the value `b`: lower if the metric is minimized,
---else higher. NaN and nil are never better, and any number is better than NaN or nil.
---@param a? number
---@param b? number
---@return boolean
---Example: `mr.metrics.parse("nrbp_loss"):better(0.2, 0.3)   --> true`
function methods:better(a, b)
  for _, value in pairs{ a, b } do  -- not ipairs, which would stop at a value that is nil
    check.expect(type(value) == "number", "metric:better", "value", value, "a number or nil")
  end
  if a == nil or a ~= a then return false end
  if b == nil or b ~= b then return true end
  if self.minimize then return a < b end
  return a > b
end

function class.meta:__tostring() return self.name end

-- True if LambdaRank can use the metric: the change of the metric must be known if two rows swap ranks. The core
-- knows this change for built-in metrics, and tables of gains and discounts give it for declared metrics.
local core_swaps = getters.swaps
function getters:swaps() return declared[self.script] ~= nil or core_swaps(self) end

-- Returns, for a metric declared by gain and discount, a function of lists, which returns gains of rows, discounts of
-- ranks 1, 3/2, 2, ... (two tied rows can share a half rank), and norms of lists; nil for other metrics.
function getters:tables() return declared[self.script] end

local of_all = { "ties", "empty", "relevant" }  -- options that every metric takes, in addition to `name`

-- Returns the values of all options of a metric, by name.
function getters:options()
  local options = {}
  for _, name in ipairs(of_all) do options[name] = self[name] end
  for _, name in ipairs(self:option_names()) do
    if name == self.parameter_name then options[name] = self.parameter else options[name] = self[name] end
  end
  return options
end

-- Raises the error for an unknown metric, which proposes Moonrank's name for "NDCG@10", "MAP" or "ndcg_10".
local function refuse_name(text)
  local small, name = text:lower(), text:match "^[%a_][%w_]*" or text
  local word, k = small:match "^([%a_]-)[_.]?(%d+)$"
  local ours = registry:base(small) and small or word and registry:base(word) and word .. "@" .. k
  local is_metric = ours and check.attempt(registry.parse, registry, ours)
  if is_metric then check.fail_in_call("unknown metric: '%s'; write '%s'", text, ours) end
  check.unknown("metric", name, registry:names())
end

-- Returns the metric's name at the beginning of a text such as "ndcg@10". Without one, raises an error.
local function base_of(text)
  if type(text) ~= "string" then
    check.fail_in_call("metric is %s, expected %s", check.found(text), expected_metric)
  end
  local zero = text:find("\0", 1, true)
  if zero then
    check.fail_in_call("metric '%s': found a zero byte after the name, expected @k or (p)", text:sub(1, zero - 1))
  end
  local base = registry:base(text)
  if not base then refuse_name(text) end
  return base
end

---Returns the sorted names of all metrics, or of those with a property: "swaps" (mr.losses.lambdarank takes them),
---"closed_forms" (their bounds need no estimates) or "has_smooth".
---Example: `require "moonrank.metrics.registry".names("has_smooth")[1]   --> ap`
function M.names(having)
  local names = {}
  for _, name in ipairs(registry:names()) do
    if not having or registry:parse(name)[having] then names[#names + 1] = name end
  end
  return names
end

-- Returns the names of all options of a metric: its special options first, then those that every metric takes.
local function all_options(metric)
  local names = metric:option_names()
  table.sort(names)
  return table.move(of_all, 1, #of_all, #names + 1, names)
end

local function takes(metric, option)
  for _, name in ipairs(all_options(metric)) do
    if name == option then return true end
  end
  return option == "name"
end

---Returns true if the metric named in `text`, such as "nrbp@5", takes this option. An unknown metric is an error.
---Example: `require "moonrank.metrics.registry".takes("nrbp@5", "p")   --> true`
function M.takes(text, option) return takes(registry:parse(base_of(text)), option) end

-- Raises an error if an option is wrong, does not belong to this metric, or contradicts the metric's name.
local function check_options(text, metric, options)
  local where = "mr.metrics." .. text
  metric_options:read(where, options)
  for name, value in pairs(options) do
    if not takes(metric, name) then
      check.unknown("option of " .. where, name, { "name", table.unpack(all_options(metric)) })
    end
    local said = metric[name == metric.parameter_name and "parameter" or name]
    local in_name = name == "k" and text:find "@" or name == metric.parameter_name and text:find "%("
    if in_name and said ~= value then
      check.leave_out(where, name, value, "the name says another value (%s)", said)
    end
  end
end

-- Returns the metric's name with its cutoff and, with `parameter`, its number: "nrbp(0.95)@10".
local function name_with(metric, parameter)
  local number = parameter and ("(%.14g)"):format(metric.parameter) or ""
  return metric.base .. number .. (metric.k and "@" .. metric.k or "")
end

-- Returns the metric's name with all its numbers, even if they have their default values: "nrbp(0.95)" for "nrbp".
function getters:full_name() return name_with(self, self.parameter_name) end

-- Returns the metric's name with those numbers that were given in the name or in `options`: "rbp(0.8)@5".
local function full_name(metric, options)
  if options.k == nil and options[metric.parameter_name or "k"] == nil then return metric.name end
  return name_with(metric, metric.parameter_name and (options[metric.parameter_name] or metric.name:find "%("))
end

---Returns a metric from its name. Errors are an unknown name, an option that the metric does not take
---or that contradicts the name, and a missing cutoff if the metric needs one. If `text` is a metric
---already, it is returned unchanged, and `options` are an error.
---Example: `require "moonrank.metrics.registry".parse("rbp(0.8)@5").options.p   --> 0.8`
---Example: `require "moonrank.metrics.registry".parse("mrr@10").name   --> rr@10`
function M.parse(text, options)
  if M.is(text) then
    if options ~= nil then
      check.leave_out("mr.metrics.parse", "options", options, "metric '%s' has its options already", text.name)
    end
    return text
  end
  base_of(text)
  local metric = registry:parse(text)
  if options then
    check_options(text, metric, options)
    for name, value in pairs(options) do
      if name ~= "name" then metric = metric:with(name, value) end
    end
    metric = metric:with("name", options.name or full_name(metric, options))
  end
  if metric.needs_k and not metric.k then
    check.fail_in_call("metric '%s' needs k, as in '%s@10'", text, text)
  end
  return metric
end

---Returns a metric for a loss. A metric that needs the largest grade, but does not have it, is an error.
---@param where string  name of the loss, for errors
---@param metric mr.Metric
---@return mr.Metric
function M.with_top(where, metric)
  check.expect(not metric.lacks_top, where, "metric", metric.name,
    "a metric with the largest grade, such as mr.metrics.%s{top = 4}", metric.base)
  return metric
end

---Returns the text that `moonrank doc` prints for a metric: its options, and the bounds and losses
---that it works with. Returns nil if no metric has this name.
---@param text string  "ndcg@10", "metrics.ndcg"
---@return string? text
---@return string? base  the metric's name without parameters
---Example: `require "moonrank.metrics.registry".written("map"):match "[^\n]*"   --> metric "ap", also called map`
function M.written(text)
  local found, metric = check.attempt(registry.parse, registry, text:match "^[%a_][%w_.]*%.(%a.*)$" or text)
  if not found then return nil end
  local also = table.concat(metric.also, ", ")
  local lines = { ('metric "%s"%s'):format(metric.base, also ~= "" and ", also called " .. also or ""), "" }
  if metric.about ~= "" then table.move({ metric.about, "" }, 1, 2, 3, lines) end
  local function add(name, value) lines[#lines + 1] = ("  %-12s %s"):format(name, value) end
  add("better", metric.minimize and "less" or "more")
  add("options", table.concat(all_options(metric), ", "))
  add("bounds", require("moonrank.bounds.list_stats").of(metric).words)
  add("lambdarank", metric.swaps and "yes" or "no, what a swap changes is not known")
  add("smooth", metric.has_smooth and ("yes (mr.smooth.%s)"):format(metric.base) or "no")
  return table.concat(lines, "\n"), metric.base
end

---Returns a table of those given options that the metric named in `text` takes. An unknown metric is an error.
---Example: `require "moonrank.metrics.registry".taken("rr", {gain = "linear", ties = "worst"}).gain   --> nil`
function M.taken(text, options)
  local taken = {}
  for name, value in pairs(options) do taken[name] = M.takes(text, name) and value or nil end
  return taken
end

---Raises an error if a convention (ties, empty, relevant, gain, denominator) was given in `options` but none of the
---metrics uses it. Without metrics, raises none.
---@param options table    as in mr.evaluate
---@param metrics mr.Metric[]  made with these options
function M.check_read(where, options, metrics)
  for _, row in ipairs(M.conventions.rows) do
    local option, reads, names = row[1], false, {}
    for i, each in ipairs(metrics) do
      local plain = type(each) == "table" and each.metric or each
      reads = reads or plain.options[option] ~= nil and not (option == "relevant" and plain.sums_gains)
      names[i] = each.name
    end
    if options[option] ~= nil and not reads and #metrics > 0 then
      check.leave_out(where, option, options[option], "none of the metrics reads it (%s)", table.concat(names, ", "))
    end
  end
end

---Registers a metric that a script defined by a function of exact ranks. The function gets float64
---ranks and lists, whatever the type of the scores.
---@param f fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
---@param minimize boolean  whether lower values are better
---@param tables? fun(lists: mr.Lists): mr.Tensor, mr.Tensor, mr.Tensor  gains, discounts, norms, for LambdaRank
---@param what? table  the script's own argument, if it declared gain and discount instead of a function
function M.define(name, f, minimize, tables, what)
  local known = registry:base(name) and registry:parse(name)
  local was_f, was_tables = known and on_ranks[known.script], known and declared[known.script]
  local function put(of_ranks, less, of_tables)
    local number = registry:define(name, less)
    on_ranks[number], declared[number] = of_ranks, of_tables
  end
  put(f, minimize, tables)
  local function restore()
    if was_f then put(was_f, known.minimize, was_tables) end
  end
  definitions.note("metric", name, what or f, restore)
end

---Calls `f`, a script's function of exact ranks for the metric `name`, on the default device and with relevance in the
---dtype of the ranks. Returns its result on the device of `ranks`. A result other than one value per list is an error.
---@param f fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
function M.of_ranks(name, f, ranks, lists)
  local values = f(ranks:to(core.device()), lists:to(ranks.dtype))
  return check.one_per("list", "metric " .. name, values, lists.count):to(ranks.device)
end

---Returns the registry's name of a metric, without k and p and not as an alias. Returns nil if there is no such metric.
---Example: `require "moonrank.metrics.registry".known("map@5")   --> ap`
function M.known(text) return registry:base(text) end

---Replaces an alias of a metric in the name of a result by Moonrank's own name: "valid_mrr@10"
---becomes "valid_rr@10". Other names are returned unchanged.
---Example: `require "moonrank.metrics.registry".our_name "valid_mrr@10"   --> valid_rr@10`
function M.our_name(name)
  if type(name) ~= "string" then return name end
  local prefix, text = name:match "^(valid_)(.+)$"
  if not prefix then prefix, text = name:match "^(test_)(.+)$" end
  text = text or name
  local base = registry:base(text)
  return base and (prefix or "") .. text:gsub("^[%w_]+", base, 1) or name
end

---Makes a table of values by metric name readable by aliases, too: values.map is values.ap. An unknown name gives nil,
---or with `what` an error, unless the table is empty.
---@param what? string  owner of the values, for messages
---@return table<string, any>
---Example: `require "moonrank.metrics.registry".by_any_name({["rr@5"] = 0.25})["mrr@5"]   --> 0.25`
function M.by_any_name(values, what)
  return setmetatable(values, { __index = function(_, name)
    local value = rawget(values, M.our_name(name))
    if value == nil and what and next(values) ~= nil then
      check.unknown("metric of " .. what, name, check.names(values))
    end
    return value
  end })
end

---Returns "maximize" or "minimize" for the name of a metric. The name may have the prefix "valid_" or "test_", or a
---bound, as in "ndcg[minmax]". Returns nil for other names, and for aliases of metrics such as "map".
---Example: `require "moonrank.metrics.registry".direction("valid_nrbp_loss")   --> minimize`
---Example: `require "moonrank.metrics.registry".direction("seconds")   --> nil`
function M.direction(name)
  name = name:gsub("%[[%w_]+%]$", "")
  for _, text in ipairs{ name, name:match "^valid_(.+)$" or name, name:match "^test_(.+)$" or name } do
    -- Only a metric's own name gives a direction, not its alias: a result that a trial calls "p" or "r" is not
    -- necessarily precision or recall.
    if registry:base(text) == text:match "^[%w_]*" then
      local found, metric = check.attempt(registry.parse, registry, text)
      if found then return metric.minimize and "minimize" or "maximize" end
    end
  end
  return nil
end

-- Directions ("minimize" or "maximize") of common results other than ranking metrics, such as "rmse" and "accuracy".
local usual = {}
for _, name in ipairs{ "rmse", "mae", "mse", "mape", "error", "error_rate", "loss", "log_loss", "logloss", "nll",
  "cross_entropy", "perplexity", "brier", "wall", "memory", "attempts", "seconds", "time", "latency" } do
  usual[name] = "minimize"
end
for _, name in ipairs{ "value", "accuracy", "coverage", "r2", "log_likelihood" } do usual[name] = "maximize" end

---Returns "maximize" or "minimize" for the name of a result: a metric or its alias of more than one letter, a common
---result such as "rmse", "seconds" or "accuracy", or a name that ends in "loss". The name may have the prefix "valid_",
---"test_" or "train_". Returns nil for other names; the caller then asks for a direction.
---Example: `require("moonrank.metrics.registry").usual_direction("valid_rmse")   --> minimize`
---Example: `require("moonrank.metrics.registry").usual_direction("pair_loss")   --> minimize`
---Example: `require("moonrank.metrics.registry").usual_direction("profit")   --> nil`
function M.usual_direction(name)
  local plain = name:match "^valid_(.+)$" or name:match "^test_(.+)$" or name:match "^train_(.+)$" or name
  -- aliases of one letter are ignored: a result "p" or "r" is not necessarily precision or recall
  local ours = #plain:match "^[%w_]*" > 1 and M.our_name(plain)
  return M.direction(name) or usual[plain] or ours and M.direction(ours) or plain:find "loss$" and "minimize" or nil
end

---Returns the metric as a function that takes exact ranks [rows] and lists, and returns one value per list. The ranks
---within a list must differ: there are no ties.
---@return fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
function M.on_ranks(metric)
  local f = on_ranks[metric.script]
  -- The metric gets the negative ranks as scores. Different ranks have no ties, so the rule for ties does not change
  -- the value. It is replaced because the rule "trec" would need document ids.
  local plain = metric:with("empty", "skip"):with("ties", "mean")
  if not f then return function(ranks, lists) return plain(-ranks, lists) end end
  return function(ranks, lists) return M.of_ranks(metric.name, f, ranks, lists) end
end

return M
