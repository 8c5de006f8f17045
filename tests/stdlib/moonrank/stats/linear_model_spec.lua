-- Tests linear models against R (published output, lm, predict and emmeans), and an unbalanced case against
-- pseudoinverses.
local mr = require "moonrank"
local test = require "moonrank.test"
local json = dofile("tests/support/json.lua")
local it, near, check, equal, raises = test.it, test.near, test.check, test.equal, test.raises

local function column(rows, name)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[name] end
  return values
end

local function names(numbers, prefix)
  local found = {}
  for i, number in ipairs(numbers) do found[i] = prefix .. math.tointeger(number) end
  return found
end

-- R's data set warpbreaks (Tippett 1950): breaks by wool and tension
local breaks = {
  { "A", "L", 26, 30, 54, 25, 70, 52, 51, 26, 67 }, { "A", "M", 18, 21, 29, 17, 12, 18, 35, 30, 36 },
  { "A", "H", 36, 21, 24, 18, 10, 43, 28, 15, 26 }, { "B", "L", 27, 14, 29, 19, 29, 31, 41, 20, 44 },
  { "B", "M", 42, 26, 19, 16, 39, 28, 21, 39, 29 }, { "B", "H", 20, 21, 24, 17, 13, 15, 15, 16, 28 },
}

it("mr.stats.linear_model equals lm and emmeans of R on warpbreaks", function()
  local y, wool, tension = {}, {}, {}
  for _, row in ipairs(breaks) do
    for i = 3, #row do y[#y + 1], wool[#wool + 1], tension[#tension + 1] = row[i], row[1], row[2] end
  end
  local model = mr.stats.linear_model{ y = y, factors = { wool = wool, tension = tension },
    interactions = { { "wool", "tension" } } }
  -- R's summary(lm(breaks ~ wool * tension)) prints a residual standard error of 10.94 on 48 degrees of freedom, R
  -- squared 0.3778
  near({ model.sigma, model.df, model.r2 }, { 10.94, 48, 0.3778 }, { atol = 5e-3 })
  near({ model.coefficients["(mean)"], model.coefficients["wool=B"], model.errors["wool=B"] },
    { 44.556, -16.333, 5.157 }, { atol = 5e-4 })
  near(model.coefficients["wool=B:tension=M"], 21.111, { atol = 5e-4 })
  near(model.p["wool=B"], 0.002677, { atol = 1e-6 })
  -- if cells are balanced, their marginal means are plain means
  local by_cell = model:emmeans("wool", "tension")
  local first = by_cell[1]
  equal(first.level, "A, L")
  near({ first.mean, first.error, first.low, first.high }, { 44.6, 3.65, 37.2, 51.9 }, { atol = 0.05 })
  near(column(model:emmeans("tension"), "mean"), { 36.39, 26.39, 21.67 }, { atol = 5e-3 })
  check(tostring(model):find("wool=B", 1, true))
end)

it("mr.stats.linear_model equals pseudo-inverses for unbalanced rows, an interaction and a covariate", function()
  local g = json.read("tests/golden/stats.json").linear_model
  local loss, bound = names(g.loss, "loss "), names(g.bound, "bound ")
  -- adding a row with NaN in the response or in a covariate changes nothing
  local function more(values, value)
    local longer = table.move(values, 1, #values, 1, {})
    longer[#longer + 1] = value
    return longer
  end
  local model = mr.stats.linear_model{ y = more(more(g.y, 0 / 0), 1),
    covariates = { nsr = more(more(g.nsr, 1), 0 / 0) },
    factors = { loss = more(more(loss, loss[1]), loss[2]), bound = more(more(bound, bound[1]), bound[2]) },
    interactions = { { "bound", "loss" } } }
  equal({ model.n, model.skipped, model.df }, { 70, 2, math.tointeger(g.df) })
  near({ model.sigma, model.r2 }, { g.sigma, g.r2 }, { rtol = 1e-11 })
  local means, order = model:emmeans("loss"), {}
  for i, row in ipairs(means) do order[tonumber(row.level:match "%d") + 1] = i end
  for k = 1, 3 do
    local row = means[order[k]]
    near({ row.mean, row.error, row.low, row.mean + (row.mean - row.low) },
      { g.mean[k], g.error[k], g.low[k], row.high }, 1e-10)
  end
  for _, row in ipairs(model:contrasts("loss")) do
    local i, j = tonumber(row.first:match "%d"), tonumber(row.second:match "%d")
    local k, sign = i + j, i < j and 1 or -1
    near({ sign * row.difference, row.error, row.p }, { g.difference[k], g.difference_error[k], g.p[k] }, 1e-10)
    near(row.adjusted, mr.stats.holm(g.p)[k], 1e-10)
  end
end)

-- Compares marginal means or predictions with R's, field by field.
local function same_intervals(found, expected)
  equal(#found, #expected.mean)
  for _, field in ipairs{ "mean", "error", "low", "high", "prediction_low", "prediction_high" } do
    near(column(found, field), expected[field], { rtol = 1e-9, atol = 1e-11 }, field)
  end
end

local designs = {
  { "balanced", { { "loss", "data" }, { "loss", "nsr" } } },
  { "unbalanced", { { "loss", "data" }, { "loss", "nsr" } } },
  { "all_pairs", { { "loss", "data" }, { "loss", "nsr" }, { "data", "nsr" } }, "epochs" },
  { "slopes", { { "loss", "epochs" } }, "epochs", y = "score" },
}

for _, design in ipairs(designs) do
  it(("mr.stats.linear_model equals lm, predict and emmeans of R: %s"):format(design[1]), function()
    local golden = json.read "tests/golden/linear_models.json"
    local g = golden[design[1]]
    local model = mr.stats.linear_model{ y = g[design.y or "z"], interactions = design[2],
      factors = { loss = g.loss, data = g.data, nsr = g.nsr }, covariates = design[3] and { epochs = g.epochs } or nil }
    for i, name in ipairs(g.names) do
      near({ model.coefficients[name], model.errors[name] }, { g.coefficients[i], g.errors[i] },
        { rtol = 1e-9, atol = 1e-11 }, name)
    end
    near({ model.sigma, model.df, model.r2 }, { g.sigma, g.df, g.r2 }, { rtol = 1e-11 })
    local by_loss = model:emmeans "loss"
    equal(column(by_loss, "level"), g.loss_means.level)
    same_intervals(by_loss, g.loss_means)
    near(column(model:emmeans("loss", { level = 0.9 }), "low"), g.loss_means.low_90, { rtol = 1e-9, atol = 1e-11 })
    -- in the order of rows, R varies the first factor fastest, Moonrank the last
    local at, cells = {}, {}
    for _, cell in ipairs(model:emmeans("loss", "data")) do at[cell.level] = cell end
    for i, level in ipairs(g.cell_means.level) do cells[i] = at[level] end
    same_intervals(cells, g.cell_means)
    local contrasts = model:contrasts "loss"
    for _, field in ipairs{ "difference", "error", "t", "p", "adjusted" } do
      near(column(contrasts, field), g.contrasts[field], { rtol = 1e-8, atol = 1e-25 }, field)
    end
    local new = { loss = golden.new.loss, data = golden.new.data, nsr = golden.new.nsr,
      epochs = design[3] and golden.new.epochs or nil }
    same_intervals(model:predict(new), g.predictions)
    same_intervals(model:predict(new, { level = 0.8 }), g.predictions_80)
  end)
end

it("mr.stats.linear_model gives NaN for NaN rows and NaN intervals without degrees of freedom", function()
  local line = mr.stats.linear_model{ y = { 1, 2, 4 }, covariates = { nsr = mr.tensor{ 1, 2, 5 } } }
  local found = line:predict{ nsr = { 0 / 0, 2 } }
  check(found[1].mean ~= found[1].mean and found[1].high ~= found[1].high and found[2].low < found[2].mean)
  equal(#line:predict{ nsr = {} }, 0)
  local exact = mr.stats.linear_model{ y = { 1, 3 }, factors = { loss = { "ap", "rr" } } }
  local mean = exact:emmeans("loss")[2]
  near(mean.mean, 3, { atol = 1e-12 })
  check(mean.low ~= mean.low and mean.prediction_high ~= mean.prediction_high, "no interval")
end)

it("mr.stats.linear_model with pairs as a factor equals the paired t-test", function()
  local a, b = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4 }, { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4 }
  local y, drug, who = {}, {}, {}
  for i = 1, 6 do
    y[2 * i - 1], drug[2 * i - 1], who[2 * i - 1] = a[i], "a", "patient " .. i
    y[2 * i], drug[2 * i], who[2 * i] = b[i], "b", "patient " .. i
  end
  local model = mr.stats.linear_model{ y = mr.tensor(y, { dtype = "float64" }), factors = { drug = drug, who = who } }
  local contrast = model:contrasts("drug")[1]
  local paired = mr.stats.paired_t(a, b)
  near({ contrast.difference, contrast.error, contrast.t, contrast.p },
    { paired.mean_difference, paired.standard_error, paired.t, paired.p }, 1e-10)
end)

it("mr.stats.linear_model rejects invalid data, factors and interactions", function()
  local function model(o) return function() mr.stats.linear_model(o) end end
  local two = { "x", "x", "y", "y" }
  raises(model{}, "mr.stats.linear_model", "y")
  raises(model{ y = { 1, 2 }, factor = {} }, "'factor'", "'factors'")
  raises(model{ y = { 1, 2 }, factors = { loss = two } }, "loss", "4", "y", "2")
  raises(model{ y = { 1, 2 }, factors = { loss = { "x", "x" } } }, "loss", "factor", "level")
  raises(model{ y = { 1, "2" } }, "2", "y", "'2'")
  raises(model{ y = { 1, 2 }, covariates = { nsr = { 1 } } }, "nsr", "1", "y", "2")
  raises(model{ y = { 1, 2, 3, 4 }, factors = { loss = two, bound = two } }, "3", "2", "4")
  raises(model{ y = { 1, 2, 3, 4 }, factors = { loss = two }, interactions = { { "loss", "bond" } } },
    "factor", "covariate")
  raises(model{ y = { 0 / 0 } }, "NaN", "rows")
  raises(model{ y = { 1, 2, 3, 4 }, factors = { nsr = { 1, 1, "1", "1" } } }, "nsr", "1")
  local both = { loss = two, bound = { "a", "b", "a", "b" } }
  local function interacting(...) return model{ y = { 1, 2, 3, 4 }, factors = both, interactions = { ... } } end
  raises(interacting({ "loss" }), "interactions[1]", "'loss'")
  raises(interacting({ "loss", "loss" }), "interaction", "'loss'")
  raises(interacting({ "loss", "bound" }, { "bound", "loss" }), "loss", "interactions", "bound")
  raises(interacting("loss"), "interactions[1]", "'loss'")
  raises(model{ y = { 1, 2, 3, 4 }, factors = both, interactions = { loss = "bound" } }, "interactions", "loss",
    "names")
  raises(model{ y = { 1, 2, 3, 4 }, factors = { two, loss = two } }, "factors", "1")
  local fine = mr.stats.linear_model{ y = { 1, 2, 3, 5 }, factors = { loss = two } }
  raises(function() fine:emmeans("los") end, "'los'", "'loss'")
  raises(function() fine:emmeans() end, "mr.LinearModel:emmeans", "factor")
  raises(function() fine:contrasts() end, "mr.LinearModel:contrasts", "factor")
  raises(function() fine:emmeans{ level = 0.9 } end, "mr.LinearModel:emmeans", "factor")
  raises(function() fine:emmeans(nil, "loss") end, "1", "nil")
  raises(function() fine:contrasts("loss", nil) end, "2", "nil")
  raises(function() fine:emmeans(1) end, "mr.LinearModel", "'1'")
  raises(function() fine:emmeans("loss", "loss") end, "'loss'", "factors")
  raises(function() fine:emmeans("loss", { level = 95 }) end, "level", "95")
  raises(function() fine:emmeans("loss", { levels = 0.9 }) end, "'levels'", "'level'")
  raises(function() fine:emmeans("loss", { level = 1 - 2 ^ -53 }) end, "quantile", "infinite")
end)

it("model:predict of mr.stats.linear_model rejects invalid rows", function()
  local model = mr.stats.linear_model{ y = { 1, 2, 3, 5, 9 }, factors = { loss = { "x", "x", "y", "y", "y" } },
    covariates = { nsr = { 1, 2, 3, 4, 5 } } }
  for _, case in ipairs{
    { nil, "rows", "nil" }, { { loss = { "x" } }, "nsr", "column" },
    { { loss = { "x" }, nsr = { 1, 2 } }, "nsr", "2", "loss", "1" },
    { { loss = { "x", "z" }, nsr = { 1, 2 } }, "2", "loss" },
    { { loss = { "x" }, nsr = { "1" } }, "1", "nsr", "'1'" },
    { { loss = "x", nsr = { 1 } }, "loss", "'x'" },
    { { loss = { "x" }, nsr = { 1 }, los = { "x" } }, "'los'", "'loss'" },
    { { loss = { "x" }, nsr = { 1e300 } }, "nsr", "1e+300" },
  } do raises(function() model:predict(case[1]) end, table.unpack(case, 2)) end
  raises(function() model:predict({ loss = { "x" }, nsr = { 1 } }, { level = 0 }) end, "level", "0")
end)
