-- Tests mr.models.cnn: scores against plain loops, sizes, files, and training on drawn faces.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

-- Returns the planes of an image after convolution, ReLU and 2 x 2 maximum pooling, computed by plain loops.
local function convolved(planes, weight, bias)
  local out, kernel = {}, #weight[1][1]
  local function at(o, y, x)
    local sum = bias[o]
    for c, plane in ipairs(planes) do
      for i = 1, kernel do
        for j = 1, kernel do sum = sum + weight[o][c][i][j] * plane[y + i - 1][x + j - 1] end
      end
    end
    return math.max(0, sum)
  end
  for o = 1, #weight do
    out[o] = {}
    for y = 1, (#planes[1] - kernel + 1) // 2 do
      out[o][y] = {}
      for x = 1, (#planes[1][1] - kernel + 1) // 2 do
        out[o][y][x] = math.max(at(o, 2 * y - 1, 2 * x - 1), at(o, 2 * y - 1, 2 * x),
          at(o, 2 * y, 2 * x - 1), at(o, 2 * y, 2 * x))
      end
    end
  end
  return out
end

local function layer(x, weight, bias, is_last)
  local out = {}
  for o = 1, #weight[1] do
    local sum = bias[1][o]
    for i, value in ipairs(x) do sum = sum + value * weight[i][o] end
    out[o] = is_last and sum or math.max(0, sum)
  end
  return out
end

describe("mr.models.cnn", function()
  it("gives the scores of plain loops", function()
    local model = mr.models.cnn{ height = 13, width = 12, channels = 2, filters = { 3, 2 }, kernel = 3, hidden = { 4 },
      dtype = "float64", seed = 5 }
    local x = mr.normal({ 2, 2 * 13 * 12 }, { seed = 2, dtype = "float64" })
    local names, values = model:state()
    local weights = {}
    for i, name in ipairs(names) do weights[name] = values[i]:totable() end
    local scores = model{ lists = mr.lists{ { 1, 0 } }, features = x }:totable()
    for row = 1, 2 do
      local planes = x[row]:reshape(2, 13, 12):totable()
      for i = 1, 2 do
        planes = convolved(planes, weights["convolution" .. i .. ".weight"], weights["convolution" .. i .. ".bias"])
      end
      local flat = {}
      for _, plane in ipairs(planes) do
        for _, line in ipairs(plane) do table.move(line, 1, #line, #flat + 1, flat) end
      end
      local inner = layer(flat, weights["layer1.weight"], weights["layer1.bias"])
      near(scores[row], layer(inner, weights["layer2.weight"], weights["layer2.bias"], true)[1], 1e-12)
    end
    check(model:gradcheck{ lists = mr.lists{ { 1, 0 } }, features = x } < 1e-6)
  end)

  it("rejects sizes that do not fit before it allocates parameters", function()
    raises(function() mr.models.cnn{ height = 16, width = 16 } end, "16", "2", "17", "images", "convolutions")
    raises(function() mr.models.cnn{ height = 100 } end, "width")
    raises(function() mr.models.cnn{ height = 100, width = 100, filters = {} } end, "filters", "empty")
    raises(function() mr.models.cnn{ height = 100, width = 100, filters = { 0 } } end, "filters", "1", "0")
    raises(function() mr.models.cnn{ height = 100, width = 100, filters = { 4, nil, 2 } } end, "filters", "2", "nil")
    raises(function() mr.models.cnn{ height = 100, width = 100, filters = { one = 4 } } end, "filters", "one")
    raises(function() mr.models.mlp{ inputs = 3, hidden = { 4, nil, 2 } } end, "hidden", "2", "nil")
    raises(function() mr.models.cnn{ height = 1 << 40, width = 1 << 40, kernel = 1 } end,
      "height", "1099511627776", "65536")
    raises(function() mr.models.cnn{ height = 100, width = 100, kernel = math.maxinteger } end, "2", "convolutions")
    local model = mr.models.cnn{ height = 8, width = 8, channels = 1, kernel = 3, filters = { 2 } }
    raises(function() model{ lists = mr.lists{ { 1 } }, features = mr.zeros(1, 63) } end,
      "1", "8", "63", "pixels", "features")
  end)

  it("learns to rank drawn faces by age and gives the same scores after loading", function()
    local faces = mr.data.drawn_faces{ count = 300, size = 12, noise = 0.05 }
    local train, valid, tested = faces:split{}
    local pairs_of = tested:comparisons{ pairs = 200 }
    local model = mr.models.cnn{ height = 12, width = 12, kernel = 3, filters = { 4, 8 }, hidden = { 16 }, seed = 1 }
    local run = mr.fit{ model = model, loss = mr.losses.ranknet{}, train = train:comparisons{ pairs = 600 },
      valid = valid:comparisons{ pairs = 100 }, test = pairs_of, batch = 50, epochs = 6, metrics = { "auc" },
      optimizer = mr.optim.adam{ lr = 0.005 }, progress = false }
    check(run.test.mean.auc > 0.75, run.test.mean.auc)
    local path = os.tmpname()
    model:save(path)
    local read = mr.models.load(path)
    local batch = { lists = pairs_of.lists, features = pairs_of.features:to(mr.device()) }
    equal((model(batch) - read(batch)):abs():max():item(), 0.0)
  end)
end)
