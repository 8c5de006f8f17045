-- Tests deferred optimizer updates against training with dense gradients, which optim_spec.lua tests against the
-- papers.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local by_rows = require "tests.support.by_rows"
local describe, it, near, check, equal = test.describe, test.it, test.near, test.check, test.equal
local index, start, rows_of, gradients, step_of = by_rows.index, by_rows.start, by_rows.rows_of, by_rows.gradients,
  by_rows.step_of
local n, width, cases = by_rows.rows, by_rows.width, by_rows.cases

core.put_off_from(0)  -- updates are deferred also for small parameters

local f64 = { dtype = "float64" }

-- Trains one parameter with gradients of few rows, whose other updates are deferred, and another with dense gradients.
-- Calls `look` with both from time to time.
local function both(case, dtype, dense_dtype, steps, look)
  local name, options = case[1], case[2]
  local p, expected = start(dtype), start(dense_dtype)
  local a, b = mr.optim[name](options):bind{ p }, mr.optim[name](options):bind{ expected }
  math.randomseed(7)
  for step = 1, steps do
    if case.decaying then
      local lr = options.lr * (step % 100 < 50 and 1 or 0.3) / (1 + step / 500)
      a.options.lr, b.options.lr = lr, lr
    end
    local rows = rows_of(step)
    local g = gradients(step, rows, case.scale)
    step_of(p, a, rows, g, false)
    step_of(expected, b, rows, g, true)
    if step <= 40 or step % 97 == 0 or step == steps then look(step, p, expected) end
  end
end

-- The published update of one number, for each optimizer.
local waiting = {
  adamw = { { lr = 0.001, weight_decay = 0.01 }, function(at, g, t, o)
    at.m, at.v = o.beta1 * at.m + (1 - o.beta1) * g, o.beta2 * at.v + (1 - o.beta2) * g * g
    local root = math.sqrt(at.v / (1 - o.beta2 ^ t)) + o.epsilon
    at.p = at.p * (1 - o.lr * o.weight_decay) - o.lr * at.m / (1 - o.beta1 ^ t) / root
  end },
  sgd = { { lr = 0.001, momentum = 0.9, weight_decay = 0.001 }, function(at, g, _, o)
    at.m = o.momentum * at.m + g + o.weight_decay * at.p
    at.p = at.p - o.lr * at.m
  end },
  rmsprop = { { lr = 0.001, alpha = 0.9999, momentum = 0.9 }, function(at, g, _, o)
    at.v = o.alpha * at.v + (1 - o.alpha) * g * g
    at.m = o.momentum * at.m + g / (math.sqrt(at.v) + o.epsilon)
    at.p = at.p - o.lr * at.m
  end },
}

describe("deferred updates", function()
  for _, case in ipairs(cases) do
    local shown = tostring(mr.optim[case[1]](case[2])) .. (case.decaying and " with a schedule" or "")
    it(shown .. " equal dense steps to rounding over 2500 steps", function()
      local exact = {}
      both(case, "float64", "float64", 2500, function(step, p, expected)
        near(p, expected, 3e-10, ("float64, step %d"):format(step))
        exact[step] = expected:detach() * 1
      end)
      -- in float32, deferred updates are about as close to the exact values as dense updates
      local worst, worst_dense = 0, 0
      both(case, "float32", "float32", 2500, function(step, p, dense)
        worst = math.max(worst, (p:double() - exact[step]):abs():max():item())
        worst_dense = math.max(worst_dense, (dense:double() - exact[step]):abs():max():item())
      end)
      check(worst <= math.max(5e-6, 2 * worst_dense), ("float32: %g, dense %g"):format(worst, worst_dense))
    end)
  end

  it("give the same bits if the state is saved and loaded in between", function()
    for _, case in ipairs(cases) do
      local p, q = start("float32"), start("float32")
      local a, b = mr.optim[case[1]](case[2]):bind{ p }, mr.optim[case[1]](case[2]):bind{ q }
      math.randomseed(13)
      for step = 1, 420 do
        local rows = rows_of(step)
        local g = gradients(step, rows, case.scale)
        step_of(p, a, rows, g, false)
        step_of(q, b, rows, g, false)
        if step == 3 or step == 255 or step == 256 or step == 400 then
          local names, tensors = b:_numbers()
          q = (q:detach() * 1):detach():requires_grad()
          b = mr.optim[case[1]](case[2]):bind{ q }
          b:_resume(names, tensors)
        end
      end
      equal(q:totable(), p:totable(), tostring(a))
    end
  end)

  it("keep infinities and NaN in their rows", function()
    for _, case in ipairs(cases) do
      local p = start()
      local optimizer = mr.optim[case[1]](case[2]):bind{ p }
      for step = 1, 300 do
        local scale = step == 20 and math.huge or step == 21 and 0 / 0 or 1e-3
        step_of(p, optimizer, { 3, 1 }, mr.tensor({ { 1e-3 }, { scale } }, f64) * mr.ones(2, width, f64), false)
      end
      local found = p:totable()
      for c = 1, width do
        check(found[1][c] ~= found[1][c], tostring(optimizer))
        for row = 2, n do check(found[row][c] == found[row][c] and math.abs(found[row][c]) < math.huge) end
      end
    end
  end)

  it("equal dense steps if a row waits for more steps than are remembered", function()
    for _, case in ipairs{ { "adam", { lr = 0.001 } }, { "sgd", { lr = 0.001, momentum = 0.9 } },
      { "adamw", { lr = 0.001, weight_decay = 0.1 } },
      { "sgd", { lr = 0.001, momentum = 0.9, weight_decay = 0.1 } } } do
      local p, expected = start(), start()
      local a, b = mr.optim[case[1]](case[2]):bind{ p }, mr.optim[case[1]](case[2]):bind{ expected }
      for step = 1, 36000 do
        local rows = { 1, step % 8000 == 5 and 2 or nil }
        if step == 100 or step == 20000 or step == 35990 then rows[#rows + 1] = 3 end
        local g = mr.normal({ #rows, width }, { seed = step % 7, dtype = "float64" })
        step_of(p, a, rows, g, false)
        step_of(expected, b, rows, g, true)
      end
      near(p, expected, 3e-9)
    end
  end)

  it("equal published steps of a row that waits for 100,000 steps", function()
    for name, case in pairs(waiting) do
      local options, step_of_entry = case[1], case[2]
      local p = (mr.ones(2, 1, f64) * 0.5):detach():requires_grad()
      local optimizer = mr.optim[name](options):bind{ p }
      local at = { p = 0.5, m = 0, v = 0 }
      for step = 1, 100002 do
        if step == 50000 then optimizer.options.lr = options.lr * 0.5 end
        local both_rows = step == 1 or step == 100002
        p:zero_grad()
        local loss = (p:rows(index(both_rows and { 1, 2 } or { 1 })) * (step % 2 - 0.3)):sum()
        loss:backward()
        optimizer:step()
        step_of_entry(at, both_rows and step % 2 - 0.3 or 0, step, optimizer.options)
      end
      near(p:totable()[2][1], at.p, 1e-10, name)
    end
  end)

  it("are applied before options change, the gradient becomes dense or the parameter is written", function()
    local p, expected = start(), start()
    local options = { lr = 0.01, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0 }
    local a, b = core.optimizer_state{ p }, core.optimizer_state{ expected }
    math.randomseed(3)
    for step = 1, 400 do
      if step == 50 then options.beta1 = 0.8 end
      if step == 100 then options.epsilon = 1e-4 end
      options.weight_decay = step > 150 and step < 160 and 0.1 or 0
      local rows = rows_of(step)
      local g = gradients(step, rows, 1e-3)
      for _, each in ipairs{ { p, a, step % 90 == 0 }, { expected, b, true } } do
        local parameter, state, dense = table.unpack(each)
        parameter:zero_grad()
        if dense then
          (parameter * core.put_rows(g, index(rows), n)):sum():backward()
        else
          (parameter:rows(index(rows)) * g):sum():backward()
        end
        core.adam_step(state, options.lr, options.beta1, options.beta2, options.epsilon, options.weight_decay, false)
        if step % 130 == 0 then core.restore(parameter, parameter:detach() * 0.5) end
      end
      near(p, expected, 3e-10, ("step %d"):format(step))
    end
  end)

  it("are applied before another optimizer updates the same parameter", function()
    local p, expected = start(), start()
    local optimizers = {}
    for i = 1, 3 do
      local o = i == 3 and mr.optim.sgd{ lr = 0.01, momentum = 0.9 } or mr.optim.adam{ lr = 0.01 }
      optimizers[i] = { o:bind{ p }, o:bind{ expected } }
    end
    math.randomseed(5)
    for step = 1, 300 do
      local rows = rows_of(step)
      local g, turn = gradients(step, rows, 1e-2), step < 100 and 1 or step % 3 + 1
      step_of(p, optimizers[turn][1], rows, g, false)
      step_of(expected, optimizers[turn][2], rows, g, true)
    end
    near(p, expected, 3e-10)
    -- the optimizer gets the same tensor twice, and a part of it
    local q, other = start(), start()
    local a = mr.optim.adam{ lr = 0.01 }:bind{ q, q, q:detach():narrow(1, 3, 9):requires_grad() }
    local b = mr.optim.adam{ lr = 0.01 }:bind{ other, other }
    for step = 1, 60 do
      local rows = rows_of(step)
      local g = gradients(step, rows, 1e-2)
      step_of(q, a, rows, g, false)
      step_of(other, b, rows, g, true)
    end
    near(q, other, 3e-10)
  end)
end)
