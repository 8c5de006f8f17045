-- Tests reading results of studies: every table against plain loops over what the trials returned.
local mr = require "moonrank"
local core = require "moonrank.core"
local large_store = dofile "tests/support/large_store.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

-- Returns the made-up result of a trial.
local function outcome(p)
  local base = ({ ndcg = 0.5, ap = 0.4, rr = 0.3 })[p.loss] + p.fold / 100 - math.abs(math.log(p.lr, 10) + 2) / 10
  local first = 3 * p.fold  -- every fold has other users
  return { valid = base, test = base * base, per_list = { valid = { base, base + 0.01 * p.fold, 0 / 0 },
    list = { first, first + 1, first + 2 } } }
end

local lrs = { 0.001, 0.01, 0.1 }
local losses = { "ap", "ndcg", "rr" }

local function every(f)
  for _, loss in ipairs(losses) do
    for fold = 1, 4 do
      for _, lr in ipairs(lrs) do f{ loss = loss, fold = fold, lr = lr } end
    end
  end
end

local folder = files.new_folder()
local function study(name, options)
  local o = { name = name, store = folder .. "/r.db", progress = false, metric = "valid", direction = "maximize",
    space = { loss = mr.choice(losses), fold = mr.range(1, 4), lr = mr.choice(lrs) },
    run = function(trial)
      for step = 1, 3 do trial:report(step, { valid = trial.fold * step, loss = trial.lr / step }) end
      return outcome(trial.params)
    end }
  for key, value in pairs(options or {}) do o[key] = value end
  return mr.sweep(o)
end
local r = study "s"

it("results:best over folds skips a combination if a trial lacks the number", function()
  local s = study("lacking", { store = folder .. "/lacking.db", run = function(trial)
    local made = outcome(trial.params)
    local extra = not (trial.lr == 0.01 and trial.fold == 2) and made.valid or nil
    return { valid = made.valid, extra = extra, per_list = made.per_list }
  end })
  local chosen = s:best("loss", { over = "fold", value = "extra", direction = "maximize" })
  for _, row in ipairs(chosen.rows) do check(row[2] ~= 0.01, "lr 0.01 has three of four") end
  for _, row in ipairs(s:best("loss", { over = "fold" }).rows) do equal(row[2], 0.01) end
end)

it("results find metrics by their aliases", function()
  local s = study("other names", { metric = "valid_map", store = folder .. "/names.db", run = function(trial)
    return { valid_ap = trial.fold, ["rr@5"] = trial.lr, per_list = { ap = { trial.fold, 1 } } }
  end })
  equal(s:pivot{ rows = "fold", value = "valid_map" }.rows, s:pivot{ rows = "fold", value = "valid_ap" }.rows)
  equal(s:pivot{ rows = "lr", value = "mrr@5" }.columns, { "lr", "mrr@5" })
  equal(s:per_list(4, "map"):totable(), s:per_list(4, "ap"):totable())
  raises(function() s:pivot{ rows = "lr", value = "valid_mrr" } end, "results:pivot", "'valid_mrr'")
end)

it("results:columns gives a parameter, a returned number or a field of the trials by its name alone", function()
  local columns = r:columns()
  local valid, loss, fold, lr, state = columns:column "valid", columns:column "loss", columns:column "fold",
    columns:column "lr", columns:column "state"
  equal(columns.count, 36)
  for i = 1, columns.count do
    equal({ state[i], valid[i] }, { "done", outcome{ loss = loss[i], fold = fold[i], lr = lr[i] }.valid })
  end
  raises(function() columns:column "lrs" end, "'lrs'", " lr,")
end)

describe("results:pivot", function()
  it("gives the mean over all other parameters", function()
    local t = r:pivot{ rows = "loss", columns = "lr", value = "test" }
    equal(t.columns, { "loss", "0.001", "0.01", "0.1" })
    local sums = {}
    every(function(p) sums[p.loss .. p.lr] = (sums[p.loss .. p.lr] or 0) + outcome(p).test end)
    for i, loss in ipairs(losses) do
      equal(t.rows[i][1], loss)
      for c, lr in ipairs(lrs) do near(t.rows[i][c + 1], sums[loss .. lr] / 4, 1e-14) end
    end
  end)

  it("takes several heads, aggregates, and a selection of trials", function()
    local t = r:pivot{ rows = { "loss", "lr" }, columns = { "fold" }, aggregate = "count",
      where = { loss = { "ap", "rr" }, fold = { 1, 3 } } }
    equal(t.columns, { "loss", "lr", "1", "3" })
    equal(#t.rows, 6)
    equal(t.rows[4], { "rr", 0.001, 1, 1 })
    equal(r:pivot{ rows = "fold", aggregate = "max", value = "lr" }.rows[2], { 2, 0.1 })
    equal(r:pivot{ rows = "fold", aggregate = "median", value = "lr" }.rows[2], { 2, 0.01 })
    near(r:pivot{ rows = "fold", aggregate = "sd", value = "lr" }.rows[1][2], mr.stats.summary((function()
      local all = {}
      for _ = 1, 3 do table.move(lrs, 1, 3, #all + 1, all) end
      return all
    end)()).sd, 1e-12)
    local one = r:pivot{ rows = "loss", aggregate = "sd", where = { fold = 1, lr = 0.01 } }
    equal(one.rows[1][2], nil, "one value has no deviation")
    local function thousands(values) return #values * 1000 end
    equal(r:pivot{ rows = "loss", value = "lr", aggregate = thousands }.rows[1][2], 12000)
    equal(r:pivot{ columns = "loss", aggregate = "count", where = { fold = 1 } }.rows, { { 3, 3, 3 } })
    local grid = study("grid", { store = folder .. "/grid.db", run = function(trial) return { valid = trial.lr } end,
      space = { lr = mr.loguniform(1e-4, 1e-1, { points = 4 }) } })
    equal(grid:pivot{ rows = "lr", aggregate = "count", where = { lr = { 0.001, 0.01, 0.1 } } }.rows[1][2], 1)
    equal(#grid:pivot{ rows = "lr", where = { lr = { 0.001, 0.01, 0.1 } } }.rows, 3, "numbers as they are printed")
  end)

  it("refuses unknown parameters, numbers and aggregates", function()
    raises(function() r:pivot{} end, "results:pivot", "rows")
    raises(function() r:pivot{ rows = "los" } end, "'los'", "'loss'")
    raises(function() r:pivot{ rows = "loss", value = "tets" } end, "'tets'", "'test'")
    raises(function() r:pivot{ rows = "loss", aggregate = "sum" } end, "aggregate", "'sum'")
    raises(function() r:pivot{ rows = "fold", value = "loss" } end, "loss", "ap")
  end)
end)

describe("the option where of a study's methods", function()
  it("names a value that no trial has, and the nearest values with all digits", function()
    local s = study("thirds", { store = folder .. "/thirds.db", space = { lr = mr.choice{ 1 / 3, 2 / 3, 10.0 },
      loss = mr.choice{ "ap", "rr" } }, run = function(trial) return { valid = trial.lr } end })
    local where, all = { lr = 0.3333 }, { "lr = 0.3333,", "0.3333333333333333, 0.6666666666666666, 10" }
    for name, call in pairs{
      pivot = function() s:pivot{ rows = "loss", where = where } end,
      trials = function() s:trials{ where = where } end,
      best = function() s:best(nil, { where = where }) end,
      best_of_groups = function() s:best("loss", { where = where }) end,
      compare = function() s:compare{ by = "loss", where = where } end,
      importance = function() s:importance{ where = where } end,
      marginal = function() s:marginal("loss", { where = where }) end,
      curves = function() s:curves{ where = where } end,
      parallel = function() s:parallel{ where = where } end } do
      local method = name == "best_of_groups" and "best" or name
      raises(call, "results:" .. method .. ":", "where", table.unpack(all))
    end
    raises(function() s:best(nil, { where = { lr = { 1 / 3, 9.5 } } }) end, "lr = 9.5,", "10, 0.6666666666666666")
    raises(function() s:pivot{ rows = "lr", where = { loss = "RR" } } end, "loss = 'RR'", "'ap', 'rr'")
    raises(function() s:pivot{ rows = "lr", where = { loss = 1 } } end, "loss = 1,", "'ap', 'rr'")
    raises(function() s:pivot{ rows = "lr", where = { valid = 0.3333 } } end, "valid = 0.3333,", "0.3333333333333333")
    equal(#s:trials{ where = { state = "failed" } }.rows, 0, "a state may have no trials")
    raises(function() s:trials{ where = { state = "fail" } } end, "state = 'fail'", "'done'")
    equal(#s:trials{ states = { "failed" }, where = { lr = 10 } }.rows, 0, "trials in other states have the value")
  end)
end)

it("methods of a study say that all its trials failed, and where the reasons are", function()
  local function none(name, run)
    local space = { loss = mr.choice{ "ap", "rr" }, x = mr.range(1, 2) }
    return study(name, { store = folder .. "/failures.db", space = space, run = run })
  end
  local failed = none("failed", function() error "no" end)
  local some = none("some", function(trial)
    if trial.loss == "rr" then error "no" end
    return { valid = 1, other = trial.x == 1 and 2 or nil }
  end)
  local calls = { best = { nil, {} }, pivot = { { rows = "loss" } }, marginal = { "loss", {} }, parallel = { {} } }
  for name, arguments in pairs(calls) do
    local function call(s) return s[name](s, table.unpack(arguments, 1, 2)) end
    local ok, message = pcall(call, failed)
    check(not ok and not message:find "where", message)
    raises(function() call(failed) end, "results:" .. name, "'failed'", "4 failed", "results:trials()")
    arguments[#arguments == 0 and 2 or #arguments].where = { loss = "rr" }
    raises(function() call(some) end, "results:" .. name, "2 failed", "'some'", "where", "results:trials()")
    arguments[#arguments == 0 and 2 or #arguments].where = { loss = "rr", x = 1 }
    raises(function() call(some) end, "results:" .. name, "1 failed", "where", "results:trials()")
  end
  raises(function() failed:best "loss" end, "results:best", "4 failed")
  local ok, message = pcall(some.best, some, nil, { value = "other", direction = "maximize" })
  check(ok and message.params.x == 1, message)
  raises(function() some:best(nil, { value = "other", direction = "maximize", where = { x = 2, loss = "ap" } }) end,
    "where", "'other'")
  raises(function() r:pivot{ rows = "fold", where = { loss = "ap", number = r:best(nil,
    { where = { loss = "ndcg" } }).number } } end, "'s'", "where", "together")
end)

describe("results:best", function()
  it("gives the trial with the highest value, and all its numbers", function()
    local found, best = r:best(), nil
    every(function(p) if not best or outcome(p).valid > outcome(best).valid then best = p end end)
    equal(found.params, best)
    equal(found.numbers, { valid = outcome(best).valid, test = outcome(best).test })
    equal(found.value, outcome(best).valid)
    check(found.seed > 0 and found.wall >= 0, "seed and seconds")
  end)

  it("chooses a trial per group by one number and shows the others", function()
    local t = r:best({ "loss", "fold" }, { where = { fold = { 2, 4 } } })
    equal(t.columns, { "loss", "fold", "number", "lr", "test", "valid" })
    equal(#t.rows, 6)
    for _, row in ipairs(t.rows) do
      local p = { loss = row[1], fold = row[2], lr = row[4] }
      equal({ row[5], row[6] }, { outcome(p).test, outcome(p).valid })
      for _, lr in ipairs(lrs) do
        check(outcome{ loss = p.loss, fold = p.fold, lr = lr }.valid <= row[6], "the best of its group")
      end
    end
    local lowest = study("low", { direction = "minimize", metric = "test" })
    equal(lowest:best("loss").rows[3][6], lowest:best("loss", { value = "test", direction = "minimize" }).rows[3][6])
    check(lowest:best().value < lowest:best(nil, { where = { loss = "ndcg" } }).value, "the lowest")
  end)
end)

describe("the direction of results:best", function()
  it("is that of the number that chooses, not of the study's metric", function()
    local two = mr.sweep{ name = "two directions", store = folder .. "/d.db", progress = false, metric = "valid_ndcg",
      space = { a = mr.range(1, 5), fold = mr.range(1, 2) },
      run = function(trial)
        local value = (trial.a * 2) % 5 + trial.fold / 10
        return { valid_ndcg = value, valid_nrbp_loss = -value, ["test_nrbp(0.95)"] = value, pair_loss = value,
          own = value, rmse = value }
      end }
    -- the value (2 a) % 5 is largest for a = 2 (4) and smallest for a = 5 (0)
    local most, least = { valid_ndcg = 2, ["test_nrbp(0.95)"] = 2, valid_nrbp_loss = 2 }, { pair_loss = 5, rmse = 5 }
    local columns = two:columns()
    for _, wanted in ipairs{ most, least } do
      for name, a in pairs(wanted) do
        equal(two:best(nil, { value = name }).params.a, a, name)
        equal(two:best("fold", { value = name }).rows[1][3], a, name)
        equal(two:best({}, { over = "fold", value = name }).rows[1][1], a, name)
        local order = two:order(columns, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, name)
        equal(columns:column("a")[order[1]], a, name)
      end
    end
    -- the name "own" does not tell whether to maximize it, so an option must
    for direction, a in pairs{ maximize = 2, minimize = 5 } do
      equal(two:best(nil, { value = "own", direction = direction }).params.a, a, direction)
      equal(two:best("fold", { value = "own", direction = direction }).rows[1][3], a, direction)
      equal(two:best({}, { over = "fold", value = "own", direction = direction }).rows[1][1], a, direction)
    end
    raises(function() two:best(nil, { value = "own" }) end, "own")
    raises(function() two:best({}, { over = "fold", value = "own" }) end, "own")
    raises(function() two:parallel{ value = "own" } end, "own")
    equal({ two:sign "wall", two:sign "value", two:sign "memory", two:sign "valid_nrbp_loss" }, { -1, 1, -1, -1 })
  end)

  it("is the metric's own, even if an older store has the opposite", function()
    local before = mr.sweep{ name = "older", store = folder .. "/d.db", progress = false, metric = "valid_nrbp_loss",
      space = { a = mr.range(1, 3) }, run = function(trial) return { valid_nrbp_loss = trial.a } end }
    local opened <close> = require("moonrank.sweep.store").open(folder .. "/d.db", "write")
    opened:columns "UPDATE studies SET direction = 'maximize' WHERE name = 'older'"
    equal({ before:best().value, mr.results(folder .. "/d.db", "older"):best().value }, { 1.0, 1.0 })
  end)
end)

it("tables of chosen trials say by which number they were chosen", function()
  local function has(made, ...)
    for _, word in ipairs{ ... } do check(tostring(made):find(word, 1, true), tostring(made)) end
  end
  local by_test = { value = "test", direction = "maximize" }
  has(r:best("loss", by_test), "chosen by test, not by", "metric valid")
  has(r:best("loss", { over = "fold", value = "test", direction = "maximize" }), "chosen by mean test over fold,",
    "metric valid")
  for _, options in ipairs{ {}, { over = "fold" }, { value = "valid" }, { over = "fold", value = "valid" } } do
    check(not tostring(r:best("loss", options)):find "chosen")
  end
  has(r:compare{ by = "loss", value = "test", over = "fold" }, "lr of each loss: best mean valid over fold")
  check(not tostring(r:compare{ by = "loss", value = "test" }):find "best mean")
  check(not tostring(r:compare{ by = "loss", over = "fold", where = { lr = 0.01 } }):find "best mean", "one lr only")
end)

describe("results:best with over", function()
  it("chooses by means over folds, and shows the means", function()
    local t = r:best("loss", { over = "fold", value = "test", direction = "maximize" })
    equal(t.columns, { "loss", "lr", "trials", "test", "valid" })
    for i, loss in ipairs(losses) do
      local best
      for _, lr in ipairs(lrs) do
        local sums = { test = 0, valid = 0, lr = lr }
        for fold = 1, 4 do
          local found = outcome{ loss = loss, fold = fold, lr = lr }
          sums.test, sums.valid = sums.test + found.test / 4, sums.valid + found.valid / 4
        end
        if not best or sums.test > best.test then best = sums end
      end
      equal({ t.rows[i][1], t.rows[i][2], t.rows[i][3] }, { loss, best.lr, 4 })
      near({ t.rows[i][4], t.rows[i][5] }, { best.test, best.valid }, 1e-14)
    end
    equal(#r:best(nil, { over = { "fold", "lr" } }).rows, 1)
    raises(function() r:best("loss", { over = "fodl" }) end, "'fodl'", "'fold'")
  end)

  it("skips combinations without a result for some fold", function()
    local partly = study("partly", { run = function(trial)
      if trial.lr == 0.01 and trial.fold == 3 then error "fails" end
      return outcome(trial.params)
    end })
    for _, row in ipairs(partly:best("loss", { over = "fold" }).rows) do
      check(row[2] ~= 0.01 and row[3] == 4, "the others")
    end
  end)
end)

describe("mr.Results", function()
  it("gives trials as a table in every format", function()
    local t = r:trials{ where = { fold = 1, loss = "ap" }, columns = { "number", "lr", "valid" } }
    equal(#t.rows, 3)
    local first = ("%.17g"):format(outcome{ loss = "ap", fold = 1, lr = 0.001 }.valid)
    equal(t:to_csv():match "^[^\n]*\n[^\n]*", "number,lr,valid\n1,0.001," .. first)
    equal(t:to_markdown(), "| number | lr | valid |\n| ---: | ---: | ---: |\n" ..
      "| 1 | 0.001 | 0.31 |\n| 2 | 0.01 | 0.41 |\n| 3 | 0.1 | 0.31 |\n")
    local odd = mr.table{ columns = { "a_b", "n" }, rows = { { "50% & | more\\", 1 }, { "~^{}#$\nx", nil } } }
    equal(odd:to_latex(), table.concat({ "\\begin{tabular}{lr}", "\\toprule", "a\\_b & n \\\\", "\\midrule",
      "50\\% \\& | more\\textbackslash{} & 1 \\\\", "\\textasciitilde{}\\textasciicircum{}\\{\\}\\#\\$ x &  \\\\",
      "\\bottomrule", "\\end{tabular}\n" }, "\n"))
    equal(odd:to_markdown(), "| a_b | n |\n| --- | ---: |\n| 50% &amp; \\| more\\\\ | 1 |\n| \\~^{}#$ x |  |\n")
    local first_line = "^number,state,fold,loss,lr,value,test,valid,wall,reason\n1,done,1,ap,0.001"
    check(r:to_csv():find(first_line), r:to_csv():sub(1, 200))
    check(#r:to_markdown() > 500 and #r:to_latex() > 500, "every trial")
  end)

  it("shows NaN as nan, and a missing number as blank, in trials", function()
    local own = mr.sweep{ name = "nan", store = folder .. "/nan.db", progress = false, workers = 0,
      metric = "v", direction = "maximize", space = { x = mr.range(1, 4) },
      run = function(trial)
        if trial.x == 3 then return { v = 3 } end
        return { v = trial.x == 4 and 0 / 0 or trial.x, cost = trial.x == 2 and 0 / 0 or trial.x }
      end }
    local found = own:trials{ columns = { "x", "value", "v", "cost" } }
    local shown = {}
    for i, row in ipairs(found.rows) do
      local cells = {}
      for c = 1, 4 do
        local value = row[c]
        cells[c] = value == nil and "blank" or value ~= value and "nan" or ("%d"):format(value)
      end
      shown[i] = table.concat(cells, " ")
    end
    equal(shown, { "1 1 1 1", "2 2 2 nan", "3 3 3 blank", "4 nan nan 4" })
    equal(found:to_csv(), "x,value,v,cost\n1,1,1,1\n2,2,2,nan\n3,3,3,\n4,nan,nan,4\n")
    check(found:to_json():find('"cost":"nan"', 1, true))
    check(tostring(own:best "x"):find "nan", "of each group the best trial with all that it returned")
    equal(own:best().params.x, 3, "NaN is never the best")
    raises(function() own:best(nil, { where = { x = 3 }, value = "cost", direction = "minimize" }) end, "results:best",
      "where", "'cost'")
  end)

  it("prints the number of trials of each study in the store", function()
    equal(tostring(r), ("mr.Results 's' in %s/r.db: 36 done"):format(folder))
    local text = require("moonrank.results").text(folder .. "/r.db")
    check(text:find("low: 36 done of 36\n  trial    test  fold  loss     lr\n", 1, true), text)
    check(text:find("s: 36 done of 36\n  trial  valid  fold  loss     lr\n", 1, true), text)
  end)

  it("gives a trial's values per list and per epoch", function()
    local found = r:per_list(8)
    local p = outcome{ loss = "rr", fold = 1, lr = 0.01 }.per_list.valid
    near(found, p, 0)
    equal(r:reports(8).loss.values, { 0.01, 0.005, 0.01 / 3 })
    raises(function() r:per_list(8, "vaild") end, "'vaild'", "'valid'")
    raises(function() r:per_list(99) end, "99", "trial", "values")
  end)
end)

describe("results:compare", function()
  it("pairs trials that differ only in the compared parameter, and corrects p", function()
    local t = r:compare{ by = "loss", test = "paired_t", value = "test" }
    equal(#t.rows, 3)
    local p = {}
    for i, pair in ipairs{ { "ap", "ndcg" }, { "ap", "rr" }, { "ndcg", "rr" } } do
      local a, b = {}, {}
      every(function(q)
        if q.loss == pair[1] then
          a[#a + 1] = outcome(q).test
          b[#b + 1] = outcome{ loss = pair[2], fold = q.fold, lr = q.lr }.test
        end
      end)
      p[i] = mr.stats.paired_t(a, b).p
      equal({ t.rows[i][1], t.rows[i][2], t.rows[i][3] }, { pair[1], pair[2], 12 })
      near(t.rows[i][6], mr.stats.mean(a) - mr.stats.mean(b), 1e-12)
      near(t.rows[i][7], p[i], 1e-9)
    end
    local sorted = { table.unpack(p) }
    table.sort(sorted)
    for i = 1, 3 do
      local holm = 0
      for rank = 1, 3 do
        if sorted[rank] <= p[i] then holm = math.max(holm, math.min(1, sorted[rank] * (4 - rank))) end
      end
      near(t.rows[i][8], holm, 1e-9)
    end
    local corrected, plain = r:compare{ by = "loss", correction = "bonferroni" }, r:compare{ by = "loss" }
    near(corrected.rows[1][8], math.min(1, 3 * plain.rows[1][7]), 1e-12)
  end)

  it("ends with infinite values, and corrects only for tests that gave a p", function()
    local value = { ap = { 1, 2, 3, 4, 5 }, ndcg = { 2, 4, 6, 8, 11 }, rr = { math.huge, 1, 1, 2, math.huge } }
    local infinite = study("infinite", { store = folder .. "/i.db",
      space = { loss = mr.choice(losses), fold = mr.range(1, 2) },
      run = function(trial)
        return { valid = 1, per_list = { valid = trial.fold == 1 and value[trial.loss] or { 0 } } }
      end })
    local function table_of(name, correction)
      return infinite:compare{ by = "loss", value = "valid", lists = true, where = { fold = 1 }, test = name,
        correction = correction }
    end
    for _, name in ipairs{ "wilcoxon", "paired_t" } do
      local plain, made = table_of(name, "none"), name == "wilcoxon" and 3 or 1
      for i, row in ipairs(table_of(name, "bonferroni").rows) do
        local p = mr.stats[name](value[row[1]], value[row[2]]).p
        near(plain.rows[i][7], p, 1e-12)
        near(row[8], p == p and math.min(1, made * p) or 0 / 0, 1e-12, name .. " " .. i)
      end
    end
    -- values that are infinite in the same folds: the signed-rank test once did not end with these
    local test_of_same = mr.stats.wilcoxon(value.rr, { math.huge, 2, 2, 1, math.huge })
    equal({ test_of_same.n, test_of_same.equal }, { 3, 2 })
  end)

  it("compares the best settings of each value over folds", function()
    local t = r:compare{ by = "loss", value = "test", over = "fold", test = "paired_t" }
    local a, b = {}, {}
    for fold = 1, 4 do
      a[fold] = outcome{ loss = "ndcg", lr = 0.01, fold = fold }.test
      b[fold] = outcome{ loss = "rr", lr = 0.01, fold = fold }.test
    end
    equal({ t.rows[3][1], t.rows[3][2], t.rows[3][3] }, { "ndcg", "rr", 4 })
    near({ t.rows[3][4], t.rows[3][5], t.rows[3][7] },
      { mr.stats.mean(a), mr.stats.mean(b), mr.stats.paired_t(a, b).p }, 1e-9)
    equal(r:compare{ by = "loss", lists = true, over = "fold" }.rows[1][3], 8)  -- one of three users of a fold has NaN
  end)

  it("pairs lists, and refuses unknown parameters and trials without a pair", function()
    equal(r:compare{ by = "loss", lists = true, where = { lr = 0.01 } }.rows[1][3], 8)
    raises(function() r:compare{ by = "los" } end, "'los'", "'loss'")
    raises(function() r:compare{} end, "results:compare", "by")
    raises(function() r:compare{ by = "loss", where = { loss = "ap" } } end, "1", "loss")
    raises(function() r:compare{ by = "fold", where = { loss = "ap", lr = 0.1 } } end, "1", "trials")
  end)
end)

it("plots of mr.results are drawn by marginal, curves and parallel", function()
  local figures = { loss = r:marginal "loss", lr = r:marginal("lr", { value = "test" }), best = r:curves(),
    parallel = r:parallel(), curves = r:curves{ by = "loss", value = "loss" } }
  for name, figure in pairs(figures) do
    figure:save(("%s/%s.svg"):format(folder, name))
    check(#sweeps.read(("%s/%s.svg"):format(folder, name)) > 2000, name)
  end
  equal(tostring(r:marginal "loss"), "mr.Figure bars: 1 series, 's'")
  equal(tostring(r:marginal "lr"), "mr.Figure scatter: 1 series, 's'")
  equal(tostring(r:curves{ by = "fold" }), "mr.Figure lines: 4 series, 's'")
  raises(function() r:marginal "lrr" end, "lrr")
  raises(function() r:curves{ value = "nothing" } end, "'nothing'", "trial")
end)

describe("mr.results", function()
  it("refuses missing stores, and unknown or ambiguous studies", function()
    raises(function() mr.results(folder .. "/none.db") end, "none.db")
    raises(function() mr.results(folder .. "/r.db") end, "3", "low, partly, s")
    raises(function() mr.results(folder .. "/r.db", "lov") end, "lov")
    raises(function() mr.results(3) end, "path", "3")
  end)

  it("opens and pivots a store of 100,000 trials", function()
    local path = folder .. "/large.db"
    local count = 100000
    large_store(path, count)
    for _, name in ipairs{ "value", "ndcg" } do
      local t = mr.results(path):pivot{ rows = { "loss", "bound" }, columns = "fold", value = name }
      equal({ #t.rows, #t.columns }, { 21, 7 })
      local sum, cell = 0, 0
      for i = 1, count do
        if i % 7 == 2 and i % 3 == 1 and i % 5 == 4 then
          sum, cell = sum + (name == "value" and i % 1000 or i * 0.5), cell + 1
        end
      end
      near(t.rows[8][7], sum / cell, 1e-12)
    end
  end)
end)

it("results:refresh reads the store while a sweep runs", function()
  local seen = {}
  local live
  study("live", { space = { a = mr.range(1, 3) }, metric = "a", run = function(trial)
    live = live or mr.results(folder .. "/r.db", "live")
    seen[#seen + 1] = live:refresh():counts().done or 0
    return { a = trial.a }
  end })
  equal(seen, { 0, 1, 2 })
end)

it("the stores of this spec are still in their folder at its end", function()
  r = nil
  collectgarbage()
  check(core.file_exists(folder), "the folder")
end)

it("mr.results skips damaged trials, and names file and trial", function()
  local place = sweeps.new_folder()
  local path = place .. "/typed.db"
  local function swept(name)
    return mr.sweep{ name = name, store = path, workers = 0, progress = false, metric = "ap",
      space = { i = mr.range(1, 5) }, run = function(trial) return { ap = trial.i } end }
  end
  swept "typed"
  sweeps.write(place .. "/look.lua", [[
      local results = require "moonrank".results(arg[1])
      for _, row in ipairs(results:trials{ columns = { "number", "ap" } }.rows) do print(row[1], row[2]) end]])
  local function damage(statement)
    local database = core.open_database(path, "write")
    database:run(statement, {}, 0)
    database:close()
    local status, out, err = sweeps.run(place, "look.lua", "typed.db")
    check(status == 0, err)
    return out, err
  end
  local out, err = damage "UPDATE trials SET params = '{\"i\":0,5}' WHERE number = 2"
  equal(out, "1\t1.0\n3\t3.0\n4\t4.0\n5\t5.0\n")
  check(err:find("typed.db", 1, true) and err:find("trial 2 ", 1, true), err)
  raises(function() swept "typed" end, path, "trial 2")
  out, err = damage "UPDATE trials SET value = 'abc' WHERE number = 4"
  equal(out, "1\t1.0\n3\t3.0\n5\t5.0\n")
  check(err:find("trial 4 ", 1, true) and err:find("trials.value", 1, true), err)
  out, err = damage "UPDATE trials SET params = CAST(x'7B2261223A22DC227D' AS TEXT) WHERE number = 5"
  equal(out, "1\t1.0\n3\t3.0\n")
  check(err:find("trial 5 ", 1, true), err)
  raises(function() swept "other" end, "trials.value")
  check(not core.file_exists(path .. ".files/other"), "nothing is made beside it")
end)

it("tables of mr.results note failed trials and cells with unequal numbers of trials", function()
  local s = study("failing", { store = folder .. "/failing.db",
    space = { loss = mr.choice{ "ap", "ndcg", "rr" }, fold = mr.range(1, 3) },
    run = function(trial)
      if trial.loss == "rr" or trial.loss == "ndcg" and trial.fold > 2 then error "no" end
      return { valid = trial.fold + (trial.loss == "ap" and 0.5 or 0), per_list = { valid = { 1, 2 } } }
    end })
  equal(s:counts(), { done = 5, failed = 4 })
  local left, ap = "4 of 9 trials", { where = { loss = "ap" } }
  for name, made in pairs{ pivot = s:pivot{ rows = "loss" }, best = s:best "loss",
    over = s:best("loss", { over = "fold" }), trials = s:trials{ states = { "done" } },
    compare = s:compare{ by = "loss" } } do
    check(made.notes[1]:find(left, 1, true) and made.notes[1]:find "4 failed", name)
    local shown = tostring(made):find(left, 1, true) and made:to_latex():find(left, 1, true)
    check(shown and not made:to_csv():find "left out", name)
  end
  for _, made in ipairs{ s:pivot{ rows = "loss" }, s:best "loss" } do
    check(made.notes[2]:find "2 to 3 trials", made.notes[2])
  end
  for name, made in pairs{ pivot = s:pivot{ rows = "loss", where = ap.where }, best = s:best("loss", ap),
    trials = s:trials() } do
    for _, note in ipairs(made.notes) do
      check(not note:find "left out" and not note:find " have ", name .. ": " .. note)
    end
  end
  check(s:pivot{ rows = "loss", where = { loss = { "ndcg", "rr" } } }.notes[1]:find "4 of 6 trials")
end)
