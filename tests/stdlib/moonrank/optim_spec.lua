-- Tests optimizers against the published update rules, written out in Lua.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local function index(t) return mr.tensor(t, { dtype = "int64" }) end

-- SGD: p -= lr (g + decay p); with momentum: v = momentum v + g + decay p, p -= lr v.
local function sgd(o)
  local v = {}
  return function(p, g)
    for i in ipairs(p) do
      local step = g[i] + (o.weight_decay or 0) * p[i]
      v[i] = (o.momentum or 0) * (v[i] or 0) + step
      p[i] = p[i] - o.lr * v[i]
    end
  end
end

-- Adam, as in Kingma & Ba 2015, algorithm 1.
local function adam(o)
  local m, v, t = {}, {}, 0
  return function(p, g)
    t = t + 1
    for i in ipairs(p) do
      local step = g[i] + (o.weight_decay or 0) * p[i]
      m[i] = (o.beta1 or 0.9) * (m[i] or 0) + (1 - (o.beta1 or 0.9)) * step
      v[i] = (o.beta2 or 0.999) * (v[i] or 0) + (1 - (o.beta2 or 0.999)) * step ^ 2
      local mean, square = m[i] / (1 - (o.beta1 or 0.9) ^ t), v[i] / (1 - (o.beta2 or 0.999) ^ t)
      p[i] = p[i] - o.lr * mean / (math.sqrt(square) + (o.epsilon or 1e-8))
    end
  end
end

local cases = {
  { "sgd", sgd, { lr = 0.1 } }, { "sgd", sgd, { lr = 0.1, momentum = 0.9 } },
  { "sgd", sgd, { lr = 0.1, weight_decay = 0.2 } },
  { "sgd", sgd, { lr = 0.1, momentum = 0.5, weight_decay = 0.2 } }, { "adam", adam, { lr = 0.1 } },
  { "adam", adam, { lr = 0.01, beta1 = 0.5, beta2 = 0.9, epsilon = 1e-3 } },
  { "adam", adam, { lr = 0.1, weight_decay = 0.2 } },
}

-- Adam for the given rows only, as torch.optim.SparseAdam documents it: epsilon is added to the
-- root of the second moment before its bias is corrected.
local function sparse_adam(o)
  local m, v, t = {}, {}, 0
  return function(p, g, rows)
    t = t + 1
    for row in pairs(rows) do
      for i = 3 * row - 2, 3 * row do
        m[i] = o.beta1 * (m[i] or 0) + (1 - o.beta1) * g[i]
        v[i] = o.beta2 * (v[i] or 0) + (1 - o.beta2) * g[i] ^ 2
        p[i] = p[i] - o.lr * math.sqrt(1 - o.beta2 ^ t) / (1 - o.beta1 ^ t) * m[i] / (math.sqrt(v[i]) + o.epsilon)
      end
    end
  end
end

-- Returns the rows of a 7 x 3 parameter that have a gradient in a step: some rows never, some once, some twice in a
-- step, and none in step 5.
local function rows_of_step(step)
  if step == 5 then return {} end
  return { 1 + step % 3, 1 + step % 3, 5, step > 10 and 7 or 1 }
end

local function start() return mr.normal({ 7, 3 }, { seed = 1, dtype = "float64" }) end
local function weights(step, n) return mr.normal({ n, 3 }, { seed = step, dtype = "float64" }) end

-- Computes the gradient of the sum over the step's rows of weights x row, which is known.
local function backward(p, step, dense)
  local rows = rows_of_step(step)
  local w = weights(step, #rows)
  if dense then
    local full = mr.zeros(7, 3, f64):totable()
    for i, r in ipairs(rows) do
      for c = 1, 3 do full[r][c] = full[r][c] + w[i][c]:item() end
    end
    (p * mr.tensor(full, f64)):sum():backward()
  else
    (p:rows(index(rows)) * w):sum():backward()
  end
end

describe("mr.optim", function()
  for _, case in ipairs(cases) do
    local name, reference, options = table.unpack(case)
    local shown = tostring(mr.optim[name](options))
    it(shown .. " takes the published steps, with dense gradients and by rows, for 20 steps", function()
      for _, dense in ipairs{ true, false } do
        local parameter = start():requires_grad()
        local optimizer = mr.optim[name](options):bind{ parameter }
        local p, step_of = start():reshape(21):totable(), reference(options)
        for step = 1, 20 do
          optimizer:zero_grad()
          backward(parameter, step, dense)
          step_of(p, parameter.grad:reshape(21):totable())
          optimizer:step()
          near(parameter, p, 1e-12, ("step %d"):format(step))
        end
      end
    end)

    -- deferred updates of rows without a gradient are applied together, so results are equal up to rounding
    -- (deferred_spec.lua)
    local decays = (options.weight_decay or 0) > 0
    local put_off = name == "adamw" or (name == "sgd" and (decays or options.momentum)) or
      ((name == "adam" or name == "rmsprop") and not decays)
    local how = put_off and " steps to rounding" or " steps bit for bit"
    it(shown .. " by rows equals dense" .. how .. ", in both types", function()
      for dtype, room in pairs{ float32 = 5e-6, float64 = 3e-10 } do
        local sparse, dense = start():to(dtype):detach():requires_grad(), start():to(dtype):detach():requires_grad()
        local a, b = mr.optim[name](options):bind{ sparse }, mr.optim[name](options):bind{ dense }
        for step = 1, 20 do
          a:zero_grad()
          b:zero_grad()
          local rows = rows_of_step(step)
          local w = weights(step, #rows):to(dtype)
          local loss = (sparse:rows(index(rows)) * w):sum()
          loss:backward();
          (dense * sparse.grad):sum():backward()
          a:step()
          b:step()
          if put_off then
            near(sparse:reshape(21), dense:reshape(21):totable(), room)
          else
            equal(sparse:totable(), dense:totable())
          end
        end
      end
    end)
  end

  it("adam with sparse = true moves only rows with a gradient, for 20 steps", function()
    local o = { lr = 0.05, beta1 = 0.8, beta2 = 0.95, epsilon = 1e-3, sparse = true }
    local parameter = start():requires_grad()
    local optimizer = mr.optim.adam(o):bind{ parameter }
    local p, step_of = start():reshape(21):totable(), sparse_adam(o)
    for step = 1, 20 do
      optimizer:zero_grad()
      backward(parameter, step, false)
      local rows, before = {}, parameter:reshape(21):totable()
      for _, row in ipairs(rows_of_step(step)) do rows[row] = true end
      step_of(p, parameter.grad:reshape(21):totable(), rows)
      optimizer:step()
      local after = parameter:reshape(21):totable()
      near(mr.tensor(after, f64), p, 1e-12, ("step %d"):format(step))
      for i, value in ipairs(after) do
        if not rows[(i + 2) // 3] then equal(value, before[i]) end
      end
    end
  end)

  it("adam with sparse = true takes a dense gradient as one of all rows, and rows keep their moments", function()
    local o = { lr = 0.05, beta1 = 0.8, beta2 = 0.95, epsilon = 1e-3, sparse = true }
    local parameter = start():requires_grad()
    local p, step_of, rows = start():reshape(21):totable(), sparse_adam(o), {}
    for row = 1, 7 do rows[row] = true end
    local optimizer = mr.optim.adam(o):bind{ parameter }
    for step = 1, 4 do
      optimizer:zero_grad()
      backward(parameter, step, true)
      step_of(p, parameter.grad:reshape(21):totable(), rows)
      optimizer:step()
      near(parameter:reshape(21), p, 1e-12)
    end
    -- under Adam, rows of an earlier sparse step continue to change, because their moments are not 0
    local changed = start():requires_grad()
    local state = core.optimizer_state{ changed }
    backward(changed, 1, false)
    core.adam_step(state, 0.1, 0.9, 0.999, 1e-8, 0, true)
    local before = changed[2]:totable()
    changed:zero_grad()
    changed:rows(index{ 7 }):sum():backward()
    core.adam_step(state, 0.1, 0.9, 0.999, 1e-8, 0, false)
    for c, value in ipairs(changed[2]:totable()) do check(value ~= before[c]) end
  end)

  it("adam continues from gradients of rows to dense gradients and back", function()
    local mixed, dense = start():requires_grad(), start():requires_grad()
    local a, b = mr.optim.adam{ lr = 0.1 }:bind{ mixed }, mr.optim.adam{ lr = 0.1 }:bind{ dense }
    for step = 1, 9 do
      a:zero_grad()
      b:zero_grad()
      backward(mixed, step, step % 3 == 0)
      backward(dense, step, true)
      a:step()
      b:step()
      near(mixed, dense, 1e-13)
    end
  end)

  it("adam skips parameters without a gradient, and moves parameters of any shape", function()
    local still, number = mr.ones(3):requires_grad(), mr.tensor(2, f64):requires_grad()
    local empty = mr.zeros(0):requires_grad()
    local optimizer = mr.optim.adam{ lr = 0.5 }:bind{ still, number, empty };
    (number * 3 + (empty * 2):sum():double()):backward()
    optimizer:step()
    equal(still:totable(), { 1, 1, 1 })
    near(number:item(), 1.5, 1e-7)
    equal(empty:totable(), {})
  end)

  it("finds a minimum with sgd and adam", function()
    for _, optimizer in ipairs{ mr.optim.sgd{ lr = 0.1, momentum = 0.5 }, mr.optim.adam{ lr = 0.1 } } do
      local p = mr.tensor({ 4, -3 }, f64):requires_grad()
      local bound = optimizer:bind{ p }
      for _ = 1, 300 do
        bound:zero_grad();
        ((p - mr.tensor({ 1, 2 }, f64)) ^ 2):sum():backward()
        bound:step()
      end
      near(p, { 1, 2 }, 1e-3)
    end
  end)

  it("prints its options, and starts anew if it is bound again", function()
    local adam_optimizer = mr.optim.adam{ lr = 0.01 }
    equal(tostring(adam_optimizer), "adam{beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08, lr = 0.01, weight_decay = 0}")
    check(tostring(mr.optim.adam{ sparse = true }):find("lr = 0.001, sparse = true, weight_decay = 0", 1, true))
    local steps = {}
    for i = 1, 2 do
      local p = mr.ones(1, f64):requires_grad()
      local bound = adam_optimizer:bind{ p };
      (p * 3):sum():backward()
      bound:step()
      bound:step()
      steps[i] = p:item()
    end
    equal(steps[1], steps[2])
  end)

  it("refuses options out of range, and parameters without requires_grad", function()
    local p = mr.ones(2):requires_grad()
    p:sum():backward()
    local huge = math.huge
    for option, rule in pairs{
      lr = { "sgd adam adamw adagrad rmsprop", -1, 0, 0 / 0, huge },
      weight_decay = { "sgd adam adamw adagrad rmsprop", -1, 0 / 0, huge },
      epsilon = { "adam adamw adagrad rmsprop", -1, 0 / 0, huge },
      momentum = { "sgd rmsprop", -0.1, 1, 0 / 0 }, alpha = { "rmsprop", -0.1, 1, 0 / 0 },
      beta1 = { "adam adamw", -0.1, 1, 0 / 0 }, beta2 = { "adam adamw", -0.1, 1.5, 0 / 0 },
    } do
      for kind in rule[1]:gmatch "%a+" do
        for i = 2, #rule do
          local line = debug.getinfo(1, "l").currentline + 1
          raises(function() mr.optim[kind]{ [option] = rule[i] } end,
            ("optim_spec.lua:%d: mr.optim.%s"):format(line, kind), option,
            rule[i] ~= rule[i] and "NaN" or tostring(rule[i]))
        end
      end
    end
    local changed = mr.optim.adam{}
    changed.options.lr = -1
    raises(function() changed:bind{ p }:step() end, "lr", "-1")
    raises(function() core.sgd_step(core.optimizer_state{ p }, 0.1, 1, 0) end, "'momentum'", "'sgd_step'", "1")
    raises(function() core.adam_step(core.optimizer_state{ p }, 0.1, 0.9, 1.5, 1e-8, 0, false) end,
      "'beta2'", "'adam_step'", "1.5")
    raises(function() core.adam_step(core.optimizer_state{ p }, 0.1, 0.9, 0.9, -1, 0, false) end,
      "'epsilon'", "'adam_step'", "-1")
    raises(function() mr.optim.adam{ learning_rate = 1 } end, "mr.optim.adam", "'learning_rate'")
    raises(function() mr.optim.adam{ sparse = true, weight_decay = 0.5 } end,
      "weight_decay", "0.5", "0", "sparse", "true")
    raises(function() core.adam_step(core.optimizer_state{ p }, 0.1, 0.9, 0.999, 1e-8, 0.5, true) end,
      "'weight_decay'", "sparse")
    raises(function() mr.optim.adam{}:step() end, "optimizer", "parameters")
    raises(function() mr.optim.adam{}:bind{ mr.ones(1) } end, "parameters", "requires_grad()")
    equal(p:totable(), { 1, 1 })
  end)

  it("has PyTorch's defaults", function()
    -- defaults of torch.optim: Adam(lr=1e-3, betas=(0.9, 0.999), eps=1e-8), AdamW(weight_decay=1e-2), Adagrad(lr=1e-2,
    -- eps=1e-10), RMSprop(lr=1e-2, alpha=0.99)
    local rates = { lr = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 }
    for kind, defaults in pairs{ adam = rates, adamw = { weight_decay = 0.01 },
      adagrad = { lr = 0.01, epsilon = 1e-10, weight_decay = 0 },
      rmsprop = { lr = 0.01, alpha = 0.99, momentum = 0, epsilon = 1e-8, weight_decay = 0 } } do
      for name, value in pairs(defaults) do equal(mr.optim[kind]{}.options[name], value, kind .. " " .. name) end
    end
    for name, value in pairs(rates) do equal(mr.optim.adamw{}.options[name], value, "adamw " .. name) end
  end)
end)
