/* libc-asm: gives a bad pointer to strlen or (-DMEMCPY) memcpy. */
#include "truth.h"

#include <string.h>

static char buffer[256];

FN static unsigned long measure(const char *text, unsigned long size)
{
	unsigned long got = 1;

#ifdef MEMCPY
	DIE_IN("libc", got += memcpy(buffer, text, size) == (void *)text);
#else
	DIE_IN("libc", got += strlen(text) + size);
#endif
	return got;
}

FN static unsigned long parse(const char *text)
{
	return CALL(measure(text, sizeof buffer - 100)) + 1;
}

int main(void)
{
	return (int)CALL(parse(truth_launder((void *)16)));
}
