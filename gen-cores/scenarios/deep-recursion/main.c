/* deep-recursion: 100,000 frames of one function, then a crash. */
#include "truth.h"

#define DEPTH 100000

static volatile long sink;

FN static long hit_bottom(const long *field)
{
	DIE(sink = field[1]);
	return sink;
}

LINE_OF(recurse, 5);
FN static long recurse(int depth, const long *field)
{
	long below;

	below = depth > 1 ? recurse(depth - 1, field) : hit_bottom(field);
	BARRIER();
	return below + depth;
}

FN static long start(const long *field)
{
	long result;

	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_note("recurse", recurse_line);
	truth_repeat(DEPTH, 0);
	result = recurse(DEPTH, field);
	return result + 1;
}

int main(void)
{
	return (int)CALL(start(truth_launder(0)));
}
