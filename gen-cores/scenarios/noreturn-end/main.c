/* noreturn-end: the last instruction of `fatal_path` is a call, the next byte is another function's. */
#include "truth.h"

#include <stdlib.h>

__attribute__((noreturn)) FN static void die(const char *why)
{
	DIE_IN("libc", abort());
	(void)why;
	abort();
}

__attribute__((noreturn)) FN static void fatal_path(const char *why)
{
	truth_push(__func__, __FILE__, __LINE__ + 1);
	die(why);
}

FN static int next_function(int x)
{
	return x * 3;
}

FN static int check(int x)
{
	if (x < 100)
		CALLV(fatal_path("too small"));
	return next_function(x);
}

int main(int argc, char **argv)
{
	(void)argv;
	return CALL(check(argc));
}
