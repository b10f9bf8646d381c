"""Loops that are hot, in an interpreter that was told to use its JIT, where it has one (Debian's has, since 3.14)."""
import os
import sys
import threading
import time

import truth

if os.environ.get("PYTHON_JIT") != "1":
    # It is read when the interpreter starts.
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], {**os.environ, "PYTHON_JIT": "1"})

READY = []


def spin(number):
    READY.append(number)
    while True: pass


def start(function, *arguments):
    count = len(READY)
    threading.Thread(target=function, args=arguments, name=function.__name__, daemon=True).start()
    while len(READY) == count:
        time.sleep(0.01)


def step(number):
    return number * 2 % 5


def crunch(times):
    rest = 0
    for number in range(times):
        rest += step(number)
        if number == times - 1: truth.tell(); os.abort()


start(spin, 1)
start(spin, 2)
time.sleep(1)
if hasattr(sys, "_jit"):
    assert sys._jit.is_enabled(), "its JIT is off"
crunch(200_000)
