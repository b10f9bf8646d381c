/* why-null-element: follows a pointer in a table that is null. -DPASSED passes a null member of an element on to a function
 * that fails, -DMAPPED uses what mmap() gave it without looking. */
#include "truth.h"

#include <stddef.h>
#include <sys/mman.h>

struct peer {
	int id;
	int len;
};

struct conn {
	char name[24];
	struct peer *peer;
};

static struct peer known = { 1, 2 };
static struct peer *table[8];
static struct conn conns[4];

#if defined MAPPED
FN static int first_of(size_t size)
{
	const char *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	DIE(size += bytes[16]);
	return (int)size;
}

FN static int look(int at)
{
	/* More than any machine has. */
	return CALL(first_of((size_t)1 << (58 + at))) + 1;
}
#elif defined PASSED
FN static int length_of(struct peer *peer, int more)
{
	while (more > 100)
		more -= known.len;
	DIE(more += peer->len);
	return more;
}

FN static int look(int at)
{
	conns[at].peer = NULL;
	BARRIER();
	return CALL(length_of(conns[at].peer, at)) + 1;
}
#else
FN static int look(int at)
{
	int sum = 0;

	DIE(sum += table[at]->len);
	return sum;
}
#endif

int main(int argc, char **argv)
{
	(void)argv;
	for (int at = 0; at < 8; at++) {
		table[at] = at == 3 ? NULL : &known;
		conns[at / 2].peer = &known;
	}
	BARRIER();
	return CALL(look(argc + 2)) + table[argc]->id;
}
