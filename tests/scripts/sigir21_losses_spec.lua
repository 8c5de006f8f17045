-- The losses of the SIGIR'21 recipes against loops over padded matrices, as the authors' code has them (list_loss.py,
-- lambda_loss.py).
local mr = require "moonrank"
local test = require "moonrank.test"
local recipes = dofile("scripts/sigir21/recipes.lua").recipes
local it, equal, near = test.it, test.equal, test.near

-- The loss of a recipe by its kind and name.
local function loss_of(recipe, kind, name, rows) return recipes[recipe][kind].loss(name, rows) end

local longest = 12  -- of all lists: where padding counts, shorter ones have rows of score -100

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end

-- Scores and labels of one list, padded.
local function padded(f, y)
  local scores, labels = {}, {}
  for i = 1, longest do scores[i], labels[i] = f[i] or -100, y[i] or 0 end
  return scores, labels
end

-- R_j = 1/2 + sum over all i of sigma(gain (f_i - f_j)).
local function smooth_ranks(f, gain)
  local ranks = {}
  for j = 1, #f do
    ranks[j] = 0.5
    for i = 1, #f do ranks[j] = ranks[j] + sigmoid(gain * (f[i] - f[j])) end
  end
  return ranks
end

local function sum(n, term)
  local total = 0
  for i = 1, n do total = total + term(i) end
  return total
end

local plain = {}

function plain.ap_published(f, y)
  local s, labels = padded(f, y)
  local r = smooth_ranks(s, 1)
  return -sum(longest, function(k)
    return labels[k] / r[k] * sum(longest, function(j) return sigmoid(r[j] - r[k]) + (j == k and 0.5 or 0) end)
  end)
end

function plain.ap_code(f, y)
  local s, labels = padded(f, y)
  local r = smooth_ranks(s, 1)
  return -sum(longest, function(j)
    return labels[j] / r[j] * sum(longest,
      function(k) return labels[k] * (sigmoid(r[j] - r[k]) + (j == k and 0.5 or 0)) end)
  end)
end

function plain.rr(f, y)
  local s, labels = padded(f, y)
  local r = smooth_ranks(s, 1)
  return -sum(longest, function(i)
    local product = 1
    for j = 1, longest do product = product * (1 - labels[j] * (sigmoid(r[i] - r[j]) - (i == j and 0.5 or 0))) end
    return labels[i] / r[i] * product
  end)
end

-- Without the pairs of relevant rows, whose sum is constant.
function plain.nrbp(f, y)
  local s, labels = padded(f, y)
  local r, relevant = smooth_ranks(s, 0.01), sum(longest, function(i) return labels[i] end)
  return sum(longest, function(j) return labels[j] * (r[j] - 1) end) - relevant * (relevant - 1) / 2
end

-- Ranks without ties, of equal scores the lower row first.
local function ranks_of(f)
  local ranks = {}
  for i = 1, #f do
    ranks[i] = 1 + sum(#f, function(j) return (f[j] > f[i] or f[j] == f[i] and j < i) and 1 or 0 end)
  end
  return ranks
end

local function over_pairs(f, y, weight)
  local r = ranks_of(f)
  return sum(#f, function(i)
    return sum(#f,
      function(j) return y[i] == 1 and y[j] == 0 and math.abs(weight(r[i], r[j], i)) * sigmoid(f[j] - f[i]) or 0 end)
  end)
end

local function discount(r) return 1 / math.log(1 + r, 2) end
function plain.lambda_dcg(f, y) return over_pairs(f, y, function(r, q) return discount(r) - discount(q) end) end
function plain.lambda_ndcg(f, y)
  local ideal, relevant = 0, sum(#y, function(i) return y[i] end)
  for r = 1, relevant do ideal = ideal + discount(r) end
  return plain.lambda_dcg(f, y) / ideal
end
function plain.lambda_rr(f, y)
  local first = math.huge
  for i, r in ipairs(ranks_of(f)) do first = y[i] == 1 and math.min(first, r) or first end
  return over_pairs(f, y, function(r, q) return r == first and math.min(0, 1 / r - 1 / q) or 0 end)
end
function plain.lambda_nrbp(f, y)
  local p, relevant = 0.9, sum(#y, function(i) return y[i] end)
  return over_pairs(f, y, function(r, q) return (1 - p) * (1 - p ^ relevant) * (p ^ r - p ^ q) end)
end

local cases = {
  { "published", "listwise", "ap", plain.ap_published, of_batch = true },
  { "code", "listwise", "ap", plain.ap_code, of_batch = true }, { "published", "listwise", "rr", plain.rr },
  { "code", "listwise", "rr", plain.rr }, { "published", "listwise", "nrbp", plain.nrbp },
  { "code", "listwise", "nrbp", plain.nrbp }, { "published", "lambda", "ndcg", plain.lambda_dcg },
  { "code", "lambda", "ndcg", plain.lambda_ndcg }, { "published", "lambda", "rr", plain.lambda_rr },
  { "code", "lambda", "nrbp(0.9)", plain.lambda_nrbp },
}

local grades = { { 1, 0, 1, 0, 0, 1 }, { 0, 1 }, { 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1 }, { 0, 0, 1 } }
local rows = 0
for _, y in ipairs(grades) do rows = rows + #y end

local function scores(seed) return mr.normal({ rows }, { seed = seed, dtype = "float64" }) * 2 end

-- The plain loss of every list, at these scores.
local function by_loops(case, values)
  local found, at, relevant = {}, 0, 0
  for i, y in ipairs(grades) do
    found[i] = case[4](table.move(values, at + 1, at + #y, 1, {}), y)
    at = at + #y
    for _, grade in ipairs(y) do relevant = relevant + grade end
  end
  for i = 1, case.of_batch and #found or 0 do found[i] = found[i] / relevant end
  return found
end

it("recipes have losses that equal loops over padded lists, for the losses of every recipe", function()
  local lists = mr.lists(grades)
  for _, case in ipairs(cases) do
    local loss = loss_of(case[1], case[2], case[3], longest)
    for seed = 1, 3 do
      local x = scores(seed)
      local found, expected = loss(x, lists):totable(), by_loops(case, x:totable())
      for i = 1, #grades do
        near(found[i], expected[i], 1e-10, ("%s %s %s, list %d"):format(case[1], case[2], case[3], i))
      end
    end
  end
end)

-- Truncated scores are often equal; LambdaRank ranks the lower of two such rows first.
it("recipes have losses of float32 scores that are float32, and order equal scores of LambdaRank by row", function()
  local lists = mr.lists(grades)
  for _, case in ipairs(cases) do
    local loss, x = loss_of(case[1], case[2], case[3], longest), scores(8):long():float()
    local found, expected = loss(x, lists), by_loops(case, x:totable())
    equal(found.dtype, "float32", case[3])
    near(found:totable(), expected, 1e-5, ("%s %s %s"):format(case[1], case[2], case[3]))
  end
end)

it("recipes have losses with the gradients of the sum over the batch", function()
  local lists, step = mr.lists(grades), 1e-6
  for _, case in ipairs(cases) do
    local loss, x = loss_of(case[1], case[2], case[3], longest), scores(5)
    local leaf = (x * 1):requires_grad()
    loss(leaf, lists):sum():backward()
    local gradient, values = leaf.grad:totable(), x:totable()
    for i = 1, rows, 3 do
      local function at(change)
        values[i] = values[i] + change
        local total = 0
        for _, value in ipairs(by_loops(case, values)) do total = total + value end
        values[i] = values[i] - change
        return total
      end
      near(gradient[i], (at(step) - at(-step)) / (2 * step), 1e-6,
        ("%s %s %s, row %d"):format(case[1], case[2], case[3], i))
    end
  end
end)

it("recipes have a loss of RR that counts all relevant rows, also if more than 32 have equal ranks", function()
  -- 40 relevant rows of equal scores among 80: each has the rank 40.5, and 39 factors of 1/2
  local y = {}
  for i = 1, 80 do y[i] = i % 2 end
  local loss = loss_of("published", "listwise", "rr", 80)
  near(loss(mr.zeros({ 80 }, { dtype = "float64" }), mr.lists{ y }):item() * 2 ^ 39, -40 / 40.5, 1e-10)
end)
