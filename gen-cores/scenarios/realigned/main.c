/* realigned: a function with locals aligned to 64 and room of unknown size keeps its frame where only CFI tells. */
#include "truth.h"

#include <alloca.h>

static volatile long sink;

FN static long use(const long *field, const double *values, const char *room)
{
	sink = values[1] + room[0];
	DIE(sink = field[1]);
	return sink;
}

FN static long realign(const long *field, int count)
{
	double values[8] __attribute__((aligned(64))) = {1, 2, 3};
	char *room = alloca(count);
	long result;

	room[0] = 1;
	result = CALL(use(field, values, room));
	return result + (long)values[2];
}

FN static long run(int count)
{
	return CALL(realign(truth_launder(0), count * 100)) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return (int)CALL(run(argc));
}
