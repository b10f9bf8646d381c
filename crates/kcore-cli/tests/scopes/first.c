/* Names that second.c gives another meaning, and a structure that it alone defines. */

static int twice = 111;
struct same { char x; int y[3]; };
struct same first_same = { 'q', { 1, 2, 3 } };
typedef int mine_t;
enum kind { FIRST_A = 1, FIRST_B };
enum kind first_kind = FIRST_B;
enum { LIMIT = 3, FLAG_A = 1, FLAG_C = 4 };
int flags = 5;
const char *words[] = { "zero", "one", "two" };

struct hidden;
struct hidden *hidden_one(void);
void other(struct hidden *hidden);

int main(void) {
    static int calls = 5;
    mine_t own = 1;
    other(hidden_one());
    return twice + calls + own + first_same.x + first_kind + LIMIT + (flags & FLAG_C) + *words[FLAG_A];
}
