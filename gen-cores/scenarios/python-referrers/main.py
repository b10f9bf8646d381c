"""An object and a text, and who refers to them in every way that there is."""
import os
import threading
import time

import truth

READY = []


class Target:
    pass


class Holder:
    pass


class Slotted:
    __slots__ = ("first", "second")


class Numbered(int):
    pass


def local_of_thread(variable):
    READY.append(1); time.sleep(1000)


def generator(value):
    held = value
    yield 1
    return held


def closure(value):
    def inner():
        return value
    return inner


def holders(value):
    holder, slotted, numbered = Holder(), Slotted(), Numbered(3)
    holder.held = slotted.second = numbered.kept = value
    touched = Holder()
    touched.__dict__["touched"] = value
    suspended = generator(value)
    next(suspended)
    many = {"other": None, "key": value}
    yield holder, "Holder.held"
    yield touched, "Holder.touched"
    yield slotted, "Slotted.second"
    yield numbered, "Numbered.kept"
    yield suspended, "generator<variable held>", "generator<variable value>"
    yield closure(value), "cell.cell_contents"
    yield [None, value], "list[1]"
    yield (value, 1), "tuple[0]"
    yield many, 'dict["key"]'
    yield {7: value}, "dict[7]"
    yield {(1,): value}, "dict<value>"
    yield {value: 1}, "dict<key>"
    yield {value, 5}, "set<inside>"


def tell(name, value, frames):
    kept, ways = [], list(frames)
    for holder, *how in holders(value):
        kept.append(holder)
        ways.extend(how)
    truth.tell_line({"name": name, "at": "0x%x" % id(value), "referrers": sorted(ways)})
    return kept


Target.instance = target = Target()
text = "".join(["a text ", "of its own"])
threading.Thread(target=lambda: local_of_thread(target), name="holding", daemon=True).start()
while not READY:
    time.sleep(0.01)
time.sleep(0.2)
KEPT = [
    tell("target", target, ["type.instance", "module.target", "local_of_thread<variable variable>"]),
    tell("text", text, ["module.text"]),
]
truth.tell(); os.abort()
