/*
 * heap-leaks: leaks a chain of three blocks, a ring of two, and forty single blocks, and holds others by a global, by a
 * thread-local variable, by a pointer into the middle, by a local variable of a thread that waits, and by another block.
 * leaks.txt tells which are which; a leak with how many blocks it leads to.
 */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next;
	char text[56];
};

static struct node *global;
static char *inside;
static __thread struct node *own;
static volatile int sink;
static int out;

/* Addresses are written as text at once: no other copy of them stays. */
FN static void tell(const char *what, const void *at, long count)
{
	char line[80];
	int len = snprintf(line, sizeof line, "%s %zx %lx\n", what, (size_t)at, (unsigned long)count);

	sink = (int)write(out, line, (size_t)len);
	memset(line, 0, sizeof line);
}

#ifdef __SANITIZE_ADDRESS__
/* AddressSanitizer asks for its options here. Without these, it leaves no core. */
const char *__asan_default_options(void)
{
	return "disable_coredump=0:handle_segv=0:detect_leaks=0";
}
#endif

FN static struct node *make(struct node *next)
{
	struct node *node = malloc(sizeof *node);

	memset(node, 0, sizeof *node);
	node->next = next;
	strcpy(node->text, "a node");
	return node;
}

FN static void leak(void)
{
	struct node *first, *last;

	tell("leak", make(make(make(0))), 3);
	last = make(0);
	first = make(last);
	last->next = first;
	/* Which of the two is shown does not matter. */
	tell("ring", first, 2);
	tell("ring", last, 2);
	for (int index = 0; index < 40; index++)
		tell("leak", strcpy(malloc(500), "leaked text"), 1);
}

FN static void hold(void)
{
	global = make(make(0));
	own = make(0);
	inside = (char *)malloc(5000) + 3000;
	tell("live", global, 0);
	tell("live", global->next, 0);
	tell("live", own, 0);
	tell("live", inside - 3000, 0);
}

/* Writes over what calls before left on the stack. */
FN static void clean(void)
{
	char room[16384];

	memset(truth_launder(room), 0, sizeof room);
	BARRIER();
}

FN static void wait_with(struct node *node)
{
	WAIT(sink = (int)(pause() + (long)truth_launder(node)));
}

static void *run(void *unused)
{
	struct node *node = make(0);

	truth_thread("holds");
	own = make(0);
	tell("live", node, 0);
	tell("live", own, 0);
	CALLV(wait_with(node));
	return unused;
}

FN static void use(const int *field)
{
	DIE(sink = field[2]);
}

int main(void)
{
	pthread_t thread;

	out = open("leaks.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (pthread_create(&thread, 0, run, 0))
		exit(1);
	truth_wait_ready(1);
	leak();
	hold();
	clean();
	CALLV(use(truth_launder(0)));
	return 0;
}
