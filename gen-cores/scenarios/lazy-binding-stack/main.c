/* lazy-binding-stack: a thread has room for a call, but not for the registers that lazy binding saves. */
#define _GNU_SOURCE
#include "truth.h"

#include <alloca.h>
#include <pthread.h>
#include <unistd.h>

/* Less than what _dl_runtime_resolve_xsave needs, more than all before it. */
#define ROOM 400

static char *stack_floor(void)
{
	pthread_attr_t attr;
	void *floor;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &floor, &size);
	return floor;
}

FN static int squeeze(char *floor)
{
	char here;
	char *rest;
	int group;

	truth_push(__func__, __FILE__, __LINE__ + 5);
	truth_gap("plt");
	truth_write();
	rest = alloca(&here - floor - ROOM);
	__asm__ volatile("" : : "r"(rest) : "memory");
	group = getpgrp();
	return group + 1;
}

static void *run(void *unused)
{
	char *floor = stack_floor();

	truth_thread("squeezed");
	CALL(squeeze(floor));
	return unused;
}

int main(void)
{
	pthread_t thread;

	truth_thread("main");
	pthread_create(&thread, 0, run, 0);
	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_gap("libc");
	pthread_join(thread, 0);
	return 0;
}
