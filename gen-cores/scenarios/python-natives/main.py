"""Objects of types that C code made, and instances of what is derived from builtin types."""
import array
import collections
import contextvars
import datetime
import decimal
import enum
import functools
import io
import itertools
import operator
import os
import re
import sys
import threading
import types

import truth

spelled = truth.spelled


def with_attributes(kind, *arguments, **attributes):
    """An object of a class that is derived from a type, with attributes."""
    value = type(kind.__name__.capitalize() + "Below", (kind,), {})(*arguments)
    value.__dict__.update(attributes)
    return value


def own(value, bare):
    """A value with the attributes beside it."""
    told = [bare] + ["%s=%s" % (key, spelled(held)) for key, held in truth.attributes(value)]
    return "%s(%s)" % (type(value).__qualname__, ", ".join(told))


def moved():
    table = collections.OrderedDict((number, str(number)) for number in range(5))
    table.move_to_end(1)
    table.move_to_end(3, last=False)
    del table[2]
    return table


def ordered(value):
    return "%s({%s})" % (type(value).__qualname__, truth.items_of(value, dict))


def rolled():
    ring = collections.deque(range(500), maxlen=150)
    ring.rotate(17)
    ring.appendleft("left")
    return ring


def released():
    view = memoryview(b"gone")
    view.release()
    return view


def function():
    pass


function.attribute = [1]
problem = ValueError("x")
problem.detail = [2]
TABLE = {"a": 1, "b": (2, 3)}
DECIMALS = [
    "1.5", "-0", "0.00", "1E+3", "1E-7", "0.000001", "123456789012345678901234567890.5", "NaN", "-sNaN12", "-Infinity",
    "1" + "0" * 19, "9" * 19, "9" * 20, "0E-20", "-1.23E+400",
]
ZONE = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
MOMENTS = [
    datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), datetime.datetime(1999, 12, 31), datetime.datetime(1, 2, 3, 4, 5, fold=1),
    datetime.datetime(2021, 7, 8, tzinfo=datetime.timezone.utc), datetime.date(2024, 2, 29), datetime.time(23, 59, 0, 1),
    datetime.time(0), datetime.time(12, 0, tzinfo=ZONE), datetime.timedelta(0), datetime.timedelta(-1, 2, 3),
    datetime.timedelta(weeks=5), datetime.timedelta(microseconds=7), ZONE, datetime.timezone(datetime.timedelta(hours=1), "zone"),
]
ARRAYS = [
    array.array(code, items)
    for code, items in [
        ("b", [-1, 2]), ("B", [255]), ("h", [-300]), ("H", [65535]), ("i", [1, -2]), ("I", [2 ** 32 - 1]), ("l", [-(2 ** 63)]),
        ("L", [2 ** 64 - 1]), ("q", [7]), ("Q", [8]), ("d", [0.5, -1.5]), ("f", [0.25]),
    ]
]
def held_lock():
    lock = threading.Lock()
    lock.acquire()
    return lock


def held_twice():
    lock = threading.RLock()
    lock.acquire()
    lock.acquire()
    return lock


def read_to(buffer, count):
    buffer.read(count)
    return buffer


def grown():
    buffer = io.BytesIO()
    for part in range(100):
        buffer.write(b"%d," % part)
    buffer.seek(3)
    return buffer


def closed(buffer):
    buffer.close()
    return buffer


class Buffer(io.BytesIO):
    pass


class Cycle(itertools.cycle):
    __slots__ = ()


VALUES = [
    ("moved", moved(), ordered),
    ("in order", collections.OrderedDict(a=1, b=[2]), ordered),
    ("no order", collections.OrderedDict(), ordered),
    ("views of what was moved", [moved().keys(), moved().values(), moved().items()], repr),
    ("deque", collections.deque([1, [2], "three"]), repr),
    ("no deque", collections.deque(), repr),
    ("longest deque", collections.deque(maxlen=0), repr),
    ("rolled", rolled(), repr),
    ("long deque", collections.deque(range(64 * 3)), repr),
    ("keys", TABLE.keys(), repr), ("values", TABLE.values(), repr), ("items", TABLE.items(), repr),
    ("namespace", types.SimpleNamespace(a=1, b=[2]), lambda value: own(value, "").replace("(, ", "(")),
    ("view", memoryview(b"bytes")[1:4], lambda value: "memoryview(b'yte', obj=b'bytes')"),
    ("numbers", memoryview(ARRAYS[4]), lambda value: "memoryview(%r, obj=%r, format='i')" % (value.tobytes(), value.obj)),
    ("odd view", memoryview(b"bytes")[::2], lambda value: "<memoryview object at 0x%x>" % id(value)),
    ("released", released(), lambda value: "memoryview(released=True)"),
    ("partial", functools.partial(function, "7", base=8), lambda value: "partial(%s, '7', base=8)" % shown_function()),
    ("count", itertools.count(5), repr), ("counts", itertools.count(5, 2), repr), ("big count", itertools.count(2 ** 70), repr),
    ("half count", itertools.count(0.5), repr),
    ("default", collections.defaultdict(int, {1: 2}), lambda value: "defaultdict({1: 2}, default_factory=<class int>)"),
    ("unknown", itertools.cycle([1]), object.__repr__), ("unknown iterator", iter([1]), object.__repr__),
    ("lock", held_lock(), lambda value: "lock(locked=True)"), ("free lock", threading.Lock(), lambda value: "lock(locked=False)"),
    ("lock of a thread", held_twice(), lambda value: "RLock(locked=True, owner=%d, count=2)" % threading.get_ident()),
    ("free lock of a thread", threading.RLock(), lambda value: "RLock(locked=False)"),
    ("buffer", read_to(io.BytesIO(b"some bytes"), 4), lambda value: "BytesIO(b'some bytes', pos=4)"),
    ("grown buffer", grown(), lambda value: "BytesIO(%r, pos=3)" % value.getvalue()),
    ("closed buffer", closed(io.BytesIO(b"gone")), lambda value: "BytesIO(closed=True)"),
    ("buffer below", Buffer(b"own"), lambda value: "Buffer(b'own', pos=0)"),
    ("pattern", re.compile("a+b"), lambda value: "Pattern('a+b')"),
    ("pattern of bytes", re.compile(b"a"), lambda value: "Pattern(b'a')"),
    ("pattern with flags", re.compile("a", re.I), lambda value: "Pattern('a', flags=34)"),
    ("context variable", contextvars.ContextVar("variable"), lambda value: "ContextVar('variable')"),
    ("context variable with a default", contextvars.ContextVar("other", default=[5]), lambda value: "ContextVar('other', default=[5])"),
    ("cycle of its own", Cycle([1]), lambda value: "Cycle(<itertools.cycle object at 0x%x>)" % id(value)),
    ("getter", operator.itemgetter(1), object.__repr__), ("nothing", object(), lambda value: "object()"),
    ("int", with_attributes(int, -7, note="more"), lambda value: own(value, "-7")),
    ("float", with_attributes(float, 0.5, note=1), lambda value: own(value, "0.5")),
    ("str", with_attributes(str, "text", note=1), lambda value: own(value, "'text'")),
    ("bytes", with_attributes(bytes, b"data", note=1), lambda value: own(value, "b'data'")),
    ("bytearray", with_attributes(bytearray, b"data", note=1), lambda value: own(value, "b'data'")),
    ("list", with_attributes(list, [1, 2], note=[3]), lambda value: own(value, "[1, 2]")),
    ("tuple", with_attributes(tuple, (1,), note=1), lambda value: own(value, "(1,)")),
    ("dict", with_attributes(dict, {"a": 1}, note=1), lambda value: own(value, "{'a': 1}")),
    ("set", with_attributes(set, {1}, note=1), lambda value: own(value, "{1}")),
    ("frozenset", with_attributes(frozenset, [1], note=1), lambda value: own(value, "{1}")),
    ("deque below", with_attributes(collections.deque, [1], note=1), lambda value: own(value, "[1]")),
    ("order below", with_attributes(collections.OrderedDict, moved(), note=1),
     lambda value: own(value, "{%s}" % truth.items_of(value, dict))),
    ("unknown below", with_attributes(itertools.count, 5, note=1), lambda value: own(value, "5")),
    ("cycle below", with_attributes(itertools.cycle, [5], note=1),
     lambda value: own(value, "<itertools.cycle object at 0x%x>" % id(value))),
    ("function", function, lambda value: shown_function()),
    ("bound", "text".upper, lambda value: "builtin_function_or_method(<function upper>, __self__='text')"),
    ("free", len, lambda value: "<function len>"),
    ("exception", problem, lambda value: "ValueError('x', detail=[2])"),
]
VALUES += [("array " + each.typecode, each, repr) for each in ARRAYS]
VALUES += [("no array", array.array("i"), lambda value: "array('i', [])"), ("text array", array.array("u", "añ"), repr)]
# Without the module in C, a Decimal is an instance as any other.
if "_decimal" in sys.modules:
    VALUES += [("decimal " + text, decimal.Decimal(text), repr) for text in DECIMALS]
VALUES += [("moment %d" % number, each, lambda value: shown_moment(value)) for number, each in enumerate(MOMENTS)]
if sys.version_info >= (3, 9):
    VALUES.append(("alias", list[int], lambda value: "GenericAlias(<class list>, (<class int>,))"))
if sys.version_info >= (3, 10):
    VALUES.append(("union", int | str, lambda value: "%s(<class int>, <class str>)" % type(value).__qualname__))


def shown_function():
    code = function.__code__
    return "function(<function function at %s:%d>, attribute=[1])" % (code.co_filename, code.co_firstlineno)


def shown_moment(value):
    return repr(value).replace("datetime.", "").replace("timezone.utc", "timezone(timedelta(0))")


FIELDS = [
    "errno", "strerror", "filename", "filename2", "value", "code", "msg", "name", "path", "name_from", "message", "exceptions",
    "lineno", "offset", "end_lineno", "end_offset", "text", "encoding", "object", "reason", "obj",
]


def raised(what, *arguments):
    """The exception that a call raises, without where."""
    try:
        what(*arguments)
    except BaseException as error:
        return error


def from_none():
    try:
        raise ValueError("context")
    except ValueError:
        raise KeyError("key") from None


def error(value):
    """An exception with its arguments, and the fields that they do not say, in the order in which they lie."""
    fields = [(name, getattr(value, name, None)) for name in FIELDS]
    if isinstance(value, AttributeError):
        fields.reverse()
    told = [spelled(each) for each in value.args]
    told += [
        "%s=%s" % (name, "(%s,)" % error(held[0]) if name == "exceptions" else spelled(held))
        for name, held in fields if held is not None and all(held is not each for each in value.args)
    ]
    return "%s(%s)" % (type(value).__qualname__, ", ".join(told))


class Pair(collections.namedtuple("Pair", "first second")):
    pass


class Level(enum.IntEnum):
    LOW = 1


class Caller:
    def method(self):
        pass


VALUES += [(error.__class__.__name__, error, globals()["error"]) for error in [
    raised(os.rename, "/no/such/a", "/no/such/b"), raised(open, "/no/such"), StopIteration(5), SystemExit(3),
    raised(__import__, "no_such_module"), raised(from_none), raised(getattr, 5, "nothing"), raised(b"\xff".decode),
]]
if sys.version_info >= (3, 11):
    VALUES.append(("group", ExceptionGroup("several", [ValueError(1)]), lambda value: (
        "ExceptionGroup('several', [ValueError(1)])")))
VALUES += [
    ("named", collections.namedtuple("Named", "host port")("here", 80), repr),
    ("pair", Pair(1, [2]), repr),
    ("version", sys.version_info, lambda value: repr(value).replace("sys.", "")),
    ("level", Level.LOW, lambda value: own(value, "1")),
    ("method", Caller().method, lambda value: "method(%s, __self__=Caller())" % spelled(Caller.method)),
]
caller = Caller()
caller.__dict__.update({5: "five", "text": 1})
VALUES.append(("numbered", caller, lambda value: "Caller([5]='five', text=1)"))
TEXTS = [
    "\ud800", "a\udcffb", "\udc80'\"", "\x80\x9f\xa0\xad\xff", "\u200b\u2028\ufeff\u3000", "\U0010ffff", "\ue000", "\u0378",
    "\u202e", "e\u0301", "\u0301", "\U0001f600", "back\\slash", "\x00\x1b\x7f'",
]
VALUES += [("text %d" % number, text, repr) for number, text in enumerate(TEXTS)]
# As after PyErr_Print: it was told of, and the program goes on.
sys.last_type, sys.last_value, sys.last_exc = ValueError, problem, problem
for name, value, show in VALUES:
    truth.tell_line({"name": name, "at": "0x%x" % id(value), "spelled": show(value)})


def end(survived):
    truth.tell(); os.abort()


end(problem)
