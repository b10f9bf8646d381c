/*
 * signal-told: the handler of a signal that was raised faults, and the handler of the fault aborts. Both ask for a
 * siginfo, so that the kernel tells in both frames which signal it was.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <stdlib.h>

static volatile int seen;

static void on_fault(int number, siginfo_t *info, void *context)
{
	truth_gap("signal");
	DIE_IN("libc", abort());
	(void)number, (void)info, (void)context;
}

static void on_request(int number, siginfo_t *info, void *context)
{
	truth_gap("signal");
	truth_push(__func__, __FILE__, __LINE__ + 1);
	seen = *(const volatile int *)truth_launder((void *)8);
	(void)number, (void)info, (void)context;
}

FN static int notify(int signal)
{
	int failed;

	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_gap("libc");
	failed = raise(signal);
	return failed + 1;
}

int main(void)
{
	struct sigaction request = {.sa_sigaction = on_request, .sa_flags = SA_SIGINFO};
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &request, 0);
	sigaction(SIGSEGV, &fault, 0);
	return CALL(notify(SIGUSR1));
}
