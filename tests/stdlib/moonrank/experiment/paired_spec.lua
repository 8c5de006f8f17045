-- Tests mr.experiment.paired, which compares pairs of lists of values. Expected results are worked out beside each
-- test.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, near, raises = test.it, test.equal, test.near, test.raises

it("mr.experiment.paired tests mean differences, with Holm's correction over all pairs", function()
  -- Eight users: if all differences have the same sign, p = 2 / 2^8 by enumeration; if only one user differs, p = 1.
  local base, more, one = { 1, 2, 3, 4, 5, 6, 7, 8 }, { 2, 3, 4, 5, 6, 7, 8, 9 }, { 1, 2, 3, 4, 5, 6, 7, 16 }
  local found = mr.experiment.paired{ { more, base }, { one, base }, { base, more } }
  near({ found[1].change, found[2].change, found[3].change }, { 1, 1, -1 }, 1e-12)
  near({ found[1].p, found[2].p, found[3].p }, { 2 / 256, 1, 2 / 256 }, 1e-12)
  near({ found[1].holm, found[2].holm, found[3].holm }, { 3 * 2 / 256, 1, 3 * 2 / 256 }, 1e-12)
  equal({ found[1].low, found[1].high, found[1].n }, { 1.0, 1.0, 8 })
  equal(mr.experiment.paired{}, {})
end)

it("mr.experiment.paired keeps the names of a pair, but not fields that it computes", function()
  local pair = { { 1, 2 }, { 0, 0 }, name = "ap", is_new = false, n = 9 }
  local found = mr.experiment.paired{ pair }[1]
  equal({ found.name, found.is_new, found.n, found[1], pair.n }, { "ap", false, 2, nil, 9 })
end)

it("mr.experiment.paired draws 100,000 choices of signs, and leaves out values that are NaN", function()
  local many, none = {}, {}
  for i = 1, 40 do many[i], none[i] = i, 0 end
  many[41], none[41] = 0 / 0, 1
  local found = mr.experiment.paired{ { many, none } }[1]
  near(found.p, 1 / 100001, { rtol = 1e-9 })
  equal({ found.n, found.change }, { 40, 20.5 })
end)

it("mr.experiment.paired refuses what is not a pair", function()
  raises(function() mr.experiment.paired{ { { 1 }, { 2 } }, { { 1 } } } end, "pairs_of[2]", "1 entry")
  raises(function() mr.experiment.paired(1) end, "pairs_of")
end)
