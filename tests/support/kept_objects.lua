-- Objects of the library that scripts of sweeps often capture. tests/golden/kept_digests.txt has the digests that an
-- earlier version stored of them.
local losses = { "ap", "approx_ndcg", "bce", "bpr", "bsl", "climf", "direct_ranker", "full_softmax", "gbce", "hinge",
  "lambdafm", "lambdarank", "listmle", "listnet", "llpauc", "mse", "ndcg", "ndcg_loss_1", "ndcg_loss_2",
  "ndcg_loss_2pp", "neural_ndcg", "nrbp", "pl_rank", "policy_gradient", "psl", "ranknet", "ranknet_all_pairs", "rr",
  "sampled_softmax", "sl", "soft_precision", "soft_rank", "softmax_cross_entropy", "squared_hinge", "tfmap", "warp" }

return function(mr)
  local objects = {
    adam = mr.optim.adam{ lr = 0.01 },
    sgd = mr.optim.sgd{ lr = 0.1, momentum = 0.9 },
    cosine = mr.schedule.cosine{},
    sum = mr.losses.ndcg{} + 0.1 * mr.losses.mse{},
    ["lambdarank ap minmax"] = mr.losses.lambdarank{ metric = "ap", bound = "minmax", steepness = 2 },
    ["ndcg expectation"] = mr.losses.ndcg{ bound = "expectation", steepness = 3 },
    ["approx_ndcg steepness"] = mr.losses.approx_ndcg{ steepness = 5 },
  }
  for _, name in ipairs(losses) do objects["loss " .. name] = mr.losses[name]{} end
  return objects
end
