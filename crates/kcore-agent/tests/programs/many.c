// A process of many threads, each some thirty frames deep.
//
//   many THREADS

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t never, ready;

static __attribute__((noinline, noclone)) void deep(int depth) {
    if (depth > 0) {
        deep(depth - 1);
    } else {
        sem_post(&ready);
        while (sem_wait(&never) != 0) {
        }
    }
    __asm__ volatile("" ::: "memory");
}

static void *run(void *argument) {
    deep(25);
    return argument;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    sem_init(&never, 0, 0);
    sem_init(&ready, 0, 0);
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run, 0) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++)
        sem_wait(&ready);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (;;)
        pause();
}
