/* The other half of first.c: it dies in a block that has a type of its own. */

static int twice = 222;
struct same { long a; char b; };
struct same second_same = { 5, 'b' };
typedef struct { double z; } mine_t;
enum kind { SECOND_A = 7, SECOND_B };
enum { LIMIT = 30 };

struct hidden { int number; struct hidden *next; };
static struct hidden only = { 42, &only };
struct hidden *hidden_one(void) { return &only; }

void other(struct hidden *hidden) {
    static int calls = 6;
    mine_t own = { 2.5 };
    enum kind kind = SECOND_A;
    enum own { DEEP = -4 } deep = DEEP;
    {
        struct same { short inner; } same = { 3 };
        *(volatile int *)8 = same.inner + kind + deep + twice + calls + LIMIT + (int)own.z + hidden->number;
    }
}
