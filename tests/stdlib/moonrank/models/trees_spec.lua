-- Tests gradient-boosted trees: options, training by mr.fit, second derivatives, files and sweeps.
local core = require "moonrank.core"
local mr = require "moonrank"
local newton = require "moonrank.losses.newton"
local streams = require "moonrank.tensor.random"
local files = require "tests.support.files"
local test = require "moonrank.test"
local trees = dofile("tests/support/trees.lua")
local sweeps = dofile("tests/support/sweeps.lua")
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local it_grows = trees.it

local function fit(options)
  options.progress = false
  return mr.fit(options)
end

local function same_scores(a, b, data) equal(trees.scores(a, data):totable(), trees.scores(b, data):totable()) end

describe("mr.models.trees", function()
  it_grows("frees XGBoost's data of earlier trainings, of which Lua itself sees only a pointer", function()
    local features = mr.normal({ 24000, 136 }, { seed = 1 })
    local train = mr.data.dataset{ lists = mr.lists{ relevance = (features:narrow(2, 1, 1):reshape(24000)):gt(0),
      sizes = { 12000, 12000 } }, features = features }
    local made, count, tree_data = setmetatable({}, { __mode = "v" }), 0, core.tree_data
    core.tree_data = function(...)
      local data = tree_data(...)
      count = count + 1
      made[count] = data
      return data
    end
    local ok, message = pcall(function()
      for _ = 1, 20 do
        fit{ model = mr.models.trees{ rounds = 1, depth = 1, bins = 2 }, loss = mr.losses.mse{}, train = train }
      end
    end)
    core.tree_data = tree_data
    if not ok then error(message, 0) end
    local alive = 0
    for _ in pairs(made) do alive = alive + 1 end
    equal(count, 20)
    check(alive < 10, alive)
  end)

  it_grows("rejects invalid options before training", function()
    local function refused(options, ...) raises(function() mr.models.trees(options) end, ...) end
    refused({ max_depth = 3 }, "'max_depth'", "'depth'")
    refused({ learning_rate = 0.1 }, "'learning_rate'", "'eta'")
    refused({ depth = 31 }, "depth", "31", "30")
    refused({ bins = 1 }, "bins", "1", "65536")
    refused({ bins = 16, method = "exact" }, "bins", "16", "'exact'")
    refused({ classes = 3 }, "classes", "3", "'multi:softprob'")
    refused(3, "options", "number")
  end)

  it_grows("rejects options of mr.fit that do not apply to trees", function()
    local data = trees.part "train"
    local function refused(options, words, objective, loss)
      options.model = mr.models.trees{ objective = objective, rounds = 1 }
      options.train = options.train or data
      if loss ~= false and not objective then options.loss = mr.losses.ap{} end
      raises(function() fit(options) end, table.unpack(words))
      equal(options.model.rounds, 0)
    end
    refused({ optimizer = mr.optim.adam{} }, { "optimizer", "trees" })
    refused({ batch = 4 }, { "batch", "trees" })
    refused({ clip = 1 }, { "clip" })
    refused({ epochs = 4 }, { "mr.models.trees{rounds = 4}" })
    refused({ parallel = true }, { "parallel", "true" })
    refused({}, { "loss", "mr.losses" }, nil, false)
    refused({ loss = mr.losses.ap{} }, { "'rank:map'", "loss" }, "rank:map")
    refused({}, { "train", "grades", "0", "2" }, "binary:logistic")
    refused({ metrics = { "ndgc" } }, { "'ndgc'", "'ndcg'" })
    refused({ patience = 0 }, { "patience", "0" })
    local ordinal, llpauc = mr.losses.ordinal{ learn = true }, mr.losses.llpauc{}
    refused({ loss = ordinal }, { "'ordinal'", "parameters", "trees", "ordinal{learn = false}" }, nil, false)
    refused({ loss = llpauc }, { "'llpauc'", "parameters", "trees", "llpauc{learn = false}" }, nil, false)
    refused({ loss = 2 * llpauc + mr.losses.ap{} + ordinal },
      { "2 llpauc", "llpauc{learn = false}, mr.losses.ordinal{learn = false}" }, nil, false)
    fit{ model = mr.models.trees{ rounds = 1 }, loss = mr.losses.llpauc{ learn = false }, train = data }
    refused({ train = mr.data.dataset{ lists = data.lists } }, { "train", "features" })
    local narrow = mr.data.dataset{ lists = mr.lists{ { 0, 1 } }, features = mr.tensor{ { 1 }, { 2 } } }
    refused({ test = narrow }, { "trees", "4", "test", "1" })
    local halves = mr.data.dataset{ lists = mr.lists{ { 0, 1.5 } }, features = mr.tensor{ { 1 }, { 2 } } }
    refused({ train = halves }, { "0", "31", "grades" }, "rank:ndcg")
    raises(function()
      fit{ model = mr.models.trees{ objective = "multi:softprob", classes = 2 }, train = data }
    end, "0", "1", "2", "grades", "classes")
    raises(function() fit{ model = mr.models.trees{}, loss = mr.losses.ap{} } end, "mr.fit", "train")
  end)

  it_grows("keeps its booster usable after its training data are collected", function()
    local function rows() return core.tree_data(mr.uniform({ 6, 3 }, { seed = 1 }), nil, 1) end
    local booster = core.booster(rows(), { "max_depth" }, { "2" })
    collectgarbage()
    equal(#booster:scores(rows(), 0, false), 6)
  end)

  it_grows("raises an error if used before training or trained twice", function()
    local data, model = trees.part "train", mr.models.trees{ rounds = 2 }
    raises(function() trees.scores(model, data) end, "trees", "mr.fit", "{model = ...}")
    raises(function() model:importances() end, "importances", "trees")
    raises(function() model:save(os.tmpname()) end, "save", "trees")
    check(tostring(model):find("not grown", 1, true))
    fit{ model = model, loss = mr.losses.ndcg{}, train = data }
    check(tostring(model):find("2 trees in 2 rounds", 1, true), tostring(model))
    raises(function() fit{ model = model, loss = mr.losses.ndcg{}, train = data } end, "rounds", "2", "2")
    raises(function() model{ lists = data.lists, features = mr.tensor{ { 1, 2 } } } end, "4", "2", "features")
    raises(function() model{ lists = data.lists } end, "trees", "features", "batch")
    raises(function() model:importances{ names = { "a" } } end, "1", "4", "names", "entry")
    equal(#model:importances{ names = { "a", "b", "c", "d" } }.rows[1][1], 1)
  end)
end)

describe("mr.fit with trees", function()
  it_grows("records a history, keeps the best validation round and stops by patience", function()
    local train, valid = trees.part "train", trees.part "valid"
    local model, calls = mr.models.trees{ rounds = 60, eta = 1.0 }, 0
    local run = fit{ model = model, loss = mr.losses.lambdarank{}, train = train, valid = valid, test = valid,
      patience = 4, metrics = { "ndcg", "ap" }, select = { "ndcg", "ap" },
      each_epoch = function() calls = calls + 1 end }
    equal(run.stopped, "patience")
    check(#run.history < 60 and calls == #run.history + 1)
    equal(model.rounds, run.best.epoch)
    near(run.test.mean.ndcg, run.best.metrics.ndcg, 1e-12)
    near(mr.evaluate(trees.scores(model, valid), valid.lists, { "ndcg" }).mean.ndcg, run.best.metrics.ndcg, 1e-12)
    run:restore "ap"
    equal(model.rounds, run.choices[2].best.epoch)
    near(mr.evaluate(trees.scores(model, valid), valid.lists, { "ap" }).mean.ap, run.choices[2].best.metrics.ap, 1e-12)
    check(run.history[#run.history].loss < run.history[1].loss)
    check(run.history[1].valid_loss > 0)
  end)

  it_grows("gives the same bits for the same seed, and other rows for another seed", function()
    local data = trees.part "train"
    local function grown(seed, loss, objective)
      local model = mr.models.trees{ rounds = 5, subsample = 0.5, seed = seed, objective = objective }
      fit{ model = model, loss = loss, train = data }
      return model
    end
    local loss = mr.losses.ap{ bound = "minmax" }
    local first, ranker = grown(1, loss), grown(1, nil, "rank:ndcg")
    same_scores(first, grown(1, loss), data)
    same_scores(ranker, grown(1, nil, "rank:ndcg"), data)
    check((trees.scores(first, data) - trees.scores(grown(2, loss), data)):abs():max():item() > 0)
    check((trees.scores(ranker, data) - trees.scores(grown(2, nil, "rank:ndcg"), data)):abs():max():item() > 0)
  end)

  it_grows("ranks better than random with every loss and bound, without NaN", function()
    local data = trees.part "train"
    local random = mr.evaluate(mr.normal({ data.lists.rows }, { seed = 3 }), data.lists, { "ndcg" }).mean.ndcg
    -- pointwise losses accept affine bounds only
    local pointwise, count = { bce = true, mse = true, ordinal = true, squared_hinge = true }, 0
    -- cutoffs of these losses; the default cutoff of 10 would leave out all lists, which have fewer rows
    local few = { soft_hit = 3, soft_precision = 3, soft_recall = 3, soft_top_k = 3 }
    -- with trees, a loss must not have trainable parameters
    local constant = { llpauc = false, llpauc_as_coded = false }
    local function ranks(name, bound)
      local model = mr.models.trees{ rounds = 8, depth = 3 }
      local loss = mr.losses[name]{ bound = bound, k = few[name], learn = constant[name] }
      local run = fit{ model = model, loss = loss, train = data }
      local found = mr.evaluate(trees.scores(model, data), data.lists, { "ndcg" }).mean.ndcg
      check(found > random + 0.1, ("%s under %s: %g, at random %g"):format(name, bound, found, random))
      check(run.best.loss == run.best.loss)
      count = count + 1
    end
    for _, name in ipairs(mr.losses.names()) do
      for _, bound in ipairs(mr.bounds.names()) do
        -- trees start from equal scores, at which SoftSort has no gradient
        if not (pointwise[name] and bound:find "^distribution") and name ~= "softsort_ndcg" then ranks(name, bound) end
      end
    end
    check(count >= 30 * 5, count)
  end)

  it_grows("warns if derivatives leave no split", function()
    local helpers = require "moonrank.check"
    local data = mr.data.synthetic{ kind = "queries", queries = 20, features = 4, seed = 1 }
    local warn <const>, said = helpers.warn, {}
    local function grown(loss, weight)
      local model = mr.models.trees{ rounds = 3, depth = 3, min_child_weight = weight }
      helpers.warn = function(text) said[#said + 1] = text end
      local ok, message = pcall(fit, { model = model, loss = loss, train = data })
      helpers.warn = warn
      if not ok then error(message, 0) end
      local scores = trees.scores(model, data)
      return (scores:max() - scores:min()):item()
    end
    equal(grown(mr.losses.bpr{ bound = "minmax" }, 1), 0.0)
    check(#said == 1 and said[1]:find("second derivatives", 1, true), said[1])
    equal(grown(mr.losses.softsort_ndcg(), 1), 0.0)
    check(#said == 2 and said[2]:find("softsort_ndcg has no gradient", 1, true), said[2])
    check(grown(mr.losses.bpr{ bound = "minmax" }, 0.01) > 0.5)
    check(grown(mr.losses.bpr(), 1) > 0.5)
    equal(#said, 2)
  end)

  it_grows("handles degenerate lists and rejects data without rows", function()
    for _, lists in ipairs{ { { 1 } }, { { 0, 0 }, { 1, 1 }, { 2 } }, { {}, { 0, 1 } } } do
      local rows = 0
      for _, list in ipairs(lists) do rows = rows + #list end
      local data = mr.data.dataset{ lists = mr.lists(lists), features = mr.normal({ rows, 2 }, { seed = 1 }) }
      for _, case in ipairs{ { loss = mr.losses.lambdarank{} }, { loss = mr.losses.ap{ bound = "minmax" } },
        { objective = "rank:ndcg" }, { objective = "multi:softprob" }, { objective = "reg:squarederror" } } do
        local model = mr.models.trees{ rounds = 2, objective = case.objective }
        fit{ model = model, loss = case.loss, train = data, valid = data, metrics = { "ndcg" } }
        local scores = trees.scores(model, data)
        equal((scores - scores):sum():item(), 0.0)
      end
    end
    local none = mr.data.dataset{ lists = mr.lists{ {} }, features = mr.zeros{ 0, 2 } }
    raises(function() fit{ model = mr.models.trees{}, loss = mr.losses.ap{}, train = none } end, "train", "rows")
  end)

  it_grows("works in mr.sweep", function()
    local folder = sweeps.new_folder()
    local train, valid = trees.part "train", trees.part "valid"
    local study = mr.sweep{ name = "trees", store = folder .. "/r.db", metric = "valid_ndcg", progress = false,
      space = { depth = mr.range(1, 3) }, run = function(trial)
        return mr.fit{ model = mr.models.trees{ depth = trial.depth, rounds = 5 }, loss = mr.losses.ndcg{},
          train = train, valid = valid, metrics = { "ndcg" }, progress = false, trial = trial }
      end }
    equal(study:counts().done, 3)
  end)
end)

it_grows("Ctrl-C during mr.fit with trees stops within a round and keeps nothing of that round", function()
  local program = dofile "tests/support/program.lua"
  if not program.moonrank then return test.skip "MOONRANK does not name the program" end
  local code = [[local mr = require("moonrank")
      local q = mr.data.synthetic{kind = "queries", queries = 300, features = 20, seed = 1}
      local model = mr.models.trees{objective = "reg:squarederror", rounds = 1, trees = 100000, depth = 10}
      local run = mr.fit{model = model, train = q, valid = q, test = q, metrics = {"ndcg"}, progress = false}
      print(run.interrupted, #run.history, model.rounds)]]
  -- with --foreground, timeout signals the program only; else it would also signal the process group, so that a second
  -- Ctrl-C would end the program
  local text
  -- tried again with 10 s, because on a busy machine training may not have begun after 2 s
  for _, seconds in ipairs{ 2, 10 } do
    local before = core.clock()
    local command = "timeout --foreground -s INT -k 60 %d %s -e '%s'"
    text = select(2, program.run(command:format(seconds, program.moonrank, (code:gsub("\n", " ")))))
    check(core.clock() - before < seconds + 18, "it took " .. core.clock() - before)
    if text ~= "" then break end
  end
  check(text:find("true\t0\t0", 1, true), text)
end)

describe("second derivatives", function()
  it("of ranknet and lambdarank match finite differences of first derivatives", function()
    local lists, s = mr.lists{ { 0, 2, 1, 0 }, { 1, 0 } }, { 0.3, -0.2, 0.9, 0.1, 0.4, 0.5 }
    for _, loss in ipairs{ mr.losses.ranknet{ steepness = 2 }, mr.losses.lambdarank{ steepness = 0.5 },
      mr.losses.lambdarank{ metric = "ap", bound = "minmax" } } do
      local first, second = newton.derivatives(loss, mr.tensor(s, { dtype = "float64" }), lists)
      local step = 1e-5  -- a step of finite differences too small to change a rank
      for i = 1, #s do
        local t = { table.unpack(s) }
        t[i] = t[i] + step
        local moved = newton.derivatives(loss, mr.tensor(t, { dtype = "float64" }), lists)
        near((moved[i]:item() - first[i]:item()) / step, second[i]:item(), { atol = 1e-4 })
      end
    end
  end)

  it("of other pairwise and sampling losses match finite differences for the same draws", function()
    mr.metrics.define("second_rank_bonus", { gain = function(y) return y end,
      discount = function(r) return 1 / (1 + r * r) end, ideal = true })
    local lists = mr.lists{ { 0, 2, 1, 0 }, { 1, 0 }, { 1, 1 }, {}, { 0, 0, 1 } }
    local s = { 0.3, -0.2, 0.9, 0.1, 0.4, 0.5, 0, 1, 2, 0.25, -1 }
    local function derivatives(loss, scores)
      local _ <close> = streams.scope(3, "test")
      return newton.derivatives(loss, mr.tensor(scores, { dtype = "float64" }), lists)
    end
    for _, loss in ipairs{ mr.losses.ranknet_all_pairs{ steepness = 2 },
      mr.losses.ranknet_all_pairs{ upsample = "list" },
      mr.losses.ranknet_all_pairs{ upsample = 3, bound = "minmax" },
      mr.losses.lambdarank{ metric = "second_rank_bonus", steepness = 1.5 },
      mr.losses.lambdarank{ metric = "second_rank_bonus", bound = "minmax" }, mr.losses.ndcg_loss_1{ steepness = 2 },
      mr.losses.ndcg_loss_2(), mr.losses.ndcg_loss_2pp{ mu = 3, bound = "expectation" },
      mr.losses.bpr{ draws = 3 }, mr.losses.bpr{ bound = "minmax" }, mr.losses.lambdafm{ candidates = 2 } } do
      local first, second = derivatives(loss, s)
      check(second:max():item() > 0.01, tostring(loss))
      local step = 1e-5
      for i = 1, #s do
        local t = { table.unpack(s) }
        t[i] = t[i] + step
        local difference = (derivatives(loss, t)[i]:item() - first[i]:item()) / step
        near(difference, second[i]:item(), { atol = 1e-4 }, ("%s, row %d"):format(loss, i))
      end
    end
  end)

  it("of hinge and warp count pairs with a slope, and direct_ranker's are Gauss-Newton", function()
    local lists, s = mr.lists{ { 0, 2, 1, 0 } }, mr.tensor({ 0.3, -0.2, 1.9, 0.1 }, { dtype = "float64" })
    local _, hinge = newton.derivatives(mr.losses.hinge(), s, lists)
    near(hinge, { 1, 3, 1, 1 }, 1e-12)
    local _ <close> = streams.scope(3, "test")
    local two_rows, one_list = mr.tensor({ 0, 0.5 }, { dtype = "float64" }), mr.lists{ { 1, 0 } }
    local slope, warp = newton.derivatives(mr.losses.warp(), two_rows, one_list)
    near({ slope[1]:item(), slope[2]:item(), warp[1]:item(), warp[2]:item() }, { -1, 1, 1, 1 }, 1e-12)
    local two = mr.tensor({ 0.75, 0.5 }, { dtype = "float64" })
    local _, bent = newton.derivatives(mr.losses.direct_ranker{ steepness = 2 }, two, mr.lists{ { 0, 1 } })
    local tanh = (math.exp(1) - 1) / (math.exp(1) + 1)  -- of t = 2 (0.75 - 0.5), by e^2t
    local sigma = 1 / (1 + math.exp(-tanh))
    near(bent, { 4 * sigma * (1 - sigma) * (1 - tanh ^ 2) ^ 2, 4 * sigma * (1 - sigma) * (1 - tanh ^ 2) ^ 2 }, 1e-12)
  end)

  it("of mse are exact, and those of smooth losses are 1", function()
    local lists = mr.lists{ { 0, 1, 0 }, { 1, 0 }, { 0, 0 } }
    local scores = mr.tensor({ 0.3, -0.2, 0.9, 0.1, 0.4, 1, 2 }, { dtype = "float64" })
    local _, of_mse = newton.derivatives(mr.losses.mse{}, scores, lists)
    near(of_mse, { 2 / 3, 2 / 3, 2 / 3, 1, 1, 1, 1 }, 1e-6)
    local first, second = newton.derivatives(mr.losses.ap{}, scores, lists)
    near(second, { 1, 1, 1, 1, 1, 0, 0 }, 1e-12)
    near((first * first):totable()[4] + (first * first):totable()[5], 2, 1e-9)
    local bounded, weights = newton.derivatives(mr.losses.ap{ bound = "minmax" }, scores, lists)
    local slopes = mr.bounds.of("ap", { n = 2, p = 1 })
    near(bounded[4]:item() / first[4]:item(), 1 / (slopes.max - slopes.min), 1e-9)
    near(weights[4]:item(), 1 / (slopes.max - slopes.min), 1e-9)
  end)
end)

describe("a trees file", function()
  it_grows("loads with the same scores and importances", function()
    local data = trees.part "train"
    for _, case in ipairs{ { loss = mr.losses.lambdarank{} }, { objective = "rank:ndcg" },
      { objective = "multi:softprob" }, { objective = "reg:squarederror", method = "exact", gamma = 3.0 } } do
      local path = files.new_path()
      local model = mr.models.trees{ rounds = 6, eta = 0.7, objective = case.objective, method = case.method,
        gamma = case.gamma }
      fit{ model = model, loss = case.loss, train = data, valid = data, metrics = { "rr" } }
      model:save(path)
      local read = mr.models.load(path)
      same_scores(model, read, data)
      equal(tostring(read):match ", (%d+ trees in %d+ rounds)$", tostring(model):match ", (%d+ trees in %d+ rounds)$")
      equal(read:importances():to_csv(), model:importances():to_csv())
      read:save(path)
      same_scores(model, mr.models.load(path), data)
    end
  end)

  it_grows("raises an error if it is damaged or inconsistent", function()
    local path = files.new_path()
    local model = mr.models.trees{ rounds = 2, depth = 2 }
    fit{ model = model, loss = mr.losses.ndcg{}, train = trees.part "train" }
    model:save(path)
    local _, values, keys, texts = core.load_tensors(path, "moonrank model")
    local function refused(words_said, change, tensors)
      local k, t = {}, {}
      for i, key in ipairs(keys) do
        local text = texts[i]
        if change and change[key] ~= nil then text = change[key] end
        if key ~= "numerics" and text then k[#k + 1], t[#t + 1] = key, text end
      end
      for key, text in pairs(change and change.more or {}) do k[#k + 1], t[#t + 1] = key, text end
      local written = tensors or { { "trees" }, values }
      core.save_tensors(path, "moonrank model 1", written[1], written[2], k, t)
      raises(function() mr.models.load(path) end, table.unpack(words_said))
    end
    local words, count = values[1], #values[1]
    -- Returns the file's vector with one entry replaced.
    local function vector(at, entry)
      local after = at < count and words:narrow(1, at + 1, count - at) or nil
      local parts = { core.tensor({ entry }, "int64", "cpu"), after }
      if at > 1 then table.insert(parts, 1, words:narrow(1, 1, at - 1)) end
      return { { "trees" }, { core.cat(parts, 1) } }
    end
    refused({ "trees" }, nil, vector(9, 1))
    refused({ "trees" }, nil, vector(2, 1))
    refused({ "trees" }, nil, { { "trees" }, { words:narrow(1, 1, count - 1) } })
    refused({ "trees" }, nil, { { "trees" }, { words:narrow(1, 1, 1) } })
    for _, bytes in ipairs{ -1, -2 ^ 53 | 0, 2 ^ 53 | 0, 0 } do refused({ "trees" }, nil, vector(1, bytes)) end
    refused({ "trees", "int64" }, nil, { { "trees" }, { mr.zeros{ 3 } } })
    refused({ "'trees'", "tensor" }, nil, { { "tree" }, values })
    refused({ "'num_feature'", "4" }, { features = "5" })
    refused({ "features" }, { features = false })
    refused({ "depth", "'ten'" }, { depth = "ten" })
    refused({ "eta" }, { eta = "nan" })
    refused({ "mr.models.trees", "objective", "'system'" }, { objective = "system" })
    refused({ "'os'" }, { more = { os = "1" } })
    refused({ "'num_class'", "0" }, { objective = "multi:softprob", more = { classes = "3" } })
  end)
end)
