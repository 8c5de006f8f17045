"""What benchmarks in Python share: the data folder, LETOR files, and where something was measured."""
import gzip
import os
import pathlib
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "python"))


def add_data_folder(parser):
    parser.add_argument("--data", type=pathlib.Path, help="folder of the data sets (default: MOONRANK_DATA)",
                        default=pathlib.Path(os.environ.get("MOONRANK_DATA", root.parent / "shared/data")))


def read(path):
    """Returns features, grades and sizes of lists."""
    x, grades, qids = [], [], []
    with gzip.open(path, "rt") as file:
        for line in file:
            grade, qid, *features = line.split("#")[0].split()
            grades.append(float(grade))
            qids.append(qid)
            x.append([float(each.split(":")[1]) for each in features])
    starts = [i for i in range(len(qids)) if i == 0 or qids[i] != qids[i - 1]]
    return np.array(x), np.array(grades), np.diff(starts + [len(qids)])


def joined(parts):
    return tuple(np.concatenate([each[i] for each in parts]) for i in range(3))


def where():
    """The processor, the instruction set, the numerics version and the version of NumPy."""
    import moonrank
    with open("/proc/cpuinfo") as file:
        processor = next((line.split(":")[1].strip() for line in file if line.startswith("model name")),
                         "unknown processor")
    ours = moonrank.lua("local core = require 'moonrank.core' return core.simd() .. ', numerics ' .. core.numerics()")
    return f"{processor}, {ours}, numpy {np.__version__}"
