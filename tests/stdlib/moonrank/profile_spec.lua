-- Tests mr.profile: its counts and sums, its files, and that profiling is switched off however the profiled function
-- ends.
local mr = require "moonrank"
local core = require "moonrank.core"
local json = dofile "tests/support/json.lua"
local files = require "tests.support.files"
local test = require "moonrank.test"
local describe, it, equal, near, check, raises = test.describe, test.it, test.equal, test.near, test.check, test.raises

local quiet = { quiet = true }

local function by_name(records, name)
  local found = {}
  for _, row in ipairs(records) do found[row[name]] = row end
  return found
end

local function rows_of(f, options) return by_name(mr.profile(f, options or quiet).rows, "operation") end

local queries = mr.data.synthetic{ kind = "queries", queries = 30, features = 5, seed = 1 }

local function fit(options)
  local model = mr.models.linear{ inputs = 5, seed = 1 }
  local all = { model = model, loss = mr.losses.ap{ bound = "minmax" }, train = queries, valid = queries,
    test = queries, batch = 8, epochs = 3, metrics = { "ndcg" }, progress = false }
  for name, value in pairs(options or {}) do all[name] = value end
  return mr.fit(all), model
end

describe("mr.profile", function()
  it("counts calls and bytes of operations, forward and backward apart", function()
    local x = mr.normal({ 64, 32 }, { seed = 1 }):requires_grad()
    local rows = rows_of(function()
      for _ = 1, 3 do (x * x):sum():backward() end
      return x + x
    end)
    equal(rows.mul.calls, 3)
    equal(rows["mul backward"].calls, 3)
    equal(rows["sum backward"].calls, 3)
    equal(rows.backward.calls, 3)
    equal(rows.add.calls, 1)
    equal(rows.add.bytes, 64 * 32 * 4)
    equal(rows.mul.bytes, 3 * 64 * 32 * 4)
  end)

  it("does not count inner operations twice: all times add up to the total", function()
    local x = mr.normal({ 200, 200 }, { seed = 1 }):requires_grad()
    local profile = mr.profile(function() x:matmul(x):sum():backward() end, quiet)
    local all, backward = 0, 0
    for _, row in ipairs(profile.rows) do
      all = all + row.ms
      if row.operation:find " backward$" then backward = backward + row.total_ms end
      check(row.ms >= 0 and row.total_ms >= row.ms, row)
      near(row.share, row.ms / profile.total_ms, 1e-9)
    end
    near(all + profile.outside_ms, profile.total_ms, 1e-6)
    local rows = by_name(profile.rows, "operation")
    near(rows.backward.total_ms, rows.backward.ms + backward, 1e-6)
    local phases = 0
    for _, row in ipairs(profile.phases) do phases = phases + row.ms end
    near(phases, profile.total_ms, 1e-6)
    for i = 2, #profile.rows do check(profile.rows[i - 1].ms >= profile.rows[i].ms) end
  end)

  it("tells the phases of mr.fit apart", function()
    local profile = mr.profile(fit, quiet)
    local phases = by_name(profile.phases, "phase")
    equal(phases.step.calls, 12)
    equal(phases.backward.calls, 12)
    equal(phases.evaluation.calls, 4)
    check(phases.batches.calls >= 12 and phases.forward.calls >= 12 and phases.bounds.calls >= 15, phases)
    check(phases.other.ms > 0)
  end)

  it("changes no results, and returns what its function returns", function()
    local plain, model = fit()
    local _, run, other, none, last = mr.profile(function()
      local run, made = fit()
      return run, made, nil, 7
    end, quiet)
    equal(run.test.ndcg:totable(), plain.test.ndcg:totable())
    equal(other:parameters()[1]:totable(), model:parameters()[1]:totable())
    equal({ none == nil, last }, { true, 7 })
  end)

  it("prints the first rows and a sum of the others, and exports CSV, JSON and LaTeX", function()
    local profile = mr.profile(fit, { quiet = true, rows = 2 })
    local text = tostring(profile)
    check(text:find "operation +calls +ms +share %% +with inner ms +MiB")
    check(text:find(("\n%d others "):format(#profile.rows - 2), 1, true), text)
    check(text:find "\noutside of operations" and text:find "\ntotal .* 100%.0")
    check(text:find "\nphase +calls +ms +share %%")
    local _, lines = profile:to_csv():gsub("\n", "")
    equal(lines, #profile.rows + 1)
    check(profile:to_csv():find "^operation,calls,ms,share,total_ms,bytes\n")
    check(profile:to_latex():find "\\toprule")
    local read = json.read(files.written(profile:to_json()))
    equal(#read, #profile.rows)
    for _, name in ipairs{ "operation", "calls", "bytes" } do equal(read[1][name], profile.rows[1][name]) end
  end)

  it("refuses wrong arguments before its function runs", function()
    local function ran() error "it ran" end
    raises(function() mr.profile(3) end, "mr.profile", "f", "3")
    raises(function() mr.profile(ran, { row = 3 }) end, "'row'", "'rows'")
    raises(function() mr.profile(ran, { rows = -1 }) end, "rows", "-1")
    raises(function() mr.profile(ran, { events = 1e9 // 1 | 0 }) end, "events", "1000000000")
    raises(function() mr.profile(ran, { trace = 3 }) end, "trace", "3")
    raises(function() mr.profile(ran, { trace = "/nosuch/folder/x.json" }) end, "/nosuch/folder/x.json")
    raises(function() mr.profile(ran, { trace = "/" }) end, "profile", "folder")
  end)
end)

describe("the trace of mr.profile", function()
  local path = os.tmpname()
  local function read()
    local trace, events = json.read(path), {}
    equal({ trace.displayTimeUnit, trace.traceEvents[1].ph }, { "ms", "M" })
    for i = 2, #trace.traceEvents do
      local each = trace.traceEvents[i]
      equal({ each.ph, each.pid, each.tid }, { "X", 1, 1 })
      events[i - 1] = { name = each.name, kind = each.cat, from = each.ts, to = each.ts + each.dur,
        bytes = each.args.bytes }
    end
    return events, trace.otherData.left_out
  end

  it("has every operation and phase, nested in time", function()
    local profile = mr.profile(fit, { quiet = true, trace = path })
    local events, left_out = read()
    equal(#events, profile.events)
    equal({ profile.left_out, left_out }, { 0, 0 })
    local calls = {}
    for _, event in ipairs(events) do
      calls[event.name] = (calls[event.name] or 0) + 1
      if event.kind == "backward" then
        local within = 0
        for _, each in ipairs(events) do
          local around = each.from <= event.from + 0.01 and event.to <= each.to + 0.01
          if each.name == "backward" and each.kind == "forward" and around then within = within + 1 end
        end
        equal(within, 1, event.name)
      end
    end
    for _, row in ipairs(profile.rows) do
      if row.operation ~= "backward" then equal(calls[row.operation], row.calls, row.operation) end
    end
  end)

  it("is limited by events, counts what it leaves out, and can be saved later", function()
    local profile = mr.profile(fit, { quiet = true, events = 10 })
    equal(profile.events, 10)
    check(profile.left_out > 100)
    check(tostring(profile):find(("10 of %d events"):format(profile.left_out + 10), 1, true))
    profile:save_trace(path)
    local events, left_out = read()
    equal({ #events, left_out }, { 10, profile.left_out })
    raises(function() profile:save_trace(3) end, "path", "3")
  end)

  it("is written if the profiled function raises an error", function()
    local function fails()
      local _ = mr.ones(2) + 1
      error "stopped here"
    end
    raises(function() mr.profile(fails, { trace = path }) end, "stopped here")
    local events = read()
    check(#events >= 1 and events[#events].name == "add", events)
  end)
end)

describe("mr.profile is switched off", function()
  local function off() equal(core.profiling(), false) end

  it("after an error, which it raises unchanged", function()
    local object = {}
    local ok, raised = pcall(mr.profile, function() error(object) end, quiet)
    check(not ok and raised == object)
    off()
    raises(function() mr.profile(function() return mr.ones(2) + mr.ones(3) end, quiet) end, "broadcast")
    off()
  end)

  it("after Ctrl-C", function()
    raises(function() mr.profile(function() error("interrupted", 0) end, quiet) end, "interrupted")
    off()
  end)

  it("after a nested profile, whose operations count in both", function()
    local x, inner = mr.ones(10), nil
    local outer = rows_of(function()
      local _ = x + 1
      inner = rows_of(function() return x + 1, x * 2 end)
      pcall(mr.profile, function() local _ = x * 3; error "within" end, quiet)
      equal(core.profiling(), true)
    end)
    equal({ inner.add.calls, inner.mul.calls }, { 1, 1 })
    equal({ outer.add.calls, outer.mul.calls }, { 2, 2 })
    off()
  end)

  it("while its coroutine is suspended, and after the coroutine is closed", function()
    local x, profile = mr.ones(10), nil
    local body = coroutine.wrap(function()
      profile = mr.profile(function()
        local _ = x + 1
        equal(coroutine.yield "out", "in")
        return x + 1
      end, quiet)
      return "done"
    end)
    equal(body(), "out")
    off()
    local _ = x + 1
    equal(body "in", "done")
    equal(by_name(profile.rows, "operation").add.calls, 2)
    off()
    local left = coroutine.create(function() mr.profile(function() coroutine.yield() end, quiet) end)
    coroutine.resume(left)
    off()
    coroutine.close(left)
    off()
    raises(function() mr.profile(coroutine.yield, quiet) end, "coroutine")
    off()
  end)

  it("with phases that a coroutine never ended", function()
    local phase = require "moonrank.system.phase"
    local left
    local profile = mr.profile(function()
      left = coroutine.create(function()
        local _ <close> = phase.begin "left"
        coroutine.yield()
      end)
      coroutine.resume(left)
      local _ <close> = phase.begin "after"
    end, quiet)
    local phases = by_name(profile.phases, "phase")
    equal({ phases.left.calls, phases.after.calls }, { 1, 1 })
    coroutine.close(left)
    off()
  end)

  it("after a stack overflow of nested profiles", function()
    local function deep(n)
      return mr.profile(function() return n == 0 or deep(n - 1) end, { quiet = true, events = 0 })
    end
    local ok, message = pcall(deep, 1000)
    check(not ok and tostring(message):find "stack overflow", message)
    off()
  end)

  it("after an error, with its function's variables closed", function()
    local closed = false
    pcall(mr.profile, function()
      local _ <close> = setmetatable({}, { __close = function() closed = true end })
      error "x"
    end, quiet)
    check(closed)
  end)

  it("after mr.fit, also with a nested profile in each_epoch", function()
    mr.profile(function()
      fit{ each_epoch = function(epoch)
        if epoch == 2 then mr.profile(function() return mr.ones(2) + 1 end, quiet) end
      end }
    end, quiet)
    off()
  end)
end)
