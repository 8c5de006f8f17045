-- Every script runs with --smoke in seconds, from any folder.
local test = require "moonrank.test"
local it, check, skip = test.it, test.check, test.skip

local program = dofile "tests/support/program.lua"
local moonrank, run, has_gnuplot = program.moonrank, program.run, program.has_gnuplot
local function has_movielens() return program.has_data "ml-latest-small" end

it("quickstart.lua --smoke", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  local ok, text = run(moonrank .. " scripts/quickstart.lua --smoke")
  check(ok, text)
  check(text:find("made%-up ratings"), "says which data: " .. text)
  check(text:find("distribution bound draws %d+ random orders"), "says how many orders")
  for _, word in ipairs{ "ndcg", "ap", "nrbp", "minmax", "expectation_max", "distribution" } do check(text:find(word, 1, true), word) end
end)

it("table_5_1.lua --smoke, twice: the second time from what the first kept", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  if not has_movielens() then return skip("no MovieLens in MOONRANK_DATA or ../shared/data") end
  local folder = os.tmpname() .. "_results"
  local command = ("%s scripts/thesis/table_5_1.lua --smoke --results %s"):format(moonrank, folder)
  local ok, first = run(command)
  check(ok, first)
  check(first:find("0.9659", 1, true), "the published number stands beside ours: " .. first)
  local again, second = run(command)
  check(again and not second:find("batch", 1, true), "nothing is trained again: " .. second)
  os.remove(folder .. "/nsr1_fold1.safetensors")
  os.remove(folder)
end)

it("table_5_1_mq2008.lua --smoke", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  if not program.has_data "mq2008" then return skip("no MQ2008 in MOONRANK_DATA or ../shared/data") end
  local folder = os.tmpname() .. "_results"
  local ok, text = run(("%s scripts/thesis/table_5_1_mq2008.lua --smoke --results %s"):format(moonrank, folder))
  check(ok and text:find("0.7940", 1, true) and text:find("distribution_logit", 1, true), text)
  check(os.remove(folder .. "/mq2008_fold1.safetensors"), "the fold is kept")
  os.remove(folder)
end)

it("why_distribution_fails.lua --smoke: the thesis' bound silences lists, log and logit none", function()
  if not moonrank then return skip("MOONRANK does not name the program") end
  if not has_movielens() or not has_gnuplot() then return skip("no MovieLens in MOONRANK_DATA or ../shared/data, or no gnuplot") end
  local folder = os.tmpname() .. "_results"
  local ok, text = run(("%s scripts/thesis/why_distribution_fails.lua --smoke --results %s"):format(moonrank, folder))
  check(ok, text)
  local function silent_at_start(bound) return tonumber(text:match("1  " .. bound .. "[^\n]- ([%d.]+) +[%d.]+ +[%d.]+ +412\n")) end
  check(silent_at_start("distribution %(thesis%)") > 0.3, text)
  check(silent_at_start("distribution_log ") == 0 and silent_at_start("distribution_logit ") == 0, text)
  for _, name in ipairs{ "starts.svg", "silent.svg", "ndcg.svg", "nsr1_fold1.safetensors" } do
    check(os.remove(folder .. "/" .. name), name)
  end
  os.remove(folder)
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
