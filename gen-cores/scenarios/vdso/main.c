/* vdso: the coarse clock needs no clock source, so the vdso itself writes the answer, on every machine. */
#define _GNU_SOURCE
#include "truth.h"

#include <time.h>

FN static long now(struct timespec *answer)
{
	DIE_IN("vdso", clock_gettime(CLOCK_REALTIME_COARSE, answer));
	return answer->tv_sec;
}

FN static long stamp(void)
{
	return CALL(now(truth_launder((void *)8))) + 1;
}

int main(void)
{
	return (int)CALL(stamp());
}
