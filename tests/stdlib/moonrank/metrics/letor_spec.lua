-- Tests nDCG by LETOR's rule against its script Eval-Score-4.0.pl, written in Lua, and against hand-computed values.
local mr = require "moonrank"
local find = require "moonrank.data.find"
local test = require "moonrank.test"
local check, describe, equal, it, near, raises = test.check, test.describe, test.equal, test.it, test.near, test.raises

local f64 = { dtype = "float64" }
local gains = { [0] = 0, 1, 3, 7, 15 }

-- Returns DCG at each position of ranked labels, as the script adds it up.
local function running_dcg(labels)
  local sums = { gains[labels[1]] }
  for position = 1, #labels - 1 do  -- positions are counted from 0, as in the script
    local gain = gains[labels[position + 1]]
    sums[position + 1] = sums[position] + (position < 2 and gain or gain * math.log(2) / math.log(position + 1))
  end
  return sums
end

-- Returns NDCG of a query at positions 1 to `last`, as the script averages it. Positions beyond the query's documents
-- count as 0.
local function script_ndcg(labels, scores, last)
  local order, ranked, best = {}, {}, table.move(labels, 1, #labels, 1, {})
  for i = 1, #labels do order[i] = i end
  table.sort(order, function(a, b) return scores[a] > scores[b] or scores[a] == scores[b] and a < b end)
  for rank, row in ipairs(order) do ranked[rank] = labels[row] end
  table.sort(best, function(a, b) return a > b end)
  local found, ideal, values = running_dcg(ranked), running_dcg(best), {}
  for k = 1, last do values[k] = k <= #labels and ideal[k] ~= 0 and found[k] / ideal[k] or 0 end
  return values
end

local function drawn_queries(count, most_grade, levels)
  local u, at, grades, scores = mr.uniform({ 100 * count }, { seed = 7, device = "cpu" }):totable(), 0, {}, {}
  local function next_number()
    at = at + 1
    return u[at]
  end
  for q = 1, count do
    grades[q], scores[q] = {}, {}
    for i = 1, 1 + math.floor(next_number() * 24) do
      grades[q][i] = math.max(0, math.floor(next_number() * (most_grade + 3)) - 2)
      scores[q][i] = math.floor(next_number() * levels)
    end
  end
  return grades, scores
end

local function joined(parts)
  local all = {}
  for _, part in ipairs(parts) do table.move(part, 1, #part, #all + 1, all) end
  return all
end

describe("letor_ndcg", function()
  it("equals hand-computed values", function()
    local function of(ranked, k)
      local scores = {}
      for i = 1, #ranked do scores[i] = -i end
      return mr.metrics.letor_ndcg(mr.tensor(scores, f64), mr.lists{ ranked }, { k = k }):item()
    end
    near(of({ 2, 0, 1 }, 1), 1, 1e-15)
    near(of({ 2, 0, 1 }, 2), 3 / 4, 1e-15)
    near(of({ 2, 0, 1 }, 3), (3 + 0.63092975357145743) / 4, 1e-15)
    near(of({ 2, 0, 1 }, 4), 0, 0)
    near(of({ 0, 1, 2, 0 }, 4), (1 + 3 * 0.63092975357145743) / 4, 1e-15)
    near(of({ 0, 0, 0, 1 }, 4), 1 / 2, 1e-15)  -- log2(4) = 2
    near(of({ 0, 0 }, 1), 0, 0)
  end)

  it("equals Eval-Score-4.0.pl on random queries for every cutoff", function()
    for _, most in ipairs{ 2, 4 } do
      local grades, scores = drawn_queries(300, most, 12)
      local lists, x = mr.lists(grades), mr.tensor(joined(scores), f64)
      for _, k in ipairs{ 1, 2, 3, 5, 10 } do
        local expected, sum = {}, 0
        for q = 1, #grades do
          expected[q] = script_ndcg(grades[q], scores[q], k)[k]
          sum = sum + expected[q] / #grades
        end
        near(mr.metrics.letor_ndcg(x, lists, { k = k, ties = "stable" }), expected, 1e-14, k)
        near(mr.evaluate(x, lists, { "letor_ndcg@" .. k }, { ties = "stable" }).mean["letor_ndcg@" .. k], sum, 1e-12, k)
        near(mr.metrics.letor_ndcg(x:float(), lists, { k = k, ties = "stable" }), expected, 1e-6, k)
      end
    end
  end)

  -- Expected values are the output of Eval-Score-4.0.pl (perl 5.36) with the 25th feature of S1 as the scores.
  it("equals the output of Eval-Score-4.0.pl on MQ2008", function()
    local there, folder = pcall(find.path, "mq2008")
    if not there then return test.skip "MQ2008 is not there" end
    local data = mr.data.letor(folder .. "/S1.txt.gz")
    local scores = data.features:double():narrow(2, 25, 1):reshape(data.lists.rows)
    for k, printed in ipairs{ 0.2293, 0.2590, 0.2927, 0.2998, 0.3224, 0.3401, 0.3523, 0.3387, 0.1161, 0.1219 } do
      local name = "letor_ndcg@" .. k
      near(mr.evaluate(scores, data.lists, { name }, { ties = "stable" }).mean[name], printed, 5.1e-5, name)
    end
  end)

  it("averages over the orders of tied documents", function()
    local grades, orders = { 2, 0, 1, 0 }, { { 1, 2, 3, 4 } }
    local function permuted(prefix, rest)
      if #rest == 0 then orders[#orders + 1] = prefix end
      for i, each in ipairs(rest) do
        local longer, others = { table.unpack(prefix) }, { table.unpack(rest) }
        longer[#longer + 1] = each
        table.remove(others, i)
        permuted(longer, others)
      end
    end
    orders = {}
    permuted({}, { 1, 2, 3, 4 })
    equal(#orders, 24)
    for k = 1, 4 do
      local sum = 0
      for _, order in ipairs(orders) do sum = sum + script_ndcg(grades, order, k)[k] / 24 end
      near(mr.metrics.letor_ndcg(mr.tensor({ 1, 1, 1, 1 }, f64), mr.lists{ grades }, { k = k }), sum, 1e-14, k)
    end
  end)

  it("counts lists without relevant rows as 0 unless empty = 'skip'", function()
    local x, lists = mr.tensor({ 2, 1, 2, 1 }, f64), mr.lists{ { 0, 0 }, { 1, 0 } }
    near(mr.evaluate(x, lists, { "letor_ndcg@2" }).mean["letor_ndcg@2"], 0.5, 1e-15)
    near(mr.evaluate(x, lists, { "letor_ndcg@2" }, { empty = "skip" }).mean["letor_ndcg@2"], 1, 1e-15)
    near(mr.evaluate(x, lists, { "letor_ndcg@3" }, { empty = "skip" }).mean["letor_ndcg@3"], 0, 0)
  end)

  it("leaves out short lists under a bound and cannot be used as a loss", function()
    local lists = mr.lists{ { 0, 1, 2 }, { 0, 1 } }
    local bounded = mr.evaluate(mr.tensor({ 3, 2, 1, 1, 2 }, f64), lists, { "letor_ndcg@3[minmax]" })
    equal(bounded.counted["letor_ndcg@3[minmax]"], 1)
    -- the minimum over all orders, which ranks the grades in ascending order
    local least = (1 + 3 * 0.63092975357145743) / 4
    near(bounded.mean["letor_ndcg@3[minmax]"], 0, 1e-12)
    near(mr.bounds.of("letor_ndcg@3", { grades = { 2, 1, 0 } }).min, least, 1e-12)
    raises(function() mr.losses.lambdarank{ metric = "letor_ndcg@3" } end, "letor_ndcg@3")
    raises(function() return mr.losses.letor_ndcg end, "letor_ndcg")
    raises(function() return mr.smooth.letor_ndcg end, "letor_ndcg")
    raises(function() mr.metrics.parse "letor_ndcg" end, "'letor_ndcg'", "'letor_ndcg@10'")
    check(not mr.metrics.parse("letor_ndcg@5").has_smooth)
  end)
end)
