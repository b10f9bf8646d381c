// frozen THREADS HEAP_MIB: threads that wait, in several ways, a heap that is touched, and one thread
// that looks at the clock all the while. A line `r` on standard input begins anew, a line `p` prints the
// longest time in nanoseconds for which that thread stood still.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_long longest;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void *watch(void *argument) {
    for (long before = now();;) {
        long time = now();
        if (time - before > longest) longest = time - before;
        before = time;
    }
    return argument;
}

static void *wait(void *argument) {
    struct timespec long_time = {1000000, 0};
    switch ((long)argument % 3) {
    case 0: pthread_mutex_lock(&held); break;
    case 1: pause(); break;
    default: nanosleep(&long_time, NULL);
    }
    return argument;
}

static void start(void *(*body)(void *), long argument) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_create(&thread, &attributes, body, (void *)argument)) abort();
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    pthread_mutex_lock(&held);
    long threads = atol(argv[1]);
    for (long mib = atol(argv[2]); mib > 0; mib--) memset(malloc(1 << 20), 1, 1 << 20);
    start(watch, 0);
    for (long i = 1; i < threads; i++) start(wait, i);
    printf("ready\n");
    fflush(stdout);
    char line[8];
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == 'r') longest = 0;
        printf("%ld\n", (long)longest);
        fflush(stdout);
    }
    return 0;
}
