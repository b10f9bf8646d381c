/* abort: gives up three calls deep. */
#include "truth.h"

#include <stdlib.h>

FN static int give_up(int step)
{
	DIE_IN("libc", abort());
	return step;
}

FN static int check_disk(int step)
{
	return CALL(give_up(step + 1)) + step;
}

FN static int start_up(int step)
{
	return CALL(check_disk(step + 1)) + step;
}

int main(int argc, char **argv)
{
	(void)argv;
	return CALL(start_up(argc));
}
