/*
 * nodes: small data of known values for commands on types. `first` is the node of which the reference prints every
 * member; the rest has what it lacks: a table, a tree, bit-fields, a union, a hole, a type that only another unit knows.
 */
#include "truth.h"

#include <netinet/in.h>
#include <stdint.h>
#include <time.h>

enum kind { NODE_LEAF = 1, NODE_DIR, NODE_LINK };
enum perm { READ = 1, WRITE = 2, EXEC = 4 };
enum state { STATE_FAILED = -1, STATE_IDLE, STATE_BUSY = 7 };

struct sub {
	int s_count;
	float s_ratio;
};

struct point {
	int x;
	int y;
};

struct node {
	int n_id;
	const char *n_name;
	struct node *n_next;
	enum kind n_kind;
	enum perm n_mode;
	char n_tag[8];
	int n_vals[4];
	struct sub n_sub;
	struct point n_pts[2];
};

struct bucket {
	struct node *b_head;
	unsigned int b_count;
};

/* Its type is complete in no unit of the program. */
struct cookie;

struct request {
	char method;
	uint64_t serial;
	unsigned int urgent : 1;
	unsigned int retries : 3;
	int delta : 5;
	enum state state;
	union {
		uint32_t word;
		uint8_t bytes[4];
	};
	struct {
		uint16_t port;
		struct in_addr peer;
	};
	time_t started;
	int (*handler)(struct request *, struct node *);
	struct cookie *cookie;
	void *buffer;
	const char *url;
	double load;
	long grid[2][3];
	uint16_t header_count;
	struct {
		const char *name;
		int length;
	} headers[];
};

struct tree {
	struct tree *left;
	struct tree *right;
	long key;
};

struct node third = {
	.n_id = 0x2c,
	.n_kind = NODE_DIR,
	.n_mode = READ | WRITE | EXEC,
	.n_tag = {'f', 'u', 'l', 'l', 't', 'e', 'x', 't'},
	.n_vals = {-1, 0x7fffffff, (int)0x80000000, 0},
	.n_sub = {-3, -0.25f},
};
struct node second = {
	.n_id = 0x2b,
	.n_name = "second\tnode",
	.n_next = &third,
	.n_kind = NODE_LEAF,
	.n_mode = 0,
	.n_tag = "",
	.n_vals = {4, 5, 6, 7},
	.n_sub = {0, 1e10f},
	.n_pts = {{5, 6}, {7, 8}},
};
struct node first = {
	.n_id = 0x2a,
	.n_name = "first",
	.n_next = &second,
	.n_kind = NODE_LINK,
	.n_mode = READ | WRITE,
	.n_tag = "leaf",
	.n_vals = {1, 2, 3, 0},
	.n_sub = {7, 0.5f},
	.n_pts = {{1, 2}, {3, 4}},
};
struct bucket hashtab[128] = {[2] = {&first, 3}, [0x7f] = {&third, 1}};
static struct tree leaf_1 = {0, 0, 1}, leaf_3 = {0, 0, 3}, leaf_6 = {0, 0, 6};
static struct tree branch_2 = {&leaf_1, &leaf_3, 2}, branch_5 = {0, &leaf_6, 5};
static struct tree root = {&branch_2, &branch_5, 4};
struct node *head = &first;
struct node *volatile nowhere;
unsigned long limits[40] = {1, 2, 3, [39] = 40};
const char greeting[] = "hello, core";
__thread int depth = 3;

static int handle_get(struct request *request, struct node *node);

/* Has a flexible member with two elements behind it. */
struct request request = {
	.method = 'G',
	.serial = 0x123456789abcdef0,
	.urgent = 1,
	.retries = 5,
	.delta = -7,
	.state = STATE_BUSY,
	.word = 0x04030201,
	.port = 8080,
	.peer = {0x0100007f},
	.started = 1366394400,
	.handler = handle_get,
	.url = "/index.html",
	.load = 1.5,
	.grid = {{1, 2, 3}, {-4, -5, -6}},
	.header_count = 2,
	.headers = {{"Host", 9}, {"Accept", 3}},
};

/* There is no node: `node` is NULL. */
FN static int handle_get(struct request *request, struct node *node)
{
	static int calls = 17;
	long total = request->grid[1][2] + calls;

	DIE(*(struct node *volatile *)&node->n_next = &first);
	return (int)total;
}

FN static long sum(const struct tree *tree)
{
	return tree ? tree->key + sum(tree->left) + sum(tree->right) : 0;
}

FN static int serve(struct request *request, int attempts)
{
	struct point where = {attempts, (int)sum(&root)};
	char label[16] = "attempt";
	int result = CALL(request->handler(request, nowhere));

	return result + where.x + where.y + label[0];
}

int main(void)
{
	truth_thread("main");
	return CALL(serve(&request, depth - 1));
}
