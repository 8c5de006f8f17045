"""The wheel has the licences of the libraries in it."""

import importlib.util
import pathlib
import zipfile

import moonrank._library

BUILDER = pathlib.Path(__file__).resolve().parents[1] / "wheel.py"


def test_licences_are_in_the_wheel(tmp_path):
    spec = importlib.util.spec_from_file_location("moonrank_wheel", BUILDER)
    builder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(builder)
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
