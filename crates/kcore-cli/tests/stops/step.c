/*
 * step TID PC SP: lets one thread of a stopped process run, an instruction at a time, until it comes to PC with
 * the stack pointer SP, and prints "right"; "wrong" when its stack pointer gets above SP before; "undecided" when
 * neither happens for long.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 400000, SECONDS = 2 };

static pid_t tid;

static volatile sig_atomic_t is_late;

static void too_long(int signal)
{
	(void)signal;
	is_late = 1;
}

static void finish(const char *word)
{
	puts(word);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	exit(0);
}

/*
 * Lets the thread go only where it stands after a whole step: the trap of a step that is under way would kill it. One
 * that does not come to its end in another second waits in the kernel, and is interrupted.
 */
static void wait_for_stop(void)
{
	int status, alarms = 0;

	while (waitpid(tid, &status, __WALL) < 0) {
		if (errno != EINTR)
			finish("undecided");
		if (++alarms > 1)
			ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	if (!WIFSTOPPED(status) || is_late)
		finish("undecided");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	tid = atoi(argv[1]);
	unsigned long long pc = strtoull(argv[2], NULL, 0), sp = strtoull(argv[3], NULL, 0);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = too_long}, NULL);
	/* Again and again: one that comes before the wait interrupts nothing. */
	struct itimerval timer = {.it_value.tv_sec = SECONDS, .it_interval.tv_sec = 1};
	setitimer(ITIMER_REAL, &timer, NULL);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0) {
		perror("ptrace");
		return 2;
	}
	wait_for_stop();
	for (long step = 0; step < STEPS; step++) {
		struct user_regs_struct regs;
		if (ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0)
			finish("undecided");
		if (regs.rip == pc && regs.rsp == sp)
			finish("right");
		if (regs.rsp > sp)
			finish("wrong");
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) < 0)
			finish("undecided");
		wait_for_stop();
	}
	finish("undecided");
}
