-- Tests tensors as scripts use them, against plain loops over Lua numbers.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local sizes = { 0, 1, 31, 32, 33, 127, 128, 129, 1000 }

local function index(t) return mr.tensor(t, { dtype = "int64" }) end

-- Returns a tensor of this shape whose entries are 1, 2, 3, ...
local function counting(...)
  local n = 1
  for _, size in ipairs{ ... } do n = n * size end
  return mr.arange(1, n, f64):reshape(...)
end

describe("making tensors", function()
  it("takes tables of any depth, and totable gives them back", function()
    for _, dtype in ipairs{ "float32", "float64", "int64" } do
      for _, t in ipairs{ { 1, -2, 3 }, { { 1, 2, 3 }, { 4, 5, 6 } }, { { { 1 }, { 2 } } }, {}, { {}, {} } } do
        equal(mr.tensor(t, { dtype = dtype }):totable(), t)
      end
    end
    equal(mr.tensor(2.5):totable(), 2.5)
    equal(mr.tensor(2.5):shape(), {})
    equal(math.type(index{ 7 }:totable()[1]), "integer")
    equal(mr.tensor({ 0.1 }, f64):item(), 0.1)
    check(mr.tensor{ 0.1 }:item() ~= 0.1, "float32 is the default")
  end)

  it("gives zeros, ones, one value and sequences", function()
    equal(mr.zeros(2, 3):totable(), { { 0, 0, 0 }, { 0, 0, 0 } })
    equal(mr.zeros({ 2 }, f64).dtype, "float64")
    equal(mr.ones(3, f64):totable(), { 1, 1, 1 })
    equal(mr.full({ 2, 1 }, 0.5):totable(), { { 0.5 }, { 0.5 } })
    equal(mr.arange(1, 10):totable(), { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })
    near(mr.arange(0, 1, { step = 0.1, dtype = "float64" }),
      { 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1 }, 1e-15)
    equal(mr.arange(3, 1, { step = -1 }):totable(), { 3, 2, 1 })
    equal(#mr.arange(1, 0), 0)
  end)

  it("gives shape, size, type and device, and conversions change the type", function()
    local x = mr.zeros(2, 3, 4)
    equal(x:shape(), { 2, 3, 4 })
    equal({ x:size(1), x:size(2), x:size(3), #x, x.dims, x:numel() }, { 2, 3, 4, 2, 3, 24 })
    equal({ x.dtype, x.device, x:double().dtype, x:double():float().dtype, x:long().dtype },
      { "float32", mr.device(), "float64", "float32", "int64" })
    equal({ x:to("float64").dtype, x:to("cpu").device, x:to("int64").dtype }, { "float64", "cpu", "int64" })
    equal(mr.tensor({ 2.7, -2.7 }):long():totable(), { 2, -2 })
    equal(mr.tensor({ 16777217 }, f64):float():item(), 16777216.0)
  end)

  it("prints small tensors whole and large ones by their ends", function()
    local was = mr.device()
    mr.device "cpu"  -- on the CPU, because the text of a tensor on a GPU also names the device
    equal(tostring(mr.tensor{ 1, 2.5, -3 }), "{1, 2.5, -3}  mr.Tensor {3} float32")
    equal(tostring(mr.tensor({ { 1, 10 }, { 100, 2 } }, f64)), "{{  1,  10},\n {100,   2}}\nmr.Tensor {2, 2} float64")
    equal(tostring(mr.arange(1, 100)), "{1, 2, 3, ..., 98, 99, 100}  mr.Tensor {100} float32")
    equal(tostring(mr.tensor(4)), "4  mr.Tensor {} float32")
    equal(tostring(mr.zeros(0)), "{}  mr.Tensor {0} float32")
    equal(tostring(mr.zeros(2, 0)), "{{},\n {}}\nmr.Tensor {2, 0} float32")
    equal(tostring(index{ 3 }), "{3}  mr.Tensor {1} int64")
    equal(tostring(mr.tensor{ 1 / 0, 0 / 0 }):gsub("%-nan", "nan"), "{inf, nan}  mr.Tensor {2} float32")
    check(#tostring(mr.zeros(1000, 1000)) < 1000)
    mr.device(was)
  end)
end)

it("mr.permutation has every number once, in an order by seed and stream", function()
  local function order(seed, stream) return mr.permutation(50, { seed = seed, stream = stream }):totable() end
  local one, sorted = order(3), order(3)
  table.sort(sorted)
  equal(sorted, mr.arange(1, 50):totable())
  equal(order(3), one)
  check(order(4)[1] ~= one[1] or order(4)[2] ~= one[2])
  check(order(3, "other")[1] ~= one[1] or order(3, "other")[2] ~= one[2])
  equal(mr.permutation(0, { seed = 1 }):totable(), {})
  raises(function() mr.permutation(-1) end, "n", "-1")
end)

describe("mr.uniform and mr.normal", function()
  it("repeat for a seed with any number of threads, and differ for other seeds and streams", function()
    local was = core.threads()
    for _, make in ipairs{ mr.uniform, mr.normal } do
      for _, dtype in ipairs{ "float32", "float64" } do
        local function draw(seed, stream)
          return make({ 20000 }, { seed = seed, stream = stream, dtype = dtype }):totable()
        end
        core.threads(1)
        local one = draw(7)
        core.threads(4)
        equal(draw(7), one)
        check(draw(8)[1] ~= one[1])
        check(draw(7, "other")[1] ~= one[1])
      end
    end
    core.threads(was)
    check(mr.uniform({ 1 }, { seed = 1 }):item() ~= mr.normal({ 1 }, { seed = 1 }):item())
  end)

  it("do not depend on the shape, and begin like a longer draw", function()
    local long = mr.normal({ 1000 }, { seed = 3 }):totable()
    for _, n in ipairs(sizes) do equal(mr.normal({ n }, { seed = 3 }):totable(), table.move(long, 1, n, 1, {})) end
    equal(mr.normal({ 10, 100 }, { seed = 3 }):reshape(1000):totable(), long)
  end)

  it("have the moments of their distribution", function()
    local n = 200000
    local u = mr.uniform({ n }, { low = -1, high = 3, seed = 1, dtype = "float64" })
    near(u:mean():item(), 1, { atol = 0.02 })
    near(((u - 1) ^ 2):mean():item(), 16 / 12, { rtol = 0.02 })
    check(u:max():item() < 3 and (-u):max():item() <= 1)
    local z = mr.normal({ n }, { mean = 2, sd = 3, seed = 2, dtype = "float64" }) - 2
    near((z / 3):mean():item(), 0, { atol = 0.01 })
    near((z ^ 2):mean():item(), 9, { rtol = 0.02 })
    near((z ^ 3):mean():item(), 0, { atol = 1.5 })
    near((z ^ 4):mean():item(), 3 * 81, { rtol = 0.04 })
  end)

  it("stay below the upper end of the interval in float32", function()
    local x = mr.uniform({ 1000 }, { low = 1e6, high = 1e6 + 0.125, seed = 1 })
    check(x:max():item() < 1e6 + 0.125)
    check(-(-x):max():item() >= 1e6)
    equal(mr.uniform({ 2 }, { low = 3, high = 3 }):totable(), { 3, 3 })
  end)
end)

local unary = {
  { "exp", math.exp }, { "log", math.log, 0.1, 3 }, { "sqrt", math.sqrt, 0.1, 3 }, { "abs", math.abs },
  { "sigmoid", function(x) return 1 / (1 + math.exp(-x)) end },
  { "tanh", function(x) return (math.exp(x) - math.exp(-x)) / (math.exp(x) + math.exp(-x)) end },
  { "relu", function(x) return math.max(x, 0) end }, { "softplus", function(x) return math.log(1 + math.exp(x)) end },
}

local function map(t, f)
  local out = {}
  for i, x in ipairs(t) do out[i] = f(x) end
  return out
end

describe("elementwise functions", function()
  for _, case in ipairs(unary) do
    local name, f, low, high = table.unpack(case)
    it(name .. " agrees with loops and has right derivatives", function()
      for _, n in ipairs(sizes) do
        local x = mr.uniform({ n }, { low = low or -3, high = high or 3, seed = n + 1, dtype = "float64" })
        near(x[name](x), map(x:totable(), f), 1e-12)
        near(x:float()[name](x:float()), map(x:totable(), f), 2e-6)
      end
      local x = mr.uniform({ 3, 5 }, { low = low or -3, high = high or 3, seed = 2, dtype = "float64" })
      check(mr.gradcheck(function(t) return t[name](t) end, x) < 1e-8)
    end)
  end

  it("do not overflow", function()
    local x = mr.tensor({ -1000, 1000, -1 / 0, 1 / 0 }, f64)
    equal(x:sigmoid():totable(), { 0, 1, 0, 1 })
    equal(x:softplus():totable(), { 0, 1000, 0, 1 / 0 })
    equal(x:tanh():totable(), { -1, 1, -1, 1 })
  end)

  it("keep NaN anywhere in a vector", function()
    for _, case in ipairs(unary) do
      for _, dtype in ipairs{ "float32", "float64" } do
        local numbers = {}
        for i = 1, 19 do numbers[i] = i % 3 == 1 and 0 / 0 or 1 end
        local x = mr.tensor(numbers, { dtype = dtype })
        for i, y in ipairs(x[case[1]](x):totable()) do
          equal(y ~= y, i % 3 == 1, ("%s %s %d"):format(case[1], dtype, i))
        end
      end
    end
  end)

  it("have derivative NaN at NaN", function()
    local function slope(f)
      local x = mr.tensor({ 1, 0 / 0, -1 }, f64):requires_grad()
      f(x):sum():backward()
      return x.grad:isnan():totable()
    end
    for _, name in ipairs{ "abs", "exp", "log", "sqrt", "sigmoid", "tanh", "softplus" } do
      equal(slope(function(x) return x[name](x) end)[2], 1, name)
    end
    equal(slope(function(x) return x ^ 2 end), { 0, 1, 0 })
    equal(slope(function(x) return mr.tensor({ 2, 0 / 0, 0 / 0 }, f64) ^ x end), { 0, 1, 1 })
    equal(slope(function(x) return mr.tensor({ 0 / 0, 2, -2 }, f64) ^ x end), { 1, 1, 0 })
  end)

  it("give 0 below 0 for relu, and relu's derivative at NaN is 1", function()
    local x = mr.tensor({ -1 / 0, -1, -0.0, 0, 1, 1 / 0, 0 / 0 }, f64):requires_grad()
    local y = x:relu()
    y:sum():backward()
    equal(x.grad:totable(), { 0, 0, 0, 0, 1, 1, 1 })
    local found = y:detach():totable()
    equal({ table.unpack(found, 1, 6) }, { 0, 0, 0, 0, 1, 1 / 0 })
    equal(1 / found[3], 1 / 0, "no negative zero")
  end)

  it("have derivative 0 at 0 for abs and relu", function()
    for _, name in ipairs{ "abs", "relu" } do
      local x = mr.zeros(1):requires_grad()
      x[name](x):backward()
      equal(x.grad:item(), 0.0)
    end
  end)
end)

local binary = {
  { "+", function(a, b) return a + b end },
  { "-", function(a, b) return a - b end },
  { "*", function(a, b) return a * b end },
  { "/", function(a, b) return a / b end },
  { "^", function(a, b) return a ^ b end },
  { "maximum", math.max, function(a, b) return a:maximum(b) end },
  { "minimum", math.min, function(a, b) return a:minimum(b) end },
}
local comparisons = {
  gt = function(a, b) return a > b and 1 or 0 end, ge = function(a, b) return a >= b and 1 or 0 end,
  lt = function(a, b) return a < b and 1 or 0 end, le = function(a, b) return a <= b and 1 or 0 end,
  eq = function(a, b) return a == b and 1 or 0 end,
}

-- Returns entry (i, j, k) of a nested table, with dimensions of size 1 broadcast.
local function at(t, shape, i, j, k)
  local where = { i, j, k }
  for d = 4 - #shape, 3 do t = t[shape[d - 3 + #shape] == 1 and 1 or where[d]] end
  return t
end

describe("operation", function()
  for _, case in ipairs(binary) do
    local name, f, op = case[1], case[2], case[3] or case[2]
    it(name .. " agrees with loops at every size, and with a number on either side", function()
      for _, n in ipairs(sizes) do
        local x = mr.uniform({ n }, { low = 0.5, high = 2, seed = n + 1, dtype = "float64" })
        local y = mr.uniform({ n }, { low = 0.5, high = 2, seed = n + 2, dtype = "float64" })
        local a, b, both, left, right = x:totable(), y:totable(), {}, {}, {}
        for i = 1, n do both[i], left[i], right[i] = f(a[i], b[i]), f(1.5, a[i]), f(a[i], 1.5) end
        near(op(x, y), both, 1e-14)
        near(op(x, 1.5), right, 1e-14)
        if not case[3] then near(op(1.5, x), left, 1e-14) end
      end
    end)

    it(name .. " broadcasts, with right derivatives", function()
      for _, shapes in ipairs{ { { 2, 3, 4 }, { 2, 3, 4 } }, { { 2, 3, 4 }, { 4 } }, { { 3, 1 }, { 2, 1, 4 } },
        { { 1 }, { 2, 3, 4 } }, { { 2, 3, 4 }, {} }, { { 2, 1, 1 }, { 3, 4 } } } do
        local x = mr.uniform(shapes[1], { low = 0.5, high = 2, seed = 1, dtype = "float64" })
        local y = mr.uniform(shapes[2], { low = 0.5, high = 2, seed = 2, dtype = "float64" })
        local a, b, expected = x:totable(), y:totable(), {}
        for i = 1, 2 do
          for j = 1, 3 do
            for k = 1, 4 do expected[#expected + 1] = f(at(a, shapes[1], i, j, k), at(b, shapes[2], i, j, k)) end
          end
        end
        local out = op(x, y)
        equal(out:shape(), { 2, 3, 4 })
        near(out, expected, 1e-14)
        mr.gradcheck(function(t) return op(t, y) end, x)
        mr.gradcheck(function(t) return op(x, t) end, y)
        mr.gradcheck(function(t) return op(t, t * 1.25) end, x)
      end
    end)
  end

  for name, f in pairs(comparisons) do
    it(name .. " gives 1 and 0, and no gradient", function()
      local x, y = mr.tensor{ 1, 2, 3, 1 / 0, 0 / 0 }, mr.tensor{ 2, 2, 2, 1 / 0, 0 / 0 }
      local a, b, expected, with_two = x:totable(), y:totable(), {}, {}
      for i = 1, 5 do expected[i], with_two[i] = f(a[i], b[i]), f(a[i], 2) end
      equal(x[name](x, y):totable(), expected)
      equal(x[name](x, 2):totable(), with_two)
      check(not x[name](x:requires_grad(), y).tracked)
    end)
  end

  it("negative, clamp and where agree with loops and have right derivatives", function()
    local x = mr.normal({ 40 }, { seed = 5, dtype = "float64" })
    equal((-x):totable(), map(x:totable(), function(v) return -v end))
    equal(x:clamp{ min = -0.5, max = 0.25 }:totable(),
      map(x:totable(), function(v) return math.max(-0.5, math.min(0.25, v)) end))
    equal(x:clamp{ min = 0 }:totable(), x:relu():totable())
    equal(x:clamp{}:totable(), x:totable())
    equal(x:gt(0):where(x, 7):totable(), map(x:totable(), function(v) return v > 0 and v or 7 end))
    equal(x:gt(0):where(1, 0):totable(), x:gt(0):totable())
    mr.gradcheck(function(t) return -t end, x)
    mr.gradcheck(function(t) return t:clamp{ min = -0.5, max = 0.25 } end, x)
    mr.gradcheck(function(t) return x:gt(0):where(t * 2, t:narrow(1, 1, 1)) end, x)
    mr.gradcheck(function(t) return x:lt(0):where(3, t) end, x)
  end)

  it("maximum and minimum share the derivative between equal entries", function()
    local x, y = mr.tensor{ 1 }:requires_grad(), mr.tensor{ 1 }:requires_grad();
    (x:maximum(y) + x:minimum(y) * 10):backward()
    equal({ x.grad:item(), y.grad:item() }, { 5.5, 5.5 })
  end)

  it("power takes 0 and negative numbers", function()
    equal((mr.tensor{ -2, 0, 0 } ^ mr.tensor{ 3, 2, 0 }):totable(), { -8, 0, 1 })
    local x = mr.tensor({ -2, 0, 0 }, f64):requires_grad();
    (x ^ mr.tensor({ 3, 2, 0 }, f64)):sum():backward()
    equal(x.grad:totable(), { 12, 0, 0 })
  end)
end)

-- Returns the reduction of a 2 x 3 x n table along dimension d, computed by loops.
local function reduced(t, n, d, f)
  local out, shape = {}, { 2, 3, n }
  local function walk(where, e)
    if e == d then return walk(where, e + 1) end
    if e > 3 then
      local run = {}
      for j = 1, shape[d] do
        where[d] = j
        run[j] = t[where[1]][where[2]][where[3]]
      end
      out[#out + 1] = f(run)
      return
    end
    for i = 1, shape[e] do
      where[e] = i
      walk(where, e + 1)
    end
  end
  walk({}, 1)
  return out
end

local function total(run)
  local s = 0
  for _, v in ipairs(run) do s = s + v end
  return s
end

local reductions = {
  sum = total,
  mean = function(run) return total(run) / #run end,
  max = function(run) return math.max(table.unpack(run)) end,
  argmax = function(run)
    local best = 1
    for i, v in ipairs(run) do if v > run[best] then best = i end end
    return best
  end,
}

describe("reduction", function()
  for name, f in pairs(reductions) do
    it(name .. " agrees with loops over everything and along each dimension", function()
      for _, n in ipairs(sizes) do
        if n > 0 then
          local x = mr.normal({ 2, 3, n }, { seed = n, dtype = "float64" })
          near(x[name](x), f(x:reshape(6 * n):totable()), 1e-12)
          for d = 1, 3 do
            local out = x[name](x, d)
            equal(out:shape(), d == 1 and { 3, n } or d == 2 and { 2, n } or { 2, 3 })
            near(out, reduced(x:totable(), n, d, f), 1e-12)
          end
        end
      end
      if name == "argmax" then return equal(mr.tensor{ 1, 3, 3 }:argmax().dtype, "int64") end
      local x = mr.normal({ 2, 3, 4 }, { seed = 1, dtype = "float64" })
      mr.gradcheck(function(t) return t[name](t) end, x)
      for d = 1, 3 do mr.gradcheck(function(t) return t[name](t, d) end, x) end
    end)
  end

  it("softmax agrees with exp and sum along each dimension", function()
    for _, n in ipairs{ 1, 33, 129 } do
      local x = mr.normal({ 2, 3, n }, { seed = n, sd = 3, dtype = "float64" })
      for d = 1, 3 do
        local y = x:softmax(d)
        local shape = x:shape()
        shape[d] = 1
        near(y, x:exp() / x:exp():sum(d):reshape(shape), 1e-13)
      end
    end
    equal(mr.tensor({ 1000, 1000 }, f64):softmax(1):totable(), { 0.5, 0.5 })
    equal(mr.tensor({ -1 / 0, 0 }, f64):softmax(1):totable(), { 0, 1 })
    for d = 1, 2 do
      mr.gradcheck(function(t) return t:softmax(d) end, mr.normal({ 3, 4 }, { seed = 1, dtype = "float64" }))
    end
  end)

  it("sum, mean, max and softmax take or refuse tensors without entries", function()
    equal(mr.zeros(0):sum():item(), 0.0)
    local mean = mr.zeros(0):mean():item()
    check(mean ~= mean, "the mean of nothing is NaN")
    raises(function() return mr.zeros(0):max() end, "max", "entries")
    equal(mr.zeros(2, 0):sum(2):totable(), { 0, 0 })
    equal(mr.zeros(2, 0):sum(1):totable(), {})
    equal(mr.zeros(0, 3):softmax(1):shape(), { 0, 3 })
  end)

  it("sum adds a million small numbers in float64", function()
    near(mr.full({ 1000000 }, 0.1):sum():item(), 100000, { rtol = 1e-7 })
  end)

  it("max keeps NaN, and passes its derivative to the first of equal entries", function()
    local largest = mr.tensor{ 1, 0 / 0, 3 }:max():item()
    check(largest ~= largest)
    equal(mr.tensor{ 1, 0 / 0, 3 }:argmax():item(), 2.0)
    local x = mr.tensor{ 2, 5, 5 }:requires_grad()
    x:max():backward()
    equal(x.grad:totable(), { 0, 1, 0 })
  end)
end)

describe("tensor methods", function()
  it("matmul agrees with loops and has right derivatives", function()
    for _, shape in ipairs{ { 1, 1, 1 }, { 2, 3, 4 }, { 33, 31, 5 }, { 3, 0, 2 }, { 0, 3, 2 }, { 2, 3, 0 },
      { 7, 129, 1 } } do
      local m, k, n = table.unpack(shape)
      for _, dtype in ipairs{ "float32", "float64" } do
        local a = mr.normal({ m, k }, { seed = 1, dtype = dtype })
        local b = mr.normal({ k, n }, { seed = 2, dtype = dtype })
        local x, y, expected = a:totable(), b:totable(), {}
        for i = 1, m do
          for j = 1, n do
            local s = 0
            for l = 1, k do s = s + x[i][l] * y[l][j] end
            expected[#expected + 1] = s
          end
        end
        equal(a:matmul(b):shape(), { m, n })
        near(a:matmul(b), expected, dtype == "float32" and 1e-4 or 1e-12)
      end
    end
    local a = mr.normal({ 3, 4 }, { seed = 1, dtype = "float64" })
    local b = mr.normal({ 4, 2 }, { seed = 2, dtype = "float64" })
    mr.gradcheck(function(t) return t:matmul(b) end, a)
    mr.gradcheck(function(t) return a:matmul(t) end, b)
    mr.gradcheck(function(t) return t:matmul(t:t()) end, a)
  end)

  it("t, reshape, narrow, rows, row_dot and x[i] give the right entries and derivatives", function()
    local x = counting(2, 3)
    equal(x:t():totable(), { { 1, 4 }, { 2, 5 }, { 3, 6 } })
    equal(x:reshape(3, 2):totable(), { { 1, 2 }, { 3, 4 }, { 5, 6 } })
    equal(x:reshape{ 6 }:totable(), { 1, 2, 3, 4, 5, 6 })
    equal(mr.tensor{ 5 }:reshape():totable(), 5.0)
    equal({ x:reshape(-1):shape(), x:reshape(3, -1):shape(), x:reshape{ 1, -1, 2 }:shape() },
      { { 6 }, { 3, 2 }, { 1, 3, 2 } })
    equal({ mr.zeros(0, 3):reshape(-1, 3):shape(), mr.zeros(0):reshape(-1):shape() }, { { 0, 3 }, { 0 } })
    raises(function() x:reshape(4, -1) end, "-1", "4", "{2, 3}", "6", "entries")
    raises(function() x:reshape(-1, 0) end, "'sizes'", "'mr.Tensor:reshape'", "-1")
    raises(function() x:reshape(-1, -1) end, "'sizes'", "'mr.Tensor:reshape'", "-1")
    raises(function() x:reshape(-2) end, "size", "-2")
    equal(x:narrow(1, 2, 1):totable(), { { 4, 5, 6 } })
    equal(x:narrow(2, 2, 2):totable(), { { 2, 3 }, { 5, 6 } })
    equal(x:narrow(1, 3, 0):shape(), { 0, 3 })
    equal(x[2]:totable(), { 4, 5, 6 })
    equal(x[2][3]:item(), 6.0)
    equal(x[2.0]:totable(), { 4, 5, 6 })
    equal(x:rows(index{ 2, 1, 2 }):totable(), { { 4, 5, 6 }, { 1, 2, 3 }, { 4, 5, 6 } })
    equal(x:rows(index{}):shape(), { 0, 3 })
    equal(counting(4):rows(index{ 4, 1 }):totable(), { 4, 1 })
    equal(x:reshape(3, 2):row_dot(x:reshape(3, 2) * 2):totable(), { 10, 50, 122 })
    local deep = counting(2, 3, 4)
    equal(deep:narrow(2, 2, 2):narrow(3, 4, 1):reshape(4):totable(), { 8, 12, 20, 24 })
    for dim, part in ipairs{ { 2, 1 }, { 2, 2 }, { 1, 3 } } do
      mr.gradcheck(function(t) return t:narrow(dim, part[1], part[2]) ^ 2 end, deep / 10)
    end
    x = x / 10
    mr.gradcheck(function(t) return t:t() ^ 2 end, x)
    mr.gradcheck(function(t) return t:reshape(6) ^ 2 end, x)
    mr.gradcheck(function(t) return t[2] * t[1] end, x)
    mr.gradcheck(function(t) return t:rows(index{ 2, 1, 2 }) ^ 2 end, x)
    mr.gradcheck(function(t) return t:row_dot(t * 2 + 1) end, x)
    mr.gradcheck(function(t) return t:double():float():double() * 2 end, mr.tensor({ 0.5, 2 }, f64),
      { step = 0.25, tolerance = 1e-5 })
    mr.gradcheck(function(t) return core.put_rows(t, index{ 4, 1 }, 5) * counting(5, 3) end, x)
    mr.gradcheck(function(t) return core.distinct_rows(t, index{ 2 }) ^ 2 * counting(1, 3) end, x)
    equal(core.distinct_rows(x, index{ 2, 1 }):totable(), x:rows(index{ 2, 1 }):totable())
    equal(core.put_rows(counting(2, 1), index{ 3, 1 }, 3):totable(), { { 2 }, { 0 }, { 1 } })
  end)
end)

describe("gradients", function()
  it("add up over calls of backward until zero_grad", function()
    local x = mr.tensor({ 1, 2 }, f64):requires_grad()
    equal(x.grad, nil)
    for times = 1, 3 do
      (x * x):sum():backward()
      equal(x.grad:totable(), { 2 * times, 4 * times })
    end
    x:zero_grad()
    equal(x.grad, nil)
  end)

  it("flow through every path of a graph", function()
    local x = mr.tensor({ 0.3, -0.7 }, f64)
    check(mr.gradcheck(function(t)
      local a = t * 2
      local b = a:exp() + a
      return a * b + b * t
    end, x) < 1e-8)
  end)

  it("need a seed if the tensor has more than one entry", function()
    local x = mr.tensor{ 1, 2 }:requires_grad()
    raises(function() (x * 2):backward() end, "tensor", "{2}");
    (x * 2):backward(mr.tensor{ 10, 100 })
    equal(x.grad:totable(), { 20, 200 })
    raises(function() (x * 2):backward(mr.tensor{ 1 }) end, "seed", "{1}", "{2}")
    raises(function() (x * 2):backward(mr.tensor({ 1, 2 }, f64)) end, "seed", "{2}", "device")
  end)

  it("are computed once per graph, unless keep = true", function()
    local x = mr.tensor{ 3 }:requires_grad()
    local y = x * x
    y:backward({ keep = true })
    y:backward()
    equal(x.grad:item(), 12.0)
    raises(function() y:backward() end, "'mul'", "{keep = true}")
    equal(x.grad:item(), 12.0)
  end)

  it("are collected by the tensor of requires_grad, not by others with the same numbers", function()
    local x = mr.tensor({ 1, 3 }, f64)
    local alias, other = x, x:detach()
    check(not x.tracked)
    x:requires_grad()
    check(x.tracked and alias.tracked and not other.tracked)
    check(rawequal(x:requires_grad(), x), "it returns the tensor itself");
    (x * x):sum():backward()
    x:requires_grad()
    equal(x.grad:totable(), { 2, 6 }, "asked again, it keeps what it collected")
    equal({ other.grad, x:detach().tracked, x:double().tracked }, { nil, false, true })
    other:requires_grad()
    equal({ other.tracked, other.grad }, { true, nil }, "two leaves of the same numbers collect apart")
    mr.no_grad(function() check(mr.ones(1):requires_grad().tracked) end)
  end)

  it("name their operation once in errors", function()
    local function message(f) return select(2, pcall(f)):gsub("^.-:%d+: ", "") end
    local x = mr.tensor({ 1, 2 }, f64):requires_grad()
    local walked = (x * x):sum()
    walked:backward()
    for name, f in pairs{
      backward = function() mr.ones(1):backward() end,
      requires_grad = function() mr.tensor({ 1 }, { dtype = "int64" }):requires_grad() end,
      item = function() mr.ones(2):item() end,
      lists = function() core.lists({ 1 }, mr.ones(2), {}, {}) end,
    } do
      local found, times = message(f):gsub("%f[%w_]" .. name .. "[:(]", "%0")
      equal(times, 1, found)
    end
    for _, f in ipairs{
      function() walked:backward() end,
      function() (x * 2):backward() end,
      function() (x * 2):backward(mr.ones(1)) end,
      function() (x * 2):requires_grad() end,
      function() core.lists({ -1 }, mr.ones(1), {}, {}) end,
      function() core.lists({ 1 }, mr.ones(1) * -1, {}, {}) end,
    } do
      local name, rest = message(f):match "^[%w_.]*:?([%w_]+): (.*)$"
      check(name and not rest:find("^" .. name), message(f))
    end
  end)

  it("are refused for tensors without a graph and for integers", function()
    raises(function() mr.ones(1):backward() end, "tensor", "gradients")
    raises(function() return index{ 1 }:requires_grad() end, "int64", "tensors", "gradient")
    raises(function() return (mr.ones(1):requires_grad() * 2):requires_grad() end, "detach")
    check(not (mr.ones(1):requires_grad() * 2):detach().tracked)
    check(not mr.ones(1):requires_grad():long().tracked, "integers have no derivative")
    check(not mr.ones(1):requires_grad():to("int64").tracked, "integers have no derivative")
  end)

  it("are not recorded in mr.no_grad, which passes on results and errors", function()
    local x = mr.ones(2):requires_grad()
    local a, b = mr.no_grad(function() return (x * 2).tracked, nil end)
    equal({ a, b }, { false })
    check((x * 2).tracked)
    raises(function() mr.no_grad(function() error "inner" end) end, "inner")
    check((x * 2).tracked, "recording is on again after an error")
    mr.no_grad(function()
      mr.no_grad(function() end)
      check(not (x * 2).tracked, "the inner one does not end the outer one")
    end)
  end)

  it("of repeated rows equal those of a dense product", function()
    local rows = { 3, 1, 3, 3, 5 }
    local pick = mr.zeros(5, 6, f64):totable()
    for i, r in ipairs(rows) do pick[i][r] = 1 end
    local weights = mr.normal({ 5, 2 }, { seed = 1, dtype = "float64" })
    local sparse = mr.normal({ 6, 2 }, { seed = 2, dtype = "float64" }):requires_grad()
    local dense = sparse:detach():requires_grad()
    for _ = 1, 3 do
      (sparse:rows(index(rows)) * weights):sum():backward();
      (mr.tensor(pick, f64):matmul(dense) * weights):sum():backward()
      near(sparse.grad, dense.grad, 1e-14)
    end
    (sparse * sparse):sum():backward();  -- adds a dense gradient to a sparse one
    (dense * dense):sum():backward()
    near(sparse.grad, dense.grad, 1e-14);
    (sparse:rows(index(rows)) * weights):sum():backward();
    (mr.tensor(pick, f64):matmul(dense) * weights):sum():backward()
    near(sparse.grad, dense.grad, 1e-14)
  end)

  it("are found in a chain of 10,000 steps without recursion", function()
    local x = mr.tensor({ 1 }, f64):requires_grad()
    local y = x
    for _ = 1, 10000 do y = y + x end
    y:backward()
    equal(x.grad:item(), 10001.0)
    y = x
    for _ = 1, 10000 do y = y * 1 end
    local held = core.held_bytes()
    y = nil  -- luacheck: ignore
    collectgarbage()
    collectgarbage()
    check(core.held_bytes() < held, "the chain is gone, never walked")
  end)

  it("have the type of their leaf", function()
    local x = mr.tensor({ 1, 2 }):requires_grad()
    x:double():sum():backward()
    equal({ x.grad.dtype, x.grad:totable()[1] }, { "float32", 1.0 })
  end)

  it("exist for tensors without entries", function()
    local x = mr.zeros(0, f64):requires_grad();
    (x * 2):sum():backward()
    equal(x.grad:totable(), {})
    x = mr.ones(2, 3):requires_grad()
    x:rows(index{}):sum():backward()
    equal(x.grad:totable(), { { 0, 0, 0 }, { 0, 0, 0 } })
  end)
end)

describe("errors of tensors", function()
  local x = mr.ones(2, 3)
  local cases = {
    { function() return x + mr.ones(4) end, "{2, 3}", "{4}" },
    { function() return x * mr.ones(2, 3, f64) end, "double()", "float()" },
    { function() return x:long() + 1 end, "int64", "tensors" },
    { function() return x:long():sum() end, "double()", "float()" },
    { function() return x + "1" end, "'b'", "string" },
    { function() return mr.tensor{ { 1, 2 }, { 3 } } end, "row", "1", "2" },
    { function() return mr.tensor{ { 1, 2 }, 3 } end, "2", "number" },
    { function() return mr.tensor{ 1, "2" } end, "2", "string" },
    { function() return mr.tensor({ 1.5 }, { dtype = "int64" }) end, "1.5", "int64" },
    { function() return mr.tensor({ 1 / 0 }, { dtype = "int64" }) end, "inf", "int64" },
    { function() return mr.tensor({ 2 ^ 60 }, { dtype = "int64" }) end, "2^53" },
    { function() return mr.full({ 1 }, 0.5, { dtype = "int64" }) end, "value", "0.5" },
    { function() return mr.arange(1, 2, { step = 0.5, dtype = "int64" }) end, "step", "0.5" },
    { function() return mr.arange(1, 2, { step = 0 }) end, "step", "0" },
    { function() return mr.tensor({ 1 }, { dtype = "float16" }) end, "dtype", "'float16'" },
    { function() return mr.tensor({ 1 }, { dtyp = "float32" }) end, "mr.tensor", "'dtyp'", "'dtype'" },
    { function() return mr.tensor({ 1 }, { dtype = 3 }) end, "dtype", "3" },
    { function() return mr.tensor({ 1 }, { device = "gpu" }) end, "device", "'gpu'" },
    { function() return mr.tensor{ { { { { { { 1 } } } } } } } end, "6", "dimensions" },
    { function() return mr.zeros(-1) end, "size", "-1" },
    { function() return mr.zeros(2.5) end, "1", "2.5" },
    { function() return mr.zeros(1 << 40, 1 << 40) end, tostring(1 << 40) },
    { function() return mr.zeros(0, 1 << 40, 1 << 40) end, tostring(1 << 40) },
    { function() return mr.uniform({ 1 }, { low = 2, high = 1 }) end, "low", "2" },
    { function() return mr.arange(5) end, "last", "nil", "mr.arange(first, last)" },
    { function() return mr.uniform({ 1 }, { dtype = "int64" }) end, "dtype", "'int64'" },
    { function() return mr.uniform({ 1 }, { seed = 1.5 }) end, "seed", "1.5" },
    { function() return x:sum(3) end, "3", "{2, 3}", "2", "dimension" },
    { function() return x:softmax(0) end, "0", "{2, 3}", "2", "dimension" },
    { function() return x:size(7) end, "7", "2" },
    { function() return x:item() end, "entry", "{2, 3}" },
    { function() return x:matmul(x) end, "'other'", "'matmul'", "{2, 3}" },
    { function() return mr.ones(3):t() end, "t()", "2", "tensor", "{3}" },
    { function() return x:reshape(4) end, "{4}", "4", "{2, 3}", "6" },
    { function() return x[3] end, "3", "index" },
    { function() return x[0] end, "0", "index" },
    { function() return x[1.5] end, "integer", "fraction" },
    { function() return mr.tensor(1)[1] end, "without dimensions" },
    { function() return x:narrow(2, 3, 2) end, "3", "2" },
    { function() return x:narrow(1, math.maxinteger, 2) end, "9223372036854775807", "2" },
    { function() return x:narrow(1, 2, math.maxinteger) end, "9223372036854775807", "2" },
    { function() return x:narrow(1, 0, 1) end, "0", "1", "2" },
    { function() return x:rows(index{ 1, 3 }) end, "index", "3", "2" },
    { function() return x:rows(index{ 0 }) end, "index", "0", "1" },
    { function() return x:rows(mr.tensor{ 1 }) end, "index", "float32" },
    { function() return x:rows(index{ { 1 } }) end, "index", "{1, 1}" },
    { function() return core.put_rows(x, index{ 1, 2 }, -1) end, "-1 rows" },
    { function() return x:clamp{ min = 2, max = 1 } end, "min", "max" },
    { function() return x:clamp{ mni = 2 } end, "'mni'", "'min'" },
    { function() return x:exp(x) end, "exp", "no arguments", "1" },
    { function() return x.nothing end, "mr.Tensor", "'nothing'" },
    { function() return x:maximum("a") end, "'maximum'", "mr.Tensor", "string" },
    { function() return x.maximum(1, 2) end, "'a'", "'maximum'", "tensor" },
    { function() return x:matmul(mr.lists{ { 1 } }) end, "mr.Tensor", "mr.Lists" },
    { function() return x.exp(nil) end, "mr.Tensor", "nil" },
    { function() return x.exp(io.stdout) end, "mr.Tensor", "userdata" },
    { function() return mr.device("gpu") end, "'gpu'", "device" },
    { function() return mr.tensr end, "'tensr'", "'tensor'" },
  }
  it("are one line with the script's position", function()
    for _, case in ipairs(cases) do
      local message = raises(table.unpack(case))
      check(message:find("tensor_spec.lua:%d+: "), message)
      check(not message:find "\n", message)
    end
  end)

  it("are raised by assignment to a tensor and by setmetatable", function()
    raises(function() x.foo = 1 end, "'foo'", "tensor")
    raises(function() x[1] = 1 end, "x[1]")
    equal(getmetatable(x), false)
    raises(function() setmetatable(x, {}) end, "setmetatable")
  end)

  it("are raised if a closed tensor is used", function()
    local y = mr.ones(2)
    do local _ <close> = y end
    raises(function() return y + 1 end, "mr.Tensor", "closed")
    raises(function() return tostring(y) end, "mr.Tensor", "closed")
    raises(function() core.save_tensors("x", "moonrank model 1", { "a" }, { y }, {}, {}) end,
      "'tensors'", "'save_tensors'")
  end)
end)

it("mr.no_grad ends if its coroutine is closed", function()
  local paused = coroutine.create(function() mr.no_grad(function() coroutine.yield() end) end)
  coroutine.resume(paused)
  coroutine.close(paused)
  check((mr.ones(2):requires_grad() * 2).tracked)
end)

it("mr.normal and mr.uniform refuse NaN and infinity as mean, sd or range", function()
  for _, bad in ipairs{ 0 / 0, math.huge, -math.huge } do
    raises(function() mr.normal({ 2 }, { sd = bad }) end, "mr.normal", "sd")
    raises(function() mr.normal({ 2 }, { mean = bad }) end, "mr.normal")
    raises(function() mr.uniform({ 2 }, { low = bad }) end, "mr.uniform", "low")
    raises(function() mr.uniform({ 2 }, { high = bad }) end, "mr.uniform", "high")
  end
end)
