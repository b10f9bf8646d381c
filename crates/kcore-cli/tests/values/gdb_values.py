# Asks gdb for every value that a program told, and prints a line `name<TAB>difference` for each that gdb does not
# tell alike. Run by gdb with the program and its core; $VALUES names the file of what the program told. Of locals that are
# told with their thread it prints `LOCAL<TAB>number of the line<TAB>difference`, which is empty where gdb tells it alike.
import json
import math
import os

import gdb


def children(value):
    """What the pretty printer says are the value's children; None without a printer for children."""
    printer = gdb.default_visualizer(value)
    if printer is None or not hasattr(printer, "children"):
        return None
    return [child for _, child in printer.children()]


def as_value(child):
    return child if isinstance(child, gdb.Value) else gdb.Value(child)


def integer(value):
    try:
        return int(value)
    except gdb.error:
        return int(value.format_string(format="d"))


def characters(lazy):
    """The characters of a string that a printer gives unread."""
    if lazy.length == 0:
        return ""
    value = lazy.value()
    if value.type.code == gdb.TYPE_CODE_PTR:
        return value.string(length=lazy.length) if lazy.length > 0 else value.string()
    return value.address.cast(value.type.target().pointer()).string(length=lazy.length)


def text_of(value):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        text = value.string("utf-8", "replace", length=last - first + 1)
        return text.rstrip("\0")
    printer = gdb.default_visualizer(value)
    if printer is not None:
        text = printer.to_string()
        if hasattr(text, "length"):
            return characters(text)
        if isinstance(text, gdb.Value):
            return text.string("utf-8")
        return str(text).strip('"')
    fields = {field.name: value[field.name] for field in kind.fields() if field.name}
    for data, length in (("str", "len"), ("data_ptr", "length")):
        if data in fields and length in fields:
            return fields[data].string("utf-8", length=int(fields[length]))
    return value.string("utf-8")


def same_float(wanted, value):
    wanted, value = float(wanted), float(value)
    if math.isnan(wanted) or math.isnan(value):
        return math.isnan(wanted) and math.isnan(value)
    return wanted == value or math.isclose(wanted, value, rel_tol=1e-7)


def find(value, name):
    """A member, of a base too."""
    try:
        return value[name]
    except (gdb.error, KeyError):
        for field in value.type.strip_typedefs().fields():
            if field.is_base_class:
                return find(value[field], name)
        raise


def elements(value, count):
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        first, last = kind.range()
        return [value[i] for i in range(first, last + 1)]
    found = children(value)
    if found is not None:
        return [as_value(child) for child in found]
    names = [field.name for field in kind.fields()]
    for data, length in (("array", "len"), ("data_ptr", "length")):
        if data in names and length in names:
            return [value[data][i] for i in range(int(value[length]))]
    raise gdb.error("no elements without a printer")


def pairwise(wanted, found):
    if len(wanted) != len(found):
        return "%d elements, should be %d" % (len(found), len(wanted))
    for index, (truth, value) in enumerate(zip(wanted, found)):
        error = compare(truth, value)
        if error:
            return "[%d]: %s" % (index, error)
    return None


def any_order(wanted, found, check):
    left = list(wanted)
    if len(left) != len(found):
        return "%d elements, should be %d" % (len(found), len(left))
    for value in found:
        fitting = [truth for truth in left if not check(truth, value)]
        if not fitting:
            return "one is none of them"
        left.remove(fitting[0])
    return None


def pairs(value, count):
    found = elements(value, count)
    return list(zip(found[::2], found[1::2]))


def entry(truth, found):
    return compare(truth[0], found[0]) or compare(truth[1], found[1])


def enumeration(truth, value):
    if integer(value) != int(truth["enum"]):
        return "is %d" % integer(value)
    shown = str(value).strip("()").replace(" ", "")
    names = [name.split("::")[-1] for name in shown.split("|")]
    if truth["symbol"] and "|".join(names) != truth["symbol"].split("::")[-1]:
        return "name is %s" % value
    return None


def pointer(truth, value):
    address = int(value.address if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF) else value)
    if value.type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        address = int(value.referenced_value().address)
    if address != int(truth["ptr"], 16):
        return "is 0x%x" % address
    if "dynamic" in truth:
        dynamic = str(value.dynamic_type).rstrip(" *&")
        if dynamic != truth["dynamic"]:
            return "true type is %s" % dynamic
    if "symbol" in truth and truth["symbol"] not in str(value):
        return "symbol is %s" % value
    if "owns" in truth:
        return compare(truth["owns"], value.referenced_value())
    return None


def compare(truth, value):
    """None if gdb tells the value alike, else what it tells."""
    value = as_value(value)
    if value.is_optimized_out:
        return "optimized out"
    if "int" in truth:
        seen = integer(value)
        return None if seen == int(truth["int"]) else "is %d" % seen
    if "char" in truth:
        seen = integer(value)
        return None if seen % 256 == truth["char"] % 256 else "is %d" % seen
    if "bool" in truth:
        return None if bool(value) == truth["bool"] else "is %s" % value
    if "float" in truth:
        return None if same_float(truth["float"], value) else "is %s" % value
    if "complex" in truth:
        parts = str(value).rstrip("i").split(" + ")
        fits = len(parts) == 2 and all(same_float(*pair) for pair in zip(truth["complex"], parts))
        return None if fits else "is %s" % value
    if "enum" in truth:
        return enumeration(truth, value)
    if "cstr" in truth:
        seen = value.string("utf-8", "replace")
        return None if seen == truth["cstr"] else "is %r" % seen
    if "text" in truth:
        seen = text_of(value)
        return None if seen == truth["text"] else "is %r" % seen
    if "ptr" in truth:
        return pointer(truth, value)
    if "at" in truth:
        return None if int(value.address) == int(truth["at"], 16) else "is at %s" % value.address
    if "count" in truth:
        first, last = value.type.strip_typedefs().range()
        return None if last - first + 1 == truth["count"] else "has %d" % (last - first + 1)
    if "members" in truth:
        names = [field.name or "" for field in value.type.strip_typedefs().fields()]
        return None if " ".join(names) == truth["members"] else "has %s" % names
    if "list" in truth:
        return pairwise(truth["list"], elements(value, truth["total"]))
    if "bag" in truth:
        return any_order(truth["bag"], elements(value, truth["total"]), compare)
    if "map" in truth or "hash" in truth:
        return any_order(truth.get("map") or truth.get("hash") or [], pairs(value, truth["total"]), entry)
    if "struct" in truth and "variant" not in truth:
        for name, wanted in truth["struct"].items():
            error = compare(wanted, find(value, name))
            if error:
                return ".%s: %s" % (name, error)
        return None
    # Shapes that gdb has no structure for: what it prints must at least hold the words.
    return words(truth, value)


def words(truth, value):
    shown = value.format_string(max_elements=0)
    name = truth.get("variant") or truth.get("says")
    if name and name not in shown:
        return "is %s" % shown[:100]
    return None


def spelled(path):
    """Names of Go have dots, which its expressions do not allow."""
    if not path.startswith("main."):
        return path
    end = min((path.find(c, 5) % (1 << 30) for c in ".[-"), default=len(path))
    return "'%s'%s" % (path[:end], path[end:])


def ask(line):
    path = line.pop("print")
    frame = line.pop("frame", None)
    if frame is not None:
        return None
    try:
        error = compare(line, gdb.parse_and_eval(spelled(path)))
    except Exception as failure:  # Whatever a printer raises is gdb's answer.
        error = "%s: %s" % (type(failure).__name__, str(failure).split("\n")[0])
    return "%s\t%s" % (path, error) if error else None


def frames_of(thread):
    """The frames of a thread by function, and how many of it are further in."""
    found, counts = {}, {}
    thread.switch()
    frame = gdb.newest_frame()
    while frame is not None:
        # Frames that gdb makes up for calls that were jumps are on no stack.
        if frame.name() is not None and frame.type() != gdb.TAILCALL_FRAME:
            name = plain(frame.name())
            found[name, counts.get(name, 0)] = frame
            counts[name] = counts.get(name, 0) + 1
        frame = frame.older()
    return found


def plain(function):
    """A function's name without its parameters."""
    return function.split("(")[0]


def ask_local(line):
    path, tid, inner, function = (line.pop(key) for key in ("print", "tid", "inner", "frame"))
    thread = next(thread for thread in gdb.selected_inferior().threads() if thread.ptid[1] == tid)
    frame = frames_of(thread).get((plain(function), inner))
    if frame is None:
        return "no frame"
    frame.select()
    try:
        return compare(line, gdb.parse_and_eval(path)) or ""
    except Exception as failure:  # As above.
        return "%s: %s" % (type(failure).__name__, str(failure).split("\n")[0])


count = 0
with open(os.environ["VALUES"]) as told:
    for number, text in enumerate(told):
        line = json.loads(text)
        if "frame" in line and "tid" in line:
            print("LOCAL\t%d\t%s" % (number, ask_local(line)))
        if "print" in line and "frame" not in line:
            count += 1
            found = ask(line)
            if found:
                print("DIFFERS\t" + found)
print("ASKED\t%d" % count)
