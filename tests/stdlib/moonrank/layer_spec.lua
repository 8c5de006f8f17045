-- Tests a fully connected layer against a product, a sum and an activation function one after the other, on every
-- device of the machine.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local describe, it, near, raises, equal, check = test.describe, test.it, test.near, test.raises, test.equal, test.check

local functions = { none = function(z) return z end }
for _, name in ipairs{ "relu", "tanh", "sigmoid", "softplus" } do
  functions[name] = function(z) return z[name](z) end
end

-- Returns the result and the derivatives of a layer, which `layer` computes from the same random numbers.
local function run(layer, rows, inputs, outputs, device)
  local function drawn(sizes, seed)
    return mr.normal(sizes, { seed = seed, dtype = "float64", device = device }):requires_grad()
  end
  local x, weight, bias = drawn({ rows, inputs }, 1), drawn({ inputs, outputs }, 2), drawn({ 1, outputs }, 3)
  local y = layer(x, weight, bias)
  y:backward(mr.uniform(y:shape(), { seed = 4, dtype = "float64", device = device }))
  return { y:detach(), x.grad, weight.grad, bias.grad }
end

describe("core.layer", function()
  it("equals f(x weight + bias) with its derivatives at every size", function()
    for _, device in ipairs(mr.has_cuda() and { "cpu", "cuda" } or { "cpu" }) do
      for name, f in pairs(functions) do
        for _, sizes in ipairs{ { 0, 3, 2 }, { 1, 1, 1 }, { 31, 2, 33 }, { 32, 3, 1 }, { 33, 5, 7 }, { 129, 4, 127 },
          { 1000, 2, 3 } } do
          local rows, inputs, outputs = table.unpack(sizes)
          local found = run(function(x, w, b) return core.layer(x, w, b, name) end, rows, inputs, outputs, device)
          local expected = run(function(x, w, b) return f(x:matmul(w) + b) end, rows, inputs, outputs, device)
          for i, part in ipairs{ "value", "by x", "by weight", "by bias" } do
            local what = ("%s %s %dx%dx%d %s"):format(device, name, rows, inputs, outputs, part)
            near(found[i], expected[i], { atol = 1e-11, rtol = 1e-11 }, what)
          end
        end
      end
    end
  end)

  it("has finite derivatives for large values, and 0 for relu at 0", function()
    local one = mr.ones(1, 1, { dtype = "float64" })
    local slopes_of = { relu = { 0, 0, 1 }, tanh = { 0, 1, 0 }, sigmoid = { 0, 0.25, 0 }, softplus = { 0, 0.5, 1 } }
    for name, slopes in pairs(slopes_of) do
      for i, z in ipairs{ -1000, 0, 1000 } do
        local bias = mr.tensor({ { z } }, { dtype = "float64" }):requires_grad()
        core.layer(one * 0, one, bias, name):sum():backward()
        near(bias.grad:item(), slopes[i], 1e-12, name)
      end
    end
  end)

  it("keeps NaN in values and derivatives", function()
    for _, device in ipairs(mr.has_cuda() and { "cpu", "cuda" } or { "cpu" }) do
      for name in pairs(functions) do
        for _, dtype in ipairs{ "float32", "float64" } do
          local width, numbers = 19, {}
          for i = 1, width do numbers[i] = i % 3 == 1 and 0 / 0 or 1 end
          local o = { dtype = dtype, device = device }
          local bias = mr.tensor({ numbers }, o):requires_grad()
          local y = core.layer(mr.ones(2, 1, o), mr.zeros(1, width, o), bias, name)
          y:backward(mr.ones(2, width, o))
          for row, found in ipairs(y:detach():totable()) do
            for i, x in ipairs(found) do
              equal(x ~= x, i % 3 == 1, ("%s %s %s %d %d"):format(device, name, dtype, row, i))
            end
          end
          for i, g in ipairs(bias.grad:totable()[1]) do
            check(i % 3 ~= 1 or g ~= 0, ("%s %s %s, derivative %d"):format(device, name, dtype, i))
          end
        end
      end
    end
  end)

  it("refuses shapes that do not fit, and unknown functions", function()
    local x, w, b = mr.ones(2, 3), mr.ones(3, 4), mr.ones(1, 4)
    raises(function() return core.layer(x, mr.ones(2, 4), b, "relu") end, "'weight'", "'layer'", "{2, 3}", "{2, 4}")
    raises(function() return core.layer(x, w, mr.ones(3), "relu") end, "bias", "3", "4")
    raises(function() return core.layer(x, w, b:double(), "relu") end, "bias", "float64")
    raises(function() return core.layer(x, w, b, "gelu") end, "'gelu'", "activation")
  end)
end)
