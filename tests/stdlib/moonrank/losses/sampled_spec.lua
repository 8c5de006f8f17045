-- Tests sampling losses: means over many draws against enumeration, seeds, degenerate lists, training and resuming.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.of_loss
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local losses = mr.losses
local names = { "bpr", "warp", "lambdafm" }

local function softplus(t) return math.max(t, 0) + math.log(1 + math.exp(-math.abs(t))) end
local function sigma(t) return 1 / (1 + math.exp(-t)) end

-- For each loss, a function that returns all rows that may be drawn for the relevant row i, as { probability, row,
-- value, slope }.
local outcomes = {}
local function others_of(y)
  local others = {}
  for j = 1, #y do if y[j] < 1 then others[#others + 1] = j end end
  return others
end
function outcomes.bpr(f, y, i)
  local all, others = {}, others_of(y)
  for _, j in ipairs(others) do all[#all + 1] = { 1 / #others, j, softplus(f[j] - f[i]), sigma(f[j] - f[i]) } end
  return all
end
function outcomes.warp(f, y, i)
  local all, others, violating = {}, others_of(y), {}
  for _, j in ipairs(others) do if f[j] > f[i] - 1 then violating[#violating + 1] = j end end
  for k = 1, #others do
    local weight = 0
    for r = 1, #others // k do weight = weight + 1 / r end
    for _, j in ipairs(violating) do
      all[#all + 1] = { (1 - #violating / #others) ^ (k - 1) / #others, j, weight * (1 - f[i] + f[j]), weight }
    end
  end
  return all
end
function outcomes.lambdafm(f, y, i)  -- three candidates are drawn, with the option rho = 0.4
  local all, others, total = {}, others_of(y), 0
  for r = 0, 2 do total = total + math.exp(-r / (3 * 0.4)) end
  for _, a in ipairs(others) do
    for _, b in ipairs(others) do
      for _, c in ipairs(others) do
        local sorted = { a, b, c }
        table.sort(sorted, function(j, k) return f[j] > f[k] end)
        for r = 0, 2 do
          local j = sorted[r + 1]
          local probability = math.exp(-r / (3 * 0.4)) / total / (#others) ^ 3
          all[#all + 1] = { probability, j, softplus(f[j] - f[i]), sigma(f[j] - f[i]) }
        end
      end
    end
  end
  return all
end

-- Returns the mean and the standard deviation of each relevant row's value, and the mean gradient of the list.
local function expectation(name, f, y)
  local value, variance, slopes = 0, 0, {}
  for k = 1, #f do slopes[k] = 0 end
  for i = 1, #f do
    if y[i] >= 1 then
      local mean, square = 0, 0
      for _, o in ipairs(outcomes[name](f, y, i)) do
        mean, square = mean + o[1] * o[3], square + o[1] * o[3] ^ 2
        slopes[i], slopes[o[2]] = slopes[i] - o[1] * o[4], slopes[o[2]] + o[1] * o[4]
      end
      value, variance = value + mean, variance + square - mean ^ 2
    end
  end
  return value, math.sqrt(math.max(variance, 0)), slopes
end

local options = { bpr = {}, warp = {}, lambdafm = { candidates = 3, rho = 0.4 } }
local function loss_of(name, more)
  local o = {}
  for key, value in pairs(options[name]) do o[key] = value end
  for key, value in pairs(more or {}) do o[key] = value end
  return losses[name](o)
end

describe("sampling losses", function()
  local f, y = { 0.5, -1, 0.25, 1.5, 0, -0.5, 0.75 }, { 1, 0, 0, 2, 0, 0.5, 0 }

  it("have the enumerated mean over many draws of a row", function()
    local draws = 100000
    for _, name in ipairs(names) do
      local value, sd, slopes = expectation(name, f, y)
      mr.seed(3)
      local found, grad = value_and_gradient(loss_of(name, { draws = draws }), mr.tensor(f, f64), mr.lists{ y })
      near(found:item(), value, 5 * sd / draws ^ 0.5, name)
      near(grad, slopes, 5 * 3 / draws ^ 0.5, "gradient of " .. name)
    end
  end)

  it("have the enumerated mean over rows, lists and seeds", function()
    local copies, scores = {}, {}
    for l = 1, 2000 do
      copies[l] = y
      table.move(f, 1, #f, #scores + 1, scores)
    end
    local lists, x = mr.lists(copies), mr.tensor(scores, f64)
    for _, name in ipairs(names) do
      local value, sd = expectation(name, f, y)
      local sum = 0
      for seed = 1, 10 do
        mr.seed(seed)
        sum = sum + loss_of(name)(x, lists):sum():item()
      end
      near(sum / 20000, value, 5 * sd / 20000 ^ 0.5, name)
    end
  end)

  it("give RankNet divided by the number of drawable rows in bpr", function()
    local lists, x = mr.lists{ { 1, 0, 1, 0, 0, 0 } }, mr.normal({ 6 }, { seed = 2, dtype = "float64" })
    near(losses.bpr{ draws = 200000 }(x, lists):item(), losses.ranknet()(x, lists):item() / 4, 0.02)
  end)

  it("move from BPR to the highest scores in lambdafm as rho falls", function()
    local lists, x = mr.lists{ { 1, 0, 0, 0, 0 } }, mr.tensor({ 0, 3, 1, 0, -3 }, f64)
    near(losses.lambdafm{ candidates = 128, rho = 1e-3 }(x, lists):item(), softplus(3), 1e-12)
    local of_all = losses.ranknet()(x, lists):item() / 4
    near(losses.lambdafm{ candidates = 5, rho = 1e6, draws = 100000 }(x, lists):item(), of_all, 0.03)
    near(losses.lambdafm{ candidates = 1, draws = 100000 }(x, lists):item(), of_all, 0.03)
  end)

  it("have gradients that match finite differences", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, {}, { 2 }, { 0, 0 }, { 1, 1 }, { 2, 0, 1, 0.5, 0, 0 } }
    local x = mr.normal({ lists.rows }, { seed = 3, dtype = "float64" })
    for _, name in ipairs(names) do
      local loss = loss_of(name, { draws = 3 })
      check(mr.gradcheck(function(s)
        mr.seed(5)
        return loss(s, lists)
      end, x) < 1e-6, name)
    end
  end)
end)

describe("draws of sampling losses", function()
  local all = {}
  for n = 0, 150 do
    local u = mr.uniform({ math.max(n, 1) }, { seed = n, device = "cpu" }):totable()
    all[n + 1] = {}
    for i = 1, n do all[n + 1][i] = u[i] < 0.3 and 1 or 0 end
  end
  local lists = mr.lists(all)
  local scores = mr.normal({ lists.rows }, { seed = 5 })
  local function differing(a, b) return (a - b):abs():gt(0):sum():item() end

  it("depend on seed and call, and not on the number of threads", function()
    local before = core.threads()
    for _, name in ipairs(names) do
      local loss = loss_of(name, { draws = 2 })
      local function drawn(seed, threads)
        core.threads(threads)
        mr.seed(seed)
        local value, grad = value_and_gradient(loss, scores, lists)
        return { value:totable(), grad:totable() }
      end
      local one, two, other = drawn(1, 1), drawn(1, 2), drawn(2, 1)
      core.threads(before)
      equal(two, one, name)
      check(differing(mr.tensor(other[1]), mr.tensor(one[1])) > 50, name .. " draws the same for another seed")
      mr.seed(1)
      local first, second = loss(scores, lists), loss(scores, lists)
      check(differing(first, second) > 50, name .. " draws the same in the next call")
    end
  end)

  it("reach every row that is not relevant, and no other", function()
    local y = { 1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1 }
    local x = mr.zeros({ #y }, f64)
    for _, name in ipairs(names) do
      local _, grad = value_and_gradient(loss_of(name, { draws = 300 }), x, mr.lists{ y })
      for i, slope in ipairs(grad:totable()) do
        check(y[i] == 1 and slope < 0 or y[i] == 0 and slope > 0, ("%s, row %d has slope %g"):format(name, i, slope))
      end
    end
  end)

  it("continue unchanged if training is resumed from a checkpoint", function()
    local queries = mr.data.synthetic{ kind = "queries", queries = 40, features = 6, noise = 0.2 }:standardize()
    for _, name in ipairs(names) do
      local path = os.tmpname()
      local function trained(more)
        local model = mr.models.mlp{ inputs = 6, hidden = { 4 }, seed = 4 }
        local o = { model = model, loss = loss_of(name), train = queries, optimizer = mr.optim.adam{ lr = 0.02 },
          epochs = 4, batch = 16, seed = 9, metrics = { "ndcg" }, progress = false }
        for key, value in pairs(more) do o[key] = value end
        mr.fit(o)
        local numbers = {}
        for i, parameter in ipairs(model:parameters()) do numbers[i] = parameter:totable() end
        return numbers
      end
      os.remove(path)
      local whole = trained{}
      check(not pcall(trained, { checkpoint = path, each_epoch = function(epoch)
        if epoch == 3 then error("stopped here", 0) end
      end }))
      mr.seed(77)  -- resumed training must not depend on the seed or on what ran before it
      equal(trained{ checkpoint = path }, whole, name)
      os.remove(path)
    end
  end)
end)

describe("sampling losses on lists", function()
  it("are never NaN and have finite gradients", function()
    for _, name in ipairs(names) do support.stays_a_number(loss_of(name, { draws = 20 }), name) end
  end)

  it("are 0 without gradient and do not count lists where nothing can be drawn", function()
    local lists = mr.lists{ { 1, 0, 2 }, {}, { 0, 0 }, { 1, 1 }, { 3 }, { 2, 1 } }
    local scores = mr.tensor({ 1, 2, 3, 1, 2, 0, 3, 1, 2, 5 }, f64)
    for _, name in ipairs(names) do
      local value, gradient = value_and_gradient(loss_of(name), scores, lists)
      check(value:totable()[1] > 0, name)
      equal({ table.unpack(value:totable(), 2) }, { 0.0, 0.0, 0.0, 0.0, 0.0 }, name)
      equal({ table.unpack(gradient:totable(), 4) }, { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 }, name)
      equal(loss_of(name):count(lists), 1, name)
      equal(loss_of(name, { relevant = 2 }):count(lists), 2, name)
      check(loss_of(name, { relevant = 2 })(scores, lists):totable()[6] > 0, name)
    end
  end)

  it("are scaled by the slope of every bound", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 2, 1 } }
    for _, name in ipairs(names) do
      for _, of in ipairs{ "nrbp_loss", "ap" } do
        support.by_slope(function(o)
          o.metric = o.bound and of ~= "nrbp_loss" and of or nil
          return loss_of(name, o)
        end, of, lists)
      end
    end
  end)

  it("train a network to a better ranking", function()
    local data = mr.data.synthetic{ kind = "queries", queries = 60, features = 10, noise = 0.2 }
    data = data:standardize():to(mr.device())
    for _, name in ipairs(names) do
      local loss = loss_of(name)
      equal({ loss.name, loss.metric, loss.repeats }, { name, "auc", false })
      local model = mr.models.mlp{ inputs = 10, hidden = { 8 }, seed = 4 }
      local before = mr.evaluate(model(data), data.lists, { "auc" }).mean.auc
      local run = mr.fit{ model = model, loss = loss, train = data, test = data,
        optimizer = mr.optim.adam{ lr = 0.02 }, epochs = 20, batch = 20, metrics = { "auc" }, progress = false }
      check(run.test.mean.auc > before + 0.05, ("%s: auc was %.3f, is %.3f"):format(name, before, run.test.mean.auc))
    end
  end)

  it("add the regularize option for user and item factors in mr.fit", function()
    local lists = mr.lists{ { 1, 0, 0 }, { 0, 1 }, { 1, 1 } }
    local function ids(numbers) return mr.tensor(numbers, { dtype = "int64" }) end
    local data = mr.data.dataset{ lists = lists, users = ids{ 2, 1, 4 }, items = ids{ 1, 2, 3, 2, 5, 1, 6 } }
    local function factors()
      return mr.models.mf{ users = 4, items = 6, factors = 3, init = 1, seed = 2, dtype = "float64" }
    end
    for _, reduction in ipairs{ "mean", "sum" } do
      local function trained(name, regularize)
        local model = factors()
        mr.fit{ model = model, loss = loss_of(name, { regularize = regularize }), train = data,
          optimizer = mr.optim.sgd{ lr = 0.1 }, epochs = 1, batch = 3, shuffle = false, reduction = reduction,
          seed = 3, metrics = { "auc" }, progress = false }
        return model
      end
      local start, over = factors(), reduction == "mean" and 2 or 1
      for _, name in ipairs(names) do
        local plain, ours = trained(name), trained(name, { users = 0.5, items = 0.25 })
        local function moved(of, times, lambda)
          local function numbers(model) return model:parameters()[of == "users" and 1 or 2]:detach() end
          local step = mr.tensor(times, f64):reshape(#times, 1) * (-0.1 * 2 * lambda / over)
          near(numbers(ours) - numbers(plain), numbers(start) * step, 1e-12, name .. of)
        end
        moved("users", { 1, 1, 0, 1 }, 0.5)
        moved("items", { 2, 2, 1, 0, 1, 1 }, 0.25)
      end
    end
    local features = mr.data.dataset{ lists = lists, features = mr.ones(7, 2) }
    raises(function()
      mr.fit{ model = mr.models.linear{ inputs = 2 }, loss = losses.bpr{ regularize = { users = 1 } },
        train = features, progress = false, optimizer = mr.optim.sgd{}, epochs = 1, metrics = { "auc" } }
    end, "'users'", "data")
    raises(function() losses.bpr{ regularize = { users = -1 } } end, "users", "-1")
    raises(function() losses.bpr{ regularize = { user = 1 } } end, "'user'", "'users'")
    raises(function() losses.warp{ regularize = 0.1 } end, "regularize", "0.1")
  end)

  it("reject invalid options and scores", function()
    for _, name in ipairs(names) do
      raises(function() losses[name]()(mr.tensor{ 0 / 0, 1 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN")
      raises(function() losses[name]()(mr.tensor{ 1, 2, 3 }, mr.lists{ { 1, 0 } }) end, "3", "lists", "2")
      raises(function() losses[name]{ draws = 1 << 40 }(mr.tensor{ 1, 2 }, mr.lists{ { 1, 0 } }) end,
        "'draws'", "1099511627776")
    end
    raises(function() losses.lambdafm{ candidates = 129 } end, "candidates", "129")
    raises(function() losses.lambdafm{ rho = 1e7 } end, "rho", "10000000.0")
    raises(function() losses.warp{ margin = 1e16 } end, "margin", "1e+16")
    raises(function() losses.warp{ trials = 1 << 53 } end, "trials", "9007199254740992")
    raises(function() losses.bpr{ candidates = 3 } end, "'candidates'")
  end)
end)
