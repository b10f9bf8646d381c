/* signal-handler: a handler of SIGUSR1 dies two calls deep; the signal was raised three calls deep. */
#include "truth.h"

#include <signal.h>

static volatile int seen;

FN static int count(const int *counter)
{
	DIE(seen = *counter);
	return seen;
}

FN static void on_signal(int signal)
{
	truth_gap("signal");
	seen = CALL(count(truth_launder((void *)24))) + signal;
}

FN static int notify(int signal)
{
	int failed;

	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_gap("libc");
	failed = raise(signal);
	return failed + 1;
}

FN static int work(int rounds)
{
	while (rounds--)
		CALL(notify(SIGUSR1));
	return 0;
}

int main(void)
{
	signal(SIGUSR1, on_signal);
	return CALL(work(3));
}
