/*
 * heap-types: blocks to which typed pointers lead, far from any variable, and blocks to which only untyped ones do.
 * types.txt has for each its address, how its type stands in it ("-" where nothing tells a type), and the type.
 */
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAR 2000 /* nodes of the list, and a last one that nothing else tells */

struct leaf {
	long weight[5];
	char *label;
};

struct node {
	struct node *next;
	struct leaf *leaf;
	void *opaque;
	long id;
};

/* A typedef of a structure without a name. */
typedef struct {
	double x, y;
	struct leaf *at;
	long count;
} point;

/* A list through the first member of a larger structure. */
struct link {
	struct link *next, *before;
};

struct large {
	struct link link;
	long id[12];
	void *rest[4];
};

struct bucket {
	unsigned long hash;
	struct leaf *value;
	struct node *chain;
};

struct store {
	struct node *head;
	struct bucket *buckets, *last;
	struct leaf **leaves;
	point *points;
	struct link *links;
	struct large *known;
	char *text;
	void *hidden;
};

struct store store;
static int out;
static volatile int sink;

FN static void tell(const void *at, const char *role, const char *name)
{
	char line[160];
	int len = snprintf(line, sizeof line, "%zx %s %s\n", (size_t)at, role, name);

	sink = (int)write(out, line, (size_t)len);
	memset(line, 0, sizeof line);
}

FN static struct leaf *make_leaf(void)
{
	struct leaf *leaf = calloc(1, sizeof *leaf);

	leaf->label = calloc(1, 70);
	strcpy(leaf->label, "a label");
	tell(leaf, "object", "struct leaf");
	tell(leaf->label, "array", "char");
	return leaf;
}

FN static void fill(void)
{
	struct link *first, *second;

	for (int made = 0; made < FAR; made++) {
		struct node *node = calloc(1, sizeof *node);

		node->next = store.head;
		store.head = node;
		tell(node, "object", "struct node");
		if (made % 50 == 0) {
			node->leaf = make_leaf();
			node->opaque = calloc(1, 330);
			tell(node->opaque, "-", "-");
		}
	}
	store.buckets = calloc(64, sizeof *store.buckets);
	/* Without it, a larger object might begin with a bucket. */
	store.last = store.buckets + 63;
	tell(store.buckets, "array", "struct bucket");
	for (int index = 0; index < 64; index += 3) {
		store.buckets[index].hash = 0x123456789abcdef1UL * (unsigned long)(index + 1);
		store.buckets[index].value = make_leaf();
		store.buckets[index].chain = calloc(1, sizeof(struct node));
		tell(store.buckets[index].chain, "object", "struct node");
	}
	store.leaves = calloc(20, sizeof *store.leaves);
	tell(store.leaves, "array", "struct leaf *");
	store.leaves[17] = make_leaf();
	store.points = calloc(1, sizeof *store.points);
	store.points->at = make_leaf();
	tell(store.points, "object", "point");
	/* Only the first is known to be a larger one. */
	first = calloc(1, sizeof(struct large));
	second = calloc(1, sizeof(struct large));
	((struct large *)second)->id[0] = ((struct large *)second)->id[3] = 0x7777777777777777L;
	first->next = second;
	store.links = first;
	store.known = (struct large *)first;
	tell(first, "object", "struct large");
	tell(second, "beginning", "struct link");
	store.text = calloc(1, 200);
	memset(store.text, 'x', 150);
	tell(store.text, "array", "char");
	store.hidden = calloc(1, 500);
	tell(store.hidden, "-", "-");
}

FN static void use(const int *field)
{
	DIE(sink = field[2]);
}

int main(void)
{
	out = open("types.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
	fill();
	CALLV(use(truth_launder(0)));
	return 0;
}
