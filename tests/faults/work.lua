-- Workloads that run while memory or disks fail, by name. Each gets a folder and gives two functions: one makes the
-- input of a run, the other runs with it and returns tensors, numbers and texts, the same in every run. `writes`: files
-- that must then hold either their old or their complete new contents.
local mr = require "moonrank"
local check = require "moonrank.check"
local core = require "moonrank.core"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or ""
local checksum = dofile(here .. "../support/xxh64.lua").checksum
local files = dofile(here .. "../support/files.lua")

local lists = mr.lists{ { 1, 0, 0, 2 }, { 0, 1, 0 }, { 0, 0, 1, 1, 0 } }
local scores = mr.normal({ 12 }, { seed = 3 })
local queries = mr.data.synthetic{ kind = "queries", queries = 8, features = 5, mean_size = 4, seed = 4 }
local ratings = mr.data.synthetic{ users = 12, items = 30, mean_activity = 8, seed = 2 }:binarize(2)
local fold = ratings:folds{ k = 2, by = "user", seed = 1, nsr = 1 }[1]

local read, write = files.read, files.write

local function parameters(model)
  local all = {}
  for _, each in ipairs(model:parameters()) do all[#all + 1] = each:detach() end
  return table.unpack(all)
end

local function mf() return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 3, seed = 1 } end
local function linear() return mr.models.linear{ inputs = 5, seed = 1 } end
local function mlp() return mr.models.mlp{ inputs = 5, hidden = { 4 }, seed = 1 } end

local function fit(model, options)
  local o = { model = model, loss = mr.losses.ndcg{}, train = queries, valid = queries, test = queries, epochs = 2,
    metrics = { "ndcg", "ap" }, progress = false }
  for key, value in pairs(options or {}) do o[key] = value end
  local run = mr.fit(o)
  return run.history[#run.history].loss, run.test and run.test.mean.ndcg or 0, parameters(model)
end

local function training(new, options)
  return function() return { new = new, run = function(model) return fit(model, options and options()) end } end
end

local function once(run)  -- a workload whose runs need no new input
  return function(folder) return { new = function() return folder end, run = run } end
end

-- A workload whose runs read a file with this text.
local function reading(name, text, run)
  return function(folder)
    local path = folder .. "/" .. name
    write(path, text)
    return { new = function() return path end, run = run }
  end
end

-- A workload that overwrites a file. Before the fault, the file has other contents, written by run(path, "before").
local function writing(name, run)
  return function(folder)
    local path = folder .. "/" .. name
    return { new = function() return path end, run = function(at, ...) run(at, ...) return read(at) end,
      writes = { path }, before = function() run(path, "before") end }
  end
end

local function letor_text()
  local lines = {}
  for query = 1, 5 do
    for row = 1, 4 do
      lines[#lines + 1] = ("%d qid:q%d 1:%.2f 3:%d # doc%d"):format(row % 3, query, row / 7, query, row)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function csv_text()
  local lines = { "user,item,rating,timestamp" }
  for i = 1, 30 do lines[#lines + 1] = ("u%d,i%d,%d,%d"):format(i % 7, i, i % 5, 1000 + i) end
  return table.concat(lines, "\n") .. "\n"
end

local function model_of(when) return mr.models.linear{ inputs = when == "before" and 4 or 5, seed = 1 } end
local function title_of(when) return when == "before" and "Before" or "Now" end

local function save_trees(path)
  local trees = mr.models.trees{ rounds = 3, depth = 3, min_child_weight = 0.0 }
  mr.fit{ model = trees, loss = mr.losses.lambdarank{}, train = queries, progress = false }
  trees:save(path)
end

local sweep = { name = "s", seed = 1, workers = 0, progress = false, metric = "ndcg",
  space = { lr = mr.choice{ 0.1, 0.01 }, part = mr.range(1, 2) },
  run = function(trial)
    return { ndcg = trial.lr * trial.part, per_list = mr.full({ 3 }, trial.lr, { dtype = "float64" }) }
  end }

return {
  operations = once(function()
    local x, y = mr.normal({ 4, 3 }, { seed = 1 }):requires_grad(), mr.normal({ 3, 4 }, { seed = 2 })
    local out = (x:matmul(y):tanh():sum(1) * 2 + x:exp():mean()):log_softmax(1)
    out:sum():backward()
    return x.grad, out:detach(), mr.cat({ x:detach(), x:detach() }, 1), x:detach():sort(1), tostring(out)
  end),
  ["losses and bounds"] = once(function()
    local found = {}
    for _, each in ipairs{ mr.losses.ap{ bound = "minmax" }, mr.losses.nrbp{ bound = "expectation" },
      mr.losses.lambdarank{}, mr.losses.listnet{}, mr.losses.neural_ndcg{}, mr.losses.ranknet{} } do
      local x = (scores * 1):detach():requires_grad()
      each:mean(x, lists):backward()
      found[#found + 1] = x.grad
    end
    return table.unpack(found)
  end),
  -- large enough for all threads of the pool to take part
  ["parallel loops"] = once(function()
    local grades = {}
    for i = 1, 5840 do grades[i] = i * 7919 % 101 < 3 and 1 or 0 end
    local long = mr.lists{ sizes = { 3000, 2500, 300, 40 }, relevance = mr.tensor(grades) }
    local x, found = mr.normal({ 5840 }, { seed = 9 }), {}
    for i, each in ipairs{ mr.losses.ap{}, mr.losses.ndcg{ bound = "minmax" }, mr.losses.lambdarank{},
      mr.losses.listnet{}, mr.losses.climf{} } do
      local scores_of = (x * 1):detach():requires_grad()
      each:mean(scores_of, long):backward()
      found[i] = scores_of.grad
    end
    local square = mr.normal({ 150, 150 }, { seed = 1 })
    return mr.evaluate(x, long, { "ap", "ndcg", "auc" }).mean.ap, square:matmul(square), x:sort(1), table.unpack(found)
  end),
  ["training of factors by Adam"] = training(mf, function()
    return { train = fold.train, valid = fold.valid, test = fold.test,
      optimizer = mr.optim.adam{ lr = 0.01 }, batch = 3 }
  end),
  ["training of factors by SGD, negatives anew"] = training(mf, function()
    return { loss = mr.losses.bpr{}, train = fold.train, valid = fold.valid, test = fold.test,
      optimizer = mr.optim.sgd{ lr = 0.01, momentum = 0.9 } }
  end),
  ["training of a network"] = training(mlp, function() return { loss = mr.losses.lambdarank{}, clip = 1,
    schedule = mr.schedule.cosine{} } end),
  ["training by rows"] = training(linear,
    function() return { batch_rows = 8, optimizer = mr.optim.rmsprop{ lr = 0.1 }, select = { "ndcg", "ap" } } end),
  ["training with a checkpoint"] = function(folder)
    local path = folder .. "/run.safetensors"
    return { new = function() os.remove(path) return linear() end, writes = { path }, partial = true,
      run = function(model)
      fit(model, { checkpoint = path })
      return (fit(linear(), { checkpoint = path }))
    end }
  end,
  ["the full catalogue"] = function()
    local model = mf()
    return { new = function() return model end, run = function()
      local found = fold:evaluate(model, { "ndcg@10", { "rr", bound = "expectation_max" } })
      return found.mean["ndcg@10"], tostring(found), tostring(model:recommend{ user = 1, k = 5, seen = fold.train })
    end }
  end,
  evaluation = once(function()
    local found = mr.evaluate(scores, lists, { "ap", "ndcg@2", "nrbp(0.95)", "err" })
    return found.mean.ap, found:to_csv(), found:to_latex(), found:to_json()
  end),
  folds = once(function()
    local r = mr.data.synthetic{ users = 9, items = 20, mean_activity = 6, seed = 5 }:binarize(2)
    local f = r:folds{ k = 3, by = "user", seed = 1, nsr = 2 }[2]
    return f.train.lists.relevance, f.test.items, tostring(f)
  end),
  ["bounds of sizes"] = once(function()
    return mr.bounds.of("ap", { n = 20, p = 5 }).expectation, mr.bounds.of("ndcg", { n = 30, p = 7 }).sd
  end),
  distributions = once(function()
    return mr.bounds.distribution("ap", { n = 11, p = 3, method = "exact" }):cdf(0.5),
      mr.bounds.distribution("ap", { n = 40, p = 9, method = "sampled", samples = 500 }):cdf(0.5)
  end),
  statistics = once(function()
    local a, b = mr.normal({ 14 }, { seed = 1, dtype = "float64" }), mr.normal({ 14 }, { seed = 2, dtype = "float64" })
    local compared = mr.compare{ a = mr.evaluate(scores, lists, { "ap" }), b = mr.evaluate(-scores, lists, { "ap" }),
      samples = 50, orders = 50 }
    return mr.stats.bootstrap(a, { samples = 50 }).error, mr.stats.wilcoxon(a, b).p, tostring(compared),
      compared:to_latex()
  end),
  ["reading of LETOR"] = reading("letor.txt", letor_text(), function(path)
    local set = mr.data.letor(path)
    return set.lists.relevance, set.features, tostring(set)
  end),
  ["reading of LETOR by a cache"] = function(folder)
    return { new = function()
      write(folder .. "/letor.txt", letor_text())
      os.execute("rm -rf " .. folder .. "/cache")
    end, folder = true, run = function()
      mr.data.letor(folder .. "/letor.txt", { cache = folder .. "/cache" })
      local set = mr.data.letor(folder .. "/letor.txt", { cache = folder .. "/cache" })
      return set.lists.relevance, set.features
    end }
  end,
  ["reading of interactions"] = reading("r.csv", csv_text(), function(path)
    local found = mr.data.interactions(path, { duplicates = "last" })
    return found.users, found.items, tostring(found)
  end),
  ["reading of scores"] = reading("s.csv", "qid,docid,score\n1,a,0.5\n1,b,0.25\n2,a,1\n",
    function(path) return tostring(mr.data.scores(path)) end),
  ["reading of features of items"] = reading("f.csv", "x,0.5,1\ny,2,0\nz,1,1\n",
    function(path) return mr.data.item_features(path):of{ "y", "z" } end),
  ["reading of comparisons"] = reading("c.csv", "item_a,item_b,winner\nx,y,x\ny,z,b\n", function(path)
    local set = mr.data.comparisons(path)
    return set.lists.relevance, set.items
  end),
  ["reading of a run"] = reading("run.txt", "1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n2 Q0 a 1 1 t\n", function(path)
    return tostring(mr.data.trec_run(path))
  end),
  ["reading of judgments"] = reading("qrels.txt", "1 0 a 1\n1 0 b 0\n2 0 a 2\n",
    function(path) return mr.data.trec_qrels(path).relevance end),
  ["reading of images"] = once(function()
    local all = {}
    for i, name in ipairs{ "colour.jpg", "colour.png", "palette.png", "interlaced.png" } do
      all[i] = core.read_images({ here .. "../golden/pictures/" .. name }, 4, 4, false)
    end
    return table.unpack(all)
  end),
  ["reading of a model"] = function(folder)
    mlp():save(folder .. "/m.safetensors")
    return { new = function() end, run = function() return parameters(mr.models.load(folder .. "/m.safetensors")) end }
  end,
  -- Checks the text of an XGBoost model that is rejected at its end. An accepted text would be read by XGBoost, which
  -- ends the program if memory runs out.
  ["the check of trees"] = pcall(core.xgboost_version) and function(folder)
    local grown, path = folder .. "/trees.safetensors", folder .. "/refused.safetensors"
    save_trees(grown)
    local text = read(grown):match '{"learner".*}':gsub('("tree_info":%[)0', "%17")
    local data = string.pack("<i8i8", #text, checksum(text)) .. text .. ("\0"):rep(-#text % 8)
    local header = ('{"__metadata__":{"format":"trees 1"},"trees":{"dtype":"I64","shape":[%d],'
      .. '"data_offsets":[0,%d]}}'):format(#data // 8, #data)
    write(path, string.pack("<I8", #header) .. header .. data)
    local _, refused = core.load_tensors(path, "trees")
    -- frees XGBoost's objects now: if it frees them while memory is short, it ends the program
    for _ = 1, 2 do collectgarbage() end
    return { new = function() end, run = function()
      local _, why = check.attempt(core.read_booster, refused[1], 5, 0, "rank:pairwise", 1)
      return check.reason(why)
    end }
  end or nil,
  ["writing of a model"] = writing("m.safetensors", function(path, when) model_of(when):save(path) end),
  ["writing of an optimizer"] = writing("o.safetensors", function(path, when)
    mr.optim.adam{ lr = when == "before" and 0.5 or 0.25 }:bind(linear():parameters()):save(path)
  end),
  ["writing of a baseline"] = writing("b.safetensors", function(path, when)
    (when == "before" and mr.models.random{} or mr.models.popularity{ fold = fold }):save(path)
  end),
  ["writing of a run"] = writing("run.txt", function(path, when)
    mr.data.scored(when == "before" and -scores or scores, lists):to_trec_run(path)
  end),
  ["writing of a figure"] = writing("f.svg",
    function(path, when) mr.plot.lines{ y = { 1, 4, 9 }, title = title_of(when) }:save(path) end),
  ["writing of results kept"] = function(folder)
    local path = folder .. "/c.safetensors"
    return { new = function() os.remove(path) end, writes = { path }, run = function()
      return mr.checkpoint(path, { seed = 1, data = fold }, function() return { x = mr.full({ 3 }, 2) } end).x
    end }
  end,
  ["a sweep"] = function(folder)
    local path = folder .. "/r.db"
    return { new = function() os.execute(("rm -rf %s/r.db*"):format(folder)) end, store = path, run = function()
      sweep.store = path
      local study = mr.sweep(sweep)
      return tostring(study:pivot{ rows = "lr", columns = "part" }), tostring(study:best "lr")
    end }
  end,
  ["results of a store"] = function(folder)
    sweep.store = folder .. "/r.db"
    mr.sweep(sweep)
    return { new = function() end, run = function()
      local study = mr.results(folder .. "/r.db", "s")
      return study:to_csv(), study:to_json(), tostring(study:pivot{ rows = "lr" })
    end }
  end,
  ["tables and documentation"] = once(function()
    return tostring(mr.table{ columns = { "a", "b" }, rows = { { 1, 2.5 } } }), require("moonrank.help").about "ndcg"
  end),
  ["a module"] = once(function()
    package.loaded["moonrank.prompt.lexer"] = nil
    return type(require "moonrank.prompt.lexer")
  end),
}
