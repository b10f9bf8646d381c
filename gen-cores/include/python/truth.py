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


def value(name, value, **keys):
    """Tells a value: its address, what it is, and what repr() has for it."""
    told = {"name": name, "at": "0x%x" % id(value), "type": type(value).__name__, "repr": repr(value), **keys}
    with open("values.jsonl", "a") as values:
        values.write(json.dumps(told, separators=(",", ":")) + "\n")
