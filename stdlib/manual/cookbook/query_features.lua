-- How do I rank documents by features?
-- Each line of a LETOR, SVMlight or RankLib file has a grade, a query and features. Standardise all parts with the
-- means and deviations of the training part, then train a network.
local mr = require "moonrank"
local lines, seed = {}, 1
for query = 1, 30 do
  for _ = 1, 8 do
    seed = seed * 48271 % 2147483647
    local grade = seed % 3
    lines[#lines + 1] = ("%d qid:%d 1:%d 2:%.3f"):format(grade, query, 100 * grade + seed % 150, seed / 2147483647)
  end
end
do
  local file <close> = assert(io.open("queries.txt", "w"))
  file:write(table.concat(lines, "\n"), "\n")
end
local all = mr.data.letor "queries.txt"
local train, test = all:split{ share = 0.3, seed = 1 }
local scaling = train:scaling()
local model = mr.models.mlp{ inputs = 2, hidden = { 8 }, seed = 1 }
local run = mr.fit{ model = model, loss = mr.losses.ndcg{}, train = train:standardize(scaling),
  test = test:standardize(scaling), epochs = 20, optimizer = mr.optim.adam{ lr = 0.01 },
  metrics = { "ndcg" }, progress = false }
print(train.count, test.count, run.test.mean.ndcg > 0.8)
--> 21	9	true
