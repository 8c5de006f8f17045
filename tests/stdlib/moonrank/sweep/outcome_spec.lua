-- Tests the values that a trial's function may return.
local mr = require "moonrank"
local test = require "moonrank.test"
local it, equal, raises = test.it, test.equal, test.raises

it("outcome.of rejects an evaluation, names evaluation.mean and accepts it", function()
  local outcome = require "moonrank.sweep.outcome"
  local evaluation = mr.evaluate(mr.tensor{ 3, 2, 1 }, mr.lists{ { 0, 1, 0 } }, { "rr" })
  raises(function() outcome.of(evaluation) end, "evaluation.mean")
  equal(outcome.of(evaluation.mean).value, 0.5)
end)
