/*
 * step TID: lets one thread of a stopped process run until the function in which it stands returns, and prints
 * where to and the CFA that it left: "0x… 0x…". Prints "undecided" when that does not happen for long, or when it is
 * left by a jump.
 *
 * It needs no unwind information. Whatever lies above the highest stack pointer so far was there when the thread
 * stopped, so a return that takes its address from there is that of the function itself: returns of what it calls
 * take theirs from below. What was called runs to a hardware breakpoint behind the call, the rest goes by single steps.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long word;

enum { MICROSECONDS = 250000, LONGEST_CALL = 8, POPS = 8, SIGNALS = 8, ANOTHER_STACK = 256 << 10 };

/* The debug registers that hold the address of the first breakpoint, and what is switched on. */
#define ADDRESS offsetof(struct user, u_debugreg[0])
#define CONTROL offsetof(struct user, u_debugreg[7])

static pid_t tid;

static struct user_regs_struct regs;

static int is_breakpoint_set;

static volatile sig_atomic_t is_late;

static void too_long(int signal)
{
	(void)signal;
	is_late = 1;
}

static void clear_breakpoint(void)
{
	if (is_breakpoint_set)
		ptrace(PTRACE_POKEUSER, tid, CONTROL, 0);
	is_breakpoint_set = 0;
}

/* Whether the thread was interrupted before it could report a trap. */
static int is_trap_pending(void)
{
	siginfo_t pending[SIGNALS];
	struct __ptrace_peeksiginfo_args all = {.nr = SIGNALS};
	long count = ptrace(PTRACE_PEEKSIGINFO, tid, &all, pending);

	while (count-- > 0)
		if (pending[count].si_signo == SIGTRAP)
			return 1;
	return 0;
}

/* A breakpoint that outlived its tracer would kill the thread, and so would a trap. */
static void leave(void)
{
	clear_breakpoint();
	if (is_trap_pending() && ptrace(PTRACE_CONT, tid, 0, 0) == 0)
		waitpid(tid, NULL, __WALL);
	ptrace(PTRACE_DETACH, tid, 0, 0);
	exit(0);
}

static void give_up(void)
{
	puts("undecided");
	leave();
}

static void returned(word pc, word cfa)
{
	printf("%#llx %#llx\n", pc, cfa);
	leave();
}

/*
 * Lets the thread go only where it stands after a whole step: the trap of a step that is under way would kill it. One
 * that does not come to its end in another second waits in the kernel, and is interrupted. Returns the signal that it
 * stopped for, if that is not for us.
 */
static int wait_for_stop(void)
{
	int status, alarms = 0;

	while (waitpid(tid, &status, __WALL) < 0) {
		if (errno != EINTR)
			give_up();
		if (++alarms > 1 || is_breakpoint_set)
			ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	if (!WIFSTOPPED(status) || is_late || ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0)
		give_up();
	int signal = WSTOPSIG(status);
	return signal == SIGTRAP || signal == SIGSTOP || status >> 16 ? 0 : signal;
}

static void go_on(int how)
{
	static int signal;

	if (ptrace(how, tid, 0, signal) < 0)
		give_up();
	signal = wait_for_stop();
}

static size_t read_memory(word at, void *to, size_t len)
{
	struct iovec ours = {to, len}, theirs = {(void *)at, len};
	ssize_t count = process_vm_readv(tid, &ours, 1, &theirs, 1, 0);
	return count < 0 ? 0 : (size_t)count;
}

static word word_at(word at)
{
	word found = 0;
	return read_memory(at, &found, sizeof found) == sizeof found ? found : 0;
}

/* Runs what was called from `from` on, until it comes back. */
static void step_over_call(word from)
{
	word below = regs.rsp, back = word_at(below);

	if (back - from < 2 || back - from > LONGEST_CALL || back == regs.rip)
		return;
	do {
		if (ptrace(PTRACE_POKEUSER, tid, ADDRESS, back) < 0
		    || ptrace(PTRACE_POKEUSER, tid, CONTROL, 1) < 0)
			return;
		is_breakpoint_set = 1;
		go_on(PTRACE_CONT);
		clear_breakpoint();
		/* Another activation of the same function came to it. */
		if (regs.rip == back && regs.rsp <= below)
			go_on(PTRACE_SINGLESTEP);
	} while (regs.rsp <= below);
}

/* What may be a return address that was taken off the stack, to be jumped to or put elsewhere: by slot. */
static struct {
	word slot, value;
} pops[POPS];

static unsigned popped;

static int is_pop(const unsigned char *code)
{
	code += code[0] == 0x41;
	return (code[0] & 0xf8) == 0x58;
}

/* mov (%rsp), to a register */
static int is_load(const unsigned char *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x8b && (code[2] & 0xc7) == 4 && code[3] == 0x24;
}

/* mov to %rsp, but not from %rbp */
static int sets_stack_pointer(const unsigned char *code)
{
	int is_load = code[1] == 0x8b && (code[2] & 0x38) == 0x20 && !(code[0] & 4);
	int is_store = code[1] == 0x89 && (code[2] & 0xc7) == 0xc4 && !(code[0] & 1);
	int is_frame_pointer = code[0] == 0x48 && (code[2] == 0xec || code[2] == 0xe5);
	return (code[0] & 0xf8) == 0x48 && (is_load || is_store) && !is_frame_pointer;
}

static int jumps_to_register(const unsigned char *code)
{
	code += code[0] == 0x41 || code[0] == 0x3e;
	return code[0] == 0xff && (code[1] & 0x38) == 0x20;
}

static void remember(word slot)
{
	pops[popped % POPS].slot = slot;
	pops[popped++ % POPS].value = word_at(slot);
}

static int returns(const unsigned char *code)
{
	return code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3);
}

/* Whether a call lies before an address, so that it may be one to return to. */
static int is_behind_call(word at)
{
	enum { LONGEST = 7 };
	unsigned char code[LONGEST];

	if (read_memory(at - LONGEST, code, LONGEST) != LONGEST)
		return 0;
	if (code[LONGEST - 5] == 0xe8)
		return 1;
	for (int i = 0; i + 1 < LONGEST; i++)
		if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
			return 1;
	return 0;
}

/*
 * Where a return address that was popped is come to: by a jump, or by the return of another function that it was handed
 * on to, on a stack that may have been aligned. A stack pointer that was set in between is what the caller is given.
 */
static void look_for_popped(const unsigned char *code, int is_set)
{
	if (!returns(code) && !jumps_to_register(code))
		return;
	/* A tail call, to an address that was also in a register that was restored: the return address still lies on top. */
	if (jumps_to_register(code) && is_behind_call(word_at(regs.rsp)))
		return;
	for (unsigned i = 0; i < POPS; i++)
		if (pops[i].slot && pops[i].value == regs.rip && regs.rsp + 8 >= pops[i].slot)
			returned(regs.rip, is_set ? regs.rsp : pops[i].slot + 8);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	tid = atoi(argv[1]);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = too_long}, NULL);
	/* Again and again: one that comes before the wait interrupts nothing. */
	struct itimerval timer = {.it_value.tv_usec = MICROSECONDS, .it_interval.tv_usec = MICROSECONDS};
	setitimer(ITIMER_REAL, &timer, NULL);
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) < 0 || ptrace(PTRACE_INTERRUPT, tid, 0, 0) < 0) {
		perror("ptrace");
		return 2;
	}
	wait_for_stop();
	/*
	 * A return address that lay on top of the stack may be moved: libffi's ffi_call_unix64 copies it upwards and so
	 * frees memory of its caller. If it was stopped before that was done, it returns with another stack pointer than
	 * its caller had.
	 */
	word top = regs.rsp, on_top = word_at(top);
	/* Whether the stack pointer was set last by what leaves functions without a return, as longjmp does. */
	int is_set = 0;
	for (word highest = regs.rsp;;) {
		word pc = regs.rip, sp = regs.rsp;
		unsigned char code[4] = {0};
		read_memory(pc, code, sizeof code);
		int leaves = is_set && jumps_to_register(code);
		go_on(PTRACE_SINGLESTEP);
		if (popped)
			look_for_popped(code, leaves);
		if (leaves)
			give_up();
		if (regs.rsp == sp - 8)
			step_over_call(pc);
		if (regs.rsp != sp)
			is_set = sets_stack_pointer(code);
		if (sp == highest && (is_load(code) || is_pop(code)))
			remember(sp);
		if (regs.rsp <= highest || regs.rsp - highest > ANOTHER_STACK)
			continue;
		if (sp == highest && regs.rip == word_at(sp)) {
			if (sp != top && regs.rip == on_top)
				give_up();
			returned(regs.rip, sp + 8);
		}
		highest = regs.rsp;
	}
}
