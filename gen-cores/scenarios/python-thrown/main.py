"""Exceptions that are thrown into generators and coroutines which wait for others: a task is cancelled, and more."""
import asyncio
import os

import truth


class Stop(Exception):
    pass


def leaf(number):
    try:
        yield number
    except Stop:
        truth.tell(); os.abort()


def middle(number):
    yield from leaf(number)


def outermost(number):
    yield from middle(number)


def throw(number):
    generator = outermost(number)
    next(generator)
    generator.throw(Stop())


async def sleeping():
    try:
        await asyncio.sleep(1000)
    except asyncio.CancelledError:
        throw(7)


async def waiting(depth):
    if depth:
        await waiting(depth - 1)
    else:
        await sleeping()


async def main():
    task = asyncio.ensure_future(waiting(5))
    await asyncio.sleep(0.01)
    task.cancel()
    await task


asyncio.run(main())
