-- Tests losses: bounded smooth metrics against reference values, lists that do not count, and losses that a script
-- defines.
local mr = require "moonrank"
local json = dofile("tests/support/json.lua")
local help = require "moonrank.help"
local test = require "moonrank.test"
local support = dofile "tests/support/slopes.lua"
local value_and_gradient = support.value_and_gradient
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local golden = json.read("tests/golden/metrics.json").smooth
local f64 = { dtype = "float64" }
local bounds = { mm = "minmax", eb = "expectation", em = "expectation_max" }
local metrics = { ndcg = "ndcg", ap = "ap", nrbp = "nrbp(0.95)", rr = "rr" }

-- Lists of every kind: one that counts, without relevant rows, all relevant, one row, empty, and two more that count.
local function mixed()
  return mr.lists{ { 1, 0, 0, 1 }, { 0, 0, 0 }, { 1, 1 }, { 1 }, {}, { 0, 1, 0 }, { 2, 0, 1, 0, 0 } }
end
local counted = { 1, 0, 0, 0, 0, 1, 1 }

describe("mr.losses", function()
  it("equal the reference's bounded metrics, negated if the metric is maximised", function()
    for _, case in ipairs(golden) do
      if case.bounded ~= json.null and case.bounded then
        local lists, scores = mr.lists{ case.relevance }, mr.tensor(case.scores, f64)
        for _, name in ipairs{ "ndcg", "ap", "nrbp" } do
          local sign = name == "nrbp" and 1 or -1
          local value = mr.losses[name]{ steepness = case.alpha }(scores, lists):item()
          near(value, sign * case[name], 1e-9, case.name .. " " .. name)
          for suffix, bound in pairs(bounds) do
            local loss = mr.losses[name]{ bound = bound, steepness = case.alpha }
            local where = case.name .. " " .. name .. " " .. bound
            near(loss(scores, lists):item(), sign * case.bounded[name .. "_" .. suffix], 1e-9, where)
          end
        end
      end
    end
  end)

  it("have the name, the bound and the metric as fields", function()
    for name, metric in pairs(metrics) do
      local plain, bounded = mr.losses[name](), mr.losses[name]{ bound = "minmax" }
      equal({ plain.name, plain.bound_name, plain.metric }, { name, "none", metric })
      equal({ bounded.name, bounded.bound_name, bounded.metric }, { name, "minmax", metric })
      equal(tostring(bounded), name .. " loss, bound minmax")
    end
  end)

  it("give 0 and no gradient on lists that do not count, under every bound", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 1, dtype = "float64" })
    local size = lists.sizes:totable()
    for name in pairs(metrics) do
      for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max" } do
        local loss = mr.losses[name]{ bound = bound }
        local value, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
        equal(value:size(1), lists.count)
        local values, slopes, at = value:totable(), grad:totable(), 0
        for l = 1, lists.count do
          local moved = false
          for i = at + 1, at + size[l] do moved = moved or slopes[i] ~= 0 end
          at = at + math.tointeger(size[l])
          check(moved == (counted[l] == 1), ("gradient of list %d under %s %s"):format(l, name, bound))
          if counted[l] == 0 then equal(values[l], 0.0, ("list %d under %s %s"):format(l, name, bound)) end
        end
        equal(loss:count(lists), 3)
        near(loss:mean(scores, lists):item(), value:sum():item() / 3, 1e-14)
      end
    end
  end)

  it("have mean 0 and no gradient if no list counts", function()
    local lists = mr.lists{ { 0, 0 }, { 1 } }
    for name in pairs(metrics) do
      local loss = mr.losses[name]{ bound = "minmax" }
      equal(loss:count(lists), 0)
      local value, grad = value_and_gradient(function(x) return loss:mean(x, lists) end, mr.tensor({ 3, 1, 2 }, f64))
      equal(value:item(), 0.0)
      near(grad, { 0, 0, 0 }, 0)
    end
  end)

  it("have right gradients under affine bounds", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 2, dtype = "float64" })
    for name in pairs(metrics) do
      for _, bound in ipairs{ "none", "minmax", "expectation", "expectation_max" } do
        local loss = mr.losses[name]{ bound = bound, steepness = 2 }
        check(mr.gradcheck(function(x) return loss:mean(x, lists) end, scores) < 1e-6, name .. " " .. bound)
      end
    end
  end)

  it("give nRBP equal gradients under expectation and expectation_max, twice those of minmax, to the bit", function()
    local lists = mr.lists{ { 1, 0, 0, 1, 0 }, { 0, 1, 0 } }
    local scores = mr.normal({ 8 }, { seed = 3, dtype = "float64" })
    local function gradient(bound, factor)
      local loss = mr.losses.nrbp{ bound = bound }
      local _, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
      return (grad * factor):totable()
    end
    equal(gradient("expectation", 1), gradient("expectation_max", 1))
    equal(gradient("minmax", 2), gradient("expectation", 1))
  end)

  it("take a bound as an object or as a function of the score and the statistics", function()
    local lists = mixed()
    local scores = mr.normal({ lists.rows }, { seed = 5, dtype = "float64" })
    local own = function(score, stats) return (score - stats.min) / (stats.max - stats.min) end
    for name in pairs(metrics) do
      local built_in = mr.losses[name]{ bound = "minmax" }
      local expected, slope = value_and_gradient(function(x) return built_in(x, lists) end, scores)
      for _, bound in ipairs{ own, mr.bounds.resolve("minmax") } do
        local loss = mr.losses[name]{ bound = bound }
        local found, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
        near(found, expected, 1e-13, name)
        near(grad, slope, 1e-13, name)
      end
    end
  end)

  it("take float32 scores, and do not depend on the order of rows", function()
    local order = mr.tensor({ 3, 1, 4, 2 }, { dtype = "int64" })
    local scores = mr.tensor{ 0.5, -1, 2, 0.25 }
    for name in pairs(metrics) do
      local loss = mr.losses[name]{ bound = "expectation_max" }
      local found = loss(scores, mr.lists{ { 1, 0, 0, 1 } })
      equal(found.dtype, "float32")
      near(loss(scores:rows(order), mr.lists{ { 0, 1, 1, 0 } }):item(), found:item(), 1e-6)
    end
  end)

  it("name their source and their reduction in their documentation", function()
    for _, name in ipairs(mr.losses.names()) do
      local what = help.text("mr.losses." .. name):match "^(.-)\nArguments":gsub("%s+", " ")
      check(what:find "[12][09]%d%d", name .. " names no source")
      check(what:find " sum " or what:find " mean " or what:find "one value per list", name .. " names no reduction")
    end
  end)

  it("refuse unknown bounds, extreme options and wrong scores", function()
    raises(function() mr.losses.ndcg{ bound = "minmx" } end, "'minmx'", "'minmax'")
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp", "log_rr", "lambdarank", "ranknet", "ranknet_all_pairs",
      "direct_ranker", "ndcg_loss_1", "ndcg_loss_2", "ndcg_loss_2pp" } do
      raises(function() mr.losses[name]{ steepness = 0 } end, "mr.losses." .. name, "steepness", "0")
    end
    for name, option in pairs{ ndcg = "steepness", log_rr = "steepness", ranknet = "steepness",
      lambdarank = "steepness", direct_ranker = "steepness", hinge = "margin", ndcg_loss_2pp = "mu",
      ranknet_all_pairs = "upsample", approx_ndcg = "steepness", soft_rank = "sd" } do
      for _, value in ipairs{ 1e-300, 1e300 } do
        raises(function() mr.losses[name]{ [option] = value } end, "mr.losses." .. name, option, tostring(value))
      end
    end
    raises(function() mr.losses.neural_ndcg{ tau = 1e305 } end, "tau", "1e+305")
    raises(function() mr.losses.ap{ steepness = 2, gain = 2 } end, "gain", "steepness")
    raises(function() mr.losses.ndcg()(mr.tensor{ 1, 0 / 0 }, mr.lists{ { 1, 0 } }) end, "scores", "NaN", "2")
    raises(function() mr.losses.ap()(mr.tensor{ 1, 2, 3 }, mr.lists{ { 1, 0 } }) end, "scores", "3", "lists", "2")
  end)
end)

it("the option gain gives the same values as steepness, its new name", function()
  local lists = mixed()
  local scores = mr.normal({ lists.rows }, { seed = 4 })
  for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp", "log_rr", "ranknet", "direct_ranker", "ranknet_all_pairs",
    "lambdarank", "ndcg_loss_1", "ndcg_loss_2", "ndcg_loss_2pp" } do
    near(mr.losses[name]{ gain = 3 }(scores, lists), mr.losses[name]{ steepness = 3 }(scores, lists), 0)
  end
  for _, name in ipairs{ "rank", "rank_among_relevant", "ndcg", "ap", "rr", "first", "log_rr", "nrbp_loss" } do
    near(mr.smooth[name](scores, lists, { gain = 3 }), mr.smooth[name](scores, lists, { steepness = 3 }), 0)
  end
  local of = mr.bounds.distribution_bound
  for _, steepness in ipairs{ "samples", "kappa", 3 } do
    local old, new = of{ gain = steepness, samples = 100 }, of{ steepness = steepness, samples = 100 }
    near(mr.losses.ap{ bound = old }(scores, lists), mr.losses.ap{ bound = new }(scores, lists), 0)
  end
  local distribution = mr.bounds.distribution("ap", { n = 6, p = 2 })
  equal((distribution:smooth(0.5, { gain = 3 })), (distribution:smooth(0.5, { steepness = 3 })))
end)

describe("a loss of mr.losses.define", function()
  local lists = mixed()
  local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64" })
  local smooth_dcg = function(s, l) return mr.smooth.ndcg(s, l, { steepness = 2 }) end
  mr.losses.define("spec_ndcg", { direction = "maximize", smooth = smooth_dcg, metric = "ndcg" })

  it("equals the built-in loss with the same formula", function()
    local mine, built_in = mr.losses.spec_ndcg(), mr.losses.ndcg{ steepness = 2 }
    local a, grad_a = value_and_gradient(function(x) return mine(x, lists) end, scores)
    local b, grad_b = value_and_gradient(function(x) return built_in(x, lists) end, scores)
    near(a, b, 0)
    near(grad_a, grad_b, 0)
    equal(mine:count(lists), 3)
    equal({ mine.name, mine.bound_name, mine.metric }, { "spec_ndcg", "none", "ndcg" })
  end)

  it("takes a function of the score as bound, with 0 on lists that do not count", function()
    local loss = mr.losses.spec_ndcg{ bound = function(score) return 1 / score end }
    local plain = smooth_dcg(scores, lists):totable()
    local value, grad = value_and_gradient(function(x) return loss(x, lists) end, scores)
    local found = value:totable()
    for l = 1, lists.count do near(found[l], counted[l] == 1 and -1 / plain[l] or 0, 1e-14, "list " .. l) end
    check(grad:sum():item() == grad:sum():item(), "the slope of 1/score at 0 reaches no row")
    near(grad:narrow(1, 5, 6), { 0, 0, 0, 0, 0, 0 }, 0)
  end)

  it("has mean 0 and no gradient if no list counts", function()
    local none = mr.lists{ { 0, 0 }, { 1 } }
    local loss, equal_rows = mr.losses.spec_ndcg(), mr.tensor({ 3, 1, 2 }, f64)
    local value, grad = value_and_gradient(function(x) return loss:mean(x, none) end, equal_rows)
    equal(value:item(), 0.0)
    near(grad, { 0, 0, 0 }, 0)
  end)

  it("is minimised without a change of sign with direction = 'minimize'", function()
    local make = mr.losses.define("spec_pairs", { direction = "minimize", smooth = mr.smooth.nrbp_loss })
    near(make()(scores, lists), mr.losses.nrbp()(scores, lists), 0)
    check(not make().metric, "no metric goes with it")
    check(mr.gradcheck(function(x) return make()(x, lists):sum() end, scores) < 1e-6)
  end)

  it("takes the bounds of its metric", function()
    local bounded = mr.losses.ndcg{ steepness = 2, bound = "minmax" }
    near(mr.losses.spec_ndcg{ bound = "minmax" }(scores, lists), bounded(scores, lists), 0)
  end)

  it("of pairs has a mean over the lists with unequal grades, whatever its metric", function()
    local square = mr.losses.define("spec_square", { pairs = function(d) return (1 - d)^2 end, metric = "ap" })
    local graded = mr.lists{ { 2, 1 }, { 1, 1 }, { 1, 0 } }  -- no order of the first list changes AP
    local found = mr.tensor({ 0, 1, 0, 0, 0.5, 0 }, f64)
    near(square()(found, graded), { 4, 0, 0.25 }, 1e-12)
    equal(square():count(graded), 2)
    near(square():mean(found, graded):item(), 4.25 / 2, 1e-12)
    equal(square{ bound = "minmax" }:count(graded), 1)
    near(square{ bound = "minmax" }:mean(found, graded):item(), 0.25 / 0.5, 1e-12)
  end)

  it("is refused with a wrong name, direction, function or result", function()
    local f = function(s, l) return l:sum(s) end
    raises(function() mr.losses.define("ap", { direction = "maximize", smooth = f }) end, "'ap'", "loss")
    raises(function() mr.losses.define("a-b", { direction = "maximize", smooth = f }) end, "name", "a-b")
    raises(function() mr.losses.define("x", { direction = "up", smooth = f }) end, "direction", "'up'")
    raises(function() mr.losses.define("x", { direction = "maximize" }) end, "mr.losses.define", "smooth")
    raises(function() mr.losses.define("x", { direction = "maximize", smoth = f, smooth = f }) end,
      "'smoth'", "'smooth'")
    local unbounded = mr.losses.define("spec_unknown", { direction = "minimize", smooth = f })
    raises(function() unbounded{ bound = "minmax" } end, "bound", "'none'")
    raises(function() mr.losses.define("x", { direction = "minimize", smooth = f, exact = 1 }) end, "exact", "1")
    raises(function() mr.losses.define("err", { direction = "maximize", smooth = f, exact = f }) end, "'err'", "metric")
    local wrong = mr.losses.define("spec_wrong", { direction = "minimize", smooth = function(s) return s end })
    raises(function() wrong()(scores, lists) end, "mr.losses.spec_wrong", "tensor", "3")
  end)
end)
