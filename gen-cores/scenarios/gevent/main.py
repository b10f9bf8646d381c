"""Greenlets of gevent and, on another thread, of eventlet, that wait for whatever those have; each is told with what it
waits for."""
import os
import sys
import threading

sys.path.insert(0, "packages")

import eventlet
import eventlet.event
import eventlet.greenthread
import eventlet.queue
import eventlet.semaphore
import gevent
import gevent.event
import gevent.lock
import gevent.queue
import gevent.server
import gevent.socket

import truth

kept = []


def tell(each, waits_for, function):
    line = {"at": "0x%x" % id(each), "waits_for": waits_for, "function": function.__qualname__}
    with open("waits.jsonl", "a") as lines:
        lines.write(truth.json.dumps(line) + "\n")


def of_gevent():
    event, result, queue, full = gevent.event.Event(), gevent.event.AsyncResult(), gevent.queue.Queue(), gevent.queue.Queue(1)
    semaphore, lock = gevent.lock.Semaphore(0), gevent.lock.RLock()

    def sleeps():
        gevent.sleep(1000)

    def waits():
        event.wait()

    def waits_at_most():
        event.wait(timeout=500)

    def acquires():
        semaphore.acquire()

    def gets():
        queue.get()

    def puts():
        full.put(1)
        full.put(2)

    def has_no_result():
        result.get()

    def holds():
        lock.acquire()
        gevent.sleep(1000)

    def locks():
        lock.acquire()

    def receives():
        ours, theirs = gevent.socket.socketpair()
        kept.append(theirs)
        ours.recv(10)

    def joins():
        kept[0].join()

    waiting = [
        (sleeps, "timer"), (waits, "event"), (waits_at_most, "event"), (acquires, "semaphore"), (gets, "queue"),
        (puts, "queue"), (has_no_result, "result"), (holds, "timer"), (locks, "lock"), (receives, "socket"),
        (joins, "greenlet"),
    ]
    made = [(gevent.spawn(function), word, function) for function, word in waiting]
    kept.insert(0, made[0][0])
    gevent.sleep(0.1)
    for told in made:
        tell(*told)


def of_eventlet(done, forever):
    event, queue, semaphore = eventlet.event.Event(), eventlet.queue.Queue(), eventlet.semaphore.Semaphore(0)

    def sleeps_too():
        eventlet.sleep(1000)

    def waits_too():
        event.wait()

    def acquires_too():
        semaphore.acquire()

    def gets_too():
        queue.get()

    def joins_too():
        first.wait()

    first = eventlet.spawn(sleeps_too)
    waiting = [(waits_too, "event"), (acquires_too, "semaphore"), (gets_too, "queue"), (joins_too, "greenlet")]
    made = [(first, "timer", sleeps_too)]
    made += [(eventlet.spawn(function), word, function) for function, word in waiting]
    kept.extend(made)
    eventlet.sleep(0.1)
    for told in made:
        tell(*told)
    done.set()
    forever.wait()


done, forever = threading.Event(), threading.Event()
threading.Thread(target=of_eventlet, args=(done, forever), daemon=True).start()
done.wait()
of_gevent()
truth.done()
os.abort()
