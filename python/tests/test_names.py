"""Names, help, version, and the types generated from them."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

import moonrank
from moonrank import _names

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def test_the_names_as_types_are_those_of_the_library():
    spec = importlib.util.spec_from_file_location("generate_names", FOLDER / "generate_names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert pathlib.Path(_names.__file__).read_text() == module.text(moonrank.names()), "run python/generate_names.py"


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
