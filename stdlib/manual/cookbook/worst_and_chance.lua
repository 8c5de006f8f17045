-- What does the worst ranking of a list get, and what a random one?
-- Both values depend on the number of rows and on how many rows are relevant. A random ranking of 60 rows can have
-- a high nDCG if most rows are relevant.
local mr = require "moonrank"
print "relevant   worst  random  spread"
for _, p in ipairs{ 2, 20, 50 } do
  local of = mr.bounds.of("ndcg", { n = 60, p = p })
  print(("%8d  %.4f  %.4f  %.4f"):format(p, of.min, of.expectation, of.sd))
end
--> relevant   worst  random  spread
-->        2  0.2072  0.2987  0.1113
-->       20  0.5008  0.6921  0.0677
-->       50  0.7810  0.9444  0.0292
