/* Memory of every kind, of which little was touched: it writes a line for each mapping, its name, its address,
 * and what stands at the beginning of the pages that were touched. Then it waits. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1L << 20)
#define PAGE 4096
/* Pages that are touched, and how far they lie from each other. */
#define PAGES 100
#define STRIDE (64 * PAGE)

static void touch(char *memory, char letter)
{
    for (long page = 0; page < PAGES; page++)
        memset(memory + page * STRIDE, letter, PAGE);
}

static char *map(long size, int protection, int flags, int file)
{
    char *memory = mmap(NULL, size, protection, flags, file, 0);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void say(const char *name, char *memory, long size, char letter)
{
    printf("%s %p %ld %c\n", name, (void *)memory, size, letter);
}

/* A page of a file that is mapped several times is touched by one of them alone. */
static void many_views(void)
{
    int file = memfd_create("heap", MFD_CLOEXEC);
    if (ftruncate(file, 256 * MIB))
        abort();
    char *views[3];
    for (int i = 0; i < 3; i++)
        views[i] = map(256 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    touch(views[0], 'v');
    say("view", views[1], 256 * MIB, 'v');
    say("view", views[2], 256 * MIB, 'v');
}

/* Another process touched it, and this one did not. */
static void touched_by_another(void)
{
    char *memory = map(256 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    pid_t child = fork();
    if (child == 0) {
        touch(memory, 'o');
        _exit(0);
    }
    waitpid(child, NULL, 0);
    say("other", memory, 256 * MIB, 'o');
}

static void in_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, 256 * MIB))
        abort();
    char *memory = map(256 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    touch(memory, 'f');
    say("file", memory, 256 * MIB, 'f');
    close(file);
}

/* Of its file nothing was read so far by this process; a page of it was written to. */
static void private_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char page[PAGE];
    memset(page, 'p', PAGE);
    for (long at = 0; at < PAGES; at++)
        if (pwrite(file, page, PAGE, at * STRIDE) != PAGE)
            abort();
    char *memory = map(PAGES * STRIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE, file);
    memory[PAGE] = 'q';
    say("private", memory, PAGES * STRIDE, 'p');
    close(file);
}

int main(int argc, char **argv)
{
    char *memory = map(512 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
    touch(memory, 's');
    say("shared", memory, 512 * MIB, 's');
    many_views();
    touched_by_another();
    in_file(argv[1]);
    private_file(argv[2]);
    /* As much as addresses allow. */
    memory = map(1L << 44, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    madvise(memory, 1L << 44, MADV_NOHUGEPAGE);
    touch(memory + (1L << 43), 'r');
    say("reserved", memory + (1L << 43), PAGES * STRIDE, 'r');
    memory = map(PAGES * STRIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    touch(memory, 'n');
    mprotect(memory, PAGES * STRIDE, PROT_NONE);
    say("none", memory, PAGES * STRIDE, 'n');
    memory = map(64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    madvise(memory, 64 * MIB, MADV_HUGEPAGE);
    touch(memory, 'h');
    say("huge", memory, 64 * MIB, 'h');
    printf("ready\n");
    fflush(stdout);
    for (;;)
        pause();
    return argc;
}
