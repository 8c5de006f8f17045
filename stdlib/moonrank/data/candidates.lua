-- What a model ranks for each user of a fold: the full catalogue, or sampled items. Lists are made block by block.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local evaluate = require "moonrank.evaluate"
local phase = require "moonrank.phase"
local seen = require "moonrank.data.seen"
local tensors = require "moonrank.tensor"

local M = {}

local rows_of_block = 1 << 20

---The items that users have in parts, where the grade is above 0.
---@param parts mr.Dataset[]  with users and items
---@param users integer       number of users
---@param items integer       number of items
---@return any                mr.UserItems of the core
function M.user_items(parts, users, items)
  local out
  for _, part in ipairs(parts) do
    if not part.users or not part.items then check.fail("%s has no users and items", tostring(part)) end
    local own = core.user_items(part.lists, part.users, part.items, users, items)
    out = out and out:with(own) or own
  end
  return out
end

---The device of a model's parameters.
function M.device_of(model)
  local first = model:parameters()[1]
  return first and first.device or "cpu"
end

---Scores of a model for lists of candidates; on the CPU.
---@param model mr.Model
---@param made { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor }
---@param device string
---@return mr.Tensor
function M.scores(model, made, device)
  local batch = dataset.batch{ lists = made.lists, users = made.users:to(device), items = made.items:to(device), size = made.lists.count }
  return tensors.no_grad(function() return model(batch) end):detach():to("cpu")
end

---Calls make(users) for blocks of users whose lists have about a million rows together.
---@param users mr.Tensor       int64
---@param rows_of_user integer  rows of one user's lists
---@param make fun(users: mr.Tensor)
function M.blocks(users, rows_of_user, make)
  local size = math.max(1, rows_of_block // math.max(1, rows_of_user))
  for at = 1, #users, size do
    core.check_interrupt()
    make(users:narrow(1, at, math.min(size, #users - at + 1)))
  end
end

-- Metrics of a list with one relevant row at rank r of n, which may be no whole number; those that are cut off, where they are not.
local function one() return 1 end
local at_rank = {
  rr = function(r) return 1 / r end,
  ap = function(r) return 1 / r end,
  ndcg = function(r) return core.number_log(2) / (r + 1):log() end,
  hit = one,
  recall = one,
  precision = function(_, _, k) return 1 / k end,
  auc = function(r, n) return (n - r) / (n - 1) end,
}

-- The metrics under the names of their corrections.
local function corrected_metrics(metrics)
  for i, each in ipairs(metrics) do
    if type(each) == "table" or not at_rank[each.base] then
      check.fail("fold:evaluate: no correction of '%s' is known, expected one of %s", each.name, table.concat(check.names(at_rank), ", "))
    end
    metrics[i] = each:with("name", each.name .. "[corrected]")
  end
  return metrics
end

-- Of m items that were sampled from n r - 1 are above the relevant one: in the mean n (r - 1) / m of all are. Each metric is that of this rank.
local function corrected(metrics, made, scores)
  local ranks, sizes, first, at = made.lists:rank(scores:double()), made.lists.sizes, {}, 1
  for l, size in ipairs(core.integers(sizes)) do first[l], at = at, at + size end
  local sampled, n = sizes:double() - 1, made.unseen:double()
  local r = n * (ranks:rows(core.tensor(first, "int64", "cpu")) - 1) / sampled:maximum(1) + 1
  return evaluate.of_values(#r, metrics, function(each)
    local values = r * 0 + at_rank[each.base](r, n + 1, each.k)
    return each.k and r:gt(each.k):where(0, values) or values
  end)
end

local function options_of(options)
  local none = check.none
  local o = check.options("fold:evaluate", options, { part = "test", candidates = "catalogue", negatives = none, by = none, seed = none,
    correct = false, ties = none, empty = none, relevant = none, gain = none, denominator = none })
  check.choice("fold:evaluate", "part", o.part, { "valid", "test" })
  check.choice("fold:evaluate", "candidates", o.candidates, { "catalogue", "sampled", "one" })
  for name, default in pairs{ negatives = 100, by = "uniform", seed = 1 } do
    if o.candidates == "catalogue" and o[name] ~= nil then
      check.fail("fold:evaluate: candidates = 'catalogue' takes no %s, nothing is sampled", name)
    end
    if o[name] == nil then o[name] = default end
  end
  check.choice("fold:evaluate", "by", o.by, { "uniform", "popularity" })
  if math.type(o.negatives) ~= "integer" or o.negatives < 1 or o.negatives > 1000000 then
    check.fail("fold:evaluate: negatives is %s, expected an integer from 1 to 1000000", tostring(o.negatives))
  end
  if math.type(o.seed) ~= "integer" then check.fail("fold:evaluate: seed is %s, expected an integer", tostring(o.seed)) end
  if o.correct and (o.candidates ~= "one" or o.by ~= "uniform") then
    check.fail("fold:evaluate: correct = true is for candidates = 'one', sampled uniformly")
  end
  local conventions = {}
  for _, name in ipairs{ "ties", "empty", "relevant", "gain", "denominator" } do conventions[name] = o[name] end
  return o, conventions
end

local function words(o, items, before)
  if o.candidates == "catalogue" then return ("candidates: all %d items but those of the user in %s"):format(items, before) end
  local of = o.candidates == "one" and "each relevant item" or "each user"
  local how = ("%d sampled items (%s, seed %d) for %s, fewer where there are no more"):format(o.negatives, o.by, o.seed, of)
  return ("candidates: %s; %s the full catalogue"):format(how, o.correct and "corrected to" or "not comparable with")
end

---@class mr.data.CandidateOptions
---@field part? "test"|"valid"         default "test"
---@field candidates? "catalogue"|"sampled"|"one"  default "catalogue"
---@field negatives? integer           sampled items of each list (default 100)
---@field by? "uniform"|"popularity"   how they are sampled (default "uniform")
---@field seed? integer                default 1
---@field correct? boolean             metrics at the estimated rank among all items; for "one", "uniform" (default false)
---@field ties? string                 this and the next as in mr.evaluate
---@field empty? string
---@field relevant? number
---@field gain? string
---@field denominator? string

---Evaluates a model on what it has to find among all items, or among sampled ones (Cremonesi et al. 2010; Krichene & Rendle 2020 on why their
---metrics order models otherwise). Each user with relevant items in the part is a list. `candidates`:
---
---- "catalogue" (default): all items but those relevant to the user in train (and, for test, in validation).
---- "sampled": the relevant items of the part, and `negatives` others that are relevant to him in no part, without replacement: `by` "uniform"
---  or "popularity" (as many users as have them in train and, for test, in validation).
---- "one": a list for each relevant item, with samples of its own. `correct = true` gives each metric at the unbiased estimate of the item's rank in
---  the full catalogue (Krichene & Rendle 2020), under a name that says so: "ndcg@10[corrected]". Ranks between the sampled ones cannot be told
---  apart, so cut-offs far below all items / negatives stay coarse.
---@param fold mr.Fold
---@param model mr.Model
---@param metrics (string|mr.Metric)[]
---@param options? mr.data.CandidateOptions
---@return mr.Evaluation
function M.evaluate(fold, model, metrics, options)
  local o, conventions = options_of(options)
  if not fold.items then check.fail("fold:evaluate: this fold has no users and items") end
  metrics = evaluate.metrics_of(metrics, conventions)
  if o.correct then metrics = corrected_metrics(metrics) end
  seen.note("other", fold[o.part])
  local _ <close> = phase.begin("evaluation", true)
  local before = o.part == "test" and { fold.train, fold.valid } or { fold.train }
  local known = M.user_items(before, fold.users, fold.items)
  local targets = M.user_items({ fold[o.part] }, fold.users, fold.items)
  local device, parts, users = M.device_of(model), {}, {}
  local sampled = o.candidates ~= "catalogue"
  M.blocks(targets:active_users(), sampled and 2 * o.negatives or fold.items, function(block)
    local made
    if sampled then
      made = core.sampled_lists(block, targets, known, o.negatives, o.by == "popularity", o.candidates == "one", o.seed)
    else
      made = core.catalogue_lists(block, targets, known)
    end
    users[#users + 1] = made.users
    local scores = M.scores(model, made, device)
    parts[#parts + 1] = o.correct and corrected(metrics, made, scores) or evaluate.measure_by(scores, made.lists, metrics, not sampled)
  end)
  if #parts == 0 then check.fail("fold:evaluate: no user has a relevant item in %s", o.part) end
  local result = evaluate.joined(parts)
  result.users, result.part, result.data = core.cat(users, 1), o.part, fold[o.part].fingerprint
  result.candidates = words(o, fold.items, o.part == "test" and "train and valid" or "train")
  return result
end

return M
