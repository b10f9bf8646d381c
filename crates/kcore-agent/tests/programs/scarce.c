// A program in which an agent has a hard time: for files, or for profiles. The first argument says why.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <kcore_agent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static NOINLINE void burn(double seconds) {
    double begun = now();
    while (now() - begun < seconds)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

static void ready(void) {
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

static void limit(int what, rlim_t least) {
    struct rlimit limit;
    if (getrlimit(what, &limit))
        exit(3);
    limit.rlim_cur = least;
    if (setrlimit(what, &limit))
        exit(3);
}

static int open_files(void) {
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

// Closes all files between two questions, and opens others under their numbers.
static NOINLINE int closes(void) {
    int before = open_files();
    char *text = kcore_agent_install() ? NULL : kcore_agent_stacks_text();
    if (!text || open_files() != before)
        return 4;
    for (int file = 3; file < 1024; file++)
        close(file);
    for (int file = 3; file < 32; file++)
        if (open("/dev/zero", O_RDONLY) < 0)
            return 3;
    text = kcore_agent_stacks_text();
    puts(text ? text : "none");
    return text == NULL;
}

// May open no file when it is asked, by a signal and by a call; then it may again.
static int without_files(void) {
    kcore_agent_collection *collection;
    struct rlimit before;
    if (kcore_agent_install() || getrlimit(RLIMIT_NOFILE, &before))
        return 3;
    limit(RLIMIT_NOFILE, 1);
    raise(35);
    if (kcore_agent_collect(&collection) != EMFILE)
        return 4;
    if (setrlimit(RLIMIT_NOFILE, &before) || kcore_agent_collect(&collection))
        return 5;
    kcore_agent_release(collection);
    return 0;
}

// Runs in a thread that blocks all signals.
static void *deaf(void *unused) {
    (void)unused;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "deaf");
    ready();
    for (;;)
        burn(1);
    return NULL;
}

// Runs in threads that live for a millisecond.
static void *brief(void *unused) {
    burn(0.001);
    return unused;
}

static int watched;

static void watch_urgent(void) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, NULL);
    watched = signalfd(-1, &urgent, SFD_NONBLOCK);
}

// How many signals there were that nobody sent.
static int strange(void) {
    struct signalfd_siginfo info;
    int count = 0;
    while (read(watched, &info, sizeof info) == sizeof info)
        count++;
    return count;
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    pthread_t thread;
    alarm(120);
    if (!strcmp(word, "closes"))
        return closes();
    if (!strcmp(word, "without-files"))
        return without_files();
    if (!strcmp(word, "deaf")) {
        if (pthread_create(&thread, NULL, deaf, NULL))
            return 3;
        for (;;)
            pause();
    }
    if (!strcmp(word, "brief")) {
        ready();
        while (pthread_create(&thread, NULL, brief, NULL) == 0)
            pthread_join(thread, NULL);
        return 3;
    }
    if (!strcmp(word, "full")) {
        signal(SIGXFSZ, SIG_IGN);
        limit(RLIMIT_FSIZE, strtoul(words[2], NULL, 10));
    } else if (!strcmp(word, "urgent")) {
        watch_urgent();
        raise(SIGUSR2);
        burn(0.6);
        if (strange())
            return 4;
    } else if (!strcmp(word, "urgent-later")) {
        raise(SIGUSR2);
        burn(0.3);
        watch_urgent();
        // Thirty come in that time, until the agent takes another signal.
        do
            burn(0.3);
        while (strange());
    } else {
        return 2;
    }
    ready();
    for (;;)
        burn(1);
}
