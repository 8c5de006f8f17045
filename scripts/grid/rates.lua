-- Learning rates of the grid by setting and loss, as chosen on validation: the first lines of what
-- `moonrank scripts/grid/learning_rates.lua` prints.
local M = {}

M.mq2008 = {
  ap = 0.003, approx_ndcg = 0.01, bce = 0.003, bpr = 0.001, climf = 3e-05,
  direct_ranker = 0.003, hinge = 0.003, lambdafm = 0.001, lambdarank = 0.01, listmle = 0.003,
  listnet = 0.003, log_rr = 0.01, mse = 0.001, ndcg = 0.03, ndcg_loss_1 = 0.01,
  ndcg_loss_2 = 0.01, ndcg_loss_2pp = 0.003, neural_ndcg = 0.001, nrbp = 0.03, ordinal = 0.001,
  p_listmle = 0.01, ranknet = 0.1, ranknet_all_pairs = 0.0003, rr = 0.01, soft_rank = 0.01,
  softmax_cross_entropy = 0.001, squared_hinge = 0.003, tfmap = 0.0003, top_n_rank = 0.03, warp = 0.001,
}

return M
