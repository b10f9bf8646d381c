/* Goes wrong through the pointer that its argument names. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone)) int

struct peer {
	int id;
	int len;
	struct peer *next;
};

struct conn {
	char name[16];
	struct peer *peer;
	struct {
		struct peer *last;
	} tail;
	union {
		struct peer *of_server;
		struct conn *of_client;
	} other;
};

struct conn *shared;
static struct peer second = {1, 2, NULL};
static struct peer first = {1, 2, &second};
/* No compiler may take for granted what it is. */
static struct peer *volatile hidden = &second;

static void use(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

FUNCTION member(struct conn *conn) { return conn->peer->len + 1; }
FUNCTION argument(struct peer *peer, int more) { return peer->len + more; }
FUNCTION passes(struct conn *conn, int more) { return argument(conn->peer, more) * 3; }
FUNCTION global(void) { return shared->peer->len; }
FUNCTION nested(struct conn *conn) { return conn->tail.last->next->len; }
FUNCTION part_of_union(struct conn *conn) { return conn->other.of_server->len + conn->other.of_client->name[0]; }
FUNCTION element(int *numbers, long at) { return numbers[at] + 1; }
FUNCTION text(struct conn *conn) { return conn->peer->id; }

FUNCTION list(struct peer *peer)
{
	int sum = 0;
	while (peer->len) {
		sum += peer->len;
		peer = peer->next;
	}
	return sum;
}

FUNCTION written(struct peer *peer)
{
	peer->next->len = 3;
	return 0;
}

FUNCTION local(int more)
{
	struct conn conn;
	memset(&conn, 0, sizeof conn);
	conn.peer = more > 100 ? malloc(8) : NULL;
	use(&conn);
	return conn.peer->len;
}

/* The member has another value by now. */
FUNCTION changed(struct conn *conn)
{
	struct peer *volatile *place = &conn->peer;
	struct peer *peer = *place;
	*place = &first;
	return ((volatile struct peer *)peer)->len;
}

int main(int argc, char **argv)
{
	struct conn *conn = calloc(1, sizeof *conn);
	const char *bug = argv[1];
	use(conn);
	if (!strcmp(bug, "member"))
		return member(conn);
	if (!strcmp(bug, "passes"))
		return passes(conn, argc);
	if (!strcmp(bug, "global"))
		return global();
	if (!strcmp(bug, "nested")) {
		conn->tail.last = &second;
		return nested(conn);
	}
	if (!strcmp(bug, "union"))
		return part_of_union(conn);
	if (!strcmp(bug, "element"))
		return element(NULL, argc);
	if (!strcmp(bug, "list"))
		return list(&first);
	if (!strcmp(bug, "written"))
		return written(hidden);
	if (!strcmp(bug, "local"))
		return local(argc);
	if (!strcmp(bug, "changed"))
		return changed(conn);
	conn->peer = !strcmp(bug, "text") ? (void *)0x4141414142424242 : (void *)0x123456789000;
	return !strcmp(bug, "text") ? text(conn) : member(conn);
}
