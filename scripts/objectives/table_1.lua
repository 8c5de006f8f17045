-- Table 1 of Tang et al. (2023): with which objective does one network rank best? MseNet, RankNet, ApproxNDCG and
-- NeuralNDCG are trained in batches of queries and query by query, and judged by nDCG, precision and average precision.

-- Data: MQ2008 (five folds) and the MSLR slice (one fold), or MSLR-WEB10K if available (--sets mq2008,web10k). Model:
-- one hidden layer of five units, ReLU; Adam. Protocol: every algorithm has the test queries of the official folds (the
-- paper splits off a random tenth of all queries). Validation chooses the epoch. Results are at the learning rate of
-- the paper and at the best rate on validation, beside the printed numbers (published.csv). differences.lua has tests.
local mr = require "moonrank"
local here = arg[0]:match("^(.*/)") or "./"
local training = dofile(here .. "training.lua")
local protocol = training.protocol

local args = training.args{
  sets = { default = { "mq2008", "mslr" }, choices = protocol.set_names, distinct = true, help = "which data" } }
local sets, tables = {}, {}
for i, name in ipairs(args.sets) do sets[i] = training.set(args, name) end

for i, set in ipairs(sets) do
  local results, random, rows = training.of(args, set), training.random(set), {}
  for _, algorithm in ipairs(protocol.names) do
    training.add_algorithm(rows, set, results, algorithm)
    if not args.smoke then training.add_published(rows, set, algorithm) end
  end
  training.add(rows, "random order", "mean over all orders", 0, function(name) return random[name]:totable() end)
  tables[i] = training.table(set.title .. protocol.caption, rows, "bootstrap over queries")
end

return mr.experiment.finish(args, nil, [[
Every algorithm is evaluated on the test queries of the official folds, where the paper splits off a tenth of all
queries at random. RankNet is trained query by query, where the paper has batches of 64 (section 4.2.1). Networks are
trained at four learning rates (0.0001 to 0.1). Validation chooses their epoch, and the rate in the lines "rate
chosen", by nDCG with the gain 2^y - 1; the lines "rate of the text" have the learning rate of section 4.2. Of equal
scores the mean over their orders counts. Queries without relevant documents have no metric and are left out.]],
  table.unpack(tables))
