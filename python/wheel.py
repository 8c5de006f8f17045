"""Builds the wheel moonrank-VERSION-py3-none-manylinux_2_34_x86_64.whl from this folder and a libmoonrank.so.

    python3 wheel.py --library ../build/release/libmoonrank.so --version 0.2.0 --out FOLDER

The libraries that libmoonrank.so needs and that other systems may lack, such as Lua, are in the wheel beside it. Needs
Python and ldd. Equal files give equal bytes. SOURCE_DATE_EPOCH is the time of the files in the wheel (default
1980-01-01). The script is also the build backend of pyproject.toml, so `pip install ./python` works in the sources; the
environment variable MOONRANK_LIBRARY can name the library then.
"""

import argparse
import base64
import ctypes
import hashlib
import os
import pathlib
import subprocess
import time
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parent
TAG = "py3-none-manylinux_2_34_x86_64"
# libraries that PEP 600 guarantees on every system with this tag
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
          "libz.so.1", "ld-linux-x86-64.so.2"}

METADATA = """\
Metadata-Version: 2.1
Name: moonrank
Version: {version}
Summary: Exact ranking metrics, bounds and losses for PyTorch, XGBoost and LightGBM
License: Apache-2.0
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Requires-Python: >=3.9
Requires-Dist: numpy >=1.23
Provides-Extra: torch
Requires-Dist: torch >=2.0 ; extra == 'torch'
Provides-Extra: xgboost
Requires-Dist: xgboost >=2.0 ; extra == 'xgboost'
Provides-Extra: lightgbm
Requires-Dist: lightgbm >=4.0 ; extra == 'lightgbm'
Provides-Extra: kernel
Requires-Dist: ipykernel >=6.0 ; extra == 'kernel'
Description-Content-Type: text/markdown

"""

WHEEL = f"Wheel-Version: 1.0\nGenerator: moonrank wheel.py\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def version_of(library):
    """Returns the version that the library has."""
    loaded = ctypes.CDLL(str(pathlib.Path(library).resolve()))
    loaded.moonrank_version.restype = ctypes.c_char_p
    return loaded.moonrank_version().decode()


def bundled_libraries(library):
    """Returns the paths of the shared libraries that this library needs and that other systems may lack, by name. They
    are beside it in the wheel, where it finds them first."""
    shown = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in shown.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if arrow and name not in SYSTEM:
            path = rest.split(" (")[0]
            if not os.path.exists(path):
                raise SystemExit(f"wheel.py: {library} needs {name}, which is not installed")
            found[name] = pathlib.Path(path)
    return found


def private_name(name):
    """Returns the name that a bundled library has in the wheel. Under its own name, Python's modules such as sqlite3
    would use it instead of the system's library, or the other way round."""
    return name.replace("lib", "mr-", 1)


def renamed(data, names):
    """Returns the bytes of a library in which the names of bundled libraries are their private names, which have the
    same length."""
    for name in names:
        data = data.replace(name.encode() + b"\0", private_name(name).encode() + b"\0")
    return data


def contents(library, version, licenses=None):
    """Returns the files of the wheel but RECORD, as bytes by name. `licenses` is a folder with the licences of the
    libraries in the wheel."""
    info = f"moonrank-{version}.dist-info"
    files = {f"moonrank/{path.name}": path.read_bytes() for path in (FOLDER / "moonrank").iterdir()
             if path.suffix == ".py" or path.name == "py.typed"}
    bundled = bundled_libraries(library)
    files["moonrank/libmoonrank.so"] = renamed(pathlib.Path(library).read_bytes(), bundled)
    for name, path in bundled.items():
        files[f"moonrank/{private_name(name)}"] = renamed(path.read_bytes(), bundled)
    files[f"{info}/METADATA"] = (METADATA.format(version=version) + (FOLDER / "README.md").read_text()).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    files[f"{info}/licenses/LICENSE"] = (FOLDER.parent / "LICENSE").read_bytes()
    if licenses:
        files.update({f"{info}/licenses/{path.name}": path.read_bytes() for path in pathlib.Path(licenses).iterdir()})
    return files


def record(files, name):
    """Returns the text of RECORD: a line with checksum and size for each file."""
    lines = []
    for each, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{each},sha256={digest},{len(data)}\n")
    return "".join([*lines, f"{name},,\n"]).encode()


def build(library, out, version=None, licenses=None):
    """Writes the wheel to the folder `out` and returns its path."""
    version = version or version_of(library)
    files = contents(library, version, licenses)
    name = f"moonrank-{version}.dist-info/RECORD"
    files[name] = record(files, name)
    # 1980-01-01: zip files cannot hold earlier times
    moment = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)
    path = pathlib.Path(out) / f"moonrank-{version}-{TAG}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for each in sorted(files, key=lambda each: (each == name, each)):
            entry = zipfile.ZipInfo(each, time.gmtime(moment)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # 3 stands for Unix in zip files
            entry.external_attr = (0o100755 if ".so" in each else 0o100644) << 16
            archive.writestr(entry, files[each])
    return path


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel for pip (PEP 517)."""
    library = os.environ.get("MOONRANK_LIBRARY", str(FOLDER.parent / "build/release/libmoonrank.so"))
    if not os.path.exists(library):
        raise SystemExit(f"libmoonrank.so is not at {library}. Build it with ./bootstrap build, or set MOONRANK_LIBRARY "
                         "to its path")
    return build(library, wheel_directory).name


def main():
    parser = argparse.ArgumentParser(description="Builds the wheel of moonrank.")
    parser.add_argument("--library", required=True, help="path of libmoonrank.so")
    parser.add_argument("--version", help="version of the wheel (default: that of the library)")
    parser.add_argument("--licenses", help="folder with the licences of the libraries in the wheel (default: none)")
    parser.add_argument("--out", default=".", help="folder of the wheel (default: this one)")
    given = parser.parse_args()
    print(build(given.library, given.out, given.version, given.licenses))


if __name__ == "__main__":
    main()
