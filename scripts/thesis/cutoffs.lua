-- Makes the training runs of why_curves_differ.lua: models trained on the nDCG loss without a bound, on MovieLens and
-- MQ2008. A run stores nDCG@k of every test list for k = 1 to 10. Rankings of MovieLens are measured a second time:
-- random rows of the test lists are left out, so that the lists have the shapes (numbers of rows and of relevant rows)
-- of MQ2008's lists.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local runs = dofile(here .. "beside.lua")
local protocol = runs.protocol

local M = { deepest = 10 }

---The least label of a relevant document in MQ2008. Models are trained and tested for each of these values.
M.labels = { 2, 1 }

local metrics = { "auc" }
for k = 1, M.deepest do metrics[k + 1] = "ndcg@" .. k end

-- The shapes of lists, as {n = number of rows, p = number of relevant rows}, for every list that has both relevant and
-- irrelevant rows.
local function shapes_of(lists)
  local sizes, relevant, found = lists.sizes:totable(), lists.relevant:totable(), {}
  for l, n in ipairs(sizes) do
    if relevant[l] > 0 and relevant[l] < n then found[#found + 1] = { n = n, p = relevant[l] } end
  end
  return found
end

-- Appends `count` random entries of `rows`, drawn without replacement, to `into`. Changes the order of `rows`.
local function some_of(rows, count, into)
  for i = 1, count do
    local j = math.random(i, #rows)
    rows[i], rows[j] = rows[j], rows[i]
    into[#into + 1] = rows[i]
  end
end

-- Leaves out random rows of each list in the dataset `part`, so that the list gets one of `shapes` (numbers of rows and
-- of relevant rows), drawn among the shapes that the list is large enough for. Lists too small for every shape are left
-- out. Returns the numbers of the remaining rows, and the new lists.
local function thinned(part, shapes, seed)
  math.randomseed(seed, part.lists.rows)
  local grades, kept, lists, at = part.lists.relevance:totable(), {}, {}, 0
  for _, n in ipairs(part.lists.sizes:totable()) do
    local own, others, fitting = {}, {}, {}
    for i = at + 1, at + n do table.insert(grades[i] > 0 and own or others, i) end
    for _, shape in ipairs(shapes) do
      if shape.p <= #own and shape.n - shape.p <= #others then fitting[#fitting + 1] = shape end
    end
    if #fitting > 0 then
      local shape, first = fitting[math.random(#fitting)], #kept
      some_of(own, shape.p, kept)
      some_of(others, shape.n - shape.p, kept)
      local list = {}
      for i = first + 1, #kept do list[i - first] = grades[kept[i]] end
      lists[#lists + 1] = list
    end
    at = at + n
  end
  return mr.tensor(kept, { dtype = "int64" }), mr.lists(lists)
end

-- Adds to the table `into` each list's value of every metric, its number of rows and its number of relevant rows. Keys
-- are `prefix` followed by the name, e.g. "thinned ndcg@5".
local function measure(into, prefix, scores, lists)
  for _, name in ipairs(metrics) do into[prefix .. name] = mr.metrics.parse(name)(scores, lists) end
  into[prefix .. "rows"], into[prefix .. "relevant"] = lists.sizes, lists.relevant
end

-- Trains one model and measures its rankings of the test lists. If given, `shapes(fold)` returns the shapes (numbers of
-- rows and of relevant rows) of another data set's lists. For a second measurement, random rows of the test lists are
-- left out so that they have such shapes.
local function run(args, set, rate, trial, shapes)
  local fold = set.fold(trial[set.setting], trial.split, args.seed)
  local model = set.model(set.size, args.seed)
  local fitted = protocol.train(set, fold, { seed = args.seed, model = model, loss = mr.losses.ndcg{}, rate = rate,
    metrics = { protocol.metric_of.ndcg } })
  local batch, per_list = fold.test:batches{ size = fold.test.count }(), {}
  local scores = mr.no_grad(function() return model(batch) end)
  measure(per_list, "", scores, batch.lists)
  if shapes then
    local rows, lists = thinned(fold.test, shapes(trial.split), args.seed)
    measure(per_list, "thinned ", scores:rows(rows), lists)
  end
  return { valid = fitted.best.metrics.ndcg, per_list = per_list }
end

---The results of the training runs on a data set, one run per setting (negatives per relevant item, or least relevant
---label) and fold. Runs that are not yet stored are made.
---@param args table  parsed command line (training.args), with a `seed`
---@param name "movielens"|"mq2008"
---@return mr.Results
function M.study(args, name)
  local set, other = runs.set(args, name), name == "movielens" and runs.set(args, "mq2008") or nil
  local values = name == "mq2008" and { table.unpack(M.labels, 1, args.smoke and 1 or nil) } or set.values
  local rate = runs.rates[name].ndcg.none
  local function shapes(fold) return shapes_of(other.fold(M.labels[1], fold, args.seed).test.lists) end
  return runs.study(args, {
    name = ("nDCG by cut-off, %s, seed %d"):format(name, args.seed), settings = { epochs = set.epochs, rate = rate },
    space = { [set.setting] = mr.choice(values), split = mr.range(1, set.folds) },
    run = function(trial) return run(args, set, rate, trial, other and shapes) end,
  })
end

return M
