-- Tests the grid of losses and bounds as one command on made-up data: it must show every cell with the numbers of the
-- store, and show the same when it runs again.
local mr = require "moonrank"
local scripts = dofile "tests/support/scripts.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local mean = dofile("tests/support/numbers.lua").mean
local test = require "moonrank.test"
local it, equal, check, near = test.it, test.equal, test.check, test.near

local here = scripts.root

-- Returns a cell of the table of all cells, by loss, bound and number of the data set.
local function cell_in(text, loss, bound, setting)
  local line = text:match("\n(" .. loss .. " +" .. bound .. " +%d%.%d%d%d%d [^\n]+)")
  local cells = {}
  for each in line:gsub("^%S+ +%S+ +", ""):gmatch "%d%.%d+[^%d]*%S*" do cells[#cells + 1] = each end
  return line, cells[setting]
end

-- Returns the values per list of a trial's test part.
local function scores(results, loss, bound)
  local columns = results:columns()
  local row = columns:rows("spec", { loss = loss, bound = bound })[1]
  local number = columns:column("number")[row]
  return results:per_list(number, "own"):totable(), results:per_list(number, "chance"):totable()
end

scripts.it("grid.lua --smoke shows all cells with the numbers of the store, and the same when it runs again",
  { "gnuplot", "xgboost" }, function(folder)
  local out = scripts.run(folder, "grid/grid.lua", "--smoke --workers 1", "MOONRANK_DATA=.")
  local cells = 0
  for _, loss in ipairs{ "ap", "mse", "neural_ndcg", "ranknet" } do
    for _, bound in ipairs((mr.losses.bounds(loss))) do
      check(cell_in(out, loss, bound, 1), loss .. " under " .. bound)
      cells = cells + 5
    end
  end
  check(out:find(("Of %d changes "):format(cells - 20), 1, true) and out:find(("Of %d cells "):format(cells), 1, true),
    out)
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

scripts.it("learning_rates.lua --smoke prints the best rate of each loss", {}, function(folder)
  local out = scripts.run(folder, "grid/learning_rates.lua", "--smoke --workers 1 --sets mslr", "MOONRANK_DATA=.")
  check(out:find("rates.lua", 1, true), out)
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

it("search.run goes on until no rate is at the edge, or to the end of the rates that are allowed", function()
  local search = dofile "scripts/grid/search.lua"
  local set, calls = { rates = { 0.003, 0.01, 0.03 }, least = 1e-4, most = 1 }, {}
  local peaks = { low = 0.0003, inner = 0.01, high = 0.3, lowest = 1e-7, highest = 50 }
  local means = search.run(set, { "failing", "flat", "high", "highest", "inner", "low", "lowest" },
    function(rate, losses, round)
      local found = {}
      for _, loss in ipairs(losses) do
        calls[#calls + 1] = ("%s %g %d"):format(loss, rate, round)
        if loss == "flat" then
          found[loss] = 1
        elseif peaks[loss] then
          found[loss] = -math.abs(math.log(rate / peaks[loss]))
        end
      end
      return found
    end)
  local best, ends, count = {}, {}, {}
  for loss, found in pairs(means) do
    best[loss], ends[loss], count[loss] = search.best(found), select(2, search.beyond(set, found)),
      #search.rising(found)
  end
  equal(best, { low = 0.0003, inner = 0.01, high = 0.3, lowest = 1e-4, highest = 1, flat = 0.01 })
  equal(ends, { low = false, inner = false, high = false, lowest = true, highest = true, flat = false })
  equal(count, { low = 6, inner = 3, high = 6, lowest = 6, highest = 6, flat = 3 })
  equal(means.failing, nil)
  local seen = {}
  for _, call in ipairs(calls) do
    check(not seen[call:match "^%S+ %S+"], call .. " twice")
    seen[call:match "^%S+ %S+"] = true
  end
end)

-- Returns made-up values of three users in two folds, and of a fourth in the second fold. Under "none" they are 0.1
-- lower. User 3 has no value (NaN).
local function made(bound, split)
  local own = split == 1 and { 0.5, 0.7, 0 / 0 } or { 0.6, 0.9, 0 / 0, 0.4 }
  for i, value in ipairs(own) do own[i] = bound == "none" and value - 0.1 or value end
  local list = split == 1 and { 11, 12, 13 } or { 12, 11, 13, 14 }
  return { own = own, list = list, chance = { 0.3, 0.3, 0.3, split == 2 and 0.3 or nil } }
end

it("cells.of averages users over folds, and says why a cell lacks runs", function()
  local cells_of, protocol = dofile "scripts/grid/cells.lua", dofile "scripts/grid/protocol.lua"
  local folder = sweeps.new_folder()
  local results = mr.sweep{ name = "made", store = folder .. "/r.db", workers = 0, metric = "own", progress = false,
    direction = "maximize",
    space = { loss = mr.choice{ "ap", "rr" }, bound = mr.choice{ "none", "minmax" }, split = mr.range(1, 2) },
    run = function(trial)
      if trial.loss == "rr" and trial.bound == "minmax" and trial.split == 2 then
        error("an epoch takes about 99 s", 0)
      end
      return { own = 0.5, capped = trial.loss == "ap" and trial.split == 2 and 1 or 0,
        converged = trial.split == 1 and 1 or 0, per_list = made(trial.bound, trial.split) }
    end }
  local set = { folds = 2, title = "made" }
  local cells, missing = cells_of.of(results, set, function() return "ap" end)
  equal(missing, { ["rr minmax"] = "an epoch takes about 99 s" })
  check(not cells["rr minmax"] and cells["rr none"])
  local cell = cells["ap minmax"]
  near(cell.values[1], (0.5 + 0.9) / 2, 1e-12)
  near(cell.values[2], (0.7 + 0.6) / 2, 1e-12)
  check(cell.values[3] ~= cell.values[3])
  near(cell.mean, (0.7 + 0.65 + 0.4) / 3, 1e-12)
  near(cell.above, cell.mean - 0.3, 1e-12)
  check(cell.low <= cell.above and cell.above <= cell.high and protocol.above_chance(cell))
  equal({ cell.capped, cell.converged, cells["rr none"].capped }, { 1, false, 0 })
  local compared = protocol.compare({ cells }, 1000)
  equal({ #compared, compared[1] == cell }, { 1, true })
  near(cell.change, 0.1, 1e-12)
  near(cell.p, 2 / 2 ^ 3, 1e-12)  -- p-value of three equal changes by enumerating their signs
  equal(protocol.side(cell), 0)
end)

-- Two losses under one bound with changes 0.5 and -0.25. The second loss has not converged without a bound, so its
-- change is left out.
it("findings.lua leaves changes of unsound cells out of summaries, and says how many", function()
  local findings, protocol = dofile "scripts/grid/findings.lua", dofile "scripts/grid/protocol.lua"
  local function cell(loss, bound, value, converged)
    return { loss = loss, bound = bound, values = { value, value }, mean = value, low = 0.1, above = 0.2, high = 0.3,
      capped = 0, converged = converged, metric = "ap" }
  end
  local cells = { ["ap none"] = cell("ap", "none", 0.25, true), ["ap minmax"] = cell("ap", "minmax", 0.75, true),
    ["rr none"] = cell("rr", "none", 0.5, false), ["rr minmax"] = cell("rr", "minmax", 0.25, true) }
  local compared = protocol.compare({ cells }, 10)
  local grids = { { cells = cells, missing = {}, set = { title = "made", patience = 1, epochs = 2, folds = 1 } } }
  equal(findings.by_bound(grids, { "ap", "rr" }, { "minmax" }).rows, { { "minmax", "+0.5000", "+0 -0 of 1" } })
  local rows = findings.by_loss(grids, { { "smooth", "ap", "rr" } }, { "minmax" }).rows
  equal({ rows[1][4], rows[1][5], rows[2][4], rows[2][5] }, { "+0 -0 of 1", "+0.5000 minmax", "", "" })
  local text = findings.text({ full = true }, grids, compared, { "ap", "rr" }, { "minmax" }, {})
  check(text:find "Of 2 changes 1 " and text:find "other 1 ", text)
  check(text:find("no significant change: ap", 1, true), "rr has none that is summarised: " .. text)
  cells["ap none"].low = -0.1
  compared = protocol.compare({ cells }, 10)
  text = findings.text({ full = true }, grids, compared, { "ap", "rr" }, { "minmax" }, {})
  check(text:find "Of 2 changes 2 " and not text:find "other 1 ", text)
end)

it("mr.bounds.stats gives the chance of a cell as the mean score of random rankings", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  local set = dofile("scripts/grid/training.lua").set({ data = "", smoke = true }, "mq2008")
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
