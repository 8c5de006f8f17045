-- Numbers printed in Westerborg (2022), for scripts that compare theirs with them.
local M = {}

-- Table 5.1, MovieLens half: test nDCG, AP and nRBP(0.95) of the matching loss, by bound, at NSR 1, 2, 3.
M.table_5_1 = {
  ndcg = {
    none = { 0.9659, 0.9466, 0.9294 }, minmax = { 0.9657, 0.9465, 0.9293 }, expectation = { 0.9654, 0.9463, 0.9289 },
    expectation_max = { 0.9662, 0.9475, 0.9309 }, distribution = { 0.8791, 0.8534, 0.8346 },
  },
  ap = {
    none = { 0.8960, 0.8448, 0.8051 }, minmax = { 0.8958, 0.8448, 0.8050 }, expectation = { 0.8960, 0.8450, 0.8044 },
    expectation_max = { 0.8958, 0.8453, 0.8046 }, distribution = { 0.9010, 0.8438, 0.7965 },
  },
  nrbp = {
    none = { 0.9349, 0.9046, 0.8749 }, minmax = { 0.9473, 0.9158, 0.8848 }, expectation = { 0.9471, 0.9154, 0.8854 },
    expectation_max = { 0.9471, 0.9157, 0.8846 }, distribution = { 0.9424, 0.9104, 0.8777 },
  },
}

-- Table 5.1, MQ2008 half: the same for a network of one hidden layer.
M.table_5_1_mq2008 = {
  ndcg = { none = 0.7940, minmax = 0.7932, expectation = 0.7940, expectation_max = 0.7963, distribution = 0.7945 },
  ap = { none = 0.6687, minmax = 0.6705, expectation = 0.6640, expectation_max = 0.6679, distribution = 0.6726 },
  nrbp = { none = 0.7140, minmax = 0.7173, expectation = 0.7181, expectation_max = 0.7181, distribution = 0.7139 },
}

return M
