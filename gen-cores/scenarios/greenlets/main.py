"""Greenlets in every state, on three threads: left in calls through C and generators, in parents of others, main ones,
some that run, some that did not begin or ended; one aborts. Each writes down its own stack before it is left."""
import os
import sys
import threading

sys.path.insert(0, "packages")

import greenlet
import truth

left, kept, tids, runs = {}, [], {}, set()


def note():
    """What follows in the line of the caller is where this greenlet is left."""
    current = greenlet.getcurrent()
    left[id(current)] = list(truth.calls(sys._getframe(1)))
    tids[id(current)] = threading.get_native_id()


class Worker(greenlet.greenlet):
    pass


class Special(Worker):
    """One whose function is its own."""

    def run(self):
        leave()


def leave():
    note(); greenlet.getcurrent().parent.switch()


def recursive(depth):
    if depth:
        return recursive(depth - 1)
    leave()


def numbers(count):
    for number in range(count):
        if number == 2:
            leave()
        yield number


def through_c():
    list(map(lambda each: recursive(3), [1]))


def through_a_generator():
    return sum(numbers(4))


def through_a_sort():
    sorted([2, 1], key=lambda each: leave())


def through_eval():
    eval("leave()")


def twice():
    leave()
    recursive(2)


def parent_of(function):
    def run():
        child = begin(greenlet.greenlet, function)
        note(); greenlet.getcurrent().parent.switch(child)

    return run


def begin(class_, *function):
    made = class_(*function)
    kept.append(made)
    made.switch()
    return made


def some(count):
    for class_ in (greenlet.greenlet, Worker):
        for function in (leave, through_c, through_a_generator, through_a_sort, through_eval, twice):
            for _ in range(count):
                begin(class_, function)
    begin(Special)
    begin(Worker, parent_of(through_c))
    begin(Worker, parent_of(parent_of(leave)))
    # One that goes on, and is left at another place; and one from whose place on the stack another was begun.
    twice_left = begin(Worker, twice)
    twice_left.switch()
    deep(20)


def deep(depth):
    if depth:
        return deep(depth - 1)
    begin(Worker, through_c)


def on_its_own_stack(barrier, forever):
    some(1)
    kept.append(greenlet.getcurrent())
    barrier.wait()
    forever.wait()


def in_a_greenlet(barrier, forever):
    def run():
        kept.append(greenlet.getcurrent())
        runs.add(id(greenlet.getcurrent()))
        begin(Worker, leave)
        barrier.wait()
        forever.wait()

    kept.append(greenlet.getcurrent())
    note(); Worker(run).switch()


def state(each):
    if each.dead:
        return "ended"
    if not each:
        return "created"
    return "suspended" if id(each) in left and id(each) not in runs else "running"


def tell(each):
    found = state(each)
    class_ = type(each)
    told = {
        "at": "0x%x" % id(each),
        "state": found,
        "class": class_.__name__,
        "main": each.parent is None,
        "parent": None if each.parent is None else "0x%x" % id(each.parent),
        "tid": tids.get(id(each)) if found == "suspended" else None,
        "frames": left.get(id(each), []) if found == "suspended" else [],
    }
    with open("greenlets.jsonl", "a") as lines:
        lines.write(truth.json.dumps(told) + "\n")


class Holder:
    def method(self):
        pass


def ending():
    kept.append(greenlet.getcurrent())
    # Whoever asks for the frame of a greenlet has its chain of frames changed: of every other one.
    asked = [each.gr_frame for each in kept[::2]]
    for each in kept:
        tell(each)
    truth.done()
    os.abort()


barrier, forever = threading.Barrier(3), threading.Event()
for run in (on_its_own_stack, in_a_greenlet):
    threading.Thread(target=run, args=(barrier, forever), daemon=True).start()
barrier.wait()
some(2)
kept.append(greenlet.greenlet(leave))
kept.append(Worker(Holder().method))
kept.append(greenlet.greenlet(print))
begin(greenlet.greenlet, int)
kept.append(greenlet.getcurrent())
note(); Worker(ending).switch()
