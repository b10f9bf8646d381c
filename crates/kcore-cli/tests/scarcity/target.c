/* Threads enough that kcore would stop them with two of its own. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 64 };

static pthread_barrier_t all;

static void *wait_for_nothing(void *unused)
{
    pthread_barrier_wait(&all);
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (int number = 0; number < THREADS; number++)
        pthread_create(&thread, NULL, wait_for_nothing, NULL);
    pthread_barrier_wait(&all);
    puts("ready");
    fflush(stdout);
    getchar();
    return 0;
}
