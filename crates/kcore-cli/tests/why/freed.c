/* Uses a block after it was freed, as the argument says. */
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

FUNCTION by_text(struct item *item) { return item->peer->count + 1; }

int main(int argc, char **argv)
{
	const char *bug = argc > 1 ? argv[1] : "";
	struct item *first = made(), *second = made();

	if (!strcmp(bug, "text")) {
		/* It is in use, whatever it holds. */
		memset(&first->peer, 'A', sizeof first->peer);
		return by_text(first);
	}
	kept = second;
	if (strcmp(bug, "last"))
		free(first);
	free(second);
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
