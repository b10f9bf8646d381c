/* Writes beyond the end of a block, or into one, as the argument says, and lets the allocator notice it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 40

static void use(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static char *made(size_t size)
{
	char *block = malloc(size);
	memset(block, 1, size);
	use(block);
	return block;
}

__attribute__((noinline, noclone)) int fill(char *block, size_t length)
{
	memset(block, 'x', length);
	use(block);
	return block[0];
}

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	char *before = made(SIZE), *torn = made(SIZE), *after = made(1200), *last = made(1200);

	use(last);
	printf("%p %p\n", (void *)torn, (void *)after);
	fflush(stdout);
	if (!strcmp(bug, "size")) {
		/* The size of a block in use is torn, and that block is given back. */
		fill(before, SIZE + 8);
		free(torn);
	} else if (!strcmp(bug, "large")) {
		/* The same of a block that no cache takes. */
		fill(torn, SIZE + 8);
		free(after);
	} else {
		/* The same behind a block in use that follows a free one. */
		char *freed = made(1200), *used = made(1200), *end = made(1200);

		use(end);
		free(freed);
		fill(used, 1216);
		free(end);
	}
	use(made(5000));
	return 0;
}
