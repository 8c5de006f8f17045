-- Numbers published with Li, Urbano & Hanjalic (2021) besides those in published.csv, for comparison with ours. Those
-- of Table 1 are in table_1.lua. Those of published.csv are from the repository roger-zhe-li/sigir21-newinsights at
-- 72741b7: results/citeulike/all_res.csv and lambda_results/citeulike/all_res.csv.
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

return M
