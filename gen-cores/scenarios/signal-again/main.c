/*
 * signal-again: the handler of a fault restores the default and raises the signal, which is blocked meanwhile, and so
 * comes when the handler has returned to the instruction. The handler may run on an alternate stack (-DALTERNATE), and
 * not ask for a siginfo (-DPLAIN). The fault may be a division by zero (-DDIVISION), of an address that is none
 * (-DNON_CANONICAL), or of a page that nobody may read (-DPROTECTED).
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <sys/mman.h>

static volatile int seen;

static void on_signal(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	on_signal(number);
	(void)info, (void)context;
}

static const int *bad_field(void)
{
#if defined DIVISION
	static const int zero;

	return truth_launder((void *)&zero);
#elif defined NON_CANONICAL
	return truth_launder((void *)0x4141414141414140);
#elif defined PROTECTED
	void *page = mmap((void *)0x10000000, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return truth_launder((char *)page + 8);
#else
	return truth_launder((void *)8);
#endif
}

FN static void fetch(const int *field)
{
#ifdef DIVISION
	DIE(seen = 1000 / *(const volatile int *)field);
#else
	DIE(seen = *(const volatile int *)field);
#endif
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
#ifdef PLAIN
	action.sa_handler = on_signal;
	action.sa_flags &= ~SA_SIGINFO;
#endif
	sigaction(SIGSEGV, &action, 0);
	sigaction(SIGFPE, &action, 0);
	CALLV(convert(bad_field()));
	return 0;
}
