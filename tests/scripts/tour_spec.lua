-- Tests the tour for new users (scripts/tour): each script on its made-up data, and on a table of the user.
local mr = require "moonrank"
local core = require "moonrank.core"
local scripts = dofile "tests/support/scripts.lua"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

local function run(folder, name, words) return (scripts.run(folder, "tour/" .. name, words)) end

scripts.it("models.lua shows baselines and trained models, the same from a table of the user's own",
  {}, function(folder)
  local out = run(folder, "models.lua", "--epochs 2")
  says(out, "made-up readers and books", "popularity", "item_knn", "two_tower   ranknet", "book-")
  -- gives the same result with a table of the user that has the same rows
  os.rename(folder .. "/results/tour/interactions.csv", folder .. "/mine.csv")
  local own = run(folder, "models.lua", "--epochs 2 --data mine.csv")
  equal(own, (out:gsub("made%-up readers and books", "mine.csv")))
end)

scripts.it("run_files.lua compares two runs in files, and prints a table for LaTeX", {}, function(folder)
  local out = run(folder, "run_files.lua", "--epochs 2")
  says(out, "made-up", "mf", "other", "\\toprule")
  for _, name in ipairs{ "mf.run", "popularity.run" } do
    check(mr.data.trec_run(folder .. "/results/tour/" .. name).count > 50, name)
  end
  local again = run(folder, "run_files.lua", "--epochs 2 --other results/tour/popularity.run")
  equal(again, out)
end)

scripts.it("sweep.lua resumes an interrupted sweep with pruning, and draws learning curves", {}, function(folder)
  local whole = run(folder, "sweep.lua", "--epochs 6 --trials 8 --workers 2 --store whole.db")
  run(folder, "sweep.lua", "--epochs 6 --trials 3 --workers 0")
  equal(mr.results(folder .. "/results/tour/sweep.db"):counts().done, 3)
  local resumed = run(folder, "sweep.lua", "--epochs 6 --trials 8 --workers 2")
  -- the number of pruned trials depends on which trials run at the same time
  local function shown(out)
    return (out:match "loss.*":gsub("[^\n]*left out:[^\n]*\n", ""):gsub("groups have[^\n]*\n", ""))
  end
  equal(shown(resumed), shown(whole))
  check(core.is_file(folder .. "/results/tour/curves.svg") or not whole:find "plot", "learning curves")
end)

it("every script of the tour fits on a screen of 40 lines", function()
  for _, name in ipairs{ "models.lua", "run_files.lua", "sweep.lua", "two_tower.lua", "data.lua" } do
    local lines = 0
    for _ in io.lines("scripts/tour/" .. name) do lines = lines + 1 end
    check(lines <= 40, name .. " has " .. lines)
  end
end)
