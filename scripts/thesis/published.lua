-- Numbers printed in Westerborg (2022). Scripts compare their own results with these numbers. Those of Table 5.1,
-- MovieLens half, are in table_5_1.lua.
local M = {}

-- Table 5.1, MQ2008 half: test nDCG, AP and nRBP(0.95) after training on the loss of the metric, by bound, for a
-- network with one hidden layer.
M.table_5_1_mq2008 = {
  ndcg = { none = 0.7940, minmax = 0.7932, expectation = 0.7940, expectation_max = 0.7963, distribution = 0.7945 },
  ap = { none = 0.6687, minmax = 0.6705, expectation = 0.6640, expectation_max = 0.6679, distribution = 0.6726 },
  nrbp = { none = 0.7140, minmax = 0.7173, expectation = 0.7181, expectation_max = 0.7181, distribution = 0.7139 },
}

-- Tables 2.2 to 2.4: what the document at each rank adds to DCG, RBP (persistence p = 0.7) and AP, for nine documents,
-- three of them relevant and ranked first (ideal) or last (worst). `sum` is the printed sum. `value` is the printed
-- metric: for RBP the sum times 1 - p, for AP the sum divided by the number of relevant documents.
M.table_2_2 = {
  ideal = { 1.00, 0.63, 0.50, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, sum = 2.13 },
  worst = { 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.33, 0.32, 0.30, sum = 0.95 },
}
M.table_2_3 = {
  ideal = { 1.00, 0.70, 0.49, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00 },
  worst = { 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.12, 0.08, 0.06, sum = 0.26, value = 0.08 },
}
M.table_2_4 = {
  ideal = { 1 / 1, 2 / 2, 3 / 3, 0, 0, 0, 0, 0, 0, sum = 3.00, value = 1.00 },
  worst = { 0, 0, 0, 0, 0, 0, 1 / 7, 2 / 8, 3 / 9, sum = 0.73, value = 0.24 },
}

-- Tables 3.1 to 3.3: DCG, nRBP loss and AP for every order of the rows of X(2,1) and X(3,2), and the mean over orders.
-- X(2,1) is a list of two rows with one relevant, X(3,2) of three rows with two relevant. For DCG, only the formula of
-- the mean is printed.
M.table_3_1 = {
  ["X(2,1)"] = { mean = (1 + math.log(2) / math.log(3)) / 2 },
  ["X(3,2)"] = { mean = 4 / 6 * (1 + math.log(2) / math.log(3) + 1 / 2) },
}
M.table_3_2 = { ["X(2,1)"] = { 0, 1 }, ["X(3,2)"] = { 1, 2, 1, 2, 3, 3 } }
M.table_3_3 = {
  ["X(2,1)"] = { 1 / 1, 1 / 2, mean = 3 / 4 },
  ["X(3,2)"] = { (1 / 1 + 2 / 2) / 2, (1 / 1 + 2 / 2) / 2, (1 / 1 + 2 / 3) / 2, (1 / 1 + 2 / 3) / 2,
    (1 / 2 + 2 / 3) / 2, (1 / 2 + 2 / 3) / 2, mean = 29 / 36 },
}

return M
