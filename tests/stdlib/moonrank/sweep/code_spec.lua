-- What a study is made of in its script: which edits change it, and which do not.
local mr = require "moonrank"
local bytecode = require "moonrank.sweep.bytecode"
local code = require "moonrank.sweep.code"
local test = require "moonrank.test"
local describe, it, check, equal = test.describe, test.it, test.check, test.equal

-- The function that a script returns.
local function run_of(text) return assert(load(text, "@script.lua"))() end

local script = [[
local mr = require "moonrank"
local epochs, rates = 20, { 0.1, 0.01, by = { loss = "ndcg" } }
local function helper(x) return x * 2 end
local shapes = { double = helper }
local seen = 0
return function(trial)
  seen = seen + 1
  local value = helper(trial.a) + epochs * rates[1]
  return { value = value, x = mr.tensor{ 1, 2 }:sum(), shapes = shapes }
end
]]

-- The script with one piece of it replaced.
local function edited(from, to)
  local at, last = script:find(from, 1, true)
  assert(at, from)
  return script:sub(1, at - 1) .. to .. script:sub(last + 1)
end

describe("a trial's function", function()
  local was = code.of(run_of(script))

  it("is the same after edits that change no result", function()
    for _, text in ipairs{
      script, "-- a comment\n\n\n" .. script, edited("local function helper", "print = print\nlocal function helper"),
      edited("  local value", "  -- why\n\n  local value"), edited("seen = 0", "seen = 5"),
      edited("local value = helper(trial.a) + epochs * rates[1]\n  return { value = value",
        "local other = helper(trial.a) + epochs * rates[1]\n  return { value = other"),
      edited("local seen", "local unused = 3\nlocal seen"),
    } do
      equal(code.of(run_of(text)), was)
    end
  end)

  it("is another after edits that may", function()
    local all = { [was] = true }
    for _, change in ipairs{
      { "epochs, rates = 20", "epochs, rates = 21" }, { "0.1, 0.01", "0.2, 0.01" }, { '"ndcg"', '"ap"' }, { "x * 2", "x * 3" },
      { "+ epochs", "- epochs" }, { "double = helper", "double = function(x) return x end" }, { "1, 2}", "1, 3}" },
      { "{ value = value,", "{ value = value, seen = seen," },
    } do
      local ok, text = pcall(edited, change[1], change[2])
      if not ok then text = edited((change[1]:gsub("}", " }")), (change[2]:gsub("}", " }"))) end
      local now = code.of(run_of(text))
      check(not all[now], change[2])
      all[now] = true
    end
  end)

  it("names what it reaches", function()
    check(was:find("value run.epochs = 20", 1, true), was)
    check(was:find("function run.helper ", 1, true), was)
    check(was:find("table run.rates ", 1, true), was)
    check(not was:find("unseen", 1, true), was)
  end)

  it("does not depend on what trials left in its tables", function()
    local cache = {}
    local function run(trial)
      cache[trial.a] = cache[trial.a] or trial.a
      return cache[trial.a]
    end
    local before = code.of(run)
    run{ a = 1 }
    equal(code.of(run), before)
    -- in another process it is empty when the function is seen
    cache = {}
    check(code.of(run) == before, "a cache is no part of what uses it")
  end)

  it("is made of what scripts defined by name, and of functions within objects", function()
    local before = code.of(function() return 1 end)
    mr.bounds.define("spec_code", function(score) return score end)
    local once = code.of(function() return 1 end)
    check(once ~= before and once:find("function bound spec_code", 1, true), once)
    mr.bounds.define("spec_code", function(score) return score * 2 end)
    check(code.of(function() return 1 end) ~= once)
    local function with(f)
      local loss = mr.losses.ndcg{ bound = f }
      return function() return loss end
    end
    check(code.of(with(function(score) return score end)) ~= code.of(with(function(score) return -score end)))
  end)

  it("is made of the globals that it reads, and of fields that trials do not assign", function()
    rawset(_G, "spec_score", function(x) return x end)
    local run = run_of "return function(trial) return spec_score(trial.a) end"
    local before = code.of(run)
    rawset(_G, "spec_score", function(x) return x * 2 end)
    check(code.of(run) ~= before, "a global function")
    rawset(_G, "spec_score", nil)
    local base = { epochs = 5, lib = { f = function() return 1 end } }
    local function of_base(trial)
      base.lr = trial.lr
      return base
    end
    before = code.of(of_base)
    base.lr = 3
    equal(code.of(of_base), before)
    base.epochs = 6
    check(code.of(of_base) ~= before, "a field that it does not assign")
    base.epochs, base.lib.f = 5, function() return 2 end
    check(code.of(of_base) ~= before, "a function in a table that it assigns to")
  end)

  it("is made of what it loads when it runs", function()
    local folder = os.tmpname()
    os.remove(folder)
    require("moonrank.core").make_folder(folder .. "/x")
    local function module(text)
      local file = assert(io.open(folder .. "/spec_module.lua", "w"))
      file:write(text):close()
    end
    local kept = package.path
    package.path = folder .. "/?.lua;" .. kept
    module "return { train = function() return 1 end }"
    local run = run_of 'return function(trial) return require("spec_module").train(trial) end'
    local before = code.of(run)
    module "-- another comment\n\nreturn { train = function() return 1 end }"
    equal(code.of(run), before)
    module "return { train = function() return 2 end }"
    check(code.of(run) ~= before, "a module")
    check(not before:find("unseen", 1, true), before)
    local file = run_of(("return function() return dofile %q end"):format(folder .. "/spec_module.lua"))
    before = code.of(file)
    module "return 3"
    check(code.of(file) ~= before, "a file")
    check(code.of(run_of 'return function(trial) return require(trial.name) end'):find("unseen run: what it loads", 1, true))
    package.path = kept
  end)

  it("is made of options of metrics and losses", function()
    local function with(metric) return code.of(function() return metric end) end
    check(with(mr.metrics.parse("ap", { relevant = 1 })) ~= with(mr.metrics.parse("ap", { relevant = 2 })))
  end)

  it("is made of the lists that it uses", function()
    local function with(last)
      local lists = mr.lists{ { 1, 0, 0 }, { 0, 1, last } }
      return code.of(function() return lists end)
    end
    equal(with(0), with(0))
    check(with(0) ~= with(1))
  end)

  it("says what it cannot see", function()
    local thread = coroutine.create(print)
    check(code.of(function() return thread end):find("unseen run.thread: a coroutine", 1, true))
    local pipe = io.tmpfile()
    check(code.of(function() return pipe end):find("unseen run.pipe: a FILE*", 1, true))
    pipe:close()
  end)

  it("leaves settings and data out, which are compared by themselves", function()
    local function with(words, seed)
      local args = mr.args({ epochs = 3 }, words)
      local data = mr.data.synthetic{ kind = "queries", queries = 5, seed = seed }
      return code.of(function() return args, data end)
    end
    equal(with({}, 1), with({ "--epochs", "5" }, 2))
  end)
end)

describe("bytecode", function()
  it("is that of any function, wherever it stands", function()
    local text = ("x"):rep(5000)
    local body = ([[local u, v = 1, 2
      return function(a, ...)
        local t = { 1, 2.5, "short", "%s", -7, 1e300, 123456789012, true, nil, false, ... }
        for i = 1, a do t[i] = function() u = u + i; return i + a, v end end
        goto done
        ::done::
        return t
      end]]):format(text)
    local a, assigns = bytecode.of(run_of(body))
    equal(a, (bytecode.of(run_of(("\n"):rep(300) .. body))))
    check(a ~= bytecode.of(run_of((body:gsub("1e300", "1e299")))))
    equal(assigns.assigns, { [0] = { [true] = true } })  -- u, by the function inside
  end)

  it("knows what a function puts something into", function()
    local any = { [true] = true }
    local function assigns(text) return select(2, bytecode.of(run_of("local u, v = {}, {} " .. text))).assigns end
    equal(assigns "return function(k) u[k] = v[k] end", { [0] = any })
    equal(assigns "return function(k) u.x = v.x end", { [0] = { x = true } })
    equal(assigns "return function(k) u[1] = v[1] end", { [0] = { true } })
    equal(assigns "return function(k) u.x.y = 1 end", { [0] = { x = true } })
    equal(assigns "return function(k) local t = v u[k][k].x = t end", { [1] = any })
    equal(assigns "return function(k) local t = { u } t[1] = v return t end", {})
    equal(assigns "return function(k) return function() u[k] = v end end", { [0] = any })
  end)
end)
