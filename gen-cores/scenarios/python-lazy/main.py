"""An exception on its way that C raised: to 3.11 a class and what is to become its argument, and no object yet.
It has a text, nothing or several arguments, by version. The frame that it passes drops a capsule, whose destructor
is abort()."""
import ctypes
import sys
import threading

import truth

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyErr_SetString.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyErr_SetNone.argtypes = [ctypes.py_object]
api.PyErr_SetObject.argtypes = [ctypes.py_object, ctypes.py_object]
for function in (api.PyErr_SetString, api.PyErr_SetNone, api.PyErr_SetObject):
    function.restype = None
ABORT = ctypes.cast(ctypes.CDLL(None).abort, ctypes.c_void_p)


class Refused(ValueError):
    pass


FORMS = [
    (api.PyErr_SetString, ("größe: no".encode(),), "größe: no"),
    (api.PyErr_SetNone, (), None),
    (api.PyErr_SetObject, (("no", 7),), "('no', 7)"),
]
RAISE, ARGUMENTS, WHAT = FORMS[sys.version_info[1] % 3]


def capsule():
    return api.PyCapsule_New(1, None, ABORT)


def tell(caller):
    truth.append({"fact": {"exception_type": "Refused"}})
    if WHAT is not None:
        truth.append({"fact": {"exception_what": WHAT}})
    name = getattr(caller.f_code, "co_qualname", caller.f_code.co_name)
    truth.tell_line({"exception_stack": ["%s (%s:%d)" % (name, caller.f_code.co_filename, caller.f_lineno)]})
    truth.thread(threading.get_native_id(), "MainThread", caller, True)
    truth.done()


def use(*values):
    pass


def outer():
    try:
        use(capsule(), tell(sys._getframe()), RAISE(Refused, *ARGUMENTS))
    except TypeError:
        pass


outer()
