"""The account of a Python program: what it says of its own stacks before it dies.

The account is a file of JSON Lines, named by $KCORE_TRUTH. Stacks are those of sys._current_frames();
a function is called by its qualified name where the code object has one (since 3.11).
"""
import json
import os
import sys
import threading

GAP = {"gap": "runtime"}
PLAIN = (int, float, str, bytes, bool, type(None))


def append(line):
    with open(os.environ.get("KCORE_TRUTH", "/dev/stdout"), "a") as account:
        account.write(json.dumps(line, separators=(",", ":")) + "\n")


def is_plain(value, depth=3):
    """Whether repr() of a value says all of it, and the same in every version."""
    if type(value) in PLAIN:
        return True
    if depth and type(value) in (list, tuple, set, frozenset):
        return all(is_plain(each, depth - 1) for each in value)
    if depth and type(value) is dict:
        return all(is_plain(each, depth - 1) for pair in value.items() for each in pair)
    return False


def locals_of(frame):
    if not frame.f_code.co_flags & 1:
        return None
    # What a debugger asks; f_locals alone would write what it copies.
    return {name: repr(value) for name, value in frame.f_locals.items() if is_plain(value)}


def call(code, line, local=None):
    name = getattr(code, "co_qualname", code.co_name)
    file = code.co_filename
    told = {"function": name, "match": "exact", "file": file.split("/")[-1], "line": line, "script": file}
    return {**told, "locals": local} if local is not None else told


def calls(frame):
    while frame is not None:
        yield call(frame.f_code, frame.f_lineno, locals_of(frame))
        frame = frame.f_back


def with_gaps(frames):
    told = [GAP]
    for frame in frames:
        told += [frame, GAP]
    return told


def thread(tid, role, frame, crashed=False):
    told = {"tid": tid, "role": role, "crashed": crashed, "frames": with_gaps(calls(frame)), "end": "outermost"}
    append({"thread": told})


def others():
    """The stacks of all threads of the interpreter but this one."""
    frames = sys._current_frames()
    for other in threading.enumerate():
        if other is not threading.current_thread() and other.ident in frames:
            thread(other.native_id, other.name, frames[other.ident])


def done():
    append({"pid": os.getpid()})
    with open("/proc/self/cmdline") as words:
        append({"argv": words.read().split("\0")[:-1]})
    append({"fact": {"thread_count": len(os.listdir("/proc/self/task"))}})
    append({"done": True})


def tell():
    """Tells all stacks; what follows in the line of the caller is where this thread stops."""
    thread(threading.get_native_id(), "MainThread", sys._getframe(1), True)
    others()
    done()


def attributes(value):
    """What an instance keeps itself: slots first, those of base classes before."""
    for class_ in reversed(type(value).__mro__):
        if class_.__dict__.get("__slots__"):
            for name, member in class_.__dict__.items():
                if type(member).__name__ == "member_descriptor" and hasattr(value, name):
                    yield name, getattr(value, name)
    yield from getattr(value, "__dict__", {}).items()


ENDS = {list: "[]", tuple: "()", dict: "{}", set: "{}", frozenset: "{}"}


def spelled(value):
    """A value as a debugger is to spell it that calls nothing of the program."""
    kind, name = type(value), type(value).__qualname__
    if kind in PLAIN or kind is complex or value in (Ellipsis, NotImplemented):
        return "complex(real=%r, imag=%r)" % (value.real, value.imag) if kind is complex else repr(value)
    if isinstance(value, type):
        return "<class %s>" % value.__qualname__
    if kind.__name__ == "function":
        code = value.__code__
        return "<function %s at %s:%d>" % (value.__qualname__, code.co_filename, code.co_firstlineno)
    if kind.__name__ == "module":
        return "<module %s>" % value.__name__
    for base in (int, float, str, bytes):
        if isinstance(value, base):
            return "%s(%s)" % (name, base.__repr__(value))
    if kind is bytearray:
        return "bytearray(%r)" % bytes(value)
    for base, ends in ENDS.items():
        if isinstance(value, base):
            items = items_of(value, base)
            if base in (set, frozenset) and not items:
                return name + "()"
            items = items + "," if base is tuple and len(value) == 1 else items
            inside = ends[0] + items + ends[1]
            return inside if kind is base and base is not frozenset else "%s(%s)" % (name, inside)
    told = [spelled(each) for each in value.args] if isinstance(value, BaseException) else []
    told += ["%s=%s" % (key, spelled(held)) for key, held in attributes(value)]
    return "%s(%s)" % (name, ", ".join(told))


def items_of(value, base):
    if base is dict:
        return ", ".join("%s: %s" % (spelled(key), spelled(held)) for key, held in value.items())
    return ", ".join(spelled(each) for each in base.__iter__(value))


def value(name, value):
    """Tells a value: its address, and how it is to be spelled."""
    told = {"name": name, "at": "0x%x" % id(value), "spelled": spelled(value)}
    tell_line(told)


def tell_line(line):
    """Tells what is no stack: a line of values.jsonl."""
    with open("values.jsonl", "a") as values:
        values.write(json.dumps(line, separators=(",", ":")) + "\n")
