"""The examples of the README run."""

import pathlib
import re

import numpy as np
import pytest

import moonrank

TEXT = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
EXAMPLES = {section.partition("\n")[0]: "".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
            for section in TEXT.split("\n## ")[1:] if "```python" in section}
NEEDED = {"Metrics": ["pandas"], "PyTorch": ["torch"], "XGBoost": ["xgboost"], "LightGBM": ["lightgbm"]}


def test_every_section_is_here():
    assert set(EXAMPLES) >= {"Metrics", "PyTorch", "XGBoost", "LightGBM", "Bounds and chance", "Comparison of systems",
                             "Lua"}


@pytest.mark.parametrize("title", EXAMPLES)
def test_the_example_runs(title):
    draw = np.random.default_rng(1)
    x, grades, sizes = draw.normal(size=(200, 3)), draw.integers(0, 3, 200), np.full(20, 10)
    given = {"moonrank": moonrank, "numpy": np, "x": x, "grades": grades, "sizes": sizes, "scores": x[:, 0],
             "qid": np.repeat(np.arange(20), 10), "bm25": x[:, 1], "model": x[:, 2]}
    for package in NEEDED.get(title, []):
        given[package] = pytest.importorskip(package)
    if title == "PyTorch":
        linear = given["torch"].nn.Linear(3, 1)
        given.update(x=given["torch"].tensor(x, dtype=given["torch"].float32), model=lambda x: linear(x).squeeze(1))
    if title == "LightGBM":
        given["train"] = given["valid"] = given["lightgbm"].Dataset(x, grades, group=sizes, params={"verbose": -1})
    exec(EXAMPLES[title], given)
