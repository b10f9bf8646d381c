"""An exception on its way through a finally, and through the end of a with, in which the program aborts.

All in a class that is made so often that interpreters since 3.12 begin its __init__ themselves.
"""
import os
import sys
import traceback

import truth


class Refused(ValueError):
    pass


class Closing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        lines = list(traceback.walk_tb(trace))[::-1]
        names = [(getattr(frame.f_code, "co_qualname", frame.f_code.co_name), frame.f_code.co_filename, line) for frame, line in lines]
        truth.tell_line({"exception_stack": ["%s (%s:%d)" % name for name in names]})
        truth.tell(); os.abort()


def refuse(number):
    try:
        raise Refused("on its way", number)
    finally:
        survive(number)


def survive(number):
    try:
        raise KeyError(number)
    except KeyError:
        pass


def outer(number):
    try:
        with Closing():
            refuse(number)
    finally:
        survive(number)


class Program:
    def __init__(self, number):
        if number:
            outer(number)


def start(number):
    for each in [0] * 1000 + [number]:
        Program(each)


start(7)
