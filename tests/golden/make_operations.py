"""Makes operations.json: reference values and derivatives of operations on tensors, by PyTorch in float64.

    python3 -m venv venv && venv/bin/pip install torch && venv/bin/python tests/golden/make_operations.py

Nothing of this repository is used. Inputs are whole multiples of 1/64 by a congruential generator, so that both sides
read the same numbers. Dimensions and numbers of entries count from 1 in the file, as in Moonrank.
"""
import json
import pathlib

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
state = 12345


def random(*shape):
    global state
    values = []
    for _ in range(int(torch.tensor(shape).prod())):
        state = (state * 1103515245 + 12345) % 2**31
        values.append((state >> 12) % 257 / 64 - 2)
    return torch.tensor(values).reshape(shape)


cases = []


def case(name, f, inputs, **arguments):
    """The sum of results times weights 1, 2, 3, ... (modulo 7) is differentiated by every input."""
    leaves = [x.clone().requires_grad_() for x in inputs]
    out = f(*leaves)
    weights = (torch.arange(out.numel()) % 7 + 1.0).reshape(out.shape)
    gradients = torch.autograd.grad((out * weights).sum(), leaves)
    cases.append(
        {
            "name": name,
            "arguments": arguments,
            "inputs": [{"shape": list(x.shape), "values": x.flatten().tolist()} for x in inputs],
            "shape": list(out.shape),
            "values": out.detach().flatten().tolist(),
            "gradients": [g.flatten().tolist() for g in gradients],
        }
    )


for shape in [(1, 1), (2, 9), (5, 4), (2, 3, 4)]:
    for dim in range(len(shape)):
        at = dim + 1
        x = random(*shape)
        case("logsumexp", lambda x: torch.logsumexp(x, dim), [x], dim=at)
        case("log_softmax", lambda x: torch.log_softmax(x, dim), [x], dim=at)
        if shape[dim] > 1:
            case("var", lambda x: torch.var(x, dim), [x], dim=at, correction=1)
            case("std", lambda x: torch.std(x, dim, correction=0), [x], dim=at, correction=0)
        other = random(*[2 if d == dim else n for d, n in enumerate(shape)])
        case("cat", lambda x, y: torch.cat([x, y, x], dim), [x, other], dim=at)
        case("stack", lambda x, y: torch.stack([x, y], dim), [x, random(*shape)], dim=at)
        n = shape[dim]
        index = (torch.arange(x.numel()).reshape(shape) * 7 + 3) % n
        numbers = {"dim": at, "index": (index + 1).flatten().tolist()}
        case("gather", lambda x: torch.gather(x, dim, index), [x], **numbers)
        case("scatter_add", lambda x, y: x.scatter_add(dim, index, y), [x, random(*shape)], **numbers)

for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)),
             ((2, 3), (5, 3, 4)), ((2, 1, 2, 3), (5, 3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((1, 5, 7), (3, 7, 4))]:
    case("matmul", torch.matmul, [random(*a), random(*b)])

for options in [{}, {"stride": 2}, {"padding": 1}, {"stride": [2, 1], "padding": [0, 2]}]:
    x, w, b = random(2, 3, 5, 6), random(4, 3, 3, 2), random(4)
    torch_options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    case("conv2d", lambda x, w, b: F.conv2d(x, w, b, **torch_options), [x, w, b], **options)
for size, options in [(2, {}), (3, {"stride": 1, "padding": 1}), ([2, 3], {"stride": [1, 2]})]:
    torch_options = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    torch_size = tuple(size) if isinstance(size, list) else size
    # no two entries are equal: which of several equal maxima gets the derivative is not defined
    x = random(2, 3, 7, 6) + torch.arange(252).reshape(2, 3, 7, 6) / 4096
    case("max_pool", lambda x: F.max_pool2d(x, torch_size, **torch_options), [x], size=size, **options)

for shape in [(5, 3), (4, 3, 2), (2, 3, 4, 3)]:
    for training in [True, False]:
        mean, variance = random(3), random(3).abs() + 0.5
        start = {"mean": mean.tolist(), "variance": variance.tolist()}
        case("batch_norm", lambda x, g, b: F.batch_norm(x, mean, variance, g, b, training, 0.1, 1e-5),
             [random(*shape), random(3), random(3)], training=training, **start)
        cases[-1]["running"] = {"mean": mean.tolist(), "variance": variance.tolist()}
case("layer_norm", lambda x, g, b: F.layer_norm(x, (5,), g, b), [random(2, 3, 5), random(5), random(5)])

path = pathlib.Path(__file__).with_name("operations.json")
path.write_text(json.dumps({"about": "cases of operations: inputs, result and derivatives by each input of the sum of "
                                     "results times 1, 2, ..., 7, 1, 2, ...", "torch": torch.__version__,
                            "cases": cases}) + "\n")
