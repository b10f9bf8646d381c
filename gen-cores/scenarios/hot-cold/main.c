/* hot-cold: gcc -O2 moves what leads to a cold function into `process.cold`, far from the rest. */
#include "truth.h"

#include <stdlib.h>

static volatile long log_count;

__attribute__((cold)) FN static void log_failure(const char *what, long value)
{
	log_count += value + what[0];
}

FN static long process(const long *values, int count)
{
	long sum = 0;
	int i;

	for (i = 0; i < count; i++) {
		if (__builtin_expect(values[i] < 0, 0)) {
			log_failure("negative", values[i]);
			log_failure("at", i);
			DIE_IN("libc", abort());
		}
		sum += values[i] * values[i];
	}
	return sum;
}

FN static long summarize(const long *values, int count)
{
	return CALL(process(values, count)) / count;
}

int main(void)
{
	static const long values[] = {4, 8, 15, -16, 23, 42};

	return (int)CALL(summarize(values, 6));
}
