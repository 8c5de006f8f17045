-- Tests mr.experiment: options, stores and studies of scripts.
local mr = require "moonrank"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, equal, raises, check = test.it, test.equal, test.raises, test.check

it("mr.experiment.study keeps runs on made-up data in a study of another name, also in the same store", function()
  local folder = sweeps.new_folder()
  local store = folder .. "/runs.db"
  local function study(made_up)
    local value = made_up and 0.25 or 0.5
    return mr.experiment.study({ store = store, workers = 0, retry = 0, made_up = made_up }, { name = "movielens",
      settings = {}, space = { i = mr.range(1, 2) }, run = function() return { valid = value } end })
  end
  study(true)
  raises(function() mr.results(store, "movielens") end, "movielens")
  equal(mr.results(store, "movielens, made-up data"):counts(), { done = 2 })
  equal(study(false):best().value, 0.5)
  equal({ study(true):best().value, mr.results(store, "movielens"):best().value }, { 0.25, 0.5 })
end)

scripts.it("mr.experiment.args with --smoke sets made-up data and a store of their own", {}, function(folder)
  sweeps.write(folder .. "/options.lua", [[
    local args = require("moonrank").experiment.args({}, { document = "x" })
    print(args.made_up, args.store)]])
  local function said(words) return (select(2, sweeps.run(folder, "options.lua", words))) end
  equal({ said "", said "--smoke", said "--smoke --store s.db" },
    { "false\tresults/x/runs.db\n", "true\tresults/x/smoke.db\n", "true\ts.db\n" })
end)

scripts.it("mr.experiment.args puts stores into MOONRANK_RESULTS, or the user's data folder", {}, function(folder)
  sweeps.write(folder .. "/options.lua", [[
    print(require("moonrank").experiment.args({}, { document = "x" }).store)]])
  local function said(before) return (select(2, sweeps.run(folder, "options.lua", "", before))) end
  equal({ said "MOONRANK_RESULTS=/r",
    said "MOONRANK_RESULTS= XDG_DATA_HOME=/d", said "MOONRANK_RESULTS= XDG_DATA_HOME= HOME=/h" },
    { "/r/x/runs.db\n", "/d/moonrank/results/x/runs.db\n", "/h/.local/share/moonrank/results/x/runs.db\n" })
end)

it("mr.experiment.figure_options adds the file of a figure, of an ending that figures have, and --show", function()
  local function args_of(...)
    return mr.args(mr.experiment.figure_options({ epochs = 3 }, "results/a.svg"), { ... })
  end
  local usual, other = args_of(), args_of("--out", "b.pdf", "--show")
  equal({ usual.epochs, usual.out, usual.show, other.out, other.show }, { 3, "results/a.svg", false, "b.pdf", true })
  check(not pcall(args_of, "--out", "b.txt"), "a text file is no figure")
  raises(function() mr.experiment.figure_options({}) end, "path")
end)

it("mr.experiment.study with force keeps runs after a change of the script, and refuses changed settings", function()
  local folder = sweeps.new_folder()
  local store, value = folder .. "/runs.db", 0.5
  local function study(force, epochs)
    return mr.experiment.study({ store = store, workers = 0, retry = 0, force = force },
      { name = "movielens", settings = { epochs = epochs }, space = { i = mr.range(1, 2) },
      run = function() return { valid = value } end }):best().value
  end
  equal(study(false, 60), 0.5)
  value = 0.25
  equal(study(true, 60), 0.5)
  local ok, problem = pcall(study, true, 100)
  check(not ok and tostring(problem):find "movielens" and tostring(problem):find "epochs = 60", tostring(problem))
  equal(study(true, 60), 0.5)
end)

-- Calls body(folder, study): study(changed, run, o) makes or reads a study of four runs in a store. `changed`
-- has the values of options (args) that differ from their defaults.
local function with_study(body)
  local folder = sweeps.new_folder()
  body(folder, function(changed, run, o)
    local args = { store = folder .. "/runs.db", workers = 0, retry = 0, studies = {} }
    for name, value in pairs(changed or {}) do args[name] = value end
    local options = { name = "movielens", settings = {}, space = { i = mr.range(1, 4) },
      run = run or function(trial) return { valid = trial.i } end }
    for name, value in pairs(o or {}) do options[name] = value end
    return mr.experiment.study(args, options), args
  end)
end

-- Raises an error unless `f` raises one with all of the `words`. Returns the error.
local function refuses(f, ...)
  local ok, problem = pcall(f)
  check(not ok, "no error")
  for _, word in ipairs{ ... } do check(tostring(problem):find(word, 1, true), tostring(problem)) end
  return problem
end

it("a study with failed runs is not complete: an error names it, how many failed and the option that tries again",
  function()
    with_study(function(_, study)
      local luck = mr.experiment.cache()  -- a table that trials may read and the test changes between two attempts
      local function failing(trial)
        if trial.i <= 2 and not luck[1] then error("no luck", 0) end
        return { valid = trial.i }
      end
      refuses(function() study({}, failing) end, "movielens", "2 failed", "--retry 1")
      local problem = refuses(function() study({ kept = true }) end, "movielens", "2 of 4 runs", "2 failed")
      check(mr.experiment.lacked(problem), "runs that failed count as missing ones")
      refuses(function() study({ retry = 1 }, failing) end, "2 failed", "--retry 2")
      luck[1] = true
      equal(study({ retry = 2 }, failing):counts(), { done = 4 })
    end)
  end)

it("a study with killed runs is not complete, with and without --kept", function()
  with_study(function(folder, study)
    study()
    sweeps.change(folder .. "/runs.db", "UPDATE trials SET state = 'killed' WHERE study = ?1 AND number <= 2")
    local problem = refuses(function() study{ kept = true } end, "movielens", "2 of 4 runs", "2 killed")
    check(mr.experiment.lacked(problem), tostring(problem))
    refuses(function() study() end, "movielens", "of 4 runs 2 killed", "--retry")
    equal(study{ retry = 1 }:counts(), { done = 4 })
  end)
end)

it("failures that a study accepts are results, other failures are not", function()
  with_study(function(_, study)
    local why = "mr.fit: the loss is NaN in epoch 1"
    local function failing(trial)
      if trial.i == 1 then error(why, 0) end
      return { valid = trial.i }
    end
    local o = { accepts = mr.experiment.diverged }
    equal(study({}, failing, o):counts(), { done = 3, failed = 1 })
    equal({ mr.experiment.progress((study({ kept = true }, failing, o))) }, { 4, 4 })
    refuses(function() study({ kept = true }, failing) end, "3 of 4 runs")
  end)
end)

it("a list of studies says whether runs are missing", function()
  with_study(function(folder, study)
    local _, args = study()
    check(not mr.experiment.lacks(args.studies))
    equal(mr.experiment.so_far(args), nil)
    sweeps.change(folder .. "/runs.db", "DELETE FROM trials WHERE study = ?1 AND number = 1")
    local o = { name = "movielens", settings = {}, space = { i = mr.range(1, 4) } }
    for _, name in ipairs{ "movielens", "another" } do
      o.name, args.studies = name, {}
      mr.experiment.there(args, o)
      check(mr.experiment.lacks(args.studies), name)
    end
    args.studies = {}
    for _, name in ipairs{ "movielens", "another", "movielens", "another" } do
      o.name = name
      mr.experiment.there(args, o)
    end
    local planned, there = mr.experiment.so_far(args):match "(%d+) runs (%d+)"
    equal({ planned, there }, { "8", "3" })  -- the study is planned twice, but its runs count once
  end)
end)

scripts.it("a store that cannot be written ends a script with one line and status 2 before data are read", {},
  function(folder)
    sweeps.write(folder .. "/file", "")
    local function said(path, words, before)
      local status, out, err = sweeps.run(folder, scripts.root .. "/scripts/" .. path, words, before)
      equal({ status, out, select(2, err:gsub("\n", "")) }, { 2, "", 1 }, err)
      return err
    end
    -- there are no data, so a script that reads data first would print another error
    for _, path in ipairs{ "thesis/sizes.lua", "cmu/table_1.lua", "all.lua" } do
      for _, place in ipairs{ folder .. "/file", "/dev/null", "/proc/sys" } do
        local err = said(path, "--data .", "MOONRANK_DATA=. MOONRANK_RESULTS=" .. place)
        check(err:find("MOONRANK_RESULTS", 1, true) and err:find(place, 1, true), err)
      end
    end
    for _, store in ipairs{ folder .. "/file/r.db", "/dev/null/r.db", "/proc/sys/r.db", folder } do
      local err = said("thesis/sizes.lua", "--data . --store " .. store, "MOONRANK_DATA=.")
      check(err:find("--store", 1, true), err)
    end
    said("thesis/sizes.lua", "--kept --data .", ("MOONRANK_DATA=. MOONRANK_RESULTS=%s/file"):format(folder))
  end)

-- A script with one study. Its trials read options that only say where and how the study runs, such as `place`.
local script = [[
local mr = require "moonrank"
local args = mr.experiment.args({ epochs = 3, value = 1.0, lr = 0.1, place = { default = "a", placement = true } },
  { document = "x" })
local value = args.value
mr.experiment.study(args, { name = "study", settings = { epochs = args.epochs }, space = { i = mr.range(1, 2) },
  run = function(trial)
    local _ = { args.store, args.force, args.mix_numerics, args.workers, args.retry, args.kept, args.place }
    return { valid = value * args.lr * trial.i }
  end })
]]

scripts.it("errors about the store of a study are one line, and name only options of the script that help", {},
  function(folder)
    local function said(words)
      local status, _, err = sweeps.run(folder, "sweep.lua", "--workers 0 " .. words)
      equal({ status, select(2, err:gsub("\n", "")) }, { 1, 1 }, err)
      check(not err:find("= true", 1, true), err)
      return err
    end
    equal(sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db"), 0)
    for _, words in ipairs{ "", "--force", "--mix-numerics", "--force --value 2" } do
      local err = said("--store s.db --epochs 4 " .. words)
      check(err:find "epochs = 3.*epochs = 4" and not err:find("--force", 1, true), err)
    end
    check(said "--store s.db --value 2":find("--force", 1, true))
    equal(sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db --value 2 --force"), 0)
    sweeps.write(folder .. "/garbage.db", ("garbage "):rep(200))
    for _, words in ipairs{ "--workers 0", "--workers 0 --force", "--kept" } do
      local status, _, err = sweeps.run(folder, "sweep.lua", "--store garbage.db " .. words)
      equal({ status, select(2, err:gsub("\n", "")) }, { 2, 1 }, err)
      check(err:find("--store", 1, true) and err:find("garbage.db", 1, true), err)
    end
    local lock <close> = require("moonrank.core").lock_file(
      require("moonrank.sweep.files").of_study(folder .. "/s.db", "study") .. "/lock")
    check(lock and said "--store s.db":find "another process.*s%.db")
  end, script)

scripts.it("--kept, and --force without a run made, say in one line that an earlier script made the runs", {},
  function(folder)
    local function said(words)
      local status, _, err = sweeps.run(folder, "sweep.lua", "--store s.db " .. words)
      equal(status, 0, err)
      return select(2, err:gsub("earlier version of the script[^\n]*'study'[^\n]*\n", ""))
    end
    equal({ said "--workers 0", said "--kept", said "--workers 0 --force" }, { 0, 0, 0 })
    equal({ said "--value 2 --kept", said "--value 2 --workers 0 --force" }, { 1, 1 })
    equal(said "--workers 0", 0)  -- the earlier version of the script can resume, because no run was made with --force
  end, script)

scripts.it("a study of another numerics version ends a script with one line that names --mix-numerics", {},
  function(folder)
    equal(sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db"), 0)
    sweeps.change(folder .. "/s.db", "DELETE FROM trials WHERE study = ?1 AND number = 2")
    sweeps.change(folder .. "/s.db", "UPDATE trials SET numerics = 'other' WHERE study = ?1")
    local status, _, err = sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db")
    equal({ status, select(2, err:gsub("\n", "")) }, { 1, 1 }, err)
    check(err:find("--mix-numerics", 1, true) and not err:find("--force", 1, true), err)
    equal(sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db --mix-numerics"), 0)
  end, script)

scripts.it("mr.sweep warns about changed options that trials read, but not about where and how results are kept", {},
  function(folder)
    equal(sweeps.run(folder, "sweep.lua", "--workers 0 --store s.db"), 0)
    os.rename(folder .. "/s.db", folder .. "/moved.db")
    local function warned(words)
      local status, _, err = sweeps.run(folder, "sweep.lua", "--store moved.db " .. words)
      equal(status, 0, err)
      return err:match "[^\n]*other values[^\n]*" or ""
    end
    equal(warned "--workers 1 --force --mix-numerics --retry 2 --place b", "")
    local text = warned "--workers 1 --lr 0.2"
    check(text:find("--lr", 1, true) and not text:find("--store", 1, true), text)
  end, script)

it("mr.experiment.compared refuses settings without runs, and references that are not among the settings", function()
  local folder = sweeps.new_folder()
  local args = { store = folder .. "/runs.db", workers = 0, retry = 0 }
  local results = mr.experiment.study(args, { name = "s", settings = {},
    space = { loss = mr.choice{ "ap", "rr" }, fold = mr.range(1, 2) },
    run = function(trial)
      local of_lists = mr.tensor{ 0.1, 0.2, trial.fold / 4, 0.9 }:double()
      return { valid = 0.5, m = 0.5, per_list = { m = of_lists, list = mr.tensor{ 1, 2, 3, 4 }:double() } }
    end })
  local function made(by, against, printed)
    return mr.experiment.compared(results, { by = by, against = against, value = "m", printed = printed })
  end
  local both = { { "loss", { "ap", "rr" } } }
  equal(#made(both, { loss = "ap" }).rows, 2)
  raises(function() made({}, { loss = "ap" }) end, "by")
  raises(function() made({ { "loss", { "ap", "nope" } } }, { loss = "ap" }) end, "nope")
  raises(function() made({ { "loss", { "ap", "ap" } } }, { loss = "ap" }) end, "twice")
  raises(function() made(both, {}) end, "against")
  raises(function() made(both, { loss = "ap", fold = 1 }) end, "against")
  raises(function() made(both, { loss = "ndcg" }) end, "against", "ndcg")
  raises(function() made(both, { loss = "ap" }, function() return "x" end) end, "printed", "x")
end)

it("mr.experiment.combinations has all values of all parameters, the last fastest, and refuses doubles", function()
  equal(mr.experiment.combinations{ { "a", { 1, 2 } }, { "b", { "x", "y" } } },
    { { a = 1, b = "x" }, { a = 1, b = "y" }, { a = 2, b = "x" }, { a = 2, b = "y" } })
  raises(function() mr.experiment.combinations{ { "a", { 1, 1 } } } end, "combinations", "a", "1", "twice")
  raises(function() mr.experiment.combinations{ { "a", { 0 / 0 } } } end, "combinations", "a", "NaN")
  raises(function() mr.experiment.combinations{ { "a", { 1 } }, { "a", { 2 } } } end, "by", "'a'", "twice")
  raises(function() mr.experiment.combinations{ "a" } end, "combinations", "by[1]")
end)

it("mr.experiment.runs are in the order of their folds, and of their numbers in a fold", function()
  local folder = sweeps.new_folder()
  local results = mr.experiment.study({ store = folder .. "/runs.db", workers = 0, retry = 0 }, { name = "s",
    space = { fold = mr.choice{ 3, 1, 2 }, draw = mr.range(1, 2) },
    run = function(trial) return { valid = trial.fold + trial.draw / 10 } end })
  local folds, rising = {}, true
  local runs = mr.experiment.runs(results)
  for i, run in ipairs(runs) do
    folds[i] = run.fold
    rising = rising and (i % 2 == 1 or run.number > runs[i - 1].number)
  end
  equal({ folds, rising }, { { 1, 1, 2, 2, 3, 3 }, true })
  equal(mr.experiment.folds(results, { draw = 2 }, "valid"), { 1.2, 2.2, 3.2 })
  equal(mr.experiment.folds({ results, results }, { draw = 1 }, "valid"), { 1.1, 2.1, 3.1, 1.1, 2.1, 3.1 })
  raises(function() mr.experiment.folds({ 3 }, {}, "valid") end, "folds", "results", "3")
end)

it("mr.experiment.chosen takes the best run of each fold on validation, whose lists and numbers can be read", function()
  local folder = sweeps.new_folder()
  local valid = { { [0.1] = 0.5, [0.2] = 0.7, [0.4] = 0.7 }, { [0.1] = 0.6, [0.2] = 0.5, [0.4] = 0.1 } }
  local results = mr.experiment.study({ store = folder .. "/runs.db", workers = 0, retry = 0 }, { name = "s",
    settings = {}, space = { loss = mr.choice{ "ap", "rr" }, rate = mr.choice{ 0.1, 0.2, 0.4 },
      fold = mr.range(1, 2) },
    run = function(trial)
      return { valid = (trial.loss == "ap" and 1 or -1) * valid[trial.fold][trial.rate],
        test = 10 * trial.fold + trial.rate, per_list = { m = { trial.rate, 0 / 0 } } }
    end })
  local chosen = mr.experiment.chosen(results, { loss = "ap" })
  local function folds(name) return mr.experiment.folds(results, chosen, name) end
  equal({ folds "rate", folds "fold", folds "test" }, { { 0.2, 0.1 }, { 1, 2 }, { 10.2, 20.1 } })
  local values = mr.experiment.lists(results, chosen, "m")
  equal({ #values, values[1], values[3], values[2] ~= values[2] }, { 4, 0.2, 0.1, true })
  equal(#mr.experiment.lists(results, { loss = "ap", rate = 0.1 }, "m"), 4)
  equal(mr.experiment.folds(results, mr.experiment.chosen(results, { loss = "rr" }), "rate"), { 0.1, 0.4 })
  raises(function() mr.experiment.chosen(results, { loss = "none" }) end, "mr.experiment.chosen")
end)

-- Two losses whose runs are of different folds have equally many values, of other lists.
it("mr.experiment.chosen refuses parameters without a number in a fold that other runs have", function()
  local args = { store = sweeps.new_folder() .. "/runs.db", workers = 0, retry = 0 }
  local results = mr.experiment.study(args, { name = "s", accepts = function() return true end,
    space = { loss = mr.choice{ "ap", "rr", "bpr" }, rate = mr.choice{ 0.1, 0.2 }, fold = mr.range(1, 2) },
    run = function(trial)
      if trial.loss == "rr" and trial.fold == 2 then error "diverged" end
      return { valid = trial.loss == "bpr" and trial.fold == 1 and 0 / 0 or trial.rate,
        per_list = { m = { trial.fold } } }
    end })
  local function values(loss, fold)
    return mr.experiment.lists(results, mr.experiment.chosen(results, { loss = loss, fold = fold }), "m")
  end
  equal(values "ap", { 1.0, 2.0 })
  raises(function() values "rr" end, "chosen", "fold 2")
  raises(function() values "bpr" end, "chosen", "fold 1")
  equal(values("rr", 1), { 1.0 })
end)

it("mr.experiment.by_list takes one study or several, without folds, too, and refuses other tables", function()
  local args = { store = sweeps.new_folder() .. "/runs.db", workers = 0, retry = 0 }
  local function study(name, lists)
    return mr.experiment.study(args, { name = name, space = { loss = mr.choice{ "ap", "rr" } },
      run = function(trial)
        return { valid = 1, per_list = { list = lists, m = { trial.loss == "ap" and 1 or 0, 3 } } }
      end })
  end
  local where, first, second = { loss = "ap" }, study("1", { 8, 4 }), study("2", { 4, 8 })
  equal(mr.experiment.by_list(first, where, "m"), { 3.0, 1.0 })
  equal(mr.experiment.by_list({ first, second }, where, "m"), { 2.0, 2.0 })
  equal(mr.experiment.by_list(first, mr.experiment.chosen(first, where), "m"), { 3.0, 1.0 })
  raises(function() mr.experiment.by_list({ first, second }, mr.experiment.chosen(first, where), "m") end, "by_list",
    "where", "one study")
  raises(function() mr.experiment.by_list({ { 1, 2 } }, where, "m") end, "by_list", "all[1]", "{1, 2}", "means_by")
  -- an evaluation of scores and grades alone has no numbers of users or queries
  local lists = mr.lists{ { 1, 0 }, { 0, 1 } }
  local plain = mr.experiment.study(args, { name = "plain", space = { loss = mr.choice{ "ap", "rr" } },
    run = function()
      local found = mr.evaluate(mr.tensor{ 2, 1, 2, 1 }, lists, { "rr" })
      return { valid = 1, per_list = { rr = found.rr } }
    end })
  raises(function() mr.experiment.by_list(plain, where, "rr") end, "by_list", "trial 1", "'rr'", "list = ")
  raises(function() mr.experiment.evaluation(plain, where, "rr") end, "evaluation", "trial 1", "'rr'", "list = ")
end)

it("mr.experiment.queries reads a folder of --data, or makes up a fold of so many queries under --smoke", function()
  local folder = sweeps.new_folder()
  local args, line = { data = folder, smoke = false }, "%d qid:%d 1:0.5 2:0.%d\n"
  os.execute(("mkdir -p %s/own/Fold1"):format(folder))
  for q, part in ipairs{ "train", "vali", "test" } do
    sweeps.write(("%s/own/Fold1/%s.txt"):format(folder, part), line:format(1, q, 1) .. line:format(0, q, 2))
  end
  local folds = mr.experiment.queries(args, "own", { features = 3 })
  equal({ #folds, folds[1].test.lists.rows, folds[1].train.features:size(2) }, { 1, 2, 3 })
  raises(function() mr.experiment.queries(args, "nope") end, "nope")
  os.execute(("mkdir -p %s/two/Fold1"):format(folder))
  local lines = {}
  for q = 1, 20 do lines[q] = line:format(1, q, 1) .. line:format(0, q, 2) end
  for _, part in ipairs{ "train", "test" } do
    sweeps.write(("%s/two/Fold1/%s.txt"):format(folder, part), table.concat(lines))
  end
  local two = mr.experiment.queries(args, "two", { valid = 0.25 })[1]
  equal({ #two.train, #two.valid, #two.test }, { 15, 5, 20 })
  for _, option in ipairs{ "smoke", "made_up" } do
    local fold = mr.experiment.queries({ [option] = true }, "own", { features = 5, queries = 40 })[1]
    equal({ #fold.train + #fold.valid + #fold.test, #fold.test, fold.test.features:size(2) }, { 40, 10, 5 })
  end
  raises(function() mr.experiment.queries(args, "own", { documents = 3 }) end, "documents")
  raises(function() mr.experiment.queries(args) end, "folder")
end)
