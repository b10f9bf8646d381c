/* leaf: reads through NULL + 8 in a function that calls nothing and has no frame of its own at -O2. */
#include "truth.h"

struct node {
	struct node *next;
	long value;
};

LINE_OF(leaf, 3);
FN static long leaf(const struct node *node, int factor)
{
	return node->value * factor;
}

FN static long sum(const struct node *node, int factor, const char *what)
{
	long total = what[0];

	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_note("leaf", leaf_line);
	truth_write();
	total += leaf(node, factor);
	return total + 1;
}

FN static long report(int count, const char *what)
{
	long total = 0;

	while (count--)
		total += CALL(sum(truth_launder(0), count, what));
	return total;
}

int main(int argc, char **argv)
{
	return CALL(report(argc + 2, argv[0]));
}
