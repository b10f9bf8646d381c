/* assert: an assertion fails; glibc keeps its text in __abort_msg, musl does not. */
#include "truth.h"

#include <assert.h>

FN static int check_order(int low, int high)
{
	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_gap("libc");
	truth_write();
	assert(low < high && "order");
	return high - low;
}

FN static int width(int low)
{
	return CALL(check_order(low, low - 1)) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return CALL(width(argc));
}
