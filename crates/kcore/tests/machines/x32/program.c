/* A program of x32: pointers of 32 bits, registers of 64. It needs no system call, which this machine's kernel need not
   have for x32, and dies in `leaf`. */

struct node {
    struct node *next;
    long long number;
    const char *text;
};

static struct node last = {0, 0x123456789abcdef0LL, "behind"};
static struct node first = {&last, -7, "before"};
/* Seen by the process that runs this. */
struct node *volatile list = &first;
static volatile int *volatile wrong = (volatile int *)8;

__attribute__((noinline)) static int leaf(volatile int *place, int number) {
    *place = number;
    return number;
}

__attribute__((noinline)) static int middle(const char *word, long long wide, int depth) {
    int tripled = depth * 3;
    if (depth > 0)
        return middle(word, wide + 1, depth - 1) + tripled;
    return leaf(wrong, list->next->text[0]) + word[0] + (int)wide;
}

void _start(void) {
    middle("word", 0x1122334455667788LL, 2);
    __builtin_trap();
}
