-- The protocol of Li, Urbano & Hanjalic (2021): every decision behind their numbers, as a function or a value that the
-- scripts use. Sections are those of the paper. Recipe "paper" does as the paper says, "code" as the authors' last
-- commit, "published" as the printed results were made.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local losses, negatives = dofile(here .. "losses.lua"), dofile(here .. "negatives.lua")
local analysis = dofile(here .. "analysis.lua")

local M = { losses = losses }

-- Relevant rows -----------------------------------------------------------------------------------------------------

---Section 4.1: ratings of 4 and 5, or all of unary data, of users with at least 25 relevant items. The authors' files
---hold relevant rows only.
M.relevant = {
  graded = function(ratings) return ratings:binarize(4):min_relevant(25) end,
  unary = function(ratings) return ratings:binarize(1):min_relevant(25) end,
  published = function(ratings) return ratings:binarize(1) end,
}

-- Parts and negatives -----------------------------------------------------------------------------------------------

---Section 4.2: negatives per relevant item, in train and in test.
M.nsr = { 1, 2, 5 }

---Section 4.2: the number of random splits; each has 80 % of every user's relevant items in train.
M.splits = 3

---Section 4.2: a random split. Negatives of a part are relevant in no part. `valid`: share of each user's items of
---train.
---@return mr.Fold
function M.split(relevance, number, nsr, valid)
  return relevance:folds{ by = "share", k = M.splits, test = 0.2, nsr = nsr, valid = valid }[number]
end

---A split with negatives as the recipe draws them: apart from all parts (the paper), or as the authors' code draws them
---(negatives.lua).
---@param set sigir21.Data
---@param o { split: integer, nsr: integer, seed: integer }
function M.fold(recipe, set, o)
  local how = M.recipes[recipe]
  if how.negatives == "apart" then return set.fold(o.split, o.nsr, how.valid) end
  return negatives.drawn(set.fold(o.split, 0, how.valid), o.nsr, set.items, o.seed)
end

---Section 5.3: how many relevant items each user of test has in train, before a part of these became validation.
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

-- Training ----------------------------------------------------------------------------------------------------------

---@class sigir21.Training
---@field optimizer "sgd"|"adam"
---@field batch integer        users per step
---@field batches? table<string, integer>  of losses with batches of their own
---@field epochs integer
---@field rates number[]       learning rates to choose from

---@class sigir21.Recipe
---@field title string
---@field choose_on "valid"|"test"   the part that chooses epochs and learning rates
---@field valid number               share of each user's items of train that becomes the validation part
---@field negatives "apart"|"authors"
---@field listwise sigir21.Training
---@field lambda sigir21.Training

-- Section 4.2, in the order in which they are run
local listwise, lambda = { 1, 0.1, 3, 10, 0.01, 0.001 }, { 0.001, 0.01, 0.1 }

---Sections 3.5 and 4.2 say SGD and 3000 epochs for all, but neither the batch nor which part chooses; the code chooses
---on test. The published numbers come from the optimizers of the last commit the other way round, with the batches that
---land on them.
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

---How a loss is trained under a recipe.
---@return sigir21.Training
function M.training(recipe, kind, loss)
  local of = M.recipes[recipe][kind]
  return { optimizer = of.optimizer, batch = of.batches and of.batches[loss] or of.batch, epochs = of.epochs,
    rates = of.rates }
end

---Section 4.2: matrix factorisation of 32 factors; the preliminary search was among M.all_factors. The start is that of
---the authors' code.
M.factors = 32
M.all_factors = { 8, 16, 32, 64, 128 }
function M.model(set, factors, seed)
  return mr.models.mf{ users = set.users, items = set.items, factors = factors or M.factors, init = 0.01, seed = seed }
end

---Section 4.2: the metrics that judge every model, and choose epochs; nDCG@5 is in the authors' results alone.
M.metrics = { "rr", "ap", "ndcg", "ndcg@5", "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" }

---Section 4.2: the metrics that choose epoch and learning rate of a loss's own models; listwise nRBP has three models.
---@return string[]
function M.own_metrics(loss)
  if loss == "nrbp" then return { "rbp(0.8)", "rbp(0.9)", "rbp(0.95)" } end
  return { (loss:gsub("^nrbp", "rbp")) }
end

---Section 4.2: the name of the model of a loss that a metric chose; listwise nRBP has one for each persistence.
function M.model_name(loss, by) return loss == "nrbp" and "n" .. by or loss end

---Section 4.2: whether two models of a kind are of one training, as those of listwise nRBP are, which are not held
---against each other.
function M.same_training(kind, first, second)
  return kind == "listwise" and first:find "^nrbp" ~= nil and second:find "^nrbp" ~= nil
end

---One training, of which every metric chooses an epoch, among each fifth. The loss is the sum over the users of a
---batch.
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

---The result of a run in which every metric has chosen an epoch. For each metric: its test score at
---its epoch, the validation score that chose the epoch, and the epoch. At the epochs that the
---loss's own metrics chose: all test scores, with those of every user.
---@param run mr.Run
---@param fold mr.Fold
---@param own string[]  the metrics that choose the loss's models
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

---The training with the highest `chosen_by`, the first of several.
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

-- Statistics --------------------------------------------------------------------------------------------------------

---Section 5.1: the rows without the RR loss, which the paper leaves out of all that follows its Figure 1.
---@param rows sigir21.Row[]
---@return sigir21.Row[]
function M.analysed(rows)
  local found = {}
  for _, row in ipairs(rows) do
    if row.loss ~= "rr" then found[#found + 1] = row end
  end
  return found
end

---Section 5.2: a linear model of the scores by one metric, standardised within data set and NSR: loss, data set and
---NSR, and the interactions of the loss with the other two. Factors with one value only are left out.
---@param rows sigir21.Row[]  of one kind and metric
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

---Section 5.2: the level below which a corrected p-value is significant.
M.level = 0.05
function M.significant(p) return p < M.level end

---Section 5.2: the loss of the highest marginal mean, and whether it is significantly above every one of another
---training.
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

---Section 5.3, Figure 5: the rows of the models that are compared by user, those of nRBP(0.95) with those of AP and
---nDCG at one NSR; nothing where one of these has no rows.
---@param rows sigir21.Row[]  of one kind and data set
---@return { loss: string, rows: sigir21.Row[], others: sigir21.Row[] }[]
function M.compared(rows)
  local found, own = {}, analysis.where(rows, { loss = "nrbp(0.95)" })
  for i, loss in ipairs{ "ap", "ndcg" } do
    found[i] = { loss = loss, rows = own, others = analysis.where(rows, { loss = loss }) }
    if #own == 0 or #found[i].others == 0 then return {} end
  end
  return found
end

---Figure 5: a cubic smoothing spline whose penalty is that of generalised cross validation, or as much larger as ten
---degrees of freedom take: alone, cross validation follows single users by metrics whose spread grows with the
---positives, as RBP's does.
M.most_df = 10
function M.smoothed(x, y, range)
  local fit = mr.stats.spline(x, y, { range = range })
  while fit.df > M.most_df do fit = mr.stats.spline(x, y, { range = range, lambda = 2 * fit.lambda }) end
  return fit
end

---Figure 5: corrected p-values of the slopes of all curves.
M.correct = mr.stats.holm

---The largest difference from a published number that counts as none. The spread over folds is 0.001.
M.close = 0.003
function M.near(difference) return math.abs(difference) <= M.close end

return M
