/*
 * split-stack: code that is compiled with -fsplit-stack runs on pieces of stack, each of which __morestack gets where
 * there is room. A handler on an alternate stack needs more pieces, and they lie above that stack.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLED = 3, INTERRUPTED = 3, BIG = 20000 };

static char stack[64 * 1024];

/* Needs so much stack that each call gets a piece of its own. */
FN static int deep(int left, int signal)
{
	volatile char big[BIG];

	truth_gap("libgcc");
	memset((char *)big, left, sizeof big);
	if (left > 0)
		return CALL(deep(left - 1, signal)) + big[left];
	if (signal == 0)
		DIE_IN("libc", abort());
	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_gap("libc");
	raise(signal);
	return big[0];
}

FN static void on_signal(int signal)
{
	truth_gap("signal");
	CALLV(deep(HANDLED, 0));
	(void)signal;
}

int main(void)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, 0);
	sigaction(SIGUSR1, &action, 0);
	return CALL(deep(INTERRUPTED, SIGUSR1));
}
