/*
 * contexts: a jump buffer of a function that is still on the stack, two linked contexts, what a signal handler was given,
 * and a variable that the program added to its environment. It prints where they lie: `name address`.
 */
#include "truth.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static jmp_buf buffer;
static ucontext_t first, second, interrupted;
static siginfo_t given;

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	given = *info;
	interrupted = *(ucontext_t *)context;
}

static void take_signal(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, 0);
	raise(SIGUSR1);
}

FN static long die_here(long *field)
{
	DIE(field[3] = 1);
	return field[3];
}

FN static long set_jump(void)
{
	long result = 0;

	if (setjmp(buffer) == 0)
		result = CALL(die_here(truth_launder(0)));
	return result + 1;
}

int main(void)
{
	first.uc_link = &second;
	take_signal();
	setenv("KCORE_ADDED", "later", 1);
	printf("buffer %lx\nfirst %lx\nsecond %lx\n", (long)buffer, (long)&first, (long)&second);
	printf("given %lx\ninterrupted %lx\n", (long)&given, (long)&interrupted);
	fflush(stdout);
	return (int)CALL(set_jump());
}
