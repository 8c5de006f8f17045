-- Tests that errors in functions of a script name the line that raised them, wherever the library calls the function.
local mr = require "moonrank"
local sweeps = dofile "tests/support/sweeps.lua"
local on_cpu = dofile "tests/support/on_cpu.lua"
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

local data = mr.data.synthetic{ kind = "queries", queries = 6, features = 2, seed = 1 }
local lists = mr.lists{ { 1, 0 }, { 0, 1, 0 } }

-- Returns functions of one line that raise an error: by error(), by a mistake in Lua, or inside the library.
local function failing(name)
  return {
    function() error(name) end,
    function() local x = {} return x.y.z end,
    function(x) return x.nosuch.field end,
    function() return mr.ones(2):matmul(mr.ones(3)) end,
  }
end

-- Calls use(f, i) for each function of `failing`. The error must begin with the line of the function, and name no other
-- line.
local function keeps_line(use)
  for i, f in ipairs(failing "of the script") do
    local here = ("callbacks_spec.lua:%d: "):format(debug.getinfo(f, "S").linedefined)
    local ok, message = pcall(use, f, i)
    equal(ok, false)
    message = tostring(message)
    check(message:find(here, 1, true), ("expected %s in: %s"):format(here, message))
    check(not message:gsub("tests/stdlib/", ""):find("stdlib/", 1, true), message)
  end
end

local function fit(options)
  options.model = options.model or mr.models.linear{ inputs = 2 }
  options.loss = options.loss or mr.losses.ndcg{}
  options.train, options.epochs, options.progress = data, 2, false
  return mr.fit(options)
end

local function with_forward(forward)
  local function parameters() return { w = mr.ones(2, 1) } end
  mr.models.define("callbacks_spec_model", { parameters = parameters, forward = forward })
  return mr.models.callbacks_spec_model{}
end

describe("an error in a script's function", function()
  it("keeps its line in functions of a model", function()
    keeps_line(function(f) fit{ model = with_forward(function(_, batch) f(batch) end) } end)
    for _, role in ipairs{ "valid", "test" } do
      keeps_line(function(f)
        fit{ model = with_forward(function(_, batch) f(batch) end), [role] = data, metrics = { "ndcg" } }
      end)
    end
    keeps_line(function(f)
      local function parameters(o) return f(setmetatable(o, { __index = error })) end
      mr.models.define("callbacks_spec_none", { parameters = parameters, forward = f })
      mr.models.callbacks_spec_none{}
    end)
  end)

  it("keeps its line if a forward function gives NaN", on_cpu(function()
    for _, valid in ipairs{ false, data } do
      local function divides(p, batch) return batch.features:matmul(p.w):sum(2) * 0 / 0 end
      local options = { model = with_forward(divides), valid = valid or nil, metrics = valid and { "ndcg" } or nil }
      local ok, message = pcall(fit, options)
      local line = ("callbacks_spec.lua:%d: div: 'div' made NaN"):format(debug.getinfo(divides, "S").linedefined)
      check(not ok and message:find(line, 1, true), message)
    end
  end))

  local metrics = 0
  it("keeps its line in each_epoch, losses and metrics", function()
    for _, epoch in ipairs{ 0, 1 } do
      keeps_line(function(f) fit{ each_epoch = function(now, model) return now == epoch and f(model) end } end)
    end
    keeps_line(function(f, i)
      local name = "callbacks_spec_smooth" .. i
      mr.losses.define(name, { direction = "maximize", metric = "ap", smooth = f })
      fit{ loss = mr.losses[name]{ bound = "minmax" }, valid = data, metrics = { "ap" } }
    end)
    keeps_line(function(f, i)
      local name = "callbacks_spec_exact" .. i
      mr.losses.define(name, { direction = "maximize", smooth = function(s, l) return l:sum(s) end, exact = f })
      fit{ loss = mr.losses[name]{ bound = "minmax" } }
    end)
    for _, use in ipairs{
      function(name) return fit{ valid = data, metrics = { name } } end,
      function(name) return mr.evaluate(mr.arange(1, 5), lists, { name }) end,
      function(name) return mr.bounds.of(name, { n = 4, p = 2 }) end,
    } do
      keeps_line(function(f)
        metrics = metrics + 1
        local name = "callbacks_spec_metric_" .. ("x"):rep(metrics)
        mr.metrics.define(name, f)
        use(name)
      end)
    end
  end)

  it("keeps its line in functions of bounds", function()
    for _, use in ipairs{
      function(bound) fit{ loss = mr.losses.ap{ bound = bound }, valid = data, metrics = { "ap" } } end,
      function(bound) fit{ loss = mr.losses.lambdarank{ bound = bound } } end,
      function(bound) return mr.bounds.slopes(bound, "ap", lists) end,
      function(bound)
        mr.bounds.define("callbacks_spec_bound", bound)
        mr.bounds.check "callbacks_spec_bound"
      end,
    } do
      keeps_line(use)
    end
  end)

  it("keeps its line in mr.no_grad, mr.detect_anomaly and mr.gradcheck", function()
    keeps_line(function(f) mr.no_grad(function() f(mr.ones(1)) end) end)
    keeps_line(function(f) mr.detect_anomaly(function() f(mr.ones(1)) end) end)
    keeps_line(function(f) mr.gradcheck(f, mr.ones(1)) end)
  end)

  it("keeps its line in the run function of mr.sweep", function()
    local folder = sweeps.new_folder()
    keeps_line(function(f, i)
      local study = mr.sweep{ name = "s" .. i, store = folder .. "/r.db", progress = false,
        space = { a = mr.choice{ 1 } }, run = function(trial) return f(trial) end }
      error(study:trials{ columns = { "reason" } }.rows[1][1], 0)
    end)
  end)
end)
