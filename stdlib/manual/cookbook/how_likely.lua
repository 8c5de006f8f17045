-- How likely is a random ranking to be better than mine?
-- `mr.bounds.distribution` computes the exact distribution of a metric over all rankings of a list with n rows, p
-- of them relevant. Its `cdf(x)` is the probability that a random ranking has a value of at most x.
local mr = require "moonrank"
local random = mr.bounds.distribution("ndcg", { n = 60, p = 20 })
for _, value in ipairs{ 0.5, 0.6, 0.7, 0.8 } do
  print(("nDCG %.1f: better by chance with probability %.4f"):format(value, 1 - random:cdf(value)))
end
--> nDCG 0.5: better by chance with probability 1.0000
--> nDCG 0.6: better by chance with probability 0.9314
--> nDCG 0.7: better by chance with probability 0.4250
--> nDCG 0.8: better by chance with probability 0.0721
