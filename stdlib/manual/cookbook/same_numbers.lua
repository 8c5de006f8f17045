-- How do I get the same numbers again?
-- Set seeds: `mr.seed` for random tensors, and the option `seed` for models, folds and training. CPU results are
-- then the same for every number of threads, for every repetition, and on every processor with AVX2 and FMA.
local mr = require "moonrank"
mr.seed(7)
local first = mr.normal{ 3 }
local second = mr.normal{ 3 }
mr.seed(7)
local again = mr.normal{ 3 }
print("after the same seed: same", (first - again):abs():max():item() == 0)
print("one after the other: same", (first - second):abs():max():item() == 0)
--> after the same seed: same	true
--> one after the other: same	false
