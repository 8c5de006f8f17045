-- Tests the grid of losses and bounds beside protocol.lua on small made-up data: the search for learning rates, the
-- options of training runs, the cap on their time, and what summaries count. Expected results are worked out beside
-- each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local protocols = dofile "tests/support/protocols.lua"
local program = dofile "tests/support/program.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local in_process = dofile "tests/support/in_process.lua"
local numbers = in_process.numbers
local search, findings = dofile "scripts/grid/search.lua", dofile "scripts/grid/findings.lua"
local picture, protocol = dofile "scripts/grid/picture.lua", dofile "scripts/grid/protocol.lua"
local it, check, equal, near = test.it, test.check, test.equal, test.near

it("search.best takes the middle one of equal rates, and the lower one of two in the middle", function()
  local function best(...)
    local found = { [0.5] = 0.25 }
    for _, rate in ipairs{ ... } do found[rate] = 0.75 end
    return search.best(found)
  end
  equal({ best(0.1), best(0.1, 0.3), best(0.01, 0.1, 0.3), best(0.003, 0.01, 0.1, 0.3), best(1, 3, 10, 30, 100) },
    { 0.1, 0.1, 0.1, 0.01, 10 })
  equal({ search.best{ [0.1] = 0.5, [0.3] = 0.5, [1] = 0.75 }, search.best{} }, { 1 })
end)

it("search.beyond goes by half decades, first upwards, and stays within the ends", function()
  local function beyond(least, most, ...)
    local found = { [0.01] = 2 }
    for _, rate in ipairs{ ... } do found[rate] = 1 end
    return { search.beyond({ least = least, most = most }, found) }
  end
  equal({ beyond(0.001, 1), beyond(0.001, 1, 0.03), beyond(0.003, 1, 0.03), beyond(0.001, 0.03, 0.003) },
    { { 0.03 }, { 0.003 }, { 0.003 }, { 0.03 } })
  equal({ beyond(0.001, 1, 0.003, 0.03), beyond(0.01, 0.01), beyond(0.01, 1, 0.03), beyond(0.001, 0.01, 0.003) },
    { { nil, false }, { nil, true }, { nil, true }, { nil, true } })
end)

it("search.run does not try a rate again if a loss has no result there", function()
  local calls = {}
  local means = search.run({ rates = { 0.01 }, least = 0.001, most = 1 }, { "ap" }, function(rate)
    calls[#calls + 1] = rate
    check(#calls < 5, "the search goes on for ever")
    return rate < 0.03 and { ap = 0.5 } or {}
  end)
  equal({ calls, means.ap }, { { 0.01, 0.03 }, { [0.01] = 0.5 } })
end)

it("learning_rates.lua chooses rates by the mean over bounds, and names those at the end of the search", function()
  local peaks = { ap = 0.003, mse = 0.1 }
  local set = { title = "made", rates = { 0.001, 0.003, 0.01 }, least = 0.001, most = 0.03 }
  -- under min-max bounding, ap is far better at the rate 0.001, but the mean over three bounds must still choose
  -- another rate
  local function trials_at(rate, names)
    local found = {}
    for _, name in ipairs(names) do
      local loss, bounds = protocol.tuned(name)
      for _, bound in ipairs(bounds) do
        local less =
          math.abs(math.log(rate / peaks[loss])) - (loss == "ap" and bound == "minmax" and rate == 0.001 and 2 or 0)
        found[#found + 1] = { loss = loss, bound = bound, valid = -less }
      end
    end
    return { count = #found, column = function(_, field)
      local values = {}
      for i, each in ipairs(found) do values[i] = each[field] end
      return values
    end }
  end
  local function patch(training)
    rawset(training, "set", function() return set end)
    rawset(training, "losses", function() return { "ap", "mse" } end)
    rawset(training, "at_rate", function(_, _, rate, names)
      return { columns = function() return trials_at(rate, names) end }
    end)
  end
  local section = in_process.section("scripts/grid/learning_rates.lua", { "--sets", "mslr" }, { training = patch })
  local chosen = {}
  for _, row in ipairs(in_process.records(section.tables[1])) do chosen[row.loss .. ": " .. row.bounds] = row.chosen end
  equal(chosen, { ["mse: minmax, none"] = 0.03, ["ap: distribution_logit, minmax, none"] = 0.003,
    ["ap: distribution"] = 0.003, ["ap: distribution_log"] = 0.003 })
  check(section.text:find("mse in made", 1, true) and not section.text:find("ap in made", 1, true), section.text)
end)

-- Calls `body` with runs on a made-up data set. `train(o)` replaces training. os.clock returns `clock`, which grows by
-- `step` with each call.
local function with_training(body)
  local folder = sweeps.new_folder()
  local training, time, clock = dofile "scripts/grid/training.lua", { clock = 0.0, step = 0.0 }, os.clock
  local set = { name = "made", title = "made", folds = 2, epochs = 200, patience = 10, batch = 4,
    rates = { 0.1, 0.2, 0.3 } }
  function set.fold(number)
    return { number = number, train = protocols.alike({ 1, 0 }, 8), test = "test " .. number }
  end
  function set.model(number, rate)
    local model = protocols.places{ 0, 0 }
    model.number, model.rate = number, rate
    return model
  end
  rawset(training, "set", function() return set end)
  rawset(training, "losses", function() return { "ap", "mse" } end)
  training.chosen.made = { ap = 0.003, ["ap distribution"] = 0.05 }
  rawset(training.protocol, "outcome", function(_, _, part, o)
    return { valid = 0.5, seed_of = o.number, part = tonumber(part:match "%d+"), metric = o.metric == "ap" and 1 or 0,
      capped = o.capped and 1 or 0 }
  end)
  rawset(os, "clock", function()
    time.clock = time.clock + time.step
    return time.clock
  end)
  local ok, problem = pcall(body, { training = training, set = set, time = time,
    args = { store = folder .. "/r.db", workers = 0, retry = 0, data = "", full = false, smoke = false,
      cap = in_process.with_words({}, function() return training.args({}, {}) end).cap } })
  rawset(os, "clock", clock)
  if not ok then error(problem, 0) end
end

it("training.of trains with the fold, loss, bound and rate of a trial, and judges by the loss's metric", function()
  with_training(function(o)
    local seen = {}
    rawset(o.training.protocol, "train", function(set, fold, own)
      check(set == o.set and own.model.rate == own.rate)
      seen[("%s %s %d"):format(own.loss.name, own.loss.bound_name, fold.number)] =
        { own.rate, own.number, own.model.number, own.metric }
      return {}
    end)
    local results = o.training.of(o.args, "made")
    local count = 0
    for _, loss in ipairs{ "ap", "mse" } do
      for _, bound in ipairs((mr.losses.bounds(loss))) do
        for number = 1, 2 do
          -- the chosen rates: ap has a separate one for the bound distribution, but not for distribution_log; mse has
          -- none, so the data set's middle rate is used
          local rate = loss == "mse" and 0.2 or bound == "distribution" and 0.05 or 0.003
          equal(seen[("%s %s %d"):format(loss, bound, number)],
            { rate, number, number, loss == "ap" and "ap" or "ndcg" }, loss .. " " .. bound)
          count = count + 1
        end
      end
    end
    equal(results:counts(), { done = count })
    local columns = results:columns()
    for row = 1, columns.count do
      local function of(name) return columns:column(name)[row] end
      local number, judged = of "split", of "loss" == "ap" and 1 or 0
      equal({ of "seed_of", of "part", of "metric", of "capped" }, { number, number, judged, 0 })
    end
  end)
end)

it("training.prepare prints losses without a chosen rate and the rate used, except for made-up data", function()
  with_training(function(o)
    local said, printed = print, {}
    local function lines()
      printed = {}
      rawset(_G, "print", function(text) printed[#printed + 1] = text end)
      local ok, problem = pcall(o.training.prepare, o.args)
      rawset(_G, "print", said)
      check(ok, problem)
      return #printed
    end
    o.args.sets = { "made" }
    equal(lines(), 1)
    -- ap has a chosen rate, and one for the bound distribution, but none for distribution_log. mse has none, so the
    -- data set's middle rate is used, and a warning is printed
    equal(numbers(printed[1]), { 1, 0.2, 1 })
    check(printed[1]:find "%(mse%).+%(ap distribution_log%)", printed[1])
    o.training.chosen.made["ap distribution_log"], o.training.chosen.made.mse = 0.01, 0.01
    equal(lines(), 0)
    o.training.chosen.made, o.args.smoke = nil, true
    equal(lines(), 0)
    o.args.smoke = false
    check(not pcall(o.training.prepare, o.args), "a setting without rates is an error")
  end)
end)

it("training.at_rate trains on the first fold, under the bounds of each name", function()
  with_training(function(o)
    local seen = {}
    rawset(o.training.protocol, "train", function(_, fold, own)
      equal({ fold.number, own.number, own.rate }, { 1, 1, 0.3 })
      seen[#seen + 1] = own.loss.name .. " " .. own.loss.bound_name
      return {}
    end)
    o.training.at_rate(o.args, o.set, 0.3, { "ap", "ap distribution", "mse" }, 3)
    table.sort(seen)
    equal(seen, { "ap distribution", "ap distribution_logit", "ap minmax", "ap none", "mse minmax", "mse none" })
  end)
end)

-- Returns true if the cap on time ended a run after epoch 2, when epoch 2 took this many seconds.
local function ended(o, seconds, study)
  local going
  rawset(o.training.protocol, "train", function(_, _, own)
    o.time.clock = 500.0
    check(own.each_epoch(0))
    o.time.clock = 1000.0
    check(own.each_epoch(1), "what is before the end of the first epoch does not count")
    o.time.clock = o.time.clock + seconds
    going = own.each_epoch(2)
    return {}
  end)
  os.remove(o.args.store)
  local columns = study():columns()
  equal(columns:column("capped")[1], going and 0 or 1)
  return not going
end

it("training.of ends runs after 30 s, training.at_rate after a sixth of it, and with --full neither does", function()
  with_training(function(o)
    rawset(o.training, "losses", function() return { "ap" } end)
    local function whole() return o.training.of(o.args, "made") end
    local function choosing() return o.training.at_rate(o.args, o.set, 0.3, { "ap" }, 1) end
    equal({ ended(o, 30, whole), ended(o, 30.5, whole), ended(o, 5, choosing), ended(o, 5.5, choosing) },
      { false, true, false, true })
    o.args.full = true
    equal({ ended(o, 1e6, whole), ended(o, 1e6, choosing) }, { false, false })
  end)
end)

it("training.of does not begin a run whose epochs take longer than the cap, except for trees", function()
  with_training(function(o)
    rawset(o.training, "losses", function() return { "ap" } end)
    rawset(o.training.protocol, "train", function() return {} end)
    local function failed(seconds, cap, batch)
      os.remove(o.args.store)
      o.time.step, o.args.cap, o.set.batch = seconds, cap, batch
      return o.training.of(o.args, "made"):counts().failed or 0
    end
    local all = 2 * #mr.losses.bounds "ap"
    -- two of eight lists take three seconds, so an epoch would take twelve
    equal({ failed(3, 11.9, 2), failed(3, 12.1, 2), failed(3, 11.9, nil) }, { all, 0, 0 })
  end)
end)

-- Returns cells as protocol.compare makes them, from {loss, bound, mean, other fields}.
local function grid_of(title, list, set)
  local cells, compared = {}, {}
  for _, each in ipairs(list) do
    local cell = { loss = each[1], bound = each[2], mean = each[3], low = 0.1, high = 0.3, above = 0.2, capped = 0,
      converged = true }
    for key, value in pairs(each[4] or {}) do cell[key] = value end
    cells[cell.loss .. " " .. cell.bound] = cell
    compared[#compared + 1] = cell.change and cell or nil
  end
  set.title = title
  return { cells = cells, missing = {}, set = set }, compared
end

local function changed(change, p, more)
  local cell = { change = change, p = p, summarised = true }
  for key, value in pairs(more or {}) do cell[key] = value end
  return cell
end

-- Returns cells of two data sets. Two of nine changes are left out of summaries: that of rr, whose cell without a bound
-- has not converged, and that of mse, whose runs were ended by the cap on time.
local function two_grids()
  local left = { summarised = false }
  local a, first = grid_of("A", { { "ap", "none", 0.5 }, { "ap", "minmax", 0.6, changed(0.1, 0.01) },
    { "ap", "zscore", 0.3, changed(-0.2, 0.01) }, { "rr", "none", 0.5, { converged = false } },
    { "rr", "minmax", 0.8, changed(0.3, 0.001, left) }, { "mse", "none", 0.5, { capped = 2, converged = false } },
    { "mse", "minmax", 0.5, changed(0.0, 1.0, { summarised = false, low = -0.1 }) } },
    { patience = 10, epochs = 200, folds = 3 })
  local b, second =
    grid_of("B", { { "ap", "none", 0.5 }, { "ap", "minmax", 0.55, changed(0.05, 0.2) }, { "bce", "none", 0.5 },
    { "bce", "minmax", 0.4, changed(-0.1, 0.01) }, { "ndcg", "none", 0.5 },
    { "ndcg", "minmax", 0.7, changed(0.2, 0.01) }, { "ndcg", "zscore", 0.9, changed(0.4, 0.01) },
    { "rr", "none", 0.25 }, { "rr", "zscore", 0.25, changed(0.0, 1.0) } }, { patience = 20, epochs = 200, folds = 3 })
  b.missing["mse minmax"] = "why"
  table.move(second, 1, #second, #first + 1, first)
  return { a, b }, first
end

it("findings.lua counts the changes of sound cells, each once", function()
  local grids, compared = two_grids()
  local losses, bounds = { "ap", "bce", "mse", "ndcg", "rr" }, { "minmax", "zscore" }
  -- of seven changes in the summary, three are significantly better (ap under minmax in A, ndcg twice in B) and two
  -- worse
  local all = findings.overall(compared)
  equal({ all.count, all.gains, all.loses }, { 7, 3, 2 })
  equal(numbers(findings.sentence(compared)), { 7, 3, 2 })
  local settings = findings.by_setting(grids, losses, bounds)
  for _, each in ipairs(settings) do each.sum = ("%.4f"):format(each.sum) end
  equal(settings,
    { { gains = 1, loses = 1, count = 2, sum = "-0.1000" }, { gains = 2, loses = 1, count = 5, sum = "0.5500" } })
  equal(findings.effects(grids, losses, bounds), { better = { { loss = "ndcg", better = 1, worse = 0 } },
    mixed = { { loss = "ap", better = 1, worse = 1 } }, worse = { { loss = "bce", better = 0, worse = 1 } },
    same = { { loss = "rr", better = 0, worse = 0 } } })
  -- of 16 cells, one was ended by the cap on time, one did not converge, one is not better than chance; a 17th has no
  -- result
  equal(findings.health(grids), { count = 16, capped = 1, open = 1, chance = 1, missing = 1 })
end)

it("findings.text has the counts of changes and the mean change of each setting", function()
  local grids, compared = two_grids()
  local found = {}
  for _, x in ipairs(numbers(findings.text({ cap = 30 }, grids, compared,
    { "ap", "bce", "mse", "ndcg", "rr" }, { "minmax", "zscore" }, { "Left." }))) do
    found[x] = (found[x] or 0) + 1
  end
  for _, x in ipairs{ 9, -0.05, 0.11, 10, 14, 15, 16, 20, 200, 30 } do check(found[x], x .. " is not there") end
end)

it("findings.lua's tables show the change of each cell and what is wrong with it", function()
  local grids = two_grids()
  local groups, bounds = { { "lists", "ap", "rr" }, { "rows", "mse", "bce" } }, { "minmax", "zscore" }
  equal(findings.all(grids, groups, bounds).rows, {
    { "ap", "none", "0.5000", "0.5000" }, { "ap", "minmax", "0.6000 +0.1000*", "0.5500 +0.0500" },
    { "ap", "zscore", "0.3000 -0.2000*", "" }, { "rr", "none", "0.5000 n", "0.2500" },
    { "rr", "minmax", "0.8000 +0.3000*", "" }, { "rr", "zscore", "", "0.2500 +0.0000" },
    { "mse", "none", "0.5000 c", "" }, { "mse", "minmax", "0.5000 +0.0000 r", "no result" },
    { "bce", "none", "", "0.5000" }, { "bce", "minmax", "", "0.4000 -0.1000*" } })
  equal(findings.by_bound(grids, { "ap", "bce", "rr" }, bounds).rows, {
    { "minmax", "+0.1000", "+1 -0 of 1", "-0.0250", "+0 -1 of 2" },
    { "zscore", "-0.2000", "+0 -1 of 1", "+0.0000", "+0 -0 of 1" } })
  equal(findings.by_loss(grids, groups, bounds).rows[1],
    { "ap", "lists", "0.5000", "+1 -1 of 2", "+0.1000 minmax", "0.5000", "+0 -0 of 1", "+0.0500 minmax" })
  local flaws = {}
  for i, row in ipairs(findings.flaws(grids).rows) do
    flaws[i] = table.concat({ row[1], row[2], row[3], table.concat(numbers(row[4]), " ") }, " ")
  end
  equal(flaws, { "A mse minmax 0.2 -0.1 0.3", "A mse none 2 3", "A rr none ", "B mse minmax " })
end)

it("findings.runs counts both cells of a change, and does not know columns of other tables", function()
  local grids = two_grids()
  local groups, bounds = { { "lists", "ap", "rr" } }, { "minmax", "zscore" }
  local function runs_of(one, row, columns)
    local runs, found = findings.runs(one, 3), {}
    for i, column in ipairs(columns) do found[i] = runs(row, column) or "unknown" end
    return found
  end
  local all = findings.all(grids, groups, bounds)
  equal({ runs_of(all, all.rows[1], { "A", "B" }), runs_of(all, all.rows[2], { "A", "B" }) }, { { 3, 3 }, { 6, 6 } })
  local alone = { grids[1] }
  local by_loss, by_bound = findings.by_loss(alone, groups, bounds), findings.by_bound(grids, { "ap", "bce" }, bounds)
  -- two bounds and no bound; the loss under one bound and under none
  equal(runs_of(by_loss, by_loss.rows[1], { "kind", "A, none", "bounds", "best" }), { 0, 3, 9, 6 })
  equal(runs_of(by_bound, by_bound.rows[1], { "A, mean", "B, mean", "A, losses", "B, losses", "losses" }),
    { 6, 12, 6, 12, "unknown" })
  local flaws = findings.flaws(grids)
  equal(runs_of(flaws, flaws.rows[1], { "what is wrong" }), { 3 })
end)

it("picture.draw shows changes in standard errors, and marks the side of significant ones", function()
  local shown = {}
  local heatmap, facets = mr.plot.heatmap, mr.plot.facets
  rawset(mr.plot, "heatmap", function(o) return table.move({ o }, 1, 1, #shown + 1, shown) and o end)
  rawset(mr.plot, "facets", function(o) return o end)
  local grids = two_grids()
  for _, each in ipairs(grids) do
    for _, cell in pairs(each.cells) do cell.in_errors = cell.change and 10 * cell.change end
  end
  local ok, problem = pcall(picture.draw, grids, { "ap", "bce", "mse", "rr" }, "title")
  rawset(mr.plot, "heatmap", heatmap)
  rawset(mr.plot, "facets", facets)
  check(ok, problem)
  local at = {}
  for r, name in ipairs(shown[1].y) do at[name] = r end
  equal({ shown[1].x[1], shown[1].x[4], shown[1].zrange }, { "minmax", "zscore", { -5, 5 } })
  local a, b = shown[1], shown[2]
  near({ a.values[at.ap][1], a.values[at.ap][4], b.values[at.bce][1] }, { 1, -2, -1 }, 1e-12)
  check(a.values[at.bce][1] ~= a.values[at.bce][1], "no result is white")
  equal({ a.labels[at.ap][1], a.labels[at.ap][4], b.labels[at.ap][1], b.labels[at.bce][1], a.labels[at.bce][1] },
    { "+", "-", "", "-", "" })
end)

-- Users 1 and 2 are tested in two folds. The run of the second fold did not converge.
it("cells.of averages a user over folds less chance, and has converged only if all runs have", function()
  local cells_of = dofile "scripts/grid/cells.lua"
  local folder = sweeps.new_folder()
  local results = mr.sweep{ name = "made", store = folder .. "/r.db", workers = 0, metric = "valid", progress = false,
    direction = "maximize",
    space = { loss = mr.choice{ "ap" }, bound = mr.choice{ "none", "minmax" }, split = mr.range(1, 2) },
    run = function(trial)
      local open, more = trial.bound == "none" and trial.split == 1, trial.bound == "minmax" and 0.125 or 0
      return { valid = 0, capped = open and 1 or 0, converged = open and 0 or 1, per_list = { list = { 2, 1 },
        own = { 0.5 + trial.split / 4 + more, 0.25 + trial.split / 4 + more },
        chance = { 0.25, 0.125 * trial.split } } }
    end }
  local cells = cells_of.of(results, { folds = 2 })
  local free, bounded = cells["ap none"], cells["ap minmax"]
  near(free.values, { 0.625, 0.875 }, 1e-12)
  near({ free.above, free.low, free.high }, { (0.4375 + 0.625) / 2, 0.4375, 0.625 }, 1e-6)
  equal({ free.converged, free.capped, bounded.converged, bounded.capped }, { false, 1, true, 0 })
  equal(free.metric, "ap")
  check(not cells_of.of(results, { folds = 3 })["ap none"], "with too few runs there is no cell")
end)

it("protocol.beyond leaves out lists without a metric or without chance", function()
  local nan = 0 / 0
  local found = protocol.beyond({ 0.5, nan, 0.75 }, { 0.25, 0.25, nan })
  equal({ found.mean, found.low, found.high }, { 0.25, 0.25, 0.25 })
end)

it("training.set makes networks with as many inputs as the data have features", function()
  local training, any = dofile "scripts/grid/training.lua", false
  for name, folder in pairs{ mq2008 = "mq2008", mslr = "mslr-web-slice" } do
    if program.has_data(folder) then
      local set = training.set({ data = "", smoke = false }, name)
      equal(set.model(1):parameters()[1]:size(1), set.fold(1).test.features:size(2), name)
      any = true
    end
  end
  if not any then test.skip "no queries in MOONRANK_DATA or ../shared/data" end
end)

it("rates.lua has only losses of the grid, and rates that the search can try", function()
  local training = dofile "scripts/grid/training.lua"
  local names, rates = {}, {}
  for _, name in ipairs(protocol.rate_names(protocol.losses())) do names[name] = true end
  -- allowed rates: 0.00001 to 10 in half powers of ten, rounded to one digit
  for k = -10, 2 do rates[tonumber(("%.0e"):format(10 ^ (k / 2)))] = true end
  for _, set in ipairs(training.names) do
    for name, rate in pairs(training.chosen[set]) do
      check(names[name] and rates[rate], ("%s, %s: %g"):format(set, name, rate))
    end
  end
end)
