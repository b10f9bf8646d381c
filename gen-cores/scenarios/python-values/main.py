"""Values of every kind, and instances in every layout that CPython has for their attributes."""
import dataclasses
import enum
import os

import truth


class Plain:
    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)


class Slotted:
    __slots__ = ("first", "second", "unset")

    def __init__(self, first, second):
        self.first, self.second = first, second


class SlottedBelow(Slotted):
    """Slots of a base, and attributes."""


class Number(int):
    pass


class Real(float):
    pass


class Text(str):
    pass


class Data(bytes):
    pass


class Items(list):
    pass


class Pair(tuple):
    pass


class Table(dict):
    pass


class Color(enum.Enum):
    RED = 1
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.5


class Problem(ValueError):
    pass


def function(first, *rest, key=None):
    return first


def reordered():
    item = Plain(one=1, two=2, three=3)
    del item.one
    item.one = "again"
    return item


def touched():
    item = Plain(one=1, two=2)
    item.__dict__["three"] = 3
    return item


def replaced():
    item = Plain(one=1)
    item.__dict__ = {"other": [1, 2], "key": None}
    return item


def with_gaps():
    table = {number: str(number) for number in range(300)}
    for number in range(0, 295):
        del table[number]
    return table


def raised():
    try:
        raise Problem("text", 7)
    except Problem as error:
        error.note = "more"
        return error


VALUES = {
    "none": None, "true": True, "false": False, "ellipsis": ...,
    "zero": 0, "negative": -1, "digit": 2 ** 30, "digits": -(2 ** 60), "big": 3 ** 500, "bigger": -(7 ** 3000),
    "float": 3.141592653589793, "small": 1.5e-7, "huge": 1e22, "infinite": float("-inf"), "complex": 1.5 - 2j,
    "ascii": "plain 'quoted'", "latin": "größe\n", "wide": "→ ü", "wider": "𝒳", "empty": "",
    "bytes": b"\x00\xffab'", "bytearray": bytearray(b"changed"),
    "list": [1, [2, []], ()], "tuple": (1,), "nested": ((1, 2), {"a": {"b": [3]}}),
    "set": {5}, "no set": set(), "frozenset": frozenset({"x"}), "dict": {"a": 1, 2: "b", (3,): None}, "gaps": with_gaps(),
    "plain": Plain(name="n", count=3), "reordered": reordered(), "touched": touched(), "replaced": replaced(),
    "many": Plain(**{"a%d" % number: number for number in range(60)}), "no attributes": Plain(),
    "slotted": Slotted(1, "two"), "slotted below": SlottedBelow(3, [4]),
    "number": Number(12), "real": Real(0.5), "text": Text("text"), "data": Data(b"data"),
    "items": Items([1, 2]), "pair": Pair((1, 2)), "table": Table(a=1), "color": Color.BLUE, "point": Point(1),
    "exception": raised(), "function": function, "class": Plain, "builtin class": dict, "module": os,
    "many items": list(range(60)),
}
VALUES["slotted below"].more = "attribute"
for count in range(20000):
    VALUES.setdefault("crowd", []).append(Slotted(count, None))
crowd = VALUES.pop("crowd")
for name, each in VALUES.items():
    truth.value(name, each)
truth.tell(); os.abort()
