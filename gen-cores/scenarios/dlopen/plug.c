/* plug: a plugin that calls back into the program. BUILD 2 has other code at the same places. */

typedef long (*callback)(const long *);

#define FN __attribute__((noipa))

/* Where plug_run calls back: the program asks, since it cannot see this file's lines. */
const int plug_line = __LINE__ + 15;

#if BUILD == 2
FN long plug_intruder(long x)
{
	volatile long many[64] = {x};

	for (int i = 1; i < 64; i++)
		many[i] = many[i - 1] * x;
	return many[63];
}
#endif

FN long plug_run(callback back, const long *field)
{
	long result = back(field);

	__asm__ volatile("" ::: "memory");
	return result + 1;
}
