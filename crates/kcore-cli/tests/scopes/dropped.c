/* A variable that the linker drops with the one function that uses it, and a function within another (GNU C). */
int dropped_number = 5;

int dropped_user(void) {
    return dropped_number;
}

int kept_number = 6;

static int depth_of(int depth) {
    int of_host = 30, hidden_by_inner = 1;
    void within(int added) {
        int hidden_by_inner = 2;
        of_host += added + hidden_by_inner;
        if (depth > 0)
            of_host = depth_of(depth - 1);
        __builtin_trap();
    }
    within(depth);
    return of_host + hidden_by_inner;
}

int main(void) {
    return depth_of(kept_number - 5);
}
