"""Calls within calls: signal handlers and finalizers of Python may use the package at any moment."""

import os
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np

import moonrank


def test_signal_handler_calls_while_a_call_ends():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(moonrank.lua("return 5")))
    try:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM))
        timer.start()
        code = "local t = os.clock() while os.clock() - t < 0.6 do end return 'finished', x"
        word, array = moonrank.lua(code, x=np.arange(3.))
        timer.join()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert word == "finished" and array.tolist() == [0, 1, 2] and seen == [5]


def test_finalizer_of_an_array_calls():
    seen = []
    array = np.zeros(10)
    moonrank.lua("X = x", x=array)
    weakref.finalize(array, lambda: seen.append(moonrank.lua("return 1")))
    del array
    moonrank.lua("X = nil collectgarbage() collectgarbage()")
    moonrank.lua("collectgarbage()")
    assert seen == [1]


def test_daemon_thread_in_an_endless_call_does_not_keep_python():
    code = ("import threading, time, moonrank; "
            "threading.Thread(target=moonrank.lua, args=('while true do end',), daemon=True).start(); time.sleep(0.3)")
    found = subprocess.run([sys.executable, "-c", code], timeout=30, check=False)
    assert found.returncode == 0
