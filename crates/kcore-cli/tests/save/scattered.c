/* Memory of which every second page was touched, of three kinds, and many small mappings. It writes how many pages of
 * the first kinds were touched, each of which holds its own address, and then waits. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096L

static void touch(char *memory, long pages)
{
    for (long page = 0; page < pages; page += 2)
        *(uint64_t *)(memory + page * PAGE) = (uint64_t)(memory + page * PAGE);
}

static void map(long pages, int flags, int fd)
{
    char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (memory == MAP_FAILED)
        abort();
    madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
    touch(memory, pages);
    printf("%lx %ld\n", (unsigned long)memory, pages);
}

int main(int count, char **arguments)
{
    long pages = count > 1 ? atol(arguments[1]) : 0;
    int fd = memfd_create("scattered", 0);
    cpu_set_t one;

    /* The kernel writes down for the C library which processor it runs on. */
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (ftruncate(fd, pages * PAGE) < 0)
        return 1;
    map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map(pages, MAP_SHARED | MAP_ANONYMOUS, -1);
    map(pages, MAP_SHARED, fd);
    for (int small = 0; small < 300; small++) {
        int rights = small % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
        char *memory = mmap(NULL, 2 * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED && rights & PROT_WRITE)
            touch(memory, 2);
    }
    fflush(stdout);
    for (;;)
        pause();
}
