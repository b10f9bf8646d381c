"""main.py THREADS HEAP_MIB: what main.c is, in Python: threads that wait some calls deep, a heap that is touched, and
one thread that looks at the clock all the while. A line `r` on standard input begins anew, a line `p` prints the
longest time in nanoseconds for which that thread stood still."""
import sys
import threading
import time

NEVER = threading.Event()
LONGEST = [0]


def watch():
    before = time.monotonic_ns()
    while True:
        now = time.monotonic_ns()
        if now - before > LONGEST[0]:
            LONGEST[0] = now - before
        before = now


def wait(left):
    if left:
        wait(left - 1)
    NEVER.wait()


threads, heap = int(sys.argv[1]), int(sys.argv[2])
held = [bytearray(b"\1") * (1 << 20) for _ in range(heap)]
threading.Thread(target=watch, daemon=True).start()
for number in range(1, threads):
    threading.Thread(target=wait, args=(number % 7,), daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    if line.startswith("r"):
        LONGEST[0] = 0
    print(LONGEST[0], flush=True)
