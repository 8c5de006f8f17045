-- The grid in one command, on made-up data: every cell is there, says what the store holds, and is the same when it runs again.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local program = dofile "tests/support/program.lua"
local test = require "moonrank.test"
local it, equal, check, near = test.it, test.equal, test.check, test.near

local here = sweeps.capture("pwd"):match "[^\n]+"

-- A cell of the table of all cells, by loss, bound and number of the setting.
local function cell_in(text, loss, bound, setting)
  local line = text:match("\n(" .. loss .. " +" .. bound .. " +%d%.%d%d%d%d [^\n]+)")
  local cells = {}
  for each in line:gsub("^%S+ +%S+ +", ""):gmatch "%d%.%d+[^%d]*%S*" do cells[#cells + 1] = each end
  return line, cells[setting]
end

-- Test scores of a trial.
local function scores(results, loss, bound)
  local columns = results:columns()
  local row = columns:rows("spec", { loss = loss, bound = bound })[1]
  local number = columns:column("spec", "number")[row]
  return results:per_list(number, "own"):totable(), results:per_list(number, "chance"):totable()
end

local function mean(values)
  local sum, count = 0, 0
  for _, x in ipairs(values) do
    if x == x then sum, count = sum + x, count + 1 end
  end
  return sum / count
end

it("grid.lua --smoke: all cells, the same when it runs again, with the numbers of the store", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  if not program.has_gnuplot() then return test.skip "no gnuplot" end
  if not pcall(require("moonrank.core").xgboost_version) then return test.skip "no XGBoost" end
  sweeps.in_folder(function(folder)
    local status, out, err = sweeps.run(folder, here .. "/scripts/grid/grid.lua", "--smoke --workers 1", "MOONRANK_DATA=.")
    equal(status, 0, err)
    local cells = 0
    for _, loss in ipairs{ "ap", "mse", "neural_ndcg", "ranknet" } do
      for _, bound in ipairs((mr.losses.bounds(loss))) do
        check(cell_in(out, loss, bound, 1), loss .. " under " .. bound)
        cells = cells + 5
      end
    end
    check(out:find(("Of %d changes "):format(cells - 20), 1, true) and out:find(("Of %d cells "):format(cells), 1, true), out)
    for _, name in ipairs{ "MovieLens", "MQ2008", "CiteULike", "MSLR" } do check(not out:find(name, 1, true), name) end

    local results = mr.results(folder .. "/results/grid/smoke.db", "mq2008, made-up data")
    equal(results:counts(), { done = cells // 5 })
    local free, bounded = scores(results, "ranknet", "none"), scores(results, "ranknet", "zscore")
    local line = cell_in(out, "ranknet", "zscore", 1)
    local shown, change = line:match "(%d%.%d+) ([+-]%d%.%d+)"
    for value, difference in line:gmatch "(%d%.%d+) ([+-]%d%.%d+)" do
      if math.abs(tonumber(value) - mean(bounded)) < 5e-5 then shown, change = value, difference end
    end
    near(tonumber(shown), mean(bounded), 5e-5)
    near(tonumber(change), mean(bounded) - mean(free), 1e-4)

    local picture = sweeps.read(folder .. "/results/grid/grid.svg")
    check(picture:find "made%-up data" and picture:find ">distribution_logit<", "the figure says so")
    local _, again = sweeps.run(folder, here .. "/scripts/grid/grid.lua", "--smoke --workers 0", "MOONRANK_DATA=.")
    equal(again, out)
  end)
end)

it("learning_rates.lua --smoke: a rate for each loss, none for rates.lua", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  sweeps.in_folder(function(folder)
    local status, out, err = sweeps.run(folder, here .. "/scripts/grid/learning_rates.lua", "--smoke --workers 1 --sets mslr",
      "MOONRANK_DATA=.")
    equal(status, 0, err)
    check(out:find("Made-up data, not for rates.lua", 1, true), out)
    local rates = load("local M = {} " .. out:match "(M.mslr = %b{})" .. " return M.mslr")()
    for _, loss in ipairs{ "ap", "mse", "neural_ndcg", "ranknet" } do
      local line = out:match("\n[^\n]*mslr%) +" .. loss .. " +%S+ +([^\n]+)")
      local best, rate = -1, nil
      for at, value in line:gmatch "([%d.e-]+): (%d%.%d+)" do
        if tonumber(value) > best then best, rate = tonumber(value), tonumber(at) end
      end
      equal({ loss, rates[loss] }, { loss, rate })
    end
  end)
end)

it("the chance of a cell is what random rankings are worth", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  local data = dofile "scripts/grid/data.lua"
  local set = data.open("mq2008", "", true)
  local lists = set.fold(1).test.lists
  local expected = mr.bounds.stats("ap", lists).expectation:totable()
  local sums, rounds = {}, 400
  for round = 1, rounds do
    local random = mr.normal({ lists.rows }, { seed = round })
    for i, value in ipairs(mr.metrics.parse "ap"(random, lists):totable()) do sums[i] = (sums[i] or 0) + value end
  end
  local total, known = 0, 0
  for i, value in ipairs(expected) do
    if value == value then total, known = total + sums[i] / rounds, known + value end
  end
  check(known > 0)
  near(total / known, 1, 0.02)
end)
