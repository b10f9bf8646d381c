// A program with rules of its own: for its rights, and for signals. The first argument says which.

#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <kcore_agent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static NOINLINE void burn(double seconds) {
    double begun = now(CLOCK_THREAD_CPUTIME_ID);
    while (now(CLOCK_THREAD_CPUTIME_ID) - begun < seconds)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

static void ready(void) {
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

// Becomes a process whose files in /proc are root's: as servers do that begin as root, or as anybody may.
static void drop_rights(void) {
    if (getuid() == 0) {
        if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
            exit(3);
    } else if (prctl(PR_SET_DUMPABLE, 0)) {
        exit(3);
    }
}

static NOINLINE void wait_in_owner(void) {
    for (;;)
        pause();
}

static volatile int strange;

static void count(int signal) {
    (void)signal;
    strange++;
}

// Takes all signals while a profile is taken: as programs do that make them what they are by default, or have one
// handler for all.
static int take_signals(void (*handler)(int)) {
    ready();
    kill(getpid(), SIGUSR2);
    burn(0.6);
    for (int signal = 1; signal < 64; signal++)
        if (signal != SIGKILL && signal != SIGSTOP && signal != 32 && signal != 33)
            sigaction(signal, &(struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART}, NULL);
    burn(0.6);
    // What is left of a profile is told within its time.
    for (int turn = 0; turn < 20; turn++)
        usleep(100000);
    return 0;
}

// Takes only the signal for stacks.
static int take_one(void) {
    ready();
    kill(getpid(), SIGUSR2);
    burn(0.6);
    signal(35, count);
    burn(0.6);
    for (int turn = 0; turn < 20; turn++)
        usleep(100000);
    return strange;
}

static void *named(void *unused) {
    (void)unused;
    burn(0.3);
    prctl(PR_SET_NAME, "w\xff!");
    burn(1.5);
    return NULL;
}

// Says what installing says, with the signal blocked by all threads and by one.
static int blocked(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, 35);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    printf("all %d", kcore_agent_install() == EBUSY);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf(" none %d\n", kcore_agent_install());
    return 0;
}

// The allocator: a thread that hangs while it has its lock keeps everybody waiting who wants memory.
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static __thread int hangs;
extern void *__libc_malloc(size_t);

void *malloc(size_t bytes) {
    pthread_mutex_lock(&allocator);
    while (hangs)
        pause();
    pthread_mutex_unlock(&allocator);
    return __libc_malloc(bytes);
}

static void *hang(void *unused) {
    (void)unused;
    hangs = 1;
    return malloc(1);
}

// Says what a call says for which the agent's thread cannot work.
static int asks_hanging(void) {
    pthread_t thread;
    kcore_agent_collection *collection;
    if (kcore_agent_install() || kcore_agent_collect(&collection))
        return 3;
    kcore_agent_release(collection);
    if (pthread_create(&thread, NULL, hang, NULL))
        return 3;
    while (pthread_mutex_trylock(&allocator) == 0) {
        pthread_mutex_unlock(&allocator);
        usleep(1000);
    }
    _exit(kcore_agent_collect(&collection) == ETIMEDOUT && !collection ? 0 : 4);
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    if (!strcmp(word, "installed"))
        return kcore_agent_install();
    if (!strcmp(word, "hanging"))
        return asks_hanging();
    if (!strcmp(word, "blocked"))
        return blocked();
    if (!strcmp(word, "default"))
        return take_signals(SIG_DFL);
    if (!strcmp(word, "ignored"))
        return take_signals(SIG_IGN);
    if (!strcmp(word, "one"))
        return take_one();
    if (!strcmp(word, "named")) {
        pthread_t thread;
        kill(getpid(), SIGUSR2);
        if (pthread_create(&thread, NULL, named, NULL) || pthread_join(thread, NULL))
            return 3;
        kill(getpid(), SIGUSR2);
        for (int turn = 0; turn < 50; turn++)
            usleep(100000);
        return 0;
    }
    if (!strcmp(word, "drops"))
        drop_rights();
    if (!strcmp(word, "asks-dropped")) {
        drop_rights();
        char *text = kcore_agent_install() ? NULL : kcore_agent_stacks_text();
        puts(text ? text : "none");
        return text == NULL;
    }
    ready();
    wait_in_owner();
}
