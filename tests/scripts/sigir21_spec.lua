-- Runs of the SIGIR'21 scripts: rows, the rate that is chosen, and published folders.
local test = require "moonrank.test"
local says = require "tests.support.says"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local check, equal = test.check, test.equal

local here = scripts.root

-- The output of a script that uses `models`, `training` and `args` with these words; also its exit status and errors.
local function printed(folder, words, body)
  local head = ("local models = dofile %q\nlocal training, args = models.training, models.args{}\n"):format(
    here .. "/scripts/sigir21/models.lua")
  sweeps.write(folder .. "/reads.lua", head .. body)
  local status, out, err =
    sweeps.run(folder, "reads.lua", words .. " --store r.db" .. (words:find "--kept" and "" or " --workers 0"))
  return out, status, err
end

local all_rows = [[
local mr = require "moonrank"
for _, row in ipairs(models.rows(args)) do
  local of = row.per_list()
  local gap = ("%.12f"):format(row.score - mr.stats.mean(of.scores))
  print(row.dataset, row.split, row.nsr, row.kind, row.loss, row.metric, row.lr, row.epoch, gap,
    #of.scores == #of.positives and #of.users == #of.scores, math.min(table.unpack(of.positives)))
end]]

scripts.it("models.rows has every loss by every metric, with the scores of every user", {}, function(folder)
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

scripts.it("models.rows takes the learning rate that the metric chose, and --kept makes no runs",
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
local set, all = models.set(args, "movielens"), {}
local chosen = best(models.rows(args))
for _, o in ipairs(training.trainings(args, set)) do
local found = models.rows_of(args, set, o)
table.move(found, 1, #found, #all + 1, all)
end
local expected = best(all)
print(#all, chosen and chosen.lr == expected.lr and chosen.score == expected.score
  and chosen.score == chosen.chosen_by)]]
  local of_rr = words .. " --kinds lambda --losses rr"
  local out, status, err = printed(folder, of_rr, best)
  equal(status, 0, err)
  equal(out, "14\ttrue\n")
  equal(printed(folder, of_rr .. " --kept", best), "14\ttrue\n")
  equal(printed(folder, words .. " --kept", [[
local o = { recipe = args.recipe, nsr = 1, kind = "lambda", loss = "ap", rate = 0.1 }
print(#models.rows_of(args, models.set(args, "movielens"), o))]]),
    "0\n")
  local missing = "models.rows(args)\nprint(require('moonrank').experiment.so_far(args))"
  equal(printed(folder, of_rr .. " --kept", missing), "nil\n")
  for more, counts in pairs{ [""] = "Of 20 runs 2 ", [" --losses rr,ap --rates 0.01,10"] = "Of 2 runs 1 ",
      [" --kinds lambda"] = "Of 12 runs 2 " } do
    says(printed(folder, words .. " --kept" .. more, missing), counts)
  end
  local _, failed, said = printed(folder, words .. " --kinds listwise --losses ap --rates 0.01", "models.rows(args)")
  equal(failed, 2)
  check(said:find "%-%-losses, %-%-rates: .*listwise.*ap.*0%.01", said)
end)

scripts.it("all.lua has a results file for listwise losses and for LambdaRank, and says which one lacks runs",
  {}, function(folder)
  local sections, files, kinds = dofile "docs/report/sections.lua", {}, 0
  for _, script in ipairs(dofile "scripts/sigir21/all.lua") do
    local file = sections.file_name(script)
    check(not files[file], file)
    files[file] = true
    kinds = kinds + (script.path:find "/citeulike" and 1 or 0)
  end
  equal({ kinds, files.citeulike, files.citeulike_recipes_published_lambda }, { 6, true, true })
  sweeps.write(folder .. "/lacks.lua", ([[
local sections = dofile(%q)
local function section(...)
  return sections.run{ path = %q, title = "t", words = { "--smoke", "--store", "r.db", "--kinds", "lambda", ... } }
end
section("--losses", "rr", "--workers", "0")
local partial, whole = section "--kept", section("--kept", "--losses", "rr")
print("lacking", partial.lacking, whole.lacking, #partial.tables > 0)]]):format(here .. "/docs/report/sections.lua",
    here .. "/scripts/sigir21/citeulike_recipes.lua"))
  local status, out, err = sweeps.run(folder, "lacks.lua", "")
  equal(status, 0, err)
  equal(out:match "lacking[^\n]+", "lacking\ttrue\tfalse\ttrue")
end)

scripts.it("scripts with the same trainings share the runs of a store", {}, function(folder)
  local function made(script, words)
    local out, err = scripts.run(folder, ("sigir21/%s.lua"):format(script), "--smoke --store r.db " .. words)
    return out, err:gsub("[^\n]*trials[^\n]*\n", "")
  end
  local out, said = made("citeulike", "--losses nrbp --workers 0")
  equal(said, "")
  -- runs of other code would be shown with a warning
  local same, nothing = made("citeulike_recipes", "--losses nrbp --kinds listwise --kept")
  equal({ same, nothing }, { out, "" })
  equal(select(2, made("models_of_nrbp", "--recipe published --sets citeulike --kept")), "")
end)

scripts.it("models.set reads a folder in the published layout, and says what is wrong with one", {}, function(folder)
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
local set = models.set(args, "folder")
print(set.title, #set.splits, set.users, set.items, set.fold(1, 1, 0).train.lists.rows,
  set.fold(0, 1, 0).test.lists.rows)]])
  equal(status, 0, err)
  equal(out, "own\t2\t3\t8\t18\t6\n")
  for words, message in pairs{ ["--sets folder"] = "folder", ["--folder own"] = "--sets folder",
      ["--folder own --sets folder --smoke"] = "--smoke" } do
    local _, failed, said = printed(folder, words, "")
    check(failed ~= 0 and said:find("--folder: ", 1, true) and said:find(message, 1, true), said)
  end
  local _, failed, said = printed(folder, "--sets folder --folder .", 'models.set(args, "folder")')
  check(failed ~= 0 and said:find("fold_0/train.csv", 1, true), said)
end)
