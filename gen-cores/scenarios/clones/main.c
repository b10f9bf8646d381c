/* clones: one function is always given the same constant, of another's structure only one field is used. */
#include "truth.h"

#define APART __attribute__((noinline))

struct order {
	long padding[4];
	long price;
	long pieces;
};

static volatile long sink;

/* Becomes scale.constprop.0: `factor` is always 3. */
APART static long scale(const long *price, int factor, int shift)
{
	DIE(sink = *price * factor);
	return sink << shift;
}

/* Becomes total.isra.0: only one field of `order` is read. */
APART static long total(struct order *order, const long *price)
{
	int pieces = (int)order->pieces;
	long value = CALL(scale(price, 3, pieces));

	return value + 1;
}

FN static long bill(struct order *order, const long *price)
{
	order->pieces++;
	return CALL(total(order, price)) * 2;
}

int main(void)
{
	struct order order = {.pieces = 1};

	return (int)CALL(bill(&order, truth_launder((void *)32)));
}
