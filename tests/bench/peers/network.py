"""Epochs of a network 136-256-128-1 on made-up queries of 120 rows by PyTorch, in batches of lists: with smooth nDCG
or LambdaRank (as in training_loop.py), eager or compiled, with the mean score as loss, or only its matrix products.
Usage: network.py products|mean|eager|compiled loss=ndcg queries=336 rows=120 batch=16 epochs=3"""
import turns  # noqa: I001 (sets the number of threads first)
import torch
import training_loop

torch.set_num_threads(1)
torch.manual_seed(1)
mode, o = turns.options()
n, widths = o["queries"] * o["rows"], [136, 256, 128, 1]
x, grades = torch.randn(n, widths[0]), torch.randint(0, 5, (o["queries"], o["rows"])).float()
layers = [torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
network = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
optimizer = torch.optim.Adam(network.parameters(), lr=0.001)
padded = training_loop.padded_loss(o["loss"], torch)
mask = torch.ones(o["batch"], o["rows"], dtype=torch.bool)


def value(x, grades, mask):
    scores = network(x).reshape(grades.shape)
    return scores.mean() if mode == "mean" else padded(scores, grades, mask)


if mode == "compiled":
    value = torch.compile(value)


def epoch():
    for at in range(0, o["queries"] - o["batch"] + 1, o["batch"]):
        lists = slice(at, at + o["batch"])
        optimizer.zero_grad()
        value(x[at * o["rows"]:(at + o["batch"]) * o["rows"]], grades[lists], mask).backward()
        optimizer.step()


def products():
    """The products of forward and backward: of each layer, and by weights and inputs but for the first inputs."""
    rows = o["batch"] * o["rows"]
    with torch.no_grad():
        hidden = [x[:rows], *(torch.randn(rows, width) for width in widths[1:])]
        for _ in range(o["queries"] // o["batch"]):
            for i, layer in enumerate(layers):
                torch.mm(hidden[i], layer.weight.T)
                torch.mm(hidden[i + 1].T, hidden[i])
                if i > 0:
                    torch.mm(hidden[i + 1], layer.weight)


def work():
    for _ in range(o["epochs"]):
        (products if mode == "products" else epoch)()


turns.take(work)
