-- Deferred updates against dense gradients, whose steps equal the papers' (optim_spec.lua),
-- and readers of parameters, which do not change training.
local mr = require "moonrank"
local core = require "moonrank.core"
local fit = require "moonrank.fit"
local test = require "moonrank.test"
local describe, it, near, check, equal = test.describe, test.it, test.near, test.check, test.equal

core.put_off_from(0)  -- small parameters too

local f64 = { dtype = "float64" }
local function index(t) return mr.tensor(t, { dtype = "int64" }) end
local n, width = 24, 5

local function start(dtype)
  return mr.normal({ n, width }, { seed = 1, dtype = "float64" }):to(dtype or "float64"):detach():requires_grad()
end

-- Rows without a gradient for 0, 1, 2, 33 and 1000 steps, by chance, and never.
local periods = { [2] = 1, [3] = 2, [4] = 3, [5] = 34, [6] = 1001 }
local function rows_of(step)
  local rows = {}
  for row, period in pairs(periods) do
    if step % period == 0 then rows[#rows + 1] = row end
  end
  for row = 7, n do
    if math.random() < 1 / (row - 6) ^ 2 then rows[#rows + 1] = row end
  end
  return rows
end

-- Gradients of e^(+-3 sd) times the scale of the row.
local scales = { 1, 1e-3, 1e-6, 1e-8 }
local function gradients(step, rows, scale)
  local spread = mr.normal({ #rows, width }, { seed = step, stream = "spread", dtype = "float64" })
  local sign = mr.normal({ #rows, width }, { seed = step, stream = "sign", dtype = "float64" })
  local by_row = {}
  for i, row in ipairs(rows) do by_row[i] = { scale or scales[row % 4 + 1] } end
  if #rows == 0 then return sign end
  return spread:exp() * sign * mr.tensor(by_row, f64)
end

-- One step of one optimiser: by rows, or of a gradient that is zero elsewhere.
local function step_of(p, optimizer, rows, g, dense)
  optimizer:zero_grad()
  g = g:to(p.dtype)
  if dense then
    (p * core.put_rows(g, index(rows), n)):sum():backward()
  else
    (p:rows(index(rows)) * g):sum():backward()
  end
  optimizer:step()
end

local cases = {
  { "adam", { lr = 0.01 } }, { "adam", { lr = 0.01 }, decaying = true },
  { "adam", { lr = 0.01, beta1 = 0.5, beta2 = 0.9, epsilon = 1e-3 } },
  { "adam", { lr = 0.01, beta1 = 0.97, beta2 = 0.999, epsilon = 1e-5 }, decaying = true },
  { "adam", { lr = 0.01, beta1 = 0 } },
  { "adam", { lr = 0.01, beta1 = 0.85, beta2 = 0.95, epsilon = 1e-4 }, scale = 1e-3 },
  { "adam", { lr = 0.001, beta1 = 0.9, beta2 = 0.8 } }, -- momentum outlives the squares: not put off
  -- nor where it nearly does: what a row loses would be a sum of terms that grow
  { "adam", { lr = 0.01, beta1 = 0.7, beta2 = 0.5 } },
  { "adam", { lr = 0.01, beta1 = 0.887, beta2 = 0.8, epsilon = 1e-2 }, scale = 1e-6 },
  { "sgd", { lr = 0.001, momentum = 0.9 }, scale = 0.1 },
  { "sgd", { lr = 0.001, momentum = 0.5 }, decaying = true, scale = 0.1 },
}

-- Trains by rows and with dense gradients, and hands both to `look` now and then.
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

describe("deferred updates", function()
  for _, case in ipairs(cases) do
    local shown = tostring(mr.optim[case[1]](case[2])) .. (case.decaying and " with a schedule" or "")
    it(shown .. " equal dense steps to rounding over 2500 steps", function()
      local exact = {}
      both(case, "float64", "float64", 2500, function(step, p, expected)
        near(p, expected, 3e-10, ("float64, step %d"):format(step))
        exact[step] = expected:detach() * 1
      end)
      -- in float32 as near to the truth as dense steps are
      local worst, worst_dense = 0, 0
      both(case, "float32", "float32", 2500, function(step, p, dense)
        worst = math.max(worst, (p:double() - exact[step]):abs():max():item())
        worst_dense = math.max(worst_dense, (dense:double() - exact[step]):abs():max():item())
      end)
      check(worst <= math.max(5e-6, 2 * worst_dense), ("float32: %g, dense %g"):format(worst, worst_dense))
    end)
  end

  it("equal dense steps if a row waits for more steps than are remembered", function()
    for _, case in ipairs{ { "adam", { lr = 0.001 } }, { "sgd", { lr = 0.001, momentum = 0.9 } } } do
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
    -- twice the same tensor, and a part of one
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

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 300, seed = 1 }
local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
local function factors(dtype)
  return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 6, seed = 1, dtype = dtype or "float32" }
end
local function flat(t) return (type(t) == "table" and mr.tensor(t) or t):reshape(ratings.items * 6) end
local function path() return os.tmpname() .. ".safetensors" end

-- Everything that looks at parameters.
local readers = {
  whole = function(model) return model:parameters()[2]:totable() end,
  rows = function(model) return model:parameters()[2]:rows(index{ 3, 1, 3, 200 }):totable() end,
  one = function(model) return model:parameters()[2][7]:totable() end,
  part = function(model) return model:parameters()[2]:narrow(2, 2, 3):totable() end,
  detached = function(model) return (model:parameters()[2]:detach() + 0):totable() end,
  reshaped = function(model) return model:parameters()[2]:reshape(ratings.items * 2, 3)[9]:totable() end,
  printed = function(model) return tostring(model:parameters()[2]) end,
  converted = function(model) return model:parameters()[2]:double():sum():item() end,
  fingerprint = function(model) return core.fingerprint_of_tensor(model:parameters()[2]) end,
  snapshot = function(model) return model:snapshot()[2]:totable() end,
  file = function(model)
    local name = path()
    model:save(name)
    return mr.models.load(name):parameters()[2]:totable()
  end,
  evaluation = function(model) return fit.test(model, fold.valid, { "ndcg" }).mean.ndcg end,
  backward = function(model)
    local p = model:parameters()[2]
    local loss = (p * p):sum()
    loss:backward()
    local g = p.grad:totable()
    p:zero_grad()
    return g
  end,
}

local function train(read, optimizer)
  local model = factors()
  local seen = {}
  mr.fit{ model = model, loss = mr.losses.ap(), train = fold.train, optimizer = optimizer or mr.optim.adam{ lr = 0.02 },
    batch = 4, epochs = 6, progress = false, each_epoch = function(epoch, m)
      if read then seen[epoch] = read(m) end
    end }
  return { model:parameters()[1]:totable(), model:parameters()[2]:totable() }, seen
end

describe("reading a parameter with deferred updates", function()
  it("does not change training", function()
    for _, optimizer in ipairs{ mr.optim.adam{ lr = 0.02 }, mr.optim.sgd{ lr = 1, momentum = 0.9 } } do
      local expected = train(nil, optimizer)
      for name, read in pairs(readers) do equal(train(read, optimizer), expected, name) end
    end
  end)

  it("gives every reader the same values, equal to dense training", function()
    local _, whole = train(readers.whole)
    local _, dense = train(readers.whole, mr.optim.adam{ lr = 0.02, weight_decay = 1e-30 })
    local function column(t, i) return { t[i][2], t[i][3], t[i][4] } end
    for epoch = 0, 6 do near(flat(whole[epoch]), flat(dense[epoch]):totable(), 1e-5) end
    for name, expected in pairs{
      rows = function(t) return { t[3], t[1], t[3], t[200] } end, one = function(t) return t[7] end,
      detached = function(t) return t end,
      snapshot = function(t) return t end, file = function(t) return t end,
      part = function(t)
        local found = {}
        for i in ipairs(t) do found[i] = column(t, i) end
        return found
      end,
    } do
      local _, seen = train(readers[name])
      for epoch = 0, 6 do equal(seen[epoch], expected(whole[epoch]), name) end
    end
  end)

  it("in validations of mr.fit does not change its last and its best epoch", function()
    local function trained(every, metrics)
      local model = factors()
      local last
      local run = mr.fit{ model = model, loss = mr.losses.ap(), train = fold.train, valid = fold.valid,
        optimizer = mr.optim.adam{ lr = 0.05 }, batch = 4, epochs = 8, every = every, metrics = metrics,
        progress = false, each_epoch = function(epoch, m)
          if epoch == 8 then last = m:parameters()[2]:totable() end
        end }
      return last, run, model
    end
    local last, run, model = trained(1, { "ndcg" })
    local seldom = trained(8, { "ndcg" })
    equal(last, seldom)
    -- the best epoch's numbers, met again by a training that ends there
    local again = factors()
    mr.fit{ model = again, loss = mr.losses.ap(), train = fold.train, optimizer = mr.optim.adam{ lr = 0.05 }, batch = 4,
      epochs = run.best.epoch, progress = false }
    equal(model:parameters()[1]:totable(), again:parameters()[1]:totable())
    equal(model:parameters()[2]:totable(), again:parameters()[2]:totable())
  end)

  it("gives the same values after the optimizer is collected", function()
    local model = factors()
    local function some(epochs, optimizer)
      mr.fit{ model = model, loss = mr.losses.ap(), train = fold.train, optimizer = optimizer, batch = 4,
        epochs = epochs, progress = false }
      collectgarbage()
      collectgarbage()
    end
    some(3, mr.optim.adam{ lr = 0.02 })
    local held = core.held_bytes()
    local once = model:parameters()[2]:totable()
    equal(model:parameters()[2]:totable(), once)
    -- a GPU puts no steps off (runtime/models/README.md), so nothing is stored there beside the parameters
    if core.device() == "cpu" then check(core.held_bytes() < held, "what the optimiser stored stays") end
    some(1, mr.optim.sgd{ lr = 1e-30, momentum = 0.9 })
    near(flat(model:parameters()[2]), flat(once):totable(), 1e-12)
  end)
end)

describe("core.snapshot of a parameter with deferred updates", function()
  it("holds the values of its moment, whenever it is read", function()
    for _, case in ipairs(cases) do
      local p = start()
      local optimizer = mr.optim[case[1]](case[2]):bind{ p }
      math.randomseed(11)
      local kept, expected, reused = {}, {}, nil
      for step = 1, 700 do
        local rows = rows_of(step)
        step_of(p, optimizer, rows, gradients(step, rows, case.scale), false)
        if step % 50 == 3 then
          kept[#kept + 1], expected[#expected + 1] = core.snapshot(p), p:totable()
          reused = core.snapshot(p, reused)
          if step % 100 == 3 then equal(kept[#kept]:totable(), expected[#expected]) end
        end
        if step % 300 == 0 then collectgarbage() end
      end
      equal(reused:totable(), expected[#expected])
      for i = 1, #kept do equal(kept[i]:totable(), expected[i]) end
      core.restore(p, kept[2])
      equal(p:totable(), expected[2])
      equal(kept[3]:totable(), expected[3])
    end
  end)

  it("outlives its parameter", function()
    local snapshot, expected
    do
      local p = start()
      local optimizer = mr.optim.adam{ lr = 0.1 }:bind{ p }
      for step = 1, 20 do step_of(p, optimizer, { step, step % 3 + 1 }, gradients(step, { 1, 2 }, 1), false) end
      snapshot, expected = core.snapshot(p), p:totable()
      step_of(p, optimizer, { 1 }, gradients(1, { 1 }, 1), false)
    end
    collectgarbage()
    collectgarbage()
    equal(snapshot:totable(), expected)
  end)
end)
