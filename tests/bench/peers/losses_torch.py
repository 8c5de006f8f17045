# Measures one step (value and derivative with respect to scores) of a loss for LISTS lists of ROWS rows, as PyTorch
# users write it for all lists at once. If allRank has the loss, its function is measured, too. FORM runs the loss as it
# is ("plain") or through torch.compile ("compiled").
# PATH holds float32 numbers from Moonrank: the scores, the grades, the derivative, and the sum of the loss over lists.
# The results must agree with these before time is measured. Prints the program's name, a tab, and the seconds of every
# run or why there are none.
# Usage: losses_torch.py LOSS PATH LISTS ROWS THREADS REPEATS FORM,FORM
import math
import os
import sys
import time

import torch
import torch.nn.functional as F

clock = time.process_time if os.environ.get("MOONRANK_CLOCK") == "cpu" else time.perf_counter
name, path, count, rows, threads, repeats, forms = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:7]), sys.argv[7].split(",")
torch.set_num_threads(threads)
numbers = torch.frombuffer(bytearray(open(path, "rb").read()), dtype=torch.float32)
data = [numbers[k * count * rows : (k + 1) * count * rows].reshape(count, rows) for k in range(3)]
interactions = bool((data[1][:, 0] >= 1).all() and (data[1][:, 1:] < 1).all())
longest = 10.0  # seconds after which no further run is begun


def by(s):
    """[list, i, j]: the score of j less that of i."""
    return s.unsqueeze(1) - s.unsqueeze(2)


def others(x):
    return x * (1 - torch.eye(x.shape[-1]))


def sorted_by_grade(s, y):
    return torch.gather(s, 1, y.sort(dim=1, descending=True, stable=True).indices)


def likelihood(s, y, weights):
    f = sorted_by_grade(s, y)
    return (weights * (f.flip(1).logcumsumexp(1).flip(1) - f)).sum()


def top_heavy(n):
    last = 2.0 ** (1 - n)
    return (2.0 ** -torch.arange(n).float() - last) / (1 - last)


def ideal(y):
    best = y.sort(dim=1, descending=True).values
    return ((torch.exp2(best) - 1) / torch.log2(torch.arange(y.shape[1]) + 2.0)).sum(1)


def smooth_ranks(s, gain=1.0):
    return 1 + others(torch.sigmoid(gain * by(s))).sum(2)


def smooth_ndcg(s, y, gain=1.0):
    return -((torch.exp2(y) - 1) / torch.log2(1 + smooth_ranks(s, gain))).sum(1).div(ideal(y)).sum()


def smooth_ap(s, y):
    b = (y >= 1).float()
    sigmoids = others(torch.sigmoid(by(s)))
    among = 1 + (sigmoids * b.unsqueeze(1)).sum(2)
    return -(b * among / (1 + sigmoids.sum(2))).sum(1).div(b.sum(1)).sum()


def rr_logs(s, y):
    b = (y >= 1).float()
    logs = -smooth_ranks(s).log() - others(F.softplus(by(s)) * b.unsqueeze(1)).sum(2)
    return logs.masked_fill(b == 0, -math.inf)


def nrbp(s, y):
    b = (y >= 1).float()
    return (b.unsqueeze(2) * (1 - b).unsqueeze(1) * torch.sigmoid(by(s))).sum()


def better_pairs(s, y, cost):
    return ((y.unsqueeze(2) > y.unsqueeze(1)) * cost(-by(s))).sum()


def all_pairs(s, y):
    target = 0.5 * (1 + torch.sign(y.unsqueeze(2) - y.unsqueeze(1)))
    return 0.5 * others(F.binary_cross_entropy_with_logits(-by(s), target, reduction="none")).sum()


def ordinal(s, y):
    levels = torch.arange(1, 5).float()
    logits = s.unsqueeze(2) - (levels - 0.5)
    targets = (y.unsqueeze(2) >= levels).float()
    return F.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(2).mean(1).sum()


def climf(s, y):
    b = (y >= 1).float()
    pairs = others(b.unsqueeze(2) * b.unsqueeze(1) * F.softplus(by(s)))
    return (b * F.softplus(-s)).sum() + pairs.sum()


def tfmap(s, y):
    b = (y >= 1).float()
    above = (torch.sigmoid(by(s)) * b.unsqueeze(1)).sum(2)
    return -(b * torch.sigmoid(s) * above).sum(1).div(b.sum(1)).sum()


def top_n_rank(s, y):
    first = s.sort(dim=1, descending=True, stable=True).indices[:, :10]
    f, g = torch.gather(s, 1, first), torch.gather(torch.exp2(y) - 1, 1, first)
    ranks = 0.5 + torch.sigmoid(s.unsqueeze(1) - f.unsqueeze(2)).sum(2)
    return -(g / torch.log2(1 + ranks)).sum()


def soft_rank(s, y):
    beats = 0.5 * (1 + torch.erf(by(s) / 2))  # [list, j, i]: probability that row i is ranked above row j
    beats = others(beats)
    n = s.shape[1]
    ranks = torch.zeros(s.shape[0], n, n)
    ranks[:, :, 0] = 1
    for i in range(n):
        up = beats[:, :, i : i + 1]
        ranks = ranks * (1 - up) + F.pad(ranks, (1, 0))[:, :, :-1] * up
    discounts = (ranks / torch.log2(torch.arange(n) + 2.0)).sum(2)
    return -((torch.exp2(y) - 1) * discounts).sum(1).div(ideal(y)).sum()


def apart(s, y):
    """The scores of the other rows, and of the relevant rows [list, place] with their weights, which are 0 in places beyond a list's relevant rows.
    Lists whose first row is the only relevant one are split without a mask."""
    if interactions:
        return s[:, 1:], s[:, :1], torch.ones(len(s), 1)
    b = y >= 1
    places = torch.arange(int(b.sum(1).max())) < b.sum(1, keepdim=True)
    first = b.to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, : places.shape[1]]
    return s.masked_fill(b, -math.inf), torch.gather(s, 1, first), places / b.sum(1, keepdim=True)


def mean_term(s, y, term):
    """The sum over lists of the mean over relevant rows of term(scores of the other rows, scores of the relevant rows)."""
    n, p, weights = apart(s, y)
    return torch.where(weights > 0, weights * term(n, p), 0.0).sum()


def bsl(s, y):
    n, p, weights = apart(s, y)
    return ((n.logsumexp(1) - torch.isfinite(n).sum(1).log()) - (weights.log() + p).logsumexp(1)).sum()


def psl(n, p):
    return (torch.tanh(n.unsqueeze(1) - p.unsqueeze(2)) + 1).log().logsumexp(2)


def sl_at_k(s, y):
    beta = s.detach().topk(20, dim=1).values[:, 19:]
    return mean_term(s, y, lambda n, p: torch.sigmoid(p - beta) * ((n / 0.2).logsumexp(1, keepdim=True) - p / 0.2))


def llpauc(s, y):
    n, p, weights = apart(s, y)
    inside = torch.isfinite(n)
    n, p = torch.sigmoid(n), torch.sigmoid(p)
    up, down = F.softplus(2 * p - (p - 1) ** 2 - 0.5, beta=5), F.softplus(2 * n + n**2 - 0.5, beta=5)
    return (torch.where(inside, down, 0.0) / inside.sum(1, keepdim=True)).sum() - (weights * up).sum() - 0.3 * len(s)


pytorch = {
    "sl": lambda s, y: mean_term(s, y, lambda n, p: (n / 0.2).logsumexp(1, keepdim=True) - p / 0.2),
    "bsl": bsl,
    "psl": lambda s, y: mean_term(s, y, psl),
    "sl_at_k": sl_at_k,
    "llpauc": llpauc,
    "mse": lambda s, y: ((s - y) ** 2).mean(1).sum(),
    "bce": lambda s, y: F.binary_cross_entropy_with_logits(s, (y >= 1).float(), reduction="none").mean(1).sum(),
    "squared_hinge": lambda s, y: (F.relu(1 - torch.where(y >= 1, s, -s)) ** 2).mean(1).sum(),
    "ordinal": ordinal,
    "listnet": lambda s, y: -(y.softmax(1) * s.log_softmax(1)).sum(),
    "softmax_cross_entropy": lambda s, y: -(y * s.log_softmax(1)).sum(),
    "listmle": lambda s, y: likelihood(s, y, 1.0),
    "p_listmle": lambda s, y: likelihood(s, y, top_heavy(s.shape[1])),
    "ranknet": lambda s, y: better_pairs(s, y, lambda d: F.softplus(-d)),
    "direct_ranker": lambda s, y: better_pairs(s, y, lambda d: F.softplus(-torch.tanh(d))),
    "hinge": lambda s, y: better_pairs(s, y, lambda d: F.relu(1 - d)),
    "ranknet_all_pairs": all_pairs,
    "ndcg": smooth_ndcg,
    "approx_ndcg": lambda s, y: smooth_ndcg(s, y, 10.0),
    "ap": smooth_ap,
    "rr": lambda s, y: -rr_logs(s, y).exp().sum(),
    "log_rr": lambda s, y: -rr_logs(s, y).logsumexp(1).sum(),
    "nrbp": nrbp,
    "climf": climf,
    "tfmap": tfmap,
    "top_n_rank": top_n_rank,
    "soft_rank": soft_rank,
}


def of_allrank():
    from allrank_losses import lambdaLoss, losses

    def scheme(scheme_name, **options):
        return lambda s, y: lambdaLoss(s, y, weighing_scheme=scheme_name, **options)

    def ndcg_loss_1(s, y):
        """allRank adds the pairs of a row with itself: exact nDCG."""
        order = s.sort(dim=1, descending=True, stable=True).indices
        gains = torch.gather(torch.exp2(y) - 1, 1, order) / torch.log2(torch.arange(y.shape[1]) + 2.0)
        return lambdaLoss(s, y, weighing_scheme="ndcgLoss1_scheme") - (gains.sum(1) / ideal(y)).sum().detach()

    found = {
        "listnet": lambda s, y: count * losses.listNet(s, y),
        "ranknet": lambda s, y: (y.unsqueeze(2) > y.unsqueeze(1)).sum() * losses.rankNet(s, y),
        "approx_ndcg": lambda s, y: count * losses.approxNDCGLoss(s, y, alpha=10.0),
        "neural_ndcg": lambda s, y: count * losses.neuralNDCG(s, y),
        "lambdarank": scheme("lambdaRank_scheme", reduction_log="natural"),
        "ndcg_loss_1": ndcg_loss_1,
        "ndcg_loss_2": scheme("ndcgLoss2_scheme"),
        "ndcg_loss_2pp": scheme("ndcgLoss2PP_scheme"),
    }
    return found.get(name)


def agree(loss, scores, grades, slopes, total):
    scores.grad = None
    value = loss(scores, grades)
    value.backward()
    away = ((scores.grad - slopes).abs().max() / slopes.abs().max()).item()
    if not abs(value.item() - total) <= 1e-3 * max(1, abs(total)):
        raise ValueError(f"the value is {value.item():.6g}, not {total:.6g}")
    if not away <= 5e-3:
        raise ValueError(f"a derivative is off by {away:.2g} of the largest")


def run(program, loss, compiled):
    try:
        loss = torch.compile(loss) if compiled else loss
        scores, grades, slopes = (each.clone() for each in data)
        scores.requires_grad_()
        agree(loss, scores, grades, slopes, numbers[-1].item())
        began = clock()
        for _ in range(repeats):
            start = clock()
            scores.grad = None
            loss(scores, grades).backward()
            print(f"{program}\t{clock() - start}", flush=True)
            if clock() - began > longest:
                break
    except Exception as error:
        print(f"{program}\tfailed: {type(error).__name__}: {str(error).strip().splitlines()[0][:80] if str(error).strip() else ''}", flush=True)


tried = False
for form in forms:
    compiled = form == "compiled"
    suffix = " compiled" if compiled else ""
    if name in pytorch:
        tried = True
        run("PyTorch" + suffix, pytorch[name], compiled)
    try:
        loss = of_allrank()
    except ImportError as error:
        print(f"allRank{suffix}\tfailed: {error}", flush=True)
        continue
    if loss is not None:
        tried = True
        run("allRank" + suffix, loss, compiled)
if not tried:
    print("none\tno form of it here")
