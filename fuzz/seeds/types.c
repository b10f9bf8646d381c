/* What C has: see make/debug.rs. */

typedef unsigned long word_t;
enum colour { RED, GREEN = 5, BLUE = -1 };

struct node {
    struct node *next;
    unsigned low : 3, high : 5;
    union {
        int number;
        const char *name;
    };
    double grid[2][3];
    int (*call)(struct node *, ...);
    _Complex float wave;
    volatile enum colour colour;
    char rest[];
};

struct node g_node;
_Thread_local word_t t_word;
static const int constants[4] = {1, 2, 3, 4};

__attribute__((noinline)) int leaf(int count, struct node *node, double *value)
{
    int sum[count];
    for (int at = 0; at < count; at++)
        sum[at] = constants[at & 3] + node->low;
    __builtin_memcpy(&node->number, sum, count);
    return node->call(node, *value);
}

static inline __attribute__((always_inline)) int twice(int number)
{
    int doubled = number * 2;
    {
        int more = doubled + 1;
        t_word += more;
    }
    return doubled;
}

int main_of(int count, struct node *node)
{
    struct node *last = node;
    double value = twice(count);
    while (last->next)
        last = last->next;
    int found = leaf(count + 1, last, &value);
    return found + twice(found);
}
