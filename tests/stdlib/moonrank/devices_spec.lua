-- Tests that every operation gives the same results on the GPU as on the CPU, derivatives included. Without a GPU and
-- without the emulated GPU, the CPU takes the place of the GPU, so that errors in these tests are noticed; such tests
-- count as skipped.
local mr = require "moonrank"
local core = require "moonrank.core"
local newton = require "moonrank.losses.newton"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local places = { "cpu", "cuda" }
local device_of = { cpu = "cpu", cuda = mr.has_cuda() and "cuda" or "cpu" }

-- Returns a test that runs `body`, which compares results of both devices. It counts as skipped without a GPU.
local function at_both(body)
  return function()
    body()
    if not mr.has_cuda() then test.skip("no CUDA device: the CPU stood in for it") end
  end
end

-- Runs `body` if there is a GPU.
local function with_cuda(body)
  return function()
    if not mr.has_cuda() then return test.skip("no CUDA device") end
    body()
  end
end

local relevance = { {}, { 1 }, { 0 } }
for i, n in ipairs{ 2, 31, 32, 33, 127, 128, 129, 1000 } do
  local list, u = {}, mr.uniform({ n }, { seed = i, device = "cpu" }):totable()
  for r = 1, n do list[r] = u[r] < 0.2 and 2 or u[r] < 0.4 and 1 or 0 end
  relevance[#relevance + 1] = list
end
local lists = mr.lists(relevance)

local function numbers(seed, options)
  options = options or {}
  return mr.normal({ lists.rows }, { seed = seed, dtype = options.dtype, sd = options.sd, device = "cpu" })
end

-- Compares f(x) and its derivative by x on both devices, up to rounding, because a GPU adds in another order.
local function agree(name, f, x, tolerance)
  tolerance = tolerance or (x.dtype == "float64" and 1e-11 or 2e-5)
  local values, gradients = {}, {}
  for _, place in ipairs(places) do
    local device = device_of[place]
    local leaf = x:to(device):requires_grad()
    local out = f(leaf, device)
    equal(out.device, device, name)
    values[place] = out:to("cpu")
    if out.tracked then
      out:backward(mr.uniform(out:shape(), { low = 0.5, high = 1.5, seed = 9, dtype = x.dtype, device = device }))
      gradients[place] = leaf.grad:to("cpu")
    end
  end
  near(values.cuda, values.cpu, tolerance, name)
  check((gradients.cpu == nil) == (gradients.cuda == nil), name)
  if gradients.cpu then
    local scale = math.max(1, gradients.cpu:abs():max():item())
    near(gradients.cuda, gradients.cpu, { atol = tolerance * scale, rtol = tolerance }, "gradient of " .. name)
  end
end

local unary = { "exp", "abs", "sigmoid", "tanh", "relu", "softplus" }

describe("a tensor's device", function()
  it("is its field device, and moving to CUDA and back keeps the values", with_cuda(function()
    for _, dtype in ipairs{ "float32", "float64", "int64" } do
      local x = mr.arange(1, 100000, { dtype = dtype, device = "cpu" })
      equal(x:to("cuda").device, "cuda")
      equal(x:to("cuda"):to("cpu"):totable(), x:totable())
      equal(mr.zeros(0, { dtype = dtype, device = "cuda" }):to("cpu"):totable(), {})
    end
  end))

  it("must be the same for both operands of an operation", with_cuda(function()
    local here, there = mr.ones(3, { device = "cpu" }), mr.ones(3, { device = "cuda" })
    raises(function() return here + there end, "to()")
    raises(function() return mr.ones(2, 2, { device = "cpu" }):matmul(mr.ones(2, 2, { device = "cuda" })) end, "to()")
  end))

  it("allows printing, totable and item on CUDA", with_cuda(function()
    local x = mr.tensor({ { 1, 2 }, { 3, 4 } }, { device = "cuda" })
    equal(x:totable(), { { 1, 2 }, { 3, 4 } })
    equal(x:sum():item(), 10.0)
    check(tostring(x):find("cuda", 1, true))
  end))

  it("raises an out-of-memory error that can be caught", with_cuda(function()
    raises(function() return mr.zeros(1 << 40, { device = "cuda" }) end, "memory")
    equal(mr.ones(2, { device = "cuda" }):sum():item(), 2.0)
  end))

  it("is refused if it does not exist", function()
    raises(function() return mr.ones(1):to("gpu") end, "'gpu'")
    if not mr.has_cuda() then raises(function() return mr.ones(1, { device = "cuda" }) end, "cuda", "available") end
  end)
end)

describe("CPU and CUDA", function()
  it("sum runs of 8191 and more values equally to rounding", at_both(function()
    for _, n in ipairs{ 8191, 8192, 8193, 16385 } do
      local x = mr.normal({ 3, n }, { seed = n, dtype = "float64", device = "cpu" })
      local sums = { function(a) return a:sum() end, function(a) return a:mean() end, function(a) return a:sum(2) end }
      for _, f in ipairs(sums) do agree("sum of runs of " .. n, f, x, 1e-9) end
    end
  end))

  it("draw the same random bits", at_both(function()
    for _, make in ipairs{ mr.uniform, mr.normal } do
      for _, dtype in ipairs{ "float32", "float64" } do
        local cpu = make({ 1000 }, { seed = 3, dtype = dtype, device = "cpu" })
        local cuda = make({ 1000 }, { seed = 3, dtype = dtype, device = device_of.cuda })
        equal(cuda:to("cpu"):totable(), cpu:totable())
      end
    end
  end))

  it("agree on elementwise functions", at_both(function()
    for _, dtype in ipairs{ "float32", "float64" } do
      local x = numbers(1, { dtype = dtype })
      for _, name in ipairs(unary) do agree(name, function(t) return t[name](t) end, x) end
      agree("log sqrt", function(t) return (t:abs() + 1):log():sqrt() end, x)
      agree("arithmetic", function(t) return (2 * t - 1) / (t * t + 3) + t end, x)
      agree("power", function(t) return (t:abs() + 0.5) ^ 1.5 end, x)
      agree("clamp", function(t) return t:clamp{ min = -0.5, max = 0.5 } end, x)
      agree("where", function(t) return t:gt(0):where(t, t * 3) end, x)
    end
  end))

  it("agree on shapes, rows, products and reductions", at_both(function()
    for _, dtype in ipairs{ "float32", "float64" } do
      local x = mr.normal({ 33, 17 }, { seed = 2, dtype = dtype, device = "cpu" })
      agree("t", function(t) return t:t() * 2 end, x)
      agree("narrow", function(t) return t:narrow(2, 3, 5) * 2 end, x)
      agree("matmul", function(t) return t:matmul(t:t()) end, x)
      agree("matmul of narrow", function(t) return t:narrow(1, 2, 20):t():matmul(t:narrow(1, 3, 20)) end, x)
      agree("broadcast", function(t) return t + t:narrow(1, 4, 1) end, x)
      for _, name in ipairs{ "sum", "mean", "max" } do
        agree(name, function(t) return t[name](t) end, x)
        agree(name .. " of rows", function(t) return t[name](t, 2) end, x)
        agree(name .. " of columns", function(t) return t[name](t, 1) end, x)
      end
      agree("softmax", function(t) return t:softmax(2) end, x)
      agree("rows", function(t, device)
        return t:rows(mr.tensor({ 3, 1, 3, 33 }, { dtype = "int64", device = device })) * 2
      end, x)
    end
  end))

  it("agree on joins, orders, gathers, moments, convolution and normalization", at_both(function()
    local function index(t, device) return mr.tensor(t, { dtype = "int64", device = device }) end
    for _, dtype in ipairs{ "float32", "float64" } do
      local x = mr.normal({ 33, 6 }, { seed = 2, dtype = dtype, device = "cpu" })
      agree("cat", function(t) return mr.cat({ t, t * 2 }, 2) end, x)
      agree("stack", function(t) return mr.stack({ t, t * 2 }, 3) end, x)
      agree("transpose", function(t) return t:reshape(3, 11, 6):transpose(1, 3) * 2 end, x)
      for dim = 1, 2 do
        for _, name in ipairs{ "min", "var", "std", "logsumexp", "log_softmax" } do
          agree(name, function(t) return t[name](t, dim) end, x)
        end
        agree("sort", function(t) return (t:sort(dim)) end, x)
        agree("topk", function(t) return (t:topk(3, dim)) end, x)
        equal(select(2, x:to(device_of.cuda):sort(dim)):to("cpu"):totable(), select(2, x:sort(dim)):totable())
      end
      agree("gather", function(t, device) return t:gather(2, index({ { 6, 1, 1 }, { 2, 3, 2 } }, device)) end, x)
      agree("scatter_add", function(t, device)
        return t:scatter_add(1, index({ { 5, 5 }, { 5, 1 } }, device), t:narrow(1, 1, 2):narrow(2, 1, 2) * 3)
      end, x)
      agree("embedding", function(t, device) return t:embedding(index({ { 3, 1 }, { 3, 33 } }, device)) * 2 end, x)
      agree("isnan", function(t) return (t:narrow(2, 1, 2) * 0 / 0):isnan() end, x)
      agree("matmul of many", function(t) return t:reshape(11, 3, 6):matmul(t:reshape(11, 6, 3)) end, x)
      agree("matmul by one", function(t) return t:reshape(11, 3, 6):matmul(t:narrow(1, 1, 6)) end, x)
      agree("conv2d", function(t)
        return t:reshape(1, 2, 9, 11):conv2d(t:narrow(1, 1, 4):reshape(2, 2, 3, 2), { stride = 2, padding = 1 })
      end, x)
      agree("max_pool", function(t) return t:reshape(1, 2, 9, 11):max_pool(2, { stride = 1 }) end, x)
      agree("layer_norm", function(t)
        return t:reshape(3, 11, 6):layer_norm(t:narrow(1, 1, 1), t:narrow(1, 2, 1))
      end, x)
      agree("batch_norm", function(t, device)
        local o = { dtype = dtype, device = device }
        local state = { mean = mr.zeros({ 6 }, o), variance = mr.ones({ 6 }, o), training = true }
        return (t:batch_norm(t:narrow(1, 1, 1), t:narrow(1, 2, 1), state))
      end, x)
    end
    equal(mr.cat{ index({ 1, 2 }, device_of.cuda), index({ 3 }, device_of.cuda) }:to("cpu"):totable(), { 1, 2, 3 })
  end))

  local function reductions_agree(x)
    for _, name in ipairs{ "sum", "mean", "softmax" } do
      agree(name, function(t) return lists[name](lists, t) end, x)
    end
    agree("max", function(t) return lists:max(t):narrow(1, 2, lists.count - 1) end, x)
    agree("spread", function(t) return lists:spread(lists:sum(t)) end, x)
  end

  it("agree on list reductions over rows of matrices", at_both(function()
    for _, dtype in ipairs{ "float32", "float64" } do
      reductions_agree(mr.normal({ lists.rows, 5 }, { seed = 3, dtype = dtype, device = "cpu" }))
    end
    local users = mr.arange(1, lists.count, { dtype = "int64", device = "cpu" })
    equal(lists:spread(users:to(device_of.cuda)):to("cpu"):totable(), lists:spread(users):totable())
  end))

  it("agree on list reductions of vectors", at_both(function()
    for _, dtype in ipairs{ "float32", "float64" } do reductions_agree(numbers(4, { dtype = dtype })) end
  end))

  it("agree on smooth metrics", at_both(function()
    for _, dtype in ipairs{ "float32", "float64" } do
      for _, sd in ipairs{ 0, 1, 100 } do
        local x = numbers(5, { dtype = dtype, sd = sd })
        for _, name in ipairs{ "rank", "ndcg", "ap", "rr", "nrbp_loss" } do
          local smooth, tolerance = mr.smooth[name], dtype == "float64" and 1e-10 or 1e-4
          agree(("%s, sd %g"):format(name, sd), function(t) return smooth(t, lists) end, x, tolerance)
        end
      end
    end
  end))

  it("agree on exact metrics", at_both(function()
    local scores = (numbers(6) * 4):long():float()  -- with ties
    for _, name in ipairs{ "ndcg", "ndcg@5", "dcg", "ap", "rr", "rbp(0.95)", "nrbp(0.95)", "precision@5", "recall@5",
      "hit@3", "auc" } do
      local cpu = mr.evaluate(scores, lists, { name })
      local cuda = mr.evaluate(scores:to(device_of.cuda), lists, { name })
      near(cuda.mean[name], cpu.mean[name], 1e-6, name)
      equal(cuda.counted[name], cpu.counted[name], name)
    end
  end))
end)

describe("data on CPU and CUDA", function()
  it("give a script's metric the values of the default device", at_both(function()
    local was, scores = mr.device(), numbers(16, { dtype = "float64" })
    mr.metrics.define("devices_spec_ranks", function(ranks, of) return of:sum(of.relevance:to(ranks.dtype) / ranks) end)
    local values = {}
    for _, default in ipairs(places) do
      mr.device(device_of[default])
      for _, place in ipairs(places) do
        local found = mr.metrics.parse "devices_spec_ranks"(scores:to(device_of[place]), lists)
        equal(found.device, device_of[place])
        values[#values + 1] = found:totable()
      end
    end
    mr.device(was)
    for i = 2, 4 do near(values[i], values[1], 1e-12) end
  end))

  it("are standardized by the scaling of data on the other device", at_both(function()
    local data = mr.data.synthetic{ kind = "queries", queries = 20, features = 5, seed = 1 }
    local here, there = data:to(device_of.cpu), data:to(device_of.cuda)
    near(there:standardize(here:scaling()).features:mean():item(), 0, 1e-5)
    near(here:standardize(there:scaling()).features:mean():item(), 0, 1e-5)
  end))
end)

describe("losses on CPU and CUDA", function()
  it("agree for smooth metrics under every bound", at_both(function()
    local x = numbers(7, { dtype = "float64" })
    local sampled = mr.bounds.distribution_bound{ samples = 2000 }
    for _, loss in ipairs{ "ndcg", "ap", "rr", "nrbp" } do
      for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max", "zscore", sampled } do
        local bounded = mr.losses[loss]{ bound = bound }
        agree(("%s, %s"):format(loss, bound), function(t) return bounded(t, lists) end, x, 1e-9)
      end
    end
  end))

  it("agree for pairs under bounds", at_both(function()
    mr.metrics.define("devices_spec_declared",
      { gain = function(y) return y * y end, discount = function(r) return 1 / r end, ideal = true })
    for _, dtype in ipairs{ "float32", "float64" } do
      local x, tolerance = numbers(11, { dtype = dtype }), dtype == "float64" and 1e-10 or 1e-4
      for _, bound in ipairs{ "none", "minmax" } do
        for _, metric in ipairs{ "ndcg", "ap", "rr", "nrbp", "rbp" } do
          local loss = mr.losses.lambdarank{ metric = metric, bound = bound }
          agree(("lambdarank %s, %s"):format(metric, bound), function(t) return loss(t, lists) end, x, tolerance)
        end
        for _, name in ipairs{ "ranknet", "hinge", "direct_ranker", "ranknet_all_pairs", "ndcg_loss_1", "ndcg_loss_2",
          "ndcg_loss_2pp" } do
          agree(name .. ", " .. bound, function(t) return mr.losses[name]{ bound = bound }(t, lists) end, x, tolerance)
        end
      end
      agree("balanced", function(t) return mr.losses.ranknet_all_pairs{ upsample = "list" }(t, lists) end, x, tolerance)
      agree("declared", function(t)
        return mr.losses.lambdarank{ metric = "devices_spec_declared" }(t, lists)
      end, x, tolerance)
    end
  end))

  it("agree for every name in mr.losses.names()", at_both(function()
    local short = mr.lists{ table.unpack(relevance, 1, 6) }  -- SoftRank's time is cubic in the rows of a list
    local weights = mr.uniform({ short.rows }, { seed = 14, dtype = "float64", device = "cpu" })
    local weighted = short:weighted{ weights = weights }
    for dtype, tolerance in pairs{ float32 = 2e-4, float64 = 1e-9 } do
      local x = mr.normal({ short.rows }, { seed = 13, dtype = dtype, device = "cpu" })
      for _, name in ipairs(mr.losses.names()) do
        agree(name .. ", " .. dtype, function(t)
          mr.seed(3)
          return mr.losses[name]()(t, short)
        end, x, tolerance)
        -- losses that are not sums over rows do not accept weights of rows
        if pcall(mr.losses[name](), x, weighted) then
          agree(name .. " of weights, " .. dtype, function(t)
            mr.seed(3)
            return mr.losses[name]()(t, weighted)
          end, x, tolerance)
        end
      end
    end
  end))

  it("draw the same rows in bpr, warp and lambdafm", at_both(function()
    for _, name in ipairs{ "bpr", "warp", "lambdafm" } do
      for _, dtype in ipairs{ "float32", "float64" } do
        local x = numbers(12, { dtype = dtype })
        agree(name, function(t)
          mr.seed(3)
          return mr.losses[name]{ draws = 3 }(t, lists)
        end, x, dtype == "float64" and 1e-10 or 1e-4)
      end
    end
  end))

  it("agree on second derivatives, whatever the default device is", at_both(function()
    local was, x = mr.device(), numbers(15, { dtype = "float64" })
    for _, loss in ipairs{ mr.losses.lambdarank{ bound = "minmax" }, mr.losses.bpr(), mr.losses.hinge(),
      mr.losses.mse(), mr.losses.ap{ bound = "minmax" }, mr.losses.sl() } do
      for _, default in ipairs(places) do
        mr.device(device_of[default])
        for i, what in ipairs{ "first", "second", "value" } do
          agree(("%s, %s"):format(loss, what), function(t)
            mr.seed(3)
            return (select(i, newton.derivatives(loss, t:detach(), lists)))
          end, x, 1e-9)
        end
      end
    end
    mr.device(was)
  end))

  it("agree for losses of pairs and of rows that a script defines", at_both(function()
    mr.losses.define("devices_spec_pairs", { pairs = function(d) return (-d):softplus() end })
    mr.losses.define("devices_spec_rows", { rows = function(s, y) return (s - y) ^ 2 end })
    for _, name in ipairs{ "devices_spec_pairs", "devices_spec_rows" } do
      agree(name, function(t) return mr.losses[name]{ bound = "minmax" }(t, lists) end,
        numbers(14, { dtype = "float64" }), 1e-9)
    end
  end))

  it("agree under a bound defined in Lua", at_both(function()
    local function above_mean(score, stats) return (score - stats.expectation) / (stats.max - stats.expectation) end
    agree("defined", function(t) return mr.losses.ndcg{ bound = above_mean }(t, lists) end,
      numbers(8, { dtype = "float64" }), 1e-9)
  end))
end)

-- Returns a loss object for mr.fit, made from a smooth metric.
local function loss_of(name, sign)
  return setmetatable({ count = function(_, of) return of.count end },
    { __call = function(_, scores, of) return sign * mr.smooth[name](scores, of) end })
end

describe("training on CPU and CUDA", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, seed = 1 }
  local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]

  it("gives a factor model the same losses and nDCG", at_both(function()
    local was = mr.device()
    local runs = {}
    for _, place in ipairs(places) do
      mr.device(device_of[place])
      local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, seed = 1,
        dtype = "float32" }
      local run = mr.fit{ model = model, loss = loss_of("ndcg", -1), train = fold.train, valid = fold.valid,
        test = fold.test, epochs = 3, metrics = { "ndcg" }, optimizer = mr.optim.adam{ lr = 0.01 }, progress = false }
      runs[place] = { losses = {}, ndcg = run.test.mean.ndcg }
      for i, entry in ipairs(run.history) do runs[place].losses[i] = entry.loss end
    end
    mr.device(was)
    near(runs.cuda.losses, runs.cpu.losses, 1e-3)
    near(runs.cuda.ndcg, runs.cpu.ndcg, 0.02)
  end))

  it("gives a network the same losses, and its file loads on either device", at_both(function()
    local was = mr.device()
    local data = mr.data.synthetic{ kind = "queries", queries = 20, features = 5, seed = 1 }
    local losses, path = {}, os.tmpname()
    for _, place in ipairs(places) do
      mr.device(device_of[place])
      local model = mr.models.mlp{ inputs = 5, hidden = { 7 }, seed = 1 }
      local run = mr.fit{ model = model, loss = loss_of("nrbp_loss", 1), train = data:to(device_of[place]),
        epochs = 3, progress = false, optimizer = mr.optim.sgd{ lr = 0.001 } }
      losses[place] = {}
      for i, entry in ipairs(run.history) do losses[place][i] = entry.loss end
      if place == "cuda" then
        model:save(path)
        mr.device("cpu")
        local again = mr.models.load(path)
        for i, parameter in ipairs(model:parameters()) do
          equal(again:parameters()[i]:totable(), parameter:totable())
        end
        mr.device(device_of.cuda)
        equal(mr.models.load(path):parameters()[1].device, device_of.cuda)
      end
    end
    mr.device(was)
    near(losses.cuda, losses.cpu, 1e-3)
  end))

  it("grows the same trees", at_both(function()
    local there, why = pcall(core.xgboost_version)
    if not there then return test.skip(why) end
    local was, data, losses = mr.device(), mr.data.synthetic{ kind = "queries", queries = 20, features = 5 }, {}
    for _, place in ipairs(places) do
      mr.device(device_of[place])
      local run = mr.fit{ model = mr.models.trees{ rounds = 3 }, loss = mr.losses.ap(), train = data,
        metrics = { "ndcg" }, test = data, progress = false }
      losses[place] = { run.test.mean.ndcg }
      for i, entry in ipairs(run.history) do losses[place][i + 1] = entry.loss end
    end
    mr.device(was)
    near(losses.cuda, losses.cpu, 1e-6)
  end))

  it("must have the model and its batch on one device", with_cuda(function()
    local was = mr.device()
    mr.device "cpu"
    local data = mr.data.synthetic{ kind = "queries", queries = 20, features = 5 }:to "cpu"
    local model = mr.models.linear{ inputs = 5 }:to "cuda"
    raises(function() return model(data) end, "batch.features", "cpu", "cuda", "data:to")
    equal(model(data:to "cuda"):numel(), data.lists.rows)
    local function train()
      return mr.fit{ model = model, loss = mr.losses.ap(), train = data, epochs = 1, optimizer = mr.optim.adam(),
        progress = false }
    end
    raises(train, "mr.fit", "cuda", "cpu", "mr.device")
    mr.device "cuda"
    equal(#train().history, 1)
    mr.device(was)
  end))

  it("continues from a saved optimizer if parameters are on both devices", at_both(function()
    local path = os.tmpname()
    for _, order in ipairs{ { "cpu", "cuda" }, { "cuda", "cpu" } } do
      local function start()
        local parameters = {}
        for i, place in ipairs(order) do
          parameters[i] = mr.tensor({ 1, -2 }, { device = device_of[place] }):requires_grad()
        end
        return parameters
      end
      local function train(parameters, optimizer, steps)
        for _ = 1, steps do
          optimizer:zero_grad()
          for _, parameter in ipairs(parameters) do (parameter * parameter):sum():backward() end
          optimizer:step()
        end
      end
      local function bound(parameters) return mr.optim.adam{ lr = 0.1 }:bind(parameters) end
      local whole, parts = start(), start()
      train(whole, bound(whole), 9)
      for part = 1, 3 do
        local optimizer = bound(parts)
        if part > 1 then optimizer:load(path) end
        train(parts, optimizer, 3)
        optimizer:save(path)
      end
      for i in ipairs(order) do equal(parts[i]:totable(), whole[i]:totable(), order[i]) end
    end
  end))

  it("takes the same steps if a parameter is bound twice", at_both(function()
    local found = {}
    for _, place in ipairs(places) do
      local p = mr.normal({ 500, 20 }, { seed = 1, dtype = "float64", device = "cpu" })
      p = p:to(device_of[place]):requires_grad()
      local optimizer = mr.optim.adam{ lr = 0.1 }:bind{ p, p, p:detach():narrow(1, 3, 90):requires_grad() }
      for _ = 1, 5 do
        optimizer:zero_grad();
        (p * p):sum():backward()
        optimizer:step()
      end
      found[place] = p:to("cpu"):detach()
    end
    near(found.cuda, found.cpu, 1e-12)
  end))

  it("gives a model the same recommendations and evaluations among all items", at_both(function()
    local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 8, init = 0.5, seed = 1,
      dtype = "float64" }
    local found = {}
    for _, place in ipairs(places) do
      model:to(device_of[place])
      found[place] = { model:recommend{ k = 5 }.items:totable() }
      for i, options in ipairs{ {}, { candidates = "sampled" }, { candidates = "one", correct = true } } do
        local values = fold:evaluate(model, { "ndcg@10", "rr" }, options)
        local corrected = options.correct and "[corrected]" or ""
        found[place][i + 1] = { values.mean["ndcg@10" .. corrected], values.mean["rr" .. corrected] }
      end
    end
    near(found.cuda[2], found.cpu[2], 1e-12)
    near(found.cuda[3], found.cpu[3], 1e-12)
    near(found.cuda[4], found.cpu[4], 1e-12)
    equal(found.cuda[1], found.cpu[1])
  end))

  it("gives the same metrics and order of tied rows", at_both(function()
    local scores = (mr.normal({ lists.rows }, { seed = 6, device = "cpu", dtype = "float64" }) * 4):long():double()
    for _, name in ipairs{ "err", "err@5", "bpref", "nrbp_loss", "r_precision", "f1@5", "ap@7", "hit@3" } do
      for _, ties in ipairs{ "mean", "stable", "worst" } do
        local metric = mr.metrics.parse(name, { ties = ties })
        near(metric(scores:to(device_of.cuda), lists):to("cpu"), metric(scores, lists), 1e-12, name .. " " .. ties)
      end
    end
    equal(lists:order(scores:to(device_of.cuda)):to("cpu"):totable(), lists:order(scores):totable())
  end))
end)
