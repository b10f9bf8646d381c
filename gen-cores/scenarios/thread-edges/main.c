/*
 * thread-edges: one thread is past its function and stands in the destructor of its thread-local data, and the main
 * thread aborts right after it has made 30 more, of which nobody knows how far they came.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_key_t key;
static volatile int sink;

/* Runs when the thread's own function has returned. */
FN static void on_thread_end(void *value)
{
	sink = value != 0;
	WAIT(pause());
}

static void *ends(void *value)
{
	truth_thread("ending");
	pthread_setspecific(key, value);
	return 0;
}

/* May or may not come to run; it is not in the account. */
static void *starts(void *value)
{
	sink++;
	return value;
}

FN static void crowd(void)
{
	pthread_t thread;
	int i;

	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("libc");
	truth_write();
	for (i = 0; i < 30; i++)
		pthread_create(&thread, 0, starts, 0);
	abort();
}

int main(void)
{
	pthread_t thread;

	truth_thread("main");
	pthread_key_create(&key, on_thread_end);
	pthread_create(&thread, 0, ends, &key);
	truth_wait_ready(1);
	CALLV(crowd());
	return 0;
}
