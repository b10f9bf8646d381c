/*
 * step TID PC STEPS: lets one thread of a stopped process run, an instruction at a time, until it comes to PC, unless
 * that is 0, and STEPS instructions further, and prints where it stands then.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 4000000 };

static pid_t tid;

static unsigned long long pc_of(void)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0)
		exit(3);
	return regs.rip;
}

/* What a stopped process reports first is that it is stopped. */
static void step(void)
{
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) < 0 || waitpid(tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			exit(3);
	} while (status >> 16 == PTRACE_EVENT_STOP);
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 4)
		return 2;
	tid = atoi(argv[1]);
	unsigned long long wanted = strtoull(argv[2], NULL, 0);
	long steps = atol(argv[3]);
	alarm(60);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0)
		return 3;
	waitpid(tid, &status, __WALL);
	for (long count = 0; wanted != 0 && pc_of() != wanted; count++) {
		if (count == MOST)
			return 4;
		step();
	}
	while (steps-- > 0)
		step();
	printf("%llu\n", pc_of());
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return 0;
}
