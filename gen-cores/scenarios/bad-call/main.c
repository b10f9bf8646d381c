/* bad-call: calls TARGET, which is no function: NULL unless the recipe says otherwise. */
#include "truth.h"

#ifndef TARGET
#define TARGET 0
#endif

typedef int (*handler)(int);

/* Data to land in. */
char table[64] = "not code at all";

FN static int dispatch(handler handle, int event)
{
	int done = event;

	truth_push(__func__, __FILE__, __LINE__ + 4);
	truth_pc((unsigned long)handle);
	truth_fact_hex("fault_address", (unsigned long)handle);
	truth_write();
	done += handle(event);
	return done * 2;
}

FN static int serve(int events)
{
	char local[32] = "neither is this";

	truth_launder(local);
	return CALL(dispatch((handler)truth_launder((void *)(TARGET)), events)) + local[0];
}

int main(int argc, char **argv)
{
	(void)argv;
	return CALL(serve(argc + 6));
}
