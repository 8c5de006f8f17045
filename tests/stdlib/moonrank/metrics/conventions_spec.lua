-- Tests the line below tables that states the conventions of metrics: fixed gains, short lists, and options that no
-- metric uses.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, check, raises = test.it, test.equal, test.check, test.raises

local scores = mr.tensor{ 1, 2, 3, 3, 1, 2 }
local lists = mr.lists{ { 2, 1, 0 }, { 0, 1, 2 } }

local function line_of(metrics, options) return mr.evaluate(scores, lists, metrics, options):notes()[1] end

it("the line of conventions states a fixed gain, per metric if gains differ", function()
  for _, name in ipairs{ "letor_ndcg@2", "err" } do
    check(line_of{ name }:find("gain exp2;", 1, true), line_of{ name })
  end
  check(line_of{ "wrong_pairs", "rr" }:find("gain none;", 1, true))
  local both = line_of({ "ndcg@2", "letor_ndcg@2" }, { gain = "linear" })
  check(both:find("gain linear (ndcg@2), exp2 (letor_ndcg@2);", 1, true), both)
  local compared = mr.compare{ a = scores, b = mr.ones(6), qrels = lists, metrics = { "ndcg@2", "letor_ndcg@2" } }
  compared = tostring(compared)
  check(compared:find("gain linear (ndcg@2), exp2 (letor_ndcg@2);", 1, true), compared)
  local bounded = line_of{ { "letor_ndcg@2", bound = "minmax" } }
  check(bounded:find("gain exp2;", 1, true), bounded)
end)

it("the line of conventions states that lists shorter than k count as 0", function()
  check(line_of{ "letor_ndcg@2" }:find "lists shorter than k zero$", line_of{ "letor_ndcg@2" })
  check(line_of{ "ndcg@2", "letor_ndcg@2" }:find("lists shorter than k zero (letor_ndcg@2)", 1, true))
  check(not line_of{ "ndcg@2", "rr" }:find "shorter")
end)

it("the line of conventions states the relevant grade only for metrics that use it", function()
  for _, name in ipairs{ "dcg", "ndcg", "err", "letor_ndcg@2" } do
    local plain, other = mr.metrics.parse(name), mr.metrics.parse(name, { relevant = 2 })
    -- the option `relevant` does not change this metric
    equal(plain(scores, lists):totable(), other(scores, lists):totable())
    check(not line_of{ name }:find "relevant", line_of{ name })
  end
  for _, name in ipairs{ "rr", "ap", "wrong_pairs" } do check(line_of{ name }:find "relevant 1", line_of{ name }) end
end)

it("mr.evaluate and mr.compare reject an option that none of the metrics uses", function()
  for _, case in ipairs{ { "gain", "linear", "letor_ndcg@2" }, { "gain", "linear", "rr" }, { "relevant", 2, "ndcg@2" },
    { "denominator", "cutoff", "ndcg@2" } } do
    local option, value, name = table.unpack(case)
    raises(function() mr.evaluate(scores, lists, { name }, { [option] = value }) end, option, tostring(value))
    -- allowed, because another metric uses the option
    check(mr.evaluate(scores, lists, { name, "ap@2", "dcg" }, { [option] = value }).mean.dcg > 0)
    if option ~= "denominator" then
      raises(function()
        mr.compare{ a = scores, b = mr.ones(6), qrels = lists, metrics = { name }, [option] = value }
      end, option)
      raises(function() mr.data.scored(scores, lists):evaluate(lists, { name }, { [option] = value }) end, option)
    end
  end
end)
