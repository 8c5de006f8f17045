-- The protocol of Yang et al. (2025), "Breaking the Top-K Barrier", for matrix factorisation: every decision behind
-- Table 2, as a value or a function. "Code" is the authors' program IR-Benchmark, where the paper leaves a decision
-- open; "ours" is what differs from both.
local mr = require "moonrank"

local M = {}

-- Data (D.1, D.2) -----------------------------------------------------------------------------------------------------

---The part of each user's items in train that becomes validation: rounded down, and at least one item (D.2; code).
M.valid = 0.1

---A data set with the published division into train and test.
---@class ir_benchmark.Data
---@field title string
---@field users integer
---@field items integer
---@field fold fun(seed: integer): mr.Fold  the seed chooses the validation part

-- Numbers of the parts in mr.Ratings.
local in_train, in_valid = 0, 1

---Returns a copy of binary ratings with a validation part: a random tenth of each user's ratings in train.
function M.with_validation(ratings, seed)
  local part, keys, rows_of = ratings.part:totable(), mr.uniform({ ratings.rows }, { seed = seed }):totable(), {}
  for row, user in ipairs(ratings.user:totable()) do
    rows_of[user] = rows_of[user] or {}
    if part[row] == in_train then table.insert(rows_of[user], row) end
  end
  for _, rows in pairs(rows_of) do
    table.sort(rows, function(a, b) return keys[a] < keys[b] end)
    local count = math.max(1, math.floor(M.valid * #rows))
    for k = 1, math.min(count, #rows) do part[rows[k]] = in_valid end
  end
  local copy = ratings:binarize(1)
  copy.part = mr.tensor(part, { dtype = "int64" })
  return copy
end

---Opens a folder with train.tsv and test.tsv (plain or .gz), whose first two columns are users and items.
function M.open(title, folder)
  local columns = { user = 1, item = 2, rating = false }
  local ratings = mr.data.interactions({ train = folder .. "/train.tsv", test = folder .. "/test.tsv" },
    { delimiter = "\t", columns = columns, header = true }):binarize(1)
  return { title = title, users = ratings.users, items = ratings.items, fold = function(seed)
    return M.with_validation(ratings, seed):folds{ by = "given", nsr = 0, seed = seed }[1]
  end }
end

---Made-up interactions, in place of the data set `name`.
function M.made_up(name)
  local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 80, seed = 1 }:binarize(4)
  return { title = "made-up, for " .. name, users = ratings.users, items = ratings.items, fold = function(seed)
    return ratings:folds{ by = "share", k = 1, nsr = 0, valid = M.valid, seed = seed }[1]
  end }
end

-- Models (D.3; code) --------------------------------------------------------------------------------------------------

M.factors = 64

-- For each model that is trained by SL@K: what its loss needs of the present batch. It is not a part of the experiment.
local of_batch = mr.experiment.cache()

local function unit(x) return x / (x * x):sum(2):maximum(1e-24):sqrt():reshape(x:size(1), 1) end

-- Returns the k-th largest score of each user of a batch, among the user's items in train and the sampled negatives
-- (C.1). The items of users with very many are cut off (code).
local function quantiles(users, items, batch, scores, k, owned)
  local count = batch.size
  local size = batch.lists.rows // count
  local sampled = scores:detach():reshape(count, size):narrow(2, 2, size - 1):topk(math.min(k, size - 1), 2)
  local own, width = owned.items:rows(batch.users), owned.items:size(2)
  owned.lists[count] = owned.lists[count] or mr.lists(mr.zeros(count, width):totable())
  local of_own = owned.lists[count]:factor_scores(users, items, batch.users, own:reshape(count * width))
  of_own = owned.there:rows(batch.users):where(of_own:detach():reshape(count, width), -1e6)
  return mr.cat({ sampled, of_own }, 2):topk(k, 2):narrow(2, k, 1):reshape(count)
end

-- Estimates the quantiles of the users of a batch anew, in every `every`-th epoch.
local function renew(self, batch, users, items, scores)
  local o, owned = self.options, of_batch.owned
  local epoch = (batch.step - 1) // o.steps + 1
  if epoch % o.every ~= 0 then return end
  mr.no_grad(function()
    local found = quantiles(users, items, batch, scores, o.k, owned):totable()
    local all = self.quantiles:totable()
    for l, user in ipairs(batch.users:totable()) do all[user] = found[l] end
    self.quantiles = mr.tensor(all, { device = self.quantiles.device, dtype = self.quantiles.dtype })
  end)
end

mr.models.define("ir_benchmark_mf", {
  required = { users = "integer", items = "integer", factors = "integer" },
  options = { cosine = true, sd_users = 1.0, sd_items = 1.0, k = 0, every = 0, steps = 0 },
  parameters = function(o)
    return { users = mr.normal({ o.users, o.factors }) * o.sd_users,
      items = mr.normal({ o.items, o.factors }) * o.sd_items }, { "users", "items" }
  end,
  buffers = function(o) return o.k > 0 and { quantiles = mr.zeros{ o.users } } or {} end,
  forward = function(self, batch)
    local users, items = self.users, self.items
    if self.options.cosine then users, items = unit(users), unit(items) end
    local scores = batch.lists:factor_scores(users, items, batch.users, batch.items)
    if batch.training and self.options.k > 0 then
      of_batch.quantiles = self.quantiles:rows(batch.users)
      renew(self, batch, users, items, scores)
    end
    return scores
  end,
})

-- Standard deviation of the initial factors of n users or items of BPR (Glorot & Bengio 2010; code).
local function glorot(n) return math.sqrt(2 / (n + M.factors)) end

---Makes the model of a loss. Scores are cosines, and those of BPR are inner products (D.4). Initial factors are normal
---with standard deviation 1 for most losses (code).
function M.model(set, loss, how, seed, steps)
  local o = { users = set.users, items = set.items, factors = M.factors, seed = seed, cosine = loss ~= "BPR" }
  if loss == "BPR" then o.sd_users, o.sd_items = glorot(set.users), glorot(set.items) end
  if loss == "LLPAUC" then o.sd_users, o.sd_items = 0.01, 0.01 end
  if loss == "SL@20" then o.k, o.every, o.steps = 20, how.every, steps end
  return mr.models.ir_benchmark_mf(o)
end

-- Losses (D.4) --------------------------------------------------------------------------------------------------------

M.losses = { "BPR", "LLPAUC", "SL", "BSL", "PSL", "SL@20" }

-- SL, under a bound if there is one. The bound multiplies a user's loss by its slope for NDCG@20 at the mean over
-- random rankings of all items, of which the user's items in train are relevant (ours).
local function softmax(how, bound)
  if not bound then return mr.losses.sl{ tau = how.tau } end
  return mr.losses.sl{ tau = how.tau, bound = bound, metric = M.select, slope_at = "expectation" }
end

-- SL@K of lists with one relevant row: SL with the weight sigma((f - quantile) / tau_beta) (code). The quantiles of a
-- batch's users are those of a few epochs before.
local function weighted_sl(how, sl)
  return mr.losses.define("ir_benchmark_sl_at_k", { direction = "minimize", metric = "ap",
    smooth = function(scores, lists)
      local own = lists:sum(lists.relevance * scores)
      return ((own - of_batch.quantiles:to(scores.dtype)) / how.tau_beta):sigmoid() * sl(scores, lists)
    end })()
end

---Returns the loss of a name with published hyperparameters. PSL halves its cosines. LLPAUC and BSL are those of the
---code. SL and SL@20 may have a bound.
function M.loss(name, how, bound)
  if name == "BPR" then return mr.losses.bpr() end
  if name == "LLPAUC" then return mr.losses.llpauc_as_coded{ alpha = how.alpha, beta = how.beta } end
  if name == "BSL" then return mr.losses.bsl_per_positive{ tau1 = how.tau1, tau2 = how.tau2 } end
  if name == "PSL" then return mr.losses.psl{ tau = 2, tau_star = how.tau_star } end
  if name == "SL@20" then return weighted_sl(how, softmax(how, bound)) end
  return softmax(how, bound)
end

-- Training (D.4) ------------------------------------------------------------------------------------------------------

M.batch, M.epochs, M.negatives = 1024, 200, 1000

---Validation every fifth epoch; the epoch with the highest NDCG@20 is tested (code).
M.every, M.select = 5, "ndcg@20"
M.metrics = { "recall@20", "ndcg@20" }

-- Returns the number of items that a share of the users has at most, with linear interpolation, rounded down.
local function percentile(counts, share)
  table.sort(counts)
  local at = 1 + share * (#counts - 1)
  local below = math.floor(at)
  return math.floor(counts[below] + (at - below) * ((counts[below + 1] or counts[below]) - counts[below]))
end

---Prepares the estimates of quantiles by SL@20: the items of each user in train as a matrix with as many columns as a
---user at the 90th percentile has items, and 1 where a column has an item.
function M.prepare(set, train)
  local items, counts, chosen, there, at = train.items:totable(), train.lists.sizes:totable(), {}, {}, 0
  local width = math.max(1, percentile(train.lists.sizes:totable(), 0.9))
  for user = 1, set.users do
    chosen[user], there[user] = {}, {}
    for c = 1, width do chosen[user][c], there[user][c] = 1, 0 end
  end
  for l, user in ipairs(train.users:totable()) do
    for c = 1, math.min(width, counts[l]) do chosen[user][c], there[user][c] = items[at + c], 1 end
    at = at + counts[l]
  end
  of_batch.owned = { items = mr.tensor(chosen, { dtype = "int64" }), there = mr.tensor(there), lists = {} }
end

---Trains a model. `o` has loss, how (published hyperparameters), seed, epochs, batch, negatives, and maybe bound and
---trial.
---@return mr.Run run, mr.Model model, mr.Fold fold
function M.train(set, o)
  local fold = set.fold(o.seed)
  local steps = -(-fold.train.lists.rows // o.batch)
  local model = M.model(set, o.loss, o.how, o.seed, steps)
  if o.loss == "SL@20" then M.prepare(set, fold.train) end
  local run = mr.fit{ model = model, loss = M.loss(o.loss, o.how, o.bound), train = fold.train, unit = "interaction",
    batch = o.batch, negatives = o.loss == "BPR" and 1 or o.negatives, epochs = o.epochs,
    valid = fold:candidates{ known = "relevant" }, every = M.every, metrics = M.metrics, select = M.select,
    seed = o.seed, progress = o.progress or false,
    optimizer = mr.optim.adam{ lr = o.how.rate, weight_decay = o.how.decay or 0 },
    trial = o.trial, checkpoint = o.trial and true or nil }
  return run, model, fold
end

-- Evaluation (code) ---------------------------------------------------------------------------------------------------

---Evaluates a model on test, among all items but those that it was trained on. The code does not leave out a user's
---items in the validation part, and the printed numbers are of the code. Returns this evaluation, and one that leaves
---those items out, too.
---@return mr.Evaluation as_coded, mr.Evaluation without_validation
function M.test(fold, model)
  local _, nothing = fold.valid:split{ share = 0 }
  local trained_on = mr.data.fold{ train = fold.train, valid = nothing, test = fold.test, users = fold.users,
    items = fold.items }
  return trained_on:evaluate(model, M.metrics, { known = "relevant" }),
    fold:evaluate(model, M.metrics, { known = "relevant" })
end

return M
