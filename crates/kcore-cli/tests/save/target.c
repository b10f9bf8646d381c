/* Threads that wait in stacks that are known, and memory that is known: what it writes is "ready", and
 * the addresses of its secret and of its heap. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORKERS 5
#define HEAP (24 << 20)

static pthread_barrier_t all_wait;
/* In its file it is 7, in the process 8. */
volatile long changed = 7;

__attribute__((noinline)) void wait_for_good(int depth)
{
    pthread_barrier_wait(&all_wait);
    for (;;)
        pause();
}

__attribute__((noinline)) int middle(int depth)
{
    wait_for_good(depth + 1);
    return puts("never");
}

static void *worker(void *depth)
{
    middle((int)(long)depth);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&all_wait, NULL, WORKERS + 1);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&thread, NULL, worker, (void *)i);
    unsigned long *heap = malloc(HEAP);
    for (unsigned long i = 0; i < HEAP / sizeof *heap; i++)
        heap[i] = 0x9e3779b97f4a7c15UL * (i + 1);
    char *secret = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 16; i++)
        secret[i] = "zcpcuvwbbqrtxyzz"[i] - 1;
    madvise(secret, 1 << 20, MADV_DONTDUMP);
    changed = 8;
    pthread_barrier_wait(&all_wait);
    printf("ready %p %p\n", (void *)secret, (void *)heap);
    fflush(stdout);
    for (;;)
        pause();
}
