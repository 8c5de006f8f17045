-- Tests AdamW, Adagrad, RMSProp, clipped gradients and learning rate schedules against PyTorch
-- (tests/golden/optim.json), with dense and with row-wise gradients, and in mr.fit.
local mr = require "moonrank"
local core = require "moonrank.core"
local json = dofile "tests/support/json.lua"
local test = require "moonrank.test"
local describe, it, near, equal, check, raises = test.describe, test.it, test.near, test.equal, test.check, test.raises

local golden = json.read "tests/golden/optim.json"
local f64 = { dtype = "float64" }

-- Does optimizer steps with the gradients of the reference file. With `by_rows`, a gradient has only the rows that are
-- not zero. `before` is called before each step.
local function stepped(optimizer, dtype, by_rows, before)
  local p = mr.tensor(golden.start, { dtype = dtype }):requires_grad()
  local bound, shown = optimizer:bind{ p }, {}
  for t, gradient in ipairs(golden.gradients) do
    bound:zero_grad()
    local g = mr.tensor(gradient, { dtype = dtype })
    if by_rows then
      local rows = {}
      for row, values in ipairs(gradient) do
        if values[1] ~= 0 then rows[#rows + 1] = row end
      end
      local index = mr.tensor(rows, { dtype = "int64" });
      (p:rows(index) * g:rows(index)):sum():backward()
    else
      (p * g):sum():backward()
    end
    if before then before(p, t) end
    bound:step()
    shown[tostring(t)] = p:totable()
  end
  return shown
end

local function flat(rows)
  local numbers = {}
  for _, row in ipairs(rows) do table.move(row, 1, #row, #numbers + 1, numbers) end
  return numbers
end

describe("an optimizer's steps equal PyTorch's", function()
  for i, case in ipairs(golden.steps) do
    local optimizer = mr.optim[case.name](case.options)
    it(("%d: %s"):format(i, optimizer), function()
      local whole, rows = stepped(optimizer, "float64", false), stepped(optimizer, "float64", true)
      local single = stepped(optimizer, "float32", true)
      for t, expected in pairs(case.parameters) do
        near(flat(whole[t]), flat(expected), 1e-13, "step " .. t)
        near(flat(rows[t]), flat(expected), 1e-13, "by rows, step " .. t)
        near(flat(single[t]), flat(expected), 2e-5, "float32, step " .. t)
      end
    end)
  end

  it("if few of many rows have a gradient", function()
    local with_momentum = mr.optim.rmsprop{ lr = 0.01, momentum = 0.5 }
    for _, optimizer in ipairs{ mr.optim.adagrad{ lr = 0.1 }, with_momentum, mr.optim.adamw{ lr = 0.01 } } do
      for _, n in ipairs{ 1, 31, 32, 33, 129, 1000 } do
        local start = mr.normal({ n, 3 }, { seed = n, dtype = "float64" })
        local p, q = (start * 1):requires_grad(), (start * 1):requires_grad()
        local a, b = optimizer:bind{ p }, optimizer:bind{ q }
        for step = 1, 12 do
          local rows = { (step * 7) % n + 1, (step * 11) % n + 1 }
          if rows[1] == rows[2] then rows[2] = nil end
          local index = mr.tensor(rows, { dtype = "int64" })
          local mask = core.put_rows(mr.ones(#rows, 3, f64), index, n)
          a:zero_grad()
          b:zero_grad();
          (p:rows(index) ^ 2):sum():backward();
          (q ^ 2 * mask):sum():backward()
          a:step()
          b:step()
        end
        near(p, q, 1e-12, ("%s of %d rows"):format(optimizer, n))
      end
    end
  end)

  it("or are refused with options out of range", function()
    local p = mr.ones(2):requires_grad()
    p:sum():backward()
    local state = core.optimizer_state{ p }
    raises(function() core.rmsprop_step(state, 0.1, 1, 0, 1e-8, 0) end, "'alpha'", "1")
    raises(function() core.rmsprop_step(state, 0.1, 0.9, 1, 1e-8, 0) end, "'momentum'", "'rmsprop_step'", "1")
    raises(function() core.adagrad_step(state, 0, 1e-8, 0) end, "lr", "0")
    raises(function() core.adagrad_step(state, 0.1, -1, 0) end, "'epsilon'", "'adagrad_step'", "-1")
    raises(function() core.adam_step(state, 0.1, 0.9, 0.999, 1e-8, -1, false, true) end,
      "'weight_decay'", "'adam_step'", "-1")
    raises(function() mr.optim.adamw{ sparse = true } end, "mr.optim.adamw", "'sparse'")
    equal(p:totable(), { 1, 1 })
  end)
end)

describe("mr.clip_gradients", function()
  it("gives PyTorch's norms and steps", function()
    local norms, clip = {}, mr.clip_gradients{ norm = 0.7 }
    for _, by_rows in ipairs{ false, true } do
      local shown = stepped(mr.optim.sgd{ lr = 0.1 }, "float64", by_rows, function(p, t) norms[t] = clip{ p } end)
      near(norms, golden.clipped.norms, 1e-13)
      -- PyTorch divides by (norm + 1e-6) when it clips gradients
      for t, expected in pairs(golden.clipped.parameters) do near(flat(shown[t]), flat(expected), 2e-6) end
    end
  end)

  it("takes the norm of all parameters together, and changes nothing below the limit", function()
    local p, q = mr.tensor{ 1, 2 }:requires_grad(), mr.tensor({ 1 }, f64):requires_grad();
    ((p * mr.tensor{ 3, 0 }):sum():double() + (q * 4):sum()):backward()
    equal(mr.clip_gradients{ norm = 10 }{ p, q }, 5.0)
    equal(p.grad:totable(), { 3, 0 })
    equal(mr.clip_gradients{ norm = 2.5 }{ p, q }, 5.0)
    equal({ p.grad:totable(), q.grad:totable() }, { { 1.5, 0 }, { 2.0 } })
    equal(mr.clip_gradients{ norm = 1 }{ mr.ones(3):requires_grad() }, 0.0)
  end)
end)

describe("mr.schedule", function()
  local plan = { steps = 20, per_epoch = 1 }
  it("gives PyTorch's rates for cosine, step and warmup", function()
    near(mr.schedule.cosine{ low = 0.1 }:rates(0.5, plan), golden.cosine, 1e-15)
    near(mr.schedule.step{ every = 6, factor = 0.3 }:rates(0.5, plan), golden.step, 1e-15)
    local warmup = mr.schedule.warmup{ steps = 5, after = mr.schedule.cosine{ low = 0.1 } }
    near(warmup:rates(0.5, plan), golden.warmup, 1e-15)
    near(mr.schedule.cosine{ low = 0.1, epochs = 20 }:rates(0.5, { steps = 30, per_epoch = 1 }), (function()
      local longer = table.move(golden.cosine, 1, 20, 1, {})
      for i = 21, 30 do longer[i] = 0.05 end
      return longer
    end)(), 1e-15)
  end)

  it("gives PyTorch's rates for plateau", function()
    local made = mr.schedule.plateau{ factor = 0.5, patience = 2 }
    made = made:begin{ steps = 14, per_epoch = 1, metric = mr.metrics.parse "ndcg" }
    for i, value in ipairs(golden.plateau_values) do
      near(0.5 * made.factor(i), golden.plateau[i], 1e-15, "epoch " .. i)
      made.see{ epoch = i, metrics = { ndcg = value } }
      made.see{ epoch = i, metrics = {} }  -- not validated
    end
  end)

  it("stops before a rate is below the smallest normal float32", function()
    local least = 0x1p-126  -- the smallest positive normal number of float32
    for _, case in ipairs{ { 0.1, 0.5 }, { 1e-30, 0.1 }, { 1e6, 1e-9 } } do
      local lr, by = case[1], case[2]
      local plateau = mr.schedule.plateau{ factor = by, patience = 0 }
        :begin{ lr = lr, steps = 400, per_epoch = 1, metric = mr.metrics.parse "ndcg" }
      for i = 1, 400 do plateau.see{ epoch = i, metrics = { ndcg = 0.5 } } end
      local by_steps = mr.schedule.step{ every = 1, factor = by }:rates(lr, { steps = 400, per_epoch = 1 })
      for _, rate in ipairs{ lr * plateau.factor(400), by_steps[400] } do
        check(rate >= least and rate * by < least, ("%g by %g ends at %g"):format(lr, by, rate))
      end
      local after = mr.schedule.warmup{ steps = 1, after = mr.schedule.step{ every = 1, factor = by } }
      check(after:rates(lr, { steps = 400, per_epoch = 1 })[400] >= least)
    end
  end)

  it("counts epochs in steps", function()
    local halved = mr.schedule.step{ every = 2, factor = 0.5 }:rates(1, { steps = 9, per_epoch = 2 })
    equal(halved, { 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.25 })
    equal(mr.schedule.warmup{ epochs = 2 }:rates(1, { steps = 6, per_epoch = 2 }), { 0.25, 0.5, 0.75, 1.0, 1.0, 1.0 })
    local warmup = mr.schedule.warmup{ steps = 2, after = mr.schedule.cosine() }
    equal(tostring(warmup), "warmup{after = cosine{low = 0}, steps = 2}")
  end)

  it("refuses unknown options, cosine without a number of epochs and warmup without a length", function()
    raises(function() mr.schedule.cosine{ high = 1 } end, "mr.schedule.cosine", "'high'")
    raises(function() mr.schedule.cosine{ epochs = 2 }:rates(1, plan) end, "low", "epochs")
    raises(function() mr.schedule.warmup{} end, "steps", "epochs")
  end)
end)

describe("mr.fit with a schedule or clip", function()
  local queries = mr.data.synthetic{ kind = "queries", queries = 24, features = 6, seed = 2 }
  local function fit(options)
    local all = { model = mr.models.linear{ inputs = 6, seed = 1 }, loss = mr.losses.ndcg(), train = queries,
      batch = 8, epochs = 4, metrics = { "ndcg" }, optimizer = mr.optim.sgd{ lr = 0.5 }, progress = false,
      shuffle = false }
    for name, value in pairs(options) do all[name] = value end
    return all.model, mr.fit(all)
  end

  it("trains with the schedule's rates, and leaves the optimizer's lr unchanged", function()
    local optimizer = mr.optim.sgd{ lr = 0.5 }
    local model = fit{ optimizer = optimizer, schedule = mr.schedule.cosine{ low = 0.2 } }
    equal(optimizer.options.lr, 0.5)
    -- the same training by hand
    local same = mr.models.linear{ inputs = 6, seed = 1 }
    local by_hand, loss = mr.optim.sgd{ lr = 0.5 }:bind(same:parameters()), mr.losses.ndcg()
    local rates, step = mr.schedule.cosine{ low = 0.2 }:rates(0.5, { steps = 12, per_epoch = 3 }), 0
    for _ = 1, 4 do
      for batch in queries:batches{ size = 8 } do
        step = step + 1
        by_hand:zero_grad()
        loss:mean(same(batch), batch.lists):backward()
        by_hand.options.lr = rates[step]
        by_hand:step()
      end
    end
    equal(model:parameters()[1]:totable(), same:parameters()[1]:totable())
  end)

  it("limits the step's length to lr times the norm", function()
    local start, model = mr.models.linear{ inputs = 6, seed = 1 }, fit{ clip = 1e-3, epochs = 1, batch = 24 }
    local square = 0
    for i, p in ipairs(model:parameters()) do
      square = square + ((p - start:parameters()[i]):detach() ^ 2):sum():item()
    end
    near(math.sqrt(square), 0.5e-3, 1e-6)
    equal(fit{ clip = 1e9 }:parameters()[1]:totable(), fit{}:parameters()[1]:totable())
    local clipped = fit{ clip = mr.clip_gradients{ norm = 0.01 } }
    equal(clipped:parameters()[1]:totable(), fit{ clip = 0.01 }:parameters()[1]:totable())
  end)

  it("refuses wrong values and plateau without validation before the first step", function()
    raises(function() fit{ clip = "1" } end, "clip", "'1'")
    raises(function() fit{ clip = 0 } end, "clip", "0")
    local function never() error "training began" end
    raises(function() fit{ schedule = mr.schedule.plateau(), each_epoch = never } end, "mr.fit", "valid")
    check(pcall(fit, { schedule = mr.schedule.plateau{ patience = 0 }, valid = queries }))
  end)
end)
