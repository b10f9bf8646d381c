"""An exception on its way: the frame that it passes drops a capsule, whose destructor is abort()."""
import ctypes
import os
import sys
import threading

import truth

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
ABORT = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p)
KEPT = []


class Refused(ValueError):
    pass


def capsule():
    return api.PyCapsule_New(1, None, ABORT)


def name_of(code, line):
    return "%s (%s:%d)" % (getattr(code, "co_qualname", code.co_name), code.co_filename, line)


def tell(error, caller):
    value = {"name": "raised", "at": "0x%x" % id(error), "spelled": "Refused('no', 7, __cause__=KeyError('missing'))"}
    truth.tell_line(value)
    value = {"name": "late", "at": "0x%x" % id(KEPT[0]), "spelled": "ValueError('late', __context__=KeyError('missing'))"}
    truth.tell_line(value)
    code = refuse.__code__
    stack = [name_of(code, code.co_firstlineno + 6), name_of(caller.f_code, caller.f_lineno)]
    truth.tell_line({"exception_stack": stack})
    truth.thread(threading.get_native_id(), "MainThread", caller, True)
    truth.done()


def refuse(number):
    try:
        {}["missing"]
    except KeyError as cause:
        error = Refused("no", number)
        tell(error, sys._getframe(1))
        raise error from cause


def keep():
    try:
        {}["missing"]
    except KeyError:
        try:
            raise ValueError("late")
        except ValueError as error:
            KEPT.append(error)


def use(*values):
    pass


def outer(number):
    try:
        use(capsule(), refuse(number))
    except TypeError:
        pass


keep()
outer(7)
