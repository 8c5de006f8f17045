-- Tests sweeps in one process: stored results, repeated trials and rejected changes.
local mr = require "moonrank"
local core = require "moonrank.core"
local live = require "moonrank.sweep.live"
local frame = require "moonrank.sweep.frame"
local store = require "moonrank.sweep.store"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local says = require "tests.support.says"
local it, equal, near, check, raises = test.it, test.equal, test.near, test.check, test.raises

-- Runs a small sweep; `options` replace its default options.
local function sweep(folder, options)
  local o = { name = "s", space = { a = mr.range(1, 3), b = mr.choice{ "x", "y" } }, store = folder .. "/r.db",
    progress = false,
    run = function(trial) return trial.a * (trial.b == "x" and 1 or -1) end }
  for name, value in pairs(options or {}) do o[name] = value end
  return mr.sweep(o)
end

it("mr.sweep runs every combination once and stores what it returned", function()
  local folder = sweeps.new_folder()
  local calls = 0
  local r = sweep(folder, { metric = "ndcg", run = function(trial)
    calls = calls + 1
    for step = 1, 2 do trial:report(step, { ndcg = trial.a * step, loss = 1 / step }) end
    return { ndcg = trial.a / 7, rr = 0.5, per_list = { ndcg = mr.tensor{ trial.a, 0.1 }, rr = { 1, 2, 3 } } }
  end })
  equal(calls, 6)
  equal(r:trials{ columns = { "number", "state", "attempts", "a", "b", "value", "ndcg", "rr" } }.rows[3],
    { 3, "done", 1, 2, "x", 2 / 7, 2 / 7, 0.5 })
  near(r:per_list(5), { 3, 0.1 }, 1e-7)
  near(r:per_list(5, "rr"), { 1, 2, 3 }, 0)
  equal(r:reports(4).ndcg, { steps = { 1, 2 }, values = { 2.0, 4.0 } })
  local device = mr.device() == "cuda" and core.cuda() or "cpu"
  local row = r:trials{ columns = { "wall", "memory", "device", "started", "ended" } }.rows[1]
  check(row[1] >= 0 and row[1] < 60 and row[2] > 1e6 and row[3] == device, "seconds, bytes and device")
  check(row[4]:match "^%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d$" and row[5] >= row[4], "times")
end)

it("mr.sweep gives each trial its own seed, which depends only on the study's seed and its number", function()
  local folder = sweeps.new_folder()
  local function seeds(name, seed)
    local found = {}
    sweep(folder, { name = name, seed = seed, run = function(trial)
      found[trial.number] = trial.seed
      return 0
    end })
    return found
  end
  local first, again, other = seeds("a", 1), seeds("b", 1), seeds("c", 2)
  equal(first, again)
  local all = {}
  for _, list in ipairs{ first, other } do
    for _, seed in ipairs(list) do all[seed] = true end
  end
  local count = 0
  for _ in pairs(all) do count = count + 1 end
  equal(count, 12)
  -- the seed of trial 1 is given by the first 13 hexadecimal digits of the SHA-256 of "1/1"
  equal(first[1], tonumber(sweeps.capture("printf 1/1 | sha256sum"):sub(1, 13), 16))
end)

it("mr.sweep continues where it stopped, and runs nothing if all trials are done", function()
  local folder = sweeps.new_folder()
  local runs = {}
  local function run(trial)
    runs[#runs + 1] = trial.number
    return trial.a
  end
  sweep(folder, { run = run, trials = 4 })
  equal(runs, { 1, 2, 3, 4 })
  local r = sweep(folder, { run = run })
  equal(runs, { 1, 2, 3, 4, 5, 6 })
  sweep(folder, { run = run })
  equal(#runs, 6)
  equal(r:counts(), { done = 6 })
  equal(r:trials().columns, { "number", "state", "a", "b", "value", "wall", "reason" })
end)

it("mr.sweep records NaN, errors and wrong results with their reasons, and continues", function()
  local folder = sweeps.new_folder()
  local function fails(i)
    if i == 3 then error "so it is" end
    return i
  end
  local results = {
    function() return 0 / 0 end, function() return math.huge end,
    function(trial) return 1 + fails(trial.i) end, function() error({ 1 }) end,
    function() return "text" end, function() return { a = 1, b = 2 } end, function() return {} end,
    function() return { a = "x" } end, function() return { a = 1, per_list = "x" } end,
    function(trial) return trial.nothing end, function() return 7 end,
    function(trial) trial:report(1, 0 / 0) end, function(trial) trial:report(2, 1) trial:report(1, 1) end,
  }
  local r = sweep(folder, { space = { i = mr.range(1, #results) },
    run = function(trial) return results[trial.i](trial) end })
  local found = r:trials{ columns = { "state", "reason" } }.rows
  local expected = { "value is NaN", "value is inf", "so it is", "table", "string", "a, b", "number", "a is a string",
    "per_list", "'nothing'", false, "NaN at step 1", "step is 1" }
  for i, reason in ipairs(expected) do
    equal(found[i][1], reason and "failed" or "done", "trial " .. i)
    if reason then
      check(tostring(found[i][2]):find(reason, 1, true), ("trial %d: %s"):format(i, tostring(found[i][2])))
    end
  end
  local opened <close> = store.open(folder .. "/r.db", "read")
  local traceback = opened:columns("SELECT traceback FROM trials WHERE number = 3").traceback[1]
  local _, lines = traceback:gsub("sweep_spec.lua:%d+: in ", "")
  equal(lines, 2, traceback)
end)

it("mr.sweep repeats failed trials up to retry times with the same seed, and counts attempts", function()
  local folder = sweeps.new_folder()
  local seen = {}
  local function run(trial)
    if trial.number == 2 then
      seen[#seen + 1] = { trial.attempt, trial.seed }
      if #seen < 4 then error "not yet" end
    end
    return trial.a
  end
  local r = sweep(folder, { run = run, retry = 1 })
  equal(r:counts(), { done = 5, failed = 1 })
  equal(#seen, 2)
  local text = require("moonrank.results").text(r.path)
  check(text:find "\n  trial 2 failed: [^\n]*sweep_spec.lua:%d+: not yet$", text)
  local traceback = r:trials{ columns = { "traceback" }, states = { "failed" } }.rows[1][1]
  check(traceback:find "sweep_spec.lua:%d+: in ", traceback)
  sweep(folder, { run = run, retry = 1 })
  equal(#seen, 2, "the same again does nothing")
  raises(function() sweep(folder, { run = function(trial) return trial.a + 1 end }) end, "force = true", "1 failed",
    "retry = 2")
  r = sweep(folder, { run = run, retry = 5 })
  equal({ seen[3][1], seen[4][1] }, { 3, 4 })
  check(seen[1][2] == seen[4][2], "one seed")
  equal(r:counts(), { done = 6 })
  equal(r:trials{ columns = { "attempts" }, where = { number = 2 } }.rows[1][1], 4)
end)

it("mr.sweep refuses a changed space, setting, seed, function or data, and names the change", function()
  local folder = sweeps.new_folder()
  sweep(folder, { settings = { epochs = 3, of = "x" } })
  local function refused(options, ...)
    options.settings = options.settings or { epochs = 3, of = "x" }
    local words = { ... }
    raises(function() sweep(folder, options) end, "'s'", "force = true", table.unpack(words))
  end
  refused({ space = { a = mr.range(1, 4), b = mr.choice{ "x", "y" } } }, "space", "range(1, 3)", "range(1, 4)")
  refused({ seed = 2 }, "1", "2", "seed")
  refused({ sampler = "random", trials = 3 }, "sampler")
  refused({ pruner = "median" }, "sampler")
  refused({ direction = "minimize" }, "direction")
  refused({ settings = { epochs = 4, of = "x" } }, "epochs", "3", "4")
  refused({ metric = "ndcg" }, "metric")
  sweeps.write(folder .. "/other.lua", "return function() return 1 end")
  refused({ run = dofile(folder .. "/other.lua") }, "other.lua", "sweep_spec.lua")
  sweeps.write(folder .. "/data", "1 2 3")
  refused({ data = folder .. "/data" }, "data")
end)

it("mr.sweep with force = true keeps the stored trials and appends those of a new space", function()
  local folder = sweeps.new_folder()
  local runs = {}
  local function run(trial)
    runs[#runs + 1] = trial.a
    return trial.a
  end
  sweep(folder, { space = { a = mr.choice{ 1, 2, 3 } }, run = run })
  local wider = { space = { a = mr.choice{ 5, 2, 4, 3 } }, run = run, force = true }
  local r = sweep(folder, wider)
  equal(runs, { 1, 2, 3, 5, 4 })
  equal(r:trials{ columns = { "number", "a" } }.rows, { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 5 }, { 5, 4 } })
  wider.force = nil
  sweep(folder, wider)
  equal(#runs, 5)
end)

it("mr.sweep prunes trials by reports of earlier generations only", function()
  local folder = sweeps.new_folder()
  local function prune(name)
    return sweep(folder, { name = name, space = { a = mr.range(1, 20) },
      pruner = { "median", startup = 3, generation = 5, warmup = 0 },
      run = function(trial)
        for step = 1, 4 do trial:report(step, (trial.a % 5) * step) end
        return trial.a % 5
      end })
  end
  local r = prune "p"
  -- Worked out by hand: the first generation has no earlier trials to be compared with. At step 1 the median is always
  -- 2. Trials pruned at step 1 are missing at step 2, so the median there is 4, then 5, then 6; trials 12 and 17 have 4
  -- at this step.
  local states = {}
  for i, row in ipairs(r:trials{ columns = { "state" } }.rows) do states[i] = row[1]:sub(1, 1) end
  equal(table.concat(states), "ddddd" .. "pdddp" .. "ppddp" .. "ppddp")
  equal(r:trials{ columns = { "value", "reason" }, where = { number = 6 } }.rows[1], { 1.0, "pruned at step 1" })
  equal(sweeps.table_of(prune "q"), sweeps.table_of(r))
end)

it("mr.sweep gives a trial a folder that survives a retry, and parameters with their values", function()
  local folder = sweeps.new_folder()
  local space = { net = mr.choice{ small = { 4 }, large = { 4, 8 } },
    mr.when("net", "large", { deep = mr.range(1, 2) }) }
  local r = sweep(folder, { space = space, retry = 1, run = function(trial)
      local path = trial.checkpoint .. "/state"
      if trial.attempt == 1 then
        sweeps.write(path, tostring(trial.seed))
        error "stops"
      end
      if sweeps.read(path) ~= tostring(trial.seed) or trial.deep ~= trial.params.deep then error "other values" end
      return #trial.net
    end })
  equal(r:trials{ columns = { "net", "deep", "value" } }.rows,
    { { "large", 1, 2.0 }, { "large", 2, 2.0 }, { "small", nil, 1.0 } })
end)

it("the live table of mr.sweep is redrawn on a terminal at most every second", function()
  local written, now = {}, 0
  local schedule = { planned = 10, counts = { done = 3, failed = 1 }, ended = function() return 4 end, trials = {},
    left = function(_, workers) return workers == 1 and 13.7 or nil end,
    best = { value = 0.5, number = 2, params = { lr = 0.25, loss = "ap" } } }
  local view = live.new("s", schedule, { terminal = true, width = 60, clock = function() return now end,
    out = { write = function(_, ...) written[#written + 1] = table.concat({ ... }) end } })
  now = 8
  view:update{ { trial = { number = 6, params = { loss = "rr" } } },
    { trial = { number = 5, params = { loss = "ap" } }, report = { step = 7, values = { ndcg = 0.25 } } } }
  local head = "s  4/10 trials  8.0 s  2 running  1 failed  best 0.5 (trial 2: loss ap, lr 0.25)"
  equal(table.concat(written), table.concat{ head:sub(1, 59), "\n",
    "  trial 5  loss ap  step 7  ndcg 0.25\n", "  trial 6  loss rr\n" })
  written, now = {}, 8.1
  view:update({}, 1)
  equal(#written, 0)
  now = 9
  view:update({}, 1)
  equal(written[1], "\27[3A\r\27[J")
  check(view:summary({}, 1):find("9.0 s, 14 s left", 1, true), view:summary({}, 1))
end)

it("mr.sweep optimizes in the metric's own direction, and refuses the opposite", function()
  local folder = sweeps.new_folder()
  local space = { a = mr.choice{ 3, 1, 2 } }
  local function best(name, metric, more)
    local o = { name = name, metric = metric, space = space, run = function(trial)
      return { [metric or more.number] = trial.a }
    end }
    for key, value in pairs(more or {}) do if key ~= "number" then o[key] = value end end
    local r = sweep(folder, o)
    return r:counts().done and r:best().value
  end
  for _, metric in ipairs{ "nrbp_loss", "valid_nrbp_loss", "test_nrbp_loss", "loss", "hinge_loss", "seconds" } do
    equal(best(metric, metric), 1.0, metric)
  end
  for _, metric in ipairs{ "ndcg", "valid_nrbp(0.95)", "test_rbp(0.8)@5", "valid_map" } do
    equal(best(metric, metric), 3.0, metric)
  end
  mr.metrics.define("spec_first_rank", function(ranks, lists) return -lists:max(-ranks) end, { direction = "minimize" })
  equal(best("own", "valid_spec_first_rank"), 1.0)
  equal({ best("asked", "hinge_loss", { direction = "maximize" }),
    best("least", "seconds", { direction = "minimize" }) }, { 3.0, 1.0 })
  local function never() error "it ran" end
  raises(function()
    sweep(folder, { name = "no", metric = "valid_nrbp_loss", direction = "maximize", run = never })
  end,
    "direction", "'maximize'", "valid_nrbp_loss")
  raises(function() sweep(folder, { name = "no", metric = "ap", direction = "minimize", run = never }) end,
    "direction", "'minimize'", "ap")
  -- if no option names the metric that the returned number is, the first trial determines it
  equal(best("unnamed", nil, { number = "ap" }), 3.0)
  equal(best("least, unnamed", nil, { number = "nrbp_loss", direction = "minimize" }), 1.0)
  equal(best("wrong", nil, { number = "nrbp_loss" }), nil)
  local reason = mr.results(folder .. "/r.db", "wrong"):trials{ columns = { "reason" } }.rows[1][1]
  says(reason, "nrbp_loss", "'maximize'", "metric = 'nrbp_loss'")
end)

it("mr.sweep fails trials of a renamed metric if direction is the opposite of the metric's", function()
  local folder = sweeps.new_folder()
  local pairs_lost = mr.metrics.parse("nrbp_loss", { name = "pairs" })
  local function run(trial)
    return { history = {}, chosen_on = "valid", best = { epoch = 1, metrics = { pairs = trial.a } },
      metrics = { pairs = pairs_lost } }
  end
  local wrong = sweep(folder, { metric = "valid_pairs", direction = "maximize", space = { a = mr.range(1, 2) },
    run = run })
  local reason = wrong:trials{ columns = { "reason" } }.rows[1][1]
  says(reason, "direction = 'minimize'")
  local right = sweep(folder, { name = "right", metric = "valid_pairs", direction = "minimize", run = run,
    space = { a = mr.range(1, 2) } })
  equal(right:best().value, 1.0)
end)

it("mr.sweep with a pruner continues a study if an earlier trial reported NaN", function()
  local folder = sweeps.new_folder()
  local function run(trial)
    if trial.a > 2 then for step = 1, 2 do trial:report(step, trial.a) end end
    return { chosen_on = "valid", best = { epoch = 2, metrics = { ap = 0.5 } }, history = {
      { epoch = 1, loss = 1, metrics = { ap = 0 / 0 } },
      { epoch = 2, loss = 1, metrics = { ap = 0.5 } },
    } }
  end
  local o = { metric = "valid_ap", space = { a = mr.range(1, 4) }, run = run, trials = 2,
    pruner = { "median", startup = 1, generation = 2, warmup = 0 } }
  sweep(folder, o)
  o.trials = 4
  equal(sweep(folder, o):counts(), { done = 4 })
end)

it("mr.sweep refuses missing or wrong options", function()
  local run = function() return 1 end
  local space = { a = mr.range(1, 2) }
  raises(function() mr.sweep{ space = space, run = run } end, "mr.sweep", "name")
  raises(function() mr.sweep{ name = "x", run = run } end, "mr.sweep", "space")
  raises(function() mr.sweep{ name = "x", space = space, run = run, store = "" } end, "store", "''")
  raises(function() mr.sweep{ name = "x", space = space } end, "mr.sweep", "run")
  raises(function() mr.sweep{ name = "x", space = { seed = mr.range(1, 2) }, run = run } end, "parameter", "'seed'")
  raises(function() mr.sweep{ name = "x", space = { a = mr.uniform(0, 1) }, run = run, sampler = "random" } end,
    "trials", "random")
  raises(function() mr.sweep{ name = "x", space = space, run = run, workers = 2, store = "/nowhere/x.db" } end,
    "workers", "script")
  raises(function() mr.sweep{ name = "x", space = space, run = run, data = "not there", store = "/nowhere/x.db" } end,
    "not there")
end)

it("mr.sweep runs each of 2000 empty trials once, and none again", function()
  local folder = sweeps.new_folder()
  local r = sweep(folder, { space = { i = mr.range(1, 2000) }, run = function(trial) return trial.i end })
  equal(r:counts(), { done = 2000 })
  local again = 0
  sweep(folder, { space = { i = mr.range(1, 2000) }, run = function() again = again + 1 return 0 end, force = true })
  equal(again, 0)
end)

it("sweep messages keep every bit, and parameters are JSON that SQLite reads", function()
  local nan = 0 / 0
  local value = { 1, -0.0, math.huge, math.mininteger, "a\0\255", { deep = { true, false } }, name = nan, [2.5] = "x" }
  local back = frame.unpack(frame.pack(value))
  equal(back, value)
  equal(math.type(back[1]), "integer")
  equal(1 / back[2], -math.huge)
  raises(function() frame.pack(print) end, "function")
  raises(function() frame.unpack "?" end, "message")
  raises(function() frame.unpack(frame.pack({ 1, 2, 3 }):sub(1, -3)) end, "short")
  local params = { s = 'quote " back \\ line\n\1', f = 0.1, whole = 3.0, i = 3, yes = true, no = false, small = 1e-300 }
  equal(frame.from_json(frame.to_json(params)), params)
  equal(math.type(frame.from_json(frame.to_json(params)).whole), "float")
  equal(frame.to_json{ b = 1, a = 2.0 }, '{"a":2.0,"b":1}')
  equal(select(3, core.json_columns{ "{}", "[1]" })[1], "")
  raises(function() frame.from_json "[1]" end, "JSON object")
end)

-- Calls `f` while stores have these versions of their schema.
local function with_versions(versions, f)
  local schema = require "moonrank.sweep.schema"
  local own = schema.versions
  local _ <close> = setmetatable({}, { __close = function() schema.versions = own end })
  schema.versions = versions
  return f()
end

it("sweep stores are migrated from older versions, and newer ones are refused", function()
  local folder = sweeps.new_folder()
  local path = folder .. "/m.db"
  local first = { { "CREATE TABLE t (x INTEGER)", "INSERT INTO t VALUES (7)" } }
  local second = { first[1], { "ALTER TABLE t ADD COLUMN y INTEGER DEFAULT 8" } }
  local function open() return store.open(path, "write") end
  with_versions(first, open):close()
  local opened = with_versions(second, open)
  equal(opened:rows "SELECT * FROM t", { { x = 7, y = 8 } })
  opened:close()
  raises(function() with_versions(first, open) end, "m.db", "version 2", "1")
end)

-- Makes a database file by these SQL statements, or changes an existing one.
local function database(path, statements)
  local made = core.open_database(path, "write")
  for _, statement in ipairs(statements) do made:run(statement, {}, 0) end
  made:run("PRAGMA journal_mode = DELETE", {}, 0)
  made:close()
end

it("sweep stores refuse other databases and changed tables, and leave them unchanged", function()
  local folder = sweeps.new_folder()
  local path = folder .. "/r.db"
  local cases = {
    ["r.db"] = { { "CREATE TABLE other (x)" }, { "PRAGMA application_id = 1" }, { "PRAGMA user_version = -1" } },
    [("version %d"):format(#store.versions + 1)] = { { ("PRAGMA user_version = %d"):format(#store.versions + 1) } },
    ["'other'"] = { { "CREATE TABLE other (x)", "PRAGMA user_version = 1" } },
    ["'lists'"] = { { "PRAGMA user_version = 1" } },
  }
  for why, files in pairs(cases) do
    for _, statements in ipairs(files) do
      os.remove(path)
      database(path, statements)
      local before = sweeps.read(path)
      for _, mode in ipairs{ "write", "read" } do
        raises(function() store.open(path, mode) end, why)
        check(sweeps.read(path) == before, why)
      end
    end
  end
  local changes = {
    "CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM numbers; END", "CREATE VIEW v AS SELECT 1 AS x",
    "CREATE INDEX i ON trials (value)", "DROP TABLE lists", "ALTER TABLE trials ADD COLUMN more",
  }
  for _, change in ipairs(changes) do
    os.execute("rm -f " .. path .. "*")
    store.open(path, "write"):close()
    database(path, { change })
    local before = sweeps.read(path)
    raises(function() store.open(path, "write") end, "r.db", "store")
    check(sweeps.read(path) == before, change)
  end
  os.execute("rm -f " .. path .. "*")
  store.open(path, "write"):close()
  -- accepts a store as earlier versions made it (application_id 0), and with tables that SQLite made itself (ANALYZE)
  database(path, { "PRAGMA application_id = 0", "ANALYZE" })
  store.open(path, "write"):close()
end)

it("mr.sweep makes the tables of a store that is still empty", function()
  local folder = sweeps.new_folder()
  core.open_database(folder .. "/r.db", "write"):close()
  local two = { space = { i = mr.range(1, 2) }, run = function(trial) return trial.i end }
  equal(sweep(folder, two):counts(), { done = 2 })
end)

it("core.json_columns reports damaged parameters of a store, and reads the others", function()
  local names, columns = core.json_columns{ '{"a":1,"b":9223372036854775807}', '{"a":18446744073709551615}' }
  equal({ names, columns[1], columns[2][1] }, { { "a", "b" }, { 1, 18446744073709551615.0 }, math.maxinteger })
  local deep = '{"a":' .. ("["):rep(1000000) .. ("]"):rep(1000000) .. "}"
  local bad = { [deep] = "64",
    ['{"a":[1]}'] = "array as 'a'", ['{"b":1,"a":{}}'] = "object as 'a'", ['{"a":'] = "byte 6", ['{"a":0,5}'] = "byte" }
  for text, key in pairs(bad) do
    local all, values, problems = core.json_columns{ '{"a":7}', text }
    equal({ all, values, problems[1] }, { { "a" }, { { 7 } }, "" })
    check(problems[2]:find(key, 1, true), problems[2])
  end
end)

it("sweep stores stay unchanged if a migration fails", function()
  local folder = sweeps.new_folder()
  local path = folder .. "/m.db"
  local first = { { "CREATE TABLE t (x INTEGER)" } }
  local function open() return store.open(path, "write") end
  with_versions(first, open):close()
  raises(function() with_versions({ first[1], { "CREATE TABLE u (x)", "no SQL" } }, open) end, "syntax error")
  local opened <close> = with_versions(first, open)
  equal(opened:rows "SELECT name FROM sqlite_master ORDER BY name", { { name = "t" } })
end)
