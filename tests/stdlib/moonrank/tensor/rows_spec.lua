-- Tests operations on rows of matrices, which have their own loops on the CPU: broadcasting along dimensions, sums
-- along dimensions, gathered rows, and inner products of rows.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local f64 = { dtype = "float64" }
local function random(shape, seed) return mr.normal(shape, { seed = seed, dtype = "float64" }) end
local function flat(x) return x:reshape(x:numel()):totable() end

-- Returns `count` random row numbers from 1 to n, with repeats.
local function numbers(n, count, seed)
  return mr.uniform({ count }, { low = 1, high = n + 1, seed = seed, dtype = "float64" }):long()
end

-- Returns the entries of `x` after broadcasting to `shape`, as a flat table.
local function stretched(x, shape)
  local of, values, out = x:shape(), flat(x), {}
  for i = 0, shape[1] * shape[2] * shape[3] - 1 do
    local at, left, stride = 0, i, 1
    for d = 3, 1, -1 do
      local size = of[d - 3 + #of] or 1
      at, stride = at + (size == 1 and 0 or left % shape[d]) * stride, stride * size
      left = left // shape[d]
    end
    out[i + 1] = values[at + 1]
  end
  return out
end

describe("operands of a broadcast", function()
  local shape = { 5, 41, 60 }
  local x = random(shape, 1)
  local functions = {
    { function(a, b) return a + b end, function(a, b) return a + b end },
    { function(a, b) return a - b end, function(a, b) return a - b end },
    { function(a, b) return a * b end, function(a, b) return a * b end },
    { function(a, b) return a / b end, function(a, b) return a / b end },
    { function(a, b) return a:maximum(b) end, math.max },
    { function(a, b) return a:ge(b) end, function(a, b) return a >= b and 1 or 0 end },
  }

  it("give the values of loops over the entries", function()
    for s, of in ipairs{ { 5, 41, 60 }, { 60 }, { 41, 1 }, { 1, 60 }, { 5, 1, 60 }, { 5, 1, 1 }, { 1 } } do
      local y = random(of, 1 + s)
      local a, b = flat(x), stretched(y, shape)
      for _, f in ipairs(functions) do
        local right, left = {}, {}
        for i = 1, #a do right[i], left[i] = f[2](a[i], b[i]), f[2](b[i], a[i]) end
        equal(flat(f[1](x, y)), right)
        equal(flat(f[1](y, x)), left)
      end
    end
  end)

  it("have right derivatives", function()
    local small, fixed = random({ 3, 2 }, 2), random({ 4, 3, 2 }, 3) + 5
    for _, of in ipairs{ { 3, 2 }, { 3, 1 }, { 2 }, { 1 } } do
      local y = small:narrow(2, 1, of[#of]):narrow(1, 1, #of == 2 and 3 or 1):reshape(of)
      check(mr.gradcheck(function(t) return t * fixed + fixed / (t + 9) - t end, y) < 1e-6)
      check(mr.gradcheck(function(t) return fixed * t + (t + 9) / fixed - t:maximum(fixed) end, y) < 1e-6)
    end
  end)
end)

it("sums along a dimension are sums of loops over the entries", function()
  local shape = { 4, 37, 70 }
  local x = random(shape, 5)
  local values, strides = flat(x), { 37 * 70, 70, 1 }
  for d = 1, 3 do
    local expected, at = {}, 0
    for i = 1, #values do
      if (i - 1) // strides[d] % shape[d] == 0 then
        local total = 0
        for j = 0, shape[d] - 1 do total = total + values[i + j * strides[d]] end
        at = at + 1
        expected[at] = total
      end
    end
    -- a GPU adds in another order, so results differ by rounding
    if x.device == "cpu" then equal(flat(x:sum(d)), expected) end
    near(flat(x:sum(d)), expected, 1e-13)
    near(flat(x:mean(d)), flat(x:sum(d) / shape[d]), 1e-14)
  end
  equal(mr.tensor{ { -0.0 }, { -0.0 } }:sum(2):totable(), { 0.0, 0.0 })
end)

it("gathered rows sum their derivatives by row, however many there are", function()
  for _, width in ipairs{ 1, 7, 8, 45 } do
    for _, count in ipairs{ 3, 255, 700 } do
      local table_of, index = random({ 3000, width }, 6):requires_grad(), numbers(3000, count, count)
      if count == 700 then index = mr.cat{ index, index:narrow(1, 100, 200) } end
      local weights = random({ #index, width }, 7)
      local found = table_of:rows(index)
      equal(found[2]:totable(), table_of:detach()[index[2]:item()]:totable());
      (found * weights):sum():backward()
      local expected, of = flat(mr.zeros({ 3000, width }, f64)), flat(weights)
      for k, row in ipairs(index:totable()) do
        for c = 1, width do
          local at = (row - 1) * width + c
          expected[at] = expected[at] + of[(k - 1) * width + c]
        end
      end
      near(flat(table_of.grad), expected, 1e-12)
    end
  end
end)

describe("inner products of gathered rows", function()
  local count = 300
  local function tables() return random({ 9, 19 }, 8):requires_grad(), random({ 800, 19 }, 9):requires_grad() end
  local i, j, weights = numbers(9, count, 10), numbers(800, count, 11), random({ count }, 12)
  -- Multiplying by 1 hides from later operations that their input was gathered by rows, so that they take the general
  -- way.
  local function hidden(x) return x * mr.ones({ 1, 1 }, f64) end

  -- Checks that f(a, b, identity) and f(a, b, hidden) have equal gradients.
  local function same(f)
    local a, b = tables()
    local c, d = tables();
    (f(a, b, function(x) return x end) * weights):sum():backward();
    (f(c, d, hidden) * weights):sum():backward()
    for k, pair in ipairs{ { a, c }, { b, d } } do
      equal(pair[1].grad ~= nil, pair[2].grad ~= nil, k)
      if pair[1].grad then near(flat(pair[1].grad), flat(pair[2].grad), 1e-12) end
    end
  end

  it("have the derivatives of products and sums", function()
    same(function(a, b, h) return h(a:rows(i)):row_dot(h(b:rows(j))) end)
    same(function(a, b, h) return (h(a:rows(i)) * h(b:rows(j))):sum(2) end)
    same(function(a, b, h) return h(a:detach():rows(i)):row_dot(h(b:rows(j))) end)
    same(function(a, b, h) return (h(a:rows(i)) * h(b:rows(j):tanh())):sum(2) end)
  end)

  it("of one table, of one gathered matrix, and of one that is used again", function()
    same(function(a, b, h) return (h(b:rows(j)) * h(b:rows(i))):sum(2) + a:rows(i):sum(2) end)
    same(function(a, b, h)
      local x = b:rows(j)
      return h(x):row_dot(h(x)) + a:rows(i):sum(2)
    end)
    same(function(a, b, h)
      local x, y = a:rows(i), b:rows(j)
      local product = h(x) * h(y)
      return product:sum(2) + product:exp():sum(2) + h(x):row_dot(h(y) * 2)
    end)
  end)

  it("can go backward again only if the graph is kept", function()
    local a, b = tables()
    local loss = a:rows(i):row_dot(b:rows(j)):sum()
    loss:backward{ keep = true }
    local once = flat(a.grad)
    loss:backward()
    near(flat(a.grad / 2), once, 1e-12)
    raises(function() loss:backward() end, "keep")
  end)
end)
