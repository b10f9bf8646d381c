/*
 * heap-paths: blocks that a global structure, arrays, a list through first members, a thread-local variable, a long chain, a local
 * variable of main and untyped words lead to.
 * paths.txt has for each a word, its address, how many pointers lead to it, and the expression of the last one ("-" where no type tells).
 */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHAIN 3000 /* clients in a chain */

struct client {
	struct client *next;
	long id;
	struct {
		long used;
		char *buf;
	} out;
};

struct server {
	long port;
	struct {
		long count;
		struct client *head;
	} clients;
	struct client **table;
	void *opaque;
	struct client *grid[2][3][2];
	struct link *items;
};

struct link {
	struct link *next;
};

/* A list through its first member: a pointer to the link says nothing of what is behind it. */
struct item {
	struct link link;
	char *text;
};

struct server server;
struct client *chain;
static __thread struct client *per_thread;
static volatile int sink;
static int out;

/* Addresses are written as text at once: no other copy of them stays. */
FN static void tell(const char *what, const void *at, long count, const char *name)
{
	char line[160];
	int len = snprintf(line, sizeof line, "%s %zx %lx %s\n", what, (size_t)at, (unsigned long)count, name);

	sink = (int)write(out, line, (size_t)len);
	memset(line, 0, sizeof line);
}

FN static struct client *make(struct client *next)
{
	struct client *client = calloc(1, sizeof *client);

	client->next = next;
	client->out.buf = calloc(1, 500);
	return client;
}

FN static void fill(void)
{
	struct item *item;
	char **opaque;

	server.clients.head = make(make(make(0)));
	tell("held", server.clients.head, 1, "server.clients.head");
	tell("held", server.clients.head->next, 2, "server.clients.head->next");
	tell("held", server.clients.head->next->next, 3, "server.clients.head->next->next");
	tell("held", server.clients.head->next->out.buf, 3, "server.clients.head->next->out.buf");
	server.table = calloc(8, sizeof *server.table);
	server.table[5] = make(0);
	tell("held", server.table, 1, "server.table");
	tell("held", server.table[5], 2, "server.table[0x5]");
	tell("held", server.table[5]->out.buf, 3, "server.table[0x5]->out.buf");
	/* A shorter way to what a longer one leads to as well. */
	server.table[2] = server.clients.head->next->next->next = make(0);
	tell("held", server.table[2], 2, "server.table[0x2]");
	opaque = server.opaque = calloc(4, sizeof *opaque);
	opaque[3] = calloc(1, 300);
	tell("held", opaque, 1, "server.opaque");
	tell("held", opaque[3], 2, "-");
	server.grid[1][2][0] = make(0);
	tell("held", server.grid[1][2][0], 1, "server.grid[0x1][0x2][0x0]");
	item = calloc(1, sizeof *item);
	item->text = calloc(1, 100);
	server.items = &item->link;
	tell("held", item, 1, "server.items");
	tell("held", item->text, 2, "-");
	per_thread = make(0);
	tell("thread", per_thread, 1, "per_thread");
	tell("thread", per_thread->out.buf, 2, "per_thread->out.buf");
	tell("lost", make(0), 0, "-");
	tell("chain", chain = calloc(1, sizeof *chain), CHAIN, "-");
	for (int made = 1; made < CHAIN; made++) {
		struct client *next = chain;

		chain = calloc(1, sizeof *chain);
		chain->next = next;
	}
}

/* Writes over what calls before left on the stack. */
FN static void clean(void)
{
	char room[16384];

	memset(truth_launder(room), 0, sizeof room);
	BARRIER();
}

FN static void use(const int *field, struct client **held)
{
	DIE(sink = field[2] + (int)(long)held);
}

int main(void)
{
	struct client *local;

	out = open("paths.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fill();
	local = make(0);
	tell("stack", local, 1, "local");
	tell("stack", local->out.buf, 2, "local->out.buf");
	clean();
	CALLV(use(truth_launder(0), truth_launder(&local)));
	return 0;
}
