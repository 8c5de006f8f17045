-- Advice on what to write instead of names that other libraries, or beginners in Lua, use. The keys of the module's
-- table say where a name was used: in a class ("mr.Tensor"), in a module ("mr.losses"), in mr itself ("moonrank"), as
-- the text of a metric or a bound ("metric", "bound"), as a global ("_G"), or in Lua's libraries and methods of texts
-- ("lua"). In a class, "[]" is an index x[1], and "[...]" any other index. Capitals, underscores and a "_loss" at the
-- end of a name do not matter (check.other_name). The advice must do the same as the name that it replaces.
local itself = "x itself: entries of a tensor do not change"
local new_name = "x = x %s y: entries of a tensor do not change"
local require_mr = 'local mr = require "moonrank" at the top of the script'
local letor, interactions = "mr.data.letor(path)", "mr.data.interactions(path)"
local split = "data:split{share = 0.2, seed = 1}, which returns the remaining lists and a share of them"
local csv = "mr.data.csv(path) for any table, " .. interactions .. " for users and items"
local trees = "mr.models.trees{}"
local scores, grades = "model(batch), which gives one score per row", "data.lists.relevance"
local diagonal = "x:gather(2, mr.arange(1, #x):long():reshape(-1, 1))"
local identity = "mr.arange(1, #x):reshape(-1, 1):eq(mr.arange(1, #x))"
local mathematical = "math.%s of numbers, x:%s() of a tensor"

local M = {}

M["mr.Tensor"] = {
  ["[...]"] = "x[i] with one integer, m[i][j] for an entry of a matrix, x:rows(index) for rows of a matrix, "
    .. "x:narrow(dim, first, count) for a range",
  view = "x:reshape(...)", unsqueeze = "x:reshape(...)", squeeze = "x:reshape(...)", flatten = "x:reshape(-1)",
  permute = "x:transpose(dim, other)", T = "x:t()", mm = "x:matmul(other)", bmm = "x:matmul(other)",
  dot = "(x * y):sum()", index_select = "x:rows(index)", scatter = "x:scatter_add(dim, index, values)",
  tolist = "x:totable()", numpy = "x:totable()", values = "x:totable()", data = "x:detach()", cpu = 'x:to("cpu")',
  cuda = 'x:to("cuda")', int = "x:long()", ndim = "x.dims", dim = "x.dims", nelement = "x:numel()", len = "#x",
  requires_grad_ = "x:requires_grad()", zero_ = "x:zero_grad() for gradients", norm = "(x * x):sum():sqrt()",
  mul = "x * y", add = "x + y", sub = "x - y", div = "x / y", pow = "x ^ y", neg = "-x", square = "x * x",
  log1p = "(1 + x):log()", log2 = "x:log() / math.log(2)", log10 = "x:log() / math.log(10)", expm1 = "x:exp() - 1",
  clone = itself, copy = itself, add_ = new_name:format "+", sub_ = new_name:format "-", mul_ = new_name:format "*",
  fill_ = "mr.full(x:shape(), value)", cat = "mr.cat({x, y}, dim)", concat = "mr.cat({x, y}, dim)",
  append = "mr.cat({x, y}, dim)", stack = "mr.stack({x, y}, dim)", masked_fill = "mask:where(value, x)",
  split = "x:narrow(dim, first, count)", chunk = "x:narrow(dim, first, count)", head = "x:narrow(1, 1, count)",
  argsort = "select(2, x:sort(dim))", top = "x:topk(k)", expand = "nothing: operations broadcast sizes of 1",
  repeat_interleave = "lists:spread(x) for rows of lists", array = "mr.tensor(values)",
  from_numpy = "mr.tensor(values)", concatenate = "mr.cat({x, y}, dim)", FloatTensor = "mr.tensor(values)",
  clip = "x:clamp{min = 0, max = 1}", clamp_min = "x:clamp{min = 0}", clamp_max = "x:clamp{max = 1}",
  ne = "1 - x:eq(y)", any = "x:max() where entries are 0 and 1", all = "x:min() where entries are 0 and 1",
  floor = "t - t:gt(x) with t = x:long():float()", astype = 'x:to("float64")', type = 'x.dtype, or x:to("float64")',
  rank = "lists:rank(x)", ranks = "lists:rank(x)", print = "print(x)",
  map = "operations on all entries, such as x:exp()", trace = diagonal .. ":sum() of a square matrix x",
  gelu = "0.5 * x * (1 + ((x + 0.044715 * x ^ 3) * math.sqrt(2 / math.pi)):tanh()), which is PyTorch's gelu with "
    .. 'approximate = "tanh"',
}

-- names of PyTorch and NumPy that have a short replacement
for name, advice in pairs{
  ["repeat"] = "mr.cat({x, x}, dim)", tile = "mr.cat({x, x}, dim)", ravel = "x:reshape(-1)", contiguous = itself,
  bool = "1 - x:eq(0), which gives 0 or 1", count_nonzero = "(1 - x:eq(0)):sum()", sign = "x:gt(0) - x:lt(0)",
  isfinite = "x:abs():lt(math.huge)", isinf = "x:abs():eq(math.huge)", reciprocal = "1 / x", silu = "x * x:sigmoid()",
  prod = "x:log():sum():exp() where all entries are positive",
  cumprod = "x:log():cumsum():exp() of a vector where all entries are positive", outer = "x:reshape(-1, 1) * y",
  ceil = "t + t:lt(x) with t = x:long():float()", leaky_relu = "x:maximum(0.01 * x)", logsigmoid = "-(-x):softplus()",
  round = "t - t:gt(x + 0.5) with t = (x + 0.5):long():float(), which rounds halves up",
  median = "mr.stats.median(x:totable()) of a vector x, which leaves out NaN", kthvalue = "(x:sort())[k] of a vector x",
  flip = "x:rows(mr.arange(#x, 1, {step = -1}):long()), which turns dimension 1 round",
  roll = "mr.cat({x:narrow(1, #x - n + 1, n), x:narrow(1, 1, #x - n)}, 1) to move rows on by n",
  diagonal = diagonal .. ":reshape(-1) of a square matrix x",
  diag = diagonal .. ":reshape(-1) of a square matrix x, mask:where(x, 0) of a vector x with mask = " .. identity,
  tril = "mask:where(x, 0) with mask = mr.arange(1, #x):reshape(-1, 1):ge(mr.arange(1, x:size(2)))",
  triu = "mask:where(x, 0) with mask = mr.arange(1, #x):reshape(-1, 1):le(mr.arange(1, x:size(2)))",
  einsum = "x:matmul(y), x:transpose(dim, other) or (x * y):sum(dim)", swapaxes = "x:transpose(dim, other)",
  dist = "((x - y) * (x - y)):sum():sqrt()", select = "x[i] for dimension 1, x:narrow(dim, i, 1) for others",
  unbind = "x[i], for i = 1, #x do", new_zeros = "mr.zeros(sizes)",
} do
  M["mr.Tensor"][name] = advice
end

-- Advice for Lua operators that tensors do not have, by the name of the operator's metamethod without "__".
M.operators = {
  lt = "tensors are compared by x:lt(y) or x:gt(y), which give 0 or 1 for each entry; < and > would give one boolean",
  le = "tensors are compared by x:le(y) or x:ge(y), which give 0 or 1 for each entry; <= and >= would give one boolean",
  concat = 'a tensor is joined to a text by tostring(x) .. "text"',
  mod = "tensors have no operator %; of numbers use x:item()",
  idiv = "tensors have no operator //; write t - t:gt(q) with q = x / y and t = q:long():float()",
  band = "tensors have no operator &; masks of 0 and 1 are multiplied: x * y",
  bor = "tensors have no operator |; masks of 0 and 1 are joined by x:maximum(y)",
  bnot = "tensors have no operator ~; a mask of 0 and 1 is turned round by 1 - x",
  pairs = "pairs takes a table; a loop over a tensor x is: for i = 1, #x do",
}

for _, name in ipairs{ "tensor", "zeros", "ones", "full", "normal", "uniform" } do
  M["option of mr." .. name] = { requires_grad = ("mr.%s(...):requires_grad()"):format(name) }
end

M.moonrank = {
  rand = "mr.uniform(sizes), such as mr.uniform({2, 3}, {seed = 1})",
  randn = "mr.normal(sizes), such as mr.normal({2, 3}, {seed = 1})",
  manual_seed = "the option seed of folds, models and mr.fit, or mr.seed(n) for random tensors",
  randperm = "mr.permutation(n)",
  set_seed = "mr.seed(n)", random_seed = "mr.seed(n)", zeros_like = "mr.zeros(x:shape())",
  ones_like = "mr.ones(x:shape())", linspace = "mr.arange(first, last, {step = step})",
  load = "mr.load_tensors(path) for tensors, such as files of NumPy, or mr.models.load(path) for a model",
  save = "mr.save_tensors(path, tensors) for tensors, or model:save(path) for a model",
  vstack = "mr.cat({x, y}, 1) of matrices, mr.stack{x, y} of vectors",
  hstack = "mr.cat({x, y}, 2) of matrices, mr.cat{x, y} of vectors",
  nn = "mr.models for networks, such as mr.models.mlp{}, and x:linear, x:conv2d and others for their layers",
  cuda = 'mr.has_cuda() to ask for a GPU, mr.device("cuda") to use it', train = "mr.fit{...}",
  DataLoader = "data:batches{size = 32}", Dataset = "mr.data.dataset{...}",
  DataFrame = "mr.table{columns = names, rows = rows}", read_csv = csv,
  ndcg = "mr.metrics.ndcg(scores, lists)", int = "mr.integer(low, high) in a space of parameters, x:long() of a tensor",
  float = "mr.uniform(low, high) in a space of parameters, x:float() of a tensor",
  suggest_int = "mr.integer(low, high)", suggest_float = "mr.uniform(low, high) or mr.loguniform(low, high)",
  suggest_categorical = "mr.choice{...}", categorical = "mr.choice{...}", xgboost = trees, lightgbm = trees,
  eye = "mr.arange(1, n):reshape(-1, 1):eq(mr.arange(1, n))",
  randint = "mr.uniform(sizes, {low = low, high = high}):long() where low is at least 0",
  allclose = "(x - y):abs():le(1e-8 + 1e-5 * y:abs()):min():item() == 1",
  isclose = "(x - y):abs():le(1e-8 + 1e-5 * y:abs()), which gives 0 or 1", full_like = "mr.full(x:shape(), value)",
  meshgrid = "x:reshape(-1, 1) and y:reshape(1, -1), which operations broadcast to a grid",
  empty = "mr.zeros(sizes)", asarray = "mr.tensor(values)", inf = "math.huge", nan = "0/0", pi = "math.pi",
  float32 = 'the text "float32", as in x:to("float32")', float64 = 'the text "float64", as in x:to("float64")',
  int64 = 'the text "int64", as in x:to("int64")', autograd = "x:requires_grad() and y:backward()",
  random = "mr.uniform(sizes), mr.normal(sizes) or mr.permutation(n)", set_num_threads = "mr.threads(n)",
  get_num_threads = "mr.threads()",
  __version__ = "mr.version", predict = scores, movielens = "mr.data.movielens()",
}

M["mr.losses"] = {
  lambda = "mr.losses.lambdarank{}, or mr.losses.ndcg_loss_2pp{} for LambdaLoss",
  lambdaloss = "mr.losses.ndcg_loss_2pp{}, or mr.losses.ndcg_loss_1{} or mr.losses.ndcg_loss_2{}",
  softmax = "mr.losses.softmax_cross_entropy{}",
  cross_entropy = "mr.losses.softmax_cross_entropy{} over lists, mr.losses.bce{} over rows",
  binary_cross_entropy = "mr.losses.bce{}", bce_with_logits = "mr.losses.bce{}",
  sigmoid_cross_entropy = "mr.losses.bce{}", pointwise_sigmoid = "mr.losses.bce{}",
  logistic = "mr.losses.bce{} over rows, mr.losses.ranknet{} over pairs", pairwise_logistic = "mr.losses.ranknet{}",
  pairwise_hinge = "mr.losses.hinge{}", margin_ranking = "mr.losses.hinge{}", map = "mr.losses.ap{}",
  mrr = "mr.losses.rr{}", approx_map = "mr.losses.ap{}", approx_mrr = "mr.losses.rr{}",
  pointwise_mse = "mr.losses.mse{}", regression = "mr.losses.mse{}",
  infonce = "mr.losses.sampled_softmax{}", info_nce = "mr.losses.sampled_softmax{}",
  contrastive = "mr.losses.sampled_softmax{}", softmax_loss = "mr.losses.sl{}", dftopk = "mr.losses.soft_top_k{}",
  lapsum = 'mr.losses.ndcg{kernel = "laplace"}', plackett_luce = "mr.losses.pl_rank{} or mr.losses.policy_gradient{}",
  reinforce = "mr.losses.policy_gradient{}", slatk = "mr.losses.sl_at_k{}", sl_k = "mr.losses.sl_at_k{}",
}

M["mr.models"] = {
  bpr = "mr.models.mf{...} with loss = mr.losses.bpr{} in mr.fit",
  bpr_mf = "mr.models.mf{...} with loss = mr.losses.bpr{} in mr.fit",
  lambdamart = trees .. " with loss = mr.losses.lambdarank{} in mr.fit", xgboost = trees, lightgbm = trees,
  gbdt = trees, gbm = trees, XGBRanker = trees, LGBMRanker = trees, pop = "mr.models.popularity{fold = fold}",
  most_popular = "mr.models.popularity{fold = fold}", movie_avg = "mr.models.item_mean{fold = fold}",
  item_average = "mr.models.item_mean{fold = fold}", puresvd = "mr.models.pure_svd{fold = fold}",
  truncated_svd = "mr.models.pure_svd{fold = fold}", knn = "mr.models.item_knn{fold = fold}",
  matrix_factorization = "mr.models.mf{...}", svd = "mr.models.biased_mf{...} or mr.models.pure_svd{fold = fold}",
  transformer = "mr.models.self_attention{...}", dnn = "mr.models.mlp{...}", neural_net = "mr.models.mlp{...}",
  linear_regression = "mr.models.ridge{...}", ranknet = "mr.models.mlp{...} with loss = mr.losses.ranknet{} in mr.fit",
}

M["mr.metrics"] = {
  map = "mr.metrics.ap", average_precision = "mr.metrics.ap", mrr = "mr.metrics.rr", reciprocal_rank = "mr.metrics.rr",
  recip_rank = "mr.metrics.rr", hit_rate = "mr.metrics.hit{k = 10}", hr = "mr.metrics.hit{k = 10}",
  p = "mr.metrics.precision{k = 10}", ndcg_score = "mr.metrics.ndcg", roc_auc_score = "mr.metrics.auc",
  roc_auc = "mr.metrics.auc",
}

M.metric = {
  average_precision = "'ap'", recip_rank = "'rr'", reciprocal_rank = "'rr'", hit_rate = "'hit@10'", hits = "'hit@10'",
  roc = "'auc'", roc_auc = "'auc'", ndcg_cut = "'ndcg@10'", map_cut = "'ap@10'",
}

M.bound = { mean = "'expectation'", expected = "'expectation'", range = "'minmax'" }

M["mr.bounds"] = { minmax = 'the text "minmax": mr.losses.ndcg{bound = "minmax"}' }

M["mr.data"] = {
  load = interactions .. " for users and items, " .. letor .. " for queries with features", read_csv = csv,
  from_csv = csv, dataframe = csv, svmlight = letor, libsvm = letor,
  mslr = letor, istella = letor, yahoo = letor, ml_100k = interactions, movielens_100k = interactions,
  qrels = "mr.data.trec_qrels(path)", DataLoader = "data:batches{size = 32}",
}

-- names of readers of SVMlight files in other libraries
for _, name in ipairs{ "svmlight", "svmlight_file", "svm_file", "libsvm", "libsvm_file", "letor" } do
  for _, verb in ipairs{ "load", "read", "from" } do
    M["mr.data"][verb .. "_" .. name], M.moonrank[verb .. "_" .. name] = letor, letor
  end
end

M["mr.Dataset"] = {
  ["[]"] = "data.lists and data.features for all rows; for batch in data:batches{size = 32} do goes over its lists",
  x = "data.features", y = grades, labels = grades, target = grades, relevance = grades, grades = grades,
  folds = split .. "; only ratings have folds: ratings:folds{k = 5, seed = 1}", kfold = split,
  train_test_split = split,
  size = "#data", len = "#data", qid = "data.lists.sizes", group = "data.lists.sizes", normalize = "data:standardize()",
  shuffle = "data:batches{shuffle = true}",
}

M["mr.Lists"] = {
  folds = "data:split{share = 0.2, seed = 1} of a dataset, or ratings:folds{k = 5, seed = 1} of ratings",
  ["[]"] = "lists.sizes and lists.relevance, which have the rows of all lists one after the other",
  labels = "lists.relevance", grades = "lists.relevance", y = "lists.relevance", group = "lists.sizes", size = "#lists",
  len = "#lists", qid = "lists.sizes",
}

M["mr.Ratings"] = {
  ["[]"] = "ratings.user, ratings.item and ratings.value, which have an entry per rating",
  split = "ratings:folds{k = 5, seed = 1}", train_test_split = "ratings:folds{k = 5, seed = 1}",
  n_users = "ratings.users", num_users = "ratings.users", n_items = "ratings.items", num_items = "ratings.items",
  len = "ratings.rows",
}

M["mr.Fold"] = {
  folds = "ratings:folds{k = 5, seed = 1}, which returns all folds; this is one of them",
  validation = "fold.valid", dev = "fold.valid", val = "fold.valid", ["[]"] = "fold.train, fold.valid or fold.test",
}

M["mr.Model"] = {
  predict = scores, forward = scores, score = scores, scores = scores, fit = "mr.fit{model = model, ...}",
  train = "mr.fit{model = model, ...}", eval = "nothing: model(batch) evaluates, and mr.fit trains",
  state_dict = "model:state(), or model:save(path)",
  evaluate = "fold:evaluate(model, metrics), or mr.evaluate(model(data), data.lists, metrics)",
  load_state_dict = "mr.models.load(path)", load = "mr.models.load(path)", cuda = 'model:to("cuda")',
  num_parameters = "model:size()", count_params = "model:size()", summary = "print(model)",
  zero_grad = "optimizer:zero_grad()", named_parameters = "model:state()",
}

M["mr.Run"] = {
  loss = "run.history", losses = "run.history", best_epoch = "run.best", predict = scores, save = "model:save(path)",
  model = "the model that mr.fit was given: it has the parameters of the chosen epoch",
}

M["mr.Loss"] = {
  forward = "loss(scores, lists)", backward = "loss:mean(scores, lists):backward()",
  item = "loss:mean(scores, lists):item()", sum = "loss(scores, lists):sum()", bound = "loss.bound_name",
}

M["mr.Optimizer"] = {
  lr = "optimizer.options.lr", minimize = "optimizer:step() after loss:mean(scores, lists):backward()",
}

M["mr.Table"] = {
  ["[]"] = "x.rows[i]; a loop over the rows of a table x is: for i, row in ipairs(x.rows) do",
  shape = "#x.rows and #x.columns", len = "#x.rows",
}

M["mr.Figure"] = { savefig = 'figure:save("figure.svg")', plot = "figure:show()" }

M["mr.Results"] = {
  ["[]"] = "study:trials().rows", best_params = "study:best()", best_trial = "study:best()",
  best_value = "study:best()", dataframe = "study:trials()", to_pandas = "study:to_csv()",
  trials_dataframe = "study:trials()",
}

M["mr.stats"] = {
  ttest = "mr.stats.paired_t(x, y)", t_test = "mr.stats.paired_t(x, y)", ttest_rel = "mr.stats.paired_t(x, y)",
  std = "mr.stats.summary(values).sd", sd = "mr.stats.summary(values).sd", cohen_d = "mr.stats.effect_size(x, y)",
  bonferroni = "mr.stats.holm(p_values), which corrects for as many tests",
  permutation_test = "mr.stats.permutation(x, y)",
}

M["mr.plot"] = {
  plot = "mr.plot.lines{...}", hist = "mr.plot.ecdf{...}, which shows how values are spread",
  boxplot = "mr.plot.intervals{...}", histogram = "mr.plot.ecdf{...}, which shows how values are spread",
  imshow = "mr.plot.heatmap{...}", subplots = "mr.plot.facets{...}",
}

M["mr.schedule"] = {
  step_lr = "mr.schedule.step{every = 10, factor = 0.1}", cosine_annealing = "mr.schedule.cosine{}",
  cosine_annealing_lr = "mr.schedule.cosine{}", exponential = "mr.schedule.step{every = 1, factor = 0.9}",
  exponential_lr = "mr.schedule.step{every = 1, factor = 0.9}", reduce_lr_on_plateau = "mr.schedule.plateau{}",
}

M._G = {
  mr = require_mr, moonrank = require_mr, torch = require_mr, np = require_mr, numpy = require_mr, pd = require_mr,
  tf = require_mr, True = "true", False = "false", None = "nil", null = "nil", nan = "0/0", inf = "math.huge",
  len = "#x", range = "for i = 1, n do", int = "math.tointeger(x) of a whole number, math.floor(x) of any",
  str = "tostring(x)", float = "tonumber(x)", list = "{}", dict = "{}", enumerate = "ipairs(list)",
  printf = 'print(("%d"):format(n))', input = "io.read()", exit = "os.exit()", quit = "os.exit()",
  unpack = "table.unpack(list)", loadstring = "load(text)", format = '("%d"):format(n)', round = "math.floor(x + 0.5)",
  pi = "math.pi", sum = "x:sum() of a tensor", mean = "x:mean() of a tensor, mr.stats.mean(values) of a table",
  help = "mr.help(value)", this = "self in a method that is defined with a colon",
  self = "a colon where the method is defined: function M:name()",
}
for _, name in ipairs{ "abs", "exp", "log", "sqrt", "max", "min" } do M._G[name] = mathematical:format(name, name) end

M.lua = {
  pow = "x ^ y", round = "math.floor(x + 0.5)", getn = "#t", split = 'for word in text:gmatch "[^,]+" do',
  strip = 'text:match "^%s*(.-)%s*$"', trim = 'text:match "^%s*(.-)%s*$"', join = 'table.concat(list, ", ")',
  startswith = 'text:sub(1, 3) == "abc"', replace = "text:gsub(old, new)", append = "table.insert(list, value)",
  push = "table.insert(list, value)", contains = "text:find(part, 1, true)", items = "for key, value in pairs(t) do",
  keys = "for key in pairs(t) do", length = "#text", log10 = "math.log(x, 10)", lowercase = "text:lower()",
  uppercase = "text:upper()",
}

return M
