"""Threads that wait for locks; values.jsonl has a line for each: what it waits for, and who holds that."""
import os
import threading
import time

import truth

NEVER = threading.Event()
BOTH = threading.Barrier(2)
FIRST, SECOND, AGAIN, SLOW, TAKEN, LENT = [threading.Lock() for _ in range(6)]
RECURSIVE, SHARED, GIVEN = threading.RLock(), threading.Lock(), threading.Lock()
OVER_SHARED = threading.Condition(SHARED)
CONDITION, OTHER = threading.Condition(), threading.Condition(threading.Lock())
IDS = {}


def never():
    NEVER.wait()


def one():
    with FIRST:
        BOTH.wait()
        with RECURSIVE:
            never()


def two():
    with RECURSIVE:
        with RECURSIVE:
            BOTH.wait()
            with FIRST:
                never()


def again():
    with AGAIN:
        try:
            with SECOND:
                retake()
        finally:
            never()


def retake():
    with AGAIN:
        never()


def slow():
    with SLOW:
        for _ in range(3):
            with LENT:
                pass
        never()


def behind():
    SLOW.acquire(); never()


def lent():
    """It has left the block: nobody holds the lock through this, and its stack still has what it entered."""
    with LENT:
        pass
    never()


def acquired():
    TAKEN.acquire(); never()


def waits_for_taken():
    with TAKEN:
        never()


def notified():
    with CONDITION:
        CONDITION.wait()


def notifier():
    with CONDITION:
        never()


def late():
    with CONDITION:
        never()


def enters_other():
    with OTHER:
        never()


def awaits_shared():
    with SHARED:
        OVER_SHARED.wait()


def takes_shared():
    SHARED.acquire(); never()


def wants_shared():
    SHARED.acquire(); never()


def gives_back():
    with GIVEN:
        GIVEN.release(); never()


def wants_given():
    with GIVEN:
        never()


def start(function, name=None):
    name = name or function.__name__
    thread = threading.Thread(target=function, name=name, daemon=True)
    thread.start(); time.sleep(0.1)
    IDS[name] = thread.native_id


def tell(waiter, kind, lock, holder):
    line = {"waiter": IDS[waiter], "kind": kind, "holder": IDS.get(holder)}
    truth.tell_line({**line, "at": "0x%x" % id(lock)})


for each in (one, two, again, slow, lent, acquired, notified, notifier, late, waits_for_taken):
    start(each)
OTHER.acquire()
for each in (enters_other, behind):
    start(each)
start(behind, "behind too")
for each in (awaits_shared, takes_shared, wants_shared, gives_back):
    start(each)
GIVEN.acquire(); start(wants_given)
time.sleep(0.3)
INNER = CONDITION._lock
tell("one", "python_rlock", RECURSIVE, "two")
tell("two", "python_lock", FIRST, "one")
tell("again", "python_lock", AGAIN, "again")
tell("behind", "python_lock", SLOW, "slow")
tell("behind too", "python_lock", SLOW, "slow")
tell("waits_for_taken", "python_lock", TAKEN, None)
tell("late", "python_rlock", INNER, "notifier")
tell("enters_other", "python_lock", OTHER._lock, None)
tell("wants_shared", "python_lock", SHARED, None)
tell("wants_given", "python_lock", GIVEN, None)
truth.tell(); os.abort()
