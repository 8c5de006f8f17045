"""Steps of optimisers, learning rates and clipped gradients by PyTorch: writes optim.json.

python3 make_optim.py > optim.json   (torch 2)
"""
import json
import math

import torch

torch.set_default_dtype(torch.float64)
STEPS, ROWS, COLUMNS = 40, 4, 3
SHOWN = [1, 2, 10, 40]
START = [[math.sin(1 + 3 * r + c) for c in range(COLUMNS)] for r in range(ROWS)]
# row r has a gradient in every (r + 1)-th step; gradients have sizes from e^-6 to e^2
GRADIENTS = [[[math.cos(7 * t + 5 * r + 3 * c) * math.exp(2 - 8 * r / 3) if t % (r + 1) == 0 else 0.0
               for c in range(COLUMNS)] for r in range(ROWS)] for t in range(STEPS)]
CASES = [
    ("adamw", torch.optim.AdamW, {"lr": 0.05, "weight_decay": 0.1}, {"lr": 0.05, "weight_decay": 0.1}),
    ("adamw", torch.optim.AdamW, {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-4, "weight_decay": 0.0},
     {"lr": 0.01, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, "weight_decay": 0.0}),
    ("adagrad", torch.optim.Adagrad, {"lr": 0.1}, {"lr": 0.1}),
    ("adagrad", torch.optim.Adagrad, {"lr": 0.1, "eps": 1e-3, "weight_decay": 0.2},
     {"lr": 0.1, "epsilon": 1e-3, "weight_decay": 0.2}),
    ("rmsprop", torch.optim.RMSprop, {"lr": 0.01}, {"lr": 0.01}),
    ("rmsprop", torch.optim.RMSprop, {"lr": 0.02, "alpha": 0.9, "momentum": 0.8, "eps": 1e-4, "weight_decay": 0.1},
     {"lr": 0.02, "alpha": 0.9, "momentum": 0.8, "epsilon": 1e-4, "weight_decay": 0.1}),
    ("adam", torch.optim.Adam, {"lr": 0.05, "weight_decay": 0.1}, {"lr": 0.05, "weight_decay": 0.1}),
    ("sgd", torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}, {"lr": 0.05, "momentum": 0.9}),
]


def steps(make, options, norm=None):
    p = torch.tensor(START, requires_grad=True)
    optimizer = make([p], **options)
    shown, norms = {}, []
    for t in range(STEPS):
        p.grad = torch.tensor(GRADIENTS[t])
        if norm is not None:
            norms.append(torch.nn.utils.clip_grad_norm_([p], norm).item())
        optimizer.step()
        if t + 1 in SHOWN:
            shown[str(t + 1)] = p.detach().tolist()
    return shown, norms


def rates(make, count, values=None):
    """Learning rates of `count` steps; the scheduler moves after each."""
    p = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5)
    scheduler, found = make(optimizer), []
    for i in range(count):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step(*([values[i]] if values else []))
    return found


schedulers = torch.optim.lr_scheduler
PLATEAU = [0.1, 0.2, 0.2, 0.15, 0.1, 0.3, 0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.4, 0.1]
result = {
    "torch": torch.__version__,
    "start": START, "gradients": GRADIENTS,
    "steps": [{"name": name, "options": ours, "parameters": steps(make, options)[0]} for name, make, options, ours in CASES],
    "clipped": dict(zip(["parameters", "norms"], steps(torch.optim.SGD, {"lr": 0.1}, norm=0.7))),
    "cosine": rates(lambda o: schedulers.CosineAnnealingLR(o, T_max=20, eta_min=0.05), 20),
    "step": rates(lambda o: schedulers.StepLR(o, step_size=6, gamma=0.3), 20),
    "warmup": rates(lambda o: schedulers.SequentialLR(o, [
        schedulers.LambdaLR(o, lambda t: min(1.0, (t + 1) / 5)),
        schedulers.CosineAnnealingLR(o, T_max=15, eta_min=0.05)], milestones=[5]), 20),
    "plateau_values": PLATEAU,
    "plateau": rates(lambda o: schedulers.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=2, threshold=0), len(PLATEAU), PLATEAU),
}
print(json.dumps(result))
