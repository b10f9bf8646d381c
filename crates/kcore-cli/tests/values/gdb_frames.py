# Prints one line of JSON for each frame of each thread that gdb finds functions with debug information for: the
# function, how many frames of it are inner ones, and its variables, each with its leaves: the path to a number, and the number as
# text; null where gdb says that it is optimized out. Run by gdb with the program and its core.
import json

import gdb

# As many as kcore reads of an array, and of levels.
MAX_ELEMENTS = 16
MAX_DEPTH = 3

SCALARS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_PTR)
STRUCTURES = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


def number(value, kind):
    """The number that a scalar is, without its sign: its bits."""
    if kind.code == gdb.TYPE_CODE_FLT:
        return "%r" % float(value)
    return "%d" % (int(value) & ((1 << 8 * kind.sizeof) - 1))


def leaves(value, path, depth, out):
    kind = value.type.strip_typedefs()
    try:
        if kind.code in SCALARS or kind.code == gdb.TYPE_CODE_FLT:
            out[path] = None if value.is_optimized_out else number(value, kind)
        elif depth == MAX_DEPTH:
            return
        elif kind.code in STRUCTURES:
            for field in kind.fields():
                if field.name and not field.is_base_class and not field.bitsize and hasattr(field, "bitpos"):
                    leaves(value[field], "%s.%s" % (path, field.name), depth + 1, out)
        elif kind.code == gdb.TYPE_CODE_ARRAY:
            first, last = kind.range()
            for index in range(first, min(last + 1, MAX_ELEMENTS)):
                leaves(value[index], "%s[%d]" % (path, index), depth + 1, out)
    except gdb.error as error:
        out[path] = None if "optimized out" in str(error) else "! %s" % error


def variables(frame):
    """Arguments first, then locals, those of inner blocks before those of outer ones."""
    found = []
    block = frame.block()
    while block is not None:
        for symbol in block:
            if symbol.is_argument or symbol.is_variable:
                found.append(variable(frame, symbol))
        if block.function is not None:
            break
        block = block.superblock
    return found


def variable(frame, symbol):
    told = {"name": symbol.name, "argument": symbol.is_argument, "leaves": {}}
    try:
        leaves(symbol.value(frame), "", 0, told["leaves"])
    except (gdb.error, TypeError, ValueError, OverflowError) as error:
        told["leaves"][""] = None if "optimized out" in str(error) else "! %s" % error
    return told


def frames(thread):
    thread.switch()
    inner = {}
    frame = gdb.newest_frame()
    while frame is not None:
        name = frame.name()
        # Frames that gdb makes up for calls that were jumps are on no stack.
        if name is not None and frame.type() != gdb.TAILCALL_FRAME:
            count = inner.get(name, 0)
            inner[name] = count + 1
            try:
                found = variables(frame)
            except RuntimeError:
                found = None  # No debug information.
            if found is not None:
                print("FRAME\t" + json.dumps(
                    {"tid": thread.ptid[1] or thread.ptid[0], "function": name, "inner": count, "variables": found}))
        frame = frame.older()


for thread in gdb.selected_inferior().threads():
    frames(thread)
