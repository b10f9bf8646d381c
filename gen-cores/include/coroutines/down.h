/* Functions that call themselves a known number of times, for stacks of a known depth. */
#ifndef KCORE_DOWN_H
#define KCORE_DOWN_H

#include "truth.h"

/* Defines NAME: goes down so many frames before it does LAST; no compiler makes a loop of it. */
#define DOWN(name, last)                                                                                               \
	FN static long name(long depth)                                                                                \
	{                                                                                                              \
		if (depth > 0) {                                                                                       \
			long below = name(depth - 1);                                                                  \
			__asm__ volatile("" : "+r"(below));                                                            \
			return below + 1;                                                                              \
		}                                                                                                      \
		last;                                                                                                  \
		BARRIER();                                                                                             \
		return 1;                                                                                              \
	}

#endif
