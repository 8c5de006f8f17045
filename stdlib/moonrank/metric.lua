-- What an exact metric is: a name, options, and values per list from a ranking. `definitions` says which there are; mr.metrics shows them.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local none = check.none

-- own: options besides those that all take, with defaults; zero: the definition gives 0 for a list without relevant rows.
local definitions = {
  dcg = { own = { k = none, gain = "exp2" }, zero = true, values = function(r, o) return core.dcg(r, o.k, o.gain, false, o.empty) end },
  ndcg = { own = { k = none, gain = "exp2" }, values = function(r, o) return core.dcg(r, o.k, o.gain, true, o.empty) end },
  err = { own = { k = none, top = none }, zero = true,
    values = function(r, o) return core.expected_reciprocal_rank(r, o.k, o.top, o.empty) end },
  ap = { own = { k = none, denominator = "relevant" },
    values = function(r, o) return core.average_precision(r, o.k, o.denominator, o.empty) end },
  rbp = { own = { p = 0.95, k = none }, zero = true,
    values = function(r, o) return core.rank_biased_precision(r, o.p, false, o.k, o.empty) end },
  nrbp = { own = { p = 0.95, k = none }, values = function(r, o) return core.rank_biased_precision(r, o.p, true, o.k, o.empty) end },
  nrbp_loss = { own = {}, zero = true, minimize = true, values = function(r, o) return core.nrbp_loss(r, o.empty) end },
  rr = { own = { k = none }, zero = true, values = function(r, o) return core.first_relevant(r, o.k, true, o.empty) end },
  hit = { own = { k = none }, zero = true, needs_k = true,
    values = function(r, o) return core.first_relevant(r, o.k, false, o.empty) end },
  precision = { own = { k = none }, zero = true, needs_k = true, values = function(r, o) return core.hits_at(r, o.k, "k", o.empty) end },
  recall = { own = { k = none }, needs_k = true, values = function(r, o) return core.hits_at(r, o.k, "relevant", o.empty) end },
  f1 = { own = { k = none }, needs_k = true, values = function(r, o) return core.hits_at(r, o.k, "both", o.empty) end },
  r_precision = { own = {}, values = function(r, o) return core.hits_at(r, nil, "relevant", o.empty) end },
  auc = { own = {}, values = function(r, o) return core.auc(r, o.empty) end },
  bpref = { own = {}, values = function(r, o) return core.bpref(r, o.empty) end },
}

---@class mr.Metric
---@field name string        e.g. "ndcg@10"
---@field options table      all of them, defaults filled in
---@field minimize boolean   whether less is better
local Metric = check.class("mr.Metric")

-- Key of the ranking that the metric reads, so that metrics share it.
function Metric:_ranking_key() return ("%s %.17g"):format(self.options.ties, self.options.relevant) end

function Metric:_rank(scores, lists) return core.ranking(scores, lists, self.options.ties, self.options.relevant) end

-- `empty`: instead of the metric's own rule for lists without relevant rows.
function Metric:_values(ranking, lists, empty)
  local o = setmetatable({ empty = empty or self._empty }, { __index = self.options })
  return self._compute(ranking, o, lists)
end

---One value per list.
---@param scores mr.Tensor  [rows]
---@param lists mr.Lists
---@return mr.Tensor        [lists]
function Metric:__call(scores, lists) return self:_values(self:_rank(scores, lists), lists) end

---Whether one value is better than another: less where the metric is to be minimised. NaN, or no value, is never better, and anything is
---better than it.
---@param a? number
---@param b? number
---@return boolean
---Example: `mr.metrics.parse("nrbp_loss"):better(0.2, 0.3)   --> true`
function Metric:better(a, b)
  if a == nil or a ~= a then return false end
  if b == nil or b ~= b then return true end
  if self.minimize then return a < b end
  return a > b
end

function Metric:__tostring() return self.name end

---Names of all metrics, sorted.
---@return string[]
function M.names()
  local names = {}
  for name in pairs(definitions) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- "ndcg@10" -> "ndcg", {k = 10}; "nrbp(0.95)" -> "nrbp", {p = 0.95}; "rbp(0.8)@5" both.
local function taken_apart(text)
  local base, rest = text:match("^([%a_][%w_]*)(.*)$")
  if not base or not definitions[base] then check.unknown("metric", base or text, M.names()) end
  local own = {}
  local p, after = rest:match("^%(([%d.]+)%)(.*)$")
  if tonumber(p) then own.p, rest = tonumber(p), after end
  local k, last = rest:match("^@(%d+)(.*)$")
  if k then own.k, rest = math.tointeger(tonumber(k)), last end
  if rest ~= "" then check.fail("metric '%s': found '%s' after the name, expected @k or (p)", text, rest) end
  return base, own
end

local function merged_options(text, definition, own, options)
  local defaults = { ties = "mean", empty = "skip", relevant = 1, name = none }
  for name, value in pairs(definition.own) do defaults[name] = value end
  local o = check.options("mr.metrics." .. text, options, defaults)
  for name, value in pairs(own) do
    if definition.own[name] == nil then check.fail("metric '%s' takes no %s", text, name) end
    if options and options[name] ~= nil and options[name] ~= value then
      check.fail("metric '%s': %s = %s among the options says otherwise", text, name, tostring(options[name]))
    end
    o[name] = value
  end
  if o.k ~= nil and math.type(o.k) ~= "integer" then check.fail("metric '%s': k is %s, expected an integer", text, tostring(o.k)) end
  if definition.needs_k and not o.k then check.fail("metric '%s' needs k, as in '%s@10'", text, text) end
  if o.relevant ~= o.relevant then check.fail("metric '%s': relevant is NaN, expected a grade", text) end
  return o
end

-- The name that says k and p, wherever they were given.
local function full_name(text, base, options)
  if not options or (options.k == nil and options.p == nil) then return text end
  local p = options.p or tonumber(text:match("%((.-)%)"))
  local k = options.k or text:match("@(%d+)")
  return base .. (p and ("(%.14g)"):format(p) or "") .. (k and "@" .. k or "")
end

---A metric from its name, or the metric itself where one is given.
---@param text string|mr.Metric
---@param options? mr.metrics.Options
---@return mr.Metric
---Example: `require "moonrank.metric".parse("rbp(0.8)@5").options.p   --> 0.8`
function M.parse(text, options)
  if getmetatable(text) == Metric then
    if options then check.fail("metric '%s' has its options already", text.name) end
    return text
  end
  if type(text) ~= "string" then check.fail("mr.metrics.parse: a name expected, got a %s", type(text)) end
  local base, own = taken_apart(text)
  local definition = definitions[base]
  local o = merged_options(text, definition, own, options)
  local name = o.name or full_name(text, base, options)
  o.name = nil
  return setmetatable({ name = name, options = o, minimize = definition.minimize or false, _compute = definition.values,
    _empty = o.empty == "skip" and definition.zero and "zero" or o.empty }, Metric)
end

---Those of the options that the metric of this name takes.
---@param text string
---@param options table
---@return table
---Example: `require "moonrank.metric".taken("rr", {gain = "linear", ties = "worst"}).gain   --> nil`
function M.taken(text, options)
  local definition, taken = definitions[taken_apart(text)], {}
  for name, value in pairs(options) do
    if name == "ties" or name == "empty" or name == "relevant" or definition.own[name] ~= nil then taken[name] = value end
  end
  return taken
end

---Adds a metric of exact ranks; the lists that its function gets read as the ranks' type.
---@param name string
---@param f fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
---@param minimize boolean  whether less is better
function M.define(name, f, minimize)
  definitions[name] = { own = {}, minimize = minimize, on_ranks = f, values = function(ranking, o, lists)
    return core.with_empty(M.of_ranks(name, f, core.ranks(ranking), lists), ranking, o.empty)
  end }
  require("moonrank.estimate").forget(name)
end

---What a function of ranks gives: one value per list of the ranks' type, as the relevance that it reads is.
---@param name string
---@param f fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
---@param ranks mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function M.of_ranks(name, f, ranks, lists)
  local values = f(ranks, lists:to(ranks.dtype))
  if type(values) ~= "userdata" or values.dims ~= 1 or #values ~= lists.count then
    check.fail("metric '%s': its function of ranks returned %s, expected one value per list (%d)", name,
      type(values) == "userdata" and "a tensor of another shape" or "a " .. type(values), lists.count)
  end
  return values
end

---Whether there is a metric of this name, without k and p.
---@param base string
---@return boolean
---Example: `require "moonrank.metric".known("err")   --> true`
function M.known(base) return definitions[base] ~= nil end

---Whether less of it is better.
---@param text string
---@return boolean
---Example: `require "moonrank.metric".minimizes("nrbp_loss")   --> true`
function M.minimizes(text) return definitions[taken_apart(text)].minimize or false end

-- Whether a name is that of a metric, with k and p or without: its definition.
local function definition_of(name)
  local base, rest = name:match "^([%a_][%w_]*)(.*)$"
  local plain = rest and rest:gsub("^%([%d.]+%)", ""):gsub("^@%d+$", "")
  return plain == "" and definitions[base] or nil
end

---In which direction the metric of this name is better, also as "valid_..." or "test_...", as trials call their numbers; nil where it is none.
---@param name string
---@return "maximize"|"minimize"|nil
---Example: `require "moonrank.metric".direction("valid_nrbp_loss")   --> minimize`
---Example: `require "moonrank.metric".direction("seconds")   --> nil`
function M.direction(name)
  local found = definition_of(name) or definition_of(name:match "^valid_(.+)$" or "") or definition_of(name:match "^test_(.+)$" or "")
  return found and (found.minimize and "minimize" or "maximize") or nil
end

---The same, and "minimize" for what is called a loss.
---@param name string
---@return "maximize"|"minimize"|nil
---Example: `require "moonrank.metric".usual_direction("pair_loss")   --> minimize`
function M.usual_direction(name) return M.direction(name) or name:find "loss$" and "minimize" or nil end

---The metric as a function of exact ranks (all different) and lists.
---@param text string
---@return fun(ranks: mr.Tensor, lists: mr.Lists): mr.Tensor
---Example: `require "moonrank.metric".on_ranks("err")(mr.tensor{2, 1, 3}, mr.lists{{0, 1, 0}}):item()   --> 0.5`
function M.on_ranks(text)
  local definition = definitions[taken_apart(text)]
  if not definition.on_ranks then
    local parsed = M.parse(text)
    return function(ranks, lists) return parsed(-ranks, lists) end
  end
  return function(ranks, lists) return M.of_ranks(text, definition.on_ranks, ranks, lists) end
end

return M
