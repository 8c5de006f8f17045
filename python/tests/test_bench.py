"""The losses in PyTorch with which tests/bench/peers/training_loop.py compares are Moonrank's."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

import moonrank

torch = pytest.importorskip("torch")
import moonrank.torch  # noqa: E402 (needs PyTorch)

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/bench/peers"


@pytest.fixture(scope="module")
def loop():
    if not FOLDER.exists():
        pytest.skip(f"{FOLDER} is not there")
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("training_loop", FOLDER / "training_loop.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


@pytest.mark.parametrize("name", ["ndcg", "lambdarank"])
def test_padded_losses_are_the_librarys(loop, name):
    draw = torch.Generator().manual_seed(1)
    sizes = torch.tensor([4, 1, 7, 3, 2])
    grades = torch.randint(0, 3, (17,), generator=draw).double()
    grades[-5:-2] = 2.0  # all rows of the fourth list have grade 2, so that no order is better than another
    values = torch.randn(17, generator=draw, dtype=torch.float64)
    values[1] = values[0]
    padded, results = loop.padded_loss(name, torch), []
    for ours in (True, False):
        x = values.clone().requires_grad_()
        if ours:
            loss = moonrank.torch.Loss(name)(x, grades, sizes)
        else:
            mask = torch.arange(7) < sizes.unsqueeze(1)
            scores, of_grades = (torch.zeros(mask.shape, dtype=torch.float64) for _ in range(2))
            scores[mask], of_grades[mask] = x, grades
            loss = padded(scores, of_grades, mask)
        loss.backward()
        results.append((loss.detach(), x.grad))
    assert torch.allclose(results[0][0], results[1][0], rtol=1e-6)
    assert torch.allclose(results[0][1], results[1][1], atol=1e-6) and results[0][1].abs().max() > 0.01


@pytest.mark.parametrize("script, option", [
    ("training_loop.py", "--losses=nope"), ("training_loop.py", "--epochs=0"), ("trees.py", "--folds=6")])
def test_wrong_options_are_refused_before_work(loop, script, option):
    if script == "trees.py":
        pytest.importorskip("xgboost")
        pytest.importorskip("lightgbm")
    ended = subprocess.run([sys.executable, str(FOLDER / script), option], capture_output=True, text=True)
    assert ended.returncode == 2 and option.split("=")[0] in ended.stderr and option.split("=")[1] in ended.stderr


def test_memory_of_losses_is_measured_in_arrays_of_scores():
    script = FOLDER / "memory_torch.py"
    if not script.exists():
        pytest.skip(f"{script} is not there")
    ended = subprocess.run([sys.executable, str(script), "2000000", "softmax_cross_entropy", "lambdarank:minmax"],
                           capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    simple, pairs = (float(line.split()[1]) for line in ended.stdout.splitlines())
    assert 1 < simple < pairs  # one array is the gradient
    # three times the numbers of the README, because fixed costs count more with fewer rows
    assert simple < 13 and pairs < 44
