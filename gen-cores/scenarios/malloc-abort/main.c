/* malloc-abort: frees a block twice. */
#include "truth.h"

#include <stdlib.h>

FN static int release(void *block)
{
	free(block);
	DIE_IN("libc", free(truth_launder(block)));
	return 1;
}

FN static int finish(int size)
{
	return CALL(release(malloc(size))) + 1;
}

int main(void)
{
	/* A second block keeps musl from giving the whole group back, which hides the fault. */
	return CALL(finish(truth_launder(malloc(40)) ? 40 : 0));
}
