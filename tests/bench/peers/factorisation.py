"""Epochs of matrix factorisation of made-up interactions: squared error by LIBMF, BPR by implicit.
Usage: factorisation.py libmf|implicit users=6040 items=3706 each=165 factors=32 epochs=5"""
import turns  # noqa: I001 (sets the number of threads first)
import numpy as np

library, o = turns.options()
random = np.random.default_rng(1)
user = np.repeat(np.arange(o["users"]), o["each"])
item = random.integers(0, o["items"], len(user))


def libmf_work():
    from libmf import mf
    grades = random.integers(1, 6, len(user))
    rows = np.column_stack([user, item, grades]).astype(np.float32)
    return lambda: mf.MF(k=o["factors"], nr_iters=o["epochs"], nr_threads=1, eta=0.05, quiet=True).fit(rows)


def implicit_work():
    import scipy.sparse
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    matrix = scipy.sparse.csr_matrix((np.ones(len(user), np.float32), (user, item)), (o["users"], o["items"]))
    return lambda: BayesianPersonalizedRanking(factors=o["factors"], iterations=o["epochs"], num_threads=1,
                                               learning_rate=0.05).fit(matrix, show_progress=False)


turns.take({"libmf": libmf_work, "implicit": implicit_work}[library]())
