// A process to be looked at, in the way that its first argument says. It prints what a test must know
// of it in one line, and then goes on until it is killed.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RING = 8 };
static _Atomic(atomic_long *) cells[RING];
static atomic_long count;

static void ready(void) {
    printf("ready %p\n", (void *)&count);
    fflush(stdout);
}

// Thread i takes the values i, i + RING, ...: once its cell, on its own stack, has one, it writes the next
// value into the cell of the next thread. So the values of all cells follow each other at every instant.
static void *ring(void *argument) {
    long index = (long)argument;
    atomic_long cell = index - RING;
    cells[index] = &cell;
    while (!cells[(index + 1) % RING]) sched_yield();
    if (index == RING - 1) {
        printf("cells");
        for (int i = 0; i < RING; i++) {
            while (!cells[i]) sched_yield();
            printf(" %p", (void *)cells[i]);
        }
        printf("\n");
        fflush(stdout);
        *cells[0] = 0;
    }
    for (long next = index;; next += RING) {
        while (cell != next) sched_yield();
        *cells[(index + 1) % RING] = next + 1;
    }
    return NULL;
}

static void *wait_forever(void *argument) {
    for (;;) pause();
    return argument;
}

static void *counting(void *argument) {
    for (;;) count++;
    return argument;
}

static void *nothing(void *argument) {
    count++;
    return argument;
}

static void start(void *(*body)(void *), long argument) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, (void *)argument)) abort();
}

static void *execute(void *turn) {
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)turn);
    execl("/proc/self/exe", "target", "execs", text, NULL);
    return NULL;
}

static void on_signal(int number) {
    (void)number;
    count++;
}

static void child(void) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid(pid, NULL, 0);
    count++;
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "ring")) {
        for (long i = 0; i < RING; i++) start(ring, i);
    } else if (!strcmp(way, "threads")) {
        for (int i = 0; i < 20; i++) start(wait_forever, 0);
        start(counting, 0);
        ready();
    } else if (!strcmp(way, "churn")) {
        ready();
        for (;;) {
            pthread_t threads[4];
            for (int i = 0; i < 4; i++)
                if (pthread_create(&threads[i], NULL, nothing, NULL)) abort();
            for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        }
    } else if (!strcmp(way, "forks")) {
        ready();
        for (;;) child();
    } else if (!strcmp(way, "execs")) {
        // By turns the first thread and another one starts the program again.
        int turn = argc < 3 ? 0 : atoi(argv[2]);
        for (int i = 0; i < 5; i++) start(wait_forever, 0);
        if (argc < 3) ready();
        if (turn % 2) start(execute, turn + 1);
        else execute((void *)(long)(turn + 1));
    } else if (!strcmp(way, "signals")) {
        signal(SIGRTMIN, on_signal);
        ready();
    } else if (!strcmp(way, "leaderless")) {
        start(counting, 0);
        ready();
        pthread_exit(NULL);
    } else if (!strcmp(way, "vfork")) {
        start(wait_forever, 0);
        ready();
        if (vfork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep(600);
            _exit(0);
        }
    } else if (!strcmp(way, "exit")) {
        ready();
        return 0;
    }
    for (;;) pause();
}
