-- Tests tensor operations for models against reference values of another library, plain loops, and finite differences.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises
local json = dofile "tests/support/json.lua"

local f64 = { dtype = "float64" }
local sizes = { 0, 1, 31, 32, 33, 127, 128, 129, 1000 }
local inf, nan = 1 / 0, 0 / 0

local function index(t) return mr.tensor(t, { dtype = "int64" }) end
local function random(shape, seed) return mr.normal(shape, { seed = seed, dtype = "float64" }) end
local function flat(x) return x:reshape(x:numel()):totable() end

-- Calls of Moonrank for each name in the reference file; x are the input tensors, a the arguments.
local calls = {
  logsumexp = function(x, a) return x[1]:logsumexp(a.dim) end,
  log_softmax = function(x, a) return x[1]:log_softmax(a.dim) end,
  var = function(x, a) return x[1]:var(a.dim, a.correction) end,
  std = function(x, a) return x[1]:std(a.dim, a.correction) end,
  cat = function(x, a) return mr.cat({ x[1], x[2], x[1] }, a.dim) end,
  stack = function(x, a) return mr.stack({ x[1], x[2] }, a.dim) end,
  gather = function(x, a) return x[1]:gather(a.dim, index(a.index):reshape(x[1]:shape())) end,
  scatter_add = function(x, a) return x[1]:scatter_add(a.dim, index(a.index):reshape(x[1]:shape()), x[2]) end,
  matmul = function(x) return x[1]:matmul(x[2]) end,
  conv2d = function(x, a) return x[1]:conv2d(x[2], { bias = x[3], stride = a.stride, padding = a.padding }) end,
  max_pool = function(x, a) return x[1]:max_pool(a.size, { stride = a.stride, padding = a.padding }) end,
  layer_norm = function(x) return x[1]:layer_norm(x[2], x[3]) end,
  batch_norm = function(x, a, case)
    local before = { mr.tensor(a.mean, f64), mr.tensor(a.variance, f64) }
    local out, mean, variance = x[1]:batch_norm(x[2], x[3],
      { mean = before[1], variance = before[2], training = a.training })
    equal({ before[1]:totable(), before[2]:totable() }, { a.mean, a.variance }, "entries of tensors do not change")
    near(mean, case.running.mean, 1e-12, "running means")
    near(variance, case.running.variance, 1e-12, "running variances")
    return out
  end,
}

describe("operation", function()
  local golden = json.read("tests/golden/operations.json")
  local of_name, names = {}, {}
  for _, case in ipairs(golden.cases) do
    if not of_name[case.name] then
      of_name[case.name] = {}
      names[#names + 1] = case.name
    end
    table.insert(of_name[case.name], case)
  end

  for _, name in ipairs(names) do
    it(name .. " agrees with the reference in values and derivatives, also in float32", function()
      for number, case in ipairs(of_name[name]) do
        local where, leaves = ("%s, case %d"):format(name, number), {}
        for i, input in ipairs(case.inputs) do
          leaves[i] = mr.tensor(input.values, f64):reshape(input.shape):requires_grad()
        end
        local out = calls[name](leaves, case.arguments, case)
        equal(out:shape(), case.shape, where)
        near(out, case.values, 1e-11, where)
        local weights = {}
        for i = 1, out:numel() do weights[i] = (i - 1) % 7 + 1 end
        out:backward(mr.tensor(weights, f64):reshape(case.shape))
        for i, leaf in ipairs(leaves) do
          near(leaf.grad, case.gradients[i], 1e-10, ("%s, input %d"):format(where, i))
        end
        for i, input in ipairs(case.inputs) do leaves[i] = mr.tensor(input.values):reshape(input.shape) end
        if name ~= "batch_norm" then
          near(calls[name](leaves, case.arguments), case.values, 1e-4, where .. ", float32")
        end
      end
    end)
  end

  it("table has reference values for every entry", function()
    for name in pairs(calls) do check(of_name[name], name) end
  end)
end)

-- Returns f(entries) for every row or column of a matrix (entries along dimension `dim`), as a flat table.
local function runs(x, dim, f)
  local rows, out = x:totable(), {}
  if dim == 2 then
    for r, row in ipairs(rows) do out[r] = f(row) end
    return out
  end
  for c = 1, x:size(2) do
    local column = {}
    for r = 1, x:size(1) do column[r] = rows[r][c] end
    out[c] = f(column)
  end
  return out
end

describe("x:min and x:argmin", function()
  it("agree with loops, and take the first of equal entries", function()
    for _, n in ipairs(sizes) do
      for dim = 1, 2 do
        local x = (random(dim == 2 and { 3, n } or { n, 3 }, n + 1) * 3):long():double()
        if n > 0 then
          local at = runs(x, dim, function(run)
            local best = 1
            for i, v in ipairs(run) do if v < run[best] then best = i end end
            return best
          end)
          equal(x:argmin(dim):totable(), at)
          equal(x:min(dim):totable(), runs(x, dim, function(run) return math.min(table.unpack(run)) end))
          equal(x:min():item(), math.min(table.unpack(flat(x))))
        end
      end
    end
    equal(mr.tensor{ 2, nan, 1 }:min():item(), nan)
    equal(mr.tensor{ inf, -inf }:min():item(), -inf)
  end)

  it("pass the derivative to the first of equal entries", function()
    local x = mr.tensor({ { 3, 1, 1 }, { 2, 5, 2 } }, f64):requires_grad()
    x:min(2):backward(mr.tensor({ 10, 20 }, f64))
    equal(x.grad:totable(), { { 0, 10, 0 }, { 20, 0, 0 } })
    check(mr.gradcheck(function(t) return t:min(1) + t:min() end, random({ 5, 4 }, 1)) < 1e-8)
  end)

  it("refuse tensors without entries", function()
    raises(function() return mr.zeros(0):min() end, "min", "entries")
    raises(function() return mr.zeros(2, 0):argmin(2) end, "argmin", "entries")
  end)
end)

describe("x:var and x:std", function()
  it("agree with loops, also for a large mean", function()
    for _, n in ipairs(sizes) do
      if n > 1 then
        local x = random({ n }, n) * 0.5 + 1000
        local t, mean, squares = x:totable(), 0, 0
        for _, v in ipairs(t) do mean = mean + v / n end
        for _, v in ipairs(t) do squares = squares + (v - mean) ^ 2 end
        near(x:var():item(), squares / (n - 1), 1e-9)
        near(x:std(1):item(), math.sqrt(squares / (n - 1)), 1e-9)
        near(x:var(nil, 0):item(), squares / n, 1e-9)
        near(x:float():var():item(), squares / (n - 1), 1e-2)
      end
    end
  end)

  it("have right derivatives, and 0 for std of equal entries", function()
    for dim = 1, 2 do
      check(mr.gradcheck(function(t) return t:var(dim) end, random({ 4, 5 }, 3)) < 1e-8)
      check(mr.gradcheck(function(t) return t:std(dim) end, random({ 4, 5 }, 4)) < 1e-7)
    end
    check(mr.gradcheck(function(t) return t:std() end, random({ 33 }, 4)) < 1e-7)
    local x = mr.full({ 4 }, 3):requires_grad()
    x:std():backward()
    equal(x.grad:totable(), { 0, 0, 0, 0 })
  end)

  it("refuse too few entries", function()
    raises(function() return mr.zeros(1):var() end, "1", "variance", "entries")
    raises(function() return mr.zeros(3, 0):std(2) end, "0", "variance", "entries")
    equal(mr.zeros(1):var(1, 0):item(), 0.0)
    equal(mr.zeros(0, 3):var(2):totable(), {})
  end)
end)

describe("x:logsumexp and x:log_softmax", function()
  it("agree with loops", function()
    for _, n in ipairs(sizes) do
      local x = random({ 2, n }, n + 3) * 10
      local expected = runs(x, 2, function(run)
        local total = 0
        for _, v in ipairs(run) do total = total + math.exp(v) end
        return math.log(total)
      end)
      near(x:logsumexp(2), expected, 1e-12)
      near(x:log_softmax(2), x - mr.tensor(expected, f64):reshape(2, 1), 1e-12)
      near(x:float():log_softmax(2):double(), x:log_softmax(2), 1e-5)
    end
  end)

  it("do not overflow, and logsumexp of nothing is -inf", function()
    near(mr.tensor{ 1000, 1000 }:logsumexp():item(), 1000 + math.log(2), 1e-4)
    near(mr.tensor({ -1000, -1001 }, f64):logsumexp():item(), -1000 + math.log(1 + math.exp(-1)), 1e-12)
    near(mr.tensor({ 1000, 0 }, f64):log_softmax(1), { 0, -1000 }, 1e-12)
    equal(mr.tensor{ -inf, -inf }:logsumexp():item(), -inf)
    equal(mr.tensor{ inf, 3 }:logsumexp():item(), inf)
    equal(mr.zeros(0):logsumexp():item(), -inf)
    equal(mr.tensor{ nan, 3 }:logsumexp():item(), nan)
  end)

  it("have right derivatives, and 0 if all entries are -inf", function()
    for dim = 1, 2 do
      check(mr.gradcheck(function(t) return t:logsumexp(dim) end, random({ 4, 5 }, 3)) < 1e-8)
      check(mr.gradcheck(function(t) return t:log_softmax(dim) end, random({ 4, 5 }, 4)) < 1e-8)
    end
    local x = mr.tensor{ -inf, -inf }:requires_grad()
    x:logsumexp():backward()
    equal(x.grad:totable(), { 0, 0 })
  end)
end)

describe("x:sort and x:topk", function()
  it("agree with loops, and keep the order of equal entries", function()
    for _, n in ipairs(sizes) do
      for dim = 1, 2 do
        local x = (random(dim == 2 and { 3, n } or { n, 3 }, n + 7) * 4):long():double()
        for _, descending in ipairs{ false, true } do
          local function order_of(run)
            local order = {}
            for i = 1, #run do order[i] = i end
            table.sort(order, function(a, b)
              if run[a] ~= run[b] then return (run[a] < run[b]) ~= descending end
              return a < b
            end)
            return order
          end
          local values, order = x:sort(dim, { descending = descending })
          equal({ order.dtype, order:shape() }, { "int64", x:shape() })
          equal(values:totable(), x:gather(dim, order):totable())
          local k = math.min(n, 5)
          local top, at = x:topk(k, dim, { largest = descending })
          if n > 0 then
            local by_run = runs(dim == 2 and order or order:transpose(1, 2), 2, function(run) return run end)
            equal(by_run, runs(x, dim, order_of))
            equal(top:totable(), values:narrow(dim, 1, k):totable())
            equal(at:totable(), order:narrow(dim, 1, k):totable())
          end
        end
      end
    end
  end)

  it("take the last dimension by default, and treat -0 as 0", function()
    equal((mr.tensor{ { 2, 1 }, { 4, 3 } }:sort()):totable(), { { 1, 2 }, { 3, 4 } })
    equal((mr.tensor{ { 2, 1 }, { 4, 3 } }:topk(1)):totable(), { { 2 }, { 4 } })
    equal((mr.tensor{ 3, 1, 2 }:sort{ descending = true }):totable(), { 3, 2, 1 })
    equal(select(2, mr.tensor{ 0.0, -0.0, inf, -inf }:sort()):totable(), { 4, 1, 2, 3 })
    equal((mr.tensor{ 1, 2 }:topk(0)):totable(), {})
  end)

  it("have right derivatives", function()
    for dim = 1, 3 do
      local x = random({ 2, 4, 3 }, dim)
      check(mr.gradcheck(function(t) return (t:sort(dim)) end, x) < 1e-8)
      check(mr.gradcheck(function(t) return (t:topk(2, dim)) end, x) < 1e-8)
      check(mr.gradcheck(function(t) return (t:topk(1, dim, { largest = false })) end, x) < 1e-8)
    end
  end)

  it("refuse NaN, int64 and wrong dimensions, counts and options", function()
    raises(function() return mr.tensor{ 1, nan }:sort() end, "x", "NaN", "2")
    raises(function() return mr.ones(3):topk(4) end, "4", "3", "0", "entries")
    raises(function() return mr.ones(3):topk(-1) end, "-1", "3", "entries")
    raises(function() return index{ 1 }:sort() end, "int64")
    raises(function() return mr.ones(3):sort(2) end, "2", "{3}", "dimension", "tensor")
    raises(function() return mr.ones(3):sort(1, { reverse = true }) end, "'reverse'", "option")
    raises(function() return mr.tensor(3):sort() end, "dimensions")
  end)
end)

describe("mr.cat and mr.stack", function()
  it("keep types, and take tensors of size 0 and single tensors", function()
    for _, dtype in ipairs{ "float32", "float64", "int64" } do
      local a, b = mr.tensor({ { 1, 2 } }, { dtype = dtype }), mr.tensor({ { 3, 4 }, { 5, 6 } }, { dtype = dtype })
      equal(mr.cat{ a, b }:totable(), { { 1, 2 }, { 3, 4 }, { 5, 6 } })
      equal(mr.cat({ b, b:narrow(2, 1, 1) }, 2):totable(), { { 3, 4, 3 }, { 5, 6, 5 } })
      equal({ mr.cat{ a }.dtype, mr.cat{ a }:totable() }, { dtype, { { 1, 2 } } })
      equal(mr.cat{ mr.zeros({ 0, 2 }, { dtype = dtype }), a }:totable(), { { 1, 2 } })
    end
    equal(mr.stack{ mr.tensor(1), mr.tensor(2) }:totable(), { 1, 2 })
    equal(mr.stack({ mr.zeros(0), mr.zeros(0) }, 2):shape(), { 0, 2 })
    for _, n in ipairs(sizes) do
      local a, b = random({ n }, 1), random({ n + 1 }, 2)
      equal(mr.cat{ a, b }:totable(), table.move(b:totable(), 1, n + 1, n + 1, a:totable()))
    end
  end)

  it("agree with loops for many rows", function()
    for _, n in ipairs{ 0, 1, 33, 1000 } do
      local a, b = random({ 40, n }, 1), random({ 40, 3 }, 2)
      local all, ta, tb = mr.cat({ a, b, a }, 2):totable(), a:totable(), b:totable()
      for r = 1, 40 do
        local row = {}
        for _, part in ipairs{ ta[r], tb[r], ta[r] } do table.move(part, 1, #part, #row + 1, row) end
        equal(all[r], row)
      end
    end
  end)

  it("record gradients only if an operand needs them", function()
    local a, b = mr.ones(2):requires_grad(), mr.ones(3)
    mr.cat{ a * 2, b }:sum():backward()
    equal(a.grad:totable(), { 2, 2 })
    check(not mr.cat{ b, b }.tracked)
  end)

  it("refuse no tensors, and other shapes, dimensions and types", function()
    raises(function() return mr.cat{} end, "'tensors'")
    raises(function() return mr.stack{} end, "'tensors'")
    raises(function() return mr.cat{ mr.ones(2, 3), mr.ones(2, 4) } end, "2", "{2, 4}", "{2, 3}", "1", "tensor")
    raises(function() return mr.cat({ mr.ones(2), mr.ones(2, 1) }, 1) end, "2", "{2, 1}", "tensor")
    raises(function() return mr.stack{ mr.ones(2), mr.ones(3) } end, "2", "{3}", "{2}", "tensor")
    raises(function() return mr.stack({ mr.ones(2) }, 3) end, "3", "{2}", "1", "2", "dimension")
    raises(function() return mr.cat({ mr.ones(2) }, 2) end, "2", "{2}", "dimension", "tensor")
    raises(function() return mr.cat{ mr.ones(2), mr.ones(2):double() } end, "double()", "float()")
    raises(function() return mr.cat{ mr.ones(2), 3 } end, "'tensors'")
    raises(function() return mr.stack{ mr.ones(1, 1, 1, 1, 1, 1) } end, "6", "dimensions")
  end)
end)

describe("x:gather and x:scatter_add", function()
  it("agree with loops for an index that is smaller than the tensor, and for int64", function()
    local x = random({ 3, 4 }, 1)
    local i = index{ { 4, 4, 1 }, { 2, 3, 3 } }
    local t = x:totable()
    equal(x:gather(2, i):totable(), { { t[1][4], t[1][4], t[1][1] }, { t[2][2], t[2][3], t[2][3] } })
    equal(index{ { 5, 6 }, { 7, 8 } }:gather(1, index{ { 2, 1 } }):totable(), { { 7, 6 } })
    local sums = mr.zeros(3, 4):double():scatter_add(2, i, mr.ones(2, 3):double())
    equal(sums:totable(), { { 1, 0, 0, 2 }, { 0, 1, 2, 0 }, { 0, 0, 0, 0 } })
    equal(mr.ones(3):scatter_add(1, index{}, mr.zeros(0)):totable(), { 1, 1, 1 })
    equal(x:gather(1, mr.zeros({ 0, 4 }, { dtype = "int64" })):shape(), { 0, 4 })
  end)

  it("add up many entries like a loop", function()
    for _, n in ipairs(sizes) do
      local values, numbers, expected = random({ n }, n + 1), {}, { 0, 0, 0, 0, 0 }
      for k, v in ipairs(values:totable()) do
        numbers[k] = k * k % 5 + 1
        expected[numbers[k]] = expected[numbers[k]] + v
      end
      near(mr.zeros({ 5 }, f64):scatter_add(1, index(numbers), values), expected, 1e-12)
    end
  end)

  it("have right derivatives", function()
    local i = index{ { 3, 1, 3 }, { 2, 2, 2 } }
    check(mr.gradcheck(function(t) return t:gather(2, i) end, random({ 2, 3 }, 2)) < 1e-8)
    check(mr.gradcheck(function(t) return t:gather(1, i) end, random({ 3, 3 }, 3)) < 1e-8)
    check(mr.gradcheck(function(t) return (t * 2):scatter_add(2, i, t * t) end, random({ 2, 3 }, 4)) < 1e-8)
  end)

  it("refuse an index with wrong values, shape or type", function()
    local x = mr.ones(2, 3)
    raises(function() return x:gather(2, index{ { 4 } }) end, "index", "4", "1", "3")
    raises(function() return x:gather(2, index{ { 0 } }) end, "index", "0", "1", "3")
    raises(function() return x:gather(2, index{ 1 }) end, "index", "{1}", "{2, 3}", "2")
    raises(function() return x:gather(2, index{ { 1 }, { 1 }, { 1 } }) end, "index", "{3, 1}")
    raises(function() return x:gather(2, mr.ones(2, 3)) end, "index", "float32", "int64")
    raises(function() return x:scatter_add(2, index{ { 1 } }, mr.ones(1, 2)) end, "{1, 2}", "index", "{1, 1}")
  end)
end)

it("x:embedding gives rows for an index of any shape, and adds up derivatives of repeated rows", function()
  local w = random({ 4, 3 }, 1):requires_grad()
  local i = index{ { 1, 4 }, { 4, 2 } }
  local rows, t = w:embedding(i), w:totable()
  equal(rows:totable(), { { t[1], t[4] }, { t[4], t[2] } })
  rows:sum():backward()
  equal(w.grad:totable(), { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, { 2, 2, 2 } })
  check(mr.gradcheck(function(x) return x:embedding(i) end, random({ 4, 3 }, 2)) < 1e-8)
  equal(w:embedding(index{}):shape(), { 0, 3 })
  raises(function() return w:embedding(index{ 5 }) end, "index", "5", "1", "4")
  raises(function() return w:embedding(mr.ones(2)) end, "index", "float32", "int64")
  raises(function() return mr.ones(3):embedding(index{ 1 }) end, "embedding", "{3}")
end)

it("x:isnan is 1 for NaN and 0 for all other values", function()
  equal(mr.tensor{ 1, nan, inf, -inf, -nan }:isnan():totable(), { 0, 1, 0, 0, 1 })
  equal(mr.zeros(0):isnan():totable(), {})
end)

it("x:transpose swaps two dimensions of a tensor of any type", function()
  local x = mr.arange(1, 24, { dtype = "int64" }):reshape(2, 3, 4)
  local y = x:transpose(1, 3)
  equal(y:shape(), { 4, 3, 2 })
  for a = 1, 2 do for b = 1, 3 do for c = 1, 4 do equal(y[c][b]:totable()[a], x[a][b]:totable()[c]) end end end
  equal(x:transpose(2, 2):totable(), x:totable())
  check(mr.gradcheck(function(t) return t:transpose(2, 3) end, random({ 2, 3, 4 }, 1)) < 1e-8)
  raises(function() return x:transpose(1, 4) end, "dimension 4")
end)

describe("x:matmul of stacks of matrices", function()
  it("equals the products of the pairs", function()
    for _, n in ipairs{ 0, 1, 31, 33 } do
      local a, b = random({ 3, 5, n }, 1), random({ 3, n, 4 }, 2)
      local all = a:matmul(b)
      for i = 1, 3 do equal(all[i]:totable(), a[i]:matmul(b[i]):totable()) end
    end
    equal(mr.ones(0, 2, 3):matmul(mr.ones(0, 3, 4)):shape(), { 0, 2, 4 })
    equal(mr.ones(3, 0, 2):matmul(mr.ones(2, 4)):shape(), { 3, 0, 4 })
  end)

  it("has right derivatives", function()
    local a, b = random({ 2, 3, 4 }, 1), random({ 4, 2 }, 2)
    check(mr.gradcheck(function(x) return x:matmul(b) end, a) < 1e-8)
    check(mr.gradcheck(function(x) return a:matmul(x) end, b) < 1e-8)
    check(mr.gradcheck(function(x) return x:matmul(a) end, random({ 5, 3 }, 3)) < 1e-8)
    check(mr.gradcheck(function(x) return x:matmul(b) end, random({ 4 }, 3)) < 1e-8)
  end)

  it("refuses shapes that do not fit", function()
    raises(function() return mr.ones(2, 3, 4):matmul(mr.ones(3, 4, 5)) end,
      "'other'", "'matmul'", "{2, 3, 4}", "{3, 4, 5}")
    raises(function() return mr.ones(3):matmul(mr.ones(4)) end, "'other'", "'matmul'", "{3}", "{4}")
    raises(function() return mr.tensor(3):matmul(mr.ones(4)) end, "'other'", "'matmul'")
  end)
end)

describe("x:conv2d and x:max_pool", function()
  it("have right derivatives", function()
    local x, w, b = random({ 2, 2, 4, 5 }, 1), random({ 3, 2, 2, 3 }, 2), random({ 3 }, 3)
    local o = { bias = b, stride = { 1, 2 }, padding = 1 }
    check(mr.gradcheck(function(t) return t:conv2d(w, o) end, x) < 1e-8)
    check(mr.gradcheck(function(t) return x:conv2d(t, o) end, w) < 1e-8)
    check(mr.gradcheck(function(t) return x:conv2d(w, { bias = t }) end, b) < 1e-8)
    check(mr.gradcheck(function(t) return t:max_pool(2, { stride = 1, padding = 1 }) end, x) < 1e-8)
  end)

  it("give the same bits without gradients, with fewer windows of conv2d in memory at once", function()
    local x, w = mr.normal({ 40, 3, 30, 30 }, { seed = 1 }), mr.normal({ 4, 3, 17, 17 }, { seed = 2 })
    local o = { padding = 1 }
    local unfold, most = core.unfold, 0
    core.unfold = function(...)
      local windows = unfold(...)
      most = math.max(most, windows:numel())
      return windows
    end
    local _ <close> = setmetatable({}, { __close = function() core.unfold = unfold end })
    local all, all_windows = x:conv2d(w, o), most
    most = 0
    local few = mr.no_grad(function() return x:conv2d(w, o) end)
    equal(all_windows, 40 * 3 * 17 * 17 * 16 * 16)
    check(most < 0.6 * all_windows, most)
    equal((all - few):abs():max():item(), 0.0)
  end)

  it("take no pictures, and pictures as small as the window", function()
    equal(mr.ones(0, 2, 3, 3):conv2d(mr.ones(4, 2, 2, 2)):shape(), { 0, 4, 2, 2 })
    equal(mr.ones(1, 1, 3, 2):max_pool({ 3, 2 }):shape(), { 1, 1, 1, 1 })
  end)

  it("refuse wrong shapes, strides, paddings and biases", function()
    local x = mr.ones(1, 2, 3, 3)
    raises(function() return x:conv2d(mr.ones(1, 3, 2, 2)) end, "conv2d", "{1, 2, 3, 3}", "{1, 3, 2, 2}")
    raises(function() return x:conv2d(mr.ones(1, 2, 4, 4)) end, "{4, 4}", "{1, 2, 3, 3}", "window")
    raises(function() return x:conv2d(mr.ones(1, 2, 2, 2), { stride = 0 }) end, "stride")
    raises(function() return x:conv2d(mr.ones(1, 2, 2, 2), { stride = 1.5 }) end, "stride", "1.5")
    raises(function() return x:conv2d(mr.ones(1, 2, 2, 2), { bias = mr.ones(2) }) end, "bias", "2", "1")
    raises(function() return x:max_pool(2, { padding = 2 }) end, "2", "window")
    raises(function() return mr.ones(3, 3):max_pool(2) end, "4", "dimensions")
    raises(function() return x:max_pool(2, { stride = -1 }) end, "stride")
  end)
end)

describe("x:batch_norm", function()
  local function state(n) return { mean = mr.zeros({ n }, f64), variance = mr.ones({ n }, f64), training = true } end

  it("has right derivatives", function()
    local x, g, b = random({ 4, 3, 2 }, 1), random({ 3 }, 2), random({ 3 }, 3)
    check(mr.gradcheck(function(t) return (t:batch_norm(g, b, state(3))) end, x) < 1e-6)
    check(mr.gradcheck(function(t) return (x:batch_norm(t, b, state(3))) end, g) < 1e-8)
    check(mr.gradcheck(function(t) return (x:batch_norm(g, t, state(3))) end, b) < 1e-8)
    local fixed = state(3)
    fixed.training = false
    check(mr.gradcheck(function(t) return (t:batch_norm(g, b, fixed)) end, x) < 1e-8)
  end)

  it("refuses wrong states, shapes and sizes", function()
    local x, g = mr.ones(4, 3):double(), mr.ones(3):double()
    raises(function() return x:batch_norm(g, g, { mean = g, variance = g, training = 1 }) end, "training", "1")
    raises(function() return x:batch_norm(g, g, { mean = g, training = true }) end, "batch_norm", "variance")
    raises(function() return x:batch_norm(mr.ones(2):double(), g, state(3)) end, "gain", "2", "3")
    raises(function() return x:narrow(1, 1, 1):batch_norm(g, g, state(3)) end, "batch_norm", "1", "2")
    raises(function() return g:batch_norm(g, g, state(3)) end, "batch_norm", "{3}")
  end)
end)

describe("a tensor", function()
  it("takes a new gradient if it is a leaf, and nil clears it", function()
    local x = mr.ones(2):requires_grad()
    x.grad = mr.tensor{ 3, 4 }
    equal(x.grad:totable(), { 3, 4 })
    x:sum():backward()
    equal(x.grad:totable(), { 4, 5 })
    x.grad = x.grad * 0.5
    equal(x.grad:totable(), { 2, 2.5 })
    x.grad = nil
    equal(x.grad, nil)
    raises(function() x.grad = mr.ones(3) end, "grad", "{3}", "tensor", "{2}")
    raises(function() x.grad = mr.ones(2):double() end, "float64")
    raises(function() x.grad = 3 end, "mr.Tensor")
    raises(function() mr.ones(2).grad = mr.ones(2) end, "requires_grad()")
    raises(function() (x * 2).grad = mr.ones(2) end, "requires_grad()")
  end)

  it("refuses changes in place, and suggests mr.cat", function()
    local x = mr.ones(2)
    raises(function() x[1] = 3 end, "[1]", "mr.cat")
    raises(function() x.data = 3 end, "'data'", "tensor")
  end)

  it("suggests Moonrank's method for names from other libraries, and the nearest for mistyped ones", function()
    local x = mr.ones(2)
    raises(function() return x:view(1, 2) end, "mr.Tensor", "'view'", "x:reshape(...)")
    raises(function() return x.cuda end, "mr.Tensor", "'cuda'", "x:to(\"cuda\")")
    raises(function() return x:sofmax(1) end, "mr.Tensor", "'sofmax'", "'softmax'")
    raises(function() return x[{}] end, "'table {...}'", "mr.Tensor")
    for name in pairs(require("moonrank.help.other_names")["mr.Tensor"]) do
      check(not core.classes["mr.Tensor"].methods[name] and not core.classes["mr.Tensor"].getters[name], name)
    end
  end)

  it("refuses to broadcast other shapes, and names the sizes that differ", function()
    raises(function() return mr.ones(2, 3) + mr.ones(4) end, "3", "4", "2", "dimension")
  end)
end)

it("help.text documents every operation of models", function()
  local help = require "moonrank.help"
  for _, name in ipairs{ "cat", "stack", "sort", "topk", "conv2d", "max_pool", "batch_norm", "gather", "scatter_add",
    "embedding", "min", "std", "var", "logsumexp", "log_softmax", "isnan", "transpose", "argmin" } do
    check(#help.text(name) > 40, name)
  end
  check(core.unfold)
end)

it("mr.models.define makes a model with batch_norm, whose buffers a snapshot restores", function()
  local make = mr.models.define("normalised", {
    required = { users = "integer", items = "integer" },
    parameters = function(o)
      return { users = mr.normal{ o.users, 4 }, items = mr.normal{ o.items, 4 }, gain = mr.ones(4), bias = mr.zeros(4) }
    end,
    buffers = function() return { mean = mr.zeros(4), variance = mr.ones(4) } end,
    forward = function(self, batch)
      local items = self.items:embedding(batch.items)
      items, self.mean, self.variance = items:batch_norm(self.gain, self.bias,
        { mean = self.mean, variance = self.variance, training = batch.training })
      return (items * self.users:embedding(batch.row_users)):sum(2)
    end,
  })
  local data = mr.data.synthetic{ kind = "ratings", users = 30, items = 50, seed = 1 }:binarize(4):min_relevant(2)
  local fold = data:folds{ k = 5, by = "user", seed = 1, nsr = 1 }[1]
  local model = make{ users = 30, items = 50, seed = 1 }
  local _, before = model:state()
  local snapshot = model:snapshot()
  mr.fit{ model = model, loss = mr.losses.ndcg{}, train = fold.train, epochs = 2, progress = false,
    optimizer = mr.optim.adam{ lr = 0.05 } }
  local names, after = model:state()
  local at = {}
  for i, name in ipairs(names) do at[name] = i end
  check((after[at.mean] - before[at.mean]):abs():max():item() > 0, "running means moved")
  model:restore(snapshot)
  equal(select(2, model:state())[at.mean]:totable(), { 0, 0, 0, 0 })
end)
