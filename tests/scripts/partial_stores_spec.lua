-- Tests that results files are written only from complete studies (stored runs), for the scripts of every document.
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local check, equal = test.check, test.equal

-- For each document, a script that stores its runs, with options for a short run.
local one_of = {
  thesis = { "table_5_1", "" },
  sigir21 = { "figure_1", "--losses ap,nrbp --kinds listwise --sets movielens" },
  objectives = { "table_1", "" },
  lecture = { "cremonesi", "" },
  cmu = { "table_1", "" },
  ir_benchmark = { "table_2", "--sets health --losses BPR,SL" },
  grid = { "grid", "--sets mq2008" },
}

-- Runs a script as a section of a report from its stored runs, and writes its results file, which contains "old"
-- before. Prints what the script prints.
local report = [[
local sections, results_file = dofile "%s/docs/report/sections.lua", dofile "%s/docs/report/results_file.lua"
local words = {}
for word in ("%s"):gmatch "%%S+" do words[#words + 1] = word end
local section = sections.attempt({ path = "%s", title = "title", words = words }, function()
  return sections.run{ path = "%s", title = "title", words = words }
end)
section.file = "file"
require("moonrank.core").make_folder "files/document/file.csv"
require("moonrank.core").write_file("files/document/file.csv", "old")
print("written", results_file.write_all("files", { { name = "document", sections = { section } } }))
]]

-- Returns true if a script's results file is written from this store.
local function writes(folder, path, words)
  local root = scripts.root
  sweeps.write(folder .. "/report.lua", report:format(root, root, words, path, path))
  local status, out, err = sweeps.run(folder, "report.lua", "", "MOONRANK_DATA=.")
  equal(status, 0, err .. out)
  local is_new = sweeps.read(folder .. "/files/document/file.csv") ~= "old"
  equal(out:match "written\t(%d)", is_new and "1" or "0")
  return is_new
end

-- SQL condition that selects one run of every study, to delete it.
local last = "WHERE study = ?1 AND number = (SELECT max(number) FROM trials WHERE study = ?1)"

local documents = dofile "docs/report/documents.lua".names

for _, document in ipairs(documents) do
  local script, words = table.unpack(one_of[document])
  scripts.it(document .. ": a store with one run removed or killed never writes a results file",
    { "gnuplot", "xgboost" }, function(folder)
      local path = ("%s/scripts/%s/%s.lua"):format(scripts.root, document, script)
      scripts.run(folder, ("%s/%s.lua"):format(document, script), "--smoke --workers 0 " .. words, "MOONRANK_DATA=.")
      local store, kept = ("%s/results/%s/smoke.db"):format(folder, document), "--smoke --kept " .. words
      check(writes(folder, path, kept), "all runs are there")
      sweeps.change(store, "UPDATE trials SET state = 'killed' " .. last)
      check(not writes(folder, path, kept), "one run was killed")
      sweeps.change(store, "DELETE FROM trials " .. last)
      check(not writes(folder, path, kept), "one run is missing")
    end)
end

scripts.it("a script says below its tables that runs were continued with --force, and no results file is written",
  {}, function(folder)
    local words = "--smoke --workers 0"
    scripts.run(folder, "thesis/sizes.lua", words, "MOONRANK_DATA=.")
    local store = folder .. "/results/thesis/smoke.db"
    local path = scripts.root .. "/scripts/thesis/sizes.lua"
    check(writes(folder, path, "--smoke --kept"))
    sweeps.change(store, "UPDATE studies SET forced = 2 WHERE id = ?1")
    local out = scripts.run(folder, "thesis/sizes.lua", "--smoke --kept", "MOONRANK_DATA=.")
    check(out:find("forced (--force)", 1, true) and out:find("script", 1, true), out)
    check(not writes(folder, path, "--smoke --kept"))
  end)
