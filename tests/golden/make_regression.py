"""Makes regression.json: coefficients of linear models by scikit-learn, on numbers of a fixed seed.

    python3 -m venv venv && venv/bin/pip install scikit-learn && venv/bin/python tests/golden/make_regression.py

Rank LR has no estimator there: its pairs are written out as differences, in both signs, for LogisticRegression.
"""
import json
import pathlib

import numpy as np
import sklearn
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge

rng = np.random.default_rng(17)
sizes = [7, 1, 12, 9, 20, 11]
rows, width = sum(sizes), 6
# features are multiples of 1/8, which float32 holds exactly; two features are almost equal, one is constant
x = np.round(rng.normal(1, 2, (rows, width)) * 8) / 8
x[:, 3] = x[:, 2] + np.round(rng.normal(0, 0.3, rows) * 8) / 8
x[:, 5] = 2.5
grades = np.clip(np.round(0.6 * x[:, 0] - 0.4 * x[:, 2] + rng.normal(1, 1, rows)), 0, 4)
# data with fewer rows than features, in which neighbouring features are similar, as neighbouring pixels are
wide = np.round(np.cumsum(rng.normal(0, 1, (14, 40)), axis=1) * 8) / 8
wide_grades = np.clip(np.round(0.4 * wide[:, 3] - 0.3 * wide[:, 20] + rng.normal(2, 0.5, 14)), 0, 4)


def fitted(model, target, x=x):
    model.fit(x, target)
    return {"weights": [float(v) for v in np.ravel(model.coef_)], "intercept": float(np.ravel(model.intercept_)[0])}


def differences():
    found, first = [], 0
    for n in sizes:
        for i in range(first, first + n):
            found += [x[i] - x[j] for j in range(first, first + n) if grades[i] > grades[j]]
        first += n
    return np.array(found)


def rank_lr(alpha):
    d = differences()
    model = LogisticRegression(fit_intercept=False, C=1 / (2 * alpha), solver="newton-cholesky", tol=1e-13, max_iter=1000)
    model.fit(np.concatenate([d, -d]), np.repeat([1, 0], len(d)))
    return [float(v) for v in np.ravel(model.coef_)]


def logistic(alpha):
    return LogisticRegression(C=1 / alpha, solver="newton-cholesky", tol=1e-13, max_iter=1000)


def main():
    relevant = (grades >= 2).astype(int)
    out = {
        "about": "Linear models by scikit-learn " + sklearn.__version__ + ": x, grades and sizes of lists; by alpha the weights and "
                 "intercept of ridge, lasso, logistic regression of grade >= 2 and Rank LR. Made by make_regression.py.",
        "sizes": sizes, "x": x.tolist(), "grades": grades.tolist(),
        "ridge": {a: fitted(Ridge(alpha=float(a), solver="cholesky"), grades) for a in ("0.1", "1", "50")},
        "lasso": {a: fitted(Lasso(alpha=float(a), tol=1e-14, max_iter=10 ** 6), grades) for a in ("0.001", "0.1", "0.5", "1")},
        "logistic": {a: fitted(logistic(float(a)), relevant) for a in ("0.01", "1", "30")},
        "rank_lr": {a: rank_lr(float(a)) for a in ("0.01", "1", "30")},
    }
    out["wide"] = {
        "x": wide.tolist(), "grades": wide_grades.tolist(),
        "ridge": {a: fitted(Ridge(alpha=float(a), solver="svd"), wide_grades, wide) for a in ("0.01", "1", "50")},
        "lasso": {a: fitted(Lasso(alpha=float(a), tol=1e-14, max_iter=10 ** 6), wide_grades, wide) for a in ("0.01", "0.1", "1")},
    }
    out["wide"]["ridge_no_intercept"] = fitted(Ridge(alpha=1.0, fit_intercept=False, solver="svd"), wide_grades, wide)
    no_intercept = Lasso(alpha=0.2, fit_intercept=False, tol=1e-14, max_iter=10 ** 6)
    out["lasso_no_intercept"] = fitted(no_intercept, grades)
    plain = LinearRegression().fit(x[:, :5], grades)
    out["least_squares"] = {"weights": plain.coef_.tolist(), "intercept": float(plain.intercept_)}
    pathlib.Path(__file__).with_name("regression.json").write_text(json.dumps(out) + "\n")


main()
