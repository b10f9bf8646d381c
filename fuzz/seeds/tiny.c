/* The smallest program that has what kcore reads: symbols, unwind information, DWARF with inlined
 * calls, a build-id. It dies writing to address 8. See make.rs. */

struct node {
    struct node *next;
    int value;
};

static inline __attribute__((always_inline)) void set(struct node *node, int value)
{
    node->value = value;
}

static __attribute__((noinline)) int walk(struct node *node, int depth)
{
    if (depth == 0) {
        set(node, 42);
        return node->value;
    }
    int below = walk(node->next, depth - 1);
    return below + depth;
}

int main_of(int count)
{
    struct node last = {0, 1}, first = {&last, 2};
    return walk(&first, count) + 1;
}

__attribute__((used)) void enter(long *stack)
{
    /* rbx lies where an expression says; r14 is a value that one computes. */
    __asm__ volatile(".cfi_escape 0x10, 3, 2, 0x77, 8\n"
                     ".cfi_escape 0x16, 14, 5, 0x77, 0, 0x06, 0x38, 0x22");
    main_of((int)stack[0] + 1);
    __builtin_trap();
}

__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    .cfi_startproc\n"
        "    .cfi_undefined rip\n"
        "    mov %rsp, %rdi\n"
        "    call enter\n"
        "    hlt\n"
        "    .cfi_endproc\n"
        "    .size _start, . - _start\n");
