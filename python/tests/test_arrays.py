"""What arrays may be, what is not copied, and which errors wrong arrays raise."""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import moonrank

SCORES, GRADES, SIZES = [3.0, 2.0, 1.0, 4.0, 5.0], [0, 1, 0, 0, 1], [3, 2]
RR = {"rr": 0.75}


@pytest.mark.parametrize("scores", [
    SCORES, tuple(SCORES), np.array(SCORES), np.float32(SCORES), np.float16(SCORES), np.int32(SCORES),
    np.uint64(SCORES), np.array(SCORES, ">f8"), np.repeat(SCORES, 2)[::2], np.array(SCORES[::-1])[::-1]],
    ids=["list", "tuple", "float64", "float32", "float16", "int32", "uint64", "big endian", "strided", "reversed"])
def test_arrays_of_every_kind_have_the_values_of_the_list(scores):
    assert moonrank.evaluate(scores, GRADES, SIZES, ["rr"]).mean == RR


def test_large_whole_scores_keep_their_order():
    scores = np.array([2**24, 2**24 + 1])  # these integers would be equal in float32
    assert moonrank.evaluate(scores, [0, 1], [2], "rr").mean == {"rr": 1.0}


@pytest.mark.parametrize("grades", [np.array(GRADES, bool), np.float64(GRADES), np.uint8(GRADES)])
@pytest.mark.parametrize("sizes", [np.int32(SIZES), np.uint8(SIZES), tuple(SIZES)])
def test_grades_and_sizes_of_every_kind(grades, sizes):
    assert moonrank.evaluate(SCORES, grades, sizes, ["rr"]).mean == RR


WRONG = {
    "too few rows": ((SCORES[:4], GRADES, SIZES), ("scores", "4", "5")),
    "a matrix": (([SCORES], GRADES, SIZES), ("scores", r"\(1, 5\)")),
    "a number": ((1.0, GRADES, SIZES), ("scores", r"\(\)")),
    "ragged": (([[1.0], [1.0, 2.0]], GRADES, SIZES), ("scores",)),
    "texts": ((["a"] * 5, GRADES, SIZES), ("scores", "<U1")),
    "objects": (([None] * 5, GRADES, SIZES), ("scores", "object")),
    "complex": ((np.array(SCORES) * 1j, GRADES, SIZES), ("scores", "complex")),
    "NaN in scores": ((SCORES[:4] + [np.nan], GRADES, SIZES), ("scores", "NaN", "row 4")),
    "NaN in grades": ((SCORES, [np.nan] + GRADES[1:], SIZES), ("grades", "nan", "row 0")),
    "a negative grade": ((SCORES, GRADES[:4] + [-1], SIZES), ("grades", "-1", "row 4")),
    "an infinite grade": ((SCORES, GRADES[:4] + [np.inf], SIZES), ("grades", "inf", "row 4")),
    "sizes of another sum": ((SCORES, GRADES, [3, 3]), ("sizes", "6", "5")),
    "sizes that overflow": ((SCORES, GRADES, [2**62] * 2), ("sizes", "9223372036854775808", "5")),
    "a negative size": ((SCORES, GRADES, [6, -1]), ("sizes", "-1")),
    "half a size": ((SCORES, GRADES, [2.5, 2.5]), ("sizes", "float64")),
    "no sizes": ((SCORES, GRADES, None), ("sizes", "None")),
    "a size of 64 bits": ((SCORES, GRADES, np.array([2**64 - 1, 6], np.uint64)), ("sizes", "18446744073709551615")),
    "masked scores": ((np.ma.masked_array(SCORES, [0, 0, 0, 0, 1]), GRADES, SIZES), ("scores", "masked")),
    "masked grades": ((SCORES, np.ma.masked_array(GRADES, [1, 0, 0, 0, 0]), SIZES), ("grades", "masked")),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arrays_are_errors_that_name_the_argument(case):
    given, words = WRONG[case]
    with pytest.raises(moonrank.MoonrankError) as error:
        moonrank.evaluate(*given, ["rr"])
    for word in words:
        error.match(word)


@pytest.mark.parametrize("metrics, words", [
    (["ndgc"], ("ndgc",)), ([("ap", "minmx")], ("minmx",)), ([3], ("3",)), (None, ("metrics", "None")),
    (3, ("metrics", "3")), ([["ap", "minmax"]], ("minmax",)), ([], ("no metric",)), (["\udcff"], ("UTF-8", "udcff"))])
def test_wrong_metrics_are_errors(metrics, words):
    with pytest.raises(moonrank.MoonrankError) as error:
        moonrank.evaluate(SCORES, GRADES, SIZES, metrics)
    for word in words:
        error.match(word)


def test_a_pair_of_metric_and_bound_is_a_tuple():
    def names(metrics):
        return moonrank.evaluate(SCORES, GRADES, SIZES, metrics).names
    assert names(("ap", "minmax")) == names([("ap", "minmax")]) == ["ap[minmax]"]
    assert names(("ap", "rr")) == names(["ap", "rr"]) == names([["ap", "rr"]]) == ["ap", "rr"]


def test_a_metric_that_is_given_twice_is_there_once():
    assert moonrank.evaluate(SCORES, GRADES, SIZES, ["rr", "ap", "rr"]).names == ["rr", "ap"]


def test_metrics_have_the_names_that_were_given():
    metrics = ["map", "ap", "mrr@2", "ap:minmax", ("map", "minmax")]
    names = ["map", "ap", "mrr@2", "ap:minmax", "map[minmax]"]
    found = moonrank.evaluate(SCORES, GRADES, SIZES, metrics, relevant=1)
    assert found.names == names and "map" in repr(found)
    for each in (found.mean, found.values, found.counted, found.skipped):
        assert list(each) == names
    assert found.mean["map"] == found.mean["ap"] and found.mean["ap:minmax"] == found.mean["map[minmax]"]
    rows = moonrank.compare({"a": SCORES, "b": SCORES[::-1]}, GRADES, SIZES, ["map"]).means
    assert [row["metric"] for row in rows] == ["map", "map"]


def test_dictionaries_have_the_order_of_the_metrics():
    metrics = ["rr", "ap", "ndcg@3", "ndcg", "f1@2", "ap[minmax]"]
    found = moonrank.evaluate(SCORES, GRADES, SIZES, [*metrics[:-1], ("ap", "minmax")])
    for each in (found.mean, found.values, found.counted, found.skipped):
        assert list(each) == found.names == metrics


def test_dictionaries_of_scripts_have_sorted_keys():
    found = moonrank.lua("return {b = 1, [3] = 2, a = {z = 1, y = 2}, c = 4, [1.5] = 5}")
    assert list(found) == [1.5, 3, "a", "b", "c"] and list(found["a"]) == ["y", "z"]


def test_means_of_float32_scores_are_not_rounded():
    draw = np.random.default_rng(3)
    scores, grades = draw.normal(size=600).astype(np.float32), draw.integers(0, 3, 600)
    for metric, options in (("ndcg@5", {}), (("ap", "minmax"), {}), ("rr", {"empty": "zero"})):
        found = moonrank.evaluate(scores, grades, np.full(100, 6), [metric], **options)
        name, = found.names
        values = found.values[name][~np.isnan(found.values[name])]
        assert abs(found.mean[name] - math.fsum(values) / len(values)) < 1e-15
        assert found.mean[name] == moonrank.evaluate(scores.astype(float), grades, np.full(100, 6), [metric],
                                                     **options).mean[name]
    assert np.isnan(moonrank.evaluate(np.float32([1, 2]), [0, 1], [1, 1], "rr", empty="nan").mean["rr"])


def test_scores_in_a_column_are_accepted():
    assert moonrank.evaluate(np.array(SCORES)[:, None], GRADES, SIZES, ["rr"]).mean == RR
    assert moonrank.evaluate(np.float32([1]).reshape(1, 1), [1], [1], ["rr"]).mean == {"rr": 1.0}


@pytest.mark.parametrize("qid", [[7, 7, 7, 2, 2], ["b", "b", "b", "a", "a"], np.array([1.5, 1.5, 1.5, 0, 0])])
def test_qids_instead_of_sizes(qid):
    assert moonrank.evaluate(SCORES, GRADES, qid=qid, metrics=["rr"]).mean == RR
    found = moonrank.compare({"a": SCORES, "b": SCORES[::-1]}, GRADES, qid=qid, metrics=["rr"], samples=10)
    assert found.means[0]["mean"] == 0.75


@pytest.mark.parametrize("qid", [None, [7, 7, 7, 2, 2]])
def test_kept_lists_instead_of_grades_and_sizes(qid):
    lists = moonrank.lists(GRADES, SIZES if qid is None else None, qid=qid)
    assert len(lists) == 2 and not lists.grades.flags.writeable and "rows=5" in repr(lists)
    for given in (lists, pickle.loads(pickle.dumps(lists)), copy.deepcopy(lists)):
        assert moonrank.evaluate(SCORES, given, metrics=["rr"]).mean == RR
    systems = {"a": SCORES, "b": SCORES[::-1]}
    assert repr(moonrank.compare(systems, lists, metrics=["rr"], samples=10)) == repr(
        moonrank.compare(systems, GRADES, SIZES, ["rr"], samples=10))
    for wrong in ((lists, ["rr"]), (lists, SIZES)):
        with pytest.raises(moonrank.MoonrankError, match="sizes"):
            moonrank.evaluate(SCORES, *wrong)
    with pytest.raises(moonrank.MoonrankError, match="grades"):
        moonrank.lists(lists)


def test_wrong_qids_are_errors():
    for sizes, qid, words in ((None, [1, 1, 2, 1, 1], "qid.*1.*row 3"), (SIZES, [1] * 5, "sizes and qid"),
                              (None, [[1] * 5], "qid"),
                              (None, [1.0] * 4 + [np.nan], "qid.*NaN.*row 4"), (None, [1, 1, 2, 2], "4.*5"),
                              (None, np.array([1, 1, 1, {}, {}], object), "qid.*{}.*row 3"),
                              (None, np.array([1, 1, 1, 1, np.nan], object), "qid.*nan.*row 4"),
                              (None, ["x", "x", "x", None, None], "qid.*None.*row 3"),
                              (None, np.ma.masked_array([1, 1, 1, 2, 2], [0, 0, 0, 0, 1]), "qid.*masked")):
        with pytest.raises(moonrank.MoonrankError, match=words):
            moonrank.evaluate(SCORES, GRADES, sizes, ["rr"], qid=qid)


@pytest.mark.parametrize("x", [2**63, [2**63], np.array([1, 2**63], np.uint64), np.uint64(2**63)])
def test_integers_that_do_not_fit_are_errors(x):
    with pytest.raises(moonrank.MoonrankError, match="9223372036854775808|64 bits"):
        moonrank.lua("return x", x=x)


def test_arrays_at_odd_addresses_have_the_values_of_their_copies():
    x = np.frombuffer(bytearray(b"?" + np.array(SCORES).tobytes()), np.float64, offset=1)
    y = np.frombuffer(bytearray(b"?" + np.float32(GRADES).tobytes()), np.float32, offset=1)
    assert not x.flags.aligned and moonrank.evaluate(x, y, SIZES, ["rr"]).mean == RR
    assert moonrank.lua("return x", x=x).ctypes.data % 8 == 0


def test_wrong_options_are_errors():
    with pytest.raises(moonrank.MoonrankError, match="ties.*trec"):
        moonrank.evaluate(SCORES, GRADES, SIZES, ["rr"], ties="trec")
    with pytest.raises(moonrank.MoonrankError, match="ties.*bad"):
        moonrank.evaluate(SCORES, GRADES, SIZES, ["rr"], ties="bad")
    with pytest.raises(TypeError, match="tiez"):
        moonrank.evaluate(SCORES, GRADES, SIZES, ["rr"], tiez="mean")


def test_empty_lists_are_left_out_and_no_lists_have_no_mean():
    found = moonrank.evaluate([1.0, 2.0], [0, 1], [0, 2, 0], ["rr"])
    assert found.mean == {"rr": 1.0} and found.counted == {"rr": 1} and found.skipped == {"rr": 2}
    assert np.isnan(found.values["rr"]).tolist() == [True, False, True]
    nothing = moonrank.evaluate([], [], [], ["rr"])
    assert np.isnan(nothing.mean["rr"]) and nothing.values["rr"].shape == (0,)


def test_a_bound_after_a_colon_and_in_a_pair_are_equal():
    found = moonrank.evaluate(SCORES, GRADES, SIZES, [("ap", "minmax")])
    assert found.names == ["ap[minmax]"]
    assert found.mean["ap[minmax]"] == moonrank.evaluate(SCORES, GRADES, SIZES, "ap:minmax").mean["ap:minmax"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3)])
def test_a_script_shares_the_memory_of_arrays(dtype, shape):
    x = np.arange(6).astype(dtype).reshape(shape)
    y = moonrank.lua("return x", x=x)
    assert y.ctypes.data == x.ctypes.data and y.dtype == x.dtype and y.shape == shape
    y[:] = 9
    assert (x == 9).all()


def test_a_script_gets_a_copy_of_memory_that_it_may_not_write():
    x = np.arange(6.0)
    x.flags.writeable = False
    y = moonrank.lua("return x", x=x)
    assert y.ctypes.data != x.ctypes.data and (x == y).all()


def test_a_result_outlives_its_tensor_and_its_argument():
    x = np.arange(1000.0)
    twice, same = moonrank.lua("return x * 2, x", x=x)
    del x
    moonrank.lua("collectgarbage() local y = {} for i = 1, 50 do y[i] = mr.tensor{i} end")
    assert (twice == np.arange(1000.0) * 2).all() and (same == np.arange(1000.0)).all()


def test_values_go_there_and_back():
    value = {"a": [1, 2.5, "text", True], "b": {"c": None, "d": -2**63}, "e": [], "ü": "ö"}
    found = moonrank.lua("return v", v=value)
    assert found == {"a": [1, 2.5, "text", True], "b": {"d": -2**63}, "e": {}, "ü": "ö"}
    assert moonrank.lua("return 1, nil, 'a'") == [1, None, "a"]
    assert moonrank.lua("x = 1") is None
    assert moonrank.lua("local y = {} for i, x in ipairs(xs) do y[i] = x:sum():item() end return y",
                        xs=[np.ones(3), np.ones(4)]) == [3.0, 4.0]


def test_errors_of_scripts():
    with pytest.raises(moonrank.MoonrankError, match="script:2.*no!"):
        moonrank.lua("\nerror 'no!'")
    with pytest.raises(moonrank.MoonrankError, match="script:1"):
        moonrank.lua("return +")
    with pytest.raises(moonrank.MoonrankError, match="function"):
        moonrank.lua("return print")
    with pytest.raises(moonrank.MoonrankError, match="nested"):
        moonrank.lua("local t = {} t.t = t return t")
    with pytest.raises(moonrank.MoonrankError, match="object"):
        moonrank.lua("return x", x=object())
    for code, words in (("error{}", "table.*{}"), ("error{code = 7, words = {'a', 'b'}}", 'code = 7.*"a", "b"'),
                        ("error{('x'):rep(90), ('y'):rep(90)}", "x.*y")):
        with pytest.raises(moonrank.MoonrankError, match=words) as error:
            moonrank.lua(code)
        assert "\n" not in str(error.value)
    for code in (None, 3, b"return 1"):
        with pytest.raises(moonrank.MoonrankError, match="code.*text"):
            moonrank.lua(code)
    for name in (None, 3):
        with pytest.raises(moonrank.MoonrankError, match="name.*text"):
            moonrank.help(name)
    assert moonrank.lua("return 2") == 2


def nested(depth):
    return [nested(depth - 1)] if depth > 0 else 1


def test_lists_inside_lists():
    assert moonrank.lua("return x[1][1][1]", x=nested(3)) == 1
    assert moonrank.lua("return #x", x=nested(60)) == 1
    endless, dictionary = [], {}
    endless.append(endless)
    dictionary["x"] = [dictionary]
    for wrong in (endless, dictionary, nested(70), nested(900)):
        with pytest.raises(moonrank.MoonrankError, match="itself"):
            moonrank.lua("return 1", x=wrong)


@pytest.mark.parametrize("key", [None, math.nan, (1, 2), "\0array", "\udcff", 2**64])
def test_keys_that_tables_cannot_have_are_errors(key):
    with pytest.raises(moonrank.MoonrankError, match="key|UTF-8|64 bits"):
        moonrank.lua("return 1", x={key: 1})


def test_texts_have_every_byte():
    assert moonrank.lua("return x .. 'c\\0d', #x", x="a\0ü") == ["a\0üc\0d", 4]
    with pytest.raises(moonrank.MoonrankError, match="UTF-8"):
        moonrank.lua("return x", x="\udcff")


def test_an_array_of_many_dimensions_is_an_error():
    with pytest.raises(moonrank.MoonrankError, match="x has 5 dim"):
        moonrank.lua("return x", x=np.ones((1,) * 5))


MEMORY = """
import re, numpy, moonrank
def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) / 1024
moonrank.evaluate([1.0], [1], [1], ["rr"])
x = numpy.ones(10**7)
before = peak()
y = moonrank.lua("return x", x=x)
print(y.ctypes.data == x.ctypes.data, peak() - before)
"""


def test_ten_million_rows_are_not_copied():
    ended = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    same, grown = ended.stdout.split()
    assert same == "True"
    assert float(grown) < 8  # memory grew by less than 8 MiB; a copy of the array would need 76
