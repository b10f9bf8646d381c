/*
 * Hangs: threads wait for locks and each other, and the program tells which, who holds them, and where they lie.
 *
 * The first argument is the scene. Each waiting thread prints a line of JSON before it waits. The last thread to
 * start waits until all others sleep, and completes the account.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined __GLIBC__
#define GLIBC 1
#else
#define GLIBC 0
#define PTHREAD_RWLOCK_DEFAULT_NP 0
#endif

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t normal, recursive, checking, robust, robust_recursive, inheriting, adaptive;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER, read_locked = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static sem_t slots;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *stream;
static int pipe_ends[2];
static pthread_t holder_thread, first_thread;
static volatile int holder_tid, first_tid, sink;
static const struct timespec far_away = {4000000000, 0};
static int started;

/* HOLDER: a thread, or 0 with what is known instead: `nobody`, `not_recorded`, `readers`, `absent_thread`. */
static void tell(const char *kind, const void *at, int holder, const char *instead)
{
	char line[256];
	int length = snprintf(line, sizeof line,
			      "{\"tid\":%d,\"kind\":\"%s\",\"at\":\"%#lx\",\"holder\":\"%s\",\"holder_tid\":%d}\n",
			      gettid(), kind, (unsigned long)at, instead ? instead : "thread", holder);

	if (write(1, line, length) != length)
		_exit(1);
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	/* Before it runs: it may wait for as many as there are. */
	started++;
	if (pthread_create(&thread, &attr, function, argument))
		exit(1);
	return thread;
}

FN static void stay(void)
{
	WAIT(pause());
}

FN static void lock_mutex(pthread_mutex_t *mutex)
{
	WAIT(pthread_mutex_lock(mutex));
}

FN static void lock_mutex_for_long(pthread_mutex_t *mutex)
{
	WAIT(pthread_mutex_timedlock(mutex, &far_away));
}

FN static void lock_for_reading(pthread_rwlock_t *lock)
{
	WAIT(pthread_rwlock_rdlock(lock));
}

FN static void lock_for_writing(pthread_rwlock_t *lock)
{
	WAIT(pthread_rwlock_wrlock(lock));
}

FN static void wait_for_job(void)
{
	WAIT(pthread_cond_wait(&queue_filled, &queue_lock));
}

FN static void wait_long_for_job(void)
{
	WAIT(pthread_cond_timedwait(&queue_filled, &queue_lock, &far_away));
}

FN static void take_slot(void)
{
	WAIT(sem_wait(&slots));
}

FN static void take_slot_for_long(void)
{
	WAIT(sem_timedwait(&slots, &far_away));
}

FN static void meet(void)
{
	WAIT(pthread_barrier_wait(&barrier));
}

FN static void join_thread(pthread_t thread)
{
	WAIT(pthread_join(thread, 0));
}

FN static void initialize(void)
{
	truth_gap("libc");
	CALLV(stay());
}

FN static void do_once(void)
{
	WAIT(pthread_once(&once, initialize));
}

FN static void run_once(void)
{
	CALLV(pthread_once(&once, initialize));
}

FN static void write_line(void)
{
	WAIT(fputs("line\n", stream));
}

FN static void read_pipe(void)
{
	char byte;

	WAIT(sink = read(pipe_ends[0], &byte, 1));
}

FN static void sleep_long(void)
{
	struct timespec long_time = {100000, 0};

	WAIT(nanosleep(&long_time, 0));
}

static void make_mutex(pthread_mutex_t *mutex, int type, int is_robust, int protocol)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	if (is_robust)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setprotocol(&attr, protocol);
	if (pthread_mutex_init(mutex, &attr))
		exit(2);
	pthread_mutexattr_destroy(&attr);
}

/* Threads of the scene `kinds`. */

static void *hold_all(void *unused)
{
	truth_thread("holds");
	holder_tid = gettid();
	pthread_mutex_lock(&normal);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&checking);
	pthread_mutex_lock(&adaptive);
	pthread_mutex_lock(&robust);
	pthread_mutex_lock(&robust_recursive);
	pthread_mutex_lock(&inheriting);
	pthread_rwlock_wrlock(&written);
	pthread_rwlock_rdlock(&read_locked);
	flockfile(stream);
	CALLV(sleep_long());
	return unused;
}

static void *hold_for_reading(void *unused)
{
	truth_thread("reads");
	pthread_rwlock_rdlock(&read_locked);
	CALLV(stay());
	return unused;
}

static void *runs_once(void *unused)
{
	truth_thread("runs once");
	CALLV(run_once());
	return unused;
}

static void *wait_for_mutex(void *mutex)
{
	int keeps_owner = GLIBC || mutex == &recursive || mutex == &checking || mutex == &robust_recursive ||
			  mutex == &robust || mutex == &inheriting;

	truth_thread("waits");
	tell("mutex", mutex, keeps_owner ? holder_tid : 0, keeps_owner ? 0 : "not_recorded");
	CALLV(lock_mutex(mutex));
	return 0;
}

static void *wait_long_for_mutex(void *mutex)
{
	truth_thread("waits");
	tell("mutex", mutex, GLIBC ? holder_tid : 0, GLIBC ? 0 : "not_recorded");
	CALLV(lock_mutex_for_long(mutex));
	return 0;
}

static void *wait_to_read(void *lock)
{
	truth_thread("waits");
	tell("rwlock", lock, holder_tid, 0);
	CALLV(lock_for_reading(lock));
	return 0;
}

static void *wait_to_write(void *lock)
{
	truth_thread("waits");
	tell("rwlock", lock, lock == &written ? holder_tid : 0, lock == &written ? 0 : "readers");
	CALLV(lock_for_writing(lock));
	return 0;
}

FN static void *work(void *is_timed)
{
	truth_thread("worker");
	pthread_mutex_lock(&queue_lock);
	tell("condition", &queue_filled, 0, "nobody");
	if (is_timed)
		CALLV(wait_long_for_job());
	else
		CALLV(wait_for_job());
	return 0;
}

FN static void *wait_for_slot(void *is_timed)
{
	truth_thread("waits");
	tell("semaphore", &slots, 0, "nobody");
	if (is_timed)
		CALLV(take_slot_for_long());
	else
		CALLV(take_slot());
	return 0;
}

static void *wait_at_barrier(void *unused)
{
	truth_thread("waits");
	tell("barrier", &barrier, 0, "nobody");
	CALLV(meet());
	return unused;
}

static void *wait_for_once(void *unused)
{
	truth_thread("waits");
	tell("once", &once, 0, "not_recorded");
	CALLV(do_once());
	return unused;
}

static void *wait_for_end(void *unused)
{
	truth_thread("waits");
	tell("join", 0, holder_tid, 0);
	CALLV(join_thread(holder_thread));
	return unused;
}

static void *wait_for_stream(void *unused)
{
	truth_thread("waits");
	tell("stream", 0, holder_tid, 0);
	CALLV(write_line());
	return unused;
}

static void *wait_for_byte(void *unused)
{
	truth_thread("waits");
	tell("read", (void *)(long)pipe_ends[0], 0, "nobody");
	CALLV(read_pipe());
	return unused;
}

static void wait_for_others(void)
{
	truth_wait_ready(started);
}

static void kinds(void)
{
	pthread_mutex_t *held[] = {&normal, &normal, &recursive, &checking, &adaptive,
				   &robust, &robust_recursive, &inheriting};
	unsigned i;

	holder_thread = start(hold_all, 0);
	start(hold_for_reading, 0);
	start(runs_once, 0);
	wait_for_others();
	for (i = 0; i < sizeof held / sizeof *held; i++)
		start(wait_for_mutex, held[i]);
	start(wait_long_for_mutex, &normal);
	start(wait_to_read, &written);
	start(wait_to_read, &written);
	start(wait_to_write, &written);
	start(wait_to_write, &read_locked);
	for (i = 0; i < 3; i++) {
		start(work, i == 2 ? "timed" : 0);
		start(wait_for_slot, i == 2 ? "timed" : 0);
	}
	start(wait_at_barrier, 0);
	start(wait_at_barrier, 0);
	start(wait_for_once, 0);
	start(wait_for_end, 0);
	start(wait_for_stream, 0);
	start(wait_for_byte, 0);
}

/* Deadlocks. Each thread has its first lock before it may go for the second. */

static pthread_barrier_t all_hold;

static void *take_a_then_b(void *unused)
{
	truth_thread("a then b");
	pthread_mutex_lock(&lock_a);
	first_tid = gettid();
	pthread_barrier_wait(&all_hold);
	tell("mutex", &lock_b, holder_tid, 0);
	CALLV(lock_mutex(&lock_b));
	return unused;
}

static void *take_b_then_a(void *unused)
{
	truth_thread("b then a");
	pthread_mutex_lock(&lock_b);
	holder_tid = gettid();
	pthread_barrier_wait(&all_hold);
	tell("mutex", &lock_a, first_tid, 0);
	CALLV(lock_mutex(&lock_a));
	return unused;
}

static void abba(void)
{
	pthread_barrier_init(&all_hold, 0, 2);
	start(take_a_then_b, 0);
	start(take_b_then_a, 0);
}

/* A thread with the mutex waits to write; the writer joins a third, which waits for the mutex. */

static volatile int writer_tid, joined_tid;
static pthread_t joined_thread;

static void *take_mutex_then_write(void *unused)
{
	truth_thread("mutex then rwlock");
	pthread_mutex_lock(&lock_a);
	first_tid = gettid();
	pthread_barrier_wait(&all_hold);
	tell("rwlock", &written, writer_tid, 0);
	CALLV(lock_for_writing(&written));
	return unused;
}

static void *write_then_join(void *unused)
{
	truth_thread("rwlock then join");
	pthread_rwlock_wrlock(&written);
	writer_tid = gettid();
	pthread_barrier_wait(&all_hold);
	tell("join", 0, joined_tid, 0);
	CALLV(join_thread(joined_thread));
	return unused;
}

static void *wait_for_first(void *unused)
{
	truth_thread("mutex");
	joined_tid = gettid();
	pthread_barrier_wait(&all_hold);
	tell("mutex", &lock_a, first_tid, 0);
	CALLV(lock_mutex(&lock_a));
	return unused;
}

static void three(void)
{
	pthread_barrier_init(&all_hold, 0, 3);
	joined_thread = start(wait_for_first, 0);
	start(take_mutex_then_write, 0);
	start(write_then_join, 0);
}

static void *lock_twice(void *unused)
{
	truth_thread("locks twice");
	pthread_mutex_lock(&lock_a);
	tell("mutex", &lock_a, gettid(), 0);
	CALLV(lock_mutex(&lock_a));
	return unused;
}

static void self(void)
{
	start(lock_twice, 0);
}

/* An owner that is gone. */

static void *lock_and_end(void *unused)
{
	holder_tid = gettid();
	pthread_mutex_lock(&lock_a);
	return unused;
}

static void *wait_for_gone(void *unused)
{
	truth_thread("waits");
	tell("mutex", &lock_a, holder_tid, "absent_thread");
	CALLV(lock_mutex(&lock_a));
	return unused;
}

static void gone(void)
{
	pthread_t thread = start(lock_and_end, 0);

	pthread_join(thread, 0);
	started--;
	start(wait_for_gone, 0);
}

/* Many wait for what one holds, which itself waits for what never comes. */

static void *hold_and_read(void *unused)
{
	truth_thread("holds");
	pthread_mutex_lock(&lock_a);
	holder_tid = gettid();
	CALLV(read_pipe());
	return unused;
}

static void *wait_in_convoy(void *unused)
{
	truth_thread("waits");
	tell("mutex", &lock_a, holder_tid, 0);
	CALLV(lock_mutex(&lock_a));
	return unused;
}

static void convoy(void)
{
	int i;

	start(hold_and_read, 0);
	wait_for_others();
	for (i = 0; i < 5; i++)
		start(wait_in_convoy, 0);
}

/* A healthy pool, and the main thread that joins its first worker. */

static void *first_worker(void *unused)
{
	first_tid = gettid();
	return work(unused);
}

static void *complete_account(void *unused)
{
	truth_thread("completes the account");
	truth_push("complete_account", "main.c", __LINE__ + 5);
	truth_gap("libc");
	wait_for_others();
	truth_write_waiting();
	for (;;)
		pause();
	return unused;
}

static void idle(void)
{
	int i;

	first_thread = start(first_worker, 0);
	for (i = 0; i < 7; i++)
		start(work, i == 3 ? "timed" : 0);
	wait_for_others();
	/* This thread is the one that the last one to start waits for in place of itself. */
	start(complete_account, 0);
	tell("join", 0, first_tid, 0);
	CALLV(join_thread(first_thread));
}

FN static void supervise(void)
{
	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("libc");
	wait_for_others();
	truth_write_waiting();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} scenes[] = {{"kinds", kinds}, {"abba", abba}, {"three", three}, {"self", self},
		      {"gone", gone},	{"convoy", convoy}, {"idle", idle}};
	unsigned i;

	truth_thread("main");
	make_mutex(&normal, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE);
	make_mutex(&recursive, PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_NONE);
	make_mutex(&checking, PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_NONE);
#if GLIBC
	make_mutex(&adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, 0, PTHREAD_PRIO_NONE);
#else
	make_mutex(&adaptive, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_NONE);
#endif
	make_mutex(&robust, PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_NONE);
	make_mutex(&robust_recursive, PTHREAD_MUTEX_RECURSIVE, 1, PTHREAD_PRIO_NONE);
	make_mutex(&inheriting, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT);
	sem_init(&slots, 0, 0);
	pthread_barrier_init(&barrier, 0, 3);
	stream = fopen("/dev/null", "w");
	if (!stream || pipe(pipe_ends) || argc < 2)
		exit(1);
	for (i = 0; i < sizeof scenes / sizeof *scenes; i++)
		if (!strcmp(scenes[i].name, argv[1]))
			CALLV(scenes[i].play());
	CALLV(supervise());
	return 0;
}
