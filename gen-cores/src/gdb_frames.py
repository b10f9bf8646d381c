# Prints the signal and each thread of the core that gdb has open, a JSON line each, for gdb.rs.
import json
import gdb


def frame_record(frame):
    sal = frame.find_sal()
    return {
        "function": frame.name(),
        "file": sal.symtab.filename if sal.symtab else None,
        "line": sal.line or None,
        "inline": frame.type() == gdb.INLINE_FRAME,
        "tail": frame.type() == gdb.TAILCALL_FRAME,
        "pc": frame.pc(),
    }


def frames_of(thread):
    thread.switch()
    frames, frame = [], gdb.newest_frame()
    while frame is not None and frame.is_valid():
        try:
            frames.append(frame_record(frame))
            frame = frame.older()
        except gdb.error:
            break
    return frames


def signal_record():
    info = gdb.parse_and_eval("$_siginfo")
    fault = info["_sifields"]["_sigfault"]["si_addr"]
    return {"number": int(info["si_signo"]), "code": int(info["si_code"]), "address": int(fault)}


try:
    print(json.dumps({"signal": signal_record()}))
except gdb.error:
    print(json.dumps({"signal": None}))
for thread in gdb.selected_inferior().threads():
    print(json.dumps({"tid": thread.ptid[1] or thread.ptid[0], "frames": frames_of(thread)}))
