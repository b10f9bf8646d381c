/* many-libs: calls through every 60th of 300 libraries, each of which calls back; the last callback dies. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>

typedef long (*callback)(int);
typedef long (*step)(callback, int);

/* The line of the call in step.c. */
#define STEP_LINE 10

static const char *const names[] = {"step_0", "step_60", "step_120", "step_180", "step_240", "step_299"};
static const char *const files[] = {
	"libstep0.so", "libstep60.so", "libstep120.so", "libstep180.so", "libstep240.so", "libstep299.so",
};
static volatile long sink;

FN static long crash(const long *field)
{
	DIE(sink = field[1]);
	return sink;
}

FN static long go_on(int left)
{
	step next;
	long result;

	if (left == 0)
		return CALL(crash(truth_launder(0)));
	next = (step)dlsym(RTLD_DEFAULT, names[left - 1]);
	truth_push(__func__, __FILE__, __LINE__ + 3);
	truth_push(names[left - 1], "step.c", STEP_LINE);
	truth_module(files[left - 1]);
	result = next(go_on, left - 1);
	return result + 1;
}

int main(void)
{
	return (int)CALL(go_on(6));
}
