// Where threads are stopped that switch from one bthread to another, for tests that look into the midst of a switch.
#pragma once

#include <unistd.h>

#include "bthread_account.hpp"
#include "places.h"

// Whether a debugger comes, who can trace only what no other one traces.
#ifndef ARE_LEFT
#define ARE_LEFT 0
#endif

// Instructions behind the first one of the switch: all of its own, and some of those who go on behind it.
static const int PLACES[] = {0,	 1,  2,	 3,  4,	 5,  6,	 7,  8,	 9,  10, 11, 12, 13, 14, 15, 16,  17,
			     18, 19, 20, 21, 22, 23, 24, 26, 29, 33, 38, 44, 52, 62, 75, 95, 120, 160};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };

// What is switched between, and how often the thread has switched before.
enum Kind {
	TO_WORKER, // A bthread that goes to sleep leaves for the worker.
	TO_NEW,	   // It leaves for one that begins.
	TO_OLD,	   // One that has begun leaves for one that waited to run.
	BACK,	   // The worker leaves for the one that slept.
	ENDING,	   // One that has ended leaves for the worker.
	KIND_COUNT
};

enum { SWITCH_COUNT = KIND_COUNT * PLACE_COUNT };

static inline Kind kind_of(long number)
{
	return (Kind)(number / PLACE_COUNT);
}

static inline void stop_in_switch(long number)
{
	Kind kind = kind_of(number);
	places_stop(number, kind == TO_OLD || kind == BACK ? 2 : 1, PLACES[number % PLACE_COUNT]);
}

static volatile int entered;

static inline long depth_of(long number)
{
	return number % 7;
}

static inline void stay()
{
	for (;;)
		pause();
}

// What a program does to come to the switch of a number, on a stack of a known depth.
static void act(long number);

FN static long switches(long depth, long number)
{
	if (depth > 0) {
		long below = switches(depth - 1, number);
		__asm__ volatile("" : "+r"(below));
		return below + 1;
	}
	act(number);
	BARRIER();
	return 1;
}

// What each bthread does that switches: tells of itself, waits for the others, and goes there. Each has a thread of its
// own by then, and none comes to the switch while another one is traced to it.
static inline void enter_and_switch(bthread_t own, long number)
{
	static const char *const states[] = {"sleeping", "ready", "running", "running", "ended"};
	tell(own, states[kind_of(number)], "", nullptr, "switches", depth_of(number));
	__atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
	while (entered < SWITCH_COUNT)
		usleep(20000);
	if (kind_of(number) == ENDING)
		stop_in_switch(number);
	else
		switches(depth_of(number), number);
}
