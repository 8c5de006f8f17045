"""LambdaMART on made-up queries by XGBoost's or LightGBM's own objective: trees of 64 leaves, histograms of 256 bins,
which are made from the features in each turn.
Usage: boosting.py xgboost|lightgbm queries=1000 rows=120 features=136 trees=10"""
import turns  # noqa: I001 (sets the number of threads first)
import numpy as np

library, o = turns.options()
random = np.random.default_rng(1)
n = o["queries"] * o["rows"]
x = random.standard_normal((n, o["features"]), dtype=np.float32)
grades = np.clip(np.floor(x[:, 0] + random.standard_normal(n) + 1), 0, 4)


def xgboost_work():
    import xgboost
    queries = np.repeat(np.arange(o["queries"]), o["rows"])
    options = {"objective": "rank:ndcg", "tree_method": "hist", "max_depth": 6, "eta": 0.1, "nthread": 1}

    def work():
        xgboost.train(options, xgboost.QuantileDMatrix(x, label=grades, qid=queries, nthread=1), o["trees"])
    return work


def lightgbm_work():
    import lightgbm
    options = {"objective": "lambdarank", "num_leaves": 64, "max_depth": 6, "learning_rate": 0.1, "num_threads": 1,
               "verbosity": -1, "max_bin": 255, "force_col_wise": True}
    queries = [o["rows"]] * o["queries"]

    def work():
        lightgbm.train(options, lightgbm.Dataset(x, grades, group=queries, params=options), o["trees"])
    return work


turns.take({"xgboost": xgboost_work, "lightgbm": lightgbm_work}[library](), warm=False)
