/* A recursion as deep as the argument says, that dies at its end. */

#include <stdlib.h>

static volatile long sink;

static long __attribute__((noinline)) fall(long left, const long *field)
{
	long result;

	if (left == 0)
		return field[1];
	result = fall(left - 1, field);
	__asm__ volatile("" ::: "memory");
	return result + left;
}

int main(int count, char **words)
{
	sink = fall(count > 1 ? atol(words[1]) : 1000, 0);
	return 0;
}
