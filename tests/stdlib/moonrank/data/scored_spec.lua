-- Tests runs, judgments and scores written by other programs, against values of trec_eval.
local mr = require "moonrank"
local files = require "tests.support.files"
local test = require "moonrank.test"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

local json = dofile "tests/support/json.lua"

local file, new_path, read = files.written, files.new_path, files.read

-- Names of measures in trec_eval, and the same metrics in Moonrank.
local measures = { map = "ap", Rprec = "r_precision", recip_rank = "rr", bpref = "bpref", ndcg = "ndcg" }
for _, k in ipairs{ 1, 3, 5, 10, 50 } do
  measures["P_" .. k], measures["recall_" .. k] = "precision@" .. k, "recall@" .. k
  measures["ndcg_cut_" .. k], measures["map_cut_" .. k] = "ndcg@" .. k, "ap@" .. k
end
for _, k in ipairs{ 1, 3, 10 } do measures["success_" .. k] = "hit@" .. k end

it("run:evaluate gives the value of trec_eval for every measure and query", function()
  local golden = json.read "tests/golden/trec.json"
  local qrels, names, ours = file(golden.qrels), {}, {}
  for name, own in pairs(measures) do names[#names + 1], ours[#ours + 1] = name, own end
  local compared = 0
  for key, queries in pairs(golden.values) do
    local name, level = key:match "^(%w+) (%d)$"
    local run = mr.data.trec_run(file(golden.runs[name]))
    local found = run:evaluate(qrels, names, { relevant = tonumber(level) })
    local by_our_names = run:evaluate(mr.data.trec_qrels(qrels), ours, { relevant = tonumber(level) })
    local sums, count = {}, 0
    for i, id in ipairs(found.ids) do
      check(queries[id], "only queries of both: " .. id)
      count = count + 1
      for m, measure in ipairs(names) do
        local expected = queries[id][measure]
        near(found[measure][i]:item(), expected, 1e-12, ("%s %s %s"):format(key, id, measure))
        near(by_our_names[ours[m]][i]:item(), expected, 1e-12, ours[m])
        sums[measure] = (sums[measure] or 0) + expected
        compared = compared + 1
      end
    end
    for _ in pairs(queries) do count = count - 1 end
    equal(count, 0)
    for _, measure in ipairs(names) do near(found.mean[measure], sums[measure] / #found.ids, 1e-12, measure) end
  end
  check(compared > 1000)
end)

it("trec_run reads back the run that to_trec_run wrote, in the order of trec_eval", function()
  local golden = json.read "tests/golden/trec.json"
  for _, text in pairs(golden.runs) do
    local run, path = mr.data.trec_run(file(text)), new_path()
    run:to_trec_run(path, { tag = "again" })
    local again = mr.data.trec_run(path)
    equal(again.lists.ids, run.lists.ids)
    local last
    for line in io.lines(path) do
      local query, document, rank, score, tag = line:match "^(%S+) Q0 (%S+) (%d+) (%S+) (%S+)$"
      equal(tag, "again")
      local row = { query = query, document = document, rank = tonumber(rank), score = tonumber(score) }
      if last and last.query == query then
        equal(row.rank, last.rank + 1)
        check(last.score > row.score or last.score == row.score and last.document > row.document, line)
      else
        equal(row.rank, 1)
      end
      last = row
    end
    local second = new_path()
    again:to_trec_run(second, { tag = "again" })
    equal(read(second), read(path))
    local e = run:evaluate(file(golden.qrels), { "map", "bpref" })
    local f = again:evaluate(file(golden.qrels), { "map", "bpref" })
    near(f.map, e.map, 1e-12)
    near(f.bpref, e.bpref, 1e-12)
  end
end)

it("run:evaluate counts queries missing from the run as 0 with missing = 'zero'", function()
  local qrels = file "1 0 a 1\n2 0 a 1\n3 0 a -1\n"
  local run = mr.data.trec_run(file "2 Q0 a 1 0.5 t\n9 Q0 a 1 0.5 t\n3 Q0 a 1 1 t\n")
  equal(run:evaluate(qrels, { "map" }).ids, { "2", "3" })
  equal(run:evaluate(qrels, { "map" }).mean.map, 0.5)
  local all = run:evaluate(qrels, { "map", "bpref" }, { missing = "zero" })
  equal({ all.map:totable(), all.bpref:totable() }, { { 0, 1, 0 }, { 0, 1, 0 } })
  raises(function() run:evaluate(file "4 0 a 1", { "map" }) end, "3", "queries")
  for _, missing in ipairs{ "skip", "zero" } do
    local function evaluate(text) return function() run:evaluate(file(text), { "map" }, { missing = missing }) end end
    raises(evaluate "4 0 a 1\n5 0 a 1\n", "qrels", "2", "'2'", "'4'")
    raises(evaluate "2 0 b 1\n9 0 c 1\n", "2", "documents")
    raises(evaluate "2 0 b 1\n9 0 c 1\n", "2", "'a'", "'b'")
  end
end)

it("run:evaluate measures metrics that trec_eval lacks, and rejects auc if documents are missing", function()
  local judged = mr.data.trec_qrels(file "q 0 a 2\nq 0 b 1\nq 0 c 0\nq 0 d 1\n")
  local run = mr.data.trec_run(file "q Q0 c 0 3 t\nq Q0 a 0 2 t\nq Q0 x 0 1 t\n")
  local e = run:evaluate(judged, { "f1@2", "nrbp(0.5)", "rbp(0.5)", "err",
    mr.metrics.ap{ k = 2, denominator = "cutoff" }, mr.metrics.ndcg{ gain = "exp2", ties = "trec", name = "exp2" } })
  near(e["f1@2"]:item(), 2 * 0.5 * (1 / 3) / (0.5 + 1 / 3), 1e-12)
  near(e["rbp(0.5)"]:item(), 0.25, 1e-12)
  near(e["nrbp(0.5)"]:item(), 0.25 / (1 - 0.125), 1e-12)
  near(e.err:item(), 0.5 * 0.75, 1e-12)
  near(e["ap@2"]:item(), 0.5 / 2, 1e-12)
  near(e.exp2:item(), 3 / math.log(3, 2) / (3 + 1 / math.log(3, 2) + 1 / 2), 1e-12)
  raises(function() run:evaluate(judged, { "auc" }) end, "auc", "documents")
  local whole = mr.data.trec_run(file "q Q0 a 0 3 t\nq Q0 c 0 2 t\nq Q0 b 0 1 t\nq Q0 d 0 0 t\n")
  near(whole:evaluate(judged, { "auc" }).auc:item(), 1 / 3, 1e-12)
  raises(function() run:evaluate(judged, { "mapp" }) end, "'mapp'")
end)

it("mr.data.scores reads columns by name or number and joins separate rows of a query", function()
  local expected = { { "x y", "2" }, { "a", "c", "b" }, { 1.5, -2, 3 } }
  local function same(set) equal({ set.lists.ids, set.lists.documents, set.scores:totable() }, expected) end
  same(mr.data.scores(file 'qid,docid,score\n"x y",a,1.5\n2,b,3\n"x y",c,-2\n'))
  same(mr.data.scores(file "1.5\tx y\ta\n3\t2\tb\n-2\tx y\tc\n",
    { header = false, delimiter = "\t", columns = { qid = 2, docid = 3, score = 1 } }))
  same(mr.data.scores(file "s;more;d;q\n1.5;;a;x y\n3;;b;2\n-2;;c;x y\n",
    { delimiter = ";", columns = { qid = "q", docid = "d", score = "s" } }))
end)

it("mr.data.trec_run, trec_qrels and scores name the line and column of a mistake", function()
  local function refuses(reader, text, place, ...)
    local path = file(text)
    raises(function() mr.data[reader](path) end, path .. place, ...)
  end
  refuses("trec_run", "", ":1:1", "rows")
  refuses("trec_run", "\n \n", ":1:1", "rows")
  refuses("trec_run", "1 Q0 a 1 2 t\n1 Q0 a 1 2\n", ":2:1", "5", "fields")
  refuses("trec_run", "1 Q0 a 1 2 t u v\n", ":1:1", "6", "fields")
  refuses("trec_run", "1 Q0 a 1 2x t\n", ":1:10", "'2x'")
  refuses("trec_run", "1 Q0 a 1 nan t\n", ":1:10", "'nan'")
  refuses("trec_run", "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 1 2 t\n1 Q0 a 1 2 t\n", ":4:1", "'a'", "'1'", "1")
  refuses("trec_run", ("1 Q0 a 1 2 t\n"):rep(100), ":2:1", "'a'", "'1'", "1")
  refuses("trec_qrels", "1 0 a\n", ":1:1", "3", "fields")
  refuses("trec_qrels", "1 0 a 1.5\n", ":1:7", "'1.5'")
  refuses("trec_qrels", "1 0 a 99999999999999999999\n", ":1:7", "'99999999999999999999'")
  refuses("scores", "qid,docid\n", ":1:1", "'score'")
  refuses("scores", "qid,docid,score\n1,a,2\n1,a\n", ":3:1", "2", "fields")
  refuses("scores", "qid,docid,score\n1,a,2\n,b,1\n", ":3:1", "query")
  refuses("scores", "qid,docid,score\n", ":1:1", "rows")
  raises(function() mr.data.scores(file "a", { columns = { doc = 1 } }) end, "'doc'", "'docid'")
  raises(function() mr.data.trec_run "/nowhere" end, "/nowhere")
end)

it("to_trec_run rejects invalid names and scores before it writes the file", function()
  local path = file ""
  local function refuses(scores, ids, documents, ...)
    local lists = mr.lists{ relevance = mr.zeros(2), ids = ids, documents = documents }
    raises(function() mr.data.scored(mr.tensor(scores), lists):to_trec_run(path) end, ...)
    equal(read(path), "")
  end
  refuses({ 1, 2 }, { "q 1", "q 1" }, { "a", "b" }, "'q 1'")
  refuses({ 1, 2 }, { "q", "q" }, { "a", "b\nc" }, "document", "'b\nc'")
  refuses({ 1, 2 }, { "q", "q" }, { "a", "" }, "''")
  refuses({ 1, 2 }, { "q", "q" }, { "a", "a" }, "'a'", "'q'")
  refuses({ 1, 1 / 0 }, { "q", "q" }, { "a", "b" }, "'b'", "'q'", "inf")
  refuses({ 1, 0 / 0 }, { "q", "q" }, { "a", "b" }, "NaN", "2")
  raises(function() mr.data.scored(mr.tensor{ 1 }, mr.lists{ { 1 } }):to_trec_run(path, { tag = "a b" }) end, "'a b'")
  raises(function() mr.data.scored(mr.tensor{ 1 }, mr.lists{ { 1 } }):to_trec_run "/dev/null/x" end, "/dev/null")
  local folder = new_path()
  mr.data.scored(mr.tensor{ 1 }, mr.lists{ { 1 } }):to_trec_run(folder .. "/made.run")
  equal(mr.data.trec_run(folder .. "/made.run").count, 1)
end)

it("mr.data.scored uses user and item ids of the file, also in run files", function()
  local rows = { "user,item" }
  for u = 1, 6 do
    for i = 1, 6 do rows[#rows + 1] = ("u%d,i%d"):format(7 - u, 10 + (u * i) % 7) end
  end
  local ratings = mr.data.interactions(file(table.concat(rows, "\n"))):binarize(1)
  local fold = ratings:folds{ by = "one", seed = 1 }[1]
  local model = mr.models.mf{ users = ratings.users, items = ratings.items, factors = 2 }
  for _, set in ipairs{ fold.test, fold.test:to "cpu", fold.test:split{ share = 0.5 }, fold.test:binarize(1) } do
    local scores, users, items = mr.data.scored(model, set), set.users:totable(), set.items:totable()
    for i, id in ipairs(scores.lists.ids) do equal(id, ratings.user_ids[users[i]]) end
    for i, id in ipairs(scores.lists.documents) do equal(id, ratings.item_ids[items[i]]) end
  end
  local path = new_path()
  mr.data.scored(model, fold.test):to_trec_run(path)
  check(read(path):find "^u%d Q0 i1%d 1 ")
  equal(mr.data.trec_run(path):evaluate(fold.test, { "map" }).count, fold.test.count)
end)

it("mr.data.scored names lists and documents by user and item numbers without file ids", function()
  local liked = mr.data.synthetic{ users = 20, items = 60, mean_activity = 12 }:binarize(4)
  local set = liked:min_relevant(2):folds{ k = 2, seed = 1 }[1].test
  local users, items = set.users:totable(), set.items:totable()
  local model = mr.models.mf{ users = 20, items = 60, factors = 3 }
  local ours = mr.data.scored(model, set)
  equal({ tonumber(ours.lists.ids[3]), tonumber(ours.lists.documents[7]) }, { users[3], items[7] })
  -- compares with the same scores, evaluated as a tensor without names
  local e = ours:evaluate(set, { mr.metrics.ndcg{}, mr.metrics.ap{} })
  local f = mr.evaluate(mr.no_grad(function() return model(set:to(mr.device())) end), set.lists, { "ndcg", "ap" })
  for i = 1, set.count do
    if set.lists.relevant[i]:item() > 0 then
      near(e.ndcg[i]:item(), f.ndcg[i]:item(), 1e-6)
      near(e.ap[i]:item(), f.ap[i]:item(), 1e-6)
    end
  end
  raises(function() mr.data.scored(mr.ones(3), set) end, "scores", "3 entries")
  raises(function() mr.data.scored({ 1 }, set.lists) end, "scores", "tensor")
  raises(function() mr.data.scored(mr.ones(3)) end, "mr.data.scored", "set")
  for _, wrong in ipairs{ 3, "x", {}, mr.ones(3), io.stdout, print } do
    raises(function() mr.data.scored(mr.ones(3), wrong) end, "set", require("moonrank.check").found(wrong))
  end
end)
