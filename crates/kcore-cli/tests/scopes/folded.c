/* Values that clang describes by conversions and in pieces at -O2. */

struct parts { int a; long b; struct { short c, d; } in; char name[8]; };
volatile int sink;

static inline int use(const struct parts *parts, int times) {
    int product = parts->a * times;
    *(volatile int *)8 = product;
    return product + parts->in.c + (int)parts->b;
}

__attribute__((noinline)) int top(int n, double d) {
    struct parts parts = { n, n * 3L, { 1, 2 }, "ab" };
    long eleven = n * 11L;
    int result = use(&parts, 5);
    return result + sink + (int)eleven + (int)d + parts.in.d;
}

int main(int argc, char **argv) {
    (void)argv;
    return top(argc + 6, 2.75);
}
