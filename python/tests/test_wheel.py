"""The wheel has the licences of the libraries in it, and its libraries are its own."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import moonrank._library

BUILDER = pathlib.Path(__file__).resolve().parents[1] / "wheel.py"

LOADED = """
import sys, moonrank, sqlite3
assert moonrank.evaluate([3.0, 2.0], [0, 1], [2], ["rr"]).mean["rr"] == 0.5
sqlite3.connect(":memory:")
with open("/proc/self/maps") as file:
    of_sqlite = {line.split()[-1] for line in file if "sqlite3.so" in line}
print(len([path for path in of_sqlite if path.startswith(sys.argv[1])]), len(of_sqlite))
"""


@pytest.fixture
def builder():
    spec = importlib.util.spec_from_file_location("moonrank_wheel", BUILDER)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_pythons_modules_do_not_use_libraries_of_the_wheel(builder, tmp_path):
    wheel = builder.build(moonrank._library._find(), tmp_path)
    folder = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    environment = {name: value for name, value in os.environ.items() if name != "MOONRANK_LIBRARY"}
    ended = subprocess.run([sys.executable, "-c", LOADED, str(folder)], capture_output=True, text=True, timeout=60,
                           env={**environment, "PYTHONPATH": str(folder)}, check=False, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["1", "2"]  # one library of the wheel, and that of Python


def test_licences_are_in_the_wheel(builder, tmp_path):
    licenses = tmp_path / "licenses"
    licenses.mkdir()
    (licenses / "lua.txt").write_text("Copyright of Lua")
    wheel = builder.build(moonrank._library._find(), tmp_path, licenses=licenses)
    with zipfile.ZipFile(wheel) as archive:
        folder = next(name for name in archive.namelist() if name.endswith("/WHEEL")).rpartition("/")[0]
        assert archive.read(f"{folder}/licenses/lua.txt") == b"Copyright of Lua"
        assert b"Apache License" in archive.read(f"{folder}/licenses/LICENSE")
        listed = {line.partition(",")[0] for line in archive.read(f"{folder}/RECORD").decode().splitlines()}
        assert listed == set(archive.namelist())
