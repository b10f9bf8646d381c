// bRPC's own bthreads in every state: each tells in values.jsonl what it is about to do and by which functions it
// came there.

#include <cstdlib>
#include <initializer_list>
#include <pthread.h>
#include <unistd.h>

#include "brpc.hpp"
#include "bthread_account.hpp"

// Threads that make bthreads, how many each, and on which stacks.
#ifndef MAKERS
#define MAKERS 10
#define COUNT 16
#define STACK(i) (i % 3 == 0 ? SMALL : NORMAL)
#endif

#define WORKERS 8
#define WOKEN 4
// Those that sleep by timers which go off in time, and by such as are late.
#define NAPPERS 3
#define LATE 3

static bthread_mutex_t mutex, other, mine, yours;
static bthread_cond_t cond;
static void *butex, *woken_butex, *lone_butex;
static bthread_t joined;
static volatile int entered, running, done, is_held, is_released, is_held_again;

static void enter()
{
	__atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
}

static const timespec FAR = {4000000000, 0};
// Microseconds after which the thread that runs timers is held again, and after which those are due that are late.
#define HELD_AFTER 2000000
#define LATE_AFTER 3000000

DOWN(sleeps, brpc.usleep(1000000000000))
DOWN(locks, brpc.mutex_lock(&mutex))
DOWN(waits, brpc.mutex_lock(&other); brpc.cond_wait(&cond, &other))
DOWN(waits_for_long, brpc.mutex_lock(&other); brpc.cond_timedwait(&cond, &other, &FAR))
DOWN(joins, brpc.join(joined, nullptr))
DOWN(waits_on_butex, brpc.butex_wait(butex, 0, nullptr, false))
DOWN(is_woken, brpc.butex_wait(woken_butex, 0, nullptr, false))
DOWN(yields, while (!done) brpc.yield())
DOWN(spins, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) __asm__ volatile("pause"))
DOWN(pauses, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) pause())
DOWN(spins_on_worker, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) __asm__ volatile("pause"))
DOWN(waits_on_worker, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); brpc.butex_wait(lone_butex, 0, nullptr, false))
DOWN(sleeps_on_worker, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); brpc.usleep(1000000000000))
DOWN(naps, brpc.usleep(1000))
DOWN(oversleeps, brpc.usleep(LATE_AFTER))
DOWN(takes_mine_first, brpc.mutex_lock(&mine); brpc.usleep(200000); brpc.mutex_lock(&yours))
DOWN(takes_yours_first, brpc.mutex_lock(&yours); brpc.usleep(200000); brpc.mutex_lock(&mine))

#define BODY(name, function, state, on, butex)                                                                         \
	FN static void *name(void *arg)                                                                                \
	{                                                                                                              \
		tell(brpc.self(), state, on, butex, #function, (int)(long)arg);                                        \
		enter();                                                                                               \
		function((long)arg);                                                                                   \
		return nullptr;                                                                                        \
	}

BODY(sleeper, sleeps, "sleeping", "timer", nullptr)
BODY(locker, locks, "suspended", "mutex", mutex.butex)
BODY(waiter, waits, "suspended", "condition", cond.seq)
BODY(long_waiter, waits_for_long, "suspended", "condition", cond.seq)
BODY(joiner, joins, "suspended", "join", nullptr)
BODY(butex_waiter, waits_on_butex, "suspended", "butex", butex)
BODY(woken, is_woken, "ready", "", nullptr)
BODY(yielder, yields, "ready", "", nullptr)
BODY(spinner, spins, "running", "", nullptr)
BODY(pauser, pauses, "running", "", nullptr)
BODY(spinner_on_worker, spins_on_worker, "running", "", nullptr)
BODY(waiter_on_worker, waits_on_worker, "running", "", nullptr)
BODY(sleeper_on_worker, sleeps_on_worker, "running", "", nullptr)
BODY(napper, naps, "ready", "", nullptr)
BODY(late_sleeper, oversleeps, "sleeping", "timer", nullptr)
BODY(taker, takes_mine_first, "suspended", "mutex", yours.butex)
BODY(other_taker, takes_yours_first, "suspended", "mutex", mine.butex)

FN static void *ender(void *)
{
	return nullptr;
}

static bthread_t start(uint32_t stack, void *(*body)(void *), long arg)
{
	bthread_attr_t attributes = {stack, 0, nullptr, -1};
	bthread_t id;
	if (brpc.start_background(&id, &attributes, body, (void *)arg) != 0)
		abort();
	return id;
}

// Makes bthreads, and before each one that ends, in whose slot another comes.
static void *maker(void *)
{
	void *(*const bodies[])(void *) = {sleeper, locker, waiter, joiner, butex_waiter, long_waiter};
	for (long i = 0; i < COUNT; i++) {
		brpc.join(start(STACK(i), ender, 0), nullptr);
		start(STACK(i), bodies[i % 6], i % 7);
	}
	return nullptr;
}

static void wait_for(volatile int *count, int wanted)
{
	while (*count < wanted)
		usleep(1000);
}

static void make_by_many_threads()
{
	pthread_t makers[MAKERS];
	for (pthread_t &thread : makers)
		pthread_create(&thread, nullptr, maker, nullptr);
	for (pthread_t &thread : makers)
		pthread_join(thread, nullptr);
}

// No worker is left for those that are ready.
static void occupy_all_workers()
{
	start(NORMAL, yielder, 4);
	wait_for(&entered, MAKERS * COUNT + WOKEN + 4 + NAPPERS + LATE);
	start(ON_WORKER, spinner_on_worker, 2);
	start(ON_WORKER, waiter_on_worker, 3);
	start(ON_WORKER, sleeper_on_worker, 4);
	for (long i = 0; i < WORKERS - 3; i++)
		start(i == 1 ? SMALL : NORMAL, i == 0 ? pauser : spinner, i + 1);
	wait_for(&running, WORKERS);
}

static void hold(void *)
{
	is_held = 1;
	wait_for(&is_released, 1);
}

static void hold_again(void *)
{
	is_held_again = 1;
	wait_for(&done, 1);
}

static uint64_t microseconds()
{
	timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000ul + now.tv_nsec / 1000;
}

static void add_timer(uint64_t at, void (*function)(void *))
{
	uint64_t id;
	timespec when = {(time_t)(at / 1000000), (long)(at % 1000000 * 1000)};
	if (brpc.timer_add(&id, when, function, nullptr) != 0)
		abort();
}

// The thread that runs timers is held, so that the first of these go off only when no worker is left for whom they
// wake, and then again, before the others are due.
static uint64_t sleep_shortly()
{
	add_timer(microseconds(), hold);
	wait_for(&is_held, 1);
	int before = entered;
	for (long i = 0; i < NAPPERS; i++)
		start(NORMAL, napper, i);
	wait_for(&entered, before + NAPPERS);
	add_timer(microseconds() + HELD_AFTER, hold_again);
	for (long i = 0; i < LATE; i++)
		start(NORMAL, late_sleeper, i);
	wait_for(&entered, before + NAPPERS + LATE);
	return microseconds() + LATE_AFTER;
}

static void go_off_late(uint64_t due)
{
	is_released = 1;
	wait_for(&is_held_again, 1);
	while (microseconds() <= due)
		usleep(1000);
}

// With an argument it lives on, for those who look at live processes.
int main(int argc, char **)
{
	truth_thread("main");
	open_account();
	brpc_load("./libspu.so");
	brpc.setconcurrency(WORKERS);
	for (bthread_mutex_t *each : {&mutex, &other, &mine, &yours})
		brpc.mutex_init(each, nullptr);
	brpc.cond_init(&cond, nullptr);
	for (void **each : {&butex, &woken_butex, &lone_butex})
		*(int *)(*each = brpc.butex_create()) = 0;
	brpc.mutex_lock(&mutex);
	joined = start(LARGE, sleeper, 3);
	start(NORMAL, taker, 1);
	start(NORMAL, other_taker, 2);
	for (long i = 0; i < WOKEN; i++)
		start(NORMAL, woken, i);
	make_by_many_threads();
	wait_for(&entered, MAKERS * COUNT + WOKEN + 3);
	// What they do first is done by then, if not on a machine that stands still.
	sleep(1);
	uint64_t due = sleep_shortly();
	sleep(1);
	occupy_all_workers();
	go_off_late(due);
	for (int i = 0; i < WOKEN; i++)
		brpc.butex_wake(woken_butex, false);
	tell(start(NORMAL, sleeper, 0), "created", "", nullptr, "", 0);
	tell(start(ON_WORKER, sleeper, 0), "created", "", nullptr, "", 0);
	fclose(account);
	while (argc > 1)
		pause();
	DIE_IN("libc", abort());
}
