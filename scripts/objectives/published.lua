-- Numbers printed in Tang, Lupău & Bonfanti (2023), "Neural Learning-to-rank models: a comparison between objective
-- functions" (TU Delft, IN4325), and numbers in the authors' repository (github.com/catalinlup/learning-to-rank).
-- `M.random` has what random orders reach under the authors' definitions of metrics.
local M = {}

-- The metrics whose values the tables below list, in the order of the values. "ndcg+1" is nDCG of labels + 1.
M.metrics = { "ndcg+1", "ndcg+1@2", "ndcg+1@4", "ndcg+1@6", "precision@2", "precision@4", "precision@6", "ap" }

-- Table 1 of the paper, by data set and algorithm; values are in the order of `M.metrics`. Two cells are empty for
-- MSLR-WEB10K, which the paper calls "MLSR10K".
M.table_1 = {
  mq2008 = {
    MseNetBatched = { 0.79, 0.47, 0.56, 0.63, 0.28, 0.26, 0.27, 0.45 },
    RankNet = { 0.85, 0.61, 0.68, 0.74, 0.47, 0.41, 0.37, 0.56 },
    ApproxNDCGBatched = { 0.82, 0.55, 0.63, 0.67, 0.39, 0.36, 0.31, 0.49 },
    ApproxNDCGQbQ = { 0.87, 0.66, 0.72, 0.76, 0.53, 0.46, 0.39, 0.63 },
    NeuralNDCGBatched = { 0.89, 0.74, 0.79, 0.88, 0.60, 0.47, 0.44, 0.74 },
    NeuralNDCGQbQ = { 0.89, 0.74, 0.80, 0.86, 0.62, 0.52, 0.40, 0.75 },
  },
  web10k = {
    MseNetQbQ = { 0.23, 0.14, 0.1, 0.086, 0.44, 0.44, 0.44, 0.44 },
    MseNetBatched = { 0.67, 0.16, 0.18, 0.20, 0.26, 0.302, 0.308, 0.43 },
    ApproxNDCGBatched = { 0.79, 0.43, 0.47, 0.48, 0.78, 0.76, 0.72, 0.61 },
    ApproxNDCGQbQ = { 0.79, 0.45, 0.47, 0.49, 0.77, 0.73, 0.71, 0.63 },
    NeuralNDCGBatched = { 0.79, 0.46, 0.45, 0.46, 0.70, 0.686, 0.654, 0.611 },
  },
}

-- Results in the files evaluation/*.json of the authors' repository at commit 767b70b, by data set and algorithm. Those
-- of MQ2008 are the rows of Table 1; those of MSLR-WEB10K are newer than the paper. `queries` is the number of
-- evaluated queries, inferred from the decimals of P@2.
M.files = {
  mq2008 = {
    MseNetBatched = { 0.7954, 0.4672, 0.5617, 0.6285, 0.2807, 0.2632, 0.2749, 0.4506, queries = 57 },
    RankNet = { 0.8495, 0.6118, 0.6854, 0.7385, 0.4737, 0.4123, 0.3684, 0.5591, queries = 57 },
    ApproxNDCGBatched = { 0.8209, 0.5461, 0.6278, 0.6732, 0.3947, 0.3596, 0.3129, 0.4911, queries = 57 },
    ApproxNDCGQbQ = { 0.8659, 0.6571, 0.7217, 0.7642, 0.5351, 0.4605, 0.3918, 0.6253, queries = 57 },
    NeuralNDCGBatched = { 0.8951, 0.7472, 0.7928, 0.8808, 0.6042, 0.4792, 0.4444, 0.7413, queries = 24 },
    NeuralNDCGQbQ = { 0.8919, 0.7406, 0.8087, 0.8626, 0.6250, 0.5208, 0.4097, 0.7561, queries = 24 },
  },
  web10k = {
    MseNetQbQ = { 0.2038, 0.1332, 0.0945, 0.0792, 0.3776, 0.3776, 0.3776, 0.3776, queries = 98 },
    MseNetBatched = { 0.6334, 0.1153, 0.1357, 0.1519, 0.1020, 0.1403, 0.1514, 0.3364, queries = 98 },
    ApproxNDCGBatched = { 0.8040, 0.5051, 0.5004, 0.5206, 0.7755, 0.7117, 0.7024, 0.5945, queries = 98 },
    ApproxNDCGQbQ = { 0.8033, 0.5146, 0.5126, 0.5181, 0.7704, 0.7423, 0.6922, 0.5901, queries = 98 },
    NeuralNDCGBatched = { 0.7983, 0.4899, 0.4901, 0.4969, 0.7653, 0.6964, 0.6752, 0.5897, queries = 98 },
  },
}

-- Metrics of random orders under the authors' code, over `queries` queries with a relevant document; `rows = 8`: only
-- queries with eight documents. Each query had one random order, so only about two digits are reliable.
M.random = {
  { set = "mq2008", queries = 564, ["ndcg+1"] = 0.7814, ["ndcg+1@2"] = 0.4446, ["ndcg+1@6"] = 0.5955,
    ["precision@2"] = 0.2964, ap = 0.4211, ndcg = 0.5697 },
  { set = "mq2008", rows = 8, queries = 225, ["ndcg+1"] = 0.8005, ["ndcg+1@2"] = 0.5242, ["ndcg+1@6"] = 0.7224,
    ["precision@2"] = 0.3403, ap = 0.5011, ndcg = 0.6290 },
  { set = "mslr", queries = 101, ["ndcg+1"] = 0.6838, ["ndcg+1@2"] = 0.2175, ["ndcg+1@6"] = 0.2628,
    ["precision@2"] = 0.4465, ap = 0.4648, ndcg = 0.5523 },
}

return M
