"""Every plain way in which Python calls Python, one inside the other, down to os.abort(): functions, closures,
methods, properties, lambdas, generators, comprehensions, callbacks of C, exec, class bodies, decorators.
Beside it threads that wait for a lock, sleep, spin, and wait in callbacks of C."""
import ctypes
import functools
import os
import threading
import time

import truth

READY = []
NEVER = threading.Lock()
NEVER.acquire()


def main(count, name="main"):
    pi, nothing, truth_value = 3.25, None, True
    numbers = [1, -2, 3 ** 80]
    return outer(count, *numbers, name=name, extra="größe")


def outer(count, *rest, name, **more):
    def closure(extra):
        return Account("savings", count + extra).deposit(10)
    return closure(2)


class Entity:
    def __init__(self, name):
        self.name = name
        self.ready = self.prepare(name)

    def prepare(self, name):
        return len(name)


class Account(Entity):
    opened = 0

    def __init__(self, name, balance):
        super().__init__(name)
        self._balance = balance

    def deposit(self, amount):
        self._balance += amount
        return Account.audit(self)

    @classmethod
    def audit(cls, account):
        return account.total

    @property
    def total(self):
        return self[0]

    def __getitem__(self, index):
        return static(index)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorated
def static(index):
    text = "𝒳 → é"
    return (lambda value: comprehension(value + 1))(index)


def comprehension(value):
    return [sorting(each) for each in range(value)]


def sorting(value):
    data = {"a": 1, "b": (2.5, b"bytes")}

    def key(item):
        return generated(item)
    return sorted([value], key=key)


def generated(item):
    return list(generator(item))


def generator(item):
    yield 1
    yield from delegate(item)


def delegate(item):
    try:
        raise ValueError("caught")
    except ValueError as error:
        yield class_body(item)


def class_body(item):
    class Body:
        inside = 7
        result = executed(inside)
    return Body


def executed(number):
    return eval(compile("\n\nin_c(number)", "made-up.py", "eval"), {"in_c": in_c, "number": number})


def in_c(number):
    compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def compare(one, other):
        return deep(12)
    array = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(array, 2, ctypes.sizeof(ctypes.c_int), compare_type(compare))


def deep(count):
    return last(count) if count == 0 else deep(count - 1)


def last(first, second="two", *, third=3.5):
    big = list(range(5))
    del second
    truth.tell(); os.abort()


def in_lock(number):
    READY.append(number); NEVER.acquire()


def in_sleep(seconds):
    READY.append(seconds); time.sleep(seconds)


def spinning(number):
    READY.append(number)
    while True: pass


def in_callback(number):
    return max([number], key=lambda each: in_lock(each))


def in_generator(number):
    for each in waiting(number):
        pass


def waiting(number):
    yield in_lock(number)


def start(function, argument):
    threading.Thread(target=function, args=(argument,), name=function.__name__, daemon=True).start()


for function, argument in [(in_lock, 1), (in_sleep, 1000), (spinning, 2), (in_callback, 3), (in_generator, 4)]:
    start(function, argument)
while len(READY) < 5:
    time.sleep(0.01)
time.sleep(0.2)
main(3)
