/* vfork: the child runs on its parent's stack and dies before it could exec. */
#define _GNU_SOURCE
#include "truth.h"

#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

FN static void set_up(const int *field)
{
	DIE(sink = field[2]);
}

FN static int run_child(const int *field)
{
	pid_t child = vfork();

	if (child == 0) {
		truth_thread("child");
		/* The child's stack is the parent's: main called this function. */
		truth_push("main", __FILE__, 0);
		CALLV(set_up(field));
		_exit(1);
	}
	waitpid(child, 0, 0);
	return sink;
}

int main(void)
{
	int result = run_child(truth_launder(0));

	BARRIER();
	return result;
}
