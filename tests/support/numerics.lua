-- Prints fingerprints of the exact bits of results: trains, evaluates and bounds small made-up data, and prints one
-- line for each case. The lines are identical on x86-64 with AVX2 and FMA or better, and on aarch64.
-- tests/golden/numerics.txt has the expected lines, and numerics_spec.lua compares them. If results were changed on
-- purpose, change the version name in kernels/core/numerics.h, and make the file anew from the root of the checkout:
-- build/release/moonrank tests/support/numerics.lua > tests/golden/numerics.txt
-- Most time is spent on bounds, and on losses under bounds. `--parts 4 --part 1` runs only every fourth group of these
-- cases, from the second on, and all other cases.
local mr = require "moonrank"
local core = require "moonrank.core"
local fingerprint = require "moonrank.data.fingerprint"
local random = require "moonrank.tensor.random"
local registry = require "moonrank.metrics.registry"

local args = mr.args{ parts = 1, part = 0 }

mr.device "cpu"
-- silences warnings about lists without relevant rows, which this script has on purpose
require("moonrank.check").warn = function() end

local groups = 0  -- number of groups of slow cases so far

-- Counts a group of slow cases, and returns true if this process should run it (options --parts and --part).
local function is_due()
  groups = groups + 1
  return (groups - 1) % args.parts == args.part
end

local function case(name, ...) print(("%s %s"):format(name:gsub(" ", "_"), fingerprint.combined(...))) end

-- Returns random grades of n rows: 0, or in about one of `every` rows 1 or 2.
local function grades_of(n, every, seed)
  local u, grades = mr.uniform({ n }, { seed = seed, stream = "grades" }):totable(), {}
  for i = 1, n do grades[i] = u[i] * every < 0.6 and 1 or u[i] * every < 1 and 2 or 0 end
  return grades
end

-- Returns a made-up data set with lists of these sizes, and with features, users and items.
local function data_of(sizes, seed)
  local relevance = {}
  for i, n in ipairs(sizes) do relevance[i] = grades_of(n, 3, 100 * seed + i) end
  local lists, users = mr.lists(relevance), {}
  for i = 1, #sizes do users[i] = i end
  local items = mr.uniform({ lists.rows }, { seed = seed, stream = "items" }):totable()
  for i, u in ipairs(items) do items[i] = 1 + math.floor(400 * u) end
  return mr.data.dataset{ lists = lists, features = mr.normal({ lists.rows, 7 }, { seed = seed }),
    name = "made-up lists", users = mr.tensor(users, { dtype = "int64" }),
    items = mr.tensor(items, { dtype = "int64" }) }
end

local train, valid = data_of({ 1, 2, 3, 300, 7, 16, 17, 33, 64, 100 }, 1), data_of({ 5, 40, 90 }, 2)

local models = {
  mf = function(items) return mr.models.mf{ users = 10, items = items or 400, factors = 17, init = 0.3 } end,
  mlp = function() return mr.models.mlp{ inputs = 7, hidden = { 19, 6 }, activation = "tanh" } end,
  self_attention = function()
    return mr.models.self_attention{ inputs = 7, width = 12, heads = 2, blocks = 1, dropout = 0.2 }
  end,
}

-- Trains a model for one short epoch or more, and prints fingerprints of its weights, history and metrics. `options`
-- are further options of mr.fit.
local function trained(name, model, loss, optimizer, epochs, options)
  local o = { model = model, loss = loss, optimizer = optimizer, train = train, valid = valid, test = valid, batch = 4,
    epochs = epochs or 1, metrics = { "ndcg", "ap" }, progress = false }
  for key, value in pairs(options or {}) do o[key] = value end
  local run = mr.fit(o)
  local numbers = { run.history[#run.history].loss, run.test.mean.ndcg, run.test.mean.ap }
  for _, parameter in ipairs(model:parameters()) do numbers[#numbers + 1] = parameter:detach() end
  case("train " .. name, table.unpack(numbers))
end

local pairwise = { ranknet = mr.losses.ranknet, lambdarank_ndcg = mr.losses.lambdarank, lambdarank_ap = true,
  lambdarank_nrbp = true }
for name in pairs(pairwise) do
  local metric = name:match "^lambdarank_(.*)"
  if metric then
    pairwise[name] = function(options) return mr.losses.lambdarank{ metric = metric, bound = options.bound } end
  end
end
local smooth = { ndcg = mr.losses.ndcg, ap = mr.losses.ap, rr = mr.losses.rr, nrbp = mr.losses.nrbp }

local function sorted(named)
  local names = {}
  for name in pairs(named) do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function train_all()
  local bounds = { sampled = mr.bounds.distribution_bound{ method = "sampled", steepness = "samples", samples = 2000 } }
  for _, name in ipairs(mr.bounds.names()) do bounds[name] = name end
  for _, kind in ipairs(sorted(models)) do
    for _, bound in ipairs(sorted(bounds)) do
      for _, loss in ipairs(sorted(smooth)) do
        trained(("%s %s %s"):format(kind, loss, bound), models[kind](), smooth[loss]{ bound = bounds[bound] })
      end
      local affine = bound == "none" or not bound:find "distribution" and bound ~= "sampled"
      for _, loss in ipairs(affine and sorted(pairwise) or {}) do
        trained(("%s %s %s"):format(kind, loss, bound), models[kind](), pairwise[loss]{ bound = bounds[bound] })
      end
    end
  end
end

-- Trains matrix factorisation under each optimizer, with 400 and with 62,000 items. With many items, a step gives a
-- gradient to few embedding rows, and updates of the other rows are deferred.
local function train_by_optimizer()
  local optimizers = { sgd = mr.optim.sgd{}, momentum = mr.optim.sgd{ momentum = 0.9 },
    adam = mr.optim.adam{ lr = 0.01 }, decay = mr.optim.adam{ weight_decay = 0.01 },
    sparse = mr.optim.adam{ sparse = true } }
  for _, name in ipairs(sorted(optimizers)) do
    for _, items in ipairs{ 400, 62000 } do
      trained(("mf %d items %s"):format(items, name), models.mf(items), mr.losses.ap{}, optimizers[name], 3)
    end
  end
end

-- Changes normally distributed scores into scores that are close together, tied, far apart or equal.
local shapes = { plain = function(x) return x end, tied = function(x) return (x * 3 + 100):to "int64":to(x.dtype) end,
  wide = function(x) return x * 60 end, spread = function(x) return x * 5000 end, equal = function(x) return x * 0 end }

-- Returns a list of n rows: one in 4 is relevant, or one in 500 if the list has more than 1,000 rows.
local function list_of(n) return mr.lists{ grades_of(n, n > 1000 and 500 or 4, n) } end

-- Prints the fingerprint of a loss on one list: its value, and its derivative with respect to the scores.
local function step_of_loss(name, loss, n, shape, dtype, lists)
  local scores = shapes[shape](mr.normal({ n }, { seed = n, dtype = dtype })):requires_grad()
  local value = loss(scores, lists or list_of(n))
  value:sum():backward()
  case(("step %s %d %s %s"):format(name, n, shape, dtype), value:detach(), scores.grad)
end

local function step_of_one_list()
  local losses = {}
  for name, make in pairs(smooth) do losses[name] = make{} end
  for name, make in pairs(pairwise) do losses[name] = make{} end
  for _, n in ipairs{ 1, 2, 5, 31, 64, 100, 777, 5000, 40000 } do
    local lists = list_of(n)
    for _, shape in ipairs(n > 1000 and { "plain", "tied" } or sorted(shapes)) do
      for _, dtype in ipairs(n > 5000 and { "float32" } or { "float32", "float64" }) do
        for _, name in ipairs(sorted(losses)) do step_of_loss(name, losses[name], n, shape, dtype, lists) end
      end
    end
  end
end

-- Smooth metrics with the Laplace kernel: trains with the bound min-max, and does steps on single lists.
local function laplace_all()
  for _, name in ipairs(sorted(smooth)) do
    trained(("mf laplace_%s minmax"):format(name), models.mf(), smooth[name]{ kernel = "laplace", bound = "minmax" })
    for _, n in ipairs{ 1, 5, 33, 777, 5000 } do
      for _, shape in ipairs{ "plain", "tied" } do
        for _, dtype in ipairs{ "float32", "float64" } do
          step_of_loss("laplace_" .. name, smooth[name]{ kernel = "laplace" }, n, shape, dtype)
        end
      end
    end
  end
end

-- LambdaRank for all metrics that `pairwise` does not have: trains without a bound and with min-max, and does steps on
-- single lists.
local function lambda_all()
  local given = { err = mr.metrics.err{ top = 2 } }
  for _, base in ipairs(registry.names "swaps") do
    local name = pcall(mr.metrics.parse, base) and base or base .. "@10"
    local metric = given[base] or name
    if not pairwise["lambdarank_" .. base] and is_due() then
      for _, bound in ipairs{ "none", "minmax" } do
        for _, kind in ipairs{ "mf", "mlp" } do
          trained(("%s lambdarank_%s %s"):format(kind, name, bound), models[kind](),
            mr.losses.lambdarank{ metric = metric, bound = bound })
        end
      end
      local loss = mr.losses.lambdarank{ metric = metric }
      for _, n in ipairs{ 1, 5, 33, 777 } do
        for _, shape in ipairs{ "plain", "tied" } do
          for _, dtype in ipairs{ "float32", "float64" } do
            step_of_loss("lambdarank_" .. name, loss, n, shape, dtype)
          end
        end
      end
    end
  end
end

local function evaluate_all()
  local sizes = { 1, 2, 9, 33, 120, 1000, 40000 }
  local relevance = {}
  for i, n in ipairs(sizes) do relevance[i] = grades_of(n, 3, 50 + i) end
  local lists = mr.lists(relevance)
  local scores = mr.normal({ lists.rows }, { seed = 5 })
  for _, tied in ipairs{ false, true } do
    local x = tied and (scores * 200):to "int64":to "float32" or scores
    for _, base in ipairs(mr.metrics.names()) do
      local name = pcall(mr.metrics.parse, base) and base or base .. "@10"
      local found = mr.evaluate(x, lists, { name })
      case(("metric %s%s"):format(name, tied and " tied" or ""), found[found.names[1]])
    end
  end
end

local function bound_one(metric, s)
  local of = mr.bounds.stats(metric, train.lists, { dtype = "float64" })
  case("stats " .. metric, of.min, of.max, of.expectation)
  for _, shape in ipairs{ { 5, 2 }, { 60, 20 }, { 120, 30 } } do
    local distribution = mr.bounds.distribution(metric, { n = shape[1], p = shape[2] })
    local value, derivative = distribution:smooth(s)
    local sampled = mr.bounds.distribution(metric, { n = shape[1], p = shape[2], method = "sampled", samples = 3000 })
    case(("distribution %s %d %d"):format(metric, shape[1], shape[2]), value, derivative, distribution:mean(),
      distribution:sd(), distribution:quantile(0.3), sampled:mean(), sampled:sd(), (sampled:smooth(s)))
    local better = mr.bounds.distribution(metric, { n = shape[1], p = shape[2], beta = 0.7 })
    case(("distribution better %s %d %d"):format(metric, shape[1], shape[2]), (better:smooth(s)), better:mean())
  end
end

local function bound_all()
  local s = mr.uniform({ 50 }, { seed = 1, dtype = "float64" })
  for _, metric in ipairs{ "ndcg", "dcg@5", "ap", "rr", "nrbp(0.95)", "rbp(0.9)", "nrbp_loss",
    "precision@3", "recall@10" } do
    if is_due() then bound_one(metric, s) end
  end
end

local function function_all()
  for _, dtype in ipairs{ "float32", "float64" } do
    local x = mr.normal({ 3001 }, { seed = 1, dtype = dtype, sd = 3 })
    for _, name in ipairs{ "exp", "sigmoid", "tanh", "softplus" } do case(name .. " " .. dtype, x[name](x)) end
    local size = x:abs() + 0.1
    case("log " .. dtype, size:log())
    case("sqrt " .. dtype, size:sqrt())
    case("power " .. dtype, size ^ x, size ^ 2)
    case("softmax " .. dtype, x:reshape(1, 3001):softmax(2))
    for _, shape in ipairs{ { 3, 5, 7 }, { 64, 64, 64 }, { 131, 257, 19 }, { 1, 1000, 3 }, { 700, 1, 9 } } do
      local a = mr.normal({ shape[1], shape[2] }, { seed = 2, dtype = dtype })
      local b = mr.normal({ shape[2], shape[3] }, { seed = 3, dtype = dtype })
      case(("product %d %d %d %s"):format(shape[1], shape[2], shape[3], dtype), a:matmul(b), b:t():matmul(a:t()))
    end
  end
  local numbers = {}
  for i = 1, 500 do
    local x = i / 37
    table.move({ core.number_exp(-x), core.number_log(x), core.number_power(x, x) }, 1, 3, #numbers + 1, numbers)
  end
  case("numbers", mr.tensor(numbers, { dtype = "float64" }))
end

-- Trains under other optimizers, with clipped gradients, and with learning rate schedules. With 62,000 items, updates
-- of embedding rows are deferred where the optimizer allows it.
local function train_by_rates()
  local adam = mr.optim.adam{ lr = 0.01 }
  local cases = {
    adamw = { mr.optim.adamw{ lr = 0.01 } }, adamw_undecayed = { mr.optim.adamw{ lr = 0.01, weight_decay = 0 } },
    adagrad = { mr.optim.adagrad{ lr = 0.1 } }, adagrad_decay = { mr.optim.adagrad{ lr = 0.1, weight_decay = 0.01 } },
    rmsprop = { mr.optim.rmsprop{} }, rmsprop_momentum = { mr.optim.rmsprop{ momentum = 0.9, weight_decay = 0.01 } },
    clipped = { adam, { clip = 1e-3 } }, clipped_momentum = { mr.optim.sgd{ momentum = 0.9 }, { clip = 0.5 } },
    cosine = { adam, { schedule = mr.schedule.cosine{ low = 0.1 } } },
    step = { adam, { schedule = mr.schedule.step{ every = 1, factor = 0.3 } } },
    warmup = { adam, { schedule = mr.schedule.warmup{ steps = 4, after = mr.schedule.cosine{} } } },
    plateau = { adam, { schedule = mr.schedule.plateau{ patience = 0, factor = 0.5 } } },
  }
  for _, name in ipairs(sorted(cases)) do
    local optimizer, options = table.unpack(cases[name])
    for _, items in ipairs{ 400, 62000 } do
      trained(("mf %d items %s"):format(items, name), models.mf(items), mr.losses.ap{}, optimizer, 3, options)
    end
    trained("mlp " .. name, models.mlp(), mr.losses.ndcg{}, optimizer, 3, options)
  end
end

-- A model defined by a script that uses many operations: embedded items, batch normalisation, a 2D convolution,
-- logsumexp and variance.
local windows = mr.models.define("windows", {
  required = { inputs = "integer", items = "integer" }, options = { width = 6 },
  parameters = function(o)
    local function normal(...) return mr.normal({ ... }, { sd = 0.3, dtype = o.dtype }) end
    return { item = normal(o.items, o.width), into = normal(o.inputs, o.width),
      gain = mr.ones(o.width, { dtype = o.dtype }), bias = mr.zeros(o.width, { dtype = o.dtype }),
      window = normal(3, 2, 2, 2) }
  end,
  buffers = function(o)
    return { mean = mr.zeros(o.width, { dtype = o.dtype }), variance = mr.ones(o.width, { dtype = o.dtype }) }
  end,
  forward = function(self, batch)
    local rows, width = #batch.items, self.options.width
    local hidden
    hidden, self.mean, self.variance = batch.features:matmul(self.into):batch_norm(self.gain, self.bias,
      { mean = self.mean, variance = self.variance, training = batch.training })
    local seen = hidden:reshape(rows, 2, width // 2, 1):conv2d(self.window, { padding = 1 })
      :reshape(rows, 3 * (width // 2 + 1) * 2)
    return (self.item:embedding(batch.items) * hidden):sum(2) + seen:logsumexp(2) + seen:var(2)
  end,
})

local function train_other_models()
  for _, bound in ipairs{ "none", "minmax", "distribution_logit" } do
    for _, loss in ipairs(sorted(smooth)) do
      local function both(name, model)
        trained(("%s %s %s"):format(name, loss, bound), model, smooth[loss]{ bound = bound }, nil, 2)
      end
      both("biased_mf", mr.models.biased_mf{ users = 10, items = 400, factors = 9, init = 0.3, mean = 0.4 })
      both("windows", windows{ inputs = 7, items = 400 })
    end
  end
end

-- Prints fingerprints of normalised features (such as standardize_lists), and of models that were trained on them.
local function train_on_changed_features()
  for _, name in ipairs{ "standardize_lists", "min_max_lists", "log1p" } do
    local set, held = train[name](train), valid[name](valid)
    case("features " .. name, set.features, held.features)
    trained("mlp on " .. name, models.mlp(), mr.losses.ndcg{}, nil, 2, { train = set, valid = held, test = held })
  end
end

-- Ranks the full catalogue by item-kNN, popularity and matrix factorisation, and evaluates metrics, with and without
-- bounds.
local function evaluate_catalogue()
  local names = { "ndcg@10", "ap", "recall@20" }
  for _, bound in ipairs{ "minmax", "expectation", "expectation_max", "zscore" } do
    for _, metric in ipairs{ "ndcg", "ap", "rr", "nrbp(0.95)" } do names[#names + 1] = { metric, bound = bound } end
  end
  -- the metric of a list without a value is 0/0, a NaN whose sign depends on the processor: use that of x86-64
  local nan = string.unpack("<d", "\0\0\0\0\0\0\xf8\xff")
  local function of(name, found)
    for _, metric in ipairs(found.names) do
      local values = found[metric]
      if metric:find("[", 1, true) then values = values:isnan():where(nan, values) end
      case(("%s %s"):format(name, metric), values, found.mean[metric])
    end
  end
  local ratings = mr.data.synthetic{ kind = "ratings", users = 60, items = 900, mean_activity = 40, seed = 5 }
  local fold = ratings:binarize(4):folds{ k = 4, nsr = 1, seed = 2 }[2]
  local ranked = { item_knn = mr.models.item_knn{ fold = fold, k = 9, shrink = 2 },
    popularity = mr.models.popularity{ fold = fold },
    mf = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 9, init = 0.5 } }
  for _, name in ipairs(sorted(ranked)) do
    local model = ranked[name]
    of("catalogue " .. name, fold:evaluate(model, names, { known = "relevant" }))
    local best = model:recommend{ k = 20, seen = fold.train, known = "relevant" }
    case("recommended " .. name, best.items, best.scores)
  end
  local lists = train.lists
  of("bounded", mr.evaluate(mr.normal({ lists.rows }, { seed = 9 }), lists, names))
end

-- The random numbers that these losses draw are taken back, so that losses after them in the list draw what they drew
-- before these losses existed.
local uncounted = { pl_rank = true, policy_gradient = true }

-- Trains with every loss of the library, without a bound and with min-max, and does steps on single lists.
local function train_every_loss()
  for _, name in ipairs(mr.losses.names()) do
    for _, bound in ipairs(is_due() and { "none", "minmax" } or {}) do
      trained(("every mf %s %s"):format(name, bound), models.mf(), mr.losses[name]{ bound = bound })
    end
    local drawn = random.calls()
    for _, n in ipairs{ 5, 33, 100 } do
      for _, shape in ipairs{ "plain", "tied" } do
        for _, dtype in ipairs{ "float32", "float64" } do
          step_of_loss("every " .. name, mr.losses[name](), n, shape, dtype)
        end
      end
    end
    if uncounted[name] then random.go_back(drawn) end
  end
end

-- Rows of the longest list for losses whose time, or whose bounds' time, grows faster than the rows. Other losses get
-- 40,000 rows, because their time is nearly linear.
local over_pairs, of_rankings, of_matrices = 4000, 1000, 300
local longest = { pl_rank = of_rankings, policy_gradient = of_rankings,
  neural_ndcg = of_matrices, soft_rank = of_matrices, top_n_rank = of_matrices,
  soft_hit = of_matrices, soft_precision = of_matrices, soft_recall = of_matrices, soft_top_k = of_matrices }
for name in pairs(require "moonrank.losses.pairwise") do longest[name] = over_pairs end

-- Returns a batch of long lists with ten relevant rows each, for which distributions of metrics are computed exactly,
-- and of short graded lists.
local under_bounds = {}
local function data_under_bounds(rows, count)
  local key = rows * count
  if not under_bounds[key] then
    local relevance = { grades_of(33, 3, 7), grades_of(5, 3, 8), { 1, 2, 1 } }
    for l = 1, count do
      local long = {}
      for i = 1, rows do long[i] = i % (rows // 10) == l and 1 or 0 end
      relevance[#relevance + 1] = long
    end
    local lists, users = mr.lists(relevance), {}
    for l = 1, #relevance do users[l] = 1 + l % 10 end
    local items = mr.uniform({ lists.rows }, { seed = rows, stream = "items" }):totable()
    for i, u in ipairs(items) do items[i] = 1 + math.floor(400 * u) end
    local set = mr.data.dataset{ lists = lists, features = mr.normal({ lists.rows, 7 }, { seed = rows }),
      users = mr.tensor(users, { dtype = "int64" }), items = mr.tensor(items, { dtype = "int64" }) }
    under_bounds[key] = set:batches{ size = #users }()
    under_bounds[key].step, under_bounds[key].training = 1, true
  end
  return under_bounds[key]
end

local function step_under(kind, name, bound, batch)
  mr.seed(1)
  local model = models[kind]()
  local values = mr.losses[name]{ bound = bound }(model(batch), batch.lists)
  values:sum():backward()
  local found = { values:detach() }
  for _, parameter in ipairs(model:parameters()) do found[#found + 1] = parameter.grad end
  case(("under %s %s %s"):format(kind, name, bound), table.unpack(found))
end

-- Does one step of every loss under every bound for three models, and prints fingerprints of the lists' values and the
-- parameters' gradients. Time and memory of attention are quadratic in the rows of a list: 40,000 rows would need 6 GB
-- for the weights of each head. The attention model thus gets ten lists of 300 rows.
local function step_of_every_loss_under_every_bound()
  for _, kind in ipairs(sorted(models)) do
    for _, name in ipairs(mr.losses.names()) do
      local rows, count = longest[name] or 40000, 1
      if kind == "self_attention" then rows, count = 300, longest[name] and 1 or 10 end
      local batch = data_under_bounds(rows, count)
      for _, bound in ipairs((mr.losses.bounds(name))) do
        if is_due() then step_under(kind, name, bound, batch) end
      end
    end
  end
end

print("# numerics " .. core.numerics())
for _, run in ipairs{ function_all, evaluate_all, bound_all, step_of_one_list, train_by_optimizer, train_all,
  lambda_all, train_by_rates, train_other_models, train_on_changed_features, evaluate_catalogue, train_every_loss,
  step_of_every_loss_under_every_bound, laplace_all } do
  local began = core.clock()
  run()
  if os.getenv "NUMERICS_TIMES" then io.stderr:write(("%.2f s\n"):format(core.clock() - began)) end
end
