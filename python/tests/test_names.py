"""Names, help, version, and the types generated from them."""

import importlib.util
import inspect
import pathlib
import subprocess
import sys

import pytest

import moonrank
from moonrank import _library, _losses, _names, _trees

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def test_the_names_as_types_are_those_of_the_library():
    spec = importlib.util.spec_from_file_location("generate_names", FOLDER / "generate_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.text(moonrank.names(), _library.call("declared", None), _losses)
    assert pathlib.Path(_names.__file__).read_text() == text, "run python/generate_names.py"


def test_functions_have_the_declared_options():
    def of(function):
        return inspect.signature(function).parameters
    declared = {option["name"]: option for option in _library.call("declared", None)["evaluate"]}
    assert declared.keys() <= of(moonrank.evaluate).keys() & _names.Conventions.__annotations__.keys()
    rows = moonrank.lua("""require "moonrank.bounds"
        local rows = require("moonrank.options").declared["mr.bounds.DistributionOptions"].rows
        local names = {} for i, row in ipairs(rows) do names[i] = row[1] end return names""")
    assert set(rows) == of(moonrank.bounds.distribution).keys() - {"metric"}


def test_an_objects_documentation_is_that_of_its_loss():
    objective = _trees.Newton("psl", tau=0.5)
    assert "surrogate:" in objective.__doc__ and "draws random" not in objective.__doc__
    assert "draws random" in _trees.Newton("bpr").__doc__
    assert "name, bound" in _trees.Newton.__doc__


@pytest.mark.parametrize("name, options, words", [
    ("psl", {"tau_sta": 1}, "tau_sta.*did you mean 'tau_star'"), ("bpr", {"regularize": {"users": 1}}, "regularize.*fit"),
    ("ordinal", {"learn": True}, "learn.*fit"), ("ndcg", {"bound": "minmaxx"}, "minmaxx.*'minmax'")])
def test_options_that_a_loss_does_not_have_are_errors(name, options, words):
    with pytest.raises(moonrank.MoonrankError, match=words):
        _trees.Newton(name, **options)


def test_types_hold_under_mypy(tmp_path):
    api = pytest.importorskip("mypy.api")
    for name, code, ends in (("good", 'Loss("psl", tau=0.5)\nLoss("bpr", "minmax", draws=2)', 0),
                             ("unknown", 'Loss("psl", taus=0.5)', 1), ("wrong", 'Loss("psl", over="row")', 1)):
        file = tmp_path / f"{name}.py"
        file.write_text(f"from moonrank._names import TorchLoss as Loss\n{code}\n")
        files = [str(file)] + ([str(FOLDER / "moonrank")] if name == "good" else [])
        out, error, status = api.run(["--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache"), *files])
        assert status == ends, out + error


def test_help_prints_the_declared_options(capsys):
    moonrank.help("mr.losses.nrbp")
    assert "steepness" in capsys.readouterr().out
    with pytest.raises(moonrank.MoonrankError, match="nothing_like_this"):
        moonrank.help("mr.nothing_like_this")


def test_the_version_is_the_programs(program, tmp_path):
    assert moonrank.__version__ == program('print(require("moonrank").version)', tmp_path).strip()


def test_a_missing_library_is_an_import_error_that_names_it(tmp_path):
    code = "import os; os.environ['MOONRANK_LIBRARY'] = '/nothing/here.so'\nimport moonrank"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode != 0 and "ImportError" in ended.stderr and "/nothing/here.so" in ended.stderr
