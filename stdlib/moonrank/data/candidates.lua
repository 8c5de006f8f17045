-- Candidates: the items that a model ranks for each user in an evaluation of a fold. They are all items of the
-- catalogue, or sampled items. Candidate lists are made for one block of users at a time, to save memory.
local core = require "moonrank.core"
local check = require "moonrank.check"
local corrections = require "moonrank.data.corrections"
local dataset = require "moonrank.data.dataset"
local declare = require("moonrank.options").declare
local evaluate = require "moonrank.evaluate"
local fingerprint = require "moonrank.data.fingerprint"
local folds = require "moonrank.data.fold"
local known_items = require "moonrank.data.known_items"
local novelty = require "moonrank.data.novelty"
local per_list = require "moonrank.evaluate.per_list"
local phase = require "moonrank.system.phase"
local registry = require "moonrank.metrics.registry"
local seen = require "moonrank.data.seen"
local tensors = require "moonrank.tensor"
local vectors = require "moonrank.models.vectors"

local M = {}

-- Approximate number of rows in a block of candidate lists. Blocks are larger on the GPU, which processes all lists of
-- a block at once.
local rows_of_block = { cpu = 1 << 20, cuda = 1 << 23 }

---The items that a model ranks for each user in an evaluation of a fold's part.
---@class mr.data.Candidates
---@field fold mr.Fold
---@field part "valid"|"test"
---@field data mr.Dataset      dataset of the part; the validation loss uses its lists
---@field correct string|false correction of metrics: "rank", "minimal_bias" or "trade_off"
---@field fingerprint string   data fingerprint of the fold and the options
local Candidates = check.exact_all("mr.data.Candidates:", check.class "mr.data.Candidates")

---Returns true if `x` is an mr.data.Candidates object, which fold:candidates returns.
function M.is(x) return getmetatable(x) == Candidates end

---Returns the device of a model's parameters. The result is mr.device() if `model` is a function,
---and "cpu" for a model without parameters.
function M.device_of(model)
  if type(model) == "function" then return core.device() end
  local first = model:parameters()[1]
  return first and first.device or "cpu"
end

---Returns the scores that a model, or a function of a batch, gives the rows of candidate lists: a
---tensor [rows], without gradients. The batch's users and items are copied to `device` first. Another
---shape of the model's result is an error.
---@param model mr.Model|fun(batch: mr.Batch): mr.Tensor
---@param made { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor }  user of each list, item of each row
---@param device string
---@return mr.Tensor
function M.scores(model, made, device)
  local batch = dataset.batch{
    lists = made.lists,
    users = made.users:to(device),
    items = made.items:to(device),
    size = made.lists.count,
  }
  local scores = tensors.no_grad(function() return model(batch) end)
  return check.one_per("row of the batch", "model", scores, made.lists.rows):detach()
end

---Divides users into blocks and calls make(users) for each block. The size of a block is such that
---the lists of its users fit the device: about a million rows on the CPU, eight million on the GPU.
---@param users mr.Tensor       int64
---@param rows_of_user integer  number of rows of all lists of one user
---@param make fun(users: mr.Tensor)
function M.blocks(users, rows_of_user, device, make)
  local size = math.max(1, rows_of_block[device] // math.max(1, rows_of_user))
  for at = 1, #users, size do
    core.check_interrupt()
    -- A full garbage collection frees the lists of the previous block; minor collections do not.
    if at > 1 then collectgarbage() end
    make(users:narrow(1, at, math.min(size, #users - at + 1)))
  end
end

local samples = { candidates = { "sampled", "one" } }  -- candidates of which items are sampled

-- Returns the corrections of metrics that have the parameter gamma.
local function with_gamma()
  local names = {}
  for name, each in pairs(corrections.all) do names[#names + 1] = each.gamma and name or nil end
  return names
end

local candidate_options = declare("mr.data.CandidateOptions", {
  { "part", "string", choices = { "valid", "test" }, shown = '"valid" in fold:candidates, "test" in fold:evaluate',
    help = "part of the fold" },
  { "candidates", "string", default = "catalogue", choices = { "catalogue", "sampled", "one" },
    help = "ranked items: all, samples for each user, or samples for each relevant item" },
  { "negatives", "integer", least = 1, most = 1000000, shown = "100", only_with = samples,
    also = { "n_negatives", "num_negatives" },
    help = "number of sampled items of each list" },
  { "by", "string", choices = { "uniform", "popularity" }, shown = '"uniform"', only_with = samples,
    help = "how items are sampled" },
  { "seed", "integer", shown = "1", only_with = samples, also = { "random_state" }, help = "seed of the samples" },
  { "known", "string", default = "rated", choices = known_items.names,
    help = "items left out: those that the user rated before the part, relevant items among these, or none" },
  { "users", "string", default = "all", choices = { "all", "known" },
    help = '"known" leaves out users without a relevant row in train' },
  { "correct", "boolean|string", default = false,
    choices = { false, true, table.unpack(check.names(corrections.all)) },
    help = 'estimate metrics among all items; needs candidates = "one" and by = "uniform"; true is "rank"' },
  { "gamma", "number", least = 0, most = 1, shown = "0.1", only_with = { correct = with_gamma() },
    help = "weight of the variance in corrected metrics" },
})

local evaluate_options = declare("mr.data.FoldEvaluateOptions", {}, candidate_options, registry.conventions)

-- Checks the options `correct` and `gamma`, and sets the default of `gamma`.
local function check_correction(where, o)
  if o.correct == true then o.correct = "rank" end
  local correction = corrections.all[o.correct]
  if not correction then return end
  check.expect(o.candidates == "one", where, "candidates", o.candidates, "'one' for correct = '%s'", o.correct)
  check.expect(o.by == "uniform", where, "by", o.by, "'uniform' for correct = '%s'", o.correct)
  local most = correction.most_sampled
  check.expect(not most or o.negatives <= most, where, "negatives", o.negatives, "at most %s for correct = '%s'", most,
    o.correct)
  o.gamma = o.gamma or correction.gamma or 0
end

-- Returns the options that choose the candidates, and those that change how metrics are computed, such as `ties`.
local function options_of(declaration, where, options, part)
  local o, said = declaration:read(where, options), {}
  o.part = o.part or part
  o.negatives, o.by, o.seed = o.negatives or 100, o.by or "uniform", o.seed or 1
  check_correction(where, o)
  for name, value in pairs(o) do
    if not candidate_options.by_name[name] then said[name], o[name] = value, nil end
  end
  return o, said
end

-- Returns the parts of the fold whose items a user knows: train, and for test also a non-empty valid.
local function parts_before(self)
  local parts = { self.fold.train }
  if self.part == "test" and self.fold.valid.lists.rows > 0 then parts[2] = self.fold.valid end
  return parts
end

-- Returns a sentence with the number of user-item pairs that are not ranked, because the user knows the item (option
-- `known`).
local function left_out_words(self)
  local t, known, names = self:tables(), self._options.known, {}
  if known == "none" then return "known = none leaves out no item of any user" end
  for i, part in ipairs(parts_before(self)) do names[i] = part.name end
  local count, relevant = t.known:count_without(t.targets, t.users), t.relevant:count_without(t.targets, t.users)
  if known == "relevant" then
    local form = "known = relevant leaves out %d user-item pairs that are relevant in %s"
    return form:format(count, table.concat(names, " and "))
  end
  local form = "known = rated leaves out %d user-item pairs that were rated before %s, %d of them not relevant"
  return form:format(count, self.part, count - relevant)
end

---Returns a text that describes which items are ranked for a user. With `brief`, the text leaves
---out the number of user-item pairs that are not ranked.
function Candidates:words(brief)
  local o = self._options
  local left_out = brief and "known = " .. o.known or left_out_words(self)
  if o.candidates == "catalogue" then return ("candidates: all %d items; %s"):format(self.fold.items, left_out) end
  local of = o.candidates == "one" and "each relevant item" or "each user"
  local how = ("%d sampled items (%s, seed %d) for %s, fewer where there are no more"):format(o.negatives, o.by, o.seed,
    of)
  local compared = o.correct and corrections.all[o.correct].words:format(o.gamma) or "not comparable with"
  return ("candidates: %s; %s; %s the full catalogue"):format(how, left_out, compared)
end

function Candidates:__tostring()
  local t = self:tables()
  return ("%s of %d users\n%s\n%s"):format(self.part, #t.users, self:words(), tostring(t.novelty))
end

-- A candidates object has these fields of its dataset, because mr.fit reads them to check the model's sizes and to
-- compute the validation loss.
for _, name in ipairs{ "lists", "count", "users", "items", "features" } do
  Candidates["get_" .. name] = function(self) return self.data[name] end
end

---Returns the option `users` of fold:candidates: "all", or "known" if users without a relevant row
---in train are left out.
function Candidates:get_ranked_users() return self._options.users end

---Iterates over batches of the dataset of the evaluated part (valid or test), like mr.Dataset:batches.
---@return fun(): mr.Batch?
function Candidates:batches(options) return self.data:batches(options) end

function Candidates:get_fingerprint()
  local o, rated = self._options, {}
  for i, part in ipairs(o.known == "rated" and parts_before(self) or {}) do
    rated[i] = part._rated and part._rated.fingerprint() or false
  end
  return fingerprint.combined("candidates", self.fold.fingerprint, self.part, o.candidates, o.negatives, o.by, o.seed,
    o.correct, o.gamma or 0, o.known, o.users, self.fold.users, self.fold.items, table.unpack(rated))
end

local function new(where, fold, o)
  folds.check_items(where, fold)
  require("moonrank.data.scored").check_unweighted(where, fold[o.part].lists)
  return setmetatable({
    fold = fold,
    part = o.part,
    data = fold[o.part],
    correct = o.correct,
    _where = where,
    _options = o,
    _tables = false,
    _sampled = {},
    _estimates = {},
  }, Candidates)
end

---Implements fold:candidates. Returns the items that a model ranks for each user in the fold's part
---`options.part` ("valid" or "test"). mr.fit takes the result as its option `valid` or `test`.
---@return mr.data.Candidates
function M.of(fold, options)
  return new("fold:candidates", fold, (options_of(candidate_options, "fold:candidates", options, "valid")))
end

---Returns a table of three mr.UserItems, which have items of each user: relevant items in the evaluated part
---(`targets`), items that are not ranked because the user knows them (`known`), and relevant items of earlier parts
---(`relevant`). `users` are the users who have targets. The table is made in the first call. It is an error if there
---are no such users.
---@return { users: mr.Tensor, targets: any, known: any, relevant: any, novelty: mr.data.Novelty }
function Candidates:tables()
  if self._tables then return self._tables end
  local fold, o, before = self.fold, self._options, parts_before(self)
  local function of(parts, known) return known_items.of(self._where, parts, known, fold.users, fold.items) end
  local train = of({ fold.train }, "relevant")
  local found, targets = novelty.of(train, of({ self.data }, "relevant"), o.users == "known")
  local users = targets:active_users()
  check.expect(found.all_users > 0, self._where, "the number of users with a relevant item in " .. self.part, 0,
    "at least 1")
  if #users == 0 then
    check.leave_out(self._where, "users", o.users, "none of the %d users of %s has a relevant row in train",
      found.all_users, self.part)
  end
  local relevant = before[2] and train:with(of({ before[2] }, "relevant")) or train
  local known = o.known == "relevant" and relevant or of(before, o.known)
  self._tables = { users = users, targets = targets, known = known, relevant = relevant, novelty = found }
  return self._tables
end

-- Returns the candidate lists of a block of users. Lists of the full catalogue are made on the device in every call.
-- Lists of sampled items are cached, because they are small and do not change between epochs.
local function lists_of(self, block, number, device)
  local o, t = self._options, self:tables()
  if o.candidates == "catalogue" then return core.catalogue_lists(block, t.targets, t.known, device) end
  if not self._sampled[number] then
    self._sampled[number] = core.sampled_lists(block, t.targets, t.known, o.negatives, o.by == "popularity",
      o.candidates == "one", o.seed, t.relevant)
  end
  return self._sampled[number]
end

-- Returns a way to evaluate metrics that depend only on the k best candidates of a user, or nil for other metrics and
-- for a model without vectors. In {rows, of}, `of(block)` makes lists of these candidates and of the relevant items, or
-- returns nil if too many items tie, and `rows` is an estimate of a list's length.
local function first_candidates_of(self, p, q, metrics)
  if not p then return nil end
  local k, t = 1, self:tables()
  for _, metric in ipairs(metrics) do
    if evaluate.is_bounded(metric) or not metric:reads_first() then return nil end
    k = math.max(k, metric.k)
  end
  local function of(block) return core.first_candidates(p, q, block, t.targets, t.known, k) end
  return { rows = k + 64, of = of }
end

---Returns the given metrics; with the option `correct`, metrics whose names have the suffix of the
---correction, as in "ndcg@10[corrected]".
function Candidates:named(metrics)
  return self.correct and corrections.named(self._where, metrics, self.correct) or metrics
end

---Evaluates a model on the candidates, by metrics that `named` returned. Unlike fold:evaluate, this
---method does not note the dataset in the record of a running trial.
---@param model mr.Model|fun(batch: mr.Batch): mr.Tensor
---@param metrics mr.Metric[]
---@return mr.Evaluation
function Candidates:measure(model, metrics)
  local o, device, parts, users, lists = self._options, M.device_of(model), {}, {}, {}
  local whole, p, q = o.candidates == "catalogue", vectors.of(model)
  local scored = vectors.scorer(p, q) or model
  local function add(made)
    local number = #parts + 1
    local scores = M.scores(scored, made, device)
    users[number], lists[number] = made.users, per_list.shapes_of(made.lists)
    lists[number].sizes = made.sizes or lists[number].sizes
    parts[number] = o.correct and corrections.evaluate(metrics, made, scores:to("cpu"), o, self._estimates)
      or evaluate.measure_by(scores, made.lists, metrics, whole)
  end
  local function add_all(block)
    M.blocks(block, whole and self.fold.items or 2 * o.negatives, device,
      function(some) add(lists_of(self, some, #parts + 1, device)) end)
  end
  local first = whole and first_candidates_of(self, p, q, metrics)
  if first then
    M.blocks(self:tables().users, first.rows, device, function(block)
      local made = first.of(block)
      if made then add(made) else add_all(block) end
    end)
  else
    add_all(self:tables().users)
  end
  local result = evaluate.joined(parts)
  result._set, result._shapes = self.data, per_list.joined(lists)
  result.users, result.part, result.data, result.candidates =
    core.cat(users, 1), self.part, self.data.fingerprint, self:words()
  result._ranked, result._novelty = self:words(true), self:tables().novelty
  result.new_to_training = tostring(result._novelty)
  return result
end

-- Raises an error unless `model` is a function, or a model with at least as many users and items as the fold.
local function check_model(where, model, fold)
  if type(model) == "function" then return end
  check.expect(type(model) == "table" and type(check.field(model, "parameters")) == "function", where, "model", model,
    "a model of users and items, or a function that takes a batch and returns one score for each row")
  local config = check.field(model, "config") or {}
  check.expect(not config.inputs, where, "model", model, "a model of users and items, not one that scores features")
  for _, each in ipairs{ "users", "items" } do
    check.expect(math.type(config[each]) ~= "integer" or config[each] >= fold[each], where,
      ("the number of %s of the model"):format(each), config[each], "at least %d, as the fold has", fold[each])
  end
end

---Implements fold:evaluate: evaluates a model on the candidates of a fold's part (option `part`),
---and returns the evaluation.
---@param model mr.Model|fun(batch: mr.Batch): mr.Tensor
---@param metrics (string|mr.Metric|table)[]
function M.evaluate(fold, model, metrics, options)
  local where = "fold:evaluate"
  local o, said = options_of(evaluate_options, where, options, "test")
  local self = new(where, fold, o)
  check_model(where, model, fold)
  metrics = self:named(evaluate.metrics_of(metrics, said, where))
  check.not_empty(where, "metrics", metrics, 'metric, as in {"ndcg@10"}')
  seen.note("other", self)
  local _ <close> = phase.begin("evaluation", true)
  return self:measure(model, metrics)
end

return M
