/*
 * Coroutines whose switches save registers in a structure beside the stack, in the layouts of libraries. Each tells
 * in values.jsonl where its structure lies and by which functions it comes to where it is left. Some have not run, some
 * have come to their end, and the process aborts in the midst of one of the last layout's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "down.h"

enum { COUNT = 24, STACK = 64 << 10, GUARD = 64 << 10, CONTEXT_SIZE = 256, MEMBERS = 8 };

#ifdef __x86_64__
#include "x86_64.h"
#else
#include "aarch64.h"
#endif

static FILE *out;
static unsigned long of_main[KINDS][CONTEXT_SIZE / 8];
static unsigned long *contexts[COUNT + 1];
static int kind, current;

static void tell(const void *at, const char *state, const char *function, int depth)
{
	fprintf(out, "{\"context\":\"%p\",\"state\":\"%s\",\"function\":\"%s\",\"depth\":%d,\"kind\":%d}\n", at, state, function,
		depth, kind);
}

DOWN(leaves, go(kind, contexts[current], of_main[kind]))
DOWN(ends, go(kind, contexts[current], of_main[kind]))
DOWN(dies, fclose(out); DIE_IN("libc", abort()))

FN static void body(void)
{
	int number = current;
	if (number == COUNT)
		dies(2);
	if (number % 4 != 3) {
		tell(contexts[number], "found", "leaves", number % 5);
		leaves(number % 5);
	}
	tell(contexts[number], "found", "ends", 0);
	ends(0);
	BARRIER();
}

/* Structures lie in memory of their own or, as with byuu's libco, at the low end of the stack, behind other members. */
static unsigned long *new_context(char *stack, int number)
{
	unsigned long *memory = (unsigned long *)(number % 2 ? stack : calloc(2, CONTEXT_SIZE));
	for (int i = 0; i < MEMBERS; i++)
		memory[i] = number + 1;
	return memory + MEMBERS;
}

FN static void run(int last)
{
	for (current = 0; current < COUNT + last; current++) {
		char *guard = (char *)mmap(0, GUARD + STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char *stack = guard + GUARD;
		mprotect(stack, STACK, PROT_READ | PROT_WRITE);
		contexts[current] = new_context(stack, current);
		const char *begins = make(kind, contexts[current], (unsigned long *)(stack + STACK), body);
		if (current == COUNT)
			tell(of_main[kind], "found", "run", 0);
		if (current % 6 != 5)
			go(kind, of_main[kind], contexts[current]);
		else if (begins)
			tell(contexts[current], "created", begins, 0);
	}
	BARRIER();
}

int main(void)
{
	truth_thread("main");
	out = fopen("values.jsonl", "w");
	for (kind = 0; kind < KINDS; kind++) {
		run(kind == KINDS - 1);
		/* Nobody returns here by this layout any more. */
		memset(of_main[kind], 0, CONTEXT_SIZE);
	}
	return 0;
}
