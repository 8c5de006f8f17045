"""A training loop of PyTorch with a loss of Moonrank, and with the same loss in plain PyTorch.

Data: MQ2008 (partitions S1 to S3, a network 46-64-1) and MovieLens small (each user's rated films, relevant from 4
stars, users with 25 or more of them, matrix factorisation with 32 factors). Losses: smooth nDCG and LambdaRank, as
mr.losses.ndcg and mr.losses.lambdarank define them, means over the lists of a batch that count. Adam, float32.

Forms: "moonrank" is moonrank.torch.Loss on ragged rows. "padded" is PyTorch with lists padded to the longest one of the
batch and all pairs of rows, like allRank. "compiled" is its loss through torch.compile. "no loss" is the mean score in
place of a loss: what model, batches and optimizer take, which are the same in all forms. Each training runs in a
process of its own, and the forms take turns. An epoch includes the assembly of batches. The first epoch is reported
apart, because torch.compile compiles then.

Usage: python3 tests/bench/peers/training_loop.py [--sets mq2008,movielens] [--losses ndcg,lambdarank] [--repeats 3]
       [--epochs 5] [--batch 16] [--threads 1] [--data FOLDER] [--out FILE.csv]
It needs NumPy and PyTorch (`./bootstrap bench --peers` installs them into build/peers), and Moonrank's library
(`./bootstrap build`).
"""
import argparse
import csv
import datetime
import gzip
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
from statistics import median

import letor_files

FORMS = ["moonrank", "padded", "compiled", "no loss"]
SETS, LOSSES = ["mq2008", "movielens"], ["ndcg", "lambdarank"]
COLUMNS = ["data", "loss", "form", "threads", "cpu ms", "least", "most", "wall ms", "first epoch ms", "peak MiB",
           "added MiB", "largest difference", "last loss"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", default=",".join(SETS), help="data sets")
    parser.add_argument("--losses", default=",".join(LOSSES), help="losses")
    parser.add_argument("--forms", default=",".join(FORMS), help="forms, the first of which others are compared with")
    for name, default, about in (("repeats", 3, "trainings of each form"), ("epochs", 5, "epochs after the first"),
                                 ("batch", 16, "lists of a batch"), ("threads", 1, "threads of both libraries")):
        parser.add_argument(f"--{name}", type=int, default=default, help=about)
    letor_files.add_data_folder(parser)
    parser.add_argument("--out", type=pathlib.Path, help="a file for the table, as CSV")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    for name, known in (("sets", SETS), ("losses", LOSSES), ("forms", FORMS)):
        chosen = getattr(given, name).split(",")
        unknown = [each for each in chosen if each not in known]
        if unknown:
            parser.error(f"--{name} has {unknown[0]!r}, expected some of {', '.join(known)}")
        setattr(given, name, chosen)
    for name in ("repeats", "epochs", "batch", "threads"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} is {getattr(given, name)}, expected 1 or more")
    return given


def read_movielens(folder):
    """Returns user and film of each row, grades, and sizes of the lists."""
    import numpy as np
    with gzip.open(folder / "ml-latest-small/ratings.csv.gz", "rt") as file:
        rows = [(int(row["userId"]), int(row["movieId"]), float(row["rating"]) >= 4) for row in csv.DictReader(file)]
    user, film, grades = (np.array([row[i] for row in rows]) for i in range(3))
    many = np.isin(user, np.flatnonzero(np.bincount(user[grades]) >= 25))
    user, film, grades = user[many], film[many], grades[many]
    _, film = np.unique(film, return_inverse=True)
    _, user, sizes = np.unique(user, return_inverse=True, return_counts=True)
    return user, film, grades, sizes


def padded_loss(name, torch):
    """Returns the loss of padded lists: scores, grades [lists, rows], mask [lists, rows] -> mean over lists."""
    def discount(ranks):
        return 1 / torch.log2(1 + ranks)

    def gains_over_ideal(grades):  # padded rows have grade 0, and thus add no gain
        best = grades.sort(dim=1, descending=True).values
        ranks = torch.arange(1, grades.shape[1] + 1, dtype=grades.dtype)
        ideal = (torch.exp2(best) - 1).mul(discount(ranks)).sum(1, keepdim=True)
        return (torch.exp2(grades) - 1) / ideal.clamp(min=1e-9)

    def mean(values, grades, mask):
        counts = grades.amax(1) > grades.masked_fill(~mask, float("inf")).amin(1)
        return (values * counts).sum() / counts.sum()

    def ndcg(scores, grades, mask):
        larger = torch.sigmoid(scores.unsqueeze(1) - scores.unsqueeze(2)) * mask.unsqueeze(1)
        ranks = 0.5 + larger.sum(2)  # a row's own sigmoid (1/2) is in the sum, so the rank is the sum + 1/2
        return mean(-(gains_over_ideal(grades) * discount(ranks)).sum(1), grades, mask)

    def lambdarank(scores, grades, mask):
        with torch.no_grad():
            order = scores.masked_fill(~mask, float("-inf")).argsort(dim=1, descending=True, stable=True)
            ranks = order.argsort(dim=1).to(scores.dtype) + 1
            gains, discounts = gains_over_ideal(grades), discount(ranks)
            change = ((gains.unsqueeze(2) - gains.unsqueeze(1)) * (discounts.unsqueeze(2) - discounts.unsqueeze(1)))
            pairs = (grades.unsqueeze(2) > grades.unsqueeze(1)) & mask.unsqueeze(1)
            change = change.abs() * pairs
        costs = torch.nn.functional.softplus(scores.unsqueeze(1) - scores.unsqueeze(2))
        return mean((change * costs).sum((1, 2)), grades, mask)

    return {"ndcg": ndcg, "lambdarank": lambdarank}[name]


def loss_of(form, name, threads, torch):
    """Returns the loss of a batch: scores and grades of all rows, sizes -> number."""
    if form == "moonrank":
        import moonrank
        import moonrank.torch
        moonrank.threads(threads)
        return moonrank.torch.Loss(name)
    if form == "no loss":
        return lambda scores, grades, sizes: scores.mean()
    padded = padded_loss(name, torch)
    if form == "compiled":
        padded = torch.compile(padded, dynamic=True)

    def loss(scores, grades, sizes):
        mask = torch.arange(int(sizes.max())) < sizes.unsqueeze(1)
        padded_scores, padded_grades = torch.zeros(mask.shape), torch.zeros(mask.shape)
        padded_scores[mask], padded_grades[mask] = scores, grades
        return padded(padded_scores, padded_grades, mask)
    return loss


def task(name, folder, torch):
    """Returns model, grades, sizes and learning rate. The model gets numbers of rows and returns their scores."""
    torch.manual_seed(1)
    if name == "mq2008":
        x, grades, sizes = letor_files.joined([letor_files.read(folder / f"mq2008/S{i}.txt.gz") for i in (1, 2, 3)])
        x = torch.tensor(x, dtype=torch.float32)
        network = torch.nn.Sequential(torch.nn.Linear(46, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        return network.parameters(), lambda rows: network(x[rows]).squeeze(1), grades, sizes, 0.001
    user, film, grades, sizes = read_movielens(folder)
    users, films = (torch.nn.Embedding(int(each.max()) + 1, 32) for each in (user, film))
    for table in (users, films):
        torch.nn.init.normal_(table.weight, std=0.1)
    user, film = torch.tensor(user), torch.tensor(film)
    return ([users.weight, films.weight], lambda rows: (users(user[rows]) * films(film[rows])).sum(1), grades, sizes,
            0.01)


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train(data, loss_name, form, given):
    """Trains, and prints the mean loss and the times of each epoch as JSON."""
    import torch
    torch.set_num_threads(given.threads)
    parameters, scores_of, grades, sizes, rate = task(data, given.data, torch)
    grades, sizes = torch.tensor(grades, dtype=torch.float32), torch.tensor(sizes)
    loss = loss_of(form, loss_name, given.threads, torch)
    optimizer = torch.optim.Adam(parameters, lr=rate)
    rows = torch.arange(len(grades)).split(sizes.tolist())
    draw, before = torch.Generator().manual_seed(1), peak()
    found = {"loss": [], "cpu": [], "wall": []}
    for _ in range(given.epochs + 1):
        wall, cpu, total = time.perf_counter(), time.process_time(), 0.0
        batches = torch.randperm(len(sizes), generator=draw).split(given.batch)
        for batch in batches:
            chosen = torch.cat([rows[i] for i in batch.tolist()])
            value = loss(scores_of(chosen), grades[chosen], sizes[batch])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            total += value.item()
        found["wall"].append(time.perf_counter() - wall)
        found["cpu"].append(time.process_time() - cpu)
        found["loss"].append(total / len(batches))
    print(json.dumps({**found, "peak": peak(), "before": before, "torch": torch.__version__}))


def in_own_process(data, loss, form, given):
    command = [sys.executable, __file__, "--worker", f"{data},{loss},{form}", "--data", str(given.data)]
    for name in ("epochs", "batch", "threads"):
        command += [f"--{name}", str(getattr(given, name))]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{data}, {loss}, {form} failed: {ended.stderr.strip().splitlines()[-1:]}")
    return json.loads(ended.stdout.splitlines()[-1])


def measured(data, loss, given):
    """Returns a row per form."""
    runs = {form: [] for form in given.forms}
    for repeat in range(given.repeats):
        for form in given.forms:
            runs[form].append(in_own_process(data, loss, form, given))
            print(f"{data}, {loss}: repeat {repeat + 1} of {given.repeats}, {form}", file=sys.stderr, flush=True)
    curve, rows = runs[given.forms[0]][0]["loss"], []
    for form, of_form in runs.items():
        cpu, wall = ([x * 1e3 for run in of_form for x in run[clock][1:]] for clock in ("cpu", "wall"))
        differs = max(abs(a - b) for run in of_form for a, b in zip(run["loss"], curve))
        rows.append([data, loss, form, given.threads, *(f"{x:.4g}" for x in (
            median(cpu), min(cpu), max(cpu), median(wall), 1e3 * median([run["wall"][0] for run in of_form]),
            median([run["peak"] for run in of_form]), median([run["peak"] - run["before"] for run in of_form]))),
            f"{differs:.2g}" if form != "no loss" else "", f"{of_form[0]['loss'][-1]:.7g}"])
    return rows, of_form[0]["torch"]


def main():
    given = arguments()
    if given.worker:
        return train(*given.worker.split(","), given)
    rows, version = [], None
    for data in given.sets:
        for loss in given.losses:
            found, version = measured(data, loss, given)
            rows += found
    first = (f"A training loop of PyTorch: batches of {given.batch} lists, {given.epochs} epochs after the first, "
             f"{given.repeats} trainings. {datetime.date.today()}, {letor_files.where()}, torch {version}.")
    table = "\n".join("  ".join(f"{cell:<18}" for cell in map(str, row)).rstrip() for row in [COLUMNS, *rows])
    print(f"{first}\n{table}")
    if given.out:
        with open(given.out, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
        given.out.with_suffix(".txt").write_text(f"{first}\n{table}\n")


if __name__ == "__main__":
    main()
