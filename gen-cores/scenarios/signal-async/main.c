/* signal-async: a timer's signal interrupts a loop that calls nothing, and the handler dies. */
#include "truth.h"

#include <signal.h>
#include <sys/time.h>

static volatile int seen;

FN static void on_timer(int signal)
{
	const int *counter = truth_launder((void *)24);

	truth_gap("signal");
	DIE(seen = *counter);
	seen = signal;
}

/* Pushes nothing itself: it is a leaf, and interrupted at no line that it could know. */
FN static unsigned spin(volatile unsigned *state)
{
	while (*state)
		*state = *state * 5 + 1;
	return *state;
}

FN static unsigned busy(unsigned seed)
{
	struct itimerval soon = {{0, 0}, {0, 20000}};
	volatile unsigned state = seed;
	unsigned last;

	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_note("spin", 0);
	setitimer(ITIMER_REAL, &soon, 0);
	last = spin(&state);
	return last + 1;
}

int main(void)
{
	signal(SIGALRM, on_timer);
	return (int)CALL(busy(7));
}
