"""Tasks of trio that wait for whatever trio has, in nurseries within nurseries and cancel scopes within those; one runs, and
aborts. The program writes down what trio itself says of them."""
import inspect
import os
import socket
import sys
import threading
import types

sys.path.insert(0, "packages")

try:
    import ssl
except ImportError:
    # A minimal Python has no OpenSSL; trio wants no more of it here than that it can be imported.
    sys.modules["ssl"] = types.ModuleType("ssl")
    sys.modules["ssl"].__getattr__ = lambda name: type(name, (Exception,), {})

import truth
import trio
import trio.testing

try:
    from trio import lowlevel
except ImportError:
    from trio import hazmat as lowlevel

kept, waits = threading.Event(), {}


def waits_for(text, *what):
    """Says what the current task is about to wait for."""
    places = ["%x" % id(each) for each in what]
    waits[lowlevel.current_task()] = text % tuple(places[: text.count("%s")])


async def sleeps(seconds):
    waits_for("timer")
    await trio.sleep(seconds)


async def sleeps_forever():
    waits_for("nothing")
    await trio.sleep_forever()


async def locks(lock):
    waits_for("Lock %s of task %s", lock, lock.statistics().owner)
    async with lock:
        pass


async def holds(lock):
    async with lock:
        waits_for("timer")
        await trio.sleep(4000)


async def waits_event(event):
    waits_for("Event %s", event)
    await event.wait()


async def acquires(semaphore):
    waits_for(type(semaphore).__name__ + " %s", semaphore)
    await semaphore.acquire()


async def waits_condition(condition):
    async with condition:
        waits_for("Condition %s", condition)
        await condition.wait()


async def notified(condition):
    """Its condition hands it over to the lock, which another holds."""
    await condition.acquire()
    lock = condition._lock
    waits_for("Lock %s", lock)
    await condition.wait()


async def notifies(condition):
    await condition.acquire()
    condition.notify()
    waits_for("timer")
    waiter = next(task for task in waits if task.name.endswith("notified"))
    waits[waiter] += " of task %x" % id(lowlevel.current_task())
    await trio.sleep(5000)


async def sends(channel):
    waits_for("MemorySendChannel %s", channel)
    await channel.send(1)


async def receives(channel):
    waits_for("MemoryReceiveChannel %s", channel)
    await channel.receive()


async def reads(end):
    waits_for("fd %d read" % end.fileno())
    await lowlevel.wait_readable(end)


async def writes(end):
    end.setblocking(False)
    try:
        while True:
            end.send(bytes(1 << 16))
    except BlockingIOError:
        pass
    waits_for("fd %d write" % end.fileno())
    await lowlevel.wait_writable(end)


async def accepts(listener):
    waits_for("fd %d read" % listener.fileno())
    await listener.accept()


started = threading.Semaphore(0)


def blocks(tids):
    tids.append(threading.get_native_id())
    started.release()
    kept.wait()


async def asks_a_thread():
    tids = []
    waits[lowlevel.current_task()] = tids
    await trio.to_thread.run_sync(blocks, tids)


async def limited():
    with trio.move_on_after(700):
        with trio.move_on_after(6000):
            await waits_event(trio.Event())


async def shielded():
    with trio.move_on_after(800):
        with trio.CancelScope(shield=True):
            await waits_event(trio.Event())


async def cancelled():
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.sleep(0)
        finally:
            # It is blocked in what cannot be aborted.
            waits_for("own_wait()")
            await own_wait()


async def own_wait():
    await lowlevel.wait_task_rescheduled(lambda raise_cancel: lowlevel.Abort.FAILED)


async def generates(seconds):
    waits_for("timer")
    for _ in range(3):
        await trio.sleep(seconds)
        yield seconds


async def consumes():
    async for each in generates(9000):
        pass


async def opens(depth):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleeps, 1000 + depth)
        nursery.start_soon(sleeps_forever)
        if depth:
            nursery.start_soon(opens, depth - 1)
        waits[lowlevel.current_task()] = nursery


async def is_woken(event):
    await event.wait()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


STAND_INS = ("async_generator_asend", "async_generator_athrow", "ANextIter")


def frames(coroutine):
    """The frames of a coroutine and of those that it awaits, innermost first, as Task.iter_await_frames() has them."""
    import gc
    found = []
    while coroutine is not None:
        if type(coroutine).__name__ in STAND_INS:
            coroutine = next(each for each in gc.get_referents(coroutine) if hasattr(each, "ag_frame"))
        kind = next((kind for kind in ("cr", "gi", "ag") if hasattr(coroutine, kind + "_frame")), None)
        if kind is None:
            break
        frame = getattr(coroutine, kind + "_frame")
        found.insert(0, truth.call(frame.f_code, frame.f_lineno))
        coroutine = getattr(coroutine, "gi_yieldfrom" if kind == "gi" else kind + "_await")
    return found


def tree(task):
    """A task and those in its nurseries, as trio's own documentation walks them."""
    yield task
    for nursery in task.child_nurseries:
        for child in nursery.child_tasks:
            yield from tree(child)


def seconds(task, time):
    """A time of the task's run on the monotonic clock."""
    return None if time in (float("inf"), float("-inf")) else time - task._runner.clock.offset


def is_scheduled(task):
    """Whether it goes on in the next turn; one that has not begun always does."""
    return (
        inspect.getcoroutinestate(task.coro) == "CORO_CREATED"
        or task._next_send is not None
        or getattr(task, "_next_send_fn", None) is not None
    )


def tell(task):
    current = lowlevel.current_task()
    nursery = task.parent_nursery
    limit = task._cancel_status.effective_deadline()
    text = waits.get(task)
    if isinstance(text, list):
        text = "thread %d" % text[0]
    elif hasattr(text, "child_tasks"):
        text = "nursery %x of %d tasks" % (id(text), len(text.child_tasks))
    state = "running" if task is current else "runnable" if is_scheduled(task) else "blocked"
    told = {
        "at": "0x%x" % id(task),
        "name": task.name,
        "state": state,
        "nursery": nursery and "0x%x" % id(nursery),
        "parent": nursery and "0x%x" % id(nursery.parent_task),
        "deadline": seconds(task, limit),
        "cancelled": limit == float("-inf"),
        "own_deadline": seconds(task, task._cancel_status._scope.deadline),
        "waits_on": text if state == "blocked" else None,
        "frames": [] if task is current else frames(task.coro),
    }
    if hasattr(task, "iter_await_frames") and told["frames"]:
        own = [(frame.f_code.co_name, line) for frame, line in task.iter_await_frames()]
        assert [line for _, line in own][::-1] == [frame["line"] for frame in told["frames"]], (own, told)
    with open("tasks.jsonl", "a") as lines:
        lines.write(truth.json.dumps(told) + "\n")


async def dies(event):
    # What these two leave goes on in the next turn: one that waited, and one that has not begun.
    event.set()
    lowlevel.spawn_system_task(sleeps, 3000)
    for root in (lowlevel.current_root_task(), roots[0]):
        for task in tree(root):
            tell(task)
    truth.done()
    os.abort()


def in_a_thread():
    """A run of its own, in a thread of its own."""
    async def sleeper():
        roots.append(lowlevel.current_root_task())
        waits_for("timer")
        await trio.sleep(7000)
    trio.run(sleeper)


roots = []


async def main():
    lock, condition, other = trio.Lock(), trio.Condition(), trio.Condition()
    woken = trio.Event()
    semaphore, limiter = trio.Semaphore(0), trio.CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait(main)
    full, unread = trio.open_memory_channel(0)
    unsent, empty = trio.open_memory_channel(1)
    pipe, quiet = socket.socketpair(), socket.socketpair()
    listener = trio.socket.socket()
    await listener.bind(("127.0.0.1", 0))
    listener.listen()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(holds, lock)
        await trio.testing.wait_all_tasks_blocked()
        made = [
            (sleeps, 1000), (sleeps_forever,), (locks, lock), (waits_event, trio.Event()), (acquires, semaphore),
            (acquires, limiter), (waits_condition, condition), (notified, other), (sends, full), (receives, empty),
            (reads, quiet[0]), (writes, pipe[0]), (accepts, listener), (asks_a_thread,), (limited,), (shielded,),
            (cancelled,), (consumes,), (opens, 2),
        ]
        for function, *args in made:
            nursery.start_soon(function, *args)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(notifies, other)
        await trio.testing.wait_all_tasks_blocked()
        started.acquire()
        while not roots or next(tree(roots[0]), None) is None or len(list(tree(roots[0]))) < 3:
            await trio.sleep(0.01)
        await trio.sleep(0.2)
        waits[lowlevel.current_task()] = nursery
        nursery.start_soon(is_woken, woken)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(dies, woken)
    globals()["never"] = (unread, unsent)


threading.Thread(target=in_a_thread, daemon=True).start()
trio.run(main)
