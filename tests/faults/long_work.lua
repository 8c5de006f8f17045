-- Work that takes a minute or more, to test Ctrl-C. Each entry has Lua code to prepare it and the code that takes long,
-- in a script with a variable `folder`. Code that reads a file gets a file of many lines, which `line` makes.
local queries = "local data = mr.data.synthetic{kind = 'queries', queries = 20000, features = 30, mean_size = 20} "
local ratings = "local ratings = mr.data.synthetic{users = 3000, items = 3000, mean_activity = 60}:binarize(2) "
local fold = ratings .. "local fold = ratings:folds{k = 2, by = 'user', seed = 1, nsr = 1}[1] "
local long_sample =
  "local a, b = mr.normal({2000000}, {dtype = 'float64'}), mr.normal({2000000}, {dtype = 'float64', seed = 2}) "
local fit = "mr.fit{epochs = 99999, model = mr.models.linear{inputs = 30}, loss = mr.losses.ap{}, train = data, "
  .. "progress = false} "
local factors = "mr.models.mf{users = ratings.users, items = ratings.items, factors = 64}"
local sweep = "mr.sweep{name = 's', store = folder .. '/r.db', workers = 0, progress = false, "
local store = "for i = 1, 3 do " .. sweep .. "metric = 'x', direction = 'maximize', sampler = 'random', "
  .. "space = {a = mr.uniform(0, 1), b = mr.uniform(0, 1), c = mr.choice{1, 2, 3}}, "
  .. "trials = 1000, run = function(t) return {x = t.a * t.b + t.c} end} end "

local one_list = "local n = 200000 local l = mr.lists{relevance = mr.uniform({n}, {seed = 1}):gt(0.5), sizes = {n}} "
  .. "local s = mr.normal({n}, {seed = 2}):requires_grad() "
local large_shapes =
  "local l = mr.data.synthetic{kind = 'queries', queries = 3, features = 2, mean_size = 100000}.lists "

return {
  { "reading of LETOR", during = "while true do mr.data.letor(file) end",
    line = function(i) return ("%d qid:%d 1:0.5 2:%d 3:1\n"):format(i % 3, i // 20, i) end },
  { "reading of LETOR by a cache", during = "while true do mr.data.letor(file, {cache = folder}) end",
    line = function(i) return ("%d qid:%d 1:0.5 2:%d 3:1\n"):format(i % 3, i // 20, i) end },
  { "reading of interactions",
    during = "while true do mr.data.interactions(file, "
      .. "{header = false, duplicates = 'last', columns = {rating = 3}}) end",
    line = function(i) return ("u%d,i%d,3,%d\n"):format(i % 977, i, i) end },
  { "reading of scores", during = "while true do mr.data.scores(file, {header = false}) end",
    line = function(i) return ("%d,d%d,0.5\n"):format(i // 50, i) end },
  { "reading of a run", during = "while true do mr.data.trec_run(file) end",
    line = function(i) return ("%d Q0 d%d 1 %d t\n"):format(i // 50, i, i) end },
  { "reading of judgments", during = "while true do mr.data.trec_qrels(file) end",
    line = function(i) return ("%d 0 d%d 1\n"):format(i // 50, i) end },
  { "reading of comparisons", during = "while true do mr.data.comparisons(file) end",
    line = function(i) return i == 1 and "item_a,item_b,winner\n" or ("x%d,y%d,a\n"):format(i, i) end },
  { "reading of features of items", during = "while true do mr.data.item_features(file) end",
    line = function(i) return ("x%d,1,2,3,4\n"):format(i) end },
  { "reading of libraries", during = "while true do core.read_libraries(file) end",
    line = function(i) return ("3 %d %d %d\n"):format(i, i + 1, i + 2) end },
  { "reading of a model", before = "mr.models.mlp{inputs = 1500, hidden = {3000, 3000}}:save(folder .. '/m')",
    during = "while true do mr.models.load(folder .. '/m') end" },
  { "writing of a model", before = "local m = mr.models.mlp{inputs = 1500, hidden = {3000, 3000}}",
    during = "while true do m:save(folder .. '/m') end" },
  { "writing of a run",
    before = "local l = mr.lists{sizes = {500000, 500000}, relevance = mr.zeros({1000000})} "
      .. "local s = mr.normal({1000000})",
    during = "while true do mr.data.scored(s, l):to_trec_run(folder .. '/run') end" },
  { "folds by users", before = ratings,
    during = "while true do ratings:folds{k = 5, by = 'user', seed = 1, nsr = 50} end" },
  { "folds by time", before = ratings,
    during = "for i = 1, 1e6 do ratings:folds{k = 2, by = 'one', seed = i, nsr = 50} end" },
  { "training", before = queries, during = "local run = " .. fit .. "assert(run.interrupted)" },
  { "training with a checkpoint", before = queries,
    during = "local run = " .. fit:gsub("progress", "checkpoint = folder .. '/c', progress")
      .. "assert(run.interrupted)" },
  { "training of factors", before = fold,
    during = "mr.fit{model = " .. factors .. ", loss = mr.losses.warp{}, "
      .. "train = fold.train, valid = fold:candidates(), metrics = {'ndcg@10'}, epochs = 100000, progress = false}" },
  { "growing of trees", needs = "xgboost", before = queries,
    during = "mr.fit{model = mr.models.trees{rounds = 100000}, loss = mr.losses.lambdarank{}, train = data, "
      .. "progress = false}" },
  { "a linear model", before = queries, during = "while true do mr.models.ridge{train = data} end" },
  { "the full catalogue", before = fold .. "local m = " .. factors,
    during = "while true do fold:evaluate(m, {'ndcg', 'ap', 'recall@10'}) end" },
  { "recommending", before = fold .. "local m = " .. factors, during = "while true do m:recommend{k = 100} end" },
  { "neighbours", before = ratings .. "local fold = ratings:folds{k = 2, by = 'user', seed = 1}[1]",
    during = "while true do mr.models.item_knn{fold = fold} end" },
  { "a sweep here", during = sweep .. "space = {a = mr.range(1, 1000000)}, run = function(t) return t.a end}" },
  { "a sweep of workers", script = true,
    during = "mr.sweep{name = 's', store = folder .. '/r.db', workers = 2, progress = false, "
      .. "space = {a = mr.range(1, 1000)}, run = function(t) while t.a > 2 do end return t.a end}" },
  { "hyperband", during = sweep .. "space = {a = mr.uniform(0, 1)}, sampler = 'random', metric = 'x', "
      .. "direction = 'minimize', pruner = {'hyperband', max_resource = 100000}, run = function(t) "
      .. "for i = 1, 100000 do t:report(i, {x = t.a}) end return {x = t.a} end}" },
  { "importance", before = store,
    during = "local r = mr.results(folder .. '/r.db', 's') while true do r:importance{trees = 500} end" },
  { "results", before = store, during = "while true do mr.results(folder .. '/r.db', 's'):to_csv() end" },
  { "a bootstrap", before = long_sample, during = "mr.stats.bootstrap(a, {samples = 100000})" },
  { "a bootstrap of medians", before = long_sample,
    during = "mr.stats.bootstrap(a, {samples = 100000, statistic = 'median'})" },
  { "a corrected bootstrap", before = long_sample,
    during = "mr.stats.bootstrap(a, {samples = 1000, method = 'bca', statistic = 'median'})" },
  { "permutations", before = long_sample, during = "mr.stats.permutation(a, b, {orders = 1000000})" },
  { "signed ranks", before = long_sample, during = "while true do mr.stats.wilcoxon(a, b) end" },
  { "a comparison", before = "local l = mr.data.synthetic{kind = 'queries', queries = 30000, features = 2}.lists "
      .. "local a, b = mr.evaluate(mr.normal({l.rows}), l, {'ap'}), "
      .. "mr.evaluate(mr.normal({l.rows}, {seed = 2}), l, {'ap'})",
    during = "mr.compare{a = a, b = b, orders = 1000000, samples = 1000000}" },
  { "bounds", before = queries, during = "for i = 1, 1e6 do mr.bounds.of('ndcg', {n = 100000 + i, p = 3000 + i}) end" },
  { "bounds of long lists", during = "for i = 1, 1e6 do mr.bounds.of('ap', {n = 3000000 + i, p = 100000}) end" },
  { "sd of AP of many shapes", before = "local l = {} for i = 1, 300 do l[i] = {} for j = 1, 5000 + i do "
      .. "l[i][j] = j % 3 == 0 and 1 or 0 end end l = mr.lists(l)",
    during = "while true do local _ = mr.bounds.stats(mr.metrics.parse 'ap', l).sd end" },
  { "an estimate of ERR", during = "for i = 1, 1e6 do mr.bounds.of('err', {n = 5000 + i, p = 1000}) end" },
  { "an estimate of bpref", during = "for i = 1, 1e6 do mr.bounds.of('bpref', {n = 50000 + i, p = 1000}) end" },
  { "nRBP under distribution_logit", before = large_shapes,
    during = "for i = 1, 1e6 do mr.bounds.slopes('distribution_logit', mr.metrics.nrbp{p = 1 - 1 / (i + 9)}, l) end" },
  { "nDCG under distribution_logit", before = large_shapes,
    during = "for k = 9, 1e6 do mr.bounds.slopes('distribution_logit', 'ndcg@' .. k, l) end" },
  { "one long list by log RR", before = one_list,
    during = "while true do mr.losses.log_rr{}(s, l):sum():backward() end" },
  { "one long list by Top-N-Rank", before = one_list,
    during = "while true do mr.losses.top_n_rank{k = 100000}(s, l):sum():backward() end" },
  { "one long list by its pairs", before = one_list,
    during = "while true do mr.losses.tfmap{}(s, l):sum():backward() end" },
  { "a catalogue for a model of one's own",
    before = fold .. "local u, v = mr.normal({ratings.users, 64}), mr.normal({ratings.items, 64}) "
      .. "local a, b = mr.normal({128, 256}), mr.normal({256, 1}) "
      .. "local function model(batch) local x = mr.cat({u:rows(batch.row_users), v:rows(batch.items)}, 2) "
      .. "return x:matmul(a):relu():matmul(b):reshape(-1) end",
    during = "while true do fold:evaluate(model, {'ndcg', 'ap'}) end" },
  { "an exact distribution",
    during = "for i = 1, 1e6 do mr.bounds.distribution('ndcg', {n = 300, p = 120 + i % 9, method = 'exact'}) end" },
  { "a sampled distribution",
    during = "for i = 1, 1e6 do mr.bounds.distribution('ndcg', "
      .. "{n = 300000, p = 30000, method = 'sampled', samples = 3000000}) end" },
  { "the check of a bound", during = "while true do mr.bounds.check('minmax') end" },
  { "a derivative's check",
    during = "mr.gradcheck(function(x) return (x:matmul(x)):tanh():sum() end, "
      .. "mr.normal({60, 60}, {dtype = 'float64'}))" },
  { "a picture", needs = "gnuplot", before = "local y = mr.normal({3000000})",
    during = "while true do mr.plot.lines{y = y}:save(folder .. '/p.svg') end" },
  { "the manual", during = "for i = 1, 1000 do require 'moonrank.manual'.write(folder .. '/m') end" },
  { "documentation", during = "while true do require 'moonrank.help'.about 'rank' end" },
  { "tables",
    before = "local rows = {} for i = 1, 300000 do rows[i] = {i, i / 7} end "
      .. "local t = mr.table{columns = {'a', 'b'}, rows = rows}",
    during = "while true do t:to_csv() t:to_latex() t:to_json() tostring(t) end" },
  { "drawn faces", during = "mr.data.drawn_faces{count = 1000000}" },
  { "images", before = "mr.data.drawn_faces{count = 30}:save(folder .. '/i')",
    during = "while true do mr.data.images(folder .. '/i') end" },
  { "text of a tensor", before = "local x = mr.normal({3000, 3000})",
    during = "while true do tostring(x) x:totable() end" },
  { "an order", before = "local x = mr.normal({20000000})", during = "while true do x:sort(1) end" },
}
