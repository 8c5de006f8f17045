-- Learning rates of the grid by setting and loss, as chosen on validation: the first lines of what
-- `moonrank scripts/grid/learning_rates.lua` prints.
local M = {}

M.mslr = {
  ap = 0.001, approx_ndcg = 0.003, bce = 0.03, bpr = 0.003, climf = 0.01,
  direct_ranker = 0.001, hinge = 0.003, lambdafm = 0.03, lambdarank = 0.001, listmle = 0.003,
  listnet = 0.003, log_rr = 0.01, mse = 0.01, ndcg = 0.01, ndcg_loss_1 = 0.001,
  ndcg_loss_2 = 0.03, ndcg_loss_2pp = 0.01, neural_ndcg = 0.003, nrbp = 0.003, ordinal = 0.01,
  p_listmle = 0.01, ranknet = 0.003, ranknet_all_pairs = 0.03, rr = 0.03, soft_rank = 0.03,
  softmax_cross_entropy = 0.03, squared_hinge = 0.003, tfmap = 0.001, top_n_rank = 0.01, warp = 0.001,
}

M.mq2008 = {
  ap = 0.003, ["ap distribution"] = 0.001, ["ap distribution_log"] = 0.01, approx_ndcg = 0.01,
  ["approx_ndcg distribution"] = 0.01, ["approx_ndcg distribution_log"] = 0.003, bce = 0.003,
  bpr = 0.001, ["bpr distribution"] = 0.001, ["bpr distribution_log"] = 0.003, climf = 3e-05,
  ["climf distribution"] = 0.01, ["climf distribution_log"] = 0.01, direct_ranker = 0.003,
  ["direct_ranker distribution"] = 0.0001, ["direct_ranker distribution_log"] = 0.0003,
  hinge = 0.003, ["hinge distribution"] = 0.0003, ["hinge distribution_log"] = 0.0001,
  lambdafm = 0.001, ["lambdafm distribution"] = 0.003, ["lambdafm distribution_log"] = 0.01,
  lambdarank = 0.01, ["lambdarank distribution"] = 0.003, ["lambdarank distribution_log"] = 0.003,
  lambdarank_ap = 0.001, ["lambdarank_ap distribution"] = 0.003,
  ["lambdarank_ap distribution_log"] = 0.001, lambdarank_nrbp = 0.001,
  ["lambdarank_nrbp distribution"] = 0.001, ["lambdarank_nrbp distribution_log"] = 0.001,
  lambdarank_precision = 0.01, ["lambdarank_precision distribution"] = 0.003,
  ["lambdarank_precision distribution_log"] = 0.003, lambdarank_rr = 0.003,
  ["lambdarank_rr distribution"] = 0.0003, ["lambdarank_rr distribution_log"] = 0.01,
  listmle = 0.003, ["listmle distribution"] = 0.003, ["listmle distribution_log"] = 0.1,
  listnet = 0.003, ["listnet distribution"] = 0.003, ["listnet distribution_log"] = 0.003,
  log_rr = 0.1, ["log_rr distribution"] = 0.01, ["log_rr distribution_log"] = 0.03, mse = 0.001,
  ndcg = 0.03, ["ndcg distribution"] = 0.01, ["ndcg distribution_log"] = 0.03, ndcg_loss_1 = 0.01,
  ["ndcg_loss_1 distribution"] = 0.001, ["ndcg_loss_1 distribution_log"] = 0.003,
  ndcg_loss_2 = 0.01, ["ndcg_loss_2 distribution"] = 0.001,
  ["ndcg_loss_2 distribution_log"] = 0.001, ndcg_loss_2pp = 0.003,
  ["ndcg_loss_2pp distribution"] = 0.0003, ["ndcg_loss_2pp distribution_log"] = 0.001,
  neural_ndcg = 0.0003, ["neural_ndcg distribution"] = 0.0003,
  ["neural_ndcg distribution_log"] = 0.001, nrbp = 0.03, ["nrbp distribution"] = 0.003,
  ["nrbp distribution_log"] = 0.003, ordinal = 0.001, p_listmle = 0.01,
  ["p_listmle distribution"] = 0.01, ["p_listmle distribution_log"] = 0.003, ranknet = 0.1,
  ["ranknet distribution"] = 0.0003, ["ranknet distribution_log"] = 0.01,
  ranknet_all_pairs = 0.0003, ["ranknet_all_pairs distribution"] = 0.01,
  ["ranknet_all_pairs distribution_log"] = 0.01, ranknet_upsampled = 0.01,
  ["ranknet_upsampled distribution"] = 0.003, ["ranknet_upsampled distribution_log"] = 0.003,
  rr = 0.03, ["rr distribution"] = 0.03, ["rr distribution_log"] = 0.01, soft_rank = 0.01,
  ["soft_rank distribution"] = 0.01, ["soft_rank distribution_log"] = 0.001,
  softmax_cross_entropy = 0.001, ["softmax_cross_entropy distribution"] = 0.003,
  ["softmax_cross_entropy distribution_log"] = 0.003, squared_hinge = 0.003, tfmap = 0.0003,
  ["tfmap distribution"] = 0.0001, ["tfmap distribution_log"] = 0.003, top_n_rank = 0.03,
  ["top_n_rank distribution"] = 0.1, ["top_n_rank distribution_log"] = 0.03, warp = 0.001,
  ["warp distribution"] = 0.0003, ["warp distribution_log"] = 0.003,
}

M.movielens = {
  ap = 0.01, approx_ndcg = 0.003, bce = 0.01, bpr = 0.01, climf = 0.003,
  direct_ranker = 0.01, hinge = 0.01, lambdafm = 0.01, lambdarank = 0.01, listmle = 0.003,
  listnet = 0.003, log_rr = 0.0003, mse = 0.01, ndcg = 0.01, ndcg_loss_1 = 0.003,
  ndcg_loss_2 = 0.01, ndcg_loss_2pp = 0.01, neural_ndcg = 0.003, nrbp = 0.01, ordinal = 0.003,
  p_listmle = 0.01, ranknet = 0.01, ranknet_all_pairs = 0.01, rr = 1, softmax_cross_entropy = 0.01,
  squared_hinge = 0.01, tfmap = 0.03, top_n_rank = 0.003, warp = 0.01,
}

M.citeulike = {
  ap = 0.003, approx_ndcg = 0.003, bce = 0.003, bpr = 0.003, climf = 0.003,
  direct_ranker = 0.003, hinge = 0.003, lambdafm = 0.003, lambdarank = 0.003, listmle = 0.003,
  listnet = 0.01, log_rr = 0.001, mse = 0.003, ndcg = 0.003, ndcg_loss_1 = 0.03,
  ndcg_loss_2 = 0.003, ndcg_loss_2pp = 0.003, neural_ndcg = 0.001, nrbp = 0.003, ordinal = 0.003,
  p_listmle = 0.03, ranknet = 0.003, ranknet_all_pairs = 0.003, rr = 0.1, softmax_cross_entropy = 0.003,
  squared_hinge = 0.003, tfmap = 0.01, top_n_rank = 0.003, warp = 0.003,
}

M.trees = {
  ap = 0.3, approx_ndcg = 0.03, bce = 0.1, bpr = 0.03, climf = 0.003,
  direct_ranker = 0.01, hinge = 0.1, lambdafm = 0.3, lambdarank = 0.1, listmle = 0.1,
  listnet = 0.003, log_rr = 0.03, mse = 0.3, ndcg = 0.3, ndcg_loss_1 = 0.3,
  ndcg_loss_2 = 0.1, ndcg_loss_2pp = 0.03, neural_ndcg = 0.03, nrbp = 0.3, ordinal = 0.3,
  p_listmle = 0.1, ranknet = 0.03, ranknet_all_pairs = 0.03, rr = 0.03, soft_rank = 0.3,
  softmax_cross_entropy = 0.1, squared_hinge = 0.1, tfmap = 0.1, top_n_rank = 1, warp = 0.1,
}

return M
