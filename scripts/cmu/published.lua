-- Numbers printed in Li & Wu, Application of Neural Networks in Ranking (Carnegie Mellon University). Scripts compare
-- their own results with these numbers. Those of Table 1 are in table_1.lua.
local M = {}

-- Table 2: accuracy on pairs of photographs of faces (100 x 100 pixels): which of two faces is older.
M.table_2 = {
  regression = { { "Reg. NN", 0.5785 }, { "Reg. LR-l1", 0.5720 }, { "Reg. RF", 0.5900 }, { "Reg. Boost", 0.5920 } },
  ranking = { { "RankNet", 0.6745 }, { "DirectRanker", 0.6754 }, { "Rank LR", 0.6359 }, { "RankCNN", 0.6483 } },
  classification = { { "Class CNN", 0.3283 }, { "Class LR", 0.3165 }, { "Class RF", 0.3451 },
    { "Class Boost", 0.3412 } },
}

-- Table 3: accuracy on pairs of photographs of faces, from 4096 features of the network VGG16, pretrained on other
-- pictures.
M.table_3 = {
  regression = { { "Reg. NN", 0.5945 }, { "Reg. LR-l1", 0.5752 }, { "Reg. RF", 0.5998 }, { "Reg. Boost", 0.6040 } },
  ranking = { { "RankNet", 0.7006 }, { "DirectRanker", 0.6950 }, { "Rank LR", 0.6962 } },
  classification = { { "Class NN", 0.4320 }, { "Class LR", 0.3488 }, { "Class RF", 0.3538 },
    { "Class Boost", 0.3551 } },
}

-- Section 5: the largest coefficient of determination (R^2) that the paper reports for a regression of ages on
-- faces.
M.best_r2 = 0.28

return M
