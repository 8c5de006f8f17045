-- Tests weights of rows and of lists in losses, against the reference values of tests/support/field.lua, and by
-- properties: weights of 1 change nothing, and a loss is linear in the weights or independent of their scale.
local mr = require "moonrank"
local about = dofile("tests/support/field.lua").it
local test = require "moonrank.test"
local describe, it, near, equal, raises, check = test.describe, test.it, test.near, test.equal, test.raises, test.check

local constructors = {
  mse = mr.losses.mse, bce = mr.losses.bce, ranknet = mr.losses.ranknet, ["smooth ndcg"] = mr.losses.ndcg,
  ["lambdarank ndcg"] = mr.losses.lambdarank, softmax_cross_entropy = mr.losses.softmax_cross_entropy,
}

local function joined(lists, field)
  local all = {}
  for _, list in ipairs(lists) do table.move(list[field] or list, 1, #(list[field] or list), #all + 1, all) end
  return all
end

-- Returns the value and the gradient of f at these scores.
local function derived(f, scores, dtype)
  local leaf = mr.tensor(scores, { dtype = dtype }):requires_grad()
  local value = f(leaf)
  if value.tracked then value:sum():backward() end
  return value:detach(), leaf.grad or leaf:detach() * 0
end

describe("weights of field.json", function()
  about("values, lists that count, means and gradients", "weights", function(golden)
    local tolerances = { float64 = 1e-10, float32 = 2e-6 }
    for number, set in ipairs(golden.sets) do
      local grades = {}
      for l, list in ipairs(set.lists) do grades[l] = list.relevance end
      local scores, row_weights = joined(set.lists, "scores"), joined(set.lists, "row_weights")
      for name, expected in pairs(set.losses) do
        for kind, of in pairs(expected) do
          local lists = mr.lists(grades):weighted{ weights = kind ~= "list" and row_weights or nil,
            list_weights = kind ~= "row" and set.list_weights or nil }
          for dtype, tolerance in pairs(tolerances) do
            local where = ("%s by %s weights, set %d, %s"):format(name, kind, number, dtype)
            local loss = constructors[name]{}
            local values = loss(mr.tensor(scores, { dtype = dtype }), lists)
            for l, value in ipairs(values:totable()) do
              near(value / math.max(1, math.abs(of.values[l])), of.values[l] / math.max(1, math.abs(of.values[l])),
                tolerance, where)
            end
            local counted = 0
            for l, counts in ipairs(of.counted) do
              counted = counted + (counts and (kind == "row" and 1 or set.list_weights[l]) or 0)
            end
            near(loss:count(lists), counted, 1e-12, where)
            local mean, gradient = derived(function(x) return loss:mean(x, lists) end, scores, dtype)
            local size = math.max(1, math.abs(of.mean))
            near(mean:item() / size, of.mean / size, tolerance, where)
            local expected_gradient = mr.tensor(joined(of.gradient), { dtype = dtype })
            size = math.max(1, expected_gradient:abs():max():item())
            near(gradient / size, expected_gradient / size, tolerance, "gradient of " .. where)
          end
        end
      end
    end
  end)
end)

-- Losses that do not depend on the scale of weights: means over rows, weighted, and metrics whose gains are multiplied
-- by weights.
local scale_free = {}
for _, name in ipairs{ "mse", "bce", "squared_hinge", "ordinal", "soft_top_k", "ndcg", "approx_ndcg", "soft_rank",
  "neural_ndcg", "projected_ndcg", "softsort_ndcg" } do
  scale_free[name] = true
end
local refused = { log_rr = true, soft_hit = true, bsl = true, llpauc = true, llpauc_as_coded = true, pl_rank = true,
  policy_gradient = true }

local grades = { { 0, 2, 1, 0, 1, 0 }, { 1, 0, 3, 0 }, { 1, 1, 1, 1 }, { 0, 1, 0, 0, 2, 1, 0 }, {} }
local lists = mr.lists(grades)
local scores = mr.normal({ lists.rows }, { seed = 4, dtype = "float64", device = "cpu" }):totable()
local one = mr.uniform({ lists.rows }, { low = 0.2, high = 2, seed = 5, dtype = "float64", device = "cpu" })
local two = mr.uniform({ lists.rows }, { low = 0.2, high = 2, seed = 6, dtype = "float64", device = "cpu" })

-- Options that some losses need here: a cutoff of 2, because lists with at most `k` rows do not count.
local options = { soft_precision = { k = 2 }, soft_recall = { k = 2 }, soft_hit = { k = 2 }, soft_top_k = { k = 2 } }

local function each_loss(body)
  for _, name in ipairs(mr.losses.names()) do
    if not refused[name] and pcall(mr.losses[name], options[name]) then
      local loss = mr.losses[name](options[name])
      if loss.metric then body(name, loss) end
    end
  end
end

describe("weights of rows", function()
  local function of(loss, weights)
    return function(x)
      mr.seed(3)
      return loss(x, weights and lists:weighted{ weights = weights } or lists)
    end
  end

  it("of 1 change neither values nor gradients", function()
    each_loss(function(name, loss)
      local value, gradient = derived(of(loss), scores, "float64")
      local found, by = derived(of(loss, mr.ones(lists.rows)), scores, "float64")
      local float = (scale_free[name] or name == "top_n_rank") and 1e-6 or 1e-11
      near(found, value, { atol = float, rtol = float }, name)
      near(by, gradient, { atol = 2 * float, rtol = 2 * float }, "gradient of " .. name)
    end)
  end)

  it("multiply terms: a loss is linear in them or free of their scale", function()
    each_loss(function(name, loss)
      local function sum(weights) return derived(of(loss, weights), scores, "float64") end
      local first, by_first = sum(one)
      local tolerance = (scale_free[name] or name == "top_n_rank") and 3e-6 or 1e-10
      local near_to = { atol = tolerance, rtol = tolerance }
      if scale_free[name] then
        near(sum(one * 3), first, near_to, name)
        check((sum(two) - first):abs():max():item() > 1e-4, name)
      else
        local second, by_second = sum(two)
        local both, by_both = sum(one + two)
        near(both, first + second, near_to, name)
        near(by_both, by_first + by_second, near_to, "gradient of " .. name)
      end
    end)
  end)

  it("that make all gains of a list equal give the value of nearly equal gains", function()
    for _, name in ipairs{ "soft_rank", "neural_ndcg", "projected_ndcg", "softsort_ndcg", "top_n_rank" } do
      local function at(weight)
        local some = mr.lists{ { 2, 1 }, { 1, 0 } }:weighted{ weights = { weight, 1, 1, 1 } }
        return derived(function(x) return mr.losses[name]()(x, some) end, { 0.1, 0.5, 0, 0.5 }, "float64")
      end
      local value, gradient = at(1 / 3)
      local nearly, by = at(1 / 3 + 1e-5)
      near(value, nearly, 1e-4, name)
      near(gradient, by, 1e-4, name)
      check(value:totable()[1] < -0.5, name)
    end
  end)

  it("have gradients that differences confirm", function()
    for _, name in ipairs{ "ap", "rr", "nrbp", "climf", "tfmap", "soft_recall", "listnet", "listmle", "sl", "psl" } do
      local loss = mr.losses[name](options[name])
      local weighted = lists:weighted{ weights = one }
      local x = mr.tensor(scores, { dtype = "float64" })
      check(mr.gradcheck(function(at) return loss(at, weighted):sum() end, x), name)
    end
  end)

  it("are refused by losses without a term per row", function()
    for name in pairs(refused) do
      local loss = mr.losses[name](options[name])
      raises(function() loss(mr.tensor(scores), lists, { weights = one }) end, "weights", name)
    end
    raises(function()
      mr.losses.ranknet_all_pairs{ per = "pair" }:mean(mr.tensor(scores), lists, { weights = one })
    end, "per = 'list'")
  end)

  it("of 0 in all rows of a list leave it out of means; a relevant row of weight 0 counts in P", function()
    local zeros = mr.lists{ { 1, 0 }, { 1, 0 } }:weighted{ weights = { 0, 0, 1, 1 } }
    local x = mr.tensor({ 3, 0, 0.5, 0 }, { dtype = "float64" })
    for _, name in ipairs{ "mse", "ranknet", "ndcg", "ap", "softmax_cross_entropy" } do
      local loss = mr.losses[name]()
      equal(loss:count(zeros), 1.0, name)
      near(loss:mean(x, zeros):item(), loss(x, zeros):totable()[2], 1e-12, name)
    end
    local half = mr.lists{ { 1, 1, 0 } }:weighted{ weights = { 0, 1, 1 } }
    local plain = mr.lists{ { 0, 1, 0 } }
    local y = mr.tensor({ -9, 0.5, 1 }, { dtype = "float64" })
    check(mr.losses.ap()(y, half):item() > 0.5 * mr.losses.ap()(y, plain):item() - 1e-3)
    near(mr.losses.ap()(y, half):item(), 0.5 * mr.losses.ap()(y, plain):item(), 1e-3)
  end)
end)

describe("a bound and weights of rows", function()
  it("are applied in this order: equal weights multiply the bounded value", function()
    local four = mr.lists{ { 0, 1, 1, 0, 1, 0 }, { 1, 0, 0 } }
    local x = { 0.3, -1, 0.5, 0.2, 1, -0.4, 0.7, 0, 0.1 }
    for _, name in ipairs{ "ap", "rr", "nrbp", "tfmap", "sl", "ranknet" } do
      for _, bound in ipairs((mr.losses.bounds(name))) do
        local loss = mr.losses[name]{ bound = bound }
        local value, gradient = derived(function(leaf) return loss(leaf, four) end, x, "float64")
        local threefold = four:weighted{ weights = mr.ones(four.rows) * 3 }
        local found, by = derived(function(leaf) return loss(leaf, threefold) end, x, "float64")
        near(found, value * 3, 1e-9, name .. " under " .. bound)
        near(by, gradient * 3, 1e-9, "gradient of " .. name .. " under " .. bound)
      end
    end
  end)

  it("give the bound the value with weights divided by their mean over the relevant rows", function()
    local judged, x = mr.lists{ { 1, 0, 1, 0 } }, mr.tensor({ 0.4, 0.1, -0.2, 0.3 }, { dtype = "float64" })
    local function loss_of(bound, weights) return mr.losses.ap{ bound = bound }(x, judged, { weights = weights }) end
    local mean_1, mean_2 = { 0.5, 7, 1.5, 9 }, { 1, 0, 3, 0 }
    local weighted = -loss_of("none", mean_1)
    check(math.abs((weighted - mr.smooth.ap(x, judged)):item()) > 1e-3)
    local bounded = -mr.bounds.resolve("distribution").apply(weighted, "ap", judged)
    near(loss_of("distribution", mean_1), bounded, 1e-12)
    near(loss_of("distribution", mean_2), 2 * bounded, 1e-12)
  end)

  it("have gradients that differences confirm", function()
    local weighted = mr.lists{ { 0, 1, 1, 0, 1, 0 }, { 1, 0, 0 } }:weighted{ weights = { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }
    local x = mr.tensor({ 0.3, -1, 0.5, 0.2, 1, -0.4, 0.7, 0, 0.1 }, { dtype = "float64" })
    for _, name in ipairs{ "ap", "rr", "nrbp" } do
      for _, bound in ipairs{ "minmax", "expectation", "distribution_logit" } do
        local loss = mr.losses[name]{ bound = bound }
        check(mr.gradcheck(function(at) return loss(at, weighted):sum() end, x), name .. " under " .. bound)
      end
    end
  end)
end)

describe("a list whose rows all have weight 0", function()
  it("adds nothing to a mean under any bound, alone or in a sum of losses", function()
    local few = { { 1, 0, 0 }, { 0, 1, 1, 0 } }
    local zeros, rest = mr.lists(few):weighted{ weights = { 0, 0, 0, 1, 2, 1, 3 } },
      mr.lists{ few[2] }:weighted{ weights = { 1, 2, 1, 3 } }
    local x = { 0.3, -1, 0.5, 0.2, 1, -0.4, 0.7 }
    for _, name in ipairs{ "ndcg", "ap", "rr", "nrbp", "approx_ndcg", "sl", "ranknet" } do
      for _, bound in ipairs((mr.losses.bounds(name))) do
        local loss = mr.losses[name]{ bound = bound }
        local sum = loss + 0.5 * mr.losses.mse{}
        for _, of in ipairs{ loss, sum } do
          local mean, gradient = derived(function(leaf) return of:mean(leaf, zeros) end, x, "float64")
          local alone = of:mean(mr.tensor(table.move(x, 4, 7, 1, {}), { dtype = "float64" }), rest)
          near(mean, alone, { rtol = 1e-12, atol = 1e-12 }, name .. " under " .. bound)
          equal(gradient:narrow(1, 1, 3):abs():max():item(), 0.0, name .. " under " .. bound)
        end
        equal(loss(mr.tensor(x), zeros):totable()[1], 0.0)
      end
    end
  end)
end)

describe("weights of lists", function()
  it("act on means only, after the bound", function()
    local x, few = mr.tensor({ 1, 0, 0.5, 2, 0, 1 }, { dtype = "float64" }), mr.lists{ { 1, 0 }, { 1, 0, 0 }, { 1 } }
    for _, bound in ipairs{ "none", "minmax", "expectation" } do
      local loss = mr.losses.ndcg{ bound = bound }
      local values = loss(x, few, { list_weights = { 3, 1, 9 } }):totable()
      equal(values, loss(x, few):totable())
      near(loss:mean(x, few, { list_weights = { 3, 1, 9 } }):item(), (3 * values[1] + values[2]) / 4, 1e-12)
    end
    equal(mr.losses.ndcg():mean(x, few, { list_weights = { 0, 0, 1 } }):item(), 0.0)
  end)

  it("of a sum of losses count a list that counts in a term", function()
    local x, few = mr.tensor({ 1, 0, 0.5, 2 }, { dtype = "float64" }), mr.lists{ { 1, 0 }, { 1, 1 } }
    local sum = mr.losses.ndcg{} + 2 * mr.losses.ranknet{}
    few = few:weighted{ list_weights = { 2, 5 }, weights = { 1, 3, 1, 1 } }
    equal(sum:count(few), 2.0)
    equal((mr.losses.mse{} + mr.losses.ndcg{}):count(few), 7.0)
    near(sum:mean(x, few):item(), mr.losses.ndcg{}(x, few):totable()[1] + 2 * mr.losses.ranknet{}(x, few):totable()[1],
      1e-12)
  end)

  it("that are slopes of a bound train with its slopes alone", function()
    local weighted = lists:weighted{ list_weights = mr.bounds.slopes("minmax", "nrbp_loss", lists) }
    local x = mr.tensor(scores, { dtype = "float64" })
    local plain, bounded = mr.losses.nrbp(), mr.losses.nrbp{ bound = "minmax" }
    near(plain:mean(x, weighted):item() * plain:count(weighted), bounded(x, lists):sum():item(), 1e-10)
  end)
end)

describe("weights", function()
  it("that are negative, NaN or too few are errors", function()
    for _, wrong in ipairs{ { 1, -1 }, { 1, 0 / 0 }, { 1, math.huge }, { 1 }, { 1, 1, 1 } } do
      raises(function() mr.lists{ { 1, 0 } }:weighted{ weights = wrong } end, "weights")
      raises(function() mr.lists{ { 1, 0 }, { 1 } }:weighted{ list_weights = wrong } end, "list_weights")
      raises(function() mr.losses.mse()(mr.tensor{ 0, 0 }, mr.lists{ { 1, 0 } }, { weights = wrong }) end, "weights")
    end
    for _, wrong in ipairs{ 1e31, 1e-31 } do
      raises(function() mr.lists{ { 1, 0 } }:weighted{ weights = { 0, wrong } } end, "weights", ("%g"):format(wrong))
      raises(function() mr.lists{ { 1, 0 } }:weighted{ list_weights = { wrong } } end, ("%g"):format(wrong))
    end
    raises(function() mr.lists{ { 1, 0 } }:weighted{ weights = "none" } end, "weights")
    raises(function() mr.losses.mse()(mr.tensor{ 0, 0 }, mr.lists{ { 1, 0 } }, { weight = { 1, 1 } }) end, "weights")
  end)

  it("do not change what else lists carry: the probabilities of their rows", function()
    local drawn = mr.lists{ { 1, 0, 0 }, { 0, 1 } }:drawn(mr.tensor{ 0.5, 0.25, 0.125, 0.5, 0.25 })
    local x, loss = mr.tensor{ 1, 0, 2, 1, 0 }, mr.losses.sampled_softmax{ correction = "both" }
    near(loss(x, drawn:weighted{ list_weights = { 1, 2 } }), loss(x, drawn), 1e-6)
    near(loss(x, drawn, { weights = mr.ones(5) }), loss(x, drawn), 1e-6)
  end)

  it("that are small or large change no loss that is free of their scale", function()
    local x = mr.tensor({ 1, 0, 2 }, { dtype = "float64" })
    for name in pairs(scale_free) do
      for _, size in ipairs{ 1e-29, 1e-17, 1e29 } do
        local loss = mr.losses[name](options[name])
        local one_list = mr.lists{ { 1, 0, 2 } }
        near(loss(x, one_list, { weights = { size, size, size } }), loss(x, one_list), 1e-6, name)
      end
    end
  end)

  it("multiply gains of ndcg and dcg in evaluations, exactly in float64", function()
    local function d(rank) return math.log(2) / math.log(rank + 1) end
    local some = mr.lists{ { 1, 0, 3, 2 }, { 1, 0 } }:weighted{ weights = { 0.3, 1, 0.7, 1.9, 1e-20, 1 } }
    local x = mr.tensor({ 0.5, 3, 0.5, 0.25, 1, 2 }, { dtype = "float64" })
    -- rows 1 and 3 are tied at ranks 2 and 3
    local top = (0.3 + 0.7 * 7) * (d(2) + d(3)) / 2
    local found = mr.evaluate(x, some, { "dcg", "dcg@3", "ndcg", "ndcg@2" })
    near(found.dcg:totable()[1], top + 1.9 * 3 * d(4), 1e-14)
    near(found["dcg@3"]:totable()[1], top, 1e-14)
    near(found.ndcg:totable(), { (top + 1.9 * 3 * d(4)) / (1.9 * 3 + 0.7 * 7 * d(2) + 0.3 * d(3)), d(2) }, 1e-14)
    near(found["ndcg@2"]:totable()[1], (0.3 + 0.7 * 7) * d(2) / 2 / (1.9 * 3 + 0.7 * 7 * d(2)), 1e-14)
    near(found.dcg:totable()[2], 1e-20 * d(2), 1e-33)
  end)

  it("stay with lists that are selected, batched, joined and given other grades", function()
    local made = mr.lists{ relevance = { 1, 0, 0, 1, 1 }, sizes = { 2, 3 }, weights = { 1, 2, 3, 4, 5 },
      list_weights = { 6, 7 } }
    equal(made:select(mr.tensor({ 2 }, { dtype = "int64" })).weights:totable(), { 3.0, 4.0, 5.0 })
    equal(made:with_relevance(mr.tensor{ 0, 0, 0, 0, 1 }).list_weights:totable(), { 6.0, 7.0 })
    equal(made:weighted{ weights = false }.weights, nil)
    equal(made:weighted{ weights = false }.list_weights:totable(), { 6.0, 7.0 })
    local set = mr.data.dataset{ lists = made, features = mr.ones(5, 1) }
    for batch in set:batches{ size = 1 } do equal(#batch.lists.weights, batch.lists.rows) end
    equal(set:pointwise().lists.list_weights:totable(), { 6.0, 12.0, 21.0, 28.0, 35.0 })
    local plain = mr.data.dataset{ lists = mr.lists{ { 1, 0 }, { 0, 1, 1 } }, features = set.features }
    check(set.fingerprint ~= plain.fingerprint)
  end)
end)
