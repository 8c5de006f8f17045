"""A forked process has none of its parent's threads: calls in it work, or are refused."""

import subprocess
import sys

HEAD = """
import os, threading, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import moonrank
from moonrank import _library
scores, grades = np.arange(2e5), np.arange(2e5) % 2
def value():
    return moonrank.evaluate(scores, grades, [100] * 2000, "ndcg").mean["ndcg"]
def in_child(work):
    child = os.fork()
    if child == 0:
        try:
            os._exit(work())
        except BaseException as error:
            print(error)
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""

OTHER_THREAD = HEAD + """
expected, ended = value(), False
def compute():
    while not ended:
        value()
moonrank.threads(2)
thread = threading.Thread(target=compute)
thread.start()
time.sleep(0.05)
for _ in range(5):
    assert in_child(lambda: 3 if value() == expected and moonrank.threads() == 2 else 4) == 3
assert in_child(lambda: in_child(lambda: 3 if value() == expected else 4)) == 3
ended = True
thread.join()
assert value() == expected
print("done")
"""

LONG_CALL = HEAD + """
_library._longest_wait_to_fork = 0.1
thread = threading.Thread(target=lambda: moonrank.lua("local t = os.clock() while os.clock() - t < 1.5 do end"))
thread.start()
time.sleep(0.2)
def refused():
    try:
        value()
    except moonrank.MoonrankError as error:
        return 3 if "forked" in str(error) and "spawn" in str(error) else 4
assert in_child(refused) == 3
thread.join()
assert value() > 0
print("done")
"""

POOL = HEAD + """
import multiprocessing
def task(i):
    return value() + i
if __name__ == "__main__":
    expected = value()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(task, range(4)) == [expected + i for i in range(4)]
    print("done")
"""


def run(code):
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stdout + ended.stderr


def test_a_child_computes_while_another_thread_of_its_parent_does():
    run(OTHER_THREAD)


def test_a_child_of_a_long_call_is_refused():
    run(LONG_CALL)


def test_multiprocessing_forks_after_a_call():
    run(POOL)
