-- Numbers published with Li, Urbano & Hanjalic (2021) besides those in published.csv, for comparison with ours.
local M = {}

-- Published test nDCG of CiteULike-a's fold 0 at NSR 1, by loss and number of factors, from the repository
-- roger-zhe-li/sigir21-newinsights at 72741b7. `rate` has, by loss, the learning rate that was tried with every number
-- of factors.
M.factors = {
  rate = { ndcg = 0.5, ap = 0.5, rr = 0.5, nrbp = 0.1 },
  ndcg = { [8] = 0.9273, [16] = 0.9377, [32] = 0.9427, [64] = 0.9460, [128] = 0.9482 },
  ap = { [8] = 0.9237, [16] = 0.9255, [32] = 0.9273, [64] = 0.9340, [128] = 0.9418 },
  rr = { [8] = 0.7898, [16] = 0.7914, [32] = 0.7945, [64] = 0.7940, [128] = 0.7892 },
  nrbp = { [8] = 0.9519, [16] = 0.9607, [32] = 0.9658, [64] = 0.9686, [128] = 0.9705 },
}

-- Table 1 of the paper: statistics of the data sets. The density is the number of ratings divided by users times
-- items.
M.table_1 = {
  { title = "CiteULike-a", set = "citeulike", users = 2465, items = 16702, ratings = 157527, density = 0.00383 },
  { title = "Epinions", users = 4690, items = 32592, ratings = 325154, density = 0.00213 },
  { title = "Sports & Outdoors", users = 9123, items = 119404, ratings = 342311, density = 0.00031 },
  { title = "Home & Kitchen", users = 20531, items = 222472, ratings = 795845, density = 0.00017 },
}

return M
