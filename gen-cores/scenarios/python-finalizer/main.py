"""A thread collects garbage and is in a finalizer that left the GIL; the main thread has it and knows of no garbage."""
import gc
import os
import threading
import time

import truth

COLLECTS = []


class Garbage:
    def __del__(self):
        COLLECTS.append(threading.get_native_id()); time.sleep(1000)


def collecting():
    garbage = Garbage()
    garbage.itself = garbage
    del garbage
    gc.collect()


def die():
    told = [(threading.get_native_id(), "holds the GIL"), (COLLECTS[0], "collects garbage without the GIL")]
    for tid, state in told:
        truth.tell_line({"tid": tid, "state": state})
    truth.tell(); sum(range(10 ** 7)); os.abort()


gc.disable()
threading.Thread(target=collecting, name="collecting", daemon=True).start()
while not COLLECTS:
    time.sleep(0.01)
time.sleep(0.2)
die()
