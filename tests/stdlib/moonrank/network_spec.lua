-- Tests attention within lists, layer normalisation and dropout against plain loops, and their gradients against finite
-- differences.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, equal, raises, check = test.describe, test.it, test.near, test.equal, test.raises, test.check

local function random(sizes, seed) return mr.normal(sizes, { seed = seed, dtype = "float64" }) end

-- Returns softmax attention of every list and head, computed entry by entry.
local function attention(q, k, v, sizes, heads)
  q, k, v = q:totable(), k:totable(), v:totable()
  local width, out, first = #q[1] // heads, {}, 0
  for _, n in ipairs(sizes) do
    for i = first + 1, first + n do
      out[i] = {}
      for h = 0, heads - 1 do
        local weights, total = {}, 0
        for j = first + 1, first + n do
          local dot = 0
          for c = h * width + 1, (h + 1) * width do dot = dot + q[i][c] * k[j][c] end
          weights[j] = math.exp(dot / math.sqrt(width))
          total = total + weights[j]
        end
        for c = h * width + 1, (h + 1) * width do
          out[i][c] = 0
          for j = first + 1, first + n do out[i][c] = out[i][c] + weights[j] / total * v[j][c] end
        end
      end
    end
    first = first + n
  end
  return out
end

local lists = mr.lists{ { 1, 0, 0 }, { 1 }, { 0, 1, 0, 1, 0, 0, 0 } }
local q, k, v, w = random({ 11, 6 }, 1), random({ 11, 6 }, 2), random({ 11, 6 }, 3), random({ 11, 6 }, 4)

describe("lists:attention", function()
  for heads = 1, 3 do
    it(("with %d heads agrees with loops"):format(heads), function()
      local expected = attention(q, k, v, { 3, 1, 7 }, heads)
      for i, row in ipairs(lists:attention(q, k, v, heads):totable()) do
        for c, value in ipairs(row) do near(value, expected[i][c], 1e-12) end
      end
    end)

    it(("with %d heads has right derivatives"):format(heads), function()
      local function weighed(a, b, c) return (lists:attention(a, b, c, heads) * w):sum() end
      near(mr.gradcheck(function(x) return weighed(x, k, v) end, q), 0, 1e-6)
      near(mr.gradcheck(function(x) return weighed(q, x, v) end, k), 0, 1e-6)
      near(mr.gradcheck(function(x) return weighed(q, k, x) end, v), 0, 1e-6)
    end)
  end

  it("takes lists without rows", function()
    local none = mr.lists{ relevance = mr.tensor({}), sizes = {} }
    equal(#none:attention(mr.zeros(0, 4), mr.zeros(0, 4), mr.zeros(0, 4)), 0)
  end)

  it("refuses wrong numbers of heads, shapes and types", function()
    raises(function() return lists:attention(q, k, v, 4) end, "4", "6", "columns")
    raises(function() return lists:attention(random({ 10, 6 }, 1), k, v) end, "11", "matrix", "row")
    raises(function() return lists:attention(q, random({ 11, 5 }, 2), v) end, "'k'", "{11, 5}")
    raises(function() return lists:attention(q, k, v:float()) end, "'v'", "float32")
  end)
end)

describe("x:layer_norm", function()
  local gain, bias = random({ 6 }, 5), random({ 1, 6 }, 6)

  it("has right derivatives", function()
    near(mr.gradcheck(function(x) return (x:layer_norm(gain, bias) * w):sum() end, q), 0, 1e-6)
    near(mr.gradcheck(function(x) return (q:layer_norm(x, bias) * w):sum() end, gain), 0, 1e-6)
    near(mr.gradcheck(function(x) return (q:layer_norm(gain, x) * w):sum() end, bias), 0, 1e-6)
  end)

  it("gives rows of mean 0 and variance 1, and 0 for equal entries", function()
    local x = q:layer_norm(mr.ones(6):double(), mr.zeros(6):double(), 1e-12)
    for _, row in ipairs(x:totable()) do
      local sum, squares = 0, 0
      for _, value in ipairs(row) do sum, squares = sum + value, squares + value * value end
      near(sum, 0, 1e-12)
      near(squares / 6, 1, 1e-9)
    end
    near(mr.full({ 2, 6 }, 3.5):layer_norm(mr.ones(6), mr.zeros(6)):abs():max():item(), 0, 1e-12)
  end)

  it("takes no rows, and refuses wrong shapes and epsilon", function()
    local leaf = mr.ones(6):requires_grad()
    mr.zeros(0, 6):layer_norm(leaf, mr.zeros(6)):sum():backward()
    equal(leaf.grad:abs():sum():item(), 0)
    raises(function() return q:layer_norm(mr.ones(5):double(), bias) end, "5", "6", "entries", "columns")
    raises(function() return q:layer_norm(gain, bias, 0) end, "'epsilon'", "0")
    raises(function() return gain:layer_norm(gain, bias) end, "layer_norm", "{6}")
  end)
end)

describe("x:dropout", function()
  it("drops the given share, keeps the mean, and repeats for the same seed and stream", function()
    local x = mr.ones(100001)
    local found = x:dropout(0.3, 1, "a")
    local dropped = found:eq(0):sum():item()
    check(math.abs(dropped - 30000) < 5 * math.sqrt(100001 * 0.21), "dropped " .. dropped)
    near(found:max():item(), 1 / 0.7, 1e-6)
    equal((found - x:dropout(0.3, 1, "a")):abs():sum():item(), 0)
    check((found - x:dropout(0.3, 2, "a")):abs():sum():item() > 1000, "another seed drops the same")
    check((found - x:dropout(0.3, 1, "b")):abs():sum():item() > 1000, "another stream drops the same")
  end)

  it("has the derivative of the entries that it kept", function()
    near(mr.gradcheck(function(x) return (x:dropout(0.5, 3, "c") * w):sum() end, q), 0, 1e-8)
  end)

  it("changes nothing with rate 0, and refuses rates outside 0 to 1", function()
    equal((q:dropout(0, 1, "a") - q):abs():sum():item(), 0)
    for _, rate in ipairs{ 1, -0.1, 0 / 0 } do raises(function() return q:dropout(rate, 1, "a") end, "rate") end
  end)
end)
