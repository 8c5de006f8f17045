-- Tests scripts that run studies: they run in seconds with --smoke, and continue where they stopped.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local program = dofile "tests/support/program.lua"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

scripts.it("sweep_template.lua --smoke shows the same tables with workers, without workers and from the store",
  {}, function(folder)
  local script = scripts.root .. "/scripts/study/sweep_template.lua"
  local status, first, err = sweeps.run(folder, script, "--smoke --workers 2")
  equal(status, 0, err)
  says(first, "ndcg", "ap", "rr", "0.001", "0.1", "valid_ndcg", "p corrected")
  local _, again = sweeps.run(folder, script, "--smoke --workers 2")
  equal(again, first)
  local _, here = sweeps.run(folder, script, "--smoke --workers 0 --store other.db")
  equal(here, first)
  local results = mr.results(folder .. "/results/sweep_template.db")
  equal(results:counts(), { done = 18 })
  equal(results:reports(1).loss.steps, { 1, 2 })
  equal(results:per_list(1, "ap"):size(1), results:per_list(1, "ndcg"):size(1))
  check(first:find("^Made%-up ratings"), first)
end)

scripts.it("with other options the scripts of studies begin another study, also with --force", { "gnuplot" },
  function(folder)
  local store = folder .. "/s.db"
  for script, other in pairs{ sweep_template = "--users 90", which_parameters = "--seed 2",
    learning_rates = "--seed 2" } do
    local path = ("%s/scripts/study/%s.lua"):format(scripts.root, script)
    local words = "--smoke --workers 0 --store s.db"
    os.remove(store)
    equal((sweeps.run(folder, path, words, "MOONRANK_DATA=.")), 0, script)
    local first = mr.results(store)
    local before = tostring(first:table())
    local status, out, err = sweeps.run(folder, path, ("%s --force %s"):format(words, other), "MOONRANK_DATA=.")
    check(status == 0 and not out:find("mixed", 1, true), script .. err .. out)
    equal(tostring(mr.results(store, first.name):table()), before, script)
    check(not pcall(mr.results, store), script .. ": there are two studies")
  end
end)

scripts.it("sweep_template.lua: after a change of the script --force goes on, and tables say so", {}, function(folder)
  local text = sweeps.read "scripts/study/sweep_template.lua"
  sweeps.write(folder .. "/copy.lua", text)
  local words = "--smoke --workers 0 --store s.db"
  equal((sweeps.run(folder, "copy.lua", words)), 0)
  local changed, times = text:gsub("factors = 8", "factors = 4")
  equal(times, 1)
  sweeps.write(folder .. "/copy.lua", changed)
  local status, _, err = sweeps.run(folder, "copy.lua", words)
  check(status == 1 and err:find("has changed", 1, true), err)
  -- deletes a trial, so that the script has a trial to run
  sweeps.change(folder .. "/s.db", "DELETE FROM trials WHERE study = ?1 AND number = 1")
  local out
  status, out, err = sweeps.run(folder, "copy.lua", words .. " --force")
  check(status == 0 and out:find("mixed", 1, true), err .. out)
end)

scripts.it("learning_rates.lua --smoke shows every bound of two losses, and a figure", {}, function(folder)
  local out = scripts.run(folder, "study/learning_rates.lua", "--smoke --workers 2", "MOONRANK_DATA=.")
  local results = mr.results(folder .. "/results/learning_rates.db",
    "learning_rates, made-up ratings, 2 epochs, seed 1")
  equal(results:counts(), { done = 22 })
  for _, row in ipairs(results:best({ "loss", "bound" }, { over = "fold" }).rows) do
    local shown = ("\n%s +%s +%g +1 "):format(row[1], row[2], row[3])
    check(out:find(shown), shown .. ": " .. out)
  end
  equal(results:per_list(1, "ndcg"):size(1), 37)
  local _, said = (out .. sweeps.read(folder .. "/results/learning_rates.svg")):gsub("made%-up ratings", "")
  equal(said, program.has_gnuplot() and 5 or 4, "four tables and the figure say so")
end)

scripts.it("which_parameters.lua --smoke shows brackets, shares and pictures, and the same from the store",
  { "gnuplot" }, function(folder)
  local script = scripts.root .. "/scripts/study/which_parameters.lua"
  local status, first, err = sweeps.run(folder, script, "--smoke --workers 2")
  equal(status, 0, err)
  -- Hyperband's brackets have 9, 5 and 3 settings, of which 1, 1 and 3 are trained for all nine epochs
  equal(mr.results(folder .. "/results/which_parameters.db"):counts(), { done = 5, pruned = 12 })
  for _, word in ipairs{ "Made%-up ratings, mr.Importance of valid_ndcg at step 1", "17 trials", "\nlr ",
    "three and more" } do
    check(first:find(word), word .. ": " .. first)
  end
  local picture = sweeps.read(folder .. "/results/which_parameters.svg")
  for _, word in ipairs{ "made%-up ratings", "pruned", ">ndcg<", ">0.001<", ">64<", "valid_ndcg" } do
    check(picture:find(word), word)
  end
  check(#sweeps.read(folder .. "/results/importance.svg") > 2000, "bars")
  local _, again = sweeps.run(folder, script, "--smoke --workers 0")
  equal(again, first)
end)

it("every script with a store has --force and --retry", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  local found = 0
  for path in sweeps.capture "ls scripts/*.lua scripts/*/*.lua":gmatch "%S+" do
    local help = sweeps.capture(("%s %s --help 2>&1"):format(sweeps.moonrank, path))
    if help:find("--store", 1, true) then
      found = found + 1
      says(help, "--force", "--retry")
    else
      check(not sweeps.read(path):find("mr.sweep{", 1, true), path .. " has no --store")
    end
  end
  check(found > 15, found .. " scripts with a store")
end)
