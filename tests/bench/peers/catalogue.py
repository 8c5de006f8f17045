"""The first items of every user among the full catalogue, and metrics of them, by PyTorch, FAISS or recometrics.
Usage: catalogue.py torch|faiss|recometrics users=10000 items=40000 factors=32 k=100 train=30 test=10 [metrics=yes]"""
import turns  # noqa: I001 (sets the number of threads first)
import numpy as np

library, o = turns.options()
users, items, k = o["users"], o["items"], o["k"]
random = np.random.default_rng(1)
p = random.uniform(-0.01, 0.01, (users, o["factors"])).astype(np.float32)
q = random.uniform(-0.01, 0.01, (items, o["factors"])).astype(np.float32)


def torch_work():
    import torch
    torch.set_num_threads(1)
    left, right, block = torch.from_numpy(p), torch.from_numpy(q).T.contiguous(), max(1, (1 << 20) // items)

    def work():
        with torch.no_grad():
            for at in range(0, users, block):
                torch.topk(left[at:at + block] @ right, k)
    return work


def faiss_work():
    import faiss
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(o["factors"])
    index.add(q)
    return lambda: index.search(p, k)


def recometrics_work():
    import recometrics
    import scipy.sparse

    def part(each):
        rows, columns = np.repeat(np.arange(users), each), random.integers(0, items, users * each)
        ones = np.ones(users * each, np.float32)
        matrix = scipy.sparse.csr_matrix((ones, (rows, columns)), shape=(users, items))
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix

    known, wanted, metrics = part(o["train"]), part(o["test"]), "metrics" in o
    left_out = ("trunc_precision", "trunc_average_precision", "hit", "rr", "roc_auc", "pr_auc")
    return lambda: recometrics.calc_reco_metrics(
        known, wanted, p, q, k=k, nthreads=1, all_metrics=False, precision=not metrics, recall=metrics,
        average_precision=metrics, ndcg=metrics, **dict.fromkeys(left_out, False))


turns.take({"torch": torch_work, "faiss": faiss_work, "recometrics": recometrics_work}[library]())
