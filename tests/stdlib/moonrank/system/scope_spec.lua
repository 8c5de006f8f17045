-- Tests that a scope (state that is set during one call, such as mr.no_grad) applies only inside its call, also with
-- coroutines.
local mr = require "moonrank"
local core = require "moonrank.core"
local random = require "moonrank.tensor.random"
local scope = require "moonrank.system.scope"
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

local function records() return mr.ones(2):requires_grad():sum().tracked end

local function looks()
  local was = core.detect_anomalies "none"
  core.detect_anomalies(was)
  return was
end

local function refused(name, within)
  local co = coroutine.create(function() within(coroutine.yield) end)
  local ok, message = coroutine.resume(co)
  equal(ok, false)
  check(tostring(message):find(("attempt to yield within '%s'"):format(name), 1, true), tostring(message))
  equal(coroutine.status(co), "dead")
  check(records())
  equal(looks(), "none")
end

describe("a scope", function()
  it("raises an error for a yield within it", function()
    refused("mr.no_grad", mr.no_grad)
    refused("mr.no_grad", function(yield) mr.no_grad(function() mr.no_grad(function() end) yield() end) end)
    refused("mr.detect_anomaly", mr.detect_anomaly)
    refused("mr.detect_anomaly", function(yield) mr.no_grad(function() mr.detect_anomaly(yield) end) end)
    refused("x", function(yield)
      local _ <close> = random.scope(3, "x")
      yield()
    end)
    refused("a bound", function(yield)
      mr.bounds.slopes(function(score) yield() return score end, "ap", mr.lists{ { 1, 0 } }):sum()
    end)
  end)

  it("closes if its coroutine fails, however it was resumed", function()
    local before = mr.normal({ 1 }):item()
    mr.seed(1)
    for _, within in ipairs{ mr.no_grad, mr.detect_anomaly, function(f)
      local _ <close> = random.scope(3, "x")
      f()
    end } do
      local function fail() error({}, 0) end
      local co = coroutine.create(within)
      local ok, object = coroutine.resume(co, fail)
      equal({ ok, type(object), coroutine.status(co) }, { false, "table", "dead" })
      equal({ coroutine.resume(co) }, { false, "cannot resume dead coroutine" })
      equal(pcall(coroutine.wrap(within), fail), false)
      equal({ records(), looks() }, { true, "none" })
    end
    check(mr.normal({ 1 }):item() == before)
  end)

  it("applies to coroutines while they run within it", function()
    local generator = coroutine.wrap(function()
      while true do coroutine.yield(records()) end
    end)
    equal({ generator(), mr.no_grad(generator), generator() }, { true, false, true })
    equal(mr.no_grad(function() return coroutine.wrap(function() coroutine.yield(records()) end)() end), false)
    check(records())
  end)

  it("leaves the coroutine as it was if an error of a yield is caught", function()
    local co = coroutine.wrap(function()
      local ok = pcall(mr.no_grad, coroutine.yield)
      coroutine.yield(ok, records())
      local a <close> = scope.open("a", function() end, function() end)  -- luacheck: ignore 211
      return pcall(coroutine.yield)
    end)
    equal({ co() }, { false, true })
    local ok, message = co()
    check(not ok and message:find("within 'a'", 1, true))
  end)

  it("is not open while mr.fit calls each_epoch", function()
    local data = mr.data.synthetic{ kind = "queries", queries = 5, features = 2 }
    local epochs = coroutine.wrap(function()
      mr.fit{ model = mr.models.linear{ inputs = 2 }, loss = mr.losses.ndcg{}, train = data, epochs = 2,
        progress = false, each_epoch = function(epoch) coroutine.yield(epoch) end }
    end)
    equal({ epochs(), epochs(), epochs() }, { 0, 1, 2 })
  end)
end)
