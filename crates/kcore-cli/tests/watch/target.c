/* A process whose threads wait, spin, tick and hold a mutex, and tell which is which. Its input says what happens next:
 * a letter each. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_quiet;
static volatile unsigned long rounds;

static void say(const char *what) {
    pthread_mutex_lock(&line);
    printf("%s %ld\n", what, syscall(SYS_gettid));
    fflush(stdout);
    pthread_mutex_unlock(&line);
}

__attribute__((noinline)) void sleep_for_ever(void) {
    for (;;) pause();
}

__attribute__((noinline)) void hold_for_ever(void) {
    pthread_mutex_lock(&held);
    say("holds");
    sleep_for_ever();
}

__attribute__((noinline)) void wait_for_mutex(void) {
    pthread_mutex_lock(&held);
    abort();
}

__attribute__((noinline)) void spin_here(void) {
    while (!is_quiet) rounds++;
}

__attribute__((noinline)) void tick_here(void) {
    while (!is_quiet) {
        rounds++;
        usleep(2000);
    }
}

static void *holds(void *unused) {
    hold_for_ever();
    return unused;
}

static void *waits(void *unused) {
    say("waits");
    wait_for_mutex();
    return unused;
}

static void *spins(void *unused) {
    say("spins");
    spin_here();
    sleep_for_ever();
    return unused;
}

static void *ticks(void *unused) {
    say("ticks");
    tick_here();
    sleep_for_ever();
    return unused;
}

static void *sleeps(void *unused) {
    say("sleeps");
    sleep_for_ever();
    return unused;
}

static void start(void *(*work)(void *), int count) {
    pthread_t thread;
    while (count-- > 0) pthread_create(&thread, 0, work, 0);
}

/* So that the mutex is held before others want it. */
static void await_input(void) {
    char letter;
    if (read(0, &letter, 1) != 1) exit(1);
}

int main(void) {
    start(holds, 1);
    await_input();
    start(waits, 1);
    start(spins, 1);
    start(ticks, 1);
    start(sleeps, 1);
    for (;;) {
        char letter;
        if (read(0, &letter, 1) != 1) exit(1);
        switch (letter) {
        case 'i': is_quiet = 1; break;
        case 't': start(sleeps, 10); break;
        case 'x': exit(0);
        case 'e': execl("/bin/sleep", "sleep", "60", (char *)0); break;
        }
    }
}
