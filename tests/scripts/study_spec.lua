-- Scripts of studies: they run in seconds with --smoke, and go on where they stopped.
local mr = require "moonrank"
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
    status, first, err = sweeps.run(folder, script, "--smoke --epochs 3 --users 90")
    equal(status, 1, first)
    check(err:find("the settings changed:\n  then: users = 80\n  now:  users = 90", 1, true), err)
  end)
end)
