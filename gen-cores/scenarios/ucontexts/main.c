/*
 * Coroutines by makecontext and swapcontext: each tells in values.jsonl where its context lies and by which functions
 * it comes to where it is left. Some have not run, one has ended and its stack was used again, and the process aborts in
 * the midst of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "down.h"

#define COUNT 24
#define STACK (64 << 10)

static FILE *out;
static ucontext_t of_main, contexts[COUNT], of_dying;
static volatile int ends;

static void tell(const char *state, const ucontext_t *at, const char *function, int depth)
{
	fprintf(out, "{\"context\":\"%p\",\"state\":\"%s\",\"function\":\"%s\",\"depth\":%d}\n", (const void *)at, state, function,
		depth);
}

/* The context of the coroutine that runs. */
static ucontext_t *own;

DOWN(leaves, swapcontext(own, &of_main))
DOWN(dies, fclose(out); DIE_IN("libc", abort()))

FN static void body(int number)
{
	own = &contexts[number];
	if (number % 4 != 3)
		tell("found", &contexts[number], "leaves", number % 5);
	if (number % 4 != 3 || !ends)
		leaves(number % 5);
	BARRIER();
}

FN static void dying(void)
{
	dies(2);
	BARRIER();
}

static void make(ucontext_t *context, void (*function)(void), int number)
{
	getcontext(context);
	context->uc_stack.ss_sp = mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	context->uc_stack.ss_size = STACK;
	context->uc_link = &of_main;
	makecontext(context, function, 1, number);
}

int main(void)
{
	truth_thread("main");
	out = fopen("values.jsonl", "w");
	ends = 1;
	for (int i = 0; i < COUNT; i++) {
		make(&contexts[i], (void (*)(void))body, i);
		if (i % 6 != 5)
			swapcontext(&of_main, &contexts[i]);
		else
			tell("created", &contexts[i], "body", 0);
	}
	tell("found", &of_main, "main", 0);
	make(&of_dying, dying, 0);
	swapcontext(&of_main, &of_dying);
	return 0;
}
