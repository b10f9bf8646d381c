// bthreads in every state: each tells in values.jsonl what it is about to do and by which functions it came there.

#include <cstdlib>
#include <pthread.h>
#include <string>
#include <unistd.h>

#include "bthread_account.hpp"
#include "scheduler.hpp"

#ifndef COUNT
#define COUNT 40
#endif

static bthread_mutex_t mutex, other;
static bthread_cond_t cond;
static bthread_t joined;
static volatile bool done;
static volatile int running;

DOWN(sleeps, bthread_usleep(1000000000))
DOWN(locks, bthread_mutex_lock(&mutex))
DOWN(waits, bthread_cond_wait(&cond, &other))
DOWN(joins, bthread_join(joined, nullptr))
DOWN(yields, bthread_yield())

DOWN(pauses_on_worker, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) pause())
DOWN(spins_on_worker, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) BARRIER())
DOWN(spins, __atomic_add_fetch(&running, 1, __ATOMIC_SEQ_CST); while (!done) BARRIER())

#define BODY(name, function, state, on, butex)                                                                         \
	FN static void *name(void *arg)                                                                                \
	{                                                                                                              \
		tell(bthread_self(), state, on, butex, #function, (int)(long)arg);                                     \
		function((long)arg);                                                                                   \
		return nullptr;                                                                                        \
	}

BODY(sleeper, sleeps, "sleeping", "timer", nullptr)
BODY(locker, locks, "suspended", "mutex", mutex.butex)
BODY(waiter, waits, "suspended", "condition", cond.seq)
BODY(joiner, joins, "suspended", "join", bthread_butex_of(joined))
BODY(yielder, yields, "ready", "", nullptr)
BODY(spinner, spins, "running", "", nullptr)
BODY(pauser_on_worker, pauses_on_worker, "running", "", nullptr)
BODY(spinner_on_worker, spins_on_worker, "running", "", nullptr)

FN static void *ender(void *)
{
	return nullptr;
}

static void *worker(void *arg)
{
	bthread_run(*(bthread_t *)arg);
	return nullptr;
}

// Makes bthreads in a thread of its own, which so has blocks of its own in the pool.
static void *maker(void *)
{
	void *(*const bodies[])(void *) = {sleeper, locker, waiter, joiner, yielder};
	for (long i = 0; i < COUNT; i++) {
		std::string name = "number " + std::to_string(i);
		bthread_run(bthread_start_background(name.c_str(), ender, nullptr));
		bthread_run(bthread_start_background(name.c_str(), bodies[i % 5], (void *)(i % 7)));
	}
	return nullptr;
}

// With an argument it lives on, for those who look at live processes.
int main(int argc, char **)
{
	truth_thread("main");
	open_account();
	bthread_mutex_init(&mutex);
	bthread_mutex_init(&other);
	bthread_cond_init(&cond);
	bthread_mutex_lock(&mutex);
	joined = bthread_start_background("joined", sleeper, (void *)3);
	bthread_run(joined);
	bthread_t created = bthread_start_background("created", sleeper, nullptr);
	tell(created, "created", "", nullptr, "", 0);
	bthread_t prepared = bthread_start_background("prepared", sleeper, nullptr);
	bthread_prepare(prepared);
	tell(prepared, "created", "", nullptr, "", 0);

	pthread_t threads[3];
	bthread_t spinning[3];
	for (long i = 0; i < 3; i++) {
		pthread_t thread;
		pthread_create(&thread, nullptr, maker, nullptr);
		pthread_join(thread, nullptr);
		spinning[i] = bthread_start_background("spins", spinner, (void *)(i + 1));
		pthread_create(&threads[i], nullptr, worker, &spinning[i]);
	}
	bthread_t on_workers[] = {bthread_start_on_worker("pauses", pauser_on_worker, (void *)2),
				  bthread_start_on_worker("spins", spinner_on_worker, (void *)4)};
	for (bthread_t &id : on_workers) {
		pthread_t thread;
		pthread_create(&thread, nullptr, worker, &id);
	}
	tell(bthread_start_on_worker("created", sleeper, nullptr), "created", "", nullptr, "", 0);
	while (running < 5)
		usleep(1000);
	fclose(account);
	while (argc > 1)
		pause();
	DIE_IN("libc", abort());
}
