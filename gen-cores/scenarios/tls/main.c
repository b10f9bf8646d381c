/*
 * tls: thread-local variables of the program, of a library that is linked, and of one that is loaded late, in three
 * threads. The program prints where each lies: `tid name address`. One thread never uses the late library's variable; it
 * has used that of a library that is gone, whose place the late one takes.
 */
#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef STATIC
#include <dlfcn.h>

extern __thread int early_value;
#endif

__thread int exe_small = 7;
__thread long exe_wide[3] __attribute__((aligned(64)));

static volatile int sink;
static volatile int loaded;
static int *(*late_address)(void);

static void print_address(const char *name, const volatile void *at)
{
	printf("%ld %s %lx\n", syscall(SYS_gettid), name, (unsigned long)at);
}

/* Prints what every thread has; the value of errno is CODE. */
static void print_own(int code)
{
	print_address("exe_small", &exe_small);
	print_address("exe_wide", exe_wide);
#ifndef STATIC
	print_address("early_value", &early_value);
#endif
	errno = code;
	print_address("errno", &errno);
	print_address("pointer", __builtin_thread_pointer());
	errno = code;
}

static void print_late(void)
{
	int code = errno;

#ifndef STATIC
	print_address("late_value", late_address());
#endif
	fflush(stdout);
	errno = code;
}

static void *user(void *unused)
{
	truth_thread("user");
	print_own(13);
	print_late();
	WAIT(pause());
	return unused;
}

static void *other(void *address)
{
	truth_thread("other");
#ifndef STATIC
	sink = *((int *(*)(void))address)();
#endif
	print_own(2);
	fflush(stdout);
	errno = 2;
	loaded = 1;
	WAIT(pause());
	return address;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, 0, function, argument)) {
		perror("pthread_create");
		exit(1);
	}
	return thread;
}

#ifndef STATIC
static void *open_library(const char *path, const char *name, void **library)
{
	void *found;

	*library = dlopen(path, RTLD_NOW);
	found = *library ? dlsym(*library, name) : 0;
	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return found;
}
#endif

int main(void)
{
	long *field = truth_launder(0);
	void *library = 0;
	void *address = 0;

#ifndef STATIC
	address = open_library("./libgone.so", "gone_address", &library);
#endif
	start(other, address);
	while (!loaded)
		usleep(1000);
#ifndef STATIC
	dlclose(library);
	late_address = (int *(*)(void))open_library("./liblate.so", "late_address", &library);
#endif
	print_own(22);
	print_late();
	start(user, 0);
	truth_wait_ready(2);
	errno = 22;
	DIE(field[2] = 1);
	return 0;
}
