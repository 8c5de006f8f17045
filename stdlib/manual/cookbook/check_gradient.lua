-- Is my gradient right?
-- `mr.gradcheck` compares the gradient of a function with central differences in float64 and returns the largest
-- error. It also finds an operation that was detached by mistake and therefore has no gradient.
local mr = require "moonrank"
local lists = mr.lists{ { 1, 0, 0, 1 }, { 0, 1, 0 } }
local scores = mr.normal({ 7 }, { seed = 1 })
print("smooth AP:", mr.gradcheck(function(x) return mr.smooth.ap(x, lists) end, scores) < 1e-6)
print("detached:", (pcall(mr.gradcheck, function(x) return (x * x:detach()):sum() end, scores)))
--> smooth AP:	true
--> detached:	false
