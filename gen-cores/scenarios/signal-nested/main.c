/* signal-nested: the handler of a fault faults itself; the handler of that aborts. */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <stdlib.h>

static volatile int seen;

FN static void on_second(int number)
{
	truth_gap("signal");
	DIE_IN("libc", abort());
	(void)number;
}

FN static void on_first(int number)
{
	truth_gap("signal");
	signal(SIGBUS, on_second);
	signal(SIGSEGV, on_second);
	truth_push(__func__, __FILE__, __LINE__ + 1);
	seen = *(const volatile int *)truth_launder((void *)16);
	(void)number;
}

FN static void fetch(const int *field)
{
	truth_push(__func__, __FILE__, __LINE__ + 1);
	seen = *(const volatile int *)field;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_first, .sa_flags = SA_NODEFER};

	sigaction(SIGSEGV, &action, 0);
	CALLV(fetch(truth_launder((void *)8)));
	return 0;
}
