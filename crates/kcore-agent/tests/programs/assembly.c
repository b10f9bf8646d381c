// Threads in places of which no table tells how they were reached: a function in assembly without unwind information,
// and the stack of a coroutine, which begins in a function that nothing called. x86-64 and aarch64.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define AFTER __asm__ volatile("" ::: "memory")

// Says in the second word that it runs, does so until the first one is set, and touches no stack.
void bare_leaf(volatile int *words);
#ifdef __x86_64__
__asm__(".globl bare_leaf\n.type bare_leaf, @function\nbare_leaf:\n movl $1, 4(%rdi)\n1: cmpl $0, (%rdi)\n je 1b\n ret\n"
        ".size bare_leaf, . - bare_leaf\n");
#else
__asm__(".globl bare_leaf\n.type bare_leaf, %function\nbare_leaf:\n mov w1, #1\n str w1, [x0, #4]\n1: ldr w1, [x0]\n cbz w1, 1b\n ret\n"
        ".size bare_leaf, . - bare_leaf\n");
#endif

static volatile int words[2][2];

NOINLINE void calls_leaf(int number) {
    bare_leaf(words[number]);
    AFTER;
}

NOINLINE void *in_leaf(void *unused) {
    calls_leaf(0);
    AFTER;
    return unused;
}

static ucontext_t here, there;
static char stack[65536];

NOINLINE void in_coroutine(void) {
    calls_leaf(1);
    AFTER;
}

NOINLINE void *switches(void *unused) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, in_coroutine, 0);
    swapcontext(&here, &there);
    AFTER;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, in_leaf, NULL);
    pthread_create(&threads[1], NULL, switches, NULL);
    while (!words[0][1] || !words[1][1])
        usleep(1000);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    pthread_join(threads[0], NULL);
}
