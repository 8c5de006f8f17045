-- Tests the thesis' scripts as one command, with --smoke on made-up data: all tables, figures and the report must show
-- the numbers of the store.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local data_folders = dofile "tests/support/data_folders.lua"
local program = dofile "tests/support/program.lua"
local mean_without_nan = dofile("tests/support/numbers.lua").mean
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, check, near = test.it, test.equal, test.check, test.near

local here = scripts.root

-- Returns the rows of the table that follows these words in the report, as cells by column.
local function rows_after(html, words)
  local at = assert(html:find(words, 1, true), words)
  local head, body = html:match("<thead>(.-)</thead>\n<tbody>(.-)</tbody>", at)
  local columns, rows = {}, {}
  for name in head:gmatch "<th%f[ >][^>]*>(.-)</th>" do columns[#columns + 1] = name end
  for line in body:gmatch "<tr>(.-)</tr>" do
    local cells, c = {}, 0
    for cell in line:gmatch "<td[^>]*>(.-)</td>" do
      c = c + 1
      cells[columns[c]] = cell:gsub("</?strong>", "")
    end
    rows[#rows + 1] = cells
  end
  return rows
end

-- Checks that the report names no real data set and shows no printed numbers, because the data are made up.
local function says_made_up(text, times)
  for _, name in ipairs{ "MovieLens", "MQ2008", "CiteULike", "MSLR", "ClueWeb" } do
    check(not text:find(name, 1, true), name .. ": " .. (text:match("[^\n]*" .. name .. "[^\n]*") or ""))
  end
  for _, word in ipairs{ "published<", "published ", "difference<", "In the thesis nDCG@k",
    "in the thesis it grows" } do
    check(not text:gsub("published bounds", ""):find(word, 1, true), word)
  end
  local _, said =
    text:gsub("Made%-up data, to see that the script runs %(%-%-smoke%): none of the numbers is a result", "")
  check(said >= times, ("said %d times"):format(said))
end

scripts.it("all.lua --smoke writes a report with the numbers of the store, and the same when it runs again",
  { "gnuplot" }, function(folder)
  local out = scripts.run(folder, "thesis/all.lua", "--smoke --workers 1")
  local html = sweeps.read(folder .. "/results/thesis/report.html")
  says(html, "Table 5.1: every loss under every bound, made-up ratings", "Figure 1.1: lower bounds",
    "--smoke", "Holm")
  for title in html:gmatch "<h3>(.-)</h3>" do
    check(not title:gsub(", made%-up .*", ""):find "^%u%l+ [%d.]+$", title .. " has no words")
  end
  says_made_up(html, 0)
  equal(select(2, html:gsub('class="banner"', "")), 1)
  says_made_up(out, 22)
  check(not html:find "%ssrc=" and not html:find "<link" and not html:find "@import",
    "nothing is loaded from elsewhere")
  local _, figures = html:gsub("<svg", "")
  -- figures: 1.1, seven of chapter 3, ten of chapter 5, where lists start, better references, curves by cutoff,
  -- optimizers
  equal(figures, 22)
  local _, opened = html:gsub("<section", "")
  local _, closed = html:gsub("</section>", "")
  equal({ opened, closed }, { 38, 38 })  -- 36 sections of the thesis, the overview and the glossary

  -- one row of the first table, worked out from the store
  local results = mr.results(folder .. "/results/thesis/smoke.db", "movielens, seed 1, made-up data")
  equal(results:counts(), { done = 21 })
  local function scores(bound)
    local columns = results:columns()
    local row = columns:rows("spec", { loss = "ap", bound = bound })[1]
    return results:per_list(columns:column("number")[row], "ap"):totable()
  end
  local free, bounded = scores "none", scores "expectation"
  for _, cells in ipairs(rows_after(html, "Table 5.1: every loss under every bound, made-up ratings</h3>")) do
    if cells.loss == "AP" and cells.bound == "expectation" then
      local mean, count = mean_without_nan(bounded)
      near(tonumber(cells.mean), mean, 5e-5)
      near(tonumber(cells.change), mean - mean_without_nan(free), 1e-4)
      equal({ tonumber(cells.lists), tonumber(cells.skipped) }, { count, #bounded - count })
    end
  end

  local before = sweeps.read(folder .. "/results/thesis/report.html")
  scripts.run(folder, "thesis/all.lua", "--smoke --workers 1")
  check(sweeps.read(folder .. "/results/thesis/report.html") == before, "the same report from the same store")
  scripts.run(folder, "thesis/all.lua", "--smoke --workers 1 --recipe published")
end)

-- A script that makes Table 5.1 with fewer runs.
local few_runs = ([[
local training = dofile "%s/scripts/thesis/training.lua"
local args = training.args{ seed = 1, recipe = training.recipe, samples = training.samples }
local set = training.movielens(args)
set.epochs, set.folds, set.values = 1, 2, { 1 }
training.compare(args, set, "skip")
]]):format(here)

scripts.it("training.compare refuses runs on other data with an error that names both data", {}, function(folder)
  for i, name in ipairs{ "a", "b" } do data_folders.movielens(folder .. "/" .. name, { seed = i }) end
  data_folders.movielens(folder .. "/c", { seed = 1 })
  local function run(data)
    return sweeps.run(folder, "sweep.lua", "--store s.db --samples 100 --workers 0 --data " .. data)
  end
  local status, first, err = run "a"
  equal(status, 0, err)
  check(first:find "nDCG  none", first)
  local other
  status, other, err = run "b"
  equal({ status, other }, { 1, "" })
  check(err:find("s.db .*'movielens, seed 1, 100 samples'"), err)
  local checksum = "(" .. ("%x"):rep(16) .. ")"
  local then_of, now_of = err:match("ratings: then .-" .. checksum .. ", now .-" .. checksum)
  check(then_of and then_of ~= now_of, err)
  local _, same = run "c"
  equal(same, first, "the same ratings in another folder")
end, few_runs)

scripts.it("learning_rates.lua --smoke prints the best rate of every loss and bound, as training.lua has it",
  {}, function(folder)
  local out = scripts.run(folder, "thesis/learning_rates.lua", "--smoke --workers 0 --sets mq2008")
  local results = mr.results(folder .. "/results/thesis/smoke.db")
  local best = results:best({ "loss", "bound" })
  local rate = 0
  for c, name in ipairs(best.columns) do
    if name == "rate" then rate = c end
  end
  local rates = {}
  for loss, list in out:gmatch "\nmq2008 +(%l+) +([%d. ]+)" do
    local of = {}
    for text in list:gmatch "%S+" do of[#of + 1] = tonumber(text) end
    for i, bound in ipairs(dofile("scripts/thesis/training.lua").bounds) do rates[loss .. " " .. bound] = of[i] end
  end
  for _, row in ipairs(best.rows) do near(rates[row[1] .. " " .. row[2]], row[rate], 0) end
  equal(#best.rows, 21)
end)

scripts.it("stronger_models.lua --smoke shows the means, changes and rates of the store", {}, function(folder)
  local script = here .. "/scripts/thesis/stronger_models.lua"
  local status, out, err = sweeps.run(folder, script, "--smoke --workers 0")
  equal(status, 0, err)
  local path = folder .. "/results/thesis/smoke.db"
  local results, tuned = mr.results(path, "stronger models, seed 1, made-up data"),
    mr.results(path, "rates of stronger models, seed 1, made-up data")
  equal({ results:counts(), tuned:counts() }, { { done = 48 }, { done = 36 } })
  local function mean_of(model, bound)
    local columns = results:columns()
    local row = columns:rows("spec", { loss = "ndcg", model = model, bound = bound })[1]
    return (mean_without_nan(results:per_list(columns:column("number")[row], "own"):totable()))
  end
  for model, rate, mean, _, change in out:gmatch "nDCG +(%S+) +([%d.]+) +([%d.]+) +([+-][%d.]+) +([+-][%d.]+)" do
    near(tonumber(mean), mean_of(model, "none"), 5e-5)
    near(tonumber(change), mean_of(model, "minmax") - mean_of(model, "none"), 1e-4)
    local columns, best, best_rate = tuned:columns(), -1, nil
    for _, row in ipairs(columns:rows("spec", { loss = "ndcg", model = model })) do
      local valid = columns:column("valid")[row]
      if valid > best then best, best_rate = valid, columns:column("rate")[row] end
    end
    near(tonumber(rate), best_rate, 0)
  end
end)

scripts.it("other_data.lua --smoke shows a table for each data set from the store, without printed numbers",
  {}, function(folder)
  local out = scripts.run(folder, "thesis/other_data.lua", "--smoke --workers 0 --sets clueweb,citeulike")
  check(not out:find("published", 1, true) and not out:find("printed", 1, true), out)
  local store = folder .. "/results/thesis/smoke.db"
  for _, case in ipairs{ { "made-up queries of 42 features", "clueweb", "label", "query" },
    { "made-up ratings", "citeulike", "NSR", "user" } } do
    local at = assert(out:find(case[1] .. "\n\nMade-up data", 1, true), case[1])
    at = assert(out:find("\n" .. case[3] .. "  loss", at, true), case[3])
    local results = mr.results(store, case[2] .. ", seed 1, made-up data")
    local columns = results:columns()
    local function mean_of(bound)
      local row = columns:rows("spec", { loss = "nrbp", bound = bound })[1]
      return (mean_without_nan(results:per_list(columns:column("number")[row], "nrbp(0.95)"):totable()))
    end
    local mean, change = out:match("nRBP +minmax +([%d.]+) +%S+ +([+-][%d.]+)", at)
    near(tonumber(mean), mean_of "minmax", 5e-5)
    near(tonumber(change), mean_of "minmax" - mean_of "none", 1e-4)
    check(out:find("of 18 bounded losses", at, true) and out:find("paired by " .. case[4], at, true), case[4])
  end
end)

scripts.it("better_reference.lua --smoke shows means and changes by beta of the store", { "gnuplot" }, function(folder)
  local out = scripts.run(folder, "thesis/better_reference.lua", "--smoke --workers 0")
  local results, seen =
    mr.results(folder .. "/results/thesis/smoke.db", "better reference, mq2008 label 1, seed 1, made-up data"), 0
  equal(results:counts(), { done = 27 })
  local function mean_of(bound)
    local columns = results:columns()
    local row = columns:rows("spec", { loss = "ap", bound = bound })[1]
    return (mean_without_nan(results:per_list(columns:column("number")[row], "own"):totable()))
  end
  local row = "made%-up queries of 46 features +label 1 +AP +(%S+) +([%d.]+) +([%d.]+)([^\n]*)"
  for form, beta, mean, rest in out:gmatch(row) do
    local own, base = mean_of(("%s (beta %g)"):format(form, tonumber(beta))), mean_of(form .. " (beta 0)")
    near(tonumber(mean), own, 5e-5)
    local changes = {}
    for change in rest:gmatch "[+-]%d[%d.]*" do changes[#changes + 1] = tonumber(change) end
    near(changes[#changes], own - mean_of "none", 1e-4)
    if tonumber(beta) > 0 then near(changes[1], own - base, 1e-4) end
    seen = seen + 1
  end
  equal(seen, 8)
end)

scripts.it("table_5_1_mq2008.lua counts queries without relevant documents as --empty says", {}, function(folder)
  local function mean_of(convention)
    local script = here .. "/scripts/thesis/table_5_1_mq2008.lua"
    local status, out, err = sweeps.run(folder, script, "--smoke --workers 0 --empty " .. convention)
    equal(status, 0, err)
    local mean, skipped = out:match "nDCG +none +([%d.]+)[^\n]- (%d+)\n"
    return tonumber(mean), tonumber(skipped)
  end
  local skip, skipped = mean_of "skip"
  check(skipped > 0, "some queries have nothing relevant")
  local share = 1 - skipped / 30
  near(mean_of "zero", skip * share, 2e-4)
  near(mean_of "one", skip * share + 1 - share, 2e-4)
end)

it("mr.experiment.by_list averages a user over folds and seeds, and beside.change_of compares these means", function()
  local folder = sweeps.new_folder()
  local beside = dofile "scripts/thesis/beside.lua"
  -- The value of user u in fold f with seed s is 10 u + f + 100 s, and 1 or 3 more under the bound. User 3 is in the
  -- second fold only, and has no value in one run.
  local function study(seed)
    return mr.sweep{ name = "seed " .. seed,
      store = folder .. "/toy.db", workers = 0, progress = false, metric = "valid", direction = "maximize",
      space = { bound = mr.choice{ "none", "more" }, split = mr.range(1, 2) }, run = function(trial)
        local users, own = trial.split == 1 and { 2, 1 } or { 1, 2, 3 }, {}
        for i, u in ipairs(users) do
          own[i] = 10 * u + trial.split + 100 * seed + (trial.bound == "more" and (u == 1 and 1 or 3) or 0)
          if u == 3 and seed == 2 then own[i] = 0 / 0 end
        end
        return { valid = 1, per_list = { own = own, list = users } }
      end }
  end
  local all = { study(1), study(2) }
  equal(mr.experiment.lists(all[1], { bound = "none" }, "own"), { 121, 111, 112, 122, 132 })
  local means = mr.experiment.by_list(all, { bound = "none" }, "own")
  equal({ means[1], means[2], means[3] ~= means[3] }, { 161.5, 171.5, true })
  local found = beside.change_of(mr.experiment.by_list(all, { bound = "more" }, "own"), means)
  equal({ found.change, found.n, found.wins }, { 2.0, 2, 1.0 })
  near(found.p, 0.5, 1e-12)  -- two of four choices of signs are as extreme as the observed one
  near(found.d, 2 / math.sqrt(2), 1e-12)
end)

-- Returns the numbers of rows of a part's lists by the name of the list, which is name(part, l).
local function sizes_by(part, name)
  local sizes, by = part.lists.sizes:totable(), {}
  for l, n in ipairs(sizes) do by[name(part, l)] = n end
  return by
end

it("beside.set of CiteULike-a tests each user in every fold, and each of their articles once", function()
  if not program.has_data "citeulike-a" then return test.skip "no CiteULike-a in MOONRANK_DATA or ../shared/data" end
  local set = dofile("scripts/thesis/beside.lua").set({ data = "", smoke = false }, "citeulike")
  equal({ set.setting, set.values, set.folds }, { "nsr", { 1, 2, 3 }, 5 })
  local tested, rows, relevant = {}, 0, 0
  for number = 1, set.folds do
    local part = set.fold(2, number, 1).test
    local users, items, grades, at = part.users:totable(), part.items:totable(), part.lists.relevance:totable(), 0
    equal(part.lists.count, 2465)
    for l, n in ipairs(part.lists.sizes:totable()) do
      for i = at + 1, at + n do
        local pair = users[l] .. " " .. items[i]
        if grades[i] == 1 and tested[pair] then error(pair .. " is tested twice") end
        tested[pair] = tested[pair] or grades[i] == 1
        rows, relevant = rows + 1, relevant + grades[i]
      end
      at = at + n
    end
  end
  equal({ rows, relevant }, { 3 * 157527, 157527.0 })
end)

it("beside.set of MSLR and ClueWeb09 takes relevance from a label, and scales by the training part", function()
  if not (program.has_data "mslr-web-slice" and program.has_data "clueweb09-ltr") then
    return test.skip "no MSLR slice or ClueWeb09 in MOONRANK_DATA or ../shared/data"
  end
  local runs, args = dofile "scripts/thesis/beside.lua", { data = "", smoke = false }
  local function name(part, l) return part.lists.ids[l] end
  local function relevant(part) return part.lists.relevance:sum():item() end
  local mslr = runs.set(args, "mslr")
  local fold = mslr.fold(2, 1, 1)
  equal({ mslr.folds, fold.train.count, fold.valid.count, fold.test.count }, { 1, 54, 18, 30 })
  equal({ relevant(fold.train), relevant(fold.valid), relevant(fold.test) }, { 825.0, 262.0, 471.0 })
  equal(relevant(mslr.fold(1, 1, 1).test), 1563.0)
  near(fold.train.features:double():mean(1):abs():max():item(), 0, { atol = 1e-5 })

  local clueweb, tested, count = runs.set(args, "clueweb"), {}, 0
  equal(clueweb.folds, 5)
  for number = 1, 5 do
    fold = clueweb.fold(1, number, 1)
    equal(fold.train.count + fold.valid.count + fold.test.count, 61)
    equal(fold.valid.count, 10)  -- validation has a fifth of the 48 or 49 lists
    equal(relevant(fold.train) + relevant(fold.valid) + relevant(fold.test), 4838.0)
    local own = sizes_by(fold.test, name)
    for _, part in ipairs{ fold.train, fold.valid } do
      for id in pairs(sizes_by(part, name)) do check(not own[id], "query " .. id .. " is trained and tested") end
    end
    for id in pairs(own) do tested[id], count = true, count + 1 end
  end
  local different = 0
  for _ in pairs(tested) do different = different + 1 end
  equal({ count, different }, { 61, 61 })
end)
