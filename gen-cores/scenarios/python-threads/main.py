"""200 threads, each some calls deep."""
import os
import threading
import time

import truth

NEVER = threading.Event()
READY = []


def work(number, left):
    if left:
        return work(number, left - 1)
    READY.append(number); NEVER.wait()


for number in range(200):
    threading.Thread(target=work, args=(number, number % 7), name="worker %d" % number, daemon=True).start()
while len(READY) < 200:
    time.sleep(0.01)
time.sleep(0.2)
truth.tell(); os.abort()
