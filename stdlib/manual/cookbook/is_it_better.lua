-- Is one system really better than another?
-- Both systems rank the same lists, so the test is paired by list. The permutation test assumes nothing about the
-- distribution of differences. Holm's correction adjusts p-values when you compare several pairs of systems.
local mr = require "moonrank"
local ours, theirs = {}, {}
for i = 1, 40 do
  theirs[i] = 0.5 + 0.3 * math.sin(i)
  ours[i] = theirs[i] + 0.02 + 0.05 * math.cos(7 * i)
end
local test = mr.stats.permutation(mr.tensor(ours), mr.tensor(theirs), { seed = 1 })
print(("mean difference %.4f, p = %.3f"):format(test.mean_difference, test.p))
for _, p in ipairs(mr.stats.holm{ 0.01, 0.03, 0.2 }) do print(("%.2f"):format(p)) end
--> mean difference 0.0182, p = 0.002
--> 0.03
--> 0.06
--> 0.20
