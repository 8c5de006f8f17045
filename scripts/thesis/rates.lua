-- Learning rates of Adam by data set, loss and bound (M.movielens.ap.minmax), chosen on validation. `moonrank
-- scripts/thesis/learning_rates.lua --sets movielens` and `... --sets mq2008,citeulike,mslr,clueweb --samples 30000`
-- print this code.
local M = {}

M.movielens = {
  ap = {
    distribution = 0.01, distribution_log = 0.01, distribution_logit = 0.01,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
  ndcg = {
    distribution = 0.01, distribution_log = 0.01, distribution_logit = 0.01,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
  nrbp = {
    distribution = 0.003, distribution_log = 0.003, distribution_logit = 0.01,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
}
M.mq2008 = {
  ap = {
    distribution = 0.01, distribution_log = 0.003, distribution_logit = 0.01,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
  ndcg = {
    distribution = 0.01, distribution_log = 0.01, distribution_logit = 0.01,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
  nrbp = {
    distribution = 0.003, distribution_log = 0.003, distribution_logit = 0.001,
    expectation = 0.003, expectation_max = 0.003, minmax = 0.01, none = 0.003,
  },
}
M.citeulike = {
  ap = {
    distribution = 0.003, distribution_log = 0.003, distribution_logit = 0.003,
    expectation = 0.003, expectation_max = 0.003, minmax = 0.003, none = 0.003,
  },
  ndcg = {
    distribution = 0.03, distribution_log = 0.003, distribution_logit = 0.003,
    expectation = 0.003, expectation_max = 0.003, minmax = 0.003, none = 0.003,
  },
  nrbp = {
    distribution = 0.003, distribution_log = 0.003, distribution_logit = 0.003,
    expectation = 0.003, expectation_max = 0.003, minmax = 0.003, none = 0.003,
  },
}
M.mslr = {
  ap = {
    distribution = 0.01, distribution_log = 0.03, distribution_logit = 0.01,
    expectation = 0.03, expectation_max = 0.003, minmax = 0.003, none = 0.01,
  },
  ndcg = {
    distribution = 0.001, distribution_log = 0.03, distribution_logit = 0.03,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.03,
  },
  nrbp = {
    distribution = 0.001, distribution_log = 0.001, distribution_logit = 0.003,
    expectation = 0.001, expectation_max = 0.001, minmax = 0.001, none = 0.03,
  },
}
M.clueweb = {
  ap = {
    distribution = 0.03, distribution_log = 0.003, distribution_logit = 0.03,
    expectation = 0.03, expectation_max = 0.03, minmax = 0.03, none = 0.03,
  },
  ndcg = {
    distribution = 0.01, distribution_log = 0.03, distribution_logit = 0.03,
    expectation = 0.01, expectation_max = 0.01, minmax = 0.01, none = 0.01,
  },
  nrbp = {
    distribution = 0.03, distribution_log = 0.03, distribution_logit = 0.03,
    expectation = 0.03, expectation_max = 0.03, minmax = 0.03, none = 0.01,
  },
}

return M
