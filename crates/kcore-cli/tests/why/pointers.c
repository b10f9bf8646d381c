/* Goes wrong through the pointer that its argument names. */
#include <stddef.h>
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
	struct peer *table[3][4];
};

struct chained {
	struct chained *next;
	struct peer *peer;
};

struct conn *shared;
static struct peer second = {1, 2, NULL};
static struct peer first = {1, 2, &second};
static struct peer *places[8];
static struct peer *volatile failed = (struct peer *)-1;
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

/* The words of a function that is inlined are its own: its conn is the other one. */
static inline __attribute__((always_inline)) int swapped(struct conn *other, struct conn *conn)
{
	use(other);
	return conn->peer->len + other->name[0];
}

FUNCTION inlines(struct conn *conn, struct conn *other) { return swapped(conn, other) + other->name[1]; }

/* When it goes wrong, the argument is the next one already, which has a peer. */
FUNCTION moved(struct chained *chained)
{
	int sum = 0;
	while (chained) {
		struct chained *old = chained;
		chained = chained->next;
		sum += old->peer->len;
	}
	return sum;
}

FUNCTION behind_two(struct peer **place) { return (*place)->len; }
FUNCTION of_array(struct conn *conn) { return conn->table[1][2]->len; }
FUNCTION part_of_member(struct peer *peer) { return ((short *)peer)[1] + 1; }
FUNCTION far_element(struct peer *peers, long at) { return peers[at].len; }
FUNCTION slot(struct peer **table, long at) { return table[at]->len; }
FUNCTION small_index(struct peer **table, int at) { return table[at]->len + 1; }
FUNCTION row(struct conn *conns, int at) { return conns[at].peer->len; }
FUNCTION of_module(int at) { return places[at]->len; }

/* When it goes wrong, the index is the next one already. */
FUNCTION next_slot(struct peer **table, int *at)
{
	struct peer *peer = table[(*at)++];
	return peer->len;
}

/* Ways join between the beginning and the fault, and the argument is what it was. */
FUNCTION later(struct peer *peer, int more)
{
	while (more > 100)
		more -= second.len;
	return peer->len + more;
}

FUNCTION between(struct peer *peer, int more)
{
	if (more > 50)
		more = second.len;
	return later(peer, more) * 3;
}

FUNCTION passes_far(struct conn *conn, int more) { return between(conn->peer, more) * 5; }
FUNCTION passes_row(struct conn *conns, int at) { return later(conns[at].peer, at) + 1; }

/* It is no argument any more. */
FUNCTION another(struct peer *peer, int more)
{
	while (more-- > 0)
		peer = peer->next;
	return peer->len;
}

FUNCTION passes_another(struct conn *conn, int more) { return another(conn->peer, more + 1) + 1; }
FUNCTION negative(void) { return failed->len + 1; }
FUNCTION below(struct peer **member) { return ((struct conn *)((char *)member - offsetof(struct conn, peer)))->name[3] + 1; }

int main(int argc, char **argv)
{
	static struct chained last = {NULL, &second}, middle = {&last, NULL};
	struct conn *conn = calloc(1, sizeof *conn);
	const char *bug = argv[1];
	use(conn);
	if (!strcmp(bug, "member"))
		return member(conn);
	if (!strcmp(bug, "passes"))
		return passes(conn, argc) + conn->name[0];
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
	if (!strcmp(bug, "inlines")) {
		struct conn *whole = calloc(1, sizeof *whole);
		whole->peer = &second;
		return inlines(whole, conn);
	}
	if (!strcmp(bug, "moved"))
		return moved(&middle);
	if (!strcmp(bug, "two"))
		return behind_two(&conn->peer);
	if (!strcmp(bug, "array"))
		return of_array(conn);
	if (!strcmp(bug, "part"))
		return part_of_member(NULL);
	if (!strcmp(bug, "far"))
		return far_element(&second, 0x10000000L * argc);
	if (!strcmp(bug, "passes_far"))
		return passes_far(conn, argc) + conn->name[1];
	struct conn *conns = calloc(4, sizeof *conns);
	struct peer *table[] = {&first, &first, &first, NULL, NULL, NULL};
	int at = 3;
	conns[0].peer = conns[1].peer = &second;
	for (int place = 0; place < 8; place++)
		places[place] = place == 5 ? NULL : &first;
	use(table);
	use(conns);
	if (!strcmp(bug, "slot"))
		return slot(table, argc + 1);
	if (!strcmp(bug, "small_index"))
		return small_index(table, argc + 1);
	if (!strcmp(bug, "row"))
		return row(conns, argc);
	if (!strcmp(bug, "of_module"))
		return of_module(argc + 3);
	if (!strcmp(bug, "next_slot"))
		return next_slot(table, &at);
	if (!strcmp(bug, "passes_row"))
		return passes_row(conns, argc);
	conn->peer = &first;
	if (!strcmp(bug, "passes_another"))
		return passes_another(conn, argc);
	if (!strcmp(bug, "negative"))
		return negative();
	if (!strcmp(bug, "below"))
		return below(NULL);
	conn->peer = !strcmp(bug, "text") ? (void *)0x4141414142424242 : (void *)0x123456789000;
	return !strcmp(bug, "text") ? text(conn) : member(conn);
}
