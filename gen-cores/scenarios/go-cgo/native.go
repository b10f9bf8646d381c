package main

// The C of go-cgo: what an exported function is beside may not be defined beside it.

/*
#cgo CFLAGS: -g -O2
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#define FN __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")

extern void goPark(int);
extern void goNested(int);
extern void goQuick(int);
extern void goEnd(int);
extern void goTold(int, int);

static int own_thread(void) { return (int)syscall(SYS_gettid); }

// A frame that needs its frame pointer: it has room of a size that only its caller knows.
FN void c_sleep(int which) {
	volatile char *room = __builtin_alloca(which * 16 + 64);
	memset((void *)room, which, 64);
	goTold(which, own_thread());
	sleep(3600);
	KEEP();
}

FN void c_sleep_outer(int which) { c_sleep(which); KEEP(); }

FN void c_calls_park(int which) {
	volatile char *room = __builtin_alloca(which * 16 + 64);
	memset((void *)room, which, 64);
	goPark(which);
	KEEP();
}

FN void c_calls_nested(int which) { goNested(which); KEEP(); }

FN static void c_warm(int which) { goQuick(which); KEEP(); }

FN static void c_deep(int which) {
	volatile char room[512];
	memset((void *)room, which, sizeof room);
	c_calls_park(which);
	KEEP();
}

// Threads that Go did not make.
FN static void *c_thread_parks(void *which) {
	c_warm((int)(long)which);
	c_deep((int)(long)which);
	KEEP();
	return 0;
}

FN static void *c_thread_nests(void *which) {
	c_calls_nested((int)(long)which);
	KEEP();
	return 0;
}

FN void c_threads(int parks, int nests) {
	pthread_t thread;
	pthread_create(&thread, 0, c_thread_parks, (void *)(long)parks);
	pthread_create(&thread, 0, c_thread_nests, (void *)(long)nests);
}

FN void c_to_end(int how) { goEnd(how); KEEP(); }

volatile int *nowhere;

FN void c_ends(int how) {
	if (how == 0)
		abort();
	*nowhere = how;
	KEEP();
}
*/
import "C"

func sleepInC(which int)    { C.c_sleep_outer(C.int(which)) }
func parkByC(which int)     { C.c_calls_park(C.int(which)) }
func nestByC(which int)     { C.c_calls_nested(C.int(which)) }
func startThreads(a, b int) { C.c_threads(C.int(a), C.int(b)) }
func endByC(how int)        { C.c_to_end(C.int(how)) }
func endInC(how int)        { C.c_ends(C.int(how)) }
func sleepDirectly(which int) {
	C.c_sleep(C.int(which))
}
