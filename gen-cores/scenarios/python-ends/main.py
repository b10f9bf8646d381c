"""An exception that nobody caught: sys.excepthook is called with it, and aborts."""
import os
import sys
import traceback

import truth


class Refused(ValueError):
    pass


def refuse(reason):
    raise Refused("größe: " + reason)


def late(reasons):
    for reason in sorted(reasons, key=lambda each: refuse(each)):
        pass


class Hook:
    def __call__(self, *error):
        hook(error[2])


def hook(trace):
    lines = list(traceback.walk_tb(trace))[::-1]
    names = [(getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_code.co_filename, line) for frame, line in lines]
    truth.tell_line({"exception_stack": ["%s (%s:%d)" % name for name in names]})
    truth.tell(); os.abort()


sys.excepthook = Hook()
late(["no"])
