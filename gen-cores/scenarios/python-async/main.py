"""Tasks of asyncio that wait for each other in many ways: sleep, locks, other tasks, coroutines inside of each
other, generators, asynchronous ones too; one runs, and aborts."""
import asyncio
import contextlib
import gc
import os

import truth


async def sleeping(seconds):
    await asyncio.sleep(seconds)


async def outer(seconds):
    await middle(seconds)


async def middle(seconds):
    async with Within():
        await sleeping(seconds)


class Within:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *why):
        return None


async def locked(lock):
    async with lock:
        pass


async def waiting(task):
    return await task


async def numbers(seconds):
    for number in range(3):
        yield number
        await sleeping(seconds)


async def evens(seconds):
    async for number in numbers(seconds):
        if number % 2 == 0:
            yield number


async def consuming(seconds):
    async for number in evens(seconds):
        last = number


@contextlib.asynccontextmanager
async def managed(seconds):
    await asyncio.sleep(seconds)
    yield


async def within(seconds):
    async with managed(seconds):
        pass


async def gathering(seconds):
    await asyncio.gather(sleeping(seconds), outer(seconds))


async def dies(tasks):
    await asyncio.sleep(0)
    for task in tasks:
        tell(task)
    tell_running(asyncio.current_task())
    truth.tell(); os.abort()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def kind_of(coroutine):
    return next((kind for kind in ("cr", "gi", "ag") if hasattr(coroutine, kind + "_frame")), None)


STAND_INS = ("async_generator_asend", "async_generator_athrow")


def chain(coroutine):
    """The frames of a coroutine and of those that it awaits, and what the last one awaits."""
    frames = []
    while True:
        if type(coroutine).__name__ in STAND_INS:
            # They do not say what they are of.
            coroutine = next(each for each in gc.get_referents(coroutine) if kind_of(each))
        kind = kind_of(coroutine)
        if not kind:
            return frames, coroutine
        frame = getattr(coroutine, kind + "_frame")
        place = "%s:%d" % (frame.f_code.co_filename.split("/")[-1], frame.f_lineno)
        frames.insert(0, "%s() %s" % (name_of(frame.f_code), place))
        coroutine = getattr(coroutine, "gi_yieldfrom" if kind == "gi" else kind + "_await")


def tell(task):
    frames, awaited = chain(task.get_coro())
    future = type(task._fut_waiter).__name__
    truth.tell_line({"task": " ".join(["%s, suspended, awaits %s" % (task.get_name(), future)] + frames)})


def tell_running(task):
    # What it does is this call.
    line = dies.__code__.co_firstlineno + 5
    frame = "dies() main.py:%d" % line
    truth.tell_line({"task": "%s, running %s" % (task.get_name(), frame)})


async def main():
    lock = asyncio.Lock()
    await lock.acquire()
    kept = asyncio.ensure_future(asyncio.sleep(0))
    made = [sleeping(1000), outer(2000), locked(lock), gathering(3000), consuming(4000), within(5000)]
    tasks = [asyncio.ensure_future(each) for each in made]
    tasks.append(asyncio.ensure_future(waiting(tasks[0])))
    await asyncio.sleep(0.05)
    assert kept.done()
    tasks[0].set_name("named by hand")
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] + [asyncio.current_task()]
    await asyncio.ensure_future(dies(tasks))


asyncio.run(main())
