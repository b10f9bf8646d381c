"""Recursion 900 deep; every tenth call goes by way of C."""
import os
import sys

import truth

sys.setrecursionlimit(3000)


def plain(left):
    if left == 0:
        truth.tell(); os.abort()
    return through_c(left - 1) if left % 10 == 0 else plain(left - 1)


def through_c(left):
    return list(map(plain, [left]))


plain(880)
