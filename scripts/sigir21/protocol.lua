-- The protocol of Li, Urbano & Hanjalic (2021): every decision behind their numbers, as a function or a value.
-- Section numbers are those of the paper. The recipe "paper" follows the text of the paper, "code" the authors'
-- last commit, and "published" the code that made the printed results.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local losses, negatives = dofile(here .. "losses.lua"), dofile(here .. "negatives.lua")
local analysis = dofile(here .. "analysis.lua")

local M = { losses = losses }

-- The next value decides which ratings are relevant.

---Section 4.1: makes ratings of 4 and 5, or all ratings of unary data, relevant, for users with at
---least 25 relevant items. The authors' files have only relevant rows.
M.relevant = {
  graded = function(ratings) return ratings:binarize(4):min_relevant(25) end,
  unary = function(ratings) return ratings:binarize(1):min_relevant(25) end,
  published = function(ratings) return ratings:binarize(1) end,
}

-- The next functions divide ratings into train, validation and test, and draw negatives.

---Section 4.2: numbers of negatives per relevant item, the same in train and in test.
M.nsr = { 1, 2, 5 }

---Section 4.2: the number of random splits; each has 80 % of every user's relevant items in train.
M.splits = 3

---Section 4.2: returns a random split. Negatives of a part are relevant in no part. `valid` is the
---share of each user's training items that becomes the validation part.
---@return mr.Fold
function M.split(relevance, number, nsr, valid)
  return relevance:folds{ by = "share", k = M.splits, test = 0.2, nsr = nsr, valid = valid }[number]
end

---Returns a split with negatives as the recipe draws them: relevant in no part (the paper), or as
---the authors' code draws them (negatives.lua).
---@param set sigir21.Data
---@param o { split: integer, nsr: integer, seed: integer }
function M.fold(recipe, set, o)
  local how = M.recipes[recipe]
  if how.negatives == "apart" then return set.fold(o.split, o.nsr, how.valid) end
  return negatives.drawn(set.fold(o.split, 0, how.valid), o.nsr, set.items, o.seed)
end

---Section 5.3: returns how many relevant items each test user has in train, including those that
---were moved to validation.
---@return number[]
function M.positives(fold)
  local of = {}
  for _, part in ipairs{ fold.train, fold.valid } do
    local users = part.users:totable()
    for i, n in ipairs(part.lists.relevant:totable()) do of[users[i]] = (of[users[i]] or 0) + n end
  end
  local found = {}
  for i, user in ipairs(fold.test.users:totable()) do found[i] = (of[user] or 0) + 0.0 end
  return found
end

-- The next values and functions define how losses are trained.

---@class sigir21.Training
---@field optimizer "sgd"|"adam"
---@field batch integer        users per step
---@field batches? table<string, integer>  batch size of losses that differ from `batch`
---@field epochs integer
---@field rates number[]       learning rates to choose from

---@class sigir21.Recipe
---@field title string
---@field choose_on "valid"|"test"   the part that chooses epochs and learning rates
---@field valid number               share of each user's items of train that becomes the validation part
---@field negatives "apart"|"authors"
---@field listwise sigir21.Training
---@field lambda sigir21.Training

-- Learning rates of section 4.2 for listwise losses and for LambdaRank, in the order in which they are run.
local listwise, lambda = { 1, 0.1, 3, 10, 0.01, 0.001 }, { 0.001, 0.01, 0.1 }

---The recipes. Sections 3.5 and 4.2 state SGD and 3000 epochs for all losses, but not the batch
---size, nor which part chooses the epoch; the code chooses on test. The published numbers are
---reproduced by the last commit's optimizers in swapped roles, with the batch sizes given here.
M.recipes = {
  paper = {
    title = "as in the paper, with epoch and learning rate chosen on validation",
    choose_on = "valid", valid = 0.1, negatives = "apart",
    listwise = { optimizer = "sgd", batch = 2048, epochs = 3000, rates = listwise },
    lambda = { optimizer = "sgd", batch = 16, epochs = 3000, rates = lambda },
  },
  code = {
    title = "as the code's last commit, with epoch and learning rate chosen on test",
    choose_on = "test", valid = 0, negatives = "authors",
    listwise = { optimizer = "adam", batch = 256, epochs = 3000, rates = listwise },
    lambda = { optimizer = "sgd", batch = 16, epochs = 120, rates = lambda },
  },
  published = {
    title = "as published, with epoch and learning rate chosen on test",
    choose_on = "test", valid = 0, negatives = "authors",
    listwise = { optimizer = "sgd", batch = 2048, batches = { ap = 256, nrbp = 256 }, epochs = 3000, rates = listwise },
    lambda = { optimizer = "adam", batch = 16, epochs = 120, rates = lambda },
  },
}
M.recipe_names = { "paper", "code", "published" }

---Returns how a loss is trained under a recipe: optimizer, batch size, epochs, and learning rates
---to try.
---@return sigir21.Training
function M.training(recipe, kind, loss)
  local of = M.recipes[recipe][kind]
  return { optimizer = of.optimizer, batch = of.batches and of.batches[loss] or of.batch, epochs = of.epochs,
    rates = of.rates }
end

---Section 4.2: matrix factorisation of 32 factors, chosen by the authors among M.all_factors.
---Initial values are those of the authors' code.
M.factors = 32
M.all_factors = { 8, 16, 32, 64, 128 }
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
end

---Section 4.2: metrics that evaluate every model and choose epochs. nDCG@5 is in the authors'
---results but not in the paper.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---Section 4.2: returns the metrics that choose epoch and learning rate for a loss. Listwise nRBP
---has three of them, and so three models.
---@return string[]
function M.own_metrics(loss)
  if loss == "nrbp" then return { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } end
  return { (loss:gsub("^nrbp", "rbp")) }
end

---Section 4.2: returns the name of the model of a loss that the metric `by` chose. Listwise nRBP
---has one model for each persistence p.
function M.model_name(loss, by) return loss == "nrbp" and "n" .. by or loss end

---Section 4.2: returns true if two models come from one training run, such as the three models of
---listwise nRBP. Such models are not compared with each other.
function M.same_training(kind, first, second)
  return kind == "listwise" and first:find "^nrbp" ~= nil and second:find "^nrbp" ~= nil
end

---Trains one model. Every metric chooses its own epoch among every fifth epoch. The loss is summed
---over the users of a batch.
---@param o { kind: string, loss: string, rate: number, fold: mr.Fold, model: mr.Model, seed: integer }  and epochs
---@return mr.Run
function M.train(recipe, o)
  local of, how, fold = M.recipes[recipe], M.training(recipe, o.kind, o.loss), o.fold
  local longest = math.tointeger(fold.train.lists.sizes:double():max():item())
  return mr.fit{
    model = o.model, loss = losses.new(recipe, o.kind, o.loss, longest), reduction = "sum",
    train = fold.train, valid = of.valid > 0 and fold.valid or nil, test = fold.test, choose_on = of.choose_on,
    optimizer = mr.optim[how.optimizer]{ lr = o.rate }, batch = how.batch, epochs = o.epochs or how.epochs, every = 5,
    metrics = M.metrics, select = M.metrics, seed = o.seed, progress = false,
  }
end

---Returns the results of a run in which every metric chose an epoch. For each metric, these are its
---test score at its epoch, the score that chose the epoch, and the epoch. For each metric in `own`,
---they also include all test scores at its epoch, with the scores of every user.
---@param run mr.Run
---@param fold mr.Fold
---@param own string[]  metrics that choose the models of the loss
---@return table<string, any>
function M.outcome(run, fold, own)
  local result, per_list = {}, { positives = M.positives(fold), user = fold.test.users:double() }
  for _, choice in ipairs(run.choices) do
    local metric = choice.metric.name
    result[metric], result["epoch by " .. metric] = run.test.mean[metric], choice.best.epoch
    result["chosen by " .. metric] = choice.best.metrics[metric]
  end
  for _, by in ipairs(own) do
    local model, test = run:restore(by), fold.test
    local found = mr.evaluate(mr.data.scored(model, test).scores, test.lists, M.metrics)
    for _, metric in ipairs(M.metrics) do
      local name = ("%s, epoch by %s"):format(metric, by)
      result[name], per_list[name] = found.mean[metric], found[metric]
    end
  end
  result.valid, result.users, result.per_list = result["chosen by " .. own[1]], fold.test.count, per_list
  return result
end

---Returns the training with the highest `chosen_by`. If several are equal, returns the first.
---@generic T: { chosen_by: number }
---@param several T[]
---@return T
function M.best(several)
  local best
  for _, each in ipairs(several) do
    if not best or each.chosen_by > best.chosen_by then best = each end
  end
  return best
end

-- The next functions are the statistics of the paper's figures.

---Section 5.1: returns the rows without those of the RR loss. The paper leaves out this loss after
---Figure 1.
---@param rows sigir21.Row[]
---@return sigir21.Row[]
function M.analysed(rows)
  local found = {}
  for _, row in ipairs(rows) do
    if row.loss ~= "rr" then found[#found + 1] = row end
  end
  return found
end

---Section 5.2: fits a linear model of scores by one metric, standardised within data set and NSR.
---Its terms are loss, data set, NSR, and the interactions of loss with data set and with NSR. Data
---set or NSR is left out if it has only one value.
---@param rows sigir21.Row[]  rows of one kind of losses and one metric
---@return mr.LinearModel
function M.linear_model(rows)
  local scores, columns = {}, { loss = {}, dataset = {}, nsr = {} }
  for i, row in ipairs(rows) do
    scores[i] = row.score
    for name, column in pairs(columns) do column[i] = row[name] end
  end
  local factors, interactions = { loss = columns.loss }, {}
  for _, name in ipairs{ "dataset", "nsr" } do
    if #analysis.distinct(rows, name) > 1 then
      factors[name] = columns[name]
      interactions[#interactions + 1] = { "loss", name }
    end
  end
  local z = mr.stats.standardize(scores, { within = { dataset = columns.dataset, nsr = columns.nsr } })
  return mr.stats.linear_model{ y = z, factors = factors, interactions = interactions }
end

---Section 5.2: significance level of corrected p-values.
M.level = 0.05
function M.significant(p) return p < M.level end

---Section 5.2: returns the loss with the highest marginal mean, and whether it is significantly
---above all losses except models of the same training run.
---@param model mr.LinearModel
---@param kind "listwise"|"lambda"
---@return string loss
---@return boolean significant  by Student's t, Holm's correction over all pairs of losses
function M.winner(model, kind)
  local best
  for _, mean in ipairs(model:emmeans "loss") do
    if not best or mean.mean > best.mean then best = mean end
  end
  local significant = true
  for _, pair in ipairs(model:contrasts "loss") do
    local of_best = pair.first == best.level or pair.second == best.level
    local compared = of_best and not M.same_training(kind, pair.first, pair.second)
    significant = significant and (not compared or M.significant(pair.adjusted))
  end
  return best.level, significant
end

---Section 5.3, Figure 5: returns the pairs of models that are compared by user: nRBP(0.95) with AP
---and with nDCG, at one NSR. Returns no pairs if one of these losses has no rows.
---@param rows sigir21.Row[]  rows of one kind of losses and one data set
---@return { loss: string, rows: sigir21.Row[], others: sigir21.Row[] }[]
function M.compared(rows)
  local found, own = {}, analysis.where(rows, { loss = "nrbp(0.95)" })
  for i, loss in ipairs{ "ap", "ndcg" } do
    found[i] = { loss = loss, rows = own, others = analysis.where(rows, { loss = loss }) }
    if #own == 0 or #found[i].others == 0 then return {} end
  end
  return found
end

---Figure 5: fits a cubic smoothing spline. Generalised cross validation chooses the penalty, which
---is then increased until the curve has at most ten degrees of freedom. Without this limit, curves
---follow single users for metrics such as RBP, whose spread grows with the number of relevant
---items.
M.most_df = 10
function M.smoothed(x, y, range)
  local fit = mr.stats.spline(x, y, { range = range })
  while fit.df > M.most_df do fit = mr.stats.spline(x, y, { range = range, lambda = 2 * fit.lambda }) end
  return fit
end

---Figure 5: corrects the p-values of the slopes of all curves by Holm's method.
M.correct = mr.stats.holm

---The largest difference from a published number that still counts as near. Scores spread by about
---0.001 over folds.
M.close = 0.003
function M.near(difference) return math.abs(difference) <= M.close end

return M
