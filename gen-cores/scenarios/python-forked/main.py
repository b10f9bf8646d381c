"""A child that was forked by a thread: the states of the other threads are still there, the threads are not."""
import os
import sys
import threading
import time

import truth

READY = []


def asleep(seconds):
    READY.append(seconds); time.sleep(seconds)


def tell(frame):
    truth.thread(threading.get_native_id(), "forking", frame, True)
    truth.done()


def child(number):
    tell(sys._getframe()); os.abort()


def forking(number):
    pid = os.fork()
    if pid == 0:
        child(number)
    os.waitpid(pid, 0)
    os._exit(0)


for count in range(3):
    threading.Thread(target=asleep, args=(1000,), name="asleep", daemon=True).start()
while len(READY) < 3:
    time.sleep(0.01)
time.sleep(0.2)
thread = threading.Thread(target=forking, args=(7,), name="forking")
thread.start()
thread.join()
