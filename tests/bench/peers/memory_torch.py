"""Measures how much memory a loss of moonrank.torch takes beyond scores, grades and sizes, forward and backward.

Prints, for each loss, the growth of the process's peak resident memory in units of the array of scores. Each loss runs
in a process of its own. The gradient, which PyTorch keeps, is one of these arrays.

Usage: python memory_torch.py [ROWS] [NAME[:BOUND] ...] (default: 10,000,000 rows in lists of 100)
"""

import re
import subprocess
import sys

LOSSES = ["softmax_cross_entropy", "ndcg", "nrbp", "lambdarank:minmax"]
LIST = 100  # rows of a list


def peak():
    """Returns the largest resident memory of this process so far, in bytes."""
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\s*(\d+)", file.read())[1]) * 1024


def measured(rows, text):
    """Returns by how many arrays of scores the peak grew in a call of the loss and of its gradient."""
    import torch

    import moonrank.torch
    name, _, bound = text.partition(":")
    torch.manual_seed(1)
    scores = torch.randn(rows, requires_grad=True)
    grades, sizes = (torch.rand(rows) < 0.2).float(), torch.full((rows // LIST,), LIST)
    loss = moonrank.torch.Loss(name, bound=bound or "none")
    loss(torch.zeros(LIST, requires_grad=True), grades[:LIST], sizes[:1]).backward()  # starts threads, loads code
    before = peak()
    loss(scores, grades, sizes).backward()
    return (peak() - before) / (scores.element_size() * rows)


def main(words):
    if words[:1] == ["--one"]:
        print(measured(int(words[1]), words[2]))
        return
    rows = int(words.pop(0)) if words and words[0].isdigit() else 10**7
    for text in words or LOSSES:
        ended = subprocess.run([sys.executable, __file__, "--one", str(rows), text], capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"{text}: {ended.stderr}")
        print(f"{text:24} {float(ended.stdout):5.1f} arrays of scores", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
