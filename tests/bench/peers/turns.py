"""Lets another library take turns with Moonrank in a benchmark (tests/bench/turns.lua): it works once for every line
"go" on standard input, and prints seconds, processor seconds and its largest memory so far in KiB."""
import os
import sys
import time

for name in ("OMP", "MKL", "OPENBLAS"):
    os.environ.setdefault(f"{name}_NUM_THREADS", "1")


def options():
    """Returns the first argument, the program's name, and the others, NAME=VALUE, as a dictionary."""
    found = {"repeats": 1}
    for word in sys.argv[2:]:
        name, value = word.split("=", 1)
        found[name] = int(value) if value.lstrip("-").isdigit() else value
    return sys.argv[1], found


def peak():
    with open("/proc/self/status") as file:
        return next(line.split()[1] for line in file if line.startswith("VmHWM:"))


def take(work, warm=True):
    """Takes turns, after once to warm up. A turn consists of `repeats` repeats of the work (an option, 1 by default),
    and prints the times of one repeat."""
    repeats = options()[1]["repeats"]
    if warm:
        work()
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            break
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(repeats):
            work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(f"{wall / repeats:.9f} {cpu / repeats:.9f} {peak()}", flush=True)
