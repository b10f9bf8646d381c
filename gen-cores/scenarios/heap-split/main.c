/*
 * heap-split: has its heap in two mappings that adjoin, as a child has whose parent had allocated before the fork. Every
 * second of its blocks is leaked. leaks.txt tells which are which.
 */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 400, SIZE = 500, PAGE = 4096 };

static char *held[BLOCKS / 2];
static volatile int sink;
static int out;

/* Addresses are written as text at once: no other copy of them stays. */
FN static void tell(const char *what, const void *at)
{
	char line[80];
	int len = snprintf(line, sizeof line, "%s %zx 1\n", what, (size_t)at);

	sink = (int)write(out, line, (size_t)len);
	memset(line, 0, sizeof line);
}

FN static void fill(void)
{
	for (int index = 0; index < BLOCKS; index++) {
		char *block = strcpy(malloc(SIZE), "a block's text");

		tell(index % 2 ? "leak" : "live", block);
		if (index % 2 == 0)
			held[index / 2] = block;
	}
}

/* A flag that other pages do not have parts the mapping in two. */
FN static void split(void)
{
	char *middle = (char *)((size_t)held[BLOCKS / 4] / PAGE * PAGE);
	char *end = sbrk(0);

	if (madvise(middle, (size_t)(end - middle), MADV_DONTFORK))
		exit(1);
}

/* Writes over what calls before left on the stack. */
FN static void clean(void)
{
	char room[16384];

	memset(truth_launder(room), 0, sizeof room);
	BARRIER();
}

FN static void use(const int *field)
{
	DIE(sink = field[2]);
}

int main(void)
{
	out = open("leaks.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fill();
	split();
	clean();
	CALLV(use(truth_launder(0)));
	return 0;
}
