/* A process in which things happen when its input says so: a letter each. It tells what it is about to do. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void on_signal(int number) { handled = number; }

__attribute__((noinline)) void close_twice(int fd) {
    close(fd);
    close(fd);
    __asm__ volatile("");
}

__attribute__((noinline)) void rarely(long argument) { __asm__ volatile("" ::"r"(argument)); }

static void say(const char *what) {
    printf("%s %ld\n", what, syscall(SYS_gettid));
    fflush(stdout);
}

/* Waits between, so that others come to their turn. */
static void *closes(void *unused) {
    (void)unused;
    say("closes");
    for (;;) {
        close_twice(dup(1));
        usleep(5000);
    }
}

/* Blocks all signals while it closes, as the C library does where it makes threads. */
static void *blocks(void *unused) {
    (void)unused;
    sigset_t all, before;
    sigfillset(&all);
    say("blocks");
    for (int i = 0;; i++) {
        pthread_sigmask(SIG_SETMASK, &all, &before);
        close_twice(dup(1));
        /* At first for long. */
        if (i % 100 == 0) usleep(500000);
        pthread_sigmask(SIG_SETMASK, &before, 0);
        usleep(1000);
    }
}

static void *calls(void *unused) {
    (void)unused;
    say("calls");
    for (;;) {
        rarely(4711);
        usleep(5000);
    }
}

/* Does both all the time. */
static void *storms(void *unused) {
    (void)unused;
    for (;;) {
        close(-1);
        rarely(4711);
    }
}

static void *sleeps(void *unused) {
    (void)unused;
    for (;;) pause();
}

static void start(void *(*work)(void *), int count) {
    pthread_t thread;
    while (count-- > 0) pthread_create(&thread, 0, work, 0);
}

int main(void) {
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, SIG_IGN);
    start(sleeps, 3);
    say("ready");
    for (;;) {
        char letter;
        if (read(0, &letter, 1) != 1) continue;
        switch (letter) {
        case 'b': start(closes, 1); break;
        case 'f': start(calls, 1); break;
        case 'm': start(blocks, 1); break;
        case 's': start(storms, 8); say("storms"); break;
        case 'h': printf("handled %d\n", (int)handled); fflush(stdout); break;
        case 'v': *(volatile int *)8 = 1; break;
        case 'x': exit(3);
        case 'q': exit(0);
        case 'e': execl("/bin/sleep", "sleep", "60", (char *)0); break;
        }
    }
}
