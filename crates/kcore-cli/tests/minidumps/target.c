/* A process with a named thread, which stays in known functions and says which threads it has. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t both;

__attribute__((noinline)) static void wait_inner(int argument) {
    printf("%d %ld %p\n", getpid(), syscall(SYS_gettid), (void *)&argument);
    fflush(stdout);
    for (;;)
        pause(); /* WAITS */
}

__attribute__((noinline)) static void wait_outer(int argument) {
    wait_inner(argument + 1);
    __asm__ volatile("");
}

static void *work(void *argument) {
    pthread_setname_np(pthread_self(), "pool-1");
    printf("%ld\n", syscall(SYS_gettid));
    fflush(stdout);
    pthread_barrier_wait(&both);
    wait_outer(7);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&both);
    for (;;)
        pause();
}
