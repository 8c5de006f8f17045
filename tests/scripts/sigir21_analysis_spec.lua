-- Decisions of the figures of scripts/sigir21, on small made-up data, against numbers worked by hand.
local mr = require "moonrank"
local test = require "moonrank.test"
local analysis, training = dofile "scripts/sigir21/analysis.lua", dofile "scripts/sigir21/recipes.lua"
local protocol = training.protocol
local it, check, equal, near = test.it, test.check, test.equal, test.near

it("analysis.positives counts a user's relevant items in train, before some were moved to validation (5.3)", function()
  local function part(users, grades)
    return mr.data.dataset{ lists = mr.lists(grades), users = mr.tensor(users, { dtype = "int64" }),
      items = mr.arange(1, 2 * #grades):long() }
  end
  equal(analysis.positives{ train = part({ 3, 1 }, { { 1, 1 }, { 1, 0 } }), valid = part({ 1 }, { { 0, 1 } }) },
    { [1] = 2.0, [3] = 2.0 })
end)

-- The best of trainings at the rates of a kind, whose chosen number falls with the distance from a rate.
local function chosen_rate(kind, peak)
  local several = {}
  for i, rate in ipairs(training.rates[kind]) do
    several[i] = { rate = rate, chosen_by = -math.abs(math.log(rate / peak)), score = math.log(rate / peak) ^ 2 }
  end
  return analysis.best(several).rate
end

it("analysis.best takes the learning rate (4.2) with the highest number on the part that chooses", function()
  for kind, rates in pairs{ lambda = { 0.001, 0.01, 0.1 }, listwise = { 0.001, 0.01, 0.1, 1, 3, 10 } } do
    for _, rate in ipairs(rates) do equal(chosen_rate(kind, rate), rate) end
    equal({ chosen_rate(kind, 1e-9), chosen_rate(kind, 1e9) }, { rates[1], rates[#rates] })
  end
  local first = { chosen_by = 0.5 }
  check(analysis.best{ { chosen_by = 0.25 }, first, { chosen_by = 0.5 } } == first, "the first of equal ones")
end)

-- Rows of {loss, dataset, nsr, score}.
local function rows_of(list)
  local rows = {}
  for i, each in ipairs(list) do rows[i] = { loss = each[1], dataset = each[2], nsr = each[3], score = each[4] } end
  return rows
end

it("analysis.analysed leaves out the loss of RR (5.1)", function()
  local kept = analysis.analysed(rows_of{ { "rr", "a", 1, 0.1 }, { "ap", "a", 1, 0.2 }, { "nrbp(0.8)", "a", 1, 0.3 } })
  equal({ #kept, kept[1].loss, kept[2].loss }, { 2, "ap", "nrbp(0.8)" })
end)

-- Within a data set and NSR the scores 1, 3, 5, 7 have the mean 4 and the deviation sqrt(20 / 3); with one data set and
-- NSR there are two means of two scores each.
it("analysis.linear_model has no factor for a single data set or NSR (5.2)", function()
  local scores = { { "ap", "a", 1, 1 }, { "ap", "a", 1, 3 }, { "nrbp", "a", 1, 5 }, { "nrbp", "a", 1, 7 } }
  local one = analysis.linear_model(rows_of(scores))
  equal(one.df, 2)
  near(one:emmeans("loss")[2].mean, 2 / math.sqrt(20 / 3), 1e-12)
  for i = 1, 4 do scores[4 + i] = { scores[i][1], "a", 5, 100 + 10 * scores[i][4] } end
  local two = analysis.linear_model(rows_of(scores))
  equal(two.df, 4)  -- eight scores less mean, loss, NSR, and loss by NSR
  near(two:emmeans("loss")[2].mean, 2 / math.sqrt(20 / 3), 1e-12)  -- both NSR are alike once standardised
end)

-- Pooled over three losses of three runs each with deviation 1: the difference of two means has t = difference / sqrt(2
-- / 3) with 6 degrees of freedom. At 2 t is 2.449 and p = 0.0498; Holm's correction makes 2 or 3 times as much of it.
it("analysis.winner is significant if it is above every other one by t test and Holm's correction (5.2)", function()
  local function winner(a, b, c)
    local rows = {}
    for loss, mean in pairs{ ap = a, ndcg = b, nrbp = c } do
      for i = -1, 1 do rows[#rows + 1] = { loss = loss, dataset = "a", nsr = 1, score = mean + i } end
    end
    return { analysis.winner(analysis.linear_model(rows), "lambda") }
  end
  equal(winner(0, 0, 2.1), { "nrbp", false })    -- p = 0.042 twice, 0.13 corrected
  equal(winner(0, 0, 9), { "nrbp", true })       -- the other two are not apart
  equal(winner(0, 9, 9.5), { "nrbp", false })    -- above one of two
  equal(winner(9.5, 9, 0), { "ap", false })
  equal(winner(9, 0, 0), { "ap", true })
  equal({ analysis.significant(0.0499), analysis.significant(0.05), analysis.level }, { true, false, 0.05 })
end)

-- Compares three losses with means 0, 9 and 9.5, three runs each with deviation 1.
it("analysis.winner does not compare the three models of listwise nRBP, which are of one training", function()
  local function winner(kind, first, second)
    local rows = {}
    for loss, mean in pairs{ ap = 0, [first] = 9, [second] = 9.5 } do
      for i = -1, 1 do rows[#rows + 1] = { loss = loss, dataset = "a", nsr = 1, score = mean + i } end
    end
    return { analysis.winner(analysis.linear_model(rows), kind) }
  end
  equal(winner("listwise", "nrbp(0.8)", "nrbp(0.95)"), { "nrbp(0.95)", true })
  equal(winner("lambda", "nrbp(0.8)", "nrbp(0.95)"), { "nrbp(0.95)", false })
  equal(winner("listwise", "ndcg", "nrbp(0.95)"), { "nrbp(0.95)", false })
  equal(winner("listwise", "nrbp(0.95)", "ndcg"), { "ndcg", false })
  local same = analysis.same_training
  equal({ same("listwise", "nrbp(0.8)", "nrbp(0.9)"), same("listwise", "ap", "nrbp(0.8)"),
    same("listwise", "nrbp(0.8)", "ap"), same("lambda", "nrbp(0.8)", "nrbp(0.9)") }, { true, false, false, false })
  local names = {}
  for i, by in ipairs(protocol.own_metrics "nrbp") do names[i] = analysis.model_name("nrbp", by) end
  equal(names, { "nrbp(0.8)", "nrbp(0.9)", "nrbp(0.95)" })
  equal({ analysis.model_name("ap", "ap"), analysis.model_name("nrbp(0.8)", "rbp(0.8)") }, { "ap", "nrbp(0.8)" })
end)

it("analysis.compared pairs nRBP(0.95) with AP and nDCG if all three have runs (Figure 5)", function()
  local function compared(...)
    local rows, found = {}, {}
    for i, loss in ipairs{ ... } do rows[i] = { loss = loss } end
    for i, pair in ipairs(analysis.compared(rows)) do
      found[i] = ("%s: %d of %s, %d of %s"):format(pair.loss, #pair.rows, pair.rows[1].loss, #pair.others,
        pair.others[1].loss)
    end
    return found
  end
  equal(compared("ap", "nrbp(0.95)", "nrbp(0.95)", "ndcg", "nrbp(0.8)", "rr"),
    { "ap: 2 of nrbp(0.95), 1 of ap", "ndcg: 2 of nrbp(0.95), 1 of ndcg" })
  equal({ compared("ap", "nrbp(0.95)"), compared("nrbp(0.95)", "ndcg"), compared("ap", "ndcg", "nrbp(0.8)") }, { {},
    {}, {} })
end)

it("analysis.correct turns p-values 0.01, 0.04, 0.03 into 0.03, 0.06, 0.06 (Figure 5)", function()
  near(analysis.correct{ 0.01, 0.04, 0.03 }, { 0.03, 0.06, 0.06 },
    1e-12)  -- 3 times the least, 2 times the next, no less after it
end)

it("analysis.smoothed doubles the penalty until a spline has ten degrees of freedom at most (Figure 5)", function()
  local x, waves, line = {}, {}, {}
  for i = 1, 120 do x[i], waves[i], line[i] = i / 10, math.sin(2 * i / 10), i / 10 + (i * 7 % 5 - 2) / 10 end
  local range = { 1, 11 }
  local free, fit = mr.stats.spline(x, waves, { range = range }), analysis.smoothed(x, waves, range)
  check(free.df > 10 and fit.df <= 10, ("%g, %g"):format(free.df, fit.df))
  local doubled = math.log(fit.lambda / free.lambda, 2)
  near(doubled, math.floor(doubled + 0.5), 1e-6)
  check(mr.stats.spline(x, waves, { range = range, lambda = fit.lambda / 2 }).df > 10, "no more than needed")
  near({ fit.x[1]:item(), fit.x[#fit.x]:item() }, range, 1e-9)
  equal(analysis.most_df, 10)  -- the captions say so
  local usual = mr.stats.spline(x, line, { range = range })
  check(usual.df < 10 and usual.df > 1, tostring(usual.df))
  near(analysis.smoothed(x, line, range).lambda, usual.lambda, { rtol = 1e-12 })
end)
