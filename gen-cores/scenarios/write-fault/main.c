/* write-fault: writes to a constant in read-only memory. */
#include "truth.h"

static const char greeting[] = "hello, reader";

FN static void capitalize(char *text)
{
	truth_fact_hex("fault_address", (unsigned long)text);
	DIE(*(volatile char *)text = 'H');
}

FN static void greet(void)
{
	CALLV(capitalize(truth_launder((void *)greeting)));
}

int main(void)
{
	CALLV(greet());
	return 0;
}
