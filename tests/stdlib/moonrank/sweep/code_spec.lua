-- Tests which changes of a script make mr.sweep reject a study's store.
local mr = require "moonrank"
local core = require "moonrank.core"
local code = require "moonrank.sweep.code"
local space = require "moonrank.sweep.search.space"
local says = dofile "tests/support/says.lua"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it, check, equal, raises = test.describe, test.it, test.check, test.equal, test.raises

local script = [==[
local mr = require "moonrank"
local epochs, rates, flag, name = 20, { 0.1, 0.01, by = { loss = "ndcg" } }, true, "ml"
local absent, chosen = nil, mr.losses.ap
local text = [[
-- not a comment
  two   blanks
]]
local factor <const>, half <const> = 3, 0.5
local scaled <const> = factor * 2
local of_lines <const> = 2
  * 5 -
  3
local square = true
local power = square and function(x) return x * x end or function(x) return x end
local function helper(x) return x * 2 end
local function inner(x) return helper(x) + 1 end
local shapes = { double = helper, deep = { deeper = { f = function(x) return x end } } }
local assigned, count = { lr = 0.1 }, 0
local plain = { fingerprint = "abc", value = 1 }
local Class = setmetatable({}, { __call = function(_, x) return x end, __index = { scale = 2 } })
local optimizer, loss = mr.optim.adam{ lr = 0.01 }, mr.losses.ndcg{ bound = "minmax" }
local bounded = mr.losses.ndcg{ bound = function(score) return score end }
local plateau, metric = mr.schedule.step{ every = 3, factor = 0.5 }, mr.metrics.parse("ap", { relevant = 1 })
local tensor, lists = mr.tensor{ 1, 2, 3 }, mr.lists{ { 1, 0, 0 }, { 0, 1, 0 } }
local data = mr.data.synthetic{ kind = "queries", queries = 5, seed = 1 }
local folds = mr.data.synthetic{ kind = "ratings", users = 9, items = 20, seed = 1 }
  :binarize(4):folds{ k = 3, seed = 1 }
local model = mr.models.linear{ inputs = 2, seed = 1 }
local big, keyed = {}, { [1] = "one", ["1"] = "text", [true] = 1, [tensor] = "object" }
for i = 1, 40 do big[i] = { i } end
spec_global = function(x) return x end
spec_table = { rate = 1 }
local step = function(t) return t end local other = 1
local run = function(trial) -- why
  count = count + 1
  assigned.seen = trial.a
  local value = helper(trial.a) + epochs * rates[1] + #text
  if flag then value = value + inner(1) + scaled + of_lines + power(2) end
  local found = { spec_global(1), spec_table, shapes, plain, Class, optimizer, loss, bounded, plateau, metric, tensor,
    lists, data, folds, model, big, keyed, name, absent, chosen, step }
  return { value = value, found = found, sum = mr.tensor{ 1, 2 }:sum() }
end
return run, { opt = mr.choice{ slow = mr.optim.sgd{ lr = 0.1 }, fast = { rate = { 1, 2 } },
  f = function(x) return x + 1 end, t = mr.tensor{ 5, 6 } }, lr = mr.choice{ 0.1, 0.2 } }
]==]

local function of(text)
  local run, parameters = assert(load(text))()
  return code.of(run, parameters and space.new(parameters))
end

local function edited(from, to)
  local at, last = script:find(from, 1, true)
  assert(at and not script:find(from, last, true), from)
  return script:sub(1, at - 1) .. to .. script:sub(last + 1)
end

-- Changes of a script after which mr.sweep must reject the store: {name in the message, replaced text, new text}.
local refused = {
  { "run.epochs", "epochs, rates, flag, name = 20", "epochs, rates, flag, name = 21" },
  { "run.epochs", "name = 20,", "name = 20.0," }, { "run.epochs", "name = 20,", "name = '20'," },
  { "run.rates", "{ 0.1, 0.01, by", "{ 0.2, 0.01, by" },
  { "run.rates.by.loss", '"ndcg" } }', '"ap" } }' }, { "run.rates", "{ 0.1, 0.01, by", "{ 0.1, 0.01, 0.001, by" },
  { "run.rates", "by = { loss", "on = { loss" }, { "run.flag", "}, true,", "}, false," },
  { "run.name", '"ml"\n', '"mn"\n' },
  { "run.absent", "chosen = nil,", "chosen = 1," }, { "run.chosen", "mr.losses.ap\n", "mr.losses.rr\n" },
  { "run.text", "-- not a comment", "-- not another comment" }, { "run.text", "two   blanks", "two blanks" },
  { "run.helper", "x * 2", "x * 3" }, { "run.helper", "helper(x) return x * 2", "helper(y) return y * 2" },
  { "run.inner", "helper(x) + 1", "helper(x) + 2" }, { "run.shapes.double", "double = helper", "double = inner" },
  { "run.shapes.double", "double = helper", "double = function(x) return x end" },
  { "run.shapes.deep.deeper.f", "f = function(x) return x end }", "f = function(x) return -x end }" },
  { "run.shapes", "double = helper,", "double = helper, half = inner," },
  { "run.assigned.lr", "count = { lr = 0.1 }", "count = { lr = 0.2 }" },
  { "run.assigned", "count = { lr = 0.1 }", "count = { lr = 0.1, seen = 1 }" }, { "run.count", "}, 0\n", "}, 5\n" },
  { "run.plain.value", '"abc", value = 1', '"abc", value = 2' },
  { "run.Class", "_, x) return x end", "_, x) return x + 1 end" },
  { "run.Class", "scale = 2", "scale = 3" }, { "run.optimizer.options.lr", "adam{ lr = 0.01", "adam{ lr = 0.02" },
  { "run.optimizer.name", "adam{", "adamw{" },
  { "run.loss", "losses.ndcg{ bound = \"minmax\" }", "losses.ndcg{ bound = \"none\" }" },
  { "run.loss", "losses.ndcg{ bound = \"minmax\" }", "losses.ndcg{ bound = \"minmax\", steepness = 2 }" },
  { "run.loss", "losses.ndcg{ bound = \"minmax\" }", "losses.ap{ bound = \"minmax\" }" },
  { "run.bounded", "function(score) return score end", "function(score) return score * 2 end" },
  { "run.plateau.options.every", "every = 3", "every = 4" }, { "run.metric", "relevant = 1", "relevant = 2" },
  { "run.tensor", "mr.tensor{ 1, 2, 3 }", "mr.tensor{ 1, 2, 4 }" },
  { "run.tensor", "mr.tensor{ 1, 2, 3 }", "mr.tensor{ 1, 2, 3 }:double()" },
  { "run.lists", "{ 0, 1, 0 }", "{ 0, 1, 1 }" }, { "run.data", "queries = 5, seed = 1", "queries = 5, seed = 2" },
  { "run.folds", "items = 20, seed = 1", "items = 20, seed = 2" },
  { "run.folds", "k = 3, seed = 1", "k = 3, seed = 2" },
  { "run.folds", "binarize(4)", "binarize(3)" }, { "run.model", "inputs = 2, seed = 1", "inputs = 2, seed = 2" },
  { "run.big", "big[i] = { i }", "big[i] = { i == 7 and 8 or i }" },
  { "run.keyed", '[1] = "one", ["1"] = "text"', '[1] = "text", ["1"] = "one"' },
  { "run.keyed", '"object"', '"thing"' },
  { "global.spec_global", "spec_global = function(x) return x end", "spec_global = function(x) return 2 end" },
  { "global.spec_table", "{ rate = 1 }", "{ rate = 2 }" },
  { "run.step", "function(t) return t end", "function(t) return -t end" },
  { "function run", "+ epochs", "- epochs" }, { "function run", "mr.tensor{ 1, 2 }:sum()", "mr.tensor{ 1, 3 }:sum()" },
  { "function run", "if flag then", "if not flag then" }, { "function run", "sum = mr", "total = mr" },
  { "space.opt.slow.options.lr", "sgd{ lr = 0.1 }", "sgd{ lr = 0.5 }" },
  { "space.opt.fast.rate", "{ 1, 2 } }", "{ 1, 3 } }" },
  { "run.factor", "= 3, 0.5", "= 4, 0.5" }, { "run.scaled", "factor * 2", "factor * 3" },
  { "run.of_lines", "  * 5 -", "  * 7 -" }, { "run.of_lines", "  3\n", "  4\n" },
  { "run.power", "square = true", "square = false" },
  { "space.opt.f", "x + 1 end,", "x + 2 end," }, { "space.opt.t", "mr.tensor{ 5, 6 }", "mr.tensor{ 5, 7 }" },
}

local accepted = {
  { "return run, {", "print 'done'\nreturn run, {" },
  { "local function helper(x)", "\n\n-- a comment\nlocal function helper(x)" },
  { "-- why", "-- because of it" }, { "-- why", "" }, { "  local value", "  -- why\n\n  local value" },
  { "  local value", "  --[[ long\n comment ]] local   value" }, { "x * 2 end", "x*2 end" },
  { "local other = 1", "local other = 2" },
  { "local function inner", "local unused = 3\nlocal function inner" }, { "local count", "local count" },
  { "{ lr = 0.1 }, 0", "{ lr = 1 / 10 }, 0" }, { "queries = 5, seed = 1", "seed = 1, queries = 5" },
  { '"ml"\n', "'ml' -- one quote\n" }, { "return { value = value, found", "return {\n    value = value,\n    found" },
  { "big[i] = { i }", "big[41 - i] = { 41 - i }" },
  { "mr.choice{ 0.1, 0.2 }", "mr.choice{ 0.1, 0.2, 0.3 }" },
  { "return run, {", "local function plot() return 2 end plot()\nreturn run, {" },
  { "local square = true", "local square = true  -- and not a cube\n" },
  { "spec_table = {", "spec_unused = 3\nspec_table = {" }, { "{ 1, 2, 3 }, mr.lists", "{ 1.0, 2.0, 3.0 }, mr.lists" },
}
accepted[10] = { "local run = function(trial)", "local run = function(\n    trial)" }

local function globals_apart(body)
  local strict = getmetatable(_G)
  setmetatable(_G, nil)
  local ok, message = pcall(body)
  setmetatable(_G, strict)
  for _, name in ipairs{ "spec_global", "spec_table", "spec_unused" } do rawset(_G, name, nil) end
  if not ok then error(message, 0) end
end

describe("the code fingerprint of a study", function()
  it("changes with everything its trials use, and the error names what changed", function()
    check(#refused >= 40, #refused)
    globals_apart(function()
      local was = of(script)
      check(not was:find("unseen", 1, true), was)
      equal(of(script), was)
      for _, change in ipairs(refused) do
        local changes = code.changes(was, of(edited(change[2], change[3])))
        check(changes, ("unnoticed: %s"):format(change[3]))
        check(changes:find(change[1], 1, true), ("%s: %s"):format(change[3], changes))
      end
    end)
  end)

  it("names only what changed, although losses and tables share objects", function()
    local function text_of(first, shared)
      local by_name = { a = first, b = mr.losses.rr{ bound = "minmax" }, c = mr.losses.ndcg{}, d = mr.losses.ranknet{} }
      local both = { one = { shared and { 5 } or { deep = { x = 1 } } } }
      both.two = { shared or both.one[1] }
      local parameters = space.new{ loss = mr.choice(by_name), other = mr.choice{ e = first, f = by_name.b } }
      return code.of(function() return by_name, both end, parameters)
    end
    local function lines_of(...)
      local lines = {}
      for line in code.changes(text_of(mr.losses.ap{}), text_of(...)):gmatch "[^\n]+" do
        lines[#lines + 1] = line:match "^%s*(.-)%s*$"
      end
      return lines
    end
    for _, line in ipairs(lines_of(mr.losses.ap{ bound = "minmax" })) do
      local changed = line:find "run%.by_name%.a%f[^%w_]" or line:find "space%.loss%.a%f[^%w_]"
      check(changed or line:find "space%.other%.e%f[^%w_]", line)
      check(not line:find("._", 1, true), line .. ": a private field")
    end
    for _, line in ipairs(lines_of(mr.losses.ap{}, { deep = { x = 1 } })) do
      check(line:find("run.both.one", 1, true), line)
    end
    -- three lines: one[1].deep.x is gone, one[1][1] and two.deep.x have other values
    equal(#lines_of(mr.losses.ap{}, { deep = { x = 2 } }), 3)
  end)

  it("ignores comments, white space and code that trials do not use", function()
    check(#accepted >= 15, #accepted)
    globals_apart(function()
      local was = of(script)
      for _, change in ipairs(accepted) do
        local changes = code.changes(was, of(edited(change[1], change[2])))
        check(not changes, ("%s: %s"):format(change[2], changes))
      end
    end)
  end)

  it("contains parameters with one name in several branches of the space", function()
    local function text_of(x)
      return code.of(function() end, space.new{ m = mr.choice{ "a", "b" },
        mr.when("m", "a", { f = mr.choice{ one = { x }, two = { 2 } } }),
        mr.when("m", "b", { f = mr.choice{ one = { 3 }, two = { 4 } } }) })
    end
    check(code.changes(text_of(1), text_of(100)), "the first branch")
  end)

  it("contains the trials of captured results", function()
    local folder = sweeps.new_folder()
    local function results(factor)
      os.remove(folder .. "/r.db")
      return mr.sweep{ name = "first", store = folder .. "/r.db", workers = 0, progress = false, metric = "valid",
        direction = "maximize", space = { x = mr.range(1, 2) },
        run = function(trial) return { valid = factor * trial.x } end }
    end
    local function text_of(first) return code.of(function() return first end) end
    local was, same, other = text_of(results(1)), text_of(results(1)), text_of(results(2))
    equal(same, was)
    check(code.changes(was, other):find("run.first", 1, true))
  end)

  it("contains a function without the rest of its line", function()
    local function of_line(text)
      return code.of(load("return { run = function(t) return t end, trials = 3 }" .. text)().run)
    end
    equal(of_line "", of_line " -- three")
    equal(code.of(load "return { run = function(t) return t end, trials = 3 }"().run),
      code.of(load "return { run = function(t) return t end, trials = 30, name = 'x' }"().run))
  end)

  it("contains definitions by name and replaced library functions", function()
    local before = code.of(function() return 1 end)
    mr.bounds.define("spec_code", function(score) return score end)
    local once = code.of(function() return 1 end)
    check(code.changes(before, once):find("spec_code", 1, true))
    mr.bounds.define("spec_code", function(score) return score * 2 end)
    check(code.changes(once, code.of(function() return 1 end)):find("spec_code", 1, true))
    local was, of_mr = code.of(function() return 1 end), rawget(mr.losses, "ap")
    rawset(mr.losses, "ap", function() return 1 end)
    local now = code.of(function() return 1 end)
    rawset(mr.losses, "ap", of_mr)
    check(code.changes(was, now):find("ap", 1, true), now)
  end)

  it("ignores what its own trials left in captured values", function()
    local cache, count = { kept = 1 }, 0
    local function run(trial)
      count, cache[trial], cache.kept = count + #cache, { trial }, nil
    end
    local before = code.of(run)
    run(7)
    check(code.of(run) ~= before)
    code.settle(run, nil, before)
    equal(code.changes(before, code.of(run)), nil)
    run(8)
    code.settle(run, nil, before)
    equal(code.changes(before, code.of(run)), nil)
    cache.other = 5
    check(code.of(run) ~= before, "a change of the script")
  end)

  it("ignores what trials of an earlier study left behind", function()
    local cache, epochs = {}, 1
    local function run(trial)
      cache[trial] = epochs
      return #cache
    end
    local first = code.of(run)
    run(7)
    code.settle(run, nil, first)
    epochs = 2
    local second = code.of(run)
    -- clears a result that the first study cached, as in a later run of the script, which reads it from the store
    cache[7] = nil
    equal(code.changes(second, code.of(run)), nil)
    epochs = 3
    equal(code.changes(second, code.of(run)), "  value run.epochs: then 2, now 3")
  end)

  it("leaves out the contents of weak tables", function()
    for mode, kept in pairs{ k = false, v = false, plain = true } do
      local cache = setmetatable({}, { __mode = mode ~= "plain" and mode or nil })
      local function run() return cache end
      local before = code.of(run)
      cache.other = {}
      equal(code.changes(before, code.of(run)) ~= nil, kept, mode)
    end
  end)

  it("lists captured values that it cannot compare", function()
    local thread, pipe = coroutine.create(print), io.tmpfile()
    check(code.of(function() return thread end):find("unseen run.thread", 1, true))
    check(code.of(function() return pipe end):find("unseen run.pipe", 1, true))
    pipe:close()
  end)

  it("leaves out mr.args options, which settings compare", function()
    local function with(words)
      local args = mr.args({ epochs = 3 }, words)
      return code.of(function() return args end)
    end
    equal(with{}, with{ "--epochs", "5" })
  end)

  it("differs from the fingerprint of an earlier version", function()
    check(code.changes("function run 0123456789ab\nvalue run.epochs = 20", code.of(function() end)))
  end)
end)

describe("mr.sweep", function()
  -- Calls body(folder, write) with a folder from which Lua modules can be loaded: write(name, text) writes a module
  -- there. Afterwards these modules are unloaded.
  local function with_modules(body)
    local folder = sweeps.new_folder()
    local kept = package.path
    package.path = folder .. "/?.lua;" .. kept
    local function write(name, text)
      sweeps.write(("%s/%s.lua"):format(folder, name), text)
      package.loaded[name] = nil
    end
    local ok, message = pcall(body, folder, write)
    package.path = kept
    for _, name in ipairs{ "spec_outer", "spec_inner" } do package.loaded[name], core.modules[name] = nil, nil end
    if not ok then error(message, 0) end
  end

  local function sweep(folder, run, options)
    local o = { name = "s", store = folder .. "/r.db", space = { a = mr.choice{ 1, 2 } }, run = run, workers = 0,
      progress = false }
    for key, value in pairs(options or {}) do o[key] = value end
    return mr.sweep(o)
  end

  it("compares modules loaded before the study and what they require, without comments", function()
    with_modules(function(folder, write)
      local function run() return 1 end
      local function again()
        package.loaded.spec_outer, package.loaded.spec_inner = nil, nil
        require "spec_outer"
        return sweep(folder, run)
      end
      write("spec_inner", "return { 1 }")
      write("spec_outer", "return require 'spec_inner'")
      again()
      write("spec_inner", "return { 1 }  -- a comment at the end")
      again()
      write("spec_inner", "return { 2 }")
      check(raises(again, "spec_inner"):find("force = true", 1, true))
      write("spec_inner", "return { 1 }")
      again()
      write("spec_outer", "return { text = [[\n-- a line\n]] }")
      require "spec_outer"
      sweep(folder, run, { force = true })
      write("spec_outer", "return { text = [[\n-- another line\n]] }")
      raises(again, "spec_outer")
    end)
  end)

  it("compares modules and files that a trial loads", function()
    with_modules(function(folder, write)
      local function run()
        require "spec_outer"
        return dofile(folder .. "/file.lua") + 1
      end
      local function fresh()
        for _, name in ipairs{ "spec_outer", "spec_inner" } do package.loaded[name], core.modules[name] = nil, nil end
        return sweep(folder, run)
      end
      write("spec_inner", "return 1")
      write("spec_outer", "return require 'spec_inner'")
      write("file", "return 1")
      fresh()
      fresh()
      write("file", "return 1 -- one")
      fresh()
      write("file", "return 2")
      raises(fresh, "file.lua")
      write("file", "return 1")
      write("spec_inner", "return 2")
      raises(fresh, "spec_inner")
      os.remove(folder .. "/spec_inner.lua")
      raises(fresh, "spec_inner")
    end)
  end)
end)

it("mr.sweep resumes after edits outside the trial function and rejects edits inside it unless forced", function()
  if not sweeps.moonrank then return test.skip "MOONRANK does not name the program" end
  local text = [[
local mr = require "moonrank"
local trials = 2
local lr = 0.5
print(#mr.sweep{ name = "s", store = "r.db", space = { x = mr.uniform(0, 1) }, sampler = "random", trials = trials,
  progress = false, workers = WORKERS, run = function(trial) return lr * trial.x end, force = FORCE }:trials().rows)
]]
  for _, workers in ipairs{ 0, 2 } do
    local folder = sweeps.new_folder()
    local function run(change, to, force)
      local plain = text:gsub(change or "%z", to or "")
      plain = plain:gsub("WORKERS", tostring(workers)):gsub("FORCE", tostring(force or false))
      sweeps.write(folder .. "/sweep.lua", plain)
      return sweeps.run(folder, "sweep.lua")
    end
    equal({ run() }, { 0, "2\n", "" })
    equal({ run("trials = 2", "trials = 4") }, { 0, "4\n", "" })
    equal({ run("$", "print 'analysis' -- after it\n") }, { 0, "4\nanalysis\n", "" })
    local status, _, err = run("lr = 0.5", "lr = 0.6")
    check(status == 1 and err:find("run.lr", 1, true), err)
    status, _, err = run("lr %* trial", "lr + trial")
    check(status == 1 and err:find("function run", 1, true), err)
    equal((run("lr %* trial", "lr + trial", true)), 0)
  end
end)

it("code fingerprints of earlier versions are compared under former option names", function()
  local function texts(steepness, rate)
    local bound = mr.bounds.distribution_bound{ steepness = 3 }
    local losses = { mr.losses.lambdarank{ steepness = steepness }, mr.losses.ap{ bound = bound } }
    local function run() return losses, rate end
    return code.of(run), function(former) return code.of(run, nil, nil, former) end
  end
  local now, before = texts(2, 1)
  local was = before{ values = 1 }
  check(was:find("options.gain\t2", 1, true) and not was:find "steepness", was)
  check(now:find("options.steepness\t2", 1, true) and not now:find "gain\t", now)
  equal(code.changes(was, now, before), nil)
  equal(code.changes(now, now, before), nil)
  local changed = code.changes(was, texts(4, 1))
  check(changed:find("options.gain: then 2, now 4", 1, true) and not changed:find "removed", changed)
  changed = code.changes(was, texts(2, 5))
  check(changed:find("rate: then 1, now 5", 1, true) and not changed:find "gain", changed)
end)

it("code fingerprints of versions between two renamings have the former names of their time", function()
  local function texts(k)
    local losses = { mr.losses.top_n_rank{ k = k }, mr.losses.soft_recall{ k = 4 }, mr.losses.ap{ steepness = 2 } }
    local function run() return losses end
    return code.of(run), function(former) return code.of(run, nil, nil, former) end
  end
  local now, before = texts(3)
  local between, first = before{ values = 2 }, before{ values = 1 }
  says(between, "[1].options.n\t3", "[2].options.k\t4", "[3].options.steepness\t2")
  says(first, "[1].options.n\t3", "[2].options.k\t4", "[3].options.gain\t2")
  for _, was in ipairs{ now, between, first } do
    equal(code.changes(was, now, before), nil)
    local changed = code.changes(was, texts(5))
    check(changed:find("then 3, now 5", 1, true) and not changed:find "steepness", changed)
  end
end)

it("data in a study's code are named as data, also beside a text of an earlier version", function()
  local function texts(seed, number)
    local set = mr.data.synthetic{ kind = "queries", queries = 3, seed = seed }
    local function run() return set, number end
    return set.fingerprint, code.of(run), function(former) return code.of(run, nil, nil, former) end
  end
  local print_1, was, before = texts(1, 10)
  local print_2, now, now_before = texts(2, 10)
  for _, text in ipairs{ code.changes(was, now), (code.changes(before{ values = 1 }, now, now_before)) } do
    check(text:find(("set: then %%S*.*%s, now .*%s"):format(print_1, print_2)), text)
  end
  says(code.changes(was, now), "then data of fingerprint " .. print_1, "now data of fingerprint " .. print_2)
  equal(code.changes(before{ values = 1 }, was, before), nil)
  local _, other = texts(1, 0x1234567890abcdef)
  local _, another = texts(1, 0x1234567890abcdee)
  check(not code.changes(other, another):find "data of", code.changes(other, another))
end)

describe("the code fingerprint of captured tables", function()
  local function text_of(value) return code.of(function() return value end) end
  local function of_graph(weight)  -- builds a graph in which the keys of every node's table are all other nodes
    local nodes = {}
    for i = 1, 100 do nodes[i] = { number = i, near = {} } end
    for _, a in ipairs(nodes) do
      for _, b in ipairs(nodes) do a.near[b] = a ~= b and weight or nil end
    end
    return nodes
  end
  local function deep(last, levels)
    local top = {}
    local at = top
    for _ = 1, levels or 5000 do
      at.inner = {}
      at = at.inner
    end
    at.value = last
    return top
  end
  local function powers(last)
    local value = { last }
    for _ = 1, 20 do value = { [{ 1 }] = value, both = { value, value } } end
    return value
  end
  local function round(last)
    local t = { value = last }
    t[t] = t
    return t
  end
  it("handles cycles through keys and deep nesting quickly", function()
    for name, make in pairs{ graph = of_graph, deep = deep, powers = powers, round = round } do
      local began = os.clock()
      local one, same, other = text_of(make(1)), text_of(make(1)), text_of(make(2))
      check(os.clock() - began < 10, name .. " took too long")
      equal(one, same, name)
      check(one ~= other, name .. ": a change is found")
      check(#one < 4e6, name)
    end
  end)
  it("marks too deeply nested tables as not comparable", function()
    check(text_of(deep(1, 200000)):find("unseen", 1, true))
  end)
  it("allows a sweep with cyclic tables and NaN to finish", function()
    local folder = sweeps.new_folder()
    local value = round(0 / 0)
    value[{}] = 0 / 0
    local results = mr.sweep{ name = "s", store = folder .. "/r.db", space = { x = mr.choice{ 1 } }, workers = 0,
      progress = false, metric = "v", direction = "maximize",
      run = function(trial) return { v = value and trial.x } end }
    equal(results:counts(), { done = 1 })
  end)
end)
