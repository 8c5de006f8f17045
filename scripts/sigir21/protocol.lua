-- The experiments of Li, Urbano & Hanjalic (2021): every decision behind their numbers, as a function or a value.
-- Section numbers are those of the paper. A recipe is a training setup: "paper" follows the text of the paper,
-- "code" the last commit of the authors' code, and "published" the code that made the printed results.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local losses, negatives = dofile(here .. "losses.lua"), dofile(here .. "negatives.lua")
local analysis = dofile(here .. "analysis.lua")

local M = { losses = losses }

---Functions that mark which ratings are relevant (section 4.1), by type of data. `graded` takes ratings
---of 4 and 5, `unary` all ratings; both leave out users with fewer than 25 relevant items. `published`
---is for the authors' files, which have only relevant rows.
M.relevant = {
  graded = function(ratings) return ratings:binarize(4):min_relevant(25) end,
  unary = function(ratings) return ratings:binarize(1):min_relevant(25) end,
  published = function(ratings) return ratings:binarize(1) end,
}

---Negative sampling ratios (NSR) of section 4.2: numbers of sampled negative items per relevant item.
---Train and test use the same ratio.
M.nsr = { 1, 2, 5 }

---Number of random splits into train and test (section 4.2). Each split has 80 % of every user's
---relevant items in train.
M.splits = 3

---Returns the random split with this number (section 4.2). `relevance` has all ratings, already marked
---as relevant or not. `nsr` negatives are sampled per relevant item, among items that are relevant to
---the user in no part. `valid` is the share of each user's training items that becomes the validation
---part.
---@return mr.Fold
function M.split(relevance, number, nsr, valid)
  return relevance:folds{ by = "share", k = M.splits, test = 0.2, nsr = nsr, valid = valid }[number]
end

---Returns a split of a data set with sampled negatives. The recipe "paper" samples items that are
---relevant to the user in no part. The recipes "code" and "published" both sample as the authors' code
---does (negatives.lua), with `o.seed`. `o.nsr` is the number of negatives per relevant item.
---@param set sigir21.Data
---@param o { split: integer, nsr: integer, seed: integer }
function M.fold(recipe, set, o)
  local how = M.recipes[recipe]
  if how.negatives == "apart" then return set.fold(o.split, o.nsr, how.valid) end
  return negatives.drawn(set.fold(o.split, 0, how.valid), o.nsr, set.items, o.seed)
end

---Returns how many relevant items each test user has in train, in the order of the test users (section
---5.3). Items that were moved from train to validation are included.
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

---How one kind of losses (listwise or LambdaRank) is trained.
---@class sigir21.Training
---@field optimizer "sgd"|"adam"
---@field batch integer        users per optimizer step
---@field batches? table<string, integer>  batch size of losses that differ from `batch`
---@field epochs integer       number of epochs; every fifth is evaluated and can be chosen
---@field rates number[]       learning rates that are tried

---A training setup that follows the paper, the authors' code, or their published results.
---@class sigir21.Recipe
---@field title string               completes a sentence: "trained ..."
---@field choose_on "valid"|"test"   the part whose scores choose epochs and learning rates
---@field valid number               share of each user's training items that becomes the validation part
---@field negatives "apart"|"authors"  sampled items are relevant in no part, or sampled as in the authors' code
---@field listwise sigir21.Training  training of listwise losses
---@field lambda sigir21.Training    training of LambdaRank's losses

-- Learning rates that section 4.2 tries for listwise losses and for LambdaRank, in the order in which they are run.
local listwise, lambda = { 1, 0.1, 3, 10, 0.01, 0.001 }, { 0.001, 0.01, 0.1 }

---Training setups by recipe: the paper's text, the last commit of the authors' code, and their
---published results. Sections 3.5 and 4.2 state SGD and 3000 epochs for all losses, but not the batch
---size, nor the part that chooses the epoch; the code chooses on test. The published numbers are
---reproduced if listwise losses have the last commit's optimizer of LambdaRank and vice versa, with the
---batch sizes given here.
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

---Returns how a loss is trained under a recipe ("paper", "code" or "published"): optimizer, batch size,
---number of epochs, and learning rates to try. `kind` is "listwise" or "lambda" (LambdaRank), `loss` a
---name such as "ndcg".
---@return sigir21.Training
function M.training(recipe, kind, loss)
  local of = M.recipes[recipe][kind]
  return { optimizer = of.optimizer, batch = of.batches and of.batches[loss] or of.batch, epochs = of.epochs,
    rates = of.rates }
end

---Number of factors of the matrix factorisation models (section 4.2). The authors chose it among
---`M.all_factors`.
M.factors = 32
M.all_factors = { 8, 16, 32, 64, 128 }
---Makes a matrix factorisation model for a data set. Initial values are those of the authors' code.
---`factors` is `M.factors` by default.
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
end

---Metrics by which every model is evaluated (section 4.2). Each metric also chooses an epoch. nDCG@5 is
---in the authors' results but not in the paper.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---Returns the metrics that choose epoch and learning rate for a loss (section 4.2). Most losses have
---one, the metric of the same name. Listwise nRBP has three, and so one training run gives three
---models.
---@return string[]
function M.own_metrics(loss)
  if loss == "nrbp" then return { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } end
  return { (loss:gsub("^nrbp", "rbp")) }
end

---Returns the name of the model of `loss` whose epoch the metric `by` chose. For listwise nRBP, the
---metric "rbp(0.8)" gives "nrbp(0.8)". Other losses have one model, with the loss's name.
function M.model_name(loss, by) return loss == "nrbp" and "n" .. by or loss end

---Returns true if two models come from one training run. Only the three models of listwise nRBP do,
---which differ in their epochs. Such models are not compared with each other. `kind` is "listwise" or
---"lambda"; `first` and `second` are names of models.
function M.same_training(kind, first, second)
  return kind == "listwise" and first:find "^nrbp" ~= nil and second:find "^nrbp" ~= nil
end

---Trains one model under a recipe ("paper", "code" or "published"). Every fifth epoch is evaluated, and
---every metric chooses its own epoch among these. The loss is summed over the users of a batch.
---`o.kind` is "listwise" or "lambda", `o.rate` the learning rate. An optional `o.epochs` replaces the
---recipe's number of epochs.
---@param o { kind: string, loss: string, rate: number, fold: mr.Fold, model: mr.Model, seed: integer }
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

---Returns the numbers to store for a training run in which every metric chose an epoch. For each
---metric, these are its test mean at its epoch, the value that chose the epoch (on validation or test,
---as the recipe says), and the epoch. For each metric in `own`, they also include the test means of all
---metrics at its epoch; the field `per_list` has the values of every test user.
---@param run mr.Run
---@param fold mr.Fold
---@param own string[]  metrics that choose epoch and learning rate for the loss, as from M.own_metrics
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

---Returns the element with the highest `chosen_by`: the value of the metric that chooses epoch and
---learning rate. If several elements are equal, returns the first.
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

---Returns the rows except those of the RR loss, which the paper leaves out after Figure 1 (section
---5.1). A row is the test score of one model by one metric on one split.
---@param rows sigir21.Row[]
---@return sigir21.Row[]
function M.analysed(rows)
  local found = {}
  for _, row in ipairs(rows) do
    if row.loss ~= "rr" then found[#found + 1] = row end
  end
  return found
end

---Fits a linear model to the scores of models by one metric (section 5.2). Scores are first
---standardised within each data set and negative sampling ratio (NSR). Terms are loss, data set, NSR,
---and the interactions of loss with data set and with NSR. Data set or NSR is left out if it has only
---one value.
---@param rows sigir21.Row[]  scores of one kind of losses (listwise or LambdaRank) by one metric
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

---Significance level of p-values that are corrected for multiple tests (section 5.2).
M.level = 0.05
function M.significant(p) return p < M.level end

---Returns the loss with the highest marginal mean in a linear model of scores (section 5.2), and
---whether this loss is significantly above all others. Models of the same training run (listwise nRBP
---has three) are not compared.
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

---Returns the pairs of losses that Figure 5 compares user by user: nRBP(0.95) with AP and with nDCG
---(section 5.3). In a pair, `rows` are the scores of nRBP(0.95), `loss` is the other loss, and `others`
---are its scores. Returns no pairs if one of these losses has no rows.
---@param rows sigir21.Row[]  scores of one kind of losses (listwise or LambdaRank) on one data set at one NSR
---@return { loss: string, rows: sigir21.Row[], others: sigir21.Row[] }[]
function M.compared(rows)
  local found, own = {}, analysis.where(rows, { loss = "nrbp(0.95)" })
  for i, loss in ipairs{ "ap", "ndcg" } do
    found[i] = { loss = loss, rows = own, others = analysis.where(rows, { loss = loss }) }
    if #own == 0 or #found[i].others == 0 then return {} end
  end
  return found
end

---Largest number of degrees of freedom of the splines in Figure 5. Without this limit, curves follow
---single users for metrics such as RBP, whose spread grows with the number of relevant items.
M.most_df = 10
---Fits a cubic smoothing spline to the points (x, y), for Figure 5. Generalised cross validation
---chooses the penalty, which is then doubled until the curve has at most `M.most_df` degrees of
---freedom. `range` has the first and last x of the curve.
function M.smoothed(x, y, range)
  local fit = mr.stats.spline(x, y, { range = range })
  while fit.df > M.most_df do fit = mr.stats.spline(x, y, { range = range, lambda = 2 * fit.lambda }) end
  return fit
end

---Corrects p-values for multiple tests by Holm's method: those of the slopes of all curves in Figure 5.
M.correct = mr.stats.holm

---Largest difference between our test score and the published one that counts as near. Scores of
---different folds differ by about 0.001.
M.close = 0.003
function M.near(difference) return math.abs(difference) <= M.close end

return M
