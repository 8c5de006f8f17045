"""The installed libraries that benchmarks are compared with, and their versions: "numpy 2.4.6, torch 2.15.0"."""
from importlib import metadata

found = []
for name in ("numpy", "torch", "scikit-learn", "ranx", "pytrec_eval", "pytrec-eval-terrier", "recometrics", "allRank",
             "faiss-cpu", "implicit", "libmf", "ir_measures", "lightgbm", "optuna", "torchsort", "xgboost"):
    try:
        found.append(f"{name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        pass
print(", ".join(found))
