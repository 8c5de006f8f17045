-- Tests linear models that are solved directly: values of scikit-learn, optimality conditions, files, the same solution
-- by mr.fit, and errors.
local mr = require "moonrank"
local core = require "moonrank.core"
local test = require "moonrank.test"
local json = dofile "tests/support/json.lua"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local golden = json.read("tests/golden/regression.json")

-- Makes each row a list of its own.
local function rows_of(x, grades)
  local lists = {}
  for i, grade in ipairs(grades) do lists[i] = { grade } end
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(x) }
end

local function data_of(x, grades, sizes)
  local lists, first = {}, 1
  for l, n in ipairs(sizes) do lists[l], first = table.move(grades, first, first + n - 1, 1, {}), first + n end
  return mr.data.dataset{ lists = mr.lists(lists), features = mr.tensor(x) }
end

local train = data_of(golden.x, golden.grades, golden.sizes)

local function numbers_of(model)
  local weights, bias = table.unpack(model:parameters())
  return weights:reshape(#weights):totable(), bias:item()
end

local function agrees(model, expected, tolerance)
  local weights, bias = numbers_of(model)
  for k, each in ipairs(expected.weights) do near(weights[k], each, tolerance, ("weight %d"):format(k)) end
  near(bias, expected.intercept, tolerance, "intercept")
  return weights
end

-- Checks that the lasso for each penalty has the expected weights, and the same weights that are exactly 0.
local function lassos_agree(data, expected_by_alpha, tolerance)
  for alpha, expected in pairs(expected_by_alpha) do
    local model = mr.models.lasso{ train = data, alpha = tonumber(alpha), dtype = "float64" }
    local weights = agrees(model, expected, tolerance)
    for k, each in ipairs(expected.weights) do equal(weights[k] == 0, each == 0, alpha .. ": which are 0") end
  end
end

describe("solved linear models:", function()
  it("ridge and least squares equal scikit-learn", function()
    for alpha, expected in pairs(golden.ridge) do
      agrees(mr.models.ridge{ train = train, alpha = tonumber(alpha), dtype = "float64" }, expected, 1e-10)
    end
    local first = mr.data.dataset{ lists = train.lists, features = train.features:narrow(2, 1, 5) }
    agrees(mr.models.ridge{ train = first, alpha = 0, dtype = "float64" }, golden.least_squares, 1e-10)
  end)

  it("lasso equals scikit-learn, with the same exact zeros", function()
    lassos_agree(train, golden.lasso, 2e-6)
    local model = mr.models.lasso{ train = train, alpha = 0.2, intercept = false, dtype = "float64" }
    agrees(model, golden.lasso_no_intercept, 2e-6)
    equal(numbers_of(mr.models.lasso{ train = train, alpha = 100 }), { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 })
  end)

  it("ridge and lasso with fewer rows than features equal scikit-learn", function()
    local wide = rows_of(golden.wide.x, golden.wide.grades)
    for alpha, expected in pairs(golden.wide.ridge) do
      agrees(mr.models.ridge{ train = wide, alpha = tonumber(alpha), dtype = "float64" }, expected, 1e-9)
    end
    agrees(mr.models.ridge{ train = wide, intercept = false, dtype = "float64" }, golden.wide.ridge_no_intercept, 1e-9)
    lassos_agree(wide, golden.wide.lasso, 5e-6)
  end)

  it("lasso of many features meets the optimality conditions", function()
    local n, p, alpha = 60, 1500, 0.05
    local x = mr.normal({ n, p }, { seed = 1, dtype = "float64" })
    x = x + x:narrow(2, 1, 1) * 0.5
    local y, rows = (x:narrow(2, 1, 5):sum(2) + mr.normal({ n }, { seed = 2, dtype = "float64" })):totable(), {}
    for i = 1, n do
      -- makes numbers that are valid grades: not negative, and exact in float32
      y[i] = math.max(0, y[i] * 8 // 1 / 8 + 5)
      rows[i] = { y[i] }
    end
    local data = mr.data.dataset{ lists = mr.lists(rows), features = x }
    local model = mr.models.lasso{ train = data, alpha = alpha, dtype = "float64" }
    local w, bias = table.unpack(model:parameters())
    local rest = mr.tensor(y, { dtype = "float64" }) - x:matmul(w):reshape(n) - bias:item()
    near(rest:sum():item(), 0, 1e-9, "rest")
    local slopes, weights = (x:t():matmul(rest:reshape(n, 1)):reshape(p) * (1 / n)):totable(), w:reshape(p):totable()
    local count = 0
    for k, slope in ipairs(slopes) do
      if weights[k] == 0 then
        check(math.abs(slope) <= alpha + 1e-6, ("feature %d: %g"):format(k, slope))
      else
        near(slope, weights[k] > 0 and alpha or -alpha, 1e-6, k)
        count = count + 1
      end
    end
    check(count > 5 and count <= n, count)
  end)

  it("ridge and lasso allocate no matrix of all features", function()
    local n, p = 20, 40000  -- a matrix of all pairs of features would take 12 GiB in float64
    local faces = mr.data.dataset{ lists = train.lists:select(mr.tensor({ 5 }, { dtype = "int64" })),
      features = mr.normal({ n, p }, { seed = 1 }) }
    local most = core.available_bytes
    core.available_bytes = function() return 200 * 2 ^ 20 end
    local _ <close> = setmetatable({}, { __close = function() core.available_bytes = most end })
    for _, name in ipairs{ "ridge", "lasso" } do
      equal(#numbers_of(mr.models[name]{ train = faces, alpha = 0.1 }), p)
    end
    raises(function() mr.models.rank_logistic_regression{ train = faces } end, "20", "40000", "95.4", "GiB")
    raises(function() mr.models.logistic_regression{ train = faces } end, "95.4", "GiB")
  end)

  it("logistic_regression and rank_logistic_regression equal scikit-learn", function()
    for alpha, expected in pairs(golden.logistic) do
      local options = { train = train, alpha = tonumber(alpha), relevant = 2, dtype = "float64" }
      agrees(mr.models.logistic_regression(options), expected, 1e-7)
    end
    for alpha, expected in pairs(golden.rank_lr) do
      local model = mr.models.rank_logistic_regression{ train = train, alpha = tonumber(alpha), dtype = "float64" }
      agrees(model, { weights = expected, intercept = 0 }, 1e-7)
    end
  end)

  it("rank_logistic_regression has zero gradient of ranknet plus penalty", function()
    local alpha = 0.5
    local model = mr.models.rank_logistic_regression{ train = train, alpha = alpha, dtype = "float64" }
    local batch = { lists = train.lists:to("float64"), features = train.features:double(), size = train.count }
    local weights = model:parameters()[1]
    local value = mr.losses.ranknet()(model(batch), batch.lists):sum() + (weights ^ 2):sum() * (0.5 * alpha)
    value:backward()
    check(weights.grad:abs():max():item() < 1e-9, weights.grad)
  end)

  it("ridge with alpha = 0 is where mr.fit with mse on rows converges", function()
    local first = mr.data.dataset{ lists = train.lists, features = train.features:narrow(2, 1, 2) }:standardize()
    local solved = mr.models.ridge{ train = first, alpha = 0 }
    local model = mr.models.linear{ inputs = 2 }
    mr.fit{ model = model, loss = mr.losses.mse{}, train = first:pointwise(), batch = 60, epochs = 400,
      progress = false, optimizer = mr.optim.sgd{ lr = 0.2 } }
    agrees(model, { weights = numbers_of(solved), intercept = select(2, numbers_of(solved)) }, 1e-4)
  end)

  it("lasso loads as a linear model with the same weights", function()
    local model, path = mr.models.lasso{ train = train, alpha = 0.5 }, os.tmpname()
    model:save(path)
    local again = mr.models.load(path)
    equal({ again.kind, numbers_of(again) }, { "mlp", numbers_of(model) })
  end)

  it("all reject invalid options and data", function()
    local users = mr.data.dataset{ lists = mr.lists{ { 0, 1 } }, users = mr.tensor({ 1 }, { dtype = "int64" }),
      items = mr.tensor({ 1, 2 }, { dtype = "int64" }) }
    raises(function() mr.models.ridge{ train = train, alpha = 0 } end, "1", "6", "0", "features")
    local wide = rows_of(golden.wide.x, golden.wide.grades)
    raises(function() mr.models.ridge{ train = wide, alpha = 0 } end, "14", "40", "rows", "weights")
    raises(function() mr.models.lasso{ train = users } end, "mr.models.lasso", "train")
    raises(function() mr.models.logistic_regression{ train = train, alpha = 0 } end, "alpha", "0", "above 0")
    raises(function() mr.models.logistic_regression{ train = train, relevant = 9 } end, "60", "rows", "9")
    raises(function() mr.models.rank_logistic_regression{ train = train:binarize(9) } end, "train", "list", "rows")
    raises(function() mr.models.logistic_regression{ train = train, alpha = 1e-200 } end, "alpha")
    local features = mr.tensor{ { 0 / 0 }, { 1 } }
    local holed = mr.data.dataset{ lists = mr.lists{ { 0, 1 } }, features = features, missing = true }
    raises(function() mr.models.ridge{ train = holed } end, "features", "NaN", "1")
  end)
end)
