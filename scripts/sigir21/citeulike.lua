-- Li, Urbano & Hanjalic (2021) on CiteULike-a, on the authors' own folds 0 and 1: every loss at every learning rate
-- and NSR (sampled negatives per relevant item), beside the numbers of the authors' repository. Model: matrix
-- factorisation, 32 factors, initial values U(-0.01, 0.01). With --recipe published, the loss's own metric chooses
-- the epoch on the test part, as in the repository. With --recipe paper, the metric chooses the epoch on validation.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local runs, published = dofile(here .. "runs.lua"), dofile(here .. "published.lua")
local experiment = mr.experiment

local args = runs.args({
  seeds = { default = { 1 }, least = 1, distinct = true, help = "of models and negatives; their means are compared" },
}, { recipe = "published", without = { sets = { "citeulike" }, folder = "" } })
local close, is_near = runs.protocol.close, runs.protocol.near
local compared_by = { "ndcg", "ap", "rbp(0.95)" }

-- Returns, by metric, a model's test score minus the published one, and the difference that is largest in absolute
-- value. Returns nil if the repository has no number for this model.
local function differences(o, model)
  local found, largest = {}, 0
  for _, metric in ipairs(runs.metrics) do
    local printed = published.at{
      kind = o.kind,
      loss = o.loss,
      nsr = o.nsr,
      rate = o.rate,
      split = model.split,
      by = model.by,
      metric = metric }
    if not printed then return nil end
    found[metric] = model.scores[metric] - printed
    if math.abs(found[metric]) > math.abs(largest) then largest = found[metric] end
  end
  return found, largest
end

-- Returns the models of a loss at one learning rate, one for each split and metric that chose an epoch. Scores are
-- means over seeds; `sd` is the standard deviation of nDCG over seeds.
local function models_of(o)
  local found, at = {}, {}
  for _, seed in ipairs(args.seeds) do
    o.seed = seed
    for _, model in ipairs(runs.models(args, o)) do
      local key = ("%d %s"):format(model.split, model.by)
      if not at[key] then
        at[key], found[#found + 1] = {
          split = model.split,
          by = model.by,
          epoch = model.epoch,
          all = {},
          users = {} }, key
      end
      table.insert(at[key].all, model.scores)
      table.insert(at[key].users, model.users)
    end
  end
  for i, key in ipairs(found) do
    local model = at[key]
    model.scores, found[i] = {}, model
    for _, metric in ipairs(runs.metrics) do
      local values = {}
      for s, scores in ipairs(model.all) do values[s] = scores[metric] end
      model.scores[metric] = mr.stats.mean(values)
      if metric == "ndcg" then model.sd = #values > 1 and mr.stats.summary(values).sd or "" end
    end
  end
  return found
end

-- Returns one value per test user: the user's metric, as a mean over the models of all seeds.
local function of_users(model, metric)
  local sums = {}
  for _, users in ipairs(model.users) do
    for u, value in ipairs(users(metric)) do sums[u] = (sums[u] or 0) + value / #model.users end
  end
  return sums
end

-- Collects confidence intervals for the cells of the table of all models. The interval of a difference treats the
-- published number as exact.
local cells = experiment.cells("bootstrap over users",
  function(_, column) return column ~= "sd of nDCG" and #args.seeds or nil end)
local function note(r, model, less)
  for _, metric in ipairs{ "ndcg", "ap", "rr", "rbp(0.95)" } do
    local title, ends = runs.title_of[metric], experiment.over_lists(of_users(model, metric))
    cells:note(r, title, ends)
    if less and ends then
      local printed = model.scores[metric] - less[metric]
      cells:note(r, title .. ", less published", { ends[1] - printed, ends[2] - printed })
    end
  end
end

-- Returns a model's line of the table of all models. If there are published numbers, also returns a record for the
-- comparison, in which `all` is true if every metric is near its published value, and the differences by metric.
local function line_of(o, model)
  local of, largest = differences(o, model)
  local line = { o.nsr, o.kind, runs.title_of[o.loss], o.rate, model.split, runs.title_of[model.by], model.epoch }
  if #args.seeds > 1 then line[#line + 1] = model.sd end
  for _, metric in ipairs{ "ndcg", "ap", "rr", "rbp(0.95)" } do
    line[#line + 1] = model.scores[metric]
    if not args.made_up then line[#line + 1] = of and of[metric] or "" end
  end
  if args.made_up then return line end
  line[#line + 1] = largest or ""
  local near = {}
  for _, metric in ipairs(of and compared_by or {}) do
    near[#near + 1] = is_near(of[metric]) and runs.title_of[metric] or nil
  end
  line[#line + 1] = not of and "" or #near > 0 and table.concat(near, ", ") or "none"
  return line, of and { kind = o.kind, loss = o.loss, less = of, all = is_near(largest) }, of
end

local function each_run(visit)
  for _, nsr in ipairs(args.nsr) do
    for _, kind in ipairs(args.kinds) do
      for _, loss in ipairs(runs.losses_of(args, kind)) do
        local rates = table.move(runs.training(args, kind, loss).rates, 1, 99, 1, {})
        table.sort(rates)
        for _, rate in ipairs(rates) do visit{ set = "citeulike", nsr = nsr, kind = kind, loss = loss, rate = rate } end
      end
    end
  end
end

local lines, compared = {}, {}
each_run(function(o)
  for _, model in ipairs(models_of(o)) do
    local line, near, less = line_of(o, model)
    lines[#lines + 1], compared[#compared + 1] = line, near
    note(#lines, model, less)
  end
end)

runs.check_found(args, lines)
local columns = { "NSR", "kind", "loss", "rate", "fold", "chosen by", "epoch" }
local formats = {}
if #args.seeds > 1 then columns[#columns + 1], formats["sd of nDCG"] = "sd of nDCG", "%.4f" end
for _, title in ipairs{ "nDCG", "AP", "RR", "RBP(0.95)" } do
  columns[#columns + 1], formats[title] = title, "%.4f"
  if not args.made_up then
    columns[#columns + 1], formats[title .. ", less published"] = title .. ", less published", "%+.4f"
  end
end
if not args.made_up then
  formats.largest = "%+.4f"
  table.move({ "largest", ("within %g"):format(close) }, 1, 2, #columns + 1, columns)
end

-- Groups the models that have published numbers by loss. Each group is a list of models with the loss's name
-- (`name`) and the number of models per training run (`by`), in order of first appearance.
local function losses_compared()
  local found, at = {}, {}
  for _, each in ipairs(compared) do
    local name = ("%s %s"):format(each.kind == "lambda" and "LambdaRank" or each.kind, runs.title_of[each.loss])
    if not at[name] then
      at[name] = { name = name, by = #runs.own_metrics(each.loss) }
      found[#found + 1] = at[name]
    end
    table.insert(at[name], each)
  end
  return found
end

-- Counts the models of a loss whose test score by this metric is near the published one (within `close`).
local function near_by(of_loss, metric)
  local count = 0
  for _, each in ipairs(of_loss) do count = count + (is_near(each.less[metric]) and 1 or 0) end
  return count
end

-- Returns the median, over the models of a loss, of the test score by a metric minus the published score.
local function median_of(of_loss, metric)
  local values = {}
  for i, each in ipairs(of_loss) do values[i] = each.less[metric] end
  table.sort(values)
  return (values[(#values + 1) // 2] + values[#values // 2 + 1]) / 2
end

-- Number of models that one training run of a loss gives, by the loss's name: one for each metric that chooses an
-- epoch.
local models_of_run = {}

-- Returns the lines of the table by loss: how many of the loss's models are near the published numbers, by each
-- metric, and the median difference.
local function lines_by_loss()
  local found = {}
  for i, of_loss in ipairs(losses_compared()) do
    local line, all = { of_loss.name, #of_loss }, 0
    models_of_run[of_loss.name] = of_loss.by
    for _, metric in ipairs(compared_by) do
      table.move({ near_by(of_loss, metric), median_of(of_loss, metric) }, 1, 2, #line + 1, line)
    end
    for _, each in ipairs(of_loss) do all = all + (each.all and 1 or 0) end
    line[#line + 1], found[i] = all, line
  end
  return found
end

local function table_by_loss()
  local heads, of = { "loss", "models" }, {}
  for _, metric in ipairs(compared_by) do
    local title = runs.title_of[metric]
    of["median of " .. title] = "%+.4f"
    table.move({ title .. " near", "median of " .. title }, 1, 2, #heads + 1, heads)
  end
  heads[#heads + 1] = "all seven near"
  return mr.table{ columns = heads, rows = lines_by_loss(), formats = of }
end

local explained = {
  published = {
    listwise = [[
The negatives are drawn as the authors draw them, but are other samples. At rates of 1 and more listwise nRBP diverges, here as there.]],  -- luacheck: ignore 631
    lambda = [[
What is explained. Rate 0.1, every NSR: the published numbers are those of the first epoch. The authors' code computes exp(f_i - f_j) in
single precision, which overflows where scores differ by more than 88.7, and its gradient is NaN from then on. At this rate scores differ
by less than 1 in the batches of the first epoch and by more than 100 in the second, before the next evaluation. nDCG on folds 0 and 1 is
0.9196 and 0.9175 after 120 epochs at NSR 1, 0.8169 and 0.8150 after one, published 0.8202 and 0.8187. After one epoch (--rates 0.1
--epochs 1 --store FILE) all 30 models but those of AP are within 0.0084 in nDCG, 16 of them within 0.003.

What is unknown:
- AP at every rate and NSR. The authors' code counts the pairs in the wrong order only. In a trial that gave an nDCG of 0.907 at the rate
  0.001, NSR 1 and fold 0, where all pairs give 0.952 and 0.9318 is published. At NSR 2 and 5 their code reads past the end of the
  longest list, so that it cannot have made these numbers.
- nRBP at the rates 0.001 and 0.01. The code of these results was not published; later code multiplies where normalisation divides. At the
  rate 0.001 on fold 0 the nDCG of nRBP(0.8), (0.9) and (0.95) is 0.894, 0.927 and 0.945 at NSR 1, where 0.9393, 0.9564 and 0.9643 are
  published. At NSR 5 nRBP(0.8) has 0.798 and nRBP(0.95) has 0.884, published are 0.8182 and 0.8829. After 600 epochs nRBP(0.95) has 0.948
  at NSR 1, so that more epochs are not the reason. In trials of nRBP(0.95) at NSR 1, of 40 to 120 epochs, no other weights of pairs had
  more than 0.946: those of Eq. 10, of one rank alone, of the distance of ranks, of pairs in the wrong order, with a sign, with other
  weights of users. Nor had a linear loss of pairs and other epsilons of Adam.
]],
  },
  code = [[
The last commit is not what the published numbers were made with: it has Adam for listwise losses and SGD for LambdaRank, which land on them
the other way round, and its losses of AP and LambdaRank were changed after the results.]],
  paper = [[
The published numbers are not of these equations: in their code the sigmoid of listwise nRBP has the gain 0.01 and sees the padding of
lists, and AP adds up other rows. A tenth of each user's items of train is for validation here, which chooses the epoch.]],  -- luacheck: ignore 631
}

-- Returns the text that explains differences from the published numbers: for the training setup that --recipe names,
-- and for the kinds of losses (listwise, LambdaRank) in the table.
local function explanation()
  local of, parts = explained[args.recipe], {}
  if type(of) == "string" then return of end
  for i, kind in ipairs(args.kinds) do parts[i] = of[kind] end
  return table.concat(parts, "\n\n")
end

local text = ("The %d models are trained %s. "):format(#lines, runs.recipes[args.recipe].title)
if #compared > 0 then
  text = text .. [[
Models of other seeds and negatives differ among themselves (--seeds), so that a median near 0 says more than a single
difference.
]] .. explanation()
end
text = text .. runs.missing(args)
local beside = ([[
; less published: our number less the published one; largest: of these differences over all seven metrics; within %g:
whether the largest is]]):format(close)
local legend = ([[
NSR: negative sampling ratio; chosen by: metric that chose the epoch; nDCG, AP, RR, RBP(0.95): on test%s.]]):format(
  args.made_up and "" or beside)
local tables = { experiment.named("All models", mr.table{ columns = columns, rows = lines, formats = formats }, cells,
  legend) }
if #compared > 0 then table.insert(tables, 1, experiment.named("Models near the published ones, by loss",
  table_by_loss(),
  experiment.cells(nil, function(row) return row[2] * #args.seeds // models_of_run[row[1]] end), ([[
models: how many; near: how many of them have a test mean within %g of the published one; median of: differences from
the published means; all seven near: how many are near by all seven metrics.]]):format(close))) end
local section = experiment.finish(args, nil, text, table.unpack(tables))
if #compared > 0 and args.recipe == "published" then
  local within = 0
  for _, each in ipairs(compared) do within = within + (is_near(each.less.ndcg) and 1 or 0) end
  section.agreement = { of = #compared, within = within, tolerance = ("%g in nDCG"):format(close) }
  section.finding = ("Of the %d models that are trained as published %d have a test nDCG within %g of "
    .. "the published one."):format(#compared, within, close)
end
return section
