/*
 * signal-again: the handler of a fault restores the default and raises the signal, which is blocked meanwhile, and so
 * comes when the handler has returned to the instruction. The handler may run on an alternate stack (-DALTERNATE).
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>

static volatile int seen;

static void on_fault(int number, siginfo_t *info, void *context)
{
	signal(number, SIG_DFL);
	raise(number);
	(void)info, (void)context;
}

FN static void fetch(const int *field)
{
	DIE(seen = *(const volatile int *)field);
}

FN static void convert(const int *field)
{
	CALLV(fetch(field));
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
#ifdef ALTERNATE
	static char stack[64 * 1024];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	sigaltstack(&alternate, 0);
	action.sa_flags |= SA_ONSTACK;
#endif
	sigaction(SIGSEGV, &action, 0);
	CALLV(convert(truth_launder((void *)8)));
	return 0;
}
