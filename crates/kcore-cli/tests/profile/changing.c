/* A process whose threads come and go. The word that it is started with says how:
 *
 * short      threads that live for 50 ms follow each other without end
 * brief      threads that live for 2 ms do so
 * leaderless the first thread ends while another one works
 * chosen     two threads work; the one whose id is written first ends once a line is read
 * exec       works, and starts itself anew as `after` once a line is read
 * after      works in another function
 * exit       works, and ends once a line is read
 * many       16 threads work without end */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int over;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

__attribute__((noinline)) void work_until(long end)
{
    while (!over && now() < end)
        for (volatile int i = 0; i < 2000; i++)
            ;
}

__attribute__((noinline)) void *short_lived(void *unused)
{
    work_until(now() + 50000000L);
    return unused;
}

__attribute__((noinline)) void *brief(void *unused)
{
    work_until(now() + 2000000L);
    return unused;
}

__attribute__((noinline)) void *long_lived(void *unused)
{
    work_until(now() + 3600000000000L);
    return unused;
}

__attribute__((noinline)) void *ends_early(void *unused)
{
    printf("%ld ", (long)syscall(SYS_gettid));
    work_until(now() + 3600000000000L);
    return unused;
}

__attribute__((noinline)) void *stays(void *unused)
{
    printf("%ld\n", (long)syscall(SYS_gettid));
    fflush(stdout);
    for (;;)
        for (volatile int i = 0; i < 2000; i++)
            ;
    return unused;
}

__attribute__((noinline)) void before_exec(void)
{
    long_lived(NULL);
}

__attribute__((noinline)) void after_exec(void)
{
    long_lived(NULL);
}

static void *reads(void *unused)
{
    char line[64];
    if (read(0, line, sizeof line) > 0)
        over = 1;
    return unused;
}

static pthread_t begin(void *(*run)(void *))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    return thread;
}

static void ready(void)
{
    puts("ready");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (!strcmp(word, "brief")) {
        for (ready();;)
            pthread_join(begin(brief), NULL);
    }
    if (!strcmp(word, "short")) {
        for (ready();;)
            pthread_join(begin(short_lived), NULL);
    }
    if (!strcmp(word, "leaderless")) {
        begin(long_lived);
        ready();
        char line[64];
        if (read(0, line, sizeof line) > 0)
            pthread_exit(NULL);
    }
    if (!strcmp(word, "chosen")) {
        pthread_t first = begin(ends_early);
        usleep(100000);
        begin(stays);
        begin(reads);
        pthread_join(first, NULL);
        for (;;)
            pause();
    }
    if (!strcmp(word, "exec")) {
        begin(reads);
        ready();
        before_exec();
        execl("/proc/self/exe", "after", "after", NULL);
    }
    if (!strcmp(word, "after"))
        after_exec();
    if (!strcmp(word, "exit")) {
        begin(reads);
        ready();
        before_exec();
        return 0;
    }
    if (!strcmp(word, "many")) {
        for (int i = 0; i < 16; i++)
            begin(long_lived);
        ready();
        for (;;)
            pause();
    }
    return 1;
}
