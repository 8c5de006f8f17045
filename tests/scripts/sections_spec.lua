-- Tests that scripts which a report runs one after another (docs/report/sections.lua) train in worker processes, as
-- each script does alone.
local mr = require "moonrank"
local test = require "moonrank.test"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local it, check, equal = test.it, test.check, test.equal

local here = scripts.root

local part = [[
local mr = require "moonrank"
local args = mr.args{ name = "a" }
local function study(which)
  return mr.sweep{ name = args.name .. which, store = "runs.db", workers = 1, space = { x = mr.range(1, 3) },
    run = function(trial) return trial.x + (args.name == "a" and 10 or 20) end }
end
study "first"
return { text = ("%g"):format(study("second"):best().value), tables = {} }
]]

local whole = [[
local mr = require "moonrank"
local sections = dofile(mr.args{ sections = "" }.sections)
local function own(name)
  return mr.sweep{ name = name, store = "runs.db", workers = 1, space = { x = mr.range(1, 2) },
    run = function(trial) return trial.x end }:best().value
end
local found = { own "before" }
for _, name in ipairs{ "a", "b" } do
  found[#found + 1] = sections.run{ path = "part.lua", title = name, words = { "--name", name } }.text
end
found[#found + 1] = own "after"
print("found " .. table.concat(found, " "))
]]

scripts.it("sections.run trains the studies of a section in workers, between those of the script that runs it",
  {}, function(folder)
  sweeps.write(folder .. "/part.lua", part)
  local status, out, err = sweeps.run(folder, "sweep.lua", ("--sections %s/docs/report/sections.lua"):format(here))
  equal(status, 0, err)
  check(out:find("\nfound 1%.?0? 11 21 1") or out:find("\nfound 2%.?0? 13 23 2"), out)
end, whole)

local defining = [[
local mr = require "moonrank"
mr.models.define("section_model", { parameters = function() return { w = mr.zeros{ 1 } } end,
  forward = function(self, batch) return self.w * batch.lists.relevance end })
if arg[1] == "--fail" then error "later" end
return mr.models.section_model().kind
]]

it("several sections may define one model; the name is free afterwards", function()
  local sections = dofile "docs/report/sections.lua"
  local path = sweeps.new_folder() .. "/defining.lua"
  sweeps.write(path, defining)
  equal(sections.call(path, {}), "section_model")
  test.raises(function() sections.call(path, { "--fail" }) end, "later")
  equal(sections.call(path, {}), "section_model")
  equal(rawget(mr.models, "section_model"), nil)
end)

it("mr.experiment.words passes options on to another script", function()
  local words = mr.experiment.words({ store = "s.db", workers = 2, retry = 1, force = true, data = "" })
  equal(table.concat(words, " "), "--store s.db --retry 1 --workers 2 --force")
  words = mr.experiment.words({ kept = true, smoke = true, data = "" })
  equal(table.concat(words, " "), "--kept --smoke")
end)

scripts.it("one_file.lua writes the file of one script with the numbers of the committed one, and none without runs",
  {}, function(folder)
  local tool = here .. "/docs/report/one_file.lua"
  local function made(words) return sweeps.run(folder, tool, words) end
  local status, _, err = made(("results %s/scripts/thesis/tables_2.lua"):format(here))
  equal(status, 0, err)
  local read = dofile("docs/report/results_file.lua").read
  local now, committed = read(folder .. "/results/thesis/tables_2.csv"), read "docs/results/thesis/tables_2.csv"
  equal(#now, #committed)
  for i, cell in ipairs(now) do
    equal({ cell.row, cell.column, cell.value, cell.command },
      { committed[i].row, committed[i].column, committed[i].value, committed[i].command })
  end
  check(sweeps.read(folder .. "/results/thesis.md"):find("tables_2.csv", 1, true))
  status, _, err = made(("results %s/scripts/sigir21/citeulike.lua --kept --smoke"):format(here))
  check(status ~= 0 and err:find("citeulike", 1, true) and err:find("runs", 1, true), err)
  equal(io.open(folder .. "/results/sigir21"), nil)
  status, _, err = made(("results %s/scripts/quickstart.lua"):format(here))
  check(status ~= 0 and err:find("SCRIPT", 1, true) and err:find("quickstart.lua", 1, true), err)
end)
