/*
 * signal-again-alarm: a timer's signal interrupts a loop that writes to a page. The handler, on an alternate stack, unmaps
 * the page and raises SIGSEGV, which is blocked until it returns: the loop stands at an instruction that would fail, but
 * nothing did.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

static void *page;

static void on_timer(int number)
{
	munmap(page, 4096);
	raise(SIGSEGV);
	(void)number;
}

/* Pushes nothing itself: it is a leaf, and interrupted at no line that it could know. */
FN static void spin(volatile char *byte)
{
	for (;;)
		__asm__ volatile(".rept 2000\n\tmovb $1, (%0)\n\t.endr" : : "r"(byte) : "memory");
}

FN static void busy(void)
{
	struct itimerval soon = {{0, 0}, {0, 20000}};

	truth_push(__func__, __FILE__, __LINE__ + 4);
	truth_note("spin", 0);
	truth_write();
	setitimer(ITIMER_REAL, &soon, 0);
	spin(page);
	BARRIER();
}

int main(void)
{
	static char stack[64 * 1024];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_ONSTACK};

	page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&alternate, 0);
	sigaddset(&action.sa_mask, SIGSEGV);
	sigaction(SIGALRM, &action, 0);
	CALLV(busy());
	return 0;
}
