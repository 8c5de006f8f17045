-- Every script runs with --smoke in seconds, from any folder.
local test = require "moonrank.test"
local it, check, skip = test.it, test.check, test.skip

local program = dofile "tests/support/program.lua"
local moonrank, run, has_gnuplot = program.moonrank, program.run, program.has_gnuplot

it("quickstart.lua --smoke", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  local ok, text = run(moonrank .. " scripts/quickstart.lua --smoke")
  check(ok, text)
  check(text:find("made%-up ratings"), "says which data: " .. text)
  check(text:find("distribution bound draws %d+ random orders"), "says how many orders")
  for _, word in ipairs{ "ndcg", "ap", "nrbp", "minmax", "expectation_max", "distribution" } do check(text:find(word, 1, true), word) end
end)

it("the tutorial runs top to bottom", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  if not has_gnuplot() then return skip("no gnuplot") end
  local folder = os.tmpname() .. "_pictures"
  local ok, text = run(("%s scripts/tutorial/a_new_bound.lua --smoke --out %s"):format(moonrank, folder))
  check(ok, text)
  check(text:find("slope short : long, NSR 1 .- 25\n") and text:find("is a part detached?", 1, true), text)
  for _, name in ipairs{ "sqrt_range.svg", "comparison.svg" } do check(os.remove(folder .. "/" .. name), name) end
  os.remove(folder)
end)
