-- Is my gradient right?
-- `mr.gradcheck` compares it with central differences in float64 and returns the worst error. A part that is detached has no gradient, which the
-- check finds.
local mr = require "moonrank"
local lists = mr.lists{ { 1, 0, 0, 1 }, { 0, 1, 0 } }
local scores = mr.normal({ 7 }, { seed = 1 })
print("smooth AP:", mr.gradcheck(function(x) return mr.smooth.ap(x, lists) end, scores) < 1e-6)
print("detached:", (pcall(mr.gradcheck, function(x) return (x * x:detach()):sum() end, scores)))
--> smooth AP:	true
--> detached:	false
