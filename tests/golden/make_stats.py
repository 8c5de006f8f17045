"""Makes stats.json: reference values of mr.stats, by SciPy where it has the method, else by plain NumPy from the formula.

    python3 -m venv venv && venv/bin/pip install numpy scipy && venv/bin/python tests/golden/make_stats.py

Nothing of this repository is used. Philox 4x32-10 is written out from its paper (Salmon et al., SC 2011) and checked
against the authors' known answers, so that SciPy gets the very samples that the seed stands for.
"""
import json
import math
import pathlib

import numpy as np
import scipy
from scipy import optimize, stats

MASK = (1 << 64) - 1


def philox(key, block, lane=0):
    c = [block & 0xFFFFFFFF, block >> 32, lane & 0xFFFFFFFF, lane >> 32]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k0, p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k1, p0 & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


# known answers from Random123's file kat_vectors
assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(MASK, MASK, MASK) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def random_key(seed, stream):
    """FNV-1a of the name, mixed with the seed by splitmix64's finaliser."""
    h = 14695981039346656037
    for c in stream.encode():
        h = ((h ^ c) * 1099511628211) & MASK
    z = h ^ ((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & MASK)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def resamples(n, samples, seed):
    """Indices of samples with replacement: two to a draw, low and high 64 bits, scaled to n."""
    key = random_key(seed, "bootstrap")
    index = np.empty((samples, n), int)
    for s in range(samples):
        for i in range(n):
            w = philox(key, s, i // 2)
            bits = (w[1] << 32 | w[0]) if i % 2 == 0 else (w[3] << 32 | w[2])
            index[s, i] = bits * n >> 64
    return index


def numbers(x):
    return [float(v) for v in np.asarray(x).ravel()]


def permutation_cases(rng):
    cases = []
    for n in (3, 8, 13):
        # multiples of 1/4, so that many choices of signs give exactly the same mean
        a, b = rng.integers(0, 12, n) / 4, rng.integers(0, 8, n) / 4
        r = stats.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
        cases.append({"a": numbers(a), "b": numbers(b), "mean_difference": r.statistic, "p": r.pvalue})
    a = rng.normal(0.3, 1, 20)
    sums = sum_of_all_signs(a)
    p = np.mean(np.abs(sums) >= abs(a.sum()) - 1e-12)
    cases.append({"a": numbers(a), "b": [0.0] * 20, "mean_difference": a.mean(), "p": p})
    return cases


def sum_of_all_signs(d):
    sums = np.zeros(1)
    for v in d:
        sums = np.concatenate([sums + v, sums - v])
    return sums


def random_permutation(rng):
    """24 pairs: still within reach of enumeration, so p is exact although mr.stats draws signs."""
    a, b = rng.normal(0.9, 1, 24), rng.normal(0, 1, 24)
    sums = sum_of_all_signs(a - b)
    return {"a": numbers(a), "b": numbers(b), "p": np.mean(np.abs(sums) >= abs((a - b).sum()) - 1e-12)}


def bootstrap_cases(rng):
    x, y = rng.gamma(2.0, 1.0, 21), rng.gamma(2.0, 1.0, 21)
    named = {
        "mean": (lambda v, axis: np.mean(v, axis), (x,)),
        "median": (lambda v, axis: np.median(v, axis), (x,)),
        "mean of pairs": (lambda v, w, axis: np.mean(v - w, axis), (x, y)),
        "ratio": (lambda v, w, axis: np.mean(v, axis) / np.mean(w, axis), (x, y)),
    }
    samples, seed = 400, 7
    index = resamples(len(x), samples, seed)
    cases = []
    for name, (f, data) in named.items():
        drawn = f(*[v[index] for v in data], axis=-1)
        given = stats._resampling.BootstrapResult(stats._common.ConfidenceInterval(0, 0), drawn, 0)
        case = {"statistic": name, "estimate": float(f(*data, axis=-1)), "error": float(np.std(drawn, ddof=1))}
        for method in ("percentile", "bca"):
            # n_resamples=0: scipy would add random samples of its own to the given ones
            r = stats.bootstrap(data, f, paired=len(data) > 1, n_resamples=0, bootstrap_result=given, method=method,
                                confidence_level=0.9, axis=-1)
            case[method] = numbers(r.confidence_interval)
        cases.append(case)
    return {"x": numbers(x), "y": numbers(y), "samples": samples, "seed": seed, "level": 0.9, "cases": cases}


def holm_cases(rng):
    """Adjusted p by the definition: the largest of (m - rank + 1) p over all smaller or equal p, at most 1."""
    cases = []
    for ps in ([0.01, 0.04, 0.03, 0.005], [0.02, 0.02, 0.5, 0.9, 0.001], list(rng.uniform(0, 0.2, 9)), [0.3]):
        adjusted = []
        for p in ps:
            smaller = sorted(q for q in ps if q <= p)
            adjusted.append(min(1.0, max((len(ps) - i) * q for i, q in enumerate(smaller))))
        cases.append({"p": [float(p) for p in ps], "adjusted": [float(p) for p in adjusted]})
    return cases


def effect_cases(rng):
    cases = []
    for n in (3, 12, 400):
        a, b = np.round(rng.normal(0.2, 1, n), 1), np.round(rng.normal(0, 1, n), 1)
        d = a - b
        dz = d.mean() / d.std(ddof=1)
        m = n - 1
        factor = math.exp(math.lgamma(m / 2) - math.lgamma((m - 1) / 2)) / math.sqrt(m / 2)
        cases.append({"a": numbers(a), "b": numbers(b), "d": dz, "hedges": dz * factor, "wins": np.mean(a > b),
                      "ties": np.mean(a == b), "losses": np.mean(a < b)})
    return cases


def lscv(x, h):
    """The integral by quadrature and the sum value by value, unlike the closed form."""
    def density(v, at):
        return stats.norm.pdf((at[:, None] - v[None, :]) / h).mean(1) / h
    grid = np.linspace(x.min() - 10 * h, x.max() + 10 * h, 20001)
    square = np.trapezoid(density(x, grid) ** 2, grid)
    rest = [density(np.delete(x, i), x[i:i + 1])[0] for i in range(len(x))]
    return square - 2 * np.mean(rest)


def spread(x):
    return min(x.std(ddof=1), stats.iqr(x) / 1.34)


def kde_case(rng):
    x = np.concatenate([rng.normal(0, 1, 45), rng.normal(5, 0.7, 35)])
    n, top = len(x), 1.144 * x.std(ddof=1) * len(x) ** -0.2
    grid = np.geomspace(0.1 * top, top, 40)
    at = int(np.argmin([lscv(x, h) for h in grid]))
    best = optimize.minimize_scalar(lambda h: lscv(x, h), bounds=(grid[at - 1], grid[at + 1]), method="bounded",
                                    options={"xatol": 1e-7}).x
    points = np.linspace(-3, 8, 23)
    density = {str(h): numbers(stats.gaussian_kde(x, h / x.std(ddof=1))(points)) for h in (0.25, 1.5)}
    return {"x": numbers(x), "low": -3, "high": 8, "points": 23, "density": density, "lscv": best,
            "silverman": 0.9 * spread(x) * n ** -0.2, "scott": 1.06 * spread(x) * n ** -0.2}


def smooth(x, y, at, h, degree):
    """Weighted least squares at one point: the value and the weights of y."""
    w = stats.norm.pdf((x - at) / h)
    X = np.vander(x - at, degree + 1, increasing=True)
    rows = np.linalg.solve(X.T @ (w[:, None] * X), X.T * w)
    return rows[0] @ y, rows[0]


def left_out(x, y, h, degree):
    return np.array([y[i] - smooth(np.delete(x, i), np.delete(y, i), x[i], h, degree)[0] for i in range(len(x))])


def corrected_information(x, y, h, degree):
    """AICc of Hurvich, Simonoff and Tsai (1998), from the smoother's matrix."""
    H = np.stack([smooth(x, y, at, h, degree)[1] for at in x])
    n, trace = len(x), np.trace(H)
    return np.log(np.mean((y - H @ y) ** 2)) + 1 + 2 * (trace + 1) / (n - trace - 2)


def least(error):
    grid = np.geomspace(0.12, 5, 40)
    at = int(np.argmin([error(h) for h in grid]))
    return optimize.minimize_scalar(error, bounds=(grid[at - 1], grid[at + 1]), method="bounded", options={"xatol": 1e-8}).x


def regression_cases(rng):
    x = rng.uniform(0, 10, 60)
    y = np.sin(x) + rng.normal(0, 0.1 + 0.05 * x)
    cases, points = [], np.linspace(x.min(), x.max(), 17)
    for degree in (0, 1):
        error = lambda h: np.mean(left_out(x, y, h, degree) ** 2)
        best = least(error)
        fits = [smooth(x, y, p, 0.8, degree) for p in points]
        residuals = left_out(x, y, 0.8, degree)
        cases.append({"degree": degree, "cv_bandwidth": best, "cv": error(best), "bandwidth": 0.8,
                      "aicc_bandwidth": least(lambda h: corrected_information(x, y, h, degree)),
                      "y": numbers([f[0] for f in fits]),
                      "error": numbers([math.sqrt(np.sum(f[1] ** 2 * residuals ** 2)) for f in fits])})
    return {"x": numbers(x), "y": numbers(y), "points": 17, "level": 0.9, "z": stats.norm.ppf(0.95), "cases": cases}


def reach(x, at, share):
    """The distance from a point that holds this share of x, and two different x."""
    gaps = np.abs(x - at)
    return max(np.sort(gaps)[math.ceil(share * len(x)) - 1], np.sort(np.abs(np.unique(x) - at))[1])


def sparse_regression_case():
    """Ties, and few pairs at large x: local lines whose bandwidth reaches a share of the pairs."""
    rng = np.random.default_rng(58)
    x = np.log2(np.round(2 ** rng.exponential(1.3, 90)) + 1)
    y = np.cos(x) + rng.standard_t(3, 90) * 0.4
    share, points = 0.15, np.linspace(x.min(), x.max(), 19)

    def fit(a, b, at, h):
        return smooth(a, b, at, max(h, reach(a, at, share)), 1)

    def information(h):
        H = np.stack([fit(x, y, at, h)[1] for at in x])
        trace = np.trace(H)
        return np.log(np.mean((y - H @ y) ** 2)) + 2 * (trace + 1) / (len(x) - trace - 2)
    floor = 0.9 * spread(x) * len(x) ** -0.2
    grid = np.geomspace(floor, 2 * np.ptp(x), 60)
    at = int(np.argmin([information(h) for h in grid]))
    best = floor if at == 0 else optimize.minimize_scalar(information, bounds=(grid[at - 1], grid[at + 1]), method="bounded",
                                                          options={"xatol": 1e-8}).x
    others = [np.delete(np.arange(len(x)), i) for i in range(len(x))]
    residuals = np.array([y[i] - fit(x[o], y[o], x[i], 0.3)[0] for i, o in enumerate(others)])
    fits = [fit(x, y, p, 0.3) for p in points]
    return {"x": numbers(x), "y": numbers(y), "nearest": share, "bandwidth": 0.3, "points": len(points),
            "fit": numbers([f[0] for f in fits]), "error": numbers([math.sqrt(np.sum(f[1] ** 2 * residuals ** 2)) for f in fits]),
            "floor": floor, "aicc_bandwidth": best}


def ecdf_case(rng):
    a, b = rng.integers(2, 20, 40) / 20, rng.integers(0, 18, 31) / 20
    f = stats.ecdf(a).cdf
    test = stats.ks_2samp(a, b)
    middle = np.linspace(-0.0125, 1.0125, 42)  # never on a value, and the two between neighbouring values stand for half of the way each
    gap = np.round(stats.ecdf(b).cdf.evaluate(middle) - f.evaluate(middle), 15)
    return {"a": numbers(a), "b": numbers(b), "x": numbers(f.quantiles), "p": numbers(f.probabilities),
            "ks": test.statistic, "at": test.statistic_location, "area_a": np.maximum(gap, 0).sum() * 0.025,
            "area_b": np.maximum(-gap, 0).sum() * 0.025, "middle": numbers(middle), "sign": numbers(np.sign(gap))}


def linear_model_case(rng):
    """Unbalanced. Indicators of all levels, which depend on each other, and pseudo-inverses: estimable sums do not mind."""
    loss, bound, nsr = rng.integers(0, 3, 70), rng.integers(0, 2, 70), rng.uniform(1, 3, 70)
    y = 0.5 * loss + 0.3 * bound * (loss == 1) - 0.2 * nsr + rng.normal(0, 0.4, 70)

    def rows(a, b, v):
        columns = [np.ones(len(a)), v, *[a == k for k in range(3)], *[b == k for k in range(2)]]
        return np.stack(columns + [(a == i) & (b == j) for i in range(3) for j in range(2)], 1).astype(float)
    X = rows(loss, bound, nsr)
    beta, df = np.linalg.pinv(X) @ y, 70 - np.linalg.matrix_rank(X)
    sigma = math.sqrt(np.sum((y - X @ beta) ** 2) / df)
    inverse = np.linalg.pinv(X.T @ X)

    def error(w):
        return sigma * math.sqrt(w @ inverse @ w)
    grid = [rows(np.full(2, k), np.arange(2), np.full(2, nsr.mean())).mean(0) for k in range(3)]
    contrasts = [grid[i] - grid[j] for i, j in ((0, 1), (0, 2), (1, 2))]
    return {"loss": numbers(loss), "bound": numbers(bound), "nsr": numbers(nsr), "y": numbers(y), "sigma": sigma, "df": int(df),
            "r2": 1 - sigma ** 2 * df / np.sum((y - y.mean()) ** 2),
            "mean": [w @ beta for w in grid], "error": [error(w) for w in grid],
            "low": [stats.t(df, w @ beta, error(w)).ppf(0.025) for w in grid],
            "difference": [w @ beta for w in contrasts], "difference_error": [error(w) for w in contrasts],
            "p": [2 * stats.t(df).sf(abs(w @ beta / error(w))) for w in contrasts]}


def main():
    rng = np.random.default_rng(20221107)
    about = ("Reference values of mr.stats: permutation and bootstrap (with the samples of Philox 4x32-10) by "
             f"SciPy {scipy.__version__} and by enumeration of all signs, density by its gaussian_kde, distribution functions by "
             "its ecdf and ks_2samp; Holm, effect sizes, cross validation, regression and linear models by plain formulas in NumPy "
             f"{np.__version__}. Made by make_stats.py.")
    out = {"about": about, "permutation": permutation_cases(rng), "random_permutation": random_permutation(rng),
           "bootstrap": bootstrap_cases(rng), "holm": holm_cases(rng), "effect_size": effect_cases(rng),
           "kde": kde_case(rng), "kernel_regression": regression_cases(rng), "sparse_regression": sparse_regression_case(),
           "ecdf": ecdf_case(rng), "linear_model": linear_model_case(rng)}
    path = pathlib.Path(__file__).with_name("stats.json")
    path.write_text(json.dumps(out, indent=1, default=float) + "\n")


main()
