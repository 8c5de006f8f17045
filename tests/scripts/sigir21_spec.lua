-- Runs of the SIGIR'21 scripts: rows, the rate that is chosen, published folders, negatives and published numbers.
local mr = require "moonrank"
local test = require "moonrank.test"
local says = require "tests.support.says"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local negatives = dofile "scripts/sigir21/negatives.lua"
local published = dofile "scripts/sigir21/published.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

local here = scripts.root

-- The output of a script that uses `runs` and `args` with these words; also its exit status and errors.
local function printed(folder, words, body)
  local head = ("local runs = dofile %q\nlocal args = runs.args{}\n"):format(here .. "/scripts/sigir21/runs.lua")
  sweeps.write(folder .. "/reads.lua", head .. body)
  local status, out, err =
    sweeps.run(folder, "reads.lua", words .. " --store r.db" .. (words:find "--kept" and "" or " --workers 0"))
  return out, status, err
end

local all_rows = [[
local mr = require "moonrank"
for _, row in ipairs(runs.rows(args)) do
  local of = row.per_list()
  local gap = ("%.12f"):format(row.score - mr.stats.mean(of.scores))
  print(row.dataset, row.split, row.nsr, row.kind, row.loss, row.metric, row.lr, row.epoch, gap,
    #of.scores == #of.positives and #of.users == #of.scores, math.min(table.unpack(of.positives)))
end]]

scripts.it("runs.rows has every loss by every metric, with the scores of every user", {}, function(folder)
  local out, status, err = printed(folder, "--smoke --kinds lambda --sets movielens", all_rows)
  equal(status, 0, err)
  local rows, seen = 0, {}
  for line in out:gmatch "[^\n]+" do
    local set, rest = line:match "^([^\t]*)\t(.*)$"
    local split, nsr, kind, loss, metric, rate, epoch, gap, whole, least = rest:match(("(%S+)\t"):rep(9) .. "(%S+)")
    equal(set, "made-up ratings for movielens")
    equal(table.concat({ split, nsr, kind, epoch, whole }, " "), "1 1 lambda 2 true")
    check(tonumber(rate) <= 0.1 and math.abs(tonumber(gap)) < 2 ^ -24, line)  -- the score is of values in float32
    check(tonumber(least) >= 20, "80 % of 25 items or more are for training: " .. least)
    rows, seen[loss], seen[metric] = rows + 1, true, true
  end
  equal(rows, 6 * 7)
  for _, name in ipairs{ "ndcg", "nrbp(0.8)", "rr", "ndcg@5", "rbp(0.95)" } do check(seen[name], name) end
end)

scripts.it("runs.best_rows takes the learning rate that the metric chose, and --kept makes no runs",
  {}, function(folder)
  local words = "--smoke --sets movielens --recipe published"
  local best = [[
local function best(rows)
local found
for _, row in ipairs(rows) do
  if row.metric == "rr" and (not found or row.chosen_by > found.chosen_by) then found = row end
end
return found
end
local o, all = { set = "movielens", nsr = 1, kind = "lambda", loss = "rr" }, {}
local chosen = best(runs.best_rows(args, o))
for _, rate in ipairs(runs.training(args, "lambda", "rr").rates) do
o.rate = rate
local found = runs.rows_at(args, o)
table.move(found, 1, #found, #all + 1, all)
end
local expected = best(all)
print(#all, chosen and chosen.lr == expected.lr and chosen.score == expected.score
  and chosen.score == chosen.chosen_by)]]
  local out, status, err = printed(folder, words, best)
  equal(status, 0, err)
  equal(out, "14\ttrue\n")
  equal(printed(folder, words .. " --kept", best), "14\ttrue\n")
  equal(printed(folder, words .. " --kept", [[
print(#runs.rows_at(args, { set = "movielens", nsr = 1, kind = "lambda", loss = "ap", rate = 0.1 }))]]), "0\n")
  local missing = "print((runs.missing(args):gsub('%s+', ' ')))"
  equal(printed(folder, words, missing), "\n")
  says(printed(folder, words .. " --kept", missing),
    "Of 20 runs 2 ", "listwise nDCG, listwise AP, listwise RR, listwise nRBP, "
    .. "LambdaRank nDCG, LambdaRank AP, LambdaRank nRBP(0.8), LambdaRank nRBP(0.9), LambdaRank nRBP(0.95)")
  says(printed(folder, words .. " --kept --losses rr,ap --rates 0.01,10", missing), "Of 2 runs 1 ", "of LambdaRank AP ")
  local _, failed, said = printed(folder, words .. " --kinds listwise --losses ap --rates 0.01", "runs.rows(args)")
  equal(failed, 2)
  check(said:find "%-%-losses, %-%-rates: .*published.*listwise.*ap.*0%.01", said)
  equal(printed(folder, words .. " --kept --kinds lambda", missing):match "Of %d+ runs %d", "Of 12 runs 2")
end)

scripts.it("all.lua has a results file for listwise losses and for LambdaRank, and says which one lacks runs",
  {}, function(folder)
  local sections, files, kinds = dofile "scripts/sections.lua", {}, 0
  for _, script in ipairs(dofile "scripts/sigir21/all.lua") do
    local file = sections.file_name(script)
    check(not files[file], file)
    files[file] = true
    kinds = kinds + (script.path:find "citeulike" and 1 or 0)
  end
  equal({ kinds, files.citeulike_published_listwise, files.citeulike_published_lambda }, { 6, true, true })
  sweeps.write(folder .. "/lacks.lua", ([[
local sections = dofile(%q)
local function section(...)
  return sections.run{ path = %q, title = "t", words = { "--smoke", "--store", "r.db", "--kinds", "lambda", ... } }
end
section("--losses", "rr", "--workers", "0")
local partial, whole = section "--kept", section("--kept", "--losses", "rr")
print("lacking", partial.lacking, whole.lacking, #partial.tables > 0)]]):format(here .. "/scripts/sections.lua",
    here .. "/scripts/sigir21/citeulike.lua"))
  local status, out, err = sweeps.run(folder, "lacks.lua", "")
  equal(status, 0, err)
  equal(out:match "lacking[^\n]+", "lacking\ttrue\tfalse\ttrue")
end)

scripts.it("runs.set reads a folder in the published layout, and says what is wrong with one", {}, function(folder)
  for split = 0, 1 do
    os.execute(("mkdir -p %s/own/fold_%d"):format(folder, split))
    for part, first in pairs{ train = 0, test = 3 } do
      local lines = { "user,item,rating,user_id,item_id" }
      for user = 0, 2 do
        for item = first, first + (part == "train" and 2 or 0) do
          lines[#lines + 1] = ("%d,%d,%g,%d,%d"):format(user, 2 * user + item, 4 + split, user, 2 * user + item)
        end
      end
      sweeps.write(("%s/own/fold_%d/%s.csv"):format(folder, split, part), table.concat(lines, "\n") .. "\n")
    end
  end
  local out, status, err = printed(folder, "--sets folder --folder own", [[
local set = runs.set(args, "folder")
print(set.title, #set.splits, set.users, set.items, set.fold(1, 1, 0).train.lists.rows,
  set.fold(0, 1, 0).test.lists.rows)]])
  equal(status, 0, err)
  equal(out, "own\t2\t3\t8\t18\t6\n")
  for words, message in pairs{ ["--sets folder"] = "folder", ["--folder own"] = "--sets folder",
      ["--folder own --sets folder --smoke"] = "--smoke" } do
    local _, failed, said = printed(folder, words, "")
    check(failed ~= 0 and said:find("--folder: ", 1, true) and said:find(message, 1, true), said)
  end
  local _, failed, said = printed(folder, "--sets folder --folder .", 'runs.set(args, "folder")')
  check(failed ~= 0 and said:find("fold_0/train.csv", 1, true), said)
end)

local function as_sets(part)
  local sets, users, items, grades, at = {}, part.users:totable(), part.items:totable(),
    part.lists.relevance:totable(), 0
  for l, n in ipairs(part.lists.sizes:totable()) do
    local of = { relevant = {}, negative = {}, count = 0 }
    for i = at + 1, at + n do
      local set = grades[i] > 0 and of.relevant or of.negative
      check(not of.relevant[items[i]] and not of.negative[items[i]], "an item twice in a list")
      set[items[i]] = true
      of.count = of.count + (grades[i] > 0 and 0 or 1)
    end
    sets[users[l]], at = of, at + n
  end
  return sets
end

it("negatives.drawn avoids train in train, and both parts in test, like the authors' code", function()
  local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 120, seed = 3 }:binarize(4)
  local both, overlap = ratings:folds{ by = "share", test = 0.2, nsr = 0, valid = 0 }[1], { 0, 0 }
  for seed = 1, 3 do
    local fold = negatives.drawn(both, 2, ratings.items, seed)
    local train, known = as_sets(fold.train), as_sets(both.train)
    for user, of in pairs(as_sets(fold.test)) do
      for item in pairs(of.negative) do
        check(not train[user].relevant[item], "a negative of test is relevant in train")
        overlap[1] = overlap[1] + (train[user].negative[item] and 1 or 0)
      end
      for item in pairs(train[user].negative) do
        check(not known[user].relevant[item], "a negative of train is relevant in train")
        overlap[2] = overlap[2] + (of.relevant[item] and 1 or 0)
      end
    end
    local wanted, drawn = 2 * fold.train.lists.relevant:double(),
      fold.train.lists.sizes:double() - fold.train.lists.relevant:double()
    check((wanted - drawn):min():item() >= 0, "no more than asked for")
  end
  check(overlap[1] > 0 and overlap[2] > 0, "test's negatives may have been train's, train's may be relevant in test")
  equal(negatives.drawn(both, 1, ratings.items, 7).train.fingerprint,
    negatives.drawn(both, 1, ratings.items, 7).train.fingerprint)
end)

it("negatives.drawn takes all other items of a user if they are few", function()
  local both = { train = mr.data.dataset{ lists = mr.lists{ { 1, 1, 1 } },
    users = mr.tensor({ 1 }, { dtype = "int64" }), items = mr.tensor({ 1, 2, 3 }, { dtype = "int64" }) },
    valid = false }
  both.test = mr.data.dataset{ lists = mr.lists{ { 1 } }, users = mr.tensor({ 1 }, { dtype = "int64" }),
    items = mr.tensor({ 4 }, { dtype = "int64" }) }
  local fold = negatives.drawn(both, 5, 6, 1)
  near(fold.train.lists.sizes:double(), { 6 }, 0)
  near(fold.test.lists.sizes:double(), { 3 }, 0)
end)

-- The expected numbers were copied by hand from the table of results in the authors' repository.
it("published.at has the numbers of the authors' files", function()
  local function at(kind, loss, nsr, rate, split, by, metric)
    return published.at{ kind = kind, loss = loss, nsr = nsr, rate = rate, split = split, by = by, metric = metric }
  end
  equal(at("listwise", "ndcg", 1, 1.0, 0, "ndcg", "ndcg"), 0.9429)
  equal(at("listwise", "ndcg", 1, 1, 1, "ndcg", "rr"), 0.9657)
  equal(at("listwise", "ap", 1, 3, 0, "ap", "rbp(0.95)"), 0.3962)
  equal(at("listwise", "rr", 1, 1, 0, "rr", "ndcg@5"), 0.5561)
  equal(at("listwise", "nrbp", 5, 0.01, 0, "rbp(0.95)", "ap"), 0.7747)
  equal(at("listwise", "nrbp", 1, 0.1, 1, "rbp(0.95)", "rbp(0.95)"), 0.4088)
  equal(at("lambda", "nrbp(0.8)", 1, 0.001, 0, "rbp(0.8)", "ndcg"), 0.9393)
  equal(at("lambda", "rr", 1, 0.001, 0, "rr", "ap"), 0.5824)
  equal(at("lambda", "rr", 3, 0.001, 0, "rr", "ap"), nil)
end)
