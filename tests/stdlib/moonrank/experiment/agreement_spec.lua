-- Agreement of numbers with printed ones. Answers are counted beside each test.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local records = {
  { a = 1.03, ["a, printed"] = 1, b = { 0.5, 0.1, 0.9 }, ["b, printed"] = 0.4 },
  { a = -2.05, ["a, printed"] = -2, b = 7 },
  { a = 3 },
}

it("agreement counts numbers within a share of the printed one, or within a difference", function()
  local function of(o)
    local found = mr.experiment.agreement(records, o)
    return { found.of, found.within, found.tolerance }
  end
  equal(of{ fields = { "a", "b" }, share = 0.031 }, { 3, 2, "3.1 %" })
  equal(of{ fields = { "a" }, share = 0.028 }, { 2, 1, "2.8 %" })
  equal(of{ fields = { "a", "b" }, difference = 0.125 }, { 3, 3, "0.125" })
  equal(of{ fields = { "a" }, difference = 0 }, { 2, 0, "0" })
  equal(mr.experiment.agreement(records, { fields = { "c" }, share = 0.1 }), nil)
  local one = mr.experiment.agreement({ { a = 1.5, ["a, printed"] = 1.25 } }, { fields = { "a" }, difference = 0.25 })
  equal({ one.of, one.within }, { 1, 1 })
end)

it("agreement says the numbers in a sentence", function()
  local text = mr.experiment.agreement(records, { fields = { "a", "b" }, share = 0.031 }).text
  check(text:find "3" and text:find("2 are", 1, true) and text:find("3.1 %", 1, true), text)
end)

it("agreement takes either a share or a difference", function()
  raises(function() mr.experiment.agreement(records, { fields = { "a" } }) end, "share", "difference")
  raises(function() mr.experiment.agreement(records, { fields = { "a" }, share = 0.1, difference = 1 }) end, "share",
    "difference")
  raises(function() mr.experiment.agreement(3, { fields = { "a" }, share = 0.1 }) end, "records", "3")
end)

it("agreement counts a difference at the limit, and refuses what is not a number", function()
  local function of(value, printed, o)
    o.fields = { "a" }
    return mr.experiment.agreement({ { a = value, ["a, printed"] = printed } }, o)
  end
  equal(of(0.305, 0.3, { difference = 0.005 }).within, 1)
  equal(of(0.515, 0.5, { share = 0.03 }).within, 1)
  equal(of(0.516, 0.5, { share = 0.03 }).within, 0)
  raises(function() of("abc", 1, { share = 0.1 }) end, "'a'", "'abc'")
  raises(function() of(1, "0.5*", { share = 0.1 }) end, "'a, printed'", "'0.5*'")
end)
