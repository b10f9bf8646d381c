/*
 * smashed: a copy runs over the end of a buffer and over return addresses. The function then returns (to a
 * non-canonical address, so that the return faults; -DWILD: to one that is just not mapped) or, with -DBELOW, dies in
 * a callee. On aarch64 a frame's return address lies below its locals: the overflow reaches that of the caller.
 */
#include "truth.h"

#if defined WILD || defined __aarch64__
#define JUNK 0x414141414141UL
#else
#define JUNK 0x4141414141414141UL
#endif

/* In words; over the buffer, the return address and a part of the caller. */
#define COUNT 24

FN static void copy(volatile unsigned long *to, int count)
{
	while (count--)
		*to++ = JUNK;
}

#ifdef BELOW
FN static long use(const long *field)
{
	DIE(return *field + 1);
}

FN static long lookup(const long *field)
{
	return CALL(use(field)) + 1;
}
#endif

#ifdef __aarch64__
LINE_OF(caller, 33);
#endif
LINE_OF(victim_end, 23);
FN static long victim(int count)
{
	unsigned long buffer[4];

	truth_damaged();
	truth_pc(JUNK); /* where the damage shows; a debugger may show it as a frame, or as the reason of its end */
	truth_mark("optional");
#if defined BELOW && defined __aarch64__
	truth_note("caller", caller_line);
#endif
	copy(buffer, count);
#ifdef BELOW
	return CALL(lookup(truth_launder((void *)16))) + (long)buffer[0];
#else
#ifdef WILD
	truth_mark(0);
#else
	truth_note("victim", victim_end_line);
#endif
	truth_write();
	return (long)buffer[3];
#endif
}

FN static long caller(int count)
{
	/* Room for the overflow, so that it stays on the stack. */
	volatile char padding[512];

	padding[0] = 1;
	return CALL(victim(count)) + padding[0];
}

int main(void)
{
	return (int)CALL(caller(COUNT));
}
