"""Judged lists as Arrow arrays."""

import numpy as np
import pytest

import moonrank
from moonrank import _arrow

pa = pytest.importorskip("pyarrow")

SCORES, GRADES = [[9, 8], [3, 2, 1], [], [5, 4]], [[1, 1], [0, 1, 0], [], [1, 0]]
TYPES = [make(child()) for make in (pa.list_, pa.large_list) for child in (pa.float32, pa.float64, pa.int8, pa.int64)]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_lists_of_every_type(kind):
    scores, grades = pa.array(SCORES, kind), pa.array(GRADES, kind)
    expected = moonrank.evaluate([9, 8, 3, 2, 1, 5, 4], [1, 1, 0, 1, 0, 1, 0], [2, 3, 0, 2], ["rr", "ap"])
    for given in (scores, [9, 8, 3, 2, 1, 5, 4], pa.array([9, 8, 3, 2, 1, 5, 4])):
        found = moonrank.evaluate(given, grades, metrics=["rr", "ap"])
        assert found.mean == expected.mean
        assert np.array_equal(found.values["ap"], expected.values["ap"], equal_nan=True)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("part", [slice(1, 4), slice(1, 2), slice(2, 3), slice(4, 4)])
def test_slices(kind, part):
    found = moonrank.evaluate(pa.array(SCORES, kind)[part], pa.array(GRADES, kind)[part], metrics="rr")
    expected = [{0: 1.0, 1: 0.5, 2: np.nan, 3: 1.0}[i] for i in range(*part.indices(4))]
    assert np.array_equal(found.values["rr"], expected, equal_nan=True)


def test_lists_of_fixed_size():
    lists = pa.array([[9, 9], [1, 2], [2, 1]], pa.list_(pa.float32(), 2))
    grades = pa.array([[9, 9], [1, 0], [1, 0]], pa.list_(pa.int32(), 2))
    assert moonrank.evaluate(lists[1:], grades[1:], metrics="rr").values["rr"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("part", [slice(0, 4), slice(1, 3), slice(3, 4), slice(2, 2)])
def test_lists_of_booleans(part):
    grades = [[True] * 5, [False, True, False] * 3, [], [False, True]]
    scores = [[*range(len(each), 0, -1)] for each in grades]
    found = moonrank.evaluate(pa.array(scores, pa.list_(pa.int64()))[part], pa.array(grades)[part], metrics="rr")
    assert np.array_equal(found.values["rr"], [1.0, 0.5, np.nan, 0.5][part], equal_nan=True)
    with pytest.raises(moonrank.MoonrankError, match="grades.*row 1 is null"):
        moonrank.evaluate([1, 2], pa.array([[True, None]]), metrics="rr")


def test_lists_are_read_in_place():
    lists = pa.array([[1.0], [2.0, 3.0], [4.0]])
    flat, sizes = _arrow.read("scores", lists[1:])
    assert sizes.tolist() == [2, 1] and flat.tolist() == [2.0, 3.0, 4.0]
    assert flat.ctypes.data == lists.values.buffers()[1].address + 8
    del lists
    assert flat.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_chunks_are_joined(kind):
    expected = moonrank.evaluate(pa.array(SCORES), pa.array(GRADES), metrics=["ap"])
    scores = pa.chunked_array([pa.array(SCORES[:1], kind), pa.array(SCORES, kind)[1:]])
    grades = pa.chunked_array([pa.array(GRADES[:2], kind), pa.array([], kind), pa.array(GRADES[2:], kind)])
    found = moonrank.evaluate(scores, grades, metrics=["ap"])
    assert np.array_equal(found.values["ap"], expected.values["ap"], equal_nan=True)
    flat = pa.chunked_array([[9, 8, 3], [2, 1, 5, 4]])
    assert moonrank.evaluate(flat, grades, metrics=["ap"]).mean == expected.mean
    assert moonrank.lua("return x:double():sum():item()", x=flat) == 32


def test_streams_of_one_chunk_and_of_none():
    one, none = pa.chunked_array([pa.array(GRADES)]), pa.chunked_array([], pa.list_(pa.int64()))
    assert moonrank.evaluate([9, 8, 3, 2, 1, 5, 4], one, metrics="rr").counted == {"rr": 3}
    assert moonrank.evaluate([], none, metrics="rr").counted == {"rr": 0}
    nulls = pa.chunked_array([[[1]], [[None]]])
    with pytest.raises(moonrank.MoonrankError, match="grades.*null"):
        moonrank.evaluate([1, 2], nulls, metrics="rr")


def test_nulls_are_errors_only_in_the_slice():
    numbers, lists = pa.array([[1, 2], [None, 1], [0, 1]]), pa.array([[1, 2], None, [0, 1]])
    for given, word in ((numbers, "row 2"), (lists, "list 1")):
        with pytest.raises(moonrank.MoonrankError, match=f"grades.*{word}.*null"):
            moonrank.evaluate([1.0] * 6, given, metrics="rr")
        assert moonrank.evaluate([1.0, 2.0], given[2:], metrics="rr").mean == {"rr": 1.0}


@pytest.mark.parametrize("wrong", [
    pa.array(["a"]), pa.array([["a"]]), pa.array([[[1]]]), pa.array([1]).dictionary_encode(), pa.chunked_array([[["a"]], [["b"]]]),
    pa.array([["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))], ids=str)
def test_other_types_are_errors(wrong):
    with pytest.raises(moonrank.MoonrankError, match="^moonrank.evaluate: grades"):
        moonrank.evaluate([1.0], wrong, metrics="rr")


def test_lists_of_other_sizes_are_errors():
    with pytest.raises(moonrank.MoonrankError, match="scores.*1 rows in list 0.*2"):
        moonrank.evaluate(pa.array([[1], [1, 2]]), pa.array([[1, 0], [1]]), metrics="rr")
    with pytest.raises(moonrank.MoonrankError, match="scores.*1 lists.*2"):
        moonrank.evaluate(pa.array([[1, 1, 2]]), pa.array([[1, 0], [1]]), metrics="rr")
    with pytest.raises(moonrank.MoonrankError, match="sizes"):
        moonrank.evaluate([1, 2], pa.array([[1, 0]]), [2], metrics="rr")


def test_a_comparison_of_lists():
    grades = pa.array(GRADES)
    found = moonrank.compare({"a": pa.array(SCORES), "b": [0] * 7}, grades, metrics="ap", samples=100)
    assert found.systems == ["a", "b"] and len(found.tests) == 1
