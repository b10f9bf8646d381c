/*
 * heap-torn-size: HOW 1 writes text beyond the end of a block, over the header of the next one, and frees that. HOW 2 frees
 * a block, writes over its links, and allocates. HOW 3 frees a block twice, with enough others in between that malloc does
 * not notice, and then dies otherwise. HOW 4 writes over the size of top. The addresses are told in torn.txt.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 64 };

static char *blocks[BLOCKS];
static volatile int sink;

static void tell(const char *what, void *at)
{
	char line[80];
	int fd = open("torn.txt", O_WRONLY | O_CREAT | O_APPEND, 0644);

	sink = (int)write(fd, line, (size_t)snprintf(line, sizeof line, "%s %zx\n", what, (size_t)at));
	close(fd);
}

static void make(size_t size)
{
	unlink("torn.txt");
	for (int index = 0; index < BLOCKS; index++)
		blocks[index] = malloc(size);
}

#if HOW == 1
FN static void copy_name(char *to, const char *name)
{
	while ((*to++ = *name++))
		;
}

FN static void serve(void)
{
	make(104);
	tell("overflowing", blocks[20]);
	tell("torn", blocks[21] - 8);
	copy_name(blocks[20] + 80, truth_launder("name=a-name-that-is-not-at-all-short-as-was-thought"));
	DIE_IN("libc", free(truth_launder(blocks[21])));
}
#elif HOW == 2
FN static void serve(void)
{
	make(1200);
	free(blocks[10]);
	free(blocks[12]);
	tell("torn", blocks[10]);
	/* It is still used after it was freed. */
	*(void **)blocks[10] = blocks[30];
	DIE_IN("libc", free(truth_launder(blocks[11])));
}
#elif HOW == 3
FN static void serve(void)
{
	make(40);
	/* Seven fill the cache: these go to a fast bin. */
	for (int index = 0; index < 7; index++)
		free(blocks[index]);
	free(blocks[20]);
	free(blocks[21]);
	free(blocks[20]);
	tell("twice", blocks[20]);
	DIE(*(volatile int *)truth_launder((void *)8) = sink);
}
#else
FN static void serve(void)
{
	make(40);
	char *last = malloc(24);

	tell("before", last);
	tell("torn", last + 24);
	memset(last + 24, 'A', 8);
	DIE_IN("libc", sink = malloc(truth_launder((void *)300000) ? 100000 : 0) != 0);
}
#endif

int main(void)
{
	CALLV(serve());
	return 0;
}
