-- Scripts of studies: they run in seconds with --smoke, and continue where they stopped.
local mr = require "moonrank"
local core = require "moonrank.core"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, equal, check = test.it, test.equal, test.check

it("sweep_template.lua --smoke: the same tables from two workers, from this process, and from the store", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    local script = sweeps.capture("pwd"):match "[^\n]+" .. "/scripts/study/sweep_template.lua"
    local status, first, err = sweeps.run(folder, script, "--smoke --workers 2")
    equal(status, 0, err)
    for _, word in ipairs{ "ndcg", "ap", "rr", "0.001", "0.1", "valid_ndcg", "p corrected" } do
      check(first:find(word, 1, true), word .. ": " .. first)
    end
    local _, again = sweeps.run(folder, script, "--smoke --workers 2")
    equal(again, first)
    local _, here = sweeps.run(folder, script, "--smoke --workers 0 --store other.db")
    equal(here, first)
    local results = mr.results(folder .. "/results/sweep_template.db")
    equal(results:counts(), { done = 18 })
    equal(results:reports(1).loss.steps, { 1, 2 })
    equal(results:per_list(1, "ap"):size(1), results:per_list(1, "ndcg"):size(1))
    check(first:find("^Made%-up ratings"), first)
    status, first, err = sweeps.run(folder, script, "--smoke --users 90")
    equal(status, 1, first)
    check(err:find("the settings changed:\n  then: users = 80\n  now:  users = 90", 1, true), err)
  end)
end)

it("learning_rates.lua --smoke: every bound of two losses, and a figure", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  if not core.file_exists((os.getenv "MOONRANK_DATA" or "../shared/data") .. "/ml-latest-small") then
    return test.skip "no MovieLens in MOONRANK_DATA or ../shared/data"
  end
  sweeps.in_folder(function(folder)
    local here = sweeps.capture("pwd"):match "[^\n]+"
    local data = ("MOONRANK_DATA=%s"):format(os.getenv "MOONRANK_DATA" or here .. "/../shared/data")
    local status, out, err = sweeps.run(folder, here .. "/scripts/study/learning_rates.lua", "--smoke --workers 2", data)
    equal(status, 0, err)
    local results = mr.results(folder .. "/results/learning_rates.db", "smoke")
    equal(results:counts(), { done = 22 })
    for _, row in ipairs(results:best({ "loss", "bound" }, { over = "fold" }).rows) do
      local shown = ("\n%s +%s +%g +1 +2 "):format(row[1], row[2], row[3])
      check(out:find(shown), shown .. ": " .. out)
    end
    equal(results:per_list(1, "ndcg"):size(1), 412)
  end)
end)
