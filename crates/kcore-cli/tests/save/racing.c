/* Memory that is touched, mapped and unmapped all the time. It writes a line with the address of its state, which
 * tells what of it there is at any instant. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE 4096L
#define PAGES (128L << 8)
#define RING 64

static struct {
    uint64_t memory;
    /* Pages from the first on that hold their number, and the round in the upper half. */
    uint64_t round, touched;
    /* Addresses of pages that hold their own address, or 0. */
    uint64_t made[RING];
} state __attribute__((aligned(PAGE)));

static char *map(long size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

/* Other threads see what is written in this order, and so does who stops this one. */
static void set(uint64_t *place, uint64_t value)
{
    __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
}

static void make(uint64_t *place)
{
    uint64_t before = *place;
    set(place, 0);
    if (before)
        munmap((void *)before, PAGE);
    /* Pages that lie side by side would be one mapping. */
    uint64_t *page = (uint64_t *)map(3 * PAGE);
    munmap((char *)page + PAGE, 2 * PAGE);
    set(page, (uint64_t)page);
    set(place, (uint64_t)page);
}

int main(void)
{
    char *memory = map(PAGES * PAGE);
    state.memory = (uint64_t)memory;
    printf("%p\n", (void *)&state);
    fflush(stdout);
    struct timespec moment = {0, 10000};
    for (uint64_t round = 1;; round++) {
        set(&state.touched, 0);
        madvise(memory, PAGES * PAGE, MADV_DONTNEED);
        set(&state.round, round);
        for (long page = 0; page < PAGES; page++) {
            set((uint64_t *)(memory + page * PAGE), round << 32 | page);
            set(&state.touched, page + 1);
            if (page % 16 == 0)
                make(&state.made[page / 16 % RING]);
            nanosleep(&moment, NULL);
        }
    }
}
