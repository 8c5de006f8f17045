"""Names of losses, metrics and bounds, and options, as types. Written by generate_names.py."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, overload

from numpy.typing import ArrayLike

Reduction = Literal["mean", "sum", "none"]

Loss = Literal[
    "ap", "approx_ndcg", "bce", "bpr", "bsl", "bsl_per_positive", "climf", "direct_ranker", "full_softmax", "gbce",
    "hinge", "lambdafm", "lambdarank", "listmle", "listnet", "llpauc", "llpauc_as_coded", "log_rr", "mse", "ndcg",
    "ndcg_loss_1", "ndcg_loss_2", "ndcg_loss_2pp", "neural_ndcg", "nrbp", "ordinal", "p_listmle", "pl_rank",
    "policy_gradient", "projected_ndcg", "psl", "ranknet", "ranknet_all_pairs", "rr", "sampled_softmax", "sl",
    "sl_at_k", "soft_hit", "soft_precision", "soft_rank", "soft_recall", "soft_top_k", "softmax_cross_entropy",
    "softsort_ndcg", "squared_hinge", "tfmap", "top_n_rank", "warp",
]

MetricName = Literal[
    "ap", "auc", "bpref", "dcg", "err", "f1", "hit", "letor_ndcg", "ndcg", "nrbp", "nrbp_loss", "precision",
    "r_precision", "rbp", "recall", "rr", "tbg", "wrong_pairs",
]

Bound = Literal[
    "distribution", "distribution_log", "distribution_logit", "expectation", "expectation_max", "minmax", "none",
    "zscore",
]

Ties = Literal["mean", "stable", "worst"]

Empty = Literal["skip", "zero", "one", "nan"]

Gain = Literal["exp2", "linear", "exp2_plus_one"]

Denominator = Literal["relevant", "cutoff"]


class Conventions(TypedDict, total=False):
    """Options of moonrank.evaluate that decide the value of a metric."""

    ties: Ties | None
    """order of tied rows: mean takes the mean over all orders; stable puts the lower row number first, worst the
    less relevant row, trec the larger document id (default "mean")"""

    empty: Empty | None
    """value of a list without relevant rows; skip leaves it out of means (default "skip"; of letor_ndcg "zero")"""

    relevant: float | None
    """smallest grade of a relevant row (default 1)"""

    gain: Gain | None
    """gain of a grade y in dcg and ndcg: 2^y - 1, y, or 2^(y + 1) - 1 (default "exp2")"""

    denominator: Denominator | None
    """divisor of ap: P, the number of relevant rows, or min(P, k) (default "relevant")"""


class TorchLoss:
    """Arguments of moonrank.torch.Loss."""

    @overload
    def __init__(self, name: Literal["ap"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 kernel: Literal["logistic", "laplace"] = "logistic", steepness: float = 1.0) -> None:
        """The smooth AP loss: negative smooth AP (Westerborg 2022, Eq. 2.11), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["approx_ndcg"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, steepness: float = 10.0) -> None:
        """The ApproxNDCG loss (Qin, Liu & Li 2010).

        steepness: factor inside the sigmoid, called alpha in the paper (from 1e-15 to 1e+15; default 10; formerly
                   alpha)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["bce"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, relevant: float = 1.0,
                 metric: MetricName | str = "ndcg") -> None:
        """The binary cross entropy loss of logistic regression (Cox 1958).

        relevant: smallest grade of a relevant row (above 0; default 1)
        bound:    affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:   metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["bpr"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, draws: int = 1,
                 metric: MetricName | str | None = None, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The BPR loss (Rendle et al. 2009, section 4.1, criterion BPR-Opt, negated): a sum over relevant rows i,
        for scores s.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        draws:    pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:   metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered pairs)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `regularize` of mr.losses.bpr is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["bsl"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, tau1: float = 1.0, tau2: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The bilateral softmax loss BSL (Wu et al. 2024, arXiv 2312.12882): the logarithm of a mean over the
        irrelevant rows j of a list minus that of a mean over its relevant rows i.

        tau1:     temperature of the relevant rows (from 1e-15 to 1e+15; default 1)
        tau2:     temperature of the other rows (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["bsl_per_positive"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, tau1: float = 1.0, tau2: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """BSL as the code of Yang et al. (2025) has it: for one relevant row at a time, so that its exponential and
        logarithm cancel, and as a mean over the P relevant rows.

        tau1:     temperature of the relevant rows (from 1e-15 to 1e+15; default 1)
        tau2:     temperature of the other rows (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["climf"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The CLiMF loss (Shi et al. 2012): the paper's objective without its regularizer, negated.

        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["direct_ranker"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, steepness: float = 1.0,
                 metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The DirectRanker loss, as in Li & Wu's comparison of networks for ranking (section 4.1).

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["full_softmax"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 over: Literal["list", "catalogue"] = "list", tau: float = 1.0, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax cross entropy of each relevant row among all rows of its list, which the sampled softmax
        (Jean et al. 2015) approximates: the mean over the P relevant rows i, for scores f.

        over:     rows of the sum: those of the list, or all items of the model's catalogue, which mr.fit scores
                  in blocks (default "list")
        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["gbce"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, catalogue: int | None = None,
                 t: float = 0.75, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The generalised binary cross entropy gBCE (Petrov & Macdonald 2023) for sampled negatives.

        catalogue: number of items from which the other rows were drawn, the relevant item included (from 2 to
                   1000000000000; default the rows of the list; of interactions, mr.fit's catalogue)
        t:         calibration: 0 is the binary cross entropy, 1 corrects fully for the sampling (from 0 to 1;
                   default 0.75)
        metric:    metric whose bounds are used (default "ap")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["hinge"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, margin: float = 1.0,
                 metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The pairwise hinge loss (RankSVM; Herbrich, Graepel & Obermayer 2000, Joachims 2002): a sum over pairs of
        rows with scores s and unequal grades y.

        margin:   smallest difference s_i - s_j that costs nothing, for y_i > y_j (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                  row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["lambdafm"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, candidates: int = 10,
                 rho: float = 0.3, draws: int = 1, metric: MetricName | str | None = None, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The LambdaFM loss (Yuan et al. 2016): BPR with dynamic sampling, which chooses row j by its score.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        candidates: rows drawn for each relevant row, of which one is chosen (from 1 to 128; default 10)
        rho:        spread of the choice among candidates: small values choose the highest score, 1e6 chooses
                    uniformly (above 0 and at most 1000000; default 0.3)
        draws:      pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:     metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered
                    pairs)
        relevant:   smallest grade of a relevant row (above 0; default 1)
        slope_at:   point at which a bound that is not affine has its slope: the metric's exact value for the
                    current scores (without a gradient through it), or the metric's mean over random rankings
                    (default "value")
        bound:      bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                    multiplied by its slope (default "none")

        The option `regularize` of mr.losses.lambdafm is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["lambdarank"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 p: float | None = None, pair: Literal["logistic", "sigmoid"] = "logistic", steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The LambdaRank loss (Burges 2010; for AP, RR and nRBP Li, Urbano & Hanjalic 2021, Eqs. 8 to 10).

        metric:    metric whose change weighs each pair: any with `swaps`, such as "ndcg@10", "ap", "err",
                   "nrbp(0.9)", or a metric declared by gain and discount (mr.metrics.define) (default "ndcg")
        p:         p of nrbp and rbp, if the metric's name does not contain it (above 0 and below 1; default 0.95)
        pair:      cost of a pair: log(1 + exp(-steepness (s_i - s_j))), or sigma(steepness (s_j - s_i)), a smooth
                   count of wrongly ordered pairs (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["listmle"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The ListMLE loss (Xia et al. 2008), one value per list: the negative log likelihood of the order by grade
        under the Plackett-Luce model.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["listnet"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The ListNet loss (Cao et al. 2007) in its top-one form, one value per list, for grades y and scores f.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["llpauc"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, alpha: float = 0.7,
                 beta: float = 0.1, kappa: float = 5.0, a: float = 1.0, b: float = 0.0, s_plus: float = 0.5,
                 s_minus: float = 0.5, gamma: float = 0.0, learn: bool = True, ascent: bool | None = None,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The loss of the lower-left partial AUC, LLPAUC (Shi et al. 2024, arXiv 2403.00844, with w = 0): one value
        per list.

        alpha:    largest rate of true positives that counts (from 1e-15 to 1; default 0.7)
        beta:     largest rate of false positives that counts (from 1e-15 to 1; default 0.1)
        kappa:    steepness of the softplus that stands for max(0, x) (from 1e-15 to 1e+15; default 5)
        a:        first value of the parameter a (from 0 to 1; default 1)
        b:        first value of the parameter b (from 0 to 1; default 0)
        s_plus:   first value of the parameter p, or s+ (from -1 to 4; default 0.5)
        s_minus:  first value of the parameter m, or s- (from 0 to 5; default 0.5)
        gamma:    first value of the parameter gamma (from -1 to 1; default 0)
        learn:    whether training updates the parameters together with the model's (default true)
        ascent:   whether training maximizes over p and gamma, as in the paper (default true for llpauc, false for
                  llpauc_as_coded)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        `parameters()` has the parameters of the loss for an optimizer, and `learned` is their tensor.
        """

    @overload
    def __init__(self, name: Literal["llpauc_as_coded"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, theta_a: float = 0.5,
                 theta_b: float = 0.5, alpha: float = 0.7, beta: float = 0.1, kappa: float = 5.0, a: float = 1.0,
                 b: float = 0.0, s_plus: float = 0.5, s_minus: float = 0.5, gamma: float = 0.0, learn: bool = True,
                 ascent: bool | None = None, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """LLPAUC as the code of Shi et al. (2024) and of Yang et al. (2025) has it, one value per list.

        theta_a:  first value of the factor of a + gamma (default 0.5)
        theta_b:  first value of the factor of gamma + 1 - b (default 0.5)
        alpha:    largest rate of true positives that counts (from 1e-15 to 1; default 0.7)
        beta:     largest rate of false positives that counts (from 1e-15 to 1; default 0.1)
        kappa:    steepness of the softplus that stands for max(0, x) (from 1e-15 to 1e+15; default 5)
        a:        first value of the parameter a (from 0 to 1; default 1)
        b:        first value of the parameter b (from 0 to 1; default 0)
        s_plus:   first value of the parameter p, or s+ (from -1 to 4; default 0.5)
        s_minus:  first value of the parameter m, or s- (from 0 to 5; default 0.5)
        gamma:    first value of the parameter gamma (from -1 to 1; default 0)
        learn:    whether training updates the parameters together with the model's (default true)
        ascent:   whether training maximizes over p and gamma, as in the paper (default true for llpauc, false for
                  llpauc_as_coded)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        `parameters()` has the parameters of the loss for an optimizer, and `learned` is their tensor.
        """

    @overload
    def __init__(self, name: Literal["log_rr"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 kernel: Literal["logistic", "laplace"] = "logistic", steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The log RR loss, one value per list: the negative logarithm of smooth RR (mr.smooth.log_rr; Li et al.
        2021, Eq. 16).

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["mse"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 metric: MetricName | str = "ndcg") -> None:
        """The mean squared error loss, regression on grades (Cossock & Zhang 2006): a mean over a list's N rows,
        for scores f and grades y.

        bound:  affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric: metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["ndcg"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 kernel: Literal["logistic", "laplace"] = "logistic", steepness: float = 1.0) -> None:
        """The smooth nDCG loss: negative smooth nDCG (Westerborg 2022, Eq. 2.10), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_1"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss1 of LambdaLoss (Wang et al. 2018), a sum over ordered pairs of rows with scores s.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_2"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss2 of LambdaLoss (Wang et al. 2018), a sum over pairs of rows with unequal grades y.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_2pp"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, mu: float = 10.0,
                 steepness: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss2++ of LambdaLoss (Wang et al. 2018): the sum over the pairs of mr.losses.ndcg_loss_2, with
        another weight.

        mu:        factor of NDCG-Loss2 in NDCG-Loss2++ (from 1e-15 to 1e+15; default 10)
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["neural_ndcg"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, tau: float = 1.0,
                 iterations: int = 50, tolerance: float = 1e-06,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The NeuralNDCG loss (Pobrotyn & Bialobrzeski 2021), one value per list: negative nDCG of the relaxed
        permutation matrix of NeuralSort (Grover et al. 2019).

        tau:        temperature of the softmax (from 1e-15 to 1e+100; default 1)
        iterations: largest number of iterations of Sinkhorn's scaling (from 0 to 1000; default 50)
        tolerance:  scaling stops when the sum of every column differs from 1 by at most this (at least 0; default
                    1e-06)
        slope_at:   point at which a bound that is not affine has its slope: the metric's exact value for the
                    current scores (without a gradient through it), or the metric's mean over random rankings
                    (default "value")
        bound:      bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                    multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["nrbp"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 kernel: Literal["logistic", "laplace"] = "logistic", steepness: float = 1.0) -> None:
        """The smooth nRBP loss (Westerborg 2022, Eq. 2.12): a smooth count of wrongly ordered pairs of a relevant
        row and a row that is not relevant, rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ordinal"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, levels: int | None = None,
                 thresholds: ArrayLike | None = None, learn: bool | None = None,
                 metric: MetricName | str = "ndcg") -> None:
        """The ordinal regression loss with cumulative logits (McCullagh 1980): the mean over a list's rows of a sum
        over grades k.

        levels:     largest grade (from 1 to 10000; default the number of thresholds, else 4)
        thresholds: one threshold for each grade k from 1, in ascending order; a tensor with `requires_grad` is
                    learned (default k - 1/2)
        learn:      whether thresholds are parameters, which training updates together with the model's (default
                    false, except for a tensor with `requires_grad`)
        bound:      affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:     metric whose bounds are used (default "ndcg")

        `parameters()` has the parameters of the loss for an optimizer, and `learned` is their tensor.
        """

    @overload
    def __init__(self, name: Literal["p_listmle"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The p-ListMLE loss (Lan et al. 2014), one value per list.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["pl_rank"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg@10",
                 samples: int = 100) -> None:
        """The PL-Rank-3 loss (Oosterhuis, SIGIR 2022): minus the mean of a metric over rankings of each list, drawn
        at random in Plackett and Luce's model as for mr.losses.policy_gradient.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        metric:  metric of the random rankings, a sum over rows of a gain times a discount of the rank, such as
                 "ndcg@10", "dcg@5", "precision@5" or "rbp(0.8)" (default "ndcg@10")
        samples: random rankings of each list; time grows with them (from 2 to 1000000; default 100)
        bound:   bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                 multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["policy_gradient"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 samples: int = 100, baseline: Literal["leave_one_out", "mean"] = "leave_one_out") -> None:
        """A policy gradient loss (REINFORCE, Williams 1992): minus the mean of a metric over rankings of each list,
        drawn at random in Plackett and Luce's model.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        metric:   metric of the random rankings: any, such as "ndcg@10", "ap", "rr" or a script's own (default
                  "ndcg")
        samples:  random rankings of each list; time grows with them (from 2 to 1000000; default 100)
        baseline: what is subtracted from a ranking's value: the mean of the list's other rankings, or of all of
                  them (default "leave_one_out")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["projected_ndcg"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, eps: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The projected nDCG loss, one value per list: negative nDCG with soft ranks R by projection (Blondel et
        al. 2020, "Fast Differentiable Sorting and Ranking", quadratic regularization).

        eps:      strength of the regularization: with a large one all ranks come near (N + 1) / 2 (from 1e-15 to
                  1e+15; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["psl"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 surrogate: Literal["tanh", "relu", "atan"] = "tanh", over: Literal["positive", "list"] = "positive",
                 tau: float = 1.0, tau_star: float = 1.0, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The pairwise softmax loss PSL (Yang et al. 2024, Eq. 4.1): SL with a surrogate s in place of the
        exponential of a difference of scores.

        surrogate: function that replaces the exponential of a difference d: tanh(d) + 1, max(d + 1, 0), or
                   atan(d) + 1 where this is above 0 (default "tanh")
        over:      positive: the mean over relevant rows of a logarithm each; list: one logarithm of a mean over
                   pairs (default "positive")
        tau:       temperature of differences of scores; 2 for cosines (from 1e-15 to 1e+15; default 1)
        tau_star:  temperature outside of the surrogate (from 1e-15 to 1e+15; default 1)
        metric:    metric whose bounds are used (default "ap")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ranknet"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, steepness: float = 1.0,
                 metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The RankNet loss (Burges et al. 2005): a sum over pairs of rows with scores s and unequal grades y.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ranknet_all_pairs"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 upsample: float | Literal["list"] = 1.0, per: Literal["list", "pair"] = "list",
                 steepness: float = 1.0, metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The RankNet loss over all pairs of rows (Burges et al. 2005): the sum over unordered pairs of the cross
        entropy of sigma(steepness (s_i - s_j)) and a target.

        upsample:  factor of pairs of unequal grades. "list": the factor, at least 1, that makes the targets 1,
                   1/2 and 0 equally frequent in each list; an mr.Lists object: the same, but in all its lists
                   together (default 1)
        per:       what means are over, as in mr.fit: lists, or pairs of rows; a pair of unequal grades counts
                   `upsample` times (default "list")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["rr"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 kernel: Literal["logistic", "laplace"] = "logistic", steepness: float = 1.0) -> None:
        """The smooth RR loss: negative smooth RR (Li et al. 2021, Eq. 16), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sampled_softmax"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *,
                 correction: Literal["none", "both", "negatives"] = "none", probabilities: float | None = None,
                 tau: float = 1.0, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The sampled softmax loss (Jean et al. 2015): the mean over the P relevant rows i of the cross entropy
        among row i and the other rows j that are not relevant.

        correction:    logarithms of probabilities q that are subtracted from scores: none; both: log q of every
                       row; negatives: log(n q) of the n rows that are not relevant (default "none")
        probabilities: probability q with which each row was drawn; for uniform draws, 1 / the number of items. A
                       tensor has the probability of each item, and needs mr.fit, whose batches have items
                       (default those of the lists (lists:drawn); only with correction = 'both' or 'negatives')
        tau:           temperature: scores are divided by it (from 1e-15 to 1e+15; default 1)
        metric:        metric whose bounds are used (default "ap")
        slope_at:      point at which a bound that is not affine has its slope: the metric's exact value for the
                       current scores (without a gradient through it), or the metric's mean over random rankings
                       (default "value")
        bound:         bound that rescales each list, or its name. It is applied to a smooth metric; other losses
                       are multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sl"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, tau: float = 0.2,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax loss SL (Wu et al. 2024; Yang et al. 2025, Eq. 2.2): the mean over the P relevant rows i, for
        scores f; j are the rows that are not relevant, such as sampled negatives.

        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 0.2)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sl_at_k"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 20, tau_beta: float = 1.0,
                 tau: float = 0.2, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The loss SL@K (Yang et al. 2025, Eq. 3.5): SL as a mean over the P relevant rows i.

        k:        number of rows at the top of a list (from 1 to 1000000000; default 20)
        tau_beta: temperature of the weight of relevant rows (from 1e-15 to 1e+15; default 1)
        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 0.2)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `every` of mr.losses.sl_at_k is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["soft_hit"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 10, tau: float = 1.0,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft hit loss at `k`, one value per list: the negative probability that at least one relevant row is
        chosen, if row i is chosen with the probability m_i of mr.losses.soft_precision, independently of the
        other rows.

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_precision"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 10, tau: float = 1.0,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft precision loss at `k`, one value per list: negative precision of a soft choice of the top `k`
        rows (DFTopK: Zhu et al. 2025, arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_rank"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, sd: float = 1.0, longest: int = 500,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The SoftRank loss (Taylor et al. 2008), one value per list: negative nDCG with random ranks.

        sd:       standard deviation of a row's score (from 1e-15 to 1e+15; default 1)
        longest:  largest number of rows in a list; a longer list is an error (at least 1; default 500)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_recall"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 10, tau: float = 1.0,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft recall loss at `k`, one value per list: negative recall of a soft choice of the top `k` rows
        (DFTopK: Zhu et al. 2025, arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_top_k"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 10, tau: float = 1.0,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft top-k cross entropy loss, one value per list: the mean over rows of the binary cross entropy
        between the weights m of mr.losses.soft_precision and relevance (DFTopK: Zhu et al. 2025,
        arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["softmax_cross_entropy"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax cross entropy loss (Bruch et al. 2019), one value per list, for grades y and scores f.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["softsort_ndcg"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, power: int = 1, tau: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The SoftSort nDCG loss (Prillo and Eisenschlos 2020), one value per list: negative nDCG of a relaxed
        permutation matrix.

        power:    power of score differences: 1 or 2 (from 1 to 2; default 1)
        tau:      temperature of the softmax (from 1e-15 to 1e+15; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["squared_hinge"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, relevant: float = 1.0,
                 metric: MetricName | str = "ndcg") -> None:
        """The squared hinge loss of support vector machines (Chang, Hsieh & Lin 2008), the mean over a list's rows.

        relevant: smallest grade of a relevant row (above 0; default 1)
        bound:    affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:   metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["tfmap"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The TFMAP loss (Shi et al. 2012): the paper's objective without its regularizer, negated.

        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["top_n_rank"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, k: int = 10,
                 above: Literal["sigmoid", "relu"] = "sigmoid",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The Top-N-Rank loss (Liang, Hu, Dong & Honavar 2018, arXiv:1812.04109), one value per list: negative DCG
        of the rows that rank among the first `k` at the current scores.

        k:        number of rows at the top (at least 1; default 10; formerly n)
        above:    how much row j is above row i: sigma(f_j - f_i) or max(0, f_j - f_i) (default "sigmoid")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["warp"],
                 bound: Bound | str = "none", reduction: Reduction = "mean", *, margin: float = 1.0,
                 trials: int | None = None, draws: int = 1, metric: MetricName | str | None = None,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The WARP loss (Weston, Bengio & Usunier 2011).

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        margin:   smallest difference s_i - s_j of a relevant and another row's scores that costs nothing (from
                  1e-15 to 1e+15; default 1)
        trials:   largest number of draws for one relevant row (from 1 to 1000000; default the list's number of
                  rows that are not relevant)
        draws:    pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:   metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered pairs)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `regularize` of mr.losses.warp is for mr.fit only.
        """

    @overload
    def __init__(self, name: str, bound: Bound | str = "none", reduction: Reduction = "mean") -> None:
        """Makes the loss of this name, which a script may have defined."""

    def __init__(self, name: str, bound: Bound | str = "none", reduction: Reduction = "mean", **options: Any) -> None:
        self._make(name, bound, reduction, options)

    def _make(self, name: str, bound: Bound | str, reduction: Reduction, options: dict[str, Any]) -> None:
        raise NotImplementedError


class TreeObjective:
    """Arguments of objectives of trees."""

    @overload
    def __init__(self, name: Literal["ap"],
                 bound: Bound | str = "none", *, kernel: Literal["logistic", "laplace"] = "logistic",
                 steepness: float = 1.0) -> None:
        """The smooth AP loss: negative smooth AP (Westerborg 2022, Eq. 2.11), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["approx_ndcg"],
                 bound: Bound | str = "none", *, steepness: float = 10.0) -> None:
        """The ApproxNDCG loss (Qin, Liu & Li 2010).

        steepness: factor inside the sigmoid, called alpha in the paper (from 1e-15 to 1e+15; default 10; formerly
                   alpha)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["bce"],
                 bound: Bound | str = "none", *, relevant: float = 1.0, metric: MetricName | str = "ndcg") -> None:
        """The binary cross entropy loss of logistic regression (Cox 1958).

        relevant: smallest grade of a relevant row (above 0; default 1)
        bound:    affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:   metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["bpr"],
                 bound: Bound | str = "none", *, draws: int = 1, metric: MetricName | str | None = None,
                 relevant: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The BPR loss (Rendle et al. 2009, section 4.1, criterion BPR-Opt, negated): a sum over relevant rows i,
        for scores s.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        draws:    pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:   metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered pairs)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `regularize` of mr.losses.bpr is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["bsl"],
                 bound: Bound | str = "none", *, tau1: float = 1.0, tau2: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The bilateral softmax loss BSL (Wu et al. 2024, arXiv 2312.12882): the logarithm of a mean over the
        irrelevant rows j of a list minus that of a mean over its relevant rows i.

        tau1:     temperature of the relevant rows (from 1e-15 to 1e+15; default 1)
        tau2:     temperature of the other rows (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["bsl_per_positive"],
                 bound: Bound | str = "none", *, tau1: float = 1.0, tau2: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """BSL as the code of Yang et al. (2025) has it: for one relevant row at a time, so that its exponential and
        logarithm cancel, and as a mean over the P relevant rows.

        tau1:     temperature of the relevant rows (from 1e-15 to 1e+15; default 1)
        tau2:     temperature of the other rows (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["climf"],
                 bound: Bound | str = "none", *, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The CLiMF loss (Shi et al. 2012): the paper's objective without its regularizer, negated.

        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["direct_ranker"],
                 bound: Bound | str = "none", *, steepness: float = 1.0, metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The DirectRanker loss, as in Li & Wu's comparison of networks for ranking (section 4.1).

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["full_softmax"],
                 bound: Bound | str = "none", *, over: Literal["list", "catalogue"] = "list", tau: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax cross entropy of each relevant row among all rows of its list, which the sampled softmax
        (Jean et al. 2015) approximates: the mean over the P relevant rows i, for scores f.

        over:     rows of the sum: those of the list, or all items of the model's catalogue, which mr.fit scores
                  in blocks (default "list")
        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["gbce"],
                 bound: Bound | str = "none", *, catalogue: int | None = None, t: float = 0.75,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The generalised binary cross entropy gBCE (Petrov & Macdonald 2023) for sampled negatives.

        catalogue: number of items from which the other rows were drawn, the relevant item included (from 2 to
                   1000000000000; default the rows of the list; of interactions, mr.fit's catalogue)
        t:         calibration: 0 is the binary cross entropy, 1 corrects fully for the sampling (from 0 to 1;
                   default 0.75)
        metric:    metric whose bounds are used (default "ap")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["hinge"],
                 bound: Bound | str = "none", *, margin: float = 1.0, metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The pairwise hinge loss (RankSVM; Herbrich, Graepel & Obermayer 2000, Joachims 2002): a sum over pairs of
        rows with scores s and unequal grades y.

        margin:   smallest difference s_i - s_j that costs nothing, for y_i > y_j (from 1e-15 to 1e+15; default 1)
        metric:   metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                  row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["lambdafm"],
                 bound: Bound | str = "none", *, candidates: int = 10, rho: float = 0.3, draws: int = 1,
                 metric: MetricName | str | None = None, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The LambdaFM loss (Yuan et al. 2016): BPR with dynamic sampling, which chooses row j by its score.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        candidates: rows drawn for each relevant row, of which one is chosen (from 1 to 128; default 10)
        rho:        spread of the choice among candidates: small values choose the highest score, 1e6 chooses
                    uniformly (above 0 and at most 1000000; default 0.3)
        draws:      pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:     metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered
                    pairs)
        relevant:   smallest grade of a relevant row (above 0; default 1)
        slope_at:   point at which a bound that is not affine has its slope: the metric's exact value for the
                    current scores (without a gradient through it), or the metric's mean over random rankings
                    (default "value")
        bound:      bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                    multiplied by its slope (default "none")

        The option `regularize` of mr.losses.lambdafm is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["lambdarank"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg", p: float | None = None,
                 pair: Literal["logistic", "sigmoid"] = "logistic", steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The LambdaRank loss (Burges 2010; for AP, RR and nRBP Li, Urbano & Hanjalic 2021, Eqs. 8 to 10).

        metric:    metric whose change weighs each pair: any with `swaps`, such as "ndcg@10", "ap", "err",
                   "nrbp(0.9)", or a metric declared by gain and discount (mr.metrics.define) (default "ndcg")
        p:         p of nrbp and rbp, if the metric's name does not contain it (above 0 and below 1; default 0.95)
        pair:      cost of a pair: log(1 + exp(-steepness (s_i - s_j))), or sigma(steepness (s_j - s_i)), a smooth
                   count of wrongly ordered pairs (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["listmle"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The ListMLE loss (Xia et al. 2008), one value per list: the negative log likelihood of the order by grade
        under the Plackett-Luce model.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["listnet"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The ListNet loss (Cao et al. 2007) in its top-one form, one value per list, for grades y and scores f.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["llpauc"],
                 bound: Bound | str = "none", *, alpha: float = 0.7, beta: float = 0.1, kappa: float = 5.0,
                 a: float = 1.0, b: float = 0.0, s_plus: float = 0.5, s_minus: float = 0.5, gamma: float = 0.0,
                 ascent: bool | None = None, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The loss of the lower-left partial AUC, LLPAUC (Shi et al. 2024, arXiv 2403.00844, with w = 0): one value
        per list.

        alpha:    largest rate of true positives that counts (from 1e-15 to 1; default 0.7)
        beta:     largest rate of false positives that counts (from 1e-15 to 1; default 0.1)
        kappa:    steepness of the softplus that stands for max(0, x) (from 1e-15 to 1e+15; default 5)
        a:        first value of the parameter a (from 0 to 1; default 1)
        b:        first value of the parameter b (from 0 to 1; default 0)
        s_plus:   first value of the parameter p, or s+ (from -1 to 4; default 0.5)
        s_minus:  first value of the parameter m, or s- (from 0 to 5; default 0.5)
        gamma:    first value of the parameter gamma (from -1 to 1; default 0)
        ascent:   whether training maximizes over p and gamma, as in the paper (default true for llpauc, false for
                  llpauc_as_coded)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The parameters of the loss are constants here. mr.fit and moonrank.torch.Loss train them.
        """

    @overload
    def __init__(self, name: Literal["llpauc_as_coded"],
                 bound: Bound | str = "none", *, theta_a: float = 0.5, theta_b: float = 0.5, alpha: float = 0.7,
                 beta: float = 0.1, kappa: float = 5.0, a: float = 1.0, b: float = 0.0, s_plus: float = 0.5,
                 s_minus: float = 0.5, gamma: float = 0.0, ascent: bool | None = None,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """LLPAUC as the code of Shi et al. (2024) and of Yang et al. (2025) has it, one value per list.

        theta_a:  first value of the factor of a + gamma (default 0.5)
        theta_b:  first value of the factor of gamma + 1 - b (default 0.5)
        alpha:    largest rate of true positives that counts (from 1e-15 to 1; default 0.7)
        beta:     largest rate of false positives that counts (from 1e-15 to 1; default 0.1)
        kappa:    steepness of the softplus that stands for max(0, x) (from 1e-15 to 1e+15; default 5)
        a:        first value of the parameter a (from 0 to 1; default 1)
        b:        first value of the parameter b (from 0 to 1; default 0)
        s_plus:   first value of the parameter p, or s+ (from -1 to 4; default 0.5)
        s_minus:  first value of the parameter m, or s- (from 0 to 5; default 0.5)
        gamma:    first value of the parameter gamma (from -1 to 1; default 0)
        ascent:   whether training maximizes over p and gamma, as in the paper (default true for llpauc, false for
                  llpauc_as_coded)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The parameters of the loss are constants here. mr.fit and moonrank.torch.Loss train them.
        """

    @overload
    def __init__(self, name: Literal["log_rr"],
                 bound: Bound | str = "none", *, kernel: Literal["logistic", "laplace"] = "logistic",
                 steepness: float = 1.0, slope_at: Literal["value", "expectation"] = "value") -> None:
        """The log RR loss, one value per list: the negative logarithm of smooth RR (mr.smooth.log_rr; Li et al.
        2021, Eq. 16).

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["mse"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg") -> None:
        """The mean squared error loss, regression on grades (Cossock & Zhang 2006): a mean over a list's N rows,
        for scores f and grades y.

        bound:  affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric: metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["ndcg"],
                 bound: Bound | str = "none", *, kernel: Literal["logistic", "laplace"] = "logistic",
                 steepness: float = 1.0) -> None:
        """The smooth nDCG loss: negative smooth nDCG (Westerborg 2022, Eq. 2.10), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_1"],
                 bound: Bound | str = "none", *, steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss1 of LambdaLoss (Wang et al. 2018), a sum over ordered pairs of rows with scores s.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_2"],
                 bound: Bound | str = "none", *, steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss2 of LambdaLoss (Wang et al. 2018), a sum over pairs of rows with unequal grades y.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ndcg_loss_2pp"],
                 bound: Bound | str = "none", *, mu: float = 10.0, steepness: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """NDCG-Loss2++ of LambdaLoss (Wang et al. 2018): the sum over the pairs of mr.losses.ndcg_loss_2, with
        another weight.

        mu:        factor of NDCG-Loss2 in NDCG-Loss2++ (from 1e-15 to 1e+15; default 10)
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["neural_ndcg"],
                 bound: Bound | str = "none", *, tau: float = 1.0, iterations: int = 50, tolerance: float = 1e-06,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The NeuralNDCG loss (Pobrotyn & Bialobrzeski 2021), one value per list: negative nDCG of the relaxed
        permutation matrix of NeuralSort (Grover et al. 2019).

        tau:        temperature of the softmax (from 1e-15 to 1e+100; default 1)
        iterations: largest number of iterations of Sinkhorn's scaling (from 0 to 1000; default 50)
        tolerance:  scaling stops when the sum of every column differs from 1 by at most this (at least 0; default
                    1e-06)
        slope_at:   point at which a bound that is not affine has its slope: the metric's exact value for the
                    current scores (without a gradient through it), or the metric's mean over random rankings
                    (default "value")
        bound:      bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                    multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["nrbp"],
                 bound: Bound | str = "none", *, kernel: Literal["logistic", "laplace"] = "logistic",
                 steepness: float = 1.0) -> None:
        """The smooth nRBP loss (Westerborg 2022, Eq. 2.12): a smooth count of wrongly ordered pairs of a relevant
        row and a row that is not relevant, rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ordinal"],
                 bound: Bound | str = "none", *, levels: int | None = None, thresholds: ArrayLike | None = None,
                 metric: MetricName | str = "ndcg") -> None:
        """The ordinal regression loss with cumulative logits (McCullagh 1980): the mean over a list's rows of a sum
        over grades k.

        levels:     largest grade (from 1 to 10000; default the number of thresholds, else 4)
        thresholds: one threshold for each grade k from 1, in ascending order; a tensor with `requires_grad` is
                    learned (default k - 1/2)
        bound:      affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:     metric whose bounds are used (default "ndcg")

        The parameters of the loss are constants here. mr.fit and moonrank.torch.Loss train them.
        """

    @overload
    def __init__(self, name: Literal["p_listmle"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The p-ListMLE loss (Lan et al. 2014), one value per list.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["pl_rank"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg@10", samples: int = 100) -> None:
        """The PL-Rank-3 loss (Oosterhuis, SIGIR 2022): minus the mean of a metric over rankings of each list, drawn
        at random in Plackett and Luce's model as for mr.losses.policy_gradient.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        metric:  metric of the random rankings, a sum over rows of a gain times a discount of the rank, such as
                 "ndcg@10", "dcg@5", "precision@5" or "rbp(0.8)" (default "ndcg@10")
        samples: random rankings of each list; time grows with them (from 2 to 1000000; default 100)
        bound:   bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                 multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["policy_gradient"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg", samples: int = 100,
                 baseline: Literal["leave_one_out", "mean"] = "leave_one_out") -> None:
        """A policy gradient loss (REINFORCE, Williams 1992): minus the mean of a metric over rankings of each list,
        drawn at random in Plackett and Luce's model.

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        metric:   metric of the random rankings: any, such as "ndcg@10", "ap", "rr" or a script's own (default
                  "ndcg")
        samples:  random rankings of each list; time grows with them (from 2 to 1000000; default 100)
        baseline: what is subtracted from a ranking's value: the mean of the list's other rankings, or of all of
                  them (default "leave_one_out")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["projected_ndcg"],
                 bound: Bound | str = "none", *, eps: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The projected nDCG loss, one value per list: negative nDCG with soft ranks R by projection (Blondel et
        al. 2020, "Fast Differentiable Sorting and Ranking", quadratic regularization).

        eps:      strength of the regularization: with a large one all ranks come near (N + 1) / 2 (from 1e-15 to
                  1e+15; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["psl"],
                 bound: Bound | str = "none", *, surrogate: Literal["tanh", "relu", "atan"] = "tanh",
                 over: Literal["positive", "list"] = "positive", tau: float = 1.0, tau_star: float = 1.0,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The pairwise softmax loss PSL (Yang et al. 2024, Eq. 4.1): SL with a surrogate s in place of the
        exponential of a difference of scores.

        surrogate: function that replaces the exponential of a difference d: tanh(d) + 1, max(d + 1, 0), or
                   atan(d) + 1 where this is above 0 (default "tanh")
        over:      positive: the mean over relevant rows of a logarithm each; list: one logarithm of a mean over
                   pairs (default "positive")
        tau:       temperature of differences of scores; 2 for cosines (from 1e-15 to 1e+15; default 1)
        tau_star:  temperature outside of the surrogate (from 1e-15 to 1e+15; default 1)
        metric:    metric whose bounds are used (default "ap")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ranknet"],
                 bound: Bound | str = "none", *, steepness: float = 1.0, metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The RankNet loss (Burges et al. 2005): a sum over pairs of rows with scores s and unequal grades y.

        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["ranknet_all_pairs"],
                 bound: Bound | str = "none", *, upsample: float | Literal["list"] = 1.0,
                 per: Literal["list", "pair"] = "list", steepness: float = 1.0,
                 metric: MetricName | str = "wrong_pairs",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The RankNet loss over all pairs of rows (Burges et al. 2005): the sum over unordered pairs of the cross
        entropy of sigma(steepness (s_i - s_j)) and a target.

        upsample:  factor of pairs of unequal grades. "list": the factor, at least 1, that makes the targets 1,
                   1/2 and 0 equally frequent in each list; an mr.Lists object: the same, but in all its lists
                   together (default 1)
        per:       what means are over, as in mr.fit: lists, or pairs of rows; a pair of unequal grades counts
                   `upsample` times (default "list")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        metric:    metric whose bounds are used; "nrbp_loss" counts only pairs of a row with grade 1 or more and a
                   row below grade 1, so lists without such a pair are left out (default "wrong_pairs")
        slope_at:  point at which a bound that is not affine has its slope: the metric's exact value for the
                   current scores (without a gradient through it), or the metric's mean over random rankings
                   (default "value")
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["rr"],
                 bound: Bound | str = "none", *, kernel: Literal["logistic", "laplace"] = "logistic",
                 steepness: float = 1.0) -> None:
        """The smooth RR loss: negative smooth RR (Li et al. 2021, Eq. 16), rescaled by `bound`.

        kernel:    function of score differences that smooth ranks add up: the sigmoid, or the distribution
                   function of the Laplace distribution (LapSum: one sort and two recurrences; Struski et al.
                   2025) (default "logistic")
        steepness: factor inside the sigmoid: it multiplies the difference of two scores; Westerborg (2022) uses 1
                   (from 1e-15 to 1e+15; default 1; formerly gain)
        bound:     bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                   multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sampled_softmax"],
                 bound: Bound | str = "none", *, correction: Literal["none", "both", "negatives"] = "none",
                 probabilities: float | None = None, tau: float = 1.0, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The sampled softmax loss (Jean et al. 2015): the mean over the P relevant rows i of the cross entropy
        among row i and the other rows j that are not relevant.

        correction:    logarithms of probabilities q that are subtracted from scores: none; both: log q of every
                       row; negatives: log(n q) of the n rows that are not relevant (default "none")
        probabilities: probability q with which each row was drawn; for uniform draws, 1 / the number of items. A
                       tensor has the probability of each item, and needs mr.fit, whose batches have items
                       (default those of the lists (lists:drawn); only with correction = 'both' or 'negatives')
        tau:           temperature: scores are divided by it (from 1e-15 to 1e+15; default 1)
        metric:        metric whose bounds are used (default "ap")
        slope_at:      point at which a bound that is not affine has its slope: the metric's exact value for the
                       current scores (without a gradient through it), or the metric's mean over random rankings
                       (default "value")
        bound:         bound that rescales each list, or its name. It is applied to a smooth metric; other losses
                       are multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sl"],
                 bound: Bound | str = "none", *, tau: float = 0.2, metric: MetricName | str = "ap",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax loss SL (Wu et al. 2024; Yang et al. 2025, Eq. 2.2): the mean over the P relevant rows i, for
        scores f; j are the rows that are not relevant, such as sampled negatives.

        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 0.2)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["sl_at_k"],
                 bound: Bound | str = "none", *, k: int = 20, tau_beta: float = 1.0, tau: float = 0.2,
                 metric: MetricName | str = "ap", slope_at: Literal["value", "expectation"] = "value") -> None:
        """The loss SL@K (Yang et al. 2025, Eq. 3.5): SL as a mean over the P relevant rows i.

        k:        number of rows at the top of a list (from 1 to 1000000000; default 20)
        tau_beta: temperature of the weight of relevant rows (from 1e-15 to 1e+15; default 1)
        tau:      temperature: scores are divided by it (from 1e-15 to 1e+15; default 0.2)
        metric:   metric whose bounds are used (default "ap")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `every` of mr.losses.sl_at_k is for mr.fit only.
        """

    @overload
    def __init__(self, name: Literal["soft_hit"],
                 bound: Bound | str = "none", *, k: int = 10, tau: float = 1.0, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft hit loss at `k`, one value per list: the negative probability that at least one relevant row is
        chosen, if row i is chosen with the probability m_i of mr.losses.soft_precision, independently of the
        other rows.

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_precision"],
                 bound: Bound | str = "none", *, k: int = 10, tau: float = 1.0, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft precision loss at `k`, one value per list: negative precision of a soft choice of the top `k`
        rows (DFTopK: Zhu et al. 2025, arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_rank"],
                 bound: Bound | str = "none", *, sd: float = 1.0, longest: int = 500,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The SoftRank loss (Taylor et al. 2008), one value per list: negative nDCG with random ranks.

        sd:       standard deviation of a row's score (from 1e-15 to 1e+15; default 1)
        longest:  largest number of rows in a list; a longer list is an error (at least 1; default 500)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_recall"],
                 bound: Bound | str = "none", *, k: int = 10, tau: float = 1.0, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft recall loss at `k`, one value per list: negative recall of a soft choice of the top `k` rows
        (DFTopK: Zhu et al. 2025, arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["soft_top_k"],
                 bound: Bound | str = "none", *, k: int = 10, tau: float = 1.0, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The soft top-k cross entropy loss, one value per list: the mean over rows of the binary cross entropy
        between the weights m of mr.losses.soft_precision and relevance (DFTopK: Zhu et al. 2025,
        arXiv:2510.11472).

        k:        number of rows at the top (at least 1; default 10)
        tau:      temperature: a small one makes the choice hard (from 1e-15 to 1e+15; default 1)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["softmax_cross_entropy"],
                 bound: Bound | str = "none", *, metric: MetricName | str = "ndcg",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The softmax cross entropy loss (Bruch et al. 2019), one value per list, for grades y and scores f.

        metric:   metric whose bounds are used (default "ndcg")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["softsort_ndcg"],
                 bound: Bound | str = "none", *, power: int = 1, tau: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The SoftSort nDCG loss (Prillo and Eisenschlos 2020), one value per list: negative nDCG of a relaxed
        permutation matrix.

        power:    power of score differences: 1 or 2 (from 1 to 2; default 1)
        tau:      temperature of the softmax (from 1e-15 to 1e+15; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["squared_hinge"],
                 bound: Bound | str = "none", *, relevant: float = 1.0, metric: MetricName | str = "ndcg") -> None:
        """The squared hinge loss of support vector machines (Chang, Hsieh & Lin 2008), the mean over a list's rows.

        relevant: smallest grade of a relevant row (above 0; default 1)
        bound:    affine bound: a list's value is multiplied by the bound's slope for `metric` (default "none")
        metric:   metric whose bounds are used (default "ndcg")
        """

    @overload
    def __init__(self, name: Literal["tfmap"],
                 bound: Bound | str = "none", *, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The TFMAP loss (Shi et al. 2012): the paper's objective without its regularizer, negated.

        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["top_n_rank"],
                 bound: Bound | str = "none", *, k: int = 10, above: Literal["sigmoid", "relu"] = "sigmoid",
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The Top-N-Rank loss (Liang, Hu, Dong & Honavar 2018, arXiv:1812.04109), one value per list: negative DCG
        of the rows that rank among the first `k` at the current scores.

        k:        number of rows at the top (at least 1; default 10; formerly n)
        above:    how much row j is above row i: sigma(f_j - f_i) or max(0, f_j - f_i) (default "sigmoid")
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")
        """

    @overload
    def __init__(self, name: Literal["warp"],
                 bound: Bound | str = "none", *, margin: float = 1.0, trials: int | None = None, draws: int = 1,
                 metric: MetricName | str | None = None, relevant: float = 1.0,
                 slope_at: Literal["value", "expectation"] = "value") -> None:
        """The WARP loss (Weston, Bengio & Usunier 2011).

        Each call draws random numbers, which `moonrank.lua("mr.seed(1)")` starts again.

        margin:   smallest difference s_i - s_j of a relevant and another row's scores that costs nothing (from
                  1e-15 to 1e+15; default 1)
        trials:   largest number of draws for one relevant row (from 1 to 1000000; default the list's number of
                  rows that are not relevant)
        draws:    pairs drawn for each relevant row; the loss takes their mean (at least 1; default 1)
        metric:   metric whose bounds are used (default the exact nRBP loss, the number of wrongly ordered pairs)
        relevant: smallest grade of a relevant row (above 0; default 1)
        slope_at: point at which a bound that is not affine has its slope: the metric's exact value for the
                  current scores (without a gradient through it), or the metric's mean over random rankings
                  (default "value")
        bound:    bound that rescales each list, or its name. It is applied to a smooth metric; other losses are
                  multiplied by its slope (default "none")

        The option `regularize` of mr.losses.warp is for mr.fit only.
        """

    @overload
    def __init__(self, name: str, bound: Bound | str = "none") -> None:
        """Makes the loss of this name, which a script may have defined."""

    def __init__(self, name: str, bound: Bound | str = "none", **options: Any) -> None:
        self._make(name, bound, options)

    def _make(self, name: str, bound: Bound | str, options: dict[str, Any]) -> None:
        raise NotImplementedError
