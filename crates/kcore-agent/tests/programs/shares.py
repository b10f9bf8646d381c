# Spends a processor's time in known shares; a thread begins later. Says on SIGUSR1 which children it was told of.

import os, signal, sys, threading, time

told = 0

def child_ended(number, frame):
    global told
    told += 1

def children(number, frame):
    try:
        waited = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        waited = None
    print(f"children: {told} told, {waited} waited for", file=sys.stderr, flush=True)

def spend(seconds):
    over = time.thread_time() + seconds
    while time.thread_time() < over:
        pass

def spend_seventy():
    spend(0.07)

def spend_twenty():
    for _ in (1,):
        spend(0.02)

def spend_ten():
    [spend(0.01) for _ in (1,)]

def late_work():
    while True:
        spend(0.01)
        time.sleep(0.03)

signal.signal(signal.SIGCHLD, child_ended)
signal.signal(signal.SIGUSR1, children)
if len(sys.argv) > 1:
    os.setgid(int(sys.argv[1]))
    os.setuid(int(sys.argv[1]))
print("ready", flush=True)
begun = time.time()
late = None
while True:
    spend_seventy()
    spend_twenty()
    spend_ten()
    if late is None and time.time() - begun > 3:
        late = threading.Thread(target=late_work, daemon=True)
        late.start()
