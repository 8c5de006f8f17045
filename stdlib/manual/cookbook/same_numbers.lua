-- How do I get the same numbers again?
-- Say a seed: `mr.seed` for what has none of its own, `seed` for models, folds and training. On the CPU results then do not depend on the processor
-- (of those with AVX2 and FMA), on threads, or on how often the script has run.
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
