/* A process whose memory lies: it overwrites places of its own that debuggers read, and then waits. The argument
 * chooses what is written where. */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, STACK = 256 << 10, LIBRARIES = 64, WOUNDS = 24 };

static uint64_t state;
static char *stacks[THREADS];
static struct link_map *libraries[LIBRARIES];
static size_t library_count;

/* xorshift64 */
static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static __attribute__((noinline)) void wait_deep(int depth)
{
    if (depth > 0)
        wait_deep(depth - 1);
    else
        for (;;)
            syscall(SYS_pause);
    __asm__ volatile("");
}

static void *work(void *depth)
{
    wait_deep((int)(intptr_t)depth);
    return NULL;
}

/* A value that might be taken for something. */
static uint64_t lie(uint64_t *at)
{
    switch (next() % 6) {
    case 0:
        return next();
    case 1:
        return (uint64_t)at;
    case 2:
        return (uint64_t)stacks[next() % THREADS] + next() % STACK;
    case 3:
        return (uint64_t)libraries[next() % library_count];
    case 4:
        return ~(uint64_t)0 - next() % 64;
    default:
        return *at + (1ull << next() % 64);
    }
}

/* A place in what the dynamic linker, the stacks or the headers of files tell; its page can be written then. */
static uint64_t *place(void)
{
    struct link_map *library = libraries[next() % library_count];
    switch (next() % 4) {
    case 0:
        return (uint64_t *)library + next() % 64;
    case 1:
        return (uint64_t *)library->l_ld + next() % 48;
    case 2:
        return (uint64_t *)(library->l_addr + next() % 4096 / 8 * 8);
    default:
        return (uint64_t *)(stacks[next() % THREADS] + STACK - 8192 + next() % 8192 / 8 * 8);
    }
}

static int is_writable(uint64_t *at)
{
    char *page = (char *)((uint64_t)at & ~(uint64_t)4095);
    return at != NULL && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0;
}

int main(int count, char **arguments)
{
    state = count > 1 ? strtoull(arguments[1], NULL, 10) * 0x9e3779b97f4a7c15 + 1 : 1;
    for (struct link_map *map = _r_debug.r_map; map && library_count < LIBRARIES; map = map->l_next)
        if (map->l_addr != 0)
            libraries[library_count++] = map;
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        stacks[i] = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks[i], STACK);
        if (pthread_create(&thread, &attributes, work, (void *)(intptr_t)(i * 3)) != 0)
            return 1;
    }
    usleep(20000);
    puts("ready");
    fflush(stdout);
    /* Nothing that could be hurt is called from here on. */
    for (int i = 0; i < WOUNDS; i++) {
        uint64_t *at = place();
        if (is_writable(at))
            *at = lie(at);
    }
    for (;;)
        syscall(SYS_pause);
}
