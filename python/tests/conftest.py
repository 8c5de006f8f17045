"""Runs of the program, whose numbers the package must have, and judged lists to compare them on."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

# Tests and their subprocesses find the same package in any working folder.
spec = importlib.util.find_spec("moonrank")
if spec is None or spec.origin is None:
    folder = str(pathlib.Path(__file__).resolve().parents[1])
    sys.path.insert(0, folder)
else:
    folder = str(pathlib.Path(spec.origin).resolve().parents[1])
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))

# the data are small, so threads of XGBoost and PyTorch would only wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def program():
    """A function that runs a Lua script by the program and returns what it printed. The environment variable MOONRANK
    can name the program."""
    built = pathlib.Path(__file__).resolve().parents[2] / "build/release/moonrank"
    path = os.environ.get("MOONRANK", str(built))
    if not os.path.exists(path):
        pytest.skip(f"the program is not at {path}; MOONRANK can name it")

    def run(code, folder):
        file = folder / "script.lua"
        file.write_text(code)
        ended = subprocess.run([path, str(file)], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout
    return run


class Lists:
    """Random judged lists."""

    def __init__(self, seed, most_grade):
        draw = np.random.default_rng(seed)
        self.sizes = draw.integers(1, 9, 12)
        rows = int(self.sizes.sum())
        self.grades = draw.integers(0, most_grade + 1, rows).astype(np.float32)
        self.scores = draw.normal(size=rows)
        self.scores[draw.random(rows) < 0.2] = 0.25  # a fifth of the scores are equal (ties)


@pytest.fixture(scope="session")
def binary():
    return Lists(1, 1)


@pytest.fixture(scope="session")
def graded():
    return Lists(2, 4)
