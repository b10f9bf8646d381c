/* stack-chk: writes over the canary, but not over what lies behind it. */
#include "truth.h"

/* From a buffer of 16 to the canary and over it; return address and saved registers stay whole. */
#define TOO_MUCH 32

FN static void fill(char *to, int count)
{
	while (count--)
		*to++ = 'A';
}

LINE_OF(copy_name, 7);
FN static int copy_name(int count)
{
	char name[16];

	fill(name, count);
	return name[3];
}

FN static int greet(int count)
{
	int first;

	truth_push(__func__, __FILE__, __LINE__ + 4);
	truth_note("copy_name", copy_name_line);
	truth_gap("libc");
	truth_write();
	first = copy_name(count);
	return first + 1;
}

int main(void)
{
	return CALL(greet(TOO_MUCH));
}
