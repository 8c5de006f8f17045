-- How do I compare several systems in one table?
-- `mr.compare` takes runs of `mr.fit` and run files, or scores together with judgments (`qrels`). Letters after a
-- system's mean name the systems that it is significantly better than. In a shell, `moonrank eval QRELS RUN...
-- --compare` makes such a table from run files.
local mr = require "moonrank"
local judged, good, fair, bad = {}, {}, {}, {}
for list = 1, 30 do
  judged[list] = { 1, 0, 0, 0 }
  for row = 1, 4 do
    good[#good + 1], bad[#bad + 1] = -row, row
    fair[#fair + 1] = (list * row * 37) % 11
  end
end
local found = mr.compare{
  good = mr.tensor(good),
  fair = mr.tensor(fair),
  bad = mr.tensor(bad),
  qrels = mr.lists(judged),
  metrics = { "rr" },
  seed = 1,
}
print(found)
-->    system  rr
--> -  ------  --------------------------
--> a  bad     0.2500 [0.2500, 0.2500]
--> b  fair    0.4889 a [0.3944, 0.5917]
--> c  good    1.0000 ab [1.0000, 1.0000]
--> 30 lists; a letter: significantly better than that system (paired permutation test, Holm, p < 0.05)
--> [low, high]: 95 % interval of the mean (bootstrap over lists, percentiles)
--> gain none; ties trec; empty lists zero; cutoff none; relevant 1
