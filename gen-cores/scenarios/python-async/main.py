"""Tasks of asyncio that wait for each other in many ways: sleep, locks, other tasks, coroutines inside of each
other, generators; one runs, and aborts."""
import asyncio
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


def chain(coroutine):
    """The frames of a coroutine and of those that it awaits, and what the last one awaits."""
    frames = []
    while hasattr(coroutine, "cr_frame") or hasattr(coroutine, "gi_frame"):
        kind = "cr" if hasattr(coroutine, "cr_frame") else "gi"
        frame = getattr(coroutine, kind + "_frame")
        place = "%s:%d" % (frame.f_code.co_filename.split("/")[-1], frame.f_lineno)
        frames.insert(0, "%s() %s" % (name_of(frame.f_code), place))
        coroutine = coroutine.cr_await if kind == "cr" else coroutine.gi_yieldfrom
    return frames, coroutine


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
    made = [sleeping(1000), outer(2000), locked(lock), gathering(3000)]
    tasks = [asyncio.ensure_future(each) for each in made]
    tasks.append(asyncio.ensure_future(waiting(tasks[0])))
    await asyncio.sleep(0.05)
    tasks[0].set_name("named by hand")
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] + [asyncio.current_task()]
    await asyncio.ensure_future(dies(tasks))


asyncio.run(main())
