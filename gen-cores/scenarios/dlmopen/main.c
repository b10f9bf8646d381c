/* dlmopen: a thread waits below one copy of the library, the main thread dies below the other. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef long (*callback)(const long *);
typedef long (*plug_run)(callback, const long *);

static volatile long sink;

FN static long crash(const long *field)
{
	DIE(sink = field[1]);
	return sink;
}

FN static long wait_here(const long *field)
{
	WAIT(pause());
	return field[1];
}

/* Loads a copy of its own into the namespace. */
FN static void *load(Lmid_t space)
{
	void *library = dlmopen(space, "./libtwin.so", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return library;
}

FN static long use(void *library, callback back)
{
	plug_run run = (plug_run)dlsym(library, "plug_run");
	long result;

	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_push("plug_run", "plug.c", *(int *)dlsym(library, "plug_line"));
	truth_module("libtwin.so");
	result = run(back, truth_launder(0));
	return result + 1;
}

static void *other(void *library)
{
	truth_thread("waits in the second copy");
	CALL(use(library, wait_here));
	return 0;
}

int main(void)
{
	pthread_t thread;
	void *first = load(LM_ID_BASE), *second = load(LM_ID_NEWLM);

	truth_thread("main");
	pthread_create(&thread, 0, other, second);
	truth_wait_ready(1);
	return (int)CALL(use(first, crash));
}
