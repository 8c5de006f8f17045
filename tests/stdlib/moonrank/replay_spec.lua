-- Tests deferred optimizer updates: those of rows without a gradient wait until the row gets a gradient or is read.
-- Numbers must have the same bits as with updates of all rows in every step, whoever reads, writes, clips or saves in
-- between.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

local never, always = 1 << 60, 0

local cases = {
  { "rmsprop", { lr = 0.01, weight_decay = 0.1 } },
  { "rmsprop", { lr = 0.01, momentum = 0.9, weight_decay = 0.1 } },
  { "rmsprop", { lr = 0.01, epsilon = 0 } },
  { "adagrad", { lr = 0.05, weight_decay = 0.1 } },
  { "adamw", { lr = 0.01, beta1 = 0.9, beta2 = 0.8, weight_decay = 0.1 } },
  { "adam", { lr = 0.01, weight_decay = 0.1 } },
  { "adam", { lr = 0.001, beta1 = 0.9, beta2 = 0.8 } },
}

-- Returns a parameter, its optimizer, and the number of entries from which updates of a parameter are deferred.
local function training(case, n, width, dtype, threshold)
  local p = mr.normal({ n, width }, { seed = 1, dtype = "float64" }):to(dtype):detach():requires_grad()
  return { p = p, optimizer = mr.optim[case[1]](case[2]):bind{ p }, threshold = threshold }
end

local function take_step(t, rows, gradient, clip)
  local before = core.put_off_from(t.threshold)
  t.optimizer:zero_grad();
  (t.p:rows(rows) * gradient):sum():backward()
  if clip then core.clip_gradients({ t.p }, clip) end
  t.optimizer:step()
  core.put_off_from(before)
end

local function some_rows(n)
  local rows = {}
  for row = 1, n do
    if math.random() < 1 / row then rows[#rows + 1] = row end
  end
  return rows
end

-- Saves the optimizer, and continues with one that is loaded from the file.
local function reload(t)
  local path = os.tmpname()
  t.optimizer:save(path)
  t.p = (t.p:detach() * 1):detach():requires_grad()
  local options = t.optimizer.options
  t.optimizer = mr.optim[t.optimizer.name](options):bind{ t.p }:load(path)
  os.remove(path)
end

local events = {
  function(t) t.p:totable() end,
  function(t) t.p:rows(mr.tensor({ 3, 9, 3 }, { dtype = "int64" })):totable() end,
  function(t) core.restore(t.p, t.p:detach() * 0.5) end,
  function(t) t.optimizer.options.lr = t.optimizer.options.lr * 0.7 end,
  function(t) t.kept = core.snapshot(t.p) end,
  reload,
  function(t) t.optimizer.options.weight_decay = 0.15 - t.optimizer.options.weight_decay end,
}

describe("updates that wait", function()
  for _, case in ipairs(cases) do
    it("are bits of plain steps: " .. tostring(mr.optim[case[1]](case[2])), function()
      for at, dtype in ipairs{ "float32", "float64" } do
        math.randomseed(at)
        local n, width = 40, ({ 37, 5 })[at]
        local a, b = training(case, n, width, dtype, always), training(case, n, width, dtype, never)
        for step = 1, 300 do
          local rows = some_rows(n)
          local g = mr.normal({ #rows, width }, { seed = step, dtype = "float64" }):to(dtype)
          local clip = step % 3 == 0 and 0.5 or nil
          for _, t in ipairs{ a, b } do take_step(t, mr.tensor(rows, { dtype = "int64" }), g, clip) end
          local event = math.random() < 0.2 and events[math.random(#events)]
          if event then
            event(a)
            event(b)
          end
          if step % 50 == 0 then equal(a.p:totable(), b.p:totable(), ("%s, step %d"):format(dtype, step)) end
        end
        if a.kept then equal(a.kept:totable(), b.kept:totable()) end
      end
    end)
  end

  it("are bits of plain steps after more steps than are remembered", function()
    local case = { "rmsprop", { lr = 0.01, momentum = 0.5, weight_decay = 0.1 } }
    local a, b = training(case, 3, 2, "float32", always), training(case, 3, 2, "float32", never)
    for step = 1, 9000 do
      local rows = { 1, step % 5000 == 7 and 2 or nil }
      local g = mr.ones(#rows, 2) * (step % 7 - 3)
      for _, t in ipairs{ a, b } do take_step(t, mr.tensor(rows, { dtype = "int64" }), g) end
    end
    equal(a.p:totable(), b.p:totable())
  end)

  it("are applied after the optimizer is collected", function()
    local case = { "adam", { lr = 0.01, weight_decay = 0.1 } }
    local a, b = training(case, 30, 4, "float32", always), training(case, 30, 4, "float32", never)
    for step = 1, 20 do
      local g = mr.normal({ 1, 4 }, { seed = step })
      for _, t in ipairs{ a, b } do take_step(t, mr.tensor({ step }, { dtype = "int64" }), g) end
    end
    a.optimizer, b.optimizer = nil, nil
    collectgarbage()
    collectgarbage()
    local held = core.held_bytes()
    equal(a.p:totable(), b.p:totable())
    if core.device() == "cpu" then check(core.held_bytes() < held, "the optimizer's numbers stay") end
  end)
end)
