"""Columns of pandas as scores, grades, sizes and qids."""

import numpy as np
import pytest

import moonrank

pd = pytest.importorskip("pandas")

DATA = pd.DataFrame({"qid": ["b", "b", "b", "a", "a"], "score": [3.0, 2.0, 1.0, 4.0, 5.0], "y": [0, 1, 0, 0, 1]})
SIZES = DATA.groupby("qid", sort=False).size()
EXPECTED = moonrank.evaluate([3.0, 2.0, 1.0, 4.0, 5.0], [0, 1, 0, 0, 1], [3, 2], ["ap"])


@pytest.mark.parametrize("kind", ["float64", "float32", "Float64", "Int64", "double[pyarrow]"])
def test_columns_of_every_type(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    found = moonrank.evaluate(DATA["score"].astype(kind), DATA["y"], SIZES, ["ap"])
    assert found.mean == EXPECTED.mean


def test_a_frame_of_one_column_has_the_scores():
    assert moonrank.evaluate(DATA[["score"]], DATA["y"], SIZES, ["ap"]).mean == EXPECTED.mean


def test_a_comparison_of_columns():
    found = moonrank.compare({"a": DATA["score"], "b": -DATA["score"]}, DATA["y"], SIZES, ["ap"], samples=10)
    assert [row["mean"] for row in found.means] == [0.75, 0.5]


def test_a_script_reads_a_column_as_an_array():
    assert moonrank.lua("return x:sum():item()", x=DATA["score"]) == 15.0


def test_a_loss_of_columns():
    torch = pytest.importorskip("torch")
    import moonrank.torch
    loss, scores = moonrank.torch.Loss("ap"), torch.tensor(DATA["score"].to_numpy())
    assert loss(scores, DATA["y"], SIZES) == loss(scores, DATA["y"].to_numpy(), SIZES.to_numpy())


@pytest.mark.parametrize("column", [pd.Series(["a"] * 5), pd.Series([None, "a", 1, 2, 3])], ids=["texts", "objects"])
def test_columns_without_numbers_are_errors(column):
    with pytest.raises(moonrank.MoonrankError, match="scores"):
        moonrank.evaluate(column, DATA["y"], SIZES, ["ap"])


def test_values_as_a_frame():
    by_qid = moonrank.evaluate(DATA["score"], DATA["y"], qid=DATA["qid"], metrics=["rr", "ap"]).to_dataframe()
    assert list(by_qid.columns) == ["rr", "ap"] and list(by_qid.index) == ["b", "a"]
    assert by_qid["ap"].tolist() == EXPECTED.values["ap"].tolist()
    assert list(EXPECTED.to_dataframe().index) == [0, 1]
    assert np.isnan(moonrank.evaluate([1.0], [0], [1], ["ap"]).to_dataframe()["ap"][0])
