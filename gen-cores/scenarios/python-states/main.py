"""The main thread collects garbage, and holds the GIL for so long that each thread which wants it waits."""
import gc
import os
import threading
import time

import truth

READY = []


def spinning(number):
    READY.append(threading.get_native_id())
    while True: pass


def sleeping(seconds):
    READY.append(threading.get_native_id()); time.sleep(seconds)


class Garbage:
    def __del__(self):
        told = [(threading.get_native_id(), "collects garbage"), (READY[0], "waits for the GIL"), (READY[1], None)]
        for tid, state in told:
            truth.tell_line({"tid": tid, "state": state})
        truth.tell(); sum(range(10 ** 7)); os.abort()


def start(function, argument):
    count = len(READY)
    threading.Thread(target=function, args=(argument,), name=function.__name__, daemon=True).start()
    while len(READY) == count:
        time.sleep(0.01)


def collect():
    garbage = Garbage()
    garbage.itself = garbage
    del garbage
    gc.collect()


gc.disable()
start(spinning, 1)
start(sleeping, 1000)
time.sleep(0.2)
collect()
