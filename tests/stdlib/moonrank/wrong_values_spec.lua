-- Values of other kinds than a function takes: one error of ours each, as found by random calls (tests/caller).
local mr = require "moonrank"
local test = require "moonrank.test"
local it, raises = test.it, test.raises

it("schedules", function()
  local schedule = mr.schedule.step{ every = 1, factor = 0.5 }
  raises(function() schedule:rates(8) end, "plan is a nil, expected {steps = ..., per_epoch = ...}")
  raises(function() schedule:rates("x", { steps = 1, per_epoch = 1 }) end, "lr is x, expected a finite number")
  raises(function() schedule:rates(8, { steps = 1, per_epoch = 0 }) end, "per_epoch is 0, expected an integer of at least 1")
end)

it("mr.arange, mr.table, batch_norm", function()
  raises(function() mr.arange({}, 4) end, "first is table")
  raises(function() mr.arange(1, 4, { step = 1 }):batch_norm(print) end, "expected {rows, channels}")
  raises(function() mr.ones(2, 1):batch_norm(print, mr.zeros(1)) end, "gain is a function, expected a tensor")
  raises(function() mr.table{ columns = { 1, "b" }, rows = {} } end, "column 1 is called by a number, expected a text")
end)

it("made-up data", function()
  raises(function() mr.data.synthetic(4) end, "mr.data.synthetic: options is a number, expected a table")
end)

it("metrics, losses, models", function()
  raises(function() mr.metrics.parse("ap"):better(0.5, print) end, "a value is a function, expected a number")
  raises(function() mr.losses.ordinal{}(nil, mr.lists{ { 1 } }) end, "found a nil for scores")
  raises(function() mr.models.linear{ inputs = 2 }("x") end, "found a string")
  raises(function() mr.models.linear{ inputs = 2 }{ lists = mr.lists{ { 1 } } } end, "scores features (mlp), but the batch has none")
  raises(function() mr.models.cnn{ height = 8, width = 8, kernel = 3, filters = { 2 } }{ lists = mr.lists{ { 1 } } } end,
    "the network scores features (cnn), but the batch has none")
end)
