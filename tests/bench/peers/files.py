"""Work on a file that Moonrank reads, too: nDCG, AP and RR of a run and judgments, or LETOR text into a matrix.
Usage: files.py pytrec_eval|ranx|ir_measures|lightgbm|sklearn path=FILE"""
import turns  # noqa: I001 (sets the number of threads first)

library, o = turns.options()
path = o["path"]


def pytrec_eval_work():
    import pytrec_eval

    def work():
        with open(path + ".qrels") as qrels, open(path + ".run") as run:
            judged, ranked = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run)
        pytrec_eval.RelevanceEvaluator(judged, {"ndcg", "map", "recip_rank"}).evaluate(ranked)
    return work


def ranx_work():
    import numba
    import ranx
    numba.set_num_threads(1)

    def work():
        qrels = ranx.Qrels.from_file(path + ".qrels", kind="trec")
        ranx.evaluate(qrels, ranx.Run.from_file(path + ".run", kind="trec"), ["ndcg", "map", "mrr"], threads=1)
    return work


def ir_measures_work():
    import ir_measures

    def work():
        qrels, run = ir_measures.read_trec_qrels(path + ".qrels"), ir_measures.read_trec_run(path + ".run")
        ir_measures.calc_aggregate([ir_measures.nDCG, ir_measures.AP, ir_measures.RR], qrels, run)
    return work


def lightgbm_work():
    import lightgbm
    options = {"num_threads": 1, "verbosity": -1, "header": False}
    return lambda: lightgbm.Dataset(path + ".svm", params=options).construct()


def sklearn_work():
    from sklearn.datasets import load_svmlight_file
    return lambda: load_svmlight_file(path, query_id=True)[0].toarray()


turns.take({"pytrec_eval": pytrec_eval_work, "ranx": ranx_work, "ir_measures": ir_measures_work,
            "lightgbm": lightgbm_work, "sklearn": sklearn_work}[library]())
