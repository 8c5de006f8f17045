-- Tests reading and saving of parameters whose updates are deferred: this must not change training, and all readers see
-- the same values.
local mr = require "moonrank"
local core = require "moonrank.core"
local fit = require "moonrank.fit"
local test = require "moonrank.test"
local by_rows = require "tests.support.by_rows"
local describe, it, near, check, equal = test.describe, test.it, test.near, test.check, test.equal
local index, start, rows_of, gradients, step_of = by_rows.index, by_rows.start, by_rows.rows_of, by_rows.gradients,
  by_rows.step_of
local cases = by_rows.cases

core.put_off_from(0)  -- updates are deferred also for small parameters

local ratings = mr.data.synthetic{ kind = "ratings", users = 40, items = 300, seed = 1 }
local fold = ratings:binarize(4):min_relevant(5):folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
local function factors(dtype)
  return mr.models.mf{ users = ratings.users, items = ratings.items, factors = 6, seed = 1, dtype = dtype or "float32" }
end
local function flat(t) return (type(t) == "table" and mr.tensor(t) or t):reshape(ratings.items * 6) end
local function path() return os.tmpname() .. ".safetensors" end

-- Functions that read or save parameters in every way.
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
    for _, optimizer in ipairs{ mr.optim.adam{ lr = 0.02 }, mr.optim.sgd{ lr = 1, momentum = 0.9 },
      mr.optim.adamw{ lr = 0.02, weight_decay = 1 }, mr.optim.sgd{ lr = 1, weight_decay = 0.01 },
      mr.optim.sgd{ lr = 1, momentum = 0.9, weight_decay = 0.01 }, mr.optim.rmsprop{ momentum = 0.9 } } do
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
    -- training again for as many epochs as the best one gives the same numbers
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
    -- a GPU does not defer updates (runtime/models/README.md), so nothing is stored there beside the parameters
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
