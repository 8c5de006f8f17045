-- Paired tests against values from tables of Student's distribution.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, near, equal = test.it, test.near, test.equal

it("paired t of Student's sleep data", function()
  -- Student 1908: extra sleep under two drugs; t = -4.0621, p = 0.002833 as published everywhere
  local a = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0 }
  local b = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 }
  local result = mr.stats.paired_t(a, b)
  near(result.t, -4.0621, { atol = 5e-5 })
  near(result.p, 0.002833, { atol = 5e-7 })
  equal({ result.df, result.n, result.skipped }, { 9.0, 10, 0 })
  near(result.mean_difference, -1.58, 1e-12)
end)

it("leaves out NaN, pair by pair", function()
  local result = mr.stats.paired_t({ 1, 0 / 0, 3, 5 }, { 0, 1, 0 / 0, 3 })
  equal({ result.n, result.skipped }, { 2, 2 })
  near(result.mean_difference, 1.5)
end)

it("summaries", function()
  local s = mr.stats.summary{ 2, 4, 4, 4, 5, 5, 7, 9, 0 / 0 }
  near(s.mean, 5)
  near(s.sd, math.sqrt(32 / 7), 1e-12)
  equal({ s.n, s.skipped }, { 8, 1 })
end)
