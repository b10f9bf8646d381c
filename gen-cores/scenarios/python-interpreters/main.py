"""Interpreters beside the main one: each of some runs in a thread of its own, the last one inside of the main one, on
the same stack. Since 3.12 one has a GIL of its own."""
import json
import os
import sys
import threading
import time

import truth

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

SLEEPS = """
import json, sys, time
sys.path.insert(0, %r)
import truth
def inner(number):
    open("part%%d.new" %% number, "w").write(json.dumps(list(truth.calls(sys._getframe())))); finish(number); time.sleep(1000)
def finish(number):
    import os
    os.rename("part%%d.new" %% number, "part%%d" %% number)
def outer(number):
    inner(number)
outer(%d)
"""
DIES = """
import json, os, sys, threading
sys.path.insert(0, %r)
import truth
def tell(frames):
    told = {"tid": threading.get_native_id(), "role": "MainThread", "crashed": True, "end": "outermost"}
    truth.append({"thread": dict(told, frames=truth.with_gaps(frames))})
    truth.done()
def dies(outer):
    tell(list(truth.calls(sys._getframe())) + outer); os.abort()
dies(json.loads(%r))
"""
HERE = os.getcwd()


def made():
    numbers = [interpreters.create() for _ in range(2)]
    if sys.version_info >= (3, 13):
        numbers.append(interpreters.create("isolated"))
    elif sys.version_info >= (3, 12):
        numbers.append(interpreters.create(isolated=True))
    return numbers


def work(number, interpreter):
    interpreters.run_string(interpreter, SLEEPS % (HERE, number))


def tell_worker(number, thread):
    while not os.path.exists("part%d" % number):
        time.sleep(0.01)
    with open("part%d" % number) as part:
        frames = json.load(part)
    frames += truth.calls(sys._current_frames()[thread.ident])
    told = {"tid": thread.native_id, "role": thread.name, "crashed": False, "end": "outermost"}
    truth.append({"thread": dict(told, frames=truth.with_gaps(frames))})


def inside(interpreter):
    interpreters.run_string(interpreter, DIES % (HERE, json.dumps(list(truth.calls(sys._getframe())))))


for number, interpreter in enumerate(made()):
    thread = threading.Thread(target=work, args=(number, interpreter), name="worker %d" % number, daemon=True)
    thread.start()
    # One after the other: imports in several interpreters at once can corrupt memory in 3.12 and 3.13.
    tell_worker(number, thread)
last = interpreters.create()
time.sleep(0.2)
inside(last)
