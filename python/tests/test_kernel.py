"""The Jupyter kernel, driven as by a notebook."""

import json
import pathlib
import subprocess
import sys
import time

import pytest

client = pytest.importorskip("jupyter_client", reason="no jupyter_client")
pytest.importorskip("ipykernel", reason="no ipykernel")


class Notebook:
    """A kernel in a process of its own, and a client."""

    def __init__(self, data):
        self.manager = client.KernelManager(kernel_name="moonrank")
        self.manager.kernel_spec_manager.kernel_dirs = [str(data / "share/jupyter/kernels")]
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def messages(self, parent, timeout=30):
        """Yields what the kernel sends about a cell, until it is idle."""
        while True:
            message = self.client.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != parent:
                continue
            content = message["content"]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return
            yield message["msg_type"], content

    def run(self, code):
        found = list(self.messages(self.client.execute(code)))
        text = "".join(content["text"] for kind, content in found if kind == "stream")
        shown = [content["data"] for kind, content in found if kind in ("execute_result", "display_data")]
        errors = [content for kind, content in found if kind == "error"]
        return text, shown, errors

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jupyter")
    subprocess.run([sys.executable, "-m", "moonrank.kernel", "install", "--prefix", str(folder)], check=True,
                   capture_output=True)
    return folder


@pytest.fixture(scope="module")
def notebook(data):
    started = Notebook(data)
    yield started
    started.stop()


def test_the_kernel_offers_what_ipykernel_can_encrypt(data):
    from ipykernel.kernelspec import get_kernel_dict
    spec = json.loads((data / "share/jupyter/kernels/moonrank/kernel.json").read_text())
    offered = get_kernel_dict().get("metadata", {}).get("supported_encryption")
    assert spec.get("metadata", {}).get("supported_encryption") == offered


def test_values_and_variables(notebook):
    assert notebook.run("local x = 20\ny = 22\nx + y")[1] == [{"text/plain": "42"}]
    assert notebook.run("x, y")[1] == [{"text/plain": "20\t22"}]
    assert notebook.run("x + y;") == ("", [], [])
    # `z = x` and `-y` are one statement of two lines, `z = x - y`
    assert notebook.run("z = x\n-y\nz")[1] == [{"text/plain": "-2"}]
    assert notebook.run("-- nothing\n") == ("", [], [])


def test_last_line_only_outside_of_blocks(notebook):
    assert notebook.run("for i = 1, 2 do\n  tostring(i)\nend") == ("", [], [])
    assert notebook.run("for i = 1, 2 do print(i) end\ntostring(3)") == ("1\n2\n", [{"text/plain": "3"}], [])


def test_error_names_cell_and_line_and_keeps_the_state(notebook):
    notebook.run("kept = 5")
    text, shown, errors = notebook.run("local a = 1\nlocal function f() return a + missing end\nprint 'before'\nf()\nlocal b")
    number = errors[0]["evalue"].partition("]")[0]
    assert text == "before\n" and shown == [] and number.startswith("In[")
    assert f"{number}]:2:" in errors[0]["evalue"] and "missing" in errors[0]["evalue"]
    assert f"  {number}]:4" in errors[0]["traceback"]
    assert not any("python" in line.lower() or ".py" in line for line in errors[0]["traceback"])
    assert "]:2:" in notebook.run("x = 1\ny = = 2")[2][0]["evalue"]
    assert notebook.run("kept")[1] == [{"text/plain": "5"}]


def test_output_is_sent_while_the_cell_runs(notebook):
    code = "io.write('a\\r') local t = os.clock() while os.clock() - t < 1.5 do end io.stderr:write('ü\\n')"
    began, seen = time.monotonic(), {}
    for kind, content in notebook.messages(notebook.client.execute(code)):
        if kind == "stream":
            seen[content["name"]] = content["text"], time.monotonic() - began
    assert seen["stdout"][0] == "a\r" and seen["stdout"][1] < 1
    assert seen["stderr"][0] == "ü\n"


def test_output_of_programs_and_much_output(notebook):
    assert notebook.run("os.execute 'echo from the shell'\n;")[0] == "from the shell\n"
    assert len(notebook.run("print(('x'):rep(1000000))")[0]) == 1000001


def test_interrupt_stops_a_loop_and_keeps_the_state(notebook):
    notebook.run("count = 0")
    parent = notebook.client.execute("print 'go' while true do count = count + 1 end")
    for kind, content in notebook.messages(parent):
        if kind == "stream":
            time.sleep(0.2)
            began = time.monotonic()
            notebook.manager.interrupt_kernel()
        elif kind == "error":
            assert content["ename"] == "interrupted" and time.monotonic() - began < 1
    assert notebook.run("count > 0")[1] == [{"text/plain": "true"}]


def test_table_is_escaped_html(notebook):
    shown = notebook.run("mr.table{ columns = { '<script>', 'b' }, rows = { { '<b>&', 1.5 } } }")[1][0]
    assert "&lt;script&gt;" in shown["text/html"] and "&lt;b&gt;&amp;" in shown["text/html"]
    assert "<script" not in shown["text/html"] and "1.5" in shown["text/plain"]


def test_results_have_html(notebook):
    shown = notebook.run("mr.evaluate(mr.tensor{ 3, 2, 1 }, mr.lists{ { 0, 1, 0 } }, { 'rr' })")[1][0]
    assert "<td>rr</td>" in shown["text/html"]


def test_plot_is_svg(notebook):
    figure = "mr.plot.lines{ y = { 1, 2 }, title = 'a < b' }"
    shown = notebook.run(f"{figure}, 1")[1]
    if "image/svg+xml" not in shown[0]:
        assert "gnuplot" in shown[0]["text/plain"]
        pytest.skip("no gnuplot")
    assert shown[0]["image/svg+xml"].lstrip().startswith("<?xml") and "a &lt; b" in shown[0]["image/svg+xml"]
    assert shown[1] == {"text/plain": "1"}


def reply(notebook, parent):
    while True:
        message = notebook.client.get_shell_msg(timeout=30)
        if message["parent_header"].get("msg_id") == parent:
            return message["content"]


def test_completion(notebook):
    notebook.run("my_variable = 2")
    found = reply(notebook, notebook.client.complete("print('ü') mr.losses.list"))
    assert found["matches"] == ["listmle", "listnet"] and found["cursor_start"] == 21
    assert "my_variable" in reply(notebook, notebook.client.complete("x = my_v + 1", 8))["matches"]
    assert reply(notebook, notebook.client.complete("xyz_unknown.q"))["matches"] == []


def test_inspect(notebook):
    for code, at in (("mr.fit", 5), ("mr.fit{ epochs = 3, ", 20), ("y = mr.fit", 10)):
        found = reply(notebook, notebook.client.inspect(code, at))
        assert found["found"] and "mr.fit(" in found["data"]["text/plain"]
    assert not reply(notebook, notebook.client.inspect("qqqqzzz", 3))["found"]
    assert not reply(notebook, notebook.client.inspect("", 0))["found"]
    assert "mr.fit(" in notebook.run("?mr.fit")[0]


def test_is_complete(notebook):
    for code, status in (("x = 1", "complete"), ("1 + 1", "complete"), ("for i = 1, 2 do", "incomplete"),
                         ("f(", "incomplete"), ("x = = 1", "invalid"), ("?ndcg", "complete")):
        assert reply(notebook, notebook.client.is_complete(code))["status"] == status, code


def test_a_second_kernel_has_a_state_of_its_own(notebook, data):
    notebook.run("only_here = 1")
    second = Notebook(data)
    try:
        assert second.run("only_here")[1] == [{"text/plain": "nil"}]
        assert second.manager.is_alive() and notebook.run("only_here")[1] == [{"text/plain": "1"}]
        assert reply(second, second.client.execute("exit"))["payload"][0]["source"] == "ask_exit"
        process = second.manager.provisioner.process
        second.manager.shutdown_wait_time = 40  # seconds; a busy machine is slow
        second.manager.shutdown_kernel()
        assert process.returncode == 0
    finally:
        second.stop()


def test_os_exit_is_an_error(notebook):
    assert "os.exit" in notebook.run("os.exit(3)")[2][0]["evalue"]
    assert notebook.run("1")[1] == [{"text/plain": "1"}]


def test_install_and_remove(data, tmp_path):
    def command(*words):
        return subprocess.run([sys.executable, "-m", "moonrank.kernel", *words], capture_output=True, text=True)
    spec = json.loads((data / "share/jupyter/kernels/moonrank/kernel.json").read_text())
    assert spec["argv"][0] == sys.executable and spec["interrupt_mode"] == "signal"
    assert command("install", "--prefix", str(tmp_path)).returncode == 0
    assert command("remove", "--prefix", str(tmp_path)).returncode == 0
    again = command("remove", "--prefix", str(tmp_path))
    assert again.returncode == 1 and str(tmp_path) in again.stderr and "Traceback" not in again.stderr
    assert command("install", "--prefix", "/proc/none").returncode == 1


NOTEBOOKS = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_example_notebook(path, data):
    cells = json.loads(path.read_text())["cells"]
    own = Notebook(data)
    try:
        for cell in cells:
            if cell["cell_type"] == "code":
                assert cell["outputs"] == [] and cell["execution_count"] is None
                assert own.run("".join(cell["source"]))[2] == []
    finally:
        own.stop()
