/* other: what main.c knows by declarations alone. */
#include "other.h"

struct secret {
	int id;
	const char *label;
	struct secret *peer;
};

/* main.c has a structure of the same name and another shape. */
struct twin {
	double there[3];
};

static struct secret inner = {77, "inner secret", 0};
struct secret outer = {78, "outer secret", &inner};
struct secret *g_secret = &outer;
struct twin g_other_twin = {{0.5, 1.5, 2.5}};
int g_shared = 4242;

long other_touch(void)
{
	return outer.id + (long)g_other_twin.there[0];
}
