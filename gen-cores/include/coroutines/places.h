/*
 * Stops threads at single instructions: a process beside traces them, steps each from where it asks for it to a place of
 * its own, and leaves it there. Linux on x86-64.
 */
#ifndef KCORE_PLACES_H
#define KCORE_PLACES_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#define MAX_PLACES 512
/* The account of a process that is yet to be stopped. */
#define PLACES_ACCOUNT "account.part"

struct place {
	volatile int tid;
	volatile int is_traced;
	/* How often the thread comes to the code before its instructions are counted, and how many those are. */
	int times;
	int instructions;
};

struct places {
	volatile unsigned long code;
	volatile int are_reached;
	volatile int is_told;
	int count;
	int are_left;
	struct place of[MAX_PLACES];
};

static struct places *places;

static inline void places_fail(void)
{
	static const char text[] = "a thread cannot be stopped at its place\n";
	if (write(2, text, sizeof text - 1) > 0)
		kill(getppid(), SIGKILL);
	_exit(1);
}

/* Waits until a thread stops; 0: it sleeps, for another one holds what it needs. */
static inline int places_wait(int tid)
{
	for (int i = 0; i < 3000; i++) {
		int status, stopped = waitpid(tid, &status, __WALL | WNOHANG);
		if (stopped == tid)
			return WIFSTOPPED(status) ? 1 : (places_fail(), 0);
		if (i > 100)
			usleep(1000);
	}
	return 0;
}

static inline int places_step(int tid)
{
	if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) != 0)
		places_fail();
	return places_wait(tid);
}

/* Lets a thread run to the code: nobody else comes there meanwhile. */
static inline void places_run(int tid)
{
	struct user_regs_struct regs;
	void *code = (void *)places->code;
	long word = ptrace(PTRACE_PEEKTEXT, tid, code, 0);
	ptrace(PTRACE_POKETEXT, tid, code, (word & ~0xffL) | 0xcc);
	if (ptrace(PTRACE_CONT, tid, 0, 0) != 0 || !places_wait(tid) || ptrace(PTRACE_GETREGS, tid, 0, &regs) != 0)
		places_fail();
	ptrace(PTRACE_POKETEXT, tid, code, word);
	if (regs.rip != places->code + 1)
		places_fail();
	regs.rip = places->code;
	ptrace(PTRACE_SETREGS, tid, 0, &regs);
}

/* From the trap by which a thread asks for it to the code. */
static inline void places_come(struct place *place)
{
	while (place->tid == 0)
		usleep(1000);
	if (ptrace(PTRACE_SEIZE, place->tid, 0, 0) != 0)
		places_fail();
	place->is_traced = 1;
	if (!places_wait(place->tid))
		places_fail();
	places_run(place->tid);
	for (int times = 1; times < place->times; times++) {
		if (!places_step(place->tid))
			places_fail();
		places_run(place->tid);
	}
}

static inline void places_trace(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < places->count; i++)
		places_come(&places->of[i]);
	for (int i = 0; i < places->count; i++)
		for (int left = places->of[i].instructions; left > 0 && places_step(places->of[i].tid);)
			left--;
	places->are_reached = 1;
	while (!places->are_left || !places->is_told)
		usleep(1000);
	/* A process that is stopped as a whole stays at its places for a debugger to come. */
	for (int i = 0; i < places->count; i++)
		ptrace(PTRACE_DETACH, places->of[i].tid, 0, SIGSTOP);
	if (rename(PLACES_ACCOUNT, getenv("KCORE_TRUTH")) != 0)
		places_fail();
	for (;;)
		pause();
}

/* To be called before there are other threads. With ARE_LEFT the threads are stopped in the end and not traced. */
static inline void places_start(int count, int are_left)
{
	places = (struct places *)mmap(0, sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	places->count = count;
	places->are_left = are_left;
	int tracer = fork();
	if (tracer == 0)
		places_trace();
	prctl(PR_SET_PTRACER, tracer);
}

/* What the calling thread does next is done until it comes to the code for so many times, and so many instructions on. */
static inline void places_stop(int number, int times, int instructions)
{
	struct place *place = &places->of[number];
	place->times = times;
	place->instructions = instructions;
	__atomic_store_n(&place->tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	while (!place->is_traced)
		usleep(20000);
	__asm__ volatile("int3");
}

static inline void places_wait_all(void)
{
	while (!places->are_reached)
		usleep(1000);
}

/* Writes the account and waits to be dumped: by those who see the account. */
#define PLACES_DIE()                                                                                                   \
	do {                                                                                                           \
		truth_push(__func__, __FILE__, __LINE__);                                                              \
		truth_gap("libc");                                                                                     \
		if (places->are_left)                                                                                  \
			setenv("KCORE_TRUTH", PLACES_ACCOUNT, 1);                                                      \
		truth_write_waiting();                                                                                 \
		places->is_told = 1;                                                                                   \
		for (;;)                                                                                               \
			pause();                                                                                       \
	} while (0)

#endif
