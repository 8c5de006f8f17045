-- Tests sums of losses, and losses that a script defines by costs of pairs or rows.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check, equal, raises = test.describe, test.it, test.near, test.check, test.equal, test.raises

local lists = mr.lists{ { 0, 2, 1 }, { 1, 0 }, { 1 }, { 2, 2 } }
local function scores(dtype)
  return mr.tensor({ 0.3, 0.1, 0.5, 1, 2, 0, -1, 0.25 }, { dtype = dtype or "float64" })
end

it("a sum of losses has the sum of their values for each list", function()
  for _, name in ipairs(mr.losses.names()) do
    local sum = mr.losses[name]{} + 0.25 * mr.losses.mse{}
    if sum.repeats then
      near(sum(scores(), lists), mr.losses[name]{}(scores(), lists) + 0.25 * mr.losses.mse{}(scores(), lists), 1e-12,
        name)
    end
  end
  local a, b = mr.losses.ndcg{ bound = "minmax" }, mr.losses.ranknet{ bound = "expectation" }
  near((2 * (a + 3 * b) + a)(scores(), lists), 3 * a(scores(), lists) + 6 * b(scores(), lists), 1e-12)
  near((a * 2)(scores(), lists), 2 * a(scores(), lists), 1e-15)
end)

it("a list counts in a sum of losses if it counts in one of them", function()
  equal((mr.losses.ndcg{} + mr.losses.ap{}):count(lists), 2)
  equal((mr.losses.ndcg{} + mr.losses.mse{}):count(lists), 4)
  -- AP counts only the list {1, 0}, because the others have no row below grade 1; nDCG also counts {2, 1}, whose grades
  -- differ
  local some = mr.lists{ { 2, 1 }, { 1, 0 }, { 1 } }
  equal({ mr.losses.ap{}:count(some), (mr.losses.ap{} + mr.losses.ndcg{}):count(some) }, { 1, 2 })
  local sum = mr.losses.ndcg{} + mr.losses.mse{}
  near(sum:mean(scores(), lists):item(), sum(scores(), lists):sum():item() / 4, 1e-12)
end)

it("sums of losses have gradients", function()
  local sum = mr.losses.lambdarank{ bound = "minmax" } + 0.5 * mr.losses.bce{} + mr.losses.ap{}
  check(mr.gradcheck(function(x) return sum:mean(x, lists) end, (scores() * 1):requires_grad()) < 1e-6)
end)

it("mr.fit trains a sum of losses as the sum of their objectives", function()
  local features = mr.tensor({ { 1, 0 }, { 0, 1 }, { 1, 1 }, { 0.5, 0 }, { 0, 0.5 }, { 1, 2 }, { 2, 1 }, { 0, 0 } })
  local data = mr.data.dataset{ lists = lists, features = features }
  local function trained(loss)
    local model = mr.models.mlp{ inputs = 2, hidden = {}, seed = 1 }
    return mr.fit{ model = model, train = data, loss = loss, epochs = 3, batch = 2, seed = 1, progress = false,
      optimizer = mr.optim.sgd{ lr = 0.1 } }.history[3].loss
  end
  near(trained(mr.losses.mse{} + mr.losses.mse{}), trained(2 * mr.losses.mse{}), 1e-6)
  check(math.abs(trained(mr.losses.mse{} + mr.losses.ndcg{}) - trained(mr.losses.mse{})) > 1e-3)
end)

it("sums of losses keep regularizers and parameters of their terms", function()
  local regularizers = require "moonrank.losses.regularizers"
  local term = mr.losses.mse{}
  term.options.regularize = { users = 0.5 }
  local model = mr.models.mf{ users = 2, items = 3, factors = 2, seed = 1 }
  local batch = { users = mr.tensor({ 1, 2 }, { dtype = "int64" }) }
  near(regularizers.of(3 * term + mr.losses.ap{})(model, batch):item(), 3 * regularizers.of(term)(model, batch):item(),
    1e-6)
  equal(#(mr.losses.ordinal{ learn = true } + mr.losses.mse{}):parameters(),
    #mr.losses.ordinal{ learn = true }:parameters())
end)

it("sums of losses train a parameter of two terms once", function()
  local term = mr.losses.llpauc{}
  equal(#(term + 0.5 * term):parameters(), 1)
  equal(#(term + mr.losses.llpauc{}):parameters(), 2)
end)

it("sums of losses give trees the slopes of their bounds", function()
  local newton = require "moonrank.losses.newton"
  local function derivatives(loss)
    mr.seed(1)
    return newton.derivatives(loss, scores(), lists)
  end
  for _, name in ipairs{ "ndcg", "pl_rank", "lambdarank" } do
    local loss = mr.losses[name]{ bound = "minmax" }
    near(derivatives(1 * loss), derivatives(loss), 1e-12, name)
    local first = derivatives(loss + 0.5 * mr.losses.listnet{})
    local plain = derivatives(mr.losses[name]{} + 0.5 * mr.losses.listnet{})
    check((first - plain):abs():max():item() > 1e-3, name)
  end
end)

it("sums of losses with second derivatives of their own give trees the sums", function()
  local newton = require "moonrank.losses.newton"
  local function derivatives(loss) return { newton.derivatives(loss, scores(), lists) } end
  local a, b = mr.losses.lambdarank{ bound = "minmax" }, mr.losses.mse{}
  local of_a, of_b = derivatives(a), derivatives(b)
  check(of_a[2]:max():item() < 1 and of_a[2]:max():item() > 0)
  for i, found in ipairs(derivatives(0.5 * a + 2 * b)) do near(found, of_a[i] * 0.5 + of_b[i] * 2, 1e-12) end
  for i, found in ipairs(derivatives(a + 0 * b)) do near(found, of_a[i], 1e-15) end
  for i, found in ipairs(derivatives(0.25 * a + 0.75 * a)) do near(found, of_a[i], 1e-12) end
  equal(derivatives(a - 100 * b)[2]:min():item(), 0.0)
end)

it("losses can be subtracted, negated and divided", function()
  local a, b = mr.losses.ndcg{ bound = "minmax" }, mr.losses.mse{}
  near(((a - b) / 4)(scores(), lists), (a(scores(), lists) - b(scores(), lists)) / 4, 1e-12)
  near((-(a + b))(scores(), lists), -a(scores(), lists) - b(scores(), lists), 1e-12)
end)

it("a term of factor 0 adds nothing, even if its value is infinite", function()
  local infinite = mr.tensor({ 0.3, 0.1, 0.5, 0, 1 / 0, 0, -1, 0.25 }, { dtype = "float64" }):requires_grad()
  check(mr.losses.sl{}(infinite, lists):max():item() == math.huge)
  local value = (0 * mr.losses.sl{} + mr.losses.ndcg{})(infinite, lists)
  equal(value:totable(), mr.losses.ndcg{}(infinite, lists):totable())
  value:sum():backward()
  check(infinite.grad:eq(infinite.grad):min():item() == 1)
end)

it("sums of losses refuse other terms", function()
  raises(function() return mr.losses.ndcg{} + 1 end, "term", "1")
  raises(function() return mr.losses.ndcg{} + nil end, "term", "nil")
  raises(function() return mr.losses.ndcg{} - 1 end, "term", "1")
  raises(function() return mr.losses.ndcg{} / 0 end, "divisor", "0")
  raises(function() return 2 / mr.losses.ndcg{} end, "divisor", "2")
  raises(function() return mr.losses.ndcg{} * mr.losses.ap{} end, "factor", "mr.Loss")
  raises(function() return mr.losses.ndcg{} * (0 / 0) end, "factor")
  raises(function() return mr.losses.ndcg{} + mr.losses.ranknet_all_pairs{ per = "pair" } end, "ranknet_all_pairs",
    "pairs")
end)

it("lists:pairs returns the pairs of rows with unequal grades", function()
  local found = lists:pairs()
  equal({ found.better:totable(), found.worse:totable() }, { { 2, 2, 3, 4 }, { 1, 3, 1, 5 } })
  equal({ found.list:totable(), found.lists.sizes:totable() }, { { 1, 1, 1, 2 }, { 3, 1, 0, 0 } })
  equal(lists:pairs{ relevant = 2 }.better:totable(), { 2, 2 })
  equal(mr.lists{ {}, { 1 } }:pairs().count, 0)
  for _, size in ipairs{ 0, 1, 31, 32, 33, 127, 128, 129 } do
    local grades, count = {}, 0
    for i = 1, size do
      grades[i] = i * 7 % 4
      for j = 1, i - 1 do count = count + (grades[i] ~= grades[j] and 1 or 0) end
    end
    local pairs_of = mr.lists{ grades }:pairs()
    equal(pairs_of.count, count)
    for k, better in ipairs(pairs_of.better:totable()) do
      if grades[better] <= grades[pairs_of.worse[k]:item()] then error("pair " .. k) end
    end
  end
  raises(function() lists:pairs{ relevant = 0 } end, "relevant", "0")
end)

it("lists:cumsum adds up the rows of each list", function()
  equal(lists:cumsum(mr.tensor{ 1, 2, 3, 4, 5, 6, 7, 8 }):totable(), { 1, 3, 6, 4, 9, 6, 7, 15 })
  equal(mr.lists{ {}, {} }:cumsum(mr.tensor({}, { dtype = "float32" })):totable(), {})
  check(mr.gradcheck(function(x) return lists:cumsum(x) ^ 2 end, (scores() * 1):requires_grad()) < 1e-6)
  raises(function() lists:cumsum(mr.tensor{ 1 }) end, "x")
  equal(mr.tensor{ 1, 2, 3, 4, 5, 6, 7, 8 }:cumsum(lists):totable(), { 1, 3, 6, 4, 9, 6, 7, 15 })
  equal(mr.tensor{ 1, 2, 3 }:cumsum():totable(), { 1, 3, 6 })
  equal(mr.tensor({}):cumsum():totable(), {})
  raises(function() mr.ones(2, 2):cumsum() end, "dimensions", "2")
  raises(function() mr.ones(2):cumsum(1) end, "lists", "1")
end)

it("mr.losses.define takes costs of pairs and of rows", function()
  mr.losses.define("own_ranknet", { pairs = function(d) return (-d):softplus() end })
  mr.losses.define("own_mse", { rows = function(s, y) return (s - y) ^ 2 end })
  for _, bound in ipairs{ "none", "minmax", "expectation" } do
    for own, name in pairs{ own_ranknet = "ranknet", own_mse = "mse" } do
      local ours, theirs = mr.losses[own]{ bound = bound }, mr.losses[name]{ bound = bound }
      near(ours(scores(), lists), theirs(scores(), lists), 1e-12, own)
      equal({ ours:count(lists), ours.pointwise }, { theirs:count(lists), theirs.pointwise })
    end
  end
  check(mr.gradcheck(function(x) return mr.losses.own_ranknet{}:mean(x, lists) end, scores():requires_grad()) < 1e-6)
  near(mr.losses.own_ranknet{}(mr.tensor{ 1, 2 }, mr.lists{ { 1, 1 } }), mr.tensor{ 0 })
end)

it("mr.losses.define refuses what does not define one loss", function()
  local function f(d) return d end
  raises(function() mr.losses.define("own_bad", {}) end, "no function", "smooth")
  raises(function() mr.losses.define("own_bad", { pairs = f, rows = f }) end, "pairs and rows")
  raises(function() mr.losses.define("own_bad", { smooth = f }) end, "direction")
  raises(function() mr.losses.define("own_bad", { pairs = f, exact = f }) end, "exact", "pairs")
  mr.losses.define("own_bad", { pairs = function(d) return d:sum() end })
  raises(function() mr.losses.own_bad{}(scores(), lists) end, "own_bad", "pair", "4")
  mr.losses.define("own_bad", { rows = function() return 1 end })
  raises(function() mr.losses.own_bad{}(scores(), lists) end, "own_bad", "row", "8")
end)

describe("a script's loss of many pairs", function()
  local sizes, grades = { 0, 600, 1, 700, 2, 500, 0, 40 }, {}
  for l, n in ipairs(sizes) do
    grades[l] = {}
    for i = 1, n do grades[l][i] = (l * i * 7 + i // 3) % 5 end
  end
  local many = mr.lists(grades)
  local x = mr.normal({ many.rows }, { seed = 8, dtype = "float64" })
  local function cost(d) return (-d):sigmoid() ^ 2 * (-d):softplus() end
  mr.losses.define("many_pairs_in_blocks", { pairs = function(d) return cost(d) end })
  mr.losses.define("many_pairs_at_once", { pairs = function(d, _) return cost(d) end })

  -- Returns values, and the derivatives of a weighted sum of them, of the loss `name`.
  local function derived(name, o, weights)
    local leaf = x:detach():requires_grad()
    local values = mr.losses[name](o)(leaf, many, weights)
    local upstream = mr.uniform({ many.count }, { seed = 3, dtype = "float64" })
    ;(values * upstream):sum():backward()
    return values:detach(), leaf.grad
  end

  it("is computed in blocks with the values and derivatives of all pairs at once", function()
    check(many:pairs().count > 3 * 65536)
    local weights = mr.uniform({ many.rows }, { seed = 4, dtype = "float64" })
    for _, case in ipairs{ { {} }, { { bound = "minmax" } }, { {}, { weights = weights } } } do
      local value, gradient = derived("many_pairs_in_blocks", table.unpack(case))
      local expected, by = derived("many_pairs_at_once", table.unpack(case))
      near(value, expected, { rtol = 1e-12, atol = 1e-12 })
      near(gradient, by, { rtol = 1e-11, atol = 1e-11 })
    end
    local loss = mr.losses.many_pairs_in_blocks()
    local value = mr.no_grad(function() return loss(x:detach():requires_grad(), many) end)
    near(value, (derived("many_pairs_at_once")), { rtol = 1e-12 })
    check(not value.tracked and not loss(x, many).tracked)
  end)

  it("has derivatives by tensors that its function captured", function()
    local power = mr.tensor({ 2 }, { dtype = "float64" }):requires_grad()
    mr.losses.define("many_pairs_of_power", { pairs = function(d) return (-d):softplus() * power end })
    mr.losses.many_pairs_of_power()(x, many):sum():backward()
    near(power.grad:item(), mr.losses.ranknet()(x, many):sum():item(), 1e-6)
  end)
end)
