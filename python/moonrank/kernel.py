"""A kernel for Jupyter whose cells are Lua, as at Moonrank's prompt.

    python -m moonrank.kernel install [--user | --prefix DIR]
    python -m moonrank.kernel remove [--user | --prefix DIR]

Needs the package ipykernel. The process of a kernel has one Lua state. Output of a cell
is sent while the cell runs. An interrupt stops the cell and keeps the state.
"""

# ipykernel declares coroutines, and also takes the results of functions
# mypy: disable-error-code="override, union-attr"

from __future__ import annotations

import argparse
import codecs
import contextlib
import json
import os
import pathlib
import sys
import tempfile
import threading
from typing import Any, Callable, Iterator

try:
    from ipykernel.kernelbase import Kernel
except ImportError:
    _missing = "moonrank.kernel: the package ipykernel is missing. Run: pip install ipykernel"
    if __name__ == "__main__":
        raise SystemExit(_missing) from None
    raise ImportError(_missing) from None

from moonrank import _library
from moonrank._library import MoonrankError

_NAME = "moonrank"


def _forward(end: int, send: Callable[[str], None]) -> None:
    """Sends what is written to a pipe, until its other end is closed."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    with open(end, "rb", buffering=0) as pipe:
        while True:
            data = pipe.read(1 << 16)
            text = decoder.decode(data, final=not data)
            if text:
                send(text)
            if not data:
                return


@contextlib.contextmanager
def _forwarded(number: int, send: Callable[[str], None]) -> Iterator[None]:
    """Sends what is written to a file descriptor of the process, such as 1 for standard output."""
    before = os.dup(number)
    read_end, write_end = os.pipe()
    os.dup2(write_end, number)
    os.close(write_end)
    thread = threading.Thread(target=_forward, args=(read_end, send), daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.dup2(before, number)
        os.close(before)
        thread.join(timeout=2)  # a time limit, because a program that the cell left running may keep the pipe open


class MoonrankKernel(Kernel):
    implementation = "moonrank"
    implementation_version = _library.version
    banner = f"Moonrank {_library.version}: Lua for learning to rank. help(mr), ?ndcg"
    language_info = {"name": "lua", "version": "5.4", "mimetype": "text/x-lua", "file_extension": ".lua",
                     "pygments_lexer": "lua", "codemirror_mode": "lua"}

    def __init__(self, **options: Any):
        super().__init__(**options)
        _library.call("notebook_begin", None)

    def _sender(self, name: str) -> Callable[[str], None]:
        # remembered here, because the thread that sends output does not know which cell is running
        parent = self.get_parent()

        def send(text: str) -> None:
            self.session.send(self.iopub_socket, "stream", {"name": name, "text": text}, parent=parent, ident=b"stream")
        return send

    def _show(self, outputs: list[dict[str, str]]) -> None:
        for i, bundle in enumerate(outputs):
            kinds = {"text": "text/plain", "html": "text/html", "svg": "image/svg+xml"}
            content: dict[str, Any] = {"data": {kinds[kind]: text for kind, text in bundle.items()}, "metadata": {}}
            is_last = i == len(outputs) - 1
            if is_last:
                content["execution_count"] = self.execution_count
            self.send_response(self.iopub_socket, "execute_result" if is_last else "display_data", content)

    def _fail(self, kind: str, text: str, silent: bool) -> dict[str, Any]:
        content = {"ename": kind, "evalue": text.partition("\n")[0], "traceback": text.split("\n")}
        if not silent:
            self.send_response(self.iopub_socket, "error", content)
        return {"status": "error", "execution_count": self.execution_count, **content}

    def do_execute(self, code: str, silent: bool, store_history: bool = True, user_expressions: Any = None,
                   allow_stdin: bool = False, **_: Any) -> dict[str, Any]:
        reply = {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        if not code.strip():
            return reply
        hide = lambda text: None  # noqa: E731
        try:
            with _forwarded(1, hide if silent else self._sender("stdout")), \
                    _forwarded(2, hide if silent else self._sender("stderr")):
                found = _library.call("notebook_cell", {"code": code, "name": f"In[{self.execution_count}]"})
        except MoonrankError as error:
            return self._fail("error", str(error), silent)
        except KeyboardInterrupt:
            return self._fail("interrupted", "interrupted", silent)
        if not silent:
            self._show(found["outputs"] or [])
        if found["leaving"]:
            reply["payload"] = [{"source": "ask_exit", "keepkernel": False}]
        return reply

    def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        before = code[:cursor_pos]
        found = _library.call("notebook_complete", {"code": before})
        start = len(before.encode()[:found["start"] - 1].decode(errors="replace"))
        return {"status": "ok", "matches": list(found["words"] or []), "cursor_start": start,
                "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()) -> dict[str, Any]:
        found = _library.call("notebook_inspect", {"before": code[:cursor_pos], "after": code[cursor_pos:]})
        return {"status": "ok", "found": found["found"], "metadata": {},
                "data": {"text/plain": found["text"]} if found["found"] else {}}

    def do_is_complete(self, code: str) -> dict[str, Any]:
        state = _library.call("notebook_state_of", {"code": code})
        return {"status": state, "indent": "  "} if state == "incomplete" else {"status": state}


def install(prefix: str | None = None, user: bool = False) -> str:
    """Adds the kernel to Jupyter and returns its folder. Without arguments, it is added to Python's virtual environment
    or else for this user."""
    from ipykernel.kernelspec import get_kernel_dict
    from jupyter_client.kernelspec import KernelSpecManager
    if prefix is None and not user:
        user = sys.prefix == sys.base_prefix
        prefix = None if user else sys.prefix
    spec: dict[str, Any] = {"argv": [sys.executable, "-m", "moonrank.kernel", "-f", "{connection_file}"],
                            "display_name": "Moonrank (Lua)", "language": "lua", "interrupt_mode": "signal"}
    # ipykernel 7.4 and later can encrypt a kernel's connections, and warns about a kernel that does not offer it
    encryption = get_kernel_dict().get("metadata", {}).get("supported_encryption")
    if encryption:
        spec["metadata"] = {"supported_encryption": encryption}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "kernel.json").write_text(json.dumps(spec, indent=2) + "\n")
        os.chmod(folder, 0o755)
        return KernelSpecManager().install_kernel_spec(folder, _NAME, user=user, prefix=prefix)


def remove(prefix: str | None = None, user: bool = False) -> str:
    """Removes the kernel from the folder to which `install` with these arguments adds it; returns the folder."""
    import shutil

    from jupyter_core.paths import jupyter_data_dir
    if prefix is None and not user and sys.prefix != sys.base_prefix:
        prefix = sys.prefix
    data = pathlib.Path(jupyter_data_dir()) if prefix is None else pathlib.Path(prefix, "share", "jupyter")
    folder = data / "kernels" / _NAME
    if not (folder / "kernel.json").exists():
        raise SystemExit(f"moonrank.kernel: no kernel is at {folder}. `jupyter kernelspec list` shows where it is")
    shutil.rmtree(folder)
    return str(folder)


def main() -> None:
    if sys.argv[1:2] not in (["install"], ["remove"], ["--help"], ["-h"], []):
        from ipykernel.kernelapp import IPKernelApp
        return IPKernelApp.launch_instance(kernel_class=MoonrankKernel)
    parser = argparse.ArgumentParser(prog="moonrank kernel", description="Adds Moonrank to Jupyter, or removes it.")
    parser.add_argument("action", choices=["install", "remove"])
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true",
                       help="for this user (default, unless Python is that of a virtual environment)")
    where.add_argument("--prefix", help="into PREFIX/share/jupyter, such as a virtual environment")
    given = parser.parse_args()
    change = install if given.action == "install" else remove
    try:
        folder = change(given.prefix, given.user)
    except OSError as error:
        raise SystemExit(f"moonrank.kernel: the folder cannot be written: {error}. Pass --user, or a --prefix that "
                         "you may write") from None
    print(f"{'Added' if given.action == 'install' else 'Removed'} the kernel Moonrank (Lua): {folder}")


if __name__ == "__main__":
    main()
