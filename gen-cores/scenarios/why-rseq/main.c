/* why-rseq: overwrites the thread's area for restartable sequences, of which the kernel ends the process. */
#define _GNU_SOURCE
#include "truth.h"

#include <sched.h>
#include <stdint.h>
#include <sys/rseq.h>

FN static int overrun(uint64_t value)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	*(volatile uint64_t *)(area + 8) = value;
	DIE_IN("libc", for (;;) sched_yield());
	return 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return CALL(overrun(0x4141414142424241 + argc));
}
