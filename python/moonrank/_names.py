"""Names of losses, metrics and bounds as types. Written by generate_names.py."""

from typing import Literal

Loss = Literal[
    "ap", "approx_ndcg", "bce", "bpr", "bsl", "bsl_per_positive", "climf", "direct_ranker", "full_softmax", "gbce",
    "hinge", "lambdafm", "lambdarank", "listmle", "listnet", "llpauc", "llpauc_as_coded", "log_rr", "mse", "ndcg",
    "ndcg_loss_1", "ndcg_loss_2", "ndcg_loss_2pp", "neural_ndcg", "nrbp", "ordinal", "p_listmle", "projected_ndcg",
    "psl", "ranknet", "ranknet_all_pairs", "rr", "sampled_softmax", "sl", "sl_at_k", "soft_hit", "soft_precision",
    "soft_rank", "soft_recall", "soft_top_k", "softmax_cross_entropy", "squared_hinge", "tfmap", "top_n_rank", "warp",
]

MetricName = Literal[
    "ap", "auc", "bpref", "dcg", "err", "f1", "hit", "letor_ndcg", "ndcg", "nrbp", "nrbp_loss", "precision",
    "r_precision", "rbp", "recall", "rr", "tbg", "wrong_pairs",
]

Bound = Literal[
    "distribution", "distribution_log", "distribution_logit", "expectation", "expectation_max", "minmax", "none",
    "zscore",
]
