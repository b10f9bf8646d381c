/* Uses a block after it was freed, as the argument says, and prints where that lies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone)) int

struct item {
	struct item *next;
	struct item *peer;
	int (*act)(struct item *);
	int count;
};

struct item *volatile kept;

static void use(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

static struct item *made(void)
{
	struct item *item = calloc(1, sizeof *item);
	use(item);
	return item;
}

FUNCTION by_key(struct item *item) { return item->peer->count + 1; }
FUNCTION writes(struct item *item) { item->peer->count = 7; return item->count; }
FUNCTION by_link(struct item *item) { return item->next->count + 1; }
FUNCTION calls(struct item *item) { return item->peer->act(item) + 1; }

/* The register that had the block is the next one already. */
FUNCTION walks(struct item *item)
{
	int sum = 0;
	while (item) {
		sum += item->count;
		item = item->next;
	}
	return sum;
}

/* What faults does not know the block: its caller has it. */
FUNCTION counts(struct item *peer) { return peer->count + 1; }
FUNCTION by_argument(struct item *item) { return counts(item->peer) + item->count; }

/* The other one has the same mark. */
FUNCTION by_first(struct item *item, struct item *other) { return item->peer->count + other->count; }

/* The register that had the block has the mark, and another one points to a block with the same mark. */
FUNCTION by_other(struct item *item, struct item *other)
{
	__asm__ volatile("movq 8(%0), %0\n\tmovl 24(%0), %%eax" : "+r"(item) : "r"(other) : "rax", "memory");
	return other->count;
}

FUNCTION by_text(struct item *item) { return item->peer->count + 1; }

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	struct item *first = made(), *second = made(), *third = made();

	printf("%p\n", (void *)second);
	fflush(stdout);

	if (!strcmp(bug, "text")) {
		/* It is in use, whatever it holds. */
		memset(&first->peer, 'A', sizeof first->peer);
		return by_text(first);
	}
	kept = second;
	if (strcmp(bug, "last"))
		free(first);
	free(second);
	free(third);
	if (!strcmp(bug, "argument"))
		return by_argument(kept);
	if (!strcmp(bug, "first"))
		return by_first(kept, third);
	if (!strcmp(bug, "other"))
		return by_other(kept, third);
	if (!strcmp(bug, "key"))
		return by_key(kept);
	if (!strcmp(bug, "write"))
		return writes(kept);
	if (!strcmp(bug, "call"))
		return calls(kept);
	if (!strcmp(bug, "link") || !strcmp(bug, "last"))
		return by_link(kept);
	return walks(kept);
}
