-- The protocol of Yang et al. (2025), "Breaking the Top-K Barrier", for matrix factorisation: every decision behind
-- Table 2, as a value or a function. "Code" is the authors' program IR-Benchmark, where the paper leaves a decision
-- open; "ours" is what differs from both. docs/protocols.md lists all decisions with their tests.
local mr = require "moonrank"

local M = {}

-- Data (D.1, D.2) -----------------------------------------------------------------------------------------------------

---The part of each user's items in train that becomes validation: rounded down, and at least one item (D.2; code).
M.valid = 0.1

---Opens a data set with the published division into train and test: a folder with train.tsv and test.tsv (plain or
---.gz), whose first two columns are users and items. The seed of `fold` chooses the validation part.
function M.open(title, folder)
  local ratings = mr.data.interactions({ train = folder .. "/train.tsv", test = folder .. "/test.tsv" },
    { delimiter = "\t", columns = { user = 1, item = 2, rating = false }, header = true }):binarize(1)
  return { title = title, users = ratings.users, items = ratings.items, fold = function(seed)
    return ratings:hold_out{ valid = M.valid, seed = seed }:folds{ by = "given", nsr = 0, seed = seed }[1]
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

local function unit(x) return x / (x * x):sum(2):maximum(1e-24):sqrt():reshape(x:size(1), 1) end

mr.models.define("ir_benchmark_mf", {
  required = { users = "integer", items = "integer", factors = "integer" },
  options = { cosine = true, sd_users = 1.0, sd_items = 1.0 },
  parameters = function(o)
    return { users = mr.normal({ o.users, o.factors }) * o.sd_users,
      items = mr.normal({ o.items, o.factors }) * o.sd_items }, { "users", "items" }
  end,
  forward = function(self, batch)
    local users, items = self.users, self.items
    if self.options.cosine then users, items = unit(users), unit(items) end
    return batch.lists:factor_scores(users, items, batch.users, batch.items)
  end,
})

---Makes the model of a loss. Scores are cosines, and those of BPR are inner products (D.4). Initial factors are normal
---with standard deviation 1 for most losses, and by Glorot & Bengio (2010) for BPR (code).
function M.model(set, loss, seed)
  local o = { users = set.users, items = set.items, factors = M.factors, seed = seed, cosine = loss ~= "BPR" }
  local function glorot(n) return math.sqrt(2 / (n + M.factors)) end
  if loss == "BPR" then o.sd_users, o.sd_items = glorot(set.users), glorot(set.items) end
  if loss == "LLPAUC" then o.sd_users, o.sd_items = 0.01, 0.01 end
  return mr.models.ir_benchmark_mf(o)
end

-- Losses (D.4) --------------------------------------------------------------------------------------------------------

M.losses = { "BPR", "LLPAUC", "SL", "BSL", "PSL", "SL@20" }

---Returns the loss of a name with published hyperparameters. PSL halves its cosines. LLPAUC and BSL are those of the
---code. SL@20 estimates quantiles of a user's scores in every `how.every`-th epoch (C.1), from as many items in train
---as 90 % of the users have at most (code). SL and SL@20 may have a bound. It multiplies a user's loss by its slope for
---NDCG@20 at the mean over random rankings of all items, of which the user's items in train are relevant (ours).
function M.loss(name, how, bound)
  if name == "BPR" then return mr.losses.bpr() end
  if name == "LLPAUC" then return mr.losses.llpauc_as_coded{ alpha = how.alpha, beta = how.beta } end
  if name == "BSL" then return mr.losses.bsl_per_positive{ tau1 = how.tau1, tau2 = how.tau2 } end
  if name == "PSL" then return mr.losses.psl{ tau = 2, tau_star = how.tau_star } end
  local o = { tau = how.tau }
  if bound then o.bound, o.metric, o.slope_at = bound, M.select, "expectation" end
  if name == "SL" then return mr.losses.sl(o) end
  o.k, o.tau_beta, o.every, o.share = 20, how.tau_beta, how.every, 0.9
  return mr.losses.sl_at_k(o)
end

-- Training (D.4) ------------------------------------------------------------------------------------------------------

M.batch, M.epochs, M.negatives = 1024, 200, 1000

---Validation every fifth epoch; the epoch with the highest NDCG@20 is tested (code).
M.every, M.select = 5, "ndcg@20"
M.metrics, M.titles = { "recall@20", "ndcg@20" }, { "Recall@20", "NDCG@20" }

---Trains a model. `o` has loss, how (hyperparameters), seed, epochs, batch, negatives, and maybe bound and trial.
function M.train(set, o)
  local fold, model = set.fold(o.seed), M.model(set, o.loss, o.seed)
  local run = mr.fit{ model = model, loss = M.loss(o.loss, o.how, o.bound), train = fold.train, unit = "interaction",
    batch = o.batch, negatives = o.loss == "BPR" and 1 or o.negatives, epochs = o.epochs,
    valid = fold:candidates{ known = "relevant" }, every = M.every, metrics = M.metrics, select = M.select,
    seed = o.seed, progress = false, trial = o.trial, checkpoint = o.trial and true or nil,
    optimizer = mr.optim.adam{ lr = o.how.rate, weight_decay = o.how.decay or 0 } }
  return run, model, fold
end

-- Evaluation (code) ---------------------------------------------------------------------------------------------------

---Evaluates a model on test, among all items but those that it was trained on. The code does not leave out a user's
---items in the validation part, and the printed numbers are of the code. The second result leaves them out, too.
function M.test(fold, model)
  local _, nothing = fold.valid:split{ share = 0 }
  local trained_on = mr.data.fold{ train = fold.train, valid = nothing, test = fold.test, users = fold.users,
    items = fold.items }
  return trained_on:evaluate(model, M.metrics, { known = "relevant" }),
    fold:evaluate(model, M.metrics, { known = "relevant" })
end

---Returns the numbers that a run of Table 2 keeps: the chosen epoch, and the metrics on test of both evaluations.
function M.outcome(run, model, fold)
  local test, without = M.test(fold, model)
  local result = { valid = run.best.metrics[M.select], epoch = run.best.epoch, per_list = {} }
  for _, metric in ipairs(M.metrics) do
    result[metric], result[metric .. ", without validation"] = test.mean[metric], without.mean[metric]
    result.per_list[metric] = test[metric]
  end
  return result
end

return M
