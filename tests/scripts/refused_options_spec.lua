-- Tests option values that no run can use: the script must end with exit status 2 and one line, before it makes any
-- run.
local core = require "moonrank.core"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local check, equal = test.check, test.equal

-- Raises an error unless a script refuses its options with one line that has `word`, and makes no store.
local function refused(folder, path, words, word)
  local script = ("%s/scripts/%s"):format(scripts.root, path)
  local status, _, err = sweeps.run(folder, script, words .. " --store r.db", "MOONRANK_DATA=.")
  equal({ status, select(2, err:gsub("\n", "")) }, { 2, 1 }, err)
  check(err:find(word, 1, true) and not err:find("--kept", 1, true), err)
  check(not core.file_exists(folder .. "/r.db"), "no run is made")
end

scripts.it("table_3.lua refuses features that are not a table, are empty, not finite, or of other images", {},
  function(folder)
    for _, text in ipairs{ "", "root:x:0:0\n", "00001.png,nan\n", "another.png,1\n" } do
      sweeps.write(folder .. "/features.csv", text)
      refused(folder, "cmu/table_3.lua", "--count 20 --features features.csv", "--features")
    end
  end)

scripts.it("seeds.lua refuses versions that are not numerics versions or have no runs", {}, function(folder)
  for _, version in ipairs{ "nonsense", "@", "2026-11c,@c074a2c3", "2020-01a" } do
    refused(folder, "objectives/seeds.lua", "--smoke --versions " .. version, "--versions")
  end
end)

scripts.it("learning rates and negatives that no data set allows are refused", {}, function(folder)
  refused(folder, "cmu/table_2.lua", "--rate 1e308", "--rate")
  sweeps.write(folder .. "/negatives.lua", ([[
    local models = dofile "%s/scripts/sigir21/models.lua"
    models.rows(models.args({}, { smoke = { nsr = { 400 } } }))]]):format(scripts.root))
  local status, _, err = sweeps.run(folder, "negatives.lua", "--smoke", "MOONRANK_DATA=.")
  equal({ status, select(2, err:gsub("\n", "")) }, { 2, 1 }, err)
  check(err:find("--nsr", 1, true) and err:find("400", 1, true), err)
end)

scripts.it("worked examples and figures refuse numbers for which their metrics are undefined", {}, function(folder)
  for _, case in ipairs{ { "lecture/same_rmse.lua", "--ratings", "0,0" },
    { "lecture/same_rmse.lua", "--ratings", "3,3,3" },
    { "lecture/same_rmse.lua", "--ratings", "3" }, { "lecture/same_pairs.lua", "--ratings", "0,0" },
    { "lecture/same_pairs.lua", "--ratings", "1,2,3,4,5,6,7,8" }, { "thesis/figure_1_1.lua", "--sizes", "2" },
    { "thesis/figure_3_5.lua", "--steepness", "1000000000" }, { "thesis/figure_3_6.lua", "--samples", "1" },
    { "thesis/figure_3_7.lua", "--samples", "1" } } do
    local script, option, value = ("%s/scripts/%s"):format(scripts.root, case[1]), case[2], case[3]
    local status, out, err = sweeps.run(folder, script, option .. " " .. value, "MOONRANK_DATA=.")
    equal({ status, out, select(2, err:gsub("\n", "")) }, { 2, "", 1 }, err)
    check(err:find(option .. ": expected ", 1, true), err)
  end
end)

scripts.it("an option that does not fit another one is refused before images are made", {}, function(folder)
  refused(folder, "cmu/table_2.lua", "--kernel 99", "--kernel")
end)
