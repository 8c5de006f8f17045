-- Computations and statistical tests of Figures 1 to 5 of Li, Urbano & Hanjalic (2021), with the section of the paper
-- behind each decision. The functions get rows from models.lua: a row is the test score of one model by one metric on
-- one split.
local mr = require "moonrank"

local M = {}

---Returns the distinct values of a field of rows, such as "loss", in order of first appearance.
---@param rows sigir21.Row[]
---@return any[]
function M.distinct(rows, field)
  local found, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row[field]] then found[#found + 1], seen[row[field]] = row[field], true end
  end
  return found
end

---Returns the rows that have these values in these fields, e.g. { loss = "ap", nsr = 1 }.
---@param rows sigir21.Row[]
---@param fields table<string, any>
---@return sigir21.Row[]
function M.where(rows, fields)
  local found = {}
  for _, row in ipairs(rows) do
    local same = true
    for name, value in pairs(fields) do same = same and row[name] == value end
    if same then found[#found + 1] = row end
  end
  return found
end

-- Returns a key that is equal for rows of the same data set, NSR, split and kind of losses (listwise or LambdaRank).
local function split_of(row) return ("%s\n%s\n%d\n%d"):format(row.kind, row.dataset, row.nsr, row.split) end

---Returns the rows of those splits in which every loss of a kind (listwise or LambdaRank) has a
---training run. In other splits losses cannot be compared; such splits occur while a store still lacks
---runs.
---@param rows sigir21.Row[]
---@return sigir21.Row[] rows
---@return integer splits  number of splits that are left out
function M.complete(rows)
  local expected, there, found, left = {}, {}, {}, 0
  for _, kind in ipairs(M.distinct(rows, "kind")) do
    expected[kind] = #M.distinct(M.where(rows, { kind = kind }), "loss")
  end
  for _, row in ipairs(rows) do
    local key = split_of(row)
    there[key] = there[key] or { kind = row.kind, count = 0 }
    if not there[key][row.loss] then there[key][row.loss], there[key].count = true, there[key].count + 1 end
  end
  for _, row in ipairs(rows) do
    if there[split_of(row)].count == expected[row.kind] then found[#found + 1] = row end
  end
  for _, each in pairs(there) do left = left + (each.count < expected[each.kind] and 1 or 0) end
  return found, left
end

---Returns the mean, smallest and largest score of rows, or three NaN if there are no rows.
---@return number mean
---@return number low
---@return number high
function M.spread(rows)
  if #rows == 0 then return 0 / 0, 0 / 0, 0 / 0 end
  local sum, low, high = 0.0, math.huge, -math.huge
  for _, row in ipairs(rows) do
    sum, low, high = sum + row.score, math.min(low, row.score), math.max(high, row.score)
  end
  return sum / #rows, low, high
end

---Counts in how many cases each loss has the best test score. A case is one split at one negative
---sampling ratio (NSR). If losses tie, each of them is counted.
---@param rows sigir21.Row[]  scores of one kind of losses, by one metric on one data set
---@return table<string, integer> counts  by loss
---@return integer cases  number of combinations of split and NSR
function M.best_counts(rows)
  local counts, cases = {}, 0
  for _, loss in ipairs(M.distinct(rows, "loss")) do counts[loss] = 0 end
  for _, nsr in ipairs(M.distinct(rows, "nsr")) do
    local of_nsr = M.where(rows, { nsr = nsr })
    for _, split in ipairs(M.distinct(of_nsr, "split")) do
      local case = M.where(of_nsr, { split = split })
      local _, _, best = M.spread(case)
      for _, row in ipairs(case) do
        if row.score == best then counts[row.loss] = counts[row.loss] + 1 end
      end
      cases = cases + 1
    end
  end
  return counts, cases
end

-- Returns, by user, sums over the splits of `rows`: the user's scores (`sum`), numbers of relevant training items
-- (`positives`), and splits in which the user has a score (`count`).
local function by_user(rows)
  local users = {}
  for _, row in ipairs(rows) do
    local found = row.per_list()
    for i, user in ipairs(found.users) do
      local one, score = users[user] or { sum = 0.0, positives = 0.0, count = 0 }, found.scores[i]
      if score == score then
        users[user] = one
        one.sum, one.positives, one.count = one.sum + score, one.positives + found.positives[i], one.count + 1
      end
    end
  end
  return users
end

---Computes, for every user, the difference between the mean scores under two losses, each over all
---splits, and log2 of the user's mean number of relevant training items. Users without a score under
---one of the losses are left out.
---@param rows sigir21.Row[]   rows of one loss
---@param others sigir21.Row[] rows of another loss, with the same metric, data set and NSR
---@return number[] positives  log2 of the numbers of relevant training items
---@return number[] differences
function M.differences(rows, others)
  local first, second, ids, x, y = by_user(rows), by_user(others), {}, {}, {}
  for user in pairs(first) do ids[#ids + 1] = user end
  table.sort(ids)
  for _, user in ipairs(ids) do
    local a, b = first[user], second[user]
    local change = b and a.sum / a.count - b.sum / b.count or 0 / 0
    if change == change and a.positives > 0 then
      x[#x + 1], y[#y + 1] = math.log(a.positives / a.count, 2), change
    end
  end
  return x, y
end

---Returns how many relevant items each user has in train (section 5.3), by user. Items that were moved from train to
---validation are included.
---@param fold { train: mr.Dataset, valid: mr.Dataset }
---@return table<integer, number>
function M.positives(fold)
  local of = {}
  for _, part in ipairs{ fold.train, fold.valid } do
    local users = part.users:totable()
    for i, n in ipairs(part.lists.relevant:totable()) do of[users[i]] = (of[users[i]] or 0.0) + n end
  end
  return of
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
    if #M.distinct(rows, name) > 1 then
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
  local found, own = {}, M.where(rows, { loss = "nrbp(0.95)" })
  for i, loss in ipairs{ "ap", "ndcg" } do
    found[i] = { loss = loss, rows = own, others = M.where(rows, { loss = loss }) }
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

return M
