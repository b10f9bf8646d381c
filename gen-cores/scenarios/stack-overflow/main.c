/*
 * stack-overflow: recurses until the stack is full. The depth is counted in a shared file mapping, since the account is
 * written before; the call that faults may or may not be counted. The fault may have a handler that is to run on the
 * same stack (-DHANDLED), or come about on another thread (-DTHREAD).
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <signal.h>

static volatile unsigned long *depth;

LINE_OF(recurse, 6);
FN static long recurse(long n)
{
	long below;

	++*depth;
	below = recurse(n + 1);
	BARRIER();
	return below + n;
}

FN static long descend(void)
{
	long result;

	truth_push(__func__, __FILE__, __LINE__ + 7);
	truth_note("recurse", recurse_line);
	truth_repeat(2, 2);
	truth_note("recurse", 0); /* the innermost one may be anywhere */
	truth_inlined(0);
	truth_write();
	depth = truth_counter();
	result = recurse(1);
	return result + 1;
}

#ifdef THREAD
static void *run(void *unused)
{
	truth_thread("descends");
	CALL(descend());
	return unused;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	truth_thread("main");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	pthread_create(&thread, &attr, run, 0);
	truth_push(__func__, __FILE__, __LINE__ + 2);
	truth_gap("libc");
	pthread_join(thread, 0);
	return 0;
}
#else
#ifdef HANDLED
static void on_fault(int number)
{
	(void)number;
}
#endif

int main(void)
{
#ifdef HANDLED
	struct sigaction action = {.sa_handler = on_fault};

	sigaction(SIGSEGV, &action, 0);
#endif
	return (int)CALL(descend());
}
#endif
