# Holds what kcore shows of a program against gdb: every variable of every frame, and every variable outside of
# functions. Run by gdb with the program and its core; $KCORE names kcore. Prints `DIFFERS<TAB>kind<TAB>where<TAB>what` for
# each difference, and for each kind `COUNT<TAB>kind<TAB>equal<TAB>different`.
import collections
import json
import math
import os
import re
import struct
import subprocess

import gdb

# Leaves of one variable that are also asked for by the words with which they are displayed.
PATHS = 24
# Variables outside of functions, at most.
GLOBALS = 4000
# More of each array than is usual.
SETTINGS = ("::set -o array_mem_limit=256",)

equal, different = collections.Counter(), collections.Counter()
# Paths to ask for: the lines that choose a frame, the path, and the leaf that the tree had there.
wanted = []
# Structures that pointers point to: lines that choose a frame, the path, gdb's value, and where it was met.
pointed = []


def told(kind, where, what=None):
    """Counts a comparison; `what` says how it differs."""
    if what is None:
        equal[kind] += 1
        return
    different[kind] += 1
    print("DIFFERS\t%s\t%s\t%s" % (kind, where, what.replace("\n", " ")[:200]))


def kcore(lines, form=("--json=compact",)):
    command = [os.environ["KCORE"], "--no-rc", *form, gdb.current_progspace().filename, "core", "-f", "-"]
    text = "\n".join(lines) + "\n"
    answer = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.stdout.decode("utf-8", "replace").splitlines()


def records(lines):
    return [json.loads(line) for line in kcore(lines)]


def plain(function):
    """A function's name without parameters, template arguments and scopes, which the two spell differently."""
    function = re.sub(r"{closure#\d+}", "{{closure}}", function.replace("operator()", "operator").split("[abi:")[0])
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", function)) != function:
        function = shorter
    return function.split("<")[0].split("(")[0].split("::")[-1].split(" ")[0]


def frames_of_gdb():
    found = {}
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frame, counts = gdb.newest_frame(), collections.Counter()
        while frame is not None:
            if frame.name() is not None:
                key = (thread.ptid[1], frame.pc())
                found[key + (counts[key],)] = (thread, frame.level(), plain(frame.name()))
                counts[key] += 1
            frame = frame.older()
    return found


def frames_of_kcore():
    found = {}
    for stack in records([*SETTINGS, "::walk thread | ::stack -v"]):
        counts = collections.Counter()
        for frame in stack.get("frames", []):
            if frame.get("function"):
                key = (stack["tid"], int(frame["pc"], 16))
                found[key + (counts[key],)] = frame
                counts[key] += 1
    return found


def symbols_of(frame):
    """The variables of a frame by name, those of inner blocks first; arguments apart."""
    found = {True: collections.defaultdict(list), False: collections.defaultdict(list)}
    try:
        block = frame.block()
    except RuntimeError:
        return found
    while block is not None and not block.is_static:
        for symbol in block:
            if symbol.is_argument or symbol.is_variable or symbol.is_constant:
                found[symbol.is_argument][symbol.name].append(symbol)
        if block.function is not None:
            break
        block = block.superblock
    return found


def value_of(symbol, frame):
    """A value, or why there is none."""
    try:
        value = symbol.value(frame) if frame is not None else symbol.value()
        if not value.is_optimized_out:
            value.fetch_lazy()
        return value, None
    except Exception as failure:  # Whatever gdb says.
        return None, str(failure)


def is_float(kind):
    return kind.code == gdb.TYPE_CODE_FLT


def bytes_of(value):
    size = value.type.sizeof
    return bytes(gdb.selected_inferior().read_memory(int(value.address), size)) if value.address else None


def same_float(seen, value):
    if isinstance(seen, str):
        seen = float(seen.replace("inf", "inf"))
    shown = float(value)
    if math.isnan(seen) or math.isnan(shown):
        return math.isnan(seen) and math.isnan(shown)
    if value.type.strip_typedefs().sizeof == 4:
        return struct.pack("f", seen) == struct.pack("f", shown)
    return seen == shown


def number(value):
    kind = value.type.strip_typedefs()
    if kind.sizeof > 8:
        return int(value.format_string(format="d"))
    return int(value)


def scalar(tree, value, where):
    kind, seen = tree["kind"], tree.get("value")
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return told("no comparison of what is shown as one number", where)
    if kind in ("integer", "character"):
        shown = number(value)
        told(kind, where, None if int(seen) == shown else "is %s, to gdb %s" % (seen, shown))
    elif kind == "bool":
        told(kind, where, None if seen == bool(value) else "is %s, to gdb %s" % (seen, value))
    elif kind == "float":
        told(kind, where, None if same_float(seen, value) else "is %s, to gdb %s" % (seen, value))
    elif kind == "enum":
        same = int(seen) == int(value)
        told(kind, where, None if same else "is %s, to gdb %s" % (seen, int(value)))
        name(tree, value, where)


def name(tree, value, where):
    shown, own = value.format_string(symbols=False), tree.get("symbol") or ""
    words = shown.strip("()").split(" | ")
    if "unknown" in shown or shown.lstrip("-").isdigit():
        return
    last = [word.split("::")[-1] for word in words]
    same = "|".join(last) == own.replace(" ", "").split("::")[-1] or len(last) > 1
    told("name", where, None if same else "is %s, to gdb %s" % (own, shown))


def pointer(tree, value, where):
    code = value.type.strip_typedefs().code
    if code in REFERENCES:
        value = value.referenced_value().address
    if tree.get("value") is None:
        return told("no comparison of a pointer to what is in no memory", where)
    seen, shown = int(tree["value"], 16), int(value) % (1 << 64)
    told("pointer", where, None if seen == shown else "is 0x%x, to gdb 0x%x" % (seen, shown))
    text = tree.get("text")
    if text is not None and not tree.get("cut"):
        try:
            shown = value.string("utf-8", "replace")
        except Exception as failure:
            shown = str(failure)
        plain_text = text.encode("utf-8", "replace").decode("utf-8", "replace")
        same = shown.startswith(plain_text) if len(text) >= 1000 else shown == plain_text
        told("text", where, None if same or "�" in shown else "is %r, to gdb %r" % (text, shown))


def text(tree, value, where):
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_ARRAY:
        printer = gdb.default_visualizer(value)
        if printer is None:
            return told("no printer in gdb", where)
        shown = printer.to_string()
        shown = characters(shown) if hasattr(shown, "length") else str(shown)
    else:
        raw = bytes_of(value)
        if raw is None:
            return told("not in memory", where)
        shown = raw.rstrip(b"\0").decode("utf-8", "replace")
    seen = tree["value"]
    same = seen == shown or tree.get("cut") and shown.startswith(seen) or "�" in shown
    told("text", where, None if same else "is %r, to gdb %r" % (seen, shown))


def characters(lazy):
    if lazy.length == 0:
        return ""
    value = lazy.value()
    if value.type.code == gdb.TYPE_CODE_PTR:
        return value.string("utf-8", "replace", length=lazy.length)
    if value.address is None:
        return value.string("utf-8", "replace").rstrip("\0")
    return value.address.cast(value.type.target().pointer()).string("utf-8", "replace", length=lazy.length)


REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def offset(tree, value, where):
    if value.type.strip_typedefs().code in REFERENCES or where.split(": ")[-1] in OWN_NAMES:
        return
    if tree.get("address") and value.address is not None and "bits" not in tree:
        seen, shown = int(tree["address"], 16), int(value.address) % (1 << 64)
        told("address", where, None if seen == shown else "is at 0x%x, to gdb 0x%x" % (seen, shown))


def fields_of(value):
    kind = value.type.strip_typedefs()
    return [field for field in kind.fields() if hasattr(field, "bitpos")]


def last_name(spelled):
    depth, end = 0, 0
    for at, character in enumerate(spelled):
        depth += (character == "<") - (character == ">")
        if depth == 0 and spelled.startswith("::", at):
            end = at + 2
    return spelled[end:].replace(" ", "")


def structure(tree, value, where, path, chosen):
    fields = fields_of(value)
    own = tree["children"]
    is_lock = re.match(r"std::(__1::)?(mutex|sync::)", value.type.strip_typedefs().name or "")
    if is_lock or any((child.get("name") or "").isdigit() for child in own):
        # A lock is shown by its owner, a tuple by its parts.
        return parts(own, value, where)
    if len(own) < len(fields):
        # A pair is shown as its two parts.
        fields = [field for field in fields if not field.is_base_class or field.type.fields()]
    if len(fields) == 1 < len(own):
        # What the library wraps is shown without the wrapper.
        return structure(tree, value[fields[0]], where, None, chosen)
    if len(own) != len(fields):
        if not tree.get("cut"):
            told("members", where, "%d members, to gdb %d" % (len(own), len(fields)))
        return
    told("members", where)
    for child, field in zip(own, fields):
        seen = child.get("name") or ""
        shown = field.name or ""
        if field.is_base_class:
            seen, shown = last_name(seen), last_name(shown)
        # A member of a tuple of Rust, or what is in something that the library wraps.
        is_numbered = seen.isdigit() and shown in ("__" + seen, "value", "pointer")
        if seen != shown and not field.is_base_class and not is_numbered and "(anon" not in seen:
            told("members", where, "has %s, to gdb %s" % (seen, shown))
            continue
        step = path and path + "." + seen if seen and not field.is_base_class and "(anon" not in seen else path
        below(child, value[field], "%s.%s" % (where, shown), None if field.is_base_class else step, chosen)


def parts(own, value, where):
    printer = gdb.default_visualizer(value)
    if printer is None or not hasattr(printer, "children"):
        return told("no printer in gdb", where)
    for index, (child, (_, held)) in enumerate(zip(own, printer.children())):
        below(child, held if isinstance(held, gdb.Value) else gdb.Value(held), "%s.%d" % (where, index), None, None)


def elements(tree, value, where, path, chosen):
    kind = value.type.strip_typedefs()
    if kind.code != gdb.TYPE_CODE_ARRAY:
        return container(tree, value, where, path, chosen)
    try:
        first, last = kind.range()
    except RuntimeError:
        return
    count = tree.get("total")
    if count is not None:
        told("length", where, None if count == last - first + 1 else "has %d, to gdb %d" % (count, last - first + 1))
    for index, child in enumerate(tree["children"]):
        step = "[%d]" % index
        below(child, value[first + index], where + step, path and path + step, chosen)


def container(tree, value, where, path, chosen):
    """Elements of a container, as gdb's printers give them; a map's keys and values take turns."""
    printer = gdb.default_visualizer(value)
    if printer is None or not hasattr(printer, "children"):
        return told("no printer in gdb", where)
    most = len(tree["children"]) * 2 + 2
    found = []
    try:
        for _, child in printer.children():
            found.append(child if isinstance(child, gdb.Value) else gdb.Value(child))
            if len(found) >= most:
                break
    except AttributeError:  # A type that a printer looks for has no debug information.
        return told("gdb's printer fails", where)
    if tree["kind"] == "map":
        for index, (child, key, held) in enumerate(zip(tree["children"], found[::2], found[1::2])):
            below(child["key"], key, "%s key %d" % (where, index), None, chosen)
            below(child, held, "%s[key %d]" % (where, index), None, chosen)
        return
    if tree.get("total") is not None and tree["total"] == len(tree["children"]):
        told("length", where, None if tree["total"] == len(found) else "%s elements, to gdb %d" % (tree["total"], len(found)))
    for index, (child, held) in enumerate(zip(tree["children"], found)):
        step = "[%d]" % index
        below(child, held, where + step, path and path + step, chosen)


# Arrays with the name of their function: of a function that several units have, each has its own.
OWN_NAMES = ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__")
LEAVES = ("integer", "character", "bool", "float", "enum", "pointer", "text")


def below(tree, value, where, path, chosen):
    """Compares a tree of kcore with a value of gdb, part by part."""
    if tree.get("absent") == "elided":
        return told("too deep to be shown", where)
    if tree.get("absent"):
        return absent(tree["absent"], value, where)
    try:
        if value.is_optimized_out and lacks_a_part(tree):
            return told("gdb leaves out all for one part", where)
        if value.is_optimized_out:
            return told("value", where, "gdb has none: optimized out")
        value.fetch_lazy()
    except Exception as failure:
        return told("value", where, "gdb has none: %s" % failure)
    kind = tree["kind"]
    try:
        offset(tree, value, where)
        if kind == "pointer":
            if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
                return told("no comparison of owners", where)
            pointer(tree, value, where)
        elif kind == "text":
            text(tree, value, where)
        elif kind == "struct":
            structure(tree, value, where, path, chosen)
        elif kind in ("array", "map"):
            elements(tree, value, where, path, chosen)
        elif kind in LEAVES:
            scalar(tree, value, where)
        else:
            return told("no comparison of %s" % kind, where)
    except Exception as failure:
        return told("failed", where, "%s %s: %s" % (kind, type(failure).__name__, failure))
    if kind in LEAVES and path and chosen is not None and chosen["left"] > 0:
        chosen["left"] -= 1
        wanted.append((chosen["lines"], path, tree))


def lacks_a_part(tree):
    return tree.get("absent") is not None or any(map(lacks_a_part, tree.get("children", [])))


def absent(why, value, where):
    try:
        shown = not value.is_optimized_out
        value.fetch_lazy()
    except Exception:
        shown = False
    shown = value.format_string(max_elements=3) if shown else "<incomplete type>"
    told("absent", where, None if shown == "<incomplete type>" else "is %s, to gdb %s" % (why, shown))


def compare_frames():
    mine, theirs = frames_of_kcore(), frames_of_gdb()
    for key, (_, _, function) in theirs.items():
        if key not in mine:
            told("frame", "%s at 0x%x" % (function, key[1]), "gdb alone has it")
    for key, frame in mine.items():
        function = plain(frame["function"])
        if key not in theirs:
            told("frame", "%s at 0x%x" % (function, key[1]), "kcore alone has it")
            continue
        thread, level, shown = theirs[key]
        # One function may have several names, as `__GI_abort` is `abort`.
        same = function.startswith(shown) or shown.strip("_").removeprefix("GI_").strip("_").startswith(function.strip("_")) or function in shown
        told("frame", function, None if same else "is %s, to gdb %s" % (function, shown))
        compare_frame((key[0], key[1], function), frame, thread, level)


def compare_frame(key, record, thread, level):
    thread.switch()
    frame = gdb.newest_frame()
    while frame.level() < level:
        frame = frame.older()
    frame.select()
    symbols = symbols_of(frame)
    lines = ("0t%d::thread" % key[0], "::frame 0t%d" % record["index"])
    for is_argument, group in ((True, record.get("args", [])), (False, record.get("locals", []))):
        seen = collections.Counter()
        for variable in group:
            own = variable.get("name")
            if own is None:
                continue
            where = "%s: %s" % (key[2], own)
            named = symbols[is_argument].get(own, [])
            nth, seen[own] = seen[own], seen[own] + 1
            if nth >= len(named):
                told("variable", where, "kcore alone has it")
                continue
            told("variable", where)
            value, why = value_of(named[nth], frame)
            is_first = nth == 0 and not (is_argument and own in symbols[False])
            chosen = {"left": PATHS, "lines": lines} if is_first else None
            variable_of(variable, value, why, where, own, chosen)
        for own, named in symbols[is_argument].items():
            for symbol in named[seen[own]:]:
                gdb_alone(symbol, frame, "%s: %s" % (key[2], own))


# Registers that a function need not keep for its caller.
VOLATILE = re.compile(r"\$(rax|rcx|rdx|rsi|rdi|r8|r9|r10|r11|xmm\d+)\b")


def is_clobbered(name):
    """Whether a variable of the selected frame was in a register that a callee has overwritten since."""
    frame = gdb.selected_frame()
    if frame.newer() is None or frame.newer().type() == gdb.INLINE_FRAME and frame.newer().newer() is None:
        return False
    try:
        text = gdb.execute("info address %s" % name, to_string=True)
    except gdb.error:  # gdb cannot read the expression.
        return False
    at = frame.pc() - 1
    for begin, end, place in re.findall(r"Range (0x\w+)-(0x\w+): (.*?)(?=Range|\Z)", text, re.S):
        if int(begin, 16) <= at < int(end, 16):
            return VOLATILE.search(place) is not None
    return "Range" not in text and VOLATILE.search(text) is not None


def follow(tree, value, where, path, lines):
    """Keeps the structure that a pointer points to, to be asked for later."""
    kind = value.type.strip_typedefs()
    if tree.get("kind") != "pointer" or kind.code != gdb.TYPE_CODE_PTR or not tree.get("value"):
        return
    target = kind.target().strip_typedefs()
    if int(tree["value"], 16) and target.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and target.fields():
        pointed.append((lines, "*" + path, value.dereference(), where))


def can_be_read(value):
    try:
        value.fetch_lazy()
    except gdb.error:
        return False
    return True


def compare_pointed():
    """What pointers point to."""
    for (lines, path, value, where), record in zip(pointed, answers_of([question[:3] for question in pointed])):
        if record is None:
            told("pointed", where, "kcore does not follow it" if can_be_read(value) else None)
            continue
        told("pointed", where)
        if value.dynamic_type != value.type:
            value = value.cast(value.dynamic_type)
        below(record["value"], value, "*(%s)" % where, "(%s)" % path, {"left": PATHS, "lines": lines})


def gdb_alone(symbol, frame, where):
    """gdb also lists what the function has somewhere and this copy of it nowhere, as optimized out."""
    value, _ = value_of(symbol, frame)
    if value is not None and not value.is_optimized_out and symbol.name not in OWN_NAMES:
        told("variable", where, "gdb alone has it: %s" % value.format_string(max_elements=3))


def variable_of(variable, value, why, where, path, chosen):
    missing = variable.get("absent")
    if missing or not variable.get("value"):
        if value is None:
            return told("absent", where)
        if is_clobbered(path):
            return told("gdb shows a register of the callee", where)
        return absent(missing or "nothing", value, where)
    if value is None:
        return told("value", where, "gdb has none: %s" % why)
    if chosen is not None:
        try:
            follow(variable["value"], value, where, path, chosen["lines"])
        except gdb.error:  # gdb has no such pointer, which is counted below.
            pass
    below(variable["value"], value, where, path, chosen)


def globals_of_gdb():
    """Variables of the program outside of functions whose name no other one has.

    Of several of one name, each of the two takes one of its own.
    """
    program = gdb.current_progspace().filename
    found, names = {}, collections.Counter()
    for line in gdb.execute("info variables -n", to_string=True).splitlines():
        if not line.startswith("File "):
            names.update(re.findall(r"([\w:]+)[\])\d[]*(?:\([^()]*\))?;$", line))
            names.update(re.findall(r"static (?:mut )?([\w:]+): ", line))
            continue
        own = [table for table in tables(line[5:].rstrip(":")) if table.objfile.filename == program]
        for table in own:
            for block in (table.global_block(), table.static_block()):
                for symbol in block:
                    if symbol.is_variable and not symbol.needs_frame:
                        found.setdefault(symbol.name, symbol)
    is_one = lambda name: names[name] == 1 and len(gdb.lookup_static_symbols(name)) <= 1
    return [(name, symbol) for name, symbol in found.items() if is_one(name)]


def tables(file):
    try:
        _, places = gdb.decode_line("'%s':1" % file)
    except gdb.error:
        return []
    return [place.symtab for place in places or () if place.symtab is not None]


def compare_globals():
    single = globals_of_gdb()[:GLOBALS]
    answers = answers_of([((), name, None) for name, _ in single])
    for (name, symbol), record in zip(single, answers):
        value, why = value_of(symbol, None)
        if record is None:
            if value is not None and not value.is_optimized_out:
                told("global", name, "gdb alone has it: %s" % value.format_string(max_elements=3))
            continue
        told("global", name)
        chosen = {"left": PATHS, "lines": ("0t%d::thread" % CRASHED.ptid[1],)}
        variable_of({"value": record["value"]}, value, why, name, name, chosen)


def quoted(path):
    return "'%s'" % path if any(c in path for c in "<>(|;! ") else path


def script(questions):
    lines, chosen = list(SETTINGS), None
    for number, (choice, path, _) in enumerate(questions):
        if choice != chosen:
            lines.extend(choice)
            chosen = choice
        lines.append("::echo '@%d'" % number)
        lines.append("::print %s" % quoted(path))
    return lines


def answers_of(questions):
    """The record of each path; None where there is none."""
    answers, at = [None] * len(questions), None
    for record in records(script(questions)):
        if record["type"] == "text" or record.get("text", "").startswith("@"):
            at = int(record["text"][1:])
        elif record["type"] == "print" and at is not None and answers[at] is None:
            answers[at] = record
    return answers


def compare_paths():
    """Each leaf by the words with which it is displayed; and its text against its JSON."""
    for (_, path, tree), record in zip(wanted, answers_of(wanted)):
        if record is None:
            told("path", path, "kcore has no such value")
            continue
        seen = record["value"]
        same = all(seen.get(key) == tree.get(key) for key in ("kind", "value", "symbol", "text", "address"))
        told("path", path, None if same else "is %s, was %s" % (seen, tree))


gdb.execute("set backtrace past-main on")
CRASHED = gdb.selected_thread()
compare_frames()
CRASHED.switch()
compare_globals()
compare_pointed()
compare_paths()
for kind in sorted(set(equal) | set(different)):
    print("COUNT\t%s\t%d\t%d" % (kind, equal[kind], different[kind]))
